# Random schedules of concurrent transactions on heap and on doublets (test/differential): no difference.
#
# DIFF_SCHEDULES   how many (500); make differential takes 20,000
# DIFF_SEED        the seed (1)
# DIFF_JOBS        processes that share them (3): most of the time of one goes by in waiting for its turn on a processor
# DIFF_FIRST       number of the first schedule (1)
# DIFF_CONF        further lines for postgresql.conf, separated by ;
# DIFF_STOP        stop at the first difference, as it is
# TEST_AM          another access method than doublets; heap proves the tester
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $count = $ENV{DIFF_SCHEDULES} || 500;
my $seed = defined $ENV{DIFF_SEED} && length $ENV{DIFF_SEED} ? $ENV{DIFF_SEED} : 1;
my $jobs = $ENV{DIFF_JOBS} || 3;
my $next = $ENV{DIFF_FIRST} || 1;
my $conf = join "\n", split /;\s*/, $ENV{DIFF_CONF} || '';
my $node = new_server('differential', conf => <<"EOF2");
fsync = off
autovacuum = off
shared_buffers = 64MB
max_wal_size = 2GB
log_min_messages = fatal
log_min_error_statement = panic
max_prepared_transactions = 50
$conf
EOF2

# with TEST_AM=heap new_server() has left the extension out, which the schedules' settings name
if ($am eq 'heap')
{
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_doublets'\n");
	$node->restart;
}

my @server = ('--host', $node->host, '--port', $node->port, '--user', getpwuid($<));

# schedules that differed once
for my $file ($ENV{DIFF_STOP} ? () : sort glob 'test/differential/cases/*.txt')
{
	my $out = '';
	my $ok = IPC::Run::run([ $^X, 'test/differential/run.pl', @server, '--other', $am, '--name', 'cases', '--file', $file ], '<', \'', '>', \$out, '2>&1');

	ok($ok, $file);
	diag($out) unless $ok;
}

my @running;
for my $job (1 .. $jobs)
{
	my $share = int($count * $job / $jobs) - int($count * ($job - 1) / $jobs);
	my $out = '';

	next unless $share;
	push @running, { out => \$out, name => "schedules $next to " . ($next + $share - 1) . " of seed $seed" };
	$running[-1]{run} = IPC::Run::start([ $^X, 'test/differential/run.pl', @server,
			'--seed', $seed, '--first', $next, '--schedules', $share, '--other', $am, '--name', "diff$job", $ENV{DIFF_STOP} ? qw(--most 1 --no-shrink) : () ], '<', \'', '>', \$out, '2>&1');
	$next += $share;
}
while (grep { $_->{run}->pumpable } @running)
{
	$_->{run}->pumpable && $_->{run}->pump_nb for @running;
	select undef, undef, undef, 0.2;
	if ($ENV{DIFF_STOP} && grep { ${ $_->{out} } =~ /^===/m } @running) { $_->{run}->signal('TERM') for @running }
}
for my $r (@running)
{
	$r->{run}->finish;
	my $ok = is($r->{run}->result(0), 0, $r->{name});
	my ($last) = ${ $r->{out} } =~ /(seed [^\n]*)\n\z/;

	diag($ok ? 'differential: ' . (defined $last ? $last : '') : ${ $r->{out} });
}
$node->stop;
done_testing();
