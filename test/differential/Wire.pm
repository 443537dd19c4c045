# Wire.pm: a client of PostgreSQL's protocol, as much of it as the tester needs: simple queries over a Unix socket, several sent
# at a time and then polled for, so that one process can hold many sessions of which some wait for locks, and goes to and fro between
# processes as seldom as can be.
#
# An answer is [ notices, errors and [ tag, rows ] of one query, in order ]; see text().
package Wire;

use strict;
use warnings;
use IO::Socket::UNIX;
use Socket;
use Time::HiRes 'time';

sub connect
{
	my ($class, $dir, $port, $db, $user, $app) = @_;
	my $sock = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => "$dir/.s.PGSQL.$port") or die "cannot connect to $dir:$port: $!\n";
	my $self = bless { sock => $sock, in => '', pid => 0, pending => 0, out => [], rows => [], answers => [], copy => [], mask => '' }, $class;
	my $start = pack('N', 196608) . join('', map { "$_\0" } 'user', $user, 'database', $db, 'application_name', $app) . "\0";

	vec($self->{mask}, fileno $sock, 1) = 1;
	$self->_put(pack('N', length($start) + 4) . $start);
	$self->{pending} = 1;
	$self->wait(60) or die "cannot connect to $dir:$port: no answer\n";
	my $answer = text(shift @{ $self->{answers} });
	die "cannot connect to $db: $answer\n" if $answer =~ /ERROR|LOST/;
	return $self;
}

sub pid { return $_[0]->{pid} }
sub busy { return $_[0]->{pending} > 0 }
sub pending { return $_[0]->{pending} }
sub status { return $_[0]->{status} }    # I idle, T in a transaction, E in a failed one
sub lost { return $_[0]->{lost} }

sub _put
{
	my ($self, $bytes) = @_;

	local $SIG{PIPE} = 'IGNORE';
	while (length $bytes)
	{
		my $n = syswrite $self->{sock}, $bytes;

		unless (defined $n) { $self->{lost} = 1; return }
		substr($bytes, 0, $n) = '';
	}
}

# Send statements.  What follows the first line of a COPY ... FROM STDIN is its data; it must be the last one.
sub send
{
	my ($self, @sql) = @_;
	my $bytes = '';

	for my $sql (@sql)
	{
		my $query = $sql;

		if ($sql =~ /^COPY\b[^\n]*\bFROM STDIN[^\n]*\n/) { ($query, $self->{copy}) = split /\n/, $sql, 2 }
		$bytes .= 'Q' . pack('N', length($query) + 5) . $query . "\0";
	}
	$self->{pending} += @sql;
	$self->_put($bytes);
}

# Wait at most so many seconds for all answers; true when they are there.
sub wait
{
	my ($self, $seconds) = @_;
	my $end = time + $seconds;
	my $left = $seconds;

	while ($self->{pending})
	{
		return 0 unless select my $ready = $self->{mask}, undef, undef, $left > 0 ? $left : 0;
		unless (sysread $self->{sock}, $self->{in}, 65536, length $self->{in})
		{
			$self->{lost} = 1;
			$self->{pending} = 0;
			push @{ $self->{answers} }, [ @{ $self->{out} }, 'CONNECTION LOST' ];
			last;
		}
		$self->_parse;
		$left = $end - time if $self->{pending};
	}
	return 1;
}

sub _fields
{
	my ($body) = @_;

	return map { substr($_, 0, 1) => substr($_, 1) } grep { length } split /\0/, $body;
}

sub _parse
{
	my ($self) = @_;

	while (length $self->{in} >= 5)
	{
		my ($type, $len) = unpack 'aN', $self->{in};

		last if length $self->{in} < $len + 1;
		my $body = substr $self->{in}, 5, $len - 4;
		substr($self->{in}, 0, $len + 1) = '';

		if ($type eq 'D')
		{
			my ($n, $at, @values) = (unpack('n', $body), 2);

			for (1 .. $n)
			{
				my $size = unpack 'N', substr $body, $at, 4;

				$at += 4;
				if ($size == 0xffffffff) { push @values, 'NULL'; next }
				push @values, substr $body, $at, $size;
				$at += $size;
			}
			push @{ $self->{rows} }, join '|', @values;
		}
		elsif ($type eq 'C')
		{
			chop $body;
			push @{ $self->{out} }, [ $body, $self->{rows} ];
			$self->{rows} = [];
		}
		elsif ($type eq 'd')
		{
			chomp $body;
			push @{ $self->{rows} }, join '|', split /\t/, $body;
		}
		elsif ($type eq 'E' || $type eq 'N')
		{
			my %f = _fields($body);

			$self->{message} = $f{M};
			push @{ $self->{out} }, $type eq 'E' ? "ERROR $f{C}" : "NOTICE $f{C}" if $type eq 'E' || $f{C} ne '00000' || $f{S} ne 'NOTICE';
			push @{ $self->{out} }, "NOTICE: $f{M}" if $type eq 'N' && $f{C} eq '00000' && $f{S} eq 'NOTICE';
		}
		elsif ($type eq 'G')
		{
			my $data = defined $self->{copy} ? $self->{copy} : '';

			$data .= "\n" if length $data && $data !~ /\n\z/;
			$self->_put((length $data ? 'd' . pack('N', length($data) + 4) . $data : '') . 'c' . pack('N', 4));
		}
		elsif ($type eq 'K') { $self->{pid} = unpack 'N', $body }
		elsif ($type eq 'Z')
		{
			$self->{status} = $body;
			$self->{pending}--;
			push @{ $self->{answers} }, $self->{out};
			@$self{qw(out rows)} = ([], []);
		}
	}
}

# The answers that have come and were not yet taken.
sub answers { my ($self) = @_; my @all = @{ $self->{answers} }; $self->{answers} = []; return @all }

# An answer as text: notices and errors, a line for each command tag, its rows below it.  Rows are sorted unless they are to be
# taken as they came; so are notices when they may come in any order, and then an error leaves none, as it may come sooner or later.
sub text
{
	my ($answer, $ordered, $any_notice) = @_;
	my @lines;

	for my $o (@$answer)
	{
		if (!ref $o) { push @lines, $o; next }
		my ($tag, $rows) = @$o;
		push @lines, $tag, map { "  $_" } $ordered ? @$rows : sort @$rows;
	}
	@lines = grep { !/^NOTICE/ } @lines if $any_notice && grep { /^ERROR/ } @lines;
	@lines = ((sort grep { /^NOTICE/ } @lines), grep { !/^NOTICE/ } @lines) if $any_notice;
	return join "\n", @lines;
}

# Rows of the last command of an answer.
sub rows
{
	my ($answer) = @_;
	my @out = grep { ref } @$answer;

	return @out ? @{ $out[-1][1] } : ();
}

# The message of the last error.
sub message { return $_[0]->{message} }

# Send, and wait for all answers.
sub query
{
	my ($self, @sql) = @_;

	$self->send(@sql);
	$self->wait(600) or die "no answer within 10 minutes: @sql\n";
	return $self->answers;
}

sub close { my ($self) = @_; $self->_put('X' . pack('N', 4)) unless $self->{lost}; CORE::close($self->{sock}) }

1;
