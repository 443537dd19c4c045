# Space: a table that is updated in place for long stays small, on disk and in memory, as autovacuum sees to it; empty tails
# are cut off; and the statistics that all this goes by are heap's.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $rows = 1000;
my $want_turnovers = $ENV{SPACE_TURNOVERS} || 60;
my $node = new_server('space',
	conf => "fsync = off\nautovacuum_naptime = 1s\nautovacuum_vacuum_cost_delay = 0\nautovacuum_vacuum_scale_factor = 0.1\nautovacuum_analyze_scale_factor = 0.2\nmax_wal_size = 1GB\n");
my $dir = PostgreSQL::Test::Utils::tempdir();

# --- statistics --------------------------------------------------------------------------------

# The statements of one session, and what is counted after them.
my @statements = (
	'INSERT INTO links SELECT i, i % 5, i % 3, 1 FROM generate_series(1, 60) i',
	'UPDATE links SET to_id = 7 WHERE id <= 10',
	'DELETE FROM links WHERE id > 55',
	'BEGIN; INSERT INTO links VALUES (100, 1, 1, 1); UPDATE links SET to_id = 9 WHERE id = 1; DELETE FROM links WHERE id = 2; ROLLBACK',
	'BEGIN; SAVEPOINT a; DELETE FROM links WHERE id BETWEEN 20 AND 25; INSERT INTO links VALUES (101, 1, 1, 1); ROLLBACK TO a; UPDATE links SET type_id = 2 WHERE id = 30; COMMIT',
	'INSERT INTO links VALUES (1, 5, 5, 5) ON CONFLICT (id) DO UPDATE SET to_id = 8',
	'INSERT INTO links VALUES (2, 5, 5, 5), (200, 1, 1, 1) ON CONFLICT (id) DO NOTHING',
	'ANALYZE links',
	'UPDATE links SET to_id = to_id WHERE id = 5',
	'SELECT * FROM links WHERE id = 7; SELECT * FROM links WHERE id IN (8, 9, 1000); SELECT * FROM links WHERE from_id = 3',
	'SET enable_seqscan = on; SET enable_indexscan = off; SET enable_indexonlyscan = off; SELECT count(*) FROM links; SELECT count(*) FROM links WHERE to_id = 2',
	'SET enable_bitmapscan = on; SET enable_indexscan = off; SELECT count(*) FROM links WHERE from_id = 2',
	'VACUUM links',
	'INSERT INTO links SELECT i, 1, 1, 1 FROM generate_series(300, 320) i',
	'BEGIN; DELETE FROM links WHERE id = 300; TRUNCATE links; INSERT INTO links VALUES (1, 1, 1, 1), (2, 2, 2, 2); COMMIT',
	'BEGIN; TRUNCATE links; INSERT INTO links VALUES (1, 1, 1, 1); ROLLBACK',
	'UPDATE links SET to_id = 3; DELETE FROM links WHERE id = 1',
	'VACUUM (ANALYZE) links');
my %databases = (heap => database($node, 'st_heap', 'heap'), ours => database($node, 'st_ours', $am));
my %counted;

