# Standbys: cascading, cold starts, too little memory, conflicts, and row by row comparisons under load; then promotion.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $large = $ENV{STANDBY_LINKS} || 100_000;
my $rounds = $ENV{STANDBY_ROUNDS} || 2;
my $seconds = $ENV{STANDBY_SECONDS} || 1.5;
my $primary = new_server('primary', init => [ allows_streaming => 1 ],
	conf => "fsync = off\nautovacuum_naptime = 1s\nautovacuum_vacuum_scale_factor = 0.02\nmax_wal_size = 1GB\nshared_buffers = 32MB\nmax_connections = 30\n");
my $db = database($primary, 's', $am);

$primary->safe_psql($db, 'CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint);'
	  . 'CREATE INDEX ON links (from_id); CREATE INDEX ON links (to_id); CREATE INDEX ON links (type_id);'
	  . "INSERT INTO links SELECT i, i % 1000, i + 1, i % 10 FROM generate_series(1, $large) i;"
	  . 'CREATE TABLE busy (LIKE links INCLUDING ALL); INSERT INTO busy SELECT i, i % 100, 0, 0 FROM generate_series(1, 2000) i;'
	  . 'CREATE TABLE tail (LIKE links INCLUDING ALL); INSERT INTO tail SELECT i, 1, 1, 1 FROM generate_series(1, 20000) i;');
$primary->backup('b');

sub standby
{
	my ($name, $from, $conf) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init_from_backup($primary, 'b', has_streaming => 1);
	# streams from another standby where asked to
	$node->enable_streaming($from) if $from != $primary;
	$node->append_conf('postgresql.conf', "hot_standby_feedback = off\nmax_standby_streaming_delay = 500ms\n$conf");
	$node->start;
	return $node;
}

my $near = standby('near', $primary, '');
my $far = standby('far', $near, '');
my $poor = $am eq 'heap' ? undef : standby('poor', $primary, "pg_doublets.max_memory = '6MB'\n");
my @standbys = ($near, $far);

# Wait until all have replayed what the primary has written, without trusting pg_stat_replication of cascades.
sub caught_up
{
	my $lsn = $primary->lsn('insert');

	for my $node (@standbys, $poor ? $poor : ())
	{
		$node->poll_query_until('postgres', "SELECT pg_last_wal_replay_lsn() >= '$lsn'") or BAIL_OUT($node->name . ' does not follow');
	}
	return;
}

sub sum_of { return "SELECT count(*), sum(hashtextextended(t::text, 0)) FROM $_[0] t"; }

# --- cold start -----------------------------------------------------------------------------

caught_up();
for my $node (@standbys)
{
	is($node->safe_psql($db, 'SET enable_seqscan = off; SELECT to_id FROM links WHERE from_id = 7 AND id > 5000 ORDER BY id LIMIT 1'), '5008', $node->name . ': a cold table is loaded by the first read');
	is($node->safe_psql($db, sum_of('links')), $primary->safe_psql($db, sum_of('links')), $node->name . ': all rows are there');
}

# --- long-lived sessions ---------------------------------------------------------------------

my @sessions = map { my ($in, $out, $err) = ('', '', ''); { node => $_, in => \$in, out => \$out, err => \$err,
	run => IPC::Run::start([ 'psql', '-XAtq', '-d', $_->connstr($db) ], '<', \$in, '>', \$out, '2>', \$err) } } @standbys;

# undef: the session was ended by a conflict
sub ask
{
	my ($s, $sql) = @_;

	${ $s->{in} } .= "$sql\n\\echo done\n";
	${ $s->{out} } = '';
	while (${ $s->{out} } !~ /done\n/)
	{
		return undef unless eval { $s->{run}->pumpable && $s->{run}->pump };
	}
	${ $s->{out} } =~ s/done\n//;
	return ${ $s->{out} };
}

ask($_, 'SET enable_seqscan = off;') for @sessions;
for my $i (1 .. 5)
{
	$primary->safe_psql($db, "UPDATE busy SET to_id = $i WHERE from_id = 5; DELETE FROM busy WHERE id = $i; INSERT INTO busy VALUES (10000 + $i, 5, $i, 0)");
	$primary->safe_psql($db, 'VACUUM busy') if $i % 2;
	caught_up();
	my $want = $primary->safe_psql($db, 'SELECT count(*), sum(to_id), sum(id) FROM busy WHERE from_id = 5');
	is(ask($_, 'SELECT count(*), sum(to_id), sum(id) FROM busy WHERE from_id = 5;'), "$want\n", $_->{node}->name . ": a long-lived session sees change $i") for @sessions;
}

# Only this test is to vacuum it for a while.
$primary->safe_psql($db, 'ALTER TABLE busy SET (autovacuum_enabled = off)');
caught_up();

# --- conflicts --------------------------------------------------------------------------------

