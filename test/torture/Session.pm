# Session.pm: a psql session that tells what came of each statement, until its server dies.
#
# Statements are sent one at a time, each followed by an echo, so that a caller knows whether it was acknowledged.
package Session;

use strict;
use warnings;
use IPC::Open2 ();
use POSIX ();

# connstr of a database; settings are run first.
sub new
{
	my ($class, $connstr, @settings) = @_;
	my $self = bless { n => 0, alive => 1 }, $class;
	local $SIG{PIPE} = 'IGNORE';

	$self->{pid} = IPC::Open2::open2($self->{out}, $self->{in},
		"exec psql -XAt -v VERBOSITY=sqlstate -d '$connstr' 2>&1");
	$self->{in}->autoflush(1);
	$self->run($_) for @settings;
	return $self;
}

# Run a statement.  Returns what it printed (tags, rows, errors), or undef if the connection is gone: then nobody
# knows what came of it.
sub run
{
	my ($self, $sql) = @_;
	my $mark = 'done ' . ++$self->{n};
	my $text = '';
	local $SIG{PIPE} = 'IGNORE';

	return undef unless $self->{alive};
	$sql .= ';' unless $sql =~ /;\s*$|\\\.\s*$/;
	unless (print { $self->{in} } "$sql\n\\echo $mark\n")
	{
		$self->{alive} = 0;
		return undef;
	}
	while (defined(my $line = readline $self->{out}))
	{
		if ($line eq "$mark\n")
		{
			return $text unless $text =~ /server closed the connection|connection to server was lost|no connection to the server/;
			last;
		}
		$text .= $line;
	}
	$self->{alive} = 0;
	return undef;
}

# SQLSTATE of the first error in what run() has returned.
sub sqlstate
{
	my ($text) = @_;

	# the session is about to be ended
	return $1 if $text =~ /WARNING:\s+(57P0\d)/;
	return $text =~ /ERROR:\s+(\w{5})\b/ ? $1 : $text =~ /(?:FATAL|PANIC)/ ? 'FATAL' : '';
}

sub quit
{
	my ($self) = @_;

	close $self->{in};
	close $self->{out};
	waitpid $self->{pid}, 0;
	$self->{alive} = 0;
	return;
}

1;