for my $which (sort keys %databases)
{
	my $d = $databases{$which};

	my $seq = "'seq', seq_scan, seq_tup_read,";

	$node->safe_psql($d, 'CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint) WITH (autovacuum_enabled = off); CREATE INDEX by_from ON links (from_id)');
	# the same plans for both; and heap has counted the scans that built its indexes
	$node->safe_psql('postgres', "ALTER DATABASE $d SET enable_$_ = off") for qw(seqscan bitmapscan);
	# dead rows that a scan has pruned count until VACUUM on heap, as their line pointers stay, but not here, where nothing stays
	$node->safe_psql('postgres', "ALTER DATABASE $d SET pg_doublets.prune_dead = 0");
	$node->safe_psql($d, 'SELECT pg_stat_reset()');
	for my $i (0 .. $#statements)
	{
		# a session's counts are there once it has ended
		$node->safe_psql($d, $statements[$i]);
		$seq = '' if $statements[$i] =~ /TRUNCATE/;
		$counted{$which}[$i] = $node->safe_psql($d, <<"SQL");
SELECT 'live', n_live_tup, 'dead', n_dead_tup, 'ins', n_tup_ins, 'upd', n_tup_upd, 'del', n_tup_del, 'mod', n_mod_since_analyze, 'since', n_ins_since_vacuum,
 $seq 'idx', idx_scan, idx_tup_fetch, 'vacuum', vacuum_count, last_vacuum IS NULL, 'analyze', analyze_count, last_analyze IS NULL
FROM pg_stat_all_tables WHERE relname = 'links';
SELECT indexrelname, idx_scan, idx_tup_fetch FROM pg_stat_all_indexes WHERE relname = 'links' ORDER BY 1;
SQL
	}
}
is($counted{ours}[$_], $counted{heap}[$_], "statistics after: $statements[$_]") for 0 .. $#statements;

# --- updates in place ------------------------------------------------------------------------------

append_to_file("$dir/update.sql", <<"SQL");
\\set k random(1, $rows - 19)
\\set v random(1, 1000)
UPDATE links SET to_id = :v, from_id = from_id + 1 WHERE id BETWEEN :k AND :k + 19;
SQL
my %size;

for my $with ('native', 'real')
{
	my $db = database($node, "u_$with", $am);
	my $memory = $am eq 'heap' ? '0' : "(SELECT shared_bytes FROM doublets_stats('links'))";

	$node->safe_psql($db, 'CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint); CREATE INDEX ON links (from_id); CREATE INDEX ON links (to_id); CREATE INDEX ON links (type_id);'
		  . ($with eq 'real' ? 'CREATE INDEX ON links ((to_id + from_id));' : '')
		  . "INSERT INTO links SELECT i, i, 0, 1 FROM generate_series(1, $rows) i; VACUUM ANALYZE links");
	my ($disk, $mem) = split /\|/, $node->safe_psql($db, "SELECT pg_relation_size('links'), $memory");
	my ($out, $err) = ('', '');
	my $transactions = $want_turnovers * $rows / 20 / 2;
	my $start = time;
	my $rc = IPC::Run::run([ 'pgbench', '-n', '-c', 2, '-t', $transactions, '-f', "$dir/update.sql", $node->connstr($db) ], '>', \$out, '2>', \$err);

	ok($rc, "$with indexes: updates in place");
	my ($updates) = split /\|/, $node->safe_psql($db, "SELECT n_tup_upd, n_dead_tup FROM pg_stat_all_tables WHERE relname = 'links'");
	my $turnovers = $updates / $rows;
	my $seconds = time - $start + 1;
	my ($disk2, $mem2) = split /\|/, $node->safe_psql($db, "SELECT pg_relation_size('links'), $memory");
	note("$with indexes: $turnovers turnovers; on disk $disk -> $disk2, in memory $mem -> $mem2");
	cmp_ok($turnovers, '>=', $want_turnovers, "$with indexes: each row was updated $turnovers times");
	$node->poll_query_until($db, "SELECT autovacuum_count > 0 AND autoanalyze_count > 0 AND last_autovacuum IS NOT NULL FROM pg_stat_all_tables WHERE relname = 'links'");
	pass("$with indexes: autovacuum came");
	# between two visits, a second apart at least, the dead of that time pile up
	my $pile = 2 + 6 * $turnovers / $seconds;
	cmp_ok($disk2, '<', $disk * $pile, "$with indexes: on disk $disk2 after $disk");
	cmp_ok($mem2, '<=', 1_500_000 + $mem * $pile, "$with indexes: in memory $mem2 after $mem");
	# and once more with the same numbers: nothing grows with time
	$node->poll_query_until($db, "SELECT n_dead_tup < $rows FROM pg_stat_all_tables WHERE relname = 'links'");
	$rc = IPC::Run::run([ 'pgbench', '-n', '-c', 2, '-t', $transactions, '-f', "$dir/update.sql", $node->connstr($db) ], '>', \$out, '2>', \$err);
	my ($disk3, $mem3) = split /\|/, $node->safe_psql($db, "SELECT pg_relation_size('links'), $memory");
	note("$with indexes: and on: on disk $disk3, in memory $mem3");
	cmp_ok($disk3, '<', 3 * $disk2 + 1_000_000, "$with indexes: on disk $disk3, having been $disk2 halfway");
	cmp_ok($mem3, '<', 3 * $mem2 + 2_000_000, "$with indexes: in memory $mem3, having been $mem2 halfway");
	is($node->safe_psql($db, 'SELECT count(*), sum(id) FROM links'), "$rows|" . $rows * ($rows + 1) / 2, "$with indexes: all rows are there");
	check_ok($node, $db, 'links', "$with indexes: trees and pages agree");
}

# --- the tail --------------------------------------------------------------------------------------------

my $db = database($node, 'tail', $am);
$node->safe_psql($db, 'CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint) WITH (autovacuum_enabled = off); INSERT INTO links SELECT i, i, i FROM generate_series(1, 100000) i');
my $before = $node->safe_psql($db, "SELECT pg_relation_size('links')");
$node->safe_psql($db, 'DELETE FROM links WHERE id > 100; VACUUM (TRUNCATE off) links') for 1;
is($node->safe_psql($db, "SELECT pg_relation_size('links')"), $before, 'VACUUM (TRUNCATE off) cuts nothing');
$node->safe_psql($db, 'VACUUM links');
cmp_ok($node->safe_psql($db, "SELECT pg_relation_size('links')"), '<', $before / 50, 'VACUUM cuts the tail off');
is($node->safe_psql($db, 'SELECT count(*) FROM links'), '100', 'what is before it stays');
if ($am ne 'heap')
{
	cmp_ok($node->safe_psql($db, "SELECT shared_bytes FROM doublets_stats('links')"), '<', 1_500_000, 'memory has gone back');
}
# somebody in the way: VACUUM gives up, and does not hang
{
	$node->safe_psql($db, 'INSERT INTO links SELECT i, i, i FROM generate_series(1000, 90000) i; DELETE FROM links WHERE id > 100');
	my ($out, $err) = ('', '');
	my $reader = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr($db), '-c', 'BEGIN; LOCK TABLE links IN ACCESS SHARE MODE; SELECT pg_advisory_lock(1); SELECT pg_sleep(30)' ], '<', \'', '>', \$out, '2>', \$err);
	$node->poll_query_until($db, "SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory'");
	my $start = time;
	$node->safe_psql($db, 'VACUUM links');
	cmp_ok(time - $start, '<', 25, 'VACUUM gives up the truncation for a reader');
	$node->safe_psql($db, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'");
	eval { $reader->finish };
}
$node->safe_psql($db, 'VACUUM links');
$node->safe_psql($db, 'INSERT INTO links SELECT i, i, i FROM generate_series(200, 50000) i');
check_ok($node, $db, 'links', 'trees and pages agree where the tail was');
# slots of what is gone are used again
my $full = $node->safe_psql($db, "SELECT pg_relation_size('links')");
for (1 .. 5)
{
	$node->safe_psql($db, 'DELETE FROM links WHERE id % 2 = 0');
	$node->safe_psql($db, 'VACUUM links');
	$node->safe_psql($db, 'INSERT INTO links SELECT i, i, i FROM generate_series(200, 50000) i ON CONFLICT DO NOTHING');
}
cmp_ok($node->safe_psql($db, "SELECT pg_relation_size('links')"), '<=', $full * 1.1, 'slots are used again');
check_ok($node, $db, 'links', 'trees and pages agree in the end');
$node->stop;
done_testing();