for my $s (@sessions)
{
	ask($s, 'BEGIN ISOLATION LEVEL REPEATABLE READ;');
	$s->{seen} = ask($s, 'SELECT count(*), sum(to_id) FROM busy;');
}
# pruning on the way would be a conflict, too
$primary->safe_psql($db, 'SET pg_doublets.prune_dead = 0; UPDATE busy SET to_id = 100; DELETE FROM busy WHERE id % 3 = 0;');
caught_up();
is(ask($_, 'SELECT count(*), sum(to_id) FROM busy;'), $_->{seen}, $_->{node}->name . ': an old snapshot sees what it saw') for @sessions;
$primary->safe_psql($db, 'VACUUM busy; INSERT INTO busy SELECT i, 1, 1, 1 FROM generate_series(20000, 22000) i');
caught_up();
for my $s (@sessions)
{
	my $again = ask($s, 'SELECT count(*), sum(to_id) FROM busy;');

	ok(!defined $again || $again eq '', $s->{node}->name . ': vacuum ends an old snapshot') or diag($again);
	like(${ $s->{err} }, qr/conflict with recovery/, $s->{node}->name . ': and says why');
	$s->{run}->kill_kill;
	eval { $s->{run}->finish };
	cmp_ok($s->{node}->safe_psql('postgres', "SELECT confl_snapshot FROM pg_stat_database_conflicts WHERE datname = '$db'"), '>=', 1, $s->{node}->name . ': counted');
}

# With feedback the primary keeps what the standby sees.
$near->append_conf('postgresql.conf', "hot_standby_feedback = on\nwal_receiver_status_interval = 1s\n");
$near->reload;
{
	my ($in, $out, $err) = ('', '', '');
	my $s = { in => \$in, out => \$out, err => \$err, run => IPC::Run::start([ 'psql', '-XAtq', '-d', $near->connstr($db) ], '<', \$in, '>', \$out, '2>', \$err) };

	ask($s, 'BEGIN ISOLATION LEVEL REPEATABLE READ;');
	my $seen = ask($s, 'SELECT count(*), sum(to_id) FROM busy;');
	$primary->poll_query_until('postgres', "SELECT backend_xmin IS NOT NULL FROM pg_stat_replication WHERE application_name = 'near'");
	sleep 1.5;
	$primary->safe_psql($db, 'UPDATE busy SET to_id = 200');
	$primary->safe_psql($db, 'VACUUM busy');
	caught_up();
	sleep 1;
	is(ask($s, 'SELECT count(*), sum(to_id) FROM busy;'), $seen, 'hot_standby_feedback: the snapshot is kept');
	$in .= "\\q\n";
	eval { $s->{run}->finish };
}

# --- too little memory ------------------------------------------------------------------------------

if ($poor)
{
	my ($rc, $out, $err) = $poor->psql($db, "\\set VERBOSITY verbose\nSELECT count(*) FROM links WHERE from_id = 5");

	like($err, qr/53200.*HINT:.*pg_doublets\.max_memory/s, 'poor: a table that does not fit: 53200 and a hint');
	is($poor->safe_psql($db, sum_of('busy')), $primary->safe_psql($db, sum_of('busy')), 'poor: others can be read');
	# the loaded table grows beyond its memory in replay: it is dropped, and replay goes on
	$primary->safe_psql($db, 'CREATE TABLE grows (LIKE busy INCLUDING ALL); INSERT INTO grows SELECT i, i, i, i FROM generate_series(1, 1000) i');
	caught_up();
	is($poor->safe_psql($db, 'SELECT count(*) FROM grows'), '1000', 'poor: a table that is going to grow');
	$primary->safe_psql($db, 'INSERT INTO grows SELECT i, i, i, i FROM generate_series(1001, 100000) i');
	caught_up();
	($rc, $out, $err) = $poor->psql($db, "\\set VERBOSITY verbose\nSELECT count(*) FROM grows");
	like($err, qr/53200/, 'poor: it has outgrown its memory during replay, which went on');
	$poor->append_conf('postgresql.conf', "pg_doublets.max_memory = 0\n");
	$poor->reload;
	$poor->poll_query_until($db, "SELECT current_setting('pg_doublets.max_memory') = '0'");
	is($poor->safe_psql($db, sum_of($_)), $primary->safe_psql($db, sum_of($_)), "poor: with more memory $_ is read") for qw(grows links);
	check_ok($poor, $db, $_, "poor: $_: trees and pages agree") for qw(grows links);
	push @standbys, $poor;
	undef $poor;
}

# --- under load -----------------------------------------------------------------------------------------

