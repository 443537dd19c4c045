#!/usr/bin/perl
# run.pl: random schedules on heap and on doublets (README.md).  Exit status 1 if any differs.
#
#   run.pl --host DIR --port N [--user NAME]    a running server with pg_doublets preloaded, on this machine, of the same user
#          [--seed S] [--schedules N] [--first N]   which schedules; --only N is --first N --schedules 1
#          [--levels L]                         only those of isolation rc, rr, mixed or ser
#          [--file F]                           one schedule from a file, as printed for a difference
#          [--other heap]                       heap against heap: proves the tester
#          [--dump]                             print schedules and transcripts
#          [--most N]                           stop after N differences (default 5)
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Compare;
use Digest::MD5 'md5';
use Generator;
use Getopt::Long;
use Shrink;
use Time::HiRes 'time';

my %o = (host => $ENV{PGHOST} || '/tmp', port => $ENV{PGPORT} || 5432, user => $ENV{PGUSER} || 'postgres', schedules => 1000, first => 1,
	other => 'doublets', most => 5, name => 'diff', shrink => 1);
GetOptions(\%o, 'host=s', 'port=i', 'user=s', 'seed=i', 'schedules=i', 'first=i', 'only=i', 'file=s', 'other=s', 'dump', 'most=i', 'levels=s', 'name=s', 'shrink!', 'quiet')
  or die "see the head of $0\n";
$o{seed} = int(time * 1000) % 2147483647 unless defined $o{seed};
@o{qw(first schedules)} = ($o{only}, 1) if defined $o{only};
$| = 1;
$SIG{INT} = $SIG{TERM} = $SIG{HUP} = sub { exit 2 };    # sessions that are stopped go on

sub database
{
	my ($name, $method) = @_;
	my $c = Wire->connect(@o{qw(host port user)} ? (@o{qw(host port)}, 'postgres', $o{user}) : (), 'maker');
	my $say = sub { my ($c, $sql) = @_; my $answer = join "\n", map { Wire::text($_) } $c->query($sql); die "$sql: $answer (" . $c->message . ")\n" if $answer =~ /ERROR/ };

	$say->($c, "DROP DATABASE IF EXISTS $name");
	$say->($c, "CREATE DATABASE $name");
	$say->($c, "ALTER DATABASE $name SET default_table_access_method = '$method'");
	# plans that are disabled look dear enough for parallel ones, whose workers take their time to start
	$say->($c, "ALTER DATABASE $name SET $_") for "deadlock_timeout = '1000min'", 'synchronous_commit = off', 'max_parallel_workers_per_gather = 0', 'jit = off';
	$c->close;
	my $exec = Executor->new(dir => $o{host}, port => $o{port}, user => $o{user}, db => $name);
	$say->($exec->control, 'CREATE EXTENSION IF NOT EXISTS pg_doublets');
	$exec->reconnect;			# the access method is known now
	# functions are compiled for a table that is there
	$say->($exec->control, "SET check_function_bodies = off; CREATE TABLE links (id bigint, from_id bigint, to_id bigint, type_id bigint); $Generator::functions $Compare::functions");
	return $exec;
}

my @check = ('SELECT * FROM disagreements()');
push @check, q[SELECT * FROM doublets_check('links') LIMIT 5] if $o{other} eq 'doublets';
my $compare = Compare->new(heap => database("$o{name}_heap", 'heap'), other => database("$o{name}_other", $o{other}), check => \@check);

# Lines of a transcript, not too many rows.
sub lines
{
	my ($lines) = @_;
	my @out;

	for (@$lines)
	{
		my @rows = split /\n/;

		splice @rows, 20, @rows - 20, '  ... ' . (@rows - 20) . ' more' if @rows > 30;
		push @out, map { "$_\n" } @rows;
	}
	return @out;
}

sub report
{
	my ($head, $schedule, $d) = @_;

	print "\n=== $head\n", Shrink::text($schedule), "--- on heap\n", lines($d->{heap}), "--- on $o{other}\n", lines($d->{other}), "--- difference\n", lines([ $d->{text} ]), "===\n";
}

# The seed of one thing.
sub seed_of { my ($what, $n) = @_; return unpack('N', md5("$o{seed} $what $n")) >> 1 }

if (defined $o{file})
{
	open my $in, '<', $o{file} or die "$o{file}: $!\n";
	my $schedule = Shrink::parse(do { local $/; <$in> });
	my $d = $compare->schedule($schedule);

	report('as given', $schedule, $d || { heap => $compare->{heap}{transcript}, other => $compare->{other}{transcript}, text => 'none' });
	if ($d && $o{shrink}) { report('shrunk', Shrink::shrink($compare, $schedule, $d)) }
	exit($d ? 1 : 0);
}

print "seed $o{seed}, schedules $o{first} to ", $o{first} + $o{schedules} - 1, "\n" unless $o{quiet};
my ($start, $differences, $done, $last) = (time, 0, 0, time);
for my $n ($o{first} .. $o{first} + $o{schedules} - 1)
{
	my $schedule = Generator->new(seed_of('tables', int($n / 8)), seed_of('schedule', $n))->schedule;
	next if defined $o{levels} && $schedule->{levels} ne $o{levels};
	my $d = $compare->schedule($schedule);

	$done++;
	if ($o{dump}) { report("schedule $n", $schedule, $d || { heap => $compare->{heap}{transcript}, other => $compare->{other}{transcript}, text => 'none' }) }
	if ($d)
	{
		$differences++;
		my $again = $compare->schedule($schedule);

		if (!$again) { report("schedule $n of seed $o{seed}: differs, but not when run again", $schedule, $d) }
		elsif ($o{shrink}) { report("schedule $n of seed $o{seed} differs; shrunk", Shrink::shrink($compare, $schedule, $again)) }
		else { report("schedule $n of seed $o{seed} differs", $schedule, $again) }
		last if $differences >= $o{most};
	}
	if ($done % 96 == 0)
	{
		for my $exec ($compare->{heap}, $compare->{other})
		{
			# sessions that have kept the plans of many tables are slow, above all where the server checks its memory
			$exec->reconnect;
			$exec->control->query("VACUUM pg_catalog.$_") for qw(pg_class pg_attribute pg_attrdef pg_index pg_depend pg_constraint pg_trigger pg_type pg_shdepend pg_statistic pg_description);
		}
	}
	if (!$o{quiet} && time - $last > 30)
	{
		$last = time;
		printf "%d schedules, %.1f/s, %d differences, %d of serializable ones judged by replay\n", $done, $done / (time - $start), $differences, $compare->{excused};
	}
}
printf "seed %d: %d schedules, %d differences, %d of serializable ones judged by replay (%d undecided), %.0f s (%.1f/s)\n",
  $o{seed}, $done, $differences, $compare->{excused}, $compare->{undecided} || 0, time - $start, $done / (time - $start);
exit($differences ? 1 : 0);