my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/write.sql", <<'SQL');
\set k random(1, 3000)
\set v random(1, 100000)
\set op random(1, 10)
BEGIN;
\if :op <= 4
INSERT INTO busy VALUES (:k, :v % 100, :v, :v % 5) ON CONFLICT (id) DO UPDATE SET to_id = :v, from_id = :v % 100;
\elif :op <= 6
UPDATE busy SET to_id = to_id + 1, type_id = :v % 7 WHERE id BETWEEN :k AND :k + 5;
\elif :op <= 8
DELETE FROM busy WHERE id = :k;
\elif :op <= 9
SAVEPOINT a;
INSERT INTO busy SELECT 10000 + i, 1, 1, 1 FROM generate_series(:k, :k + 30) i ON CONFLICT DO NOTHING;
ROLLBACK TO a;
SELECT * FROM busy WHERE id = :k FOR SHARE;
\else
DELETE FROM busy WHERE id > 4000;
\endif
COMMIT;
SQL
my ($out, $err) = ('', '');
$primary->safe_psql($db, 'ALTER TABLE busy RESET (autovacuum_enabled)');
my $load = IPC::Run::start([ 'pgbench', '-n', '-c', 4, '-j', 1, '-T', 600, '-f', "$dir/write.sql", $primary->connstr($db) ], '<', \'', '>', \$out, '2>', \$err);
my $looks = 0;

for my $round (1 .. $rounds)
{
	# readers of the standbys meanwhile
	my $until = time + $seconds;
	while (time < $until)
	{
		for my $node (@standbys)
		{
			my ($rc, $o, $e) = $node->psql($db, 'SET enable_seqscan = off; SELECT (SELECT count(*) FROM busy WHERE from_id >= 0) - (SELECT count(*) FROM busy WHERE id >= 0) - (SELECT count(*) FROM busy WHERE from_id IS NULL)');
			$looks++ if $e =~ /conflict with recovery|recovery/ || $o eq '0';
			is($o, '0', $node->name . ': two indexes agree in one snapshot') if $o ne '0' && $e !~ /recovery/;
		}
	}
	$primary->safe_psql($db, 'VACUUM busy');
	# writers wait while primary and standbys are read
	my $hold = IPC::Run::start([ 'psql', '-XAtq', '-d', $primary->connstr($db), '-c', 'BEGIN', '-c', 'LOCK TABLE busy IN SHARE MODE', '-c', "SELECT pg_advisory_lock(1)", '-c', 'SELECT pg_sleep(60)' ], '<', \'', '>', \$out, '2>', \$err);
	$primary->poll_query_until($db, "SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND granted");
	caught_up();
	$_->safe_psql('postgres', 'SELECT pg_wal_replay_pause()') for @standbys;
	my $want = $primary->safe_psql($db, sum_of('busy'));
	is($_->safe_psql($db, sum_of('busy')), $want, "round $round: " . $_->name . ' has the rows of the primary') for @standbys;
	check_ok($_, $db, 'busy', "round $round: " . $_->name . ': trees and pages agree') for @standbys;
	$_->safe_psql('postgres', 'SELECT pg_wal_replay_resume()') for @standbys;
	$primary->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'");
	eval { $hold->finish };
	# one standby starts again, cold
	$standbys[ $round % @standbys ]->restart('immediate') if $round % 2;
}
$load->kill_kill;
eval { $load->finish };
cmp_ok($looks, '>', 5, "readers looked $looks times");

# --- promotion -----------------------------------------------------------------------------------------

# Blocks that the primary has cut off while the standby has the table in memory.
is($near->safe_psql($db, 'SELECT count(*) FROM tail'), '20000', 'before the tail goes');
$primary->safe_psql($db, 'DELETE FROM tail WHERE id > 100');
for (1 .. 100)
{
	$primary->safe_psql($db, 'VACUUM (TRUNCATE) tail');
	last if $primary->safe_psql($db, "SELECT pg_relation_size('tail')") < 100_000;
	sleep 0.1;
}
cmp_ok($primary->safe_psql($db, "SELECT pg_relation_size('tail')"), '<', 100_000, 'vacuum cuts the tail off');
caught_up();
is($near->safe_psql($db, 'SELECT count(*) FROM tail'), '100', 'after the tail has gone');
is($near->safe_psql($db, "SELECT pg_relation_size('tail')"), $primary->safe_psql($db, "SELECT pg_relation_size('tail')"), 'it has gone');
$near->promote;
is($near->safe_psql($db, 'INSERT INTO tail SELECT i, 2, 2, 2 FROM generate_series(30001, 60000) i; SELECT count(*) FROM tail'), '30100', 'promoted: new rows where the tail was');
check_ok($near, $db, 'tail', 'promoted: trees and pages agree');
$near->safe_psql($db, 'UPDATE busy SET to_id = 1; UPDATE links SET to_id = 0 WHERE from_id < 100; VACUUM busy');
# the cascaded one follows
my $lsn = $near->lsn('insert');
$far->poll_query_until('postgres', "SELECT pg_last_wal_replay_lsn() >= '$lsn'");
for my $t (qw(busy links tail))
{
	is($far->safe_psql($db, sum_of($t)), $near->safe_psql($db, sum_of($t)), "the cascaded standby follows the promoted one: $t");
	check_ok($_, $db, $t, $_->name . ": $t: trees and pages agree") for $near, $far;
}
for my $node (@standbys)
{
	ok(slurp_file($node->logfile) !~ /PANIC|TRAP|could not read block|was terminated/, $node->name . ': nothing broke in the log');
	$node->stop;
}
$primary->stop;
done_testing();
