# Real indexes and slots that are used again, where it takes two sessions: old snapshots and cursors that are held across VACUUM, VACUUM that is cancelled
# between its passes, CREATE INDEX CONCURRENTLY that fails or waits midway.  Every index must say what a sequential scan says.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('foreign', conf => "fsync = off\nautovacuum = off\njit = off\nmax_parallel_maintenance_workers = 0\n");
my $db = database($node, 'f', $am);

# What all scans say of some conditions: the same, or a line a difference.
$node->safe_psql($db, <<'SQL');
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint);
CREATE INDEX native ON links (from_id);
CREATE INDEX three ON links (from_id, to_id, type_id);
CREATE INDEX part ON links (to_id) WHERE type_id = 1;
CREATE INDEX expr ON links ((from_id + to_id));
CREATE INDEX covering ON links (to_id) INCLUDE (id);
CREATE INDEX ends ON links USING gin ((ARRAY[from_id, to_id]));
CREATE INDEX hash ON links USING hash ((to_id + 0));
CREATE INDEX brin ON links USING brin (id) WITH (pages_per_range = 2);
CREATE FUNCTION differences() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  q text;
  want text;
  got text;
  way text[];
BEGIN
  FOREACH q IN ARRAY ARRAY['from_id = 3', 'from_id = 3 AND to_id = 5', 'to_id = 5', 'to_id = 5 AND type_id = 1', 'from_id + to_id = 8', 'ARRAY[from_id, to_id] @> ''{3,5}''', 'to_id + 0 = 5', 'id BETWEEN 100 AND 300', 'id > 100000', 'to_id IS NULL'] LOOP
    PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true), set_config('enable_bitmapscan', 'off', true);
    EXECUTE 'SELECT concat_ws('' '', count(*), sum(id), sum(hashint8(id)), sum(hashint8(to_id))) FROM links WHERE ' || q INTO want;
    PERFORM set_config('enable_seqscan', 'off', true);
    FOREACH way SLICE 1 IN ARRAY '{{on,off,off},{off,on,off},{off,off,on}}'::text[] LOOP
      PERFORM set_config('enable_indexscan', way[1], true), set_config('enable_indexonlyscan', way[2], true), set_config('enable_bitmapscan', way[3], true);
      EXECUTE 'SELECT concat_ws('' '', count(*), sum(id), sum(hashint8(id)), sum(hashint8(to_id))) FROM links WHERE ' || q INTO got;
      IF got IS DISTINCT FROM want THEN RETURN NEXT format('%s: %s by sequential scan, %s by %s', q, want, got, way); END IF;
    END LOOP;
  END LOOP;
END $$;
SQL

my $fill = 'INSERT INTO links SELECT i, i % 50, nullif(i % 13, 7), i % 3 FROM generate_series(%d, %d) i';
my $next = 100_001;

# Rows that take the places of others; each with values that the others did not have.
sub refill
{
	my ($n) = @_;
	$node->safe_psql($db, "INSERT INTO links SELECT i, 3, 5, 1 FROM generate_series($next, @{[ $next + $n - 1 ]}) i");
	$next += $n;
}

sub same
{
	my ($name) = @_;
	is($node->safe_psql($db, 'SELECT * FROM differences()'), '', "$name: indexes agree");
	check_ok($node, $db, 'links', "$name: trees and pages agree");
}

$node->safe_psql($db, sprintf($fill, 1, 20000));
same('filled');

# 1. A snapshot and cursors from before the deletion: they go on seeing what they saw.
my $old = $node->background_psql($db);
my $sum = 'SELECT count(*), sum(id), sum(from_id), sum(to_id) FROM links';
my @cursors = ('WHERE from_id = 3 ORDER BY to_id', 'WHERE to_id = 5', 'WHERE from_id + to_id = 8', 'WHERE to_id = 5 AND type_id = 1', 'WHERE id BETWEEN 100 AND 3000', "WHERE ARRAY[from_id, to_id] @> '{3,5}'");
$old->query_safe('SET enable_seqscan = off; BEGIN ISOLATION LEVEL REPEATABLE READ');
my $before = $old->query_safe($sum);
my @want = map { $node->safe_psql($db, "SELECT count(*), sum(id) FROM links $_" =~ s/ ORDER BY to_id//r) } @cursors;
$old->query_safe("DECLARE c$_ CURSOR FOR SELECT id FROM links $cursors[$_]; MOVE 5 IN c$_; CREATE TEMP TABLE s$_ (id bigint) USING heap") for 0 .. $#cursors;
$node->safe_psql($db, 'DELETE FROM links WHERE from_id = 3 OR to_id = 5 OR id BETWEEN 100 AND 3000');
$node->safe_psql($db, 'VACUUM links');
refill(3000);
$node->safe_psql($db, 'VACUUM (INDEX_CLEANUP off) links');
refill(3000);
is($old->query_safe($sum), $before, 'an old snapshot: sequential scan');
for my $i (0 .. $#cursors)
{
	(my $query = $cursors[$i]) =~ s/ ORDER BY to_id//;
	is($old->query_safe("SELECT count(*), sum(id) FROM links $query"), $want[$i], "an old snapshot: $query");
	my $rest = $old->query_safe("MOVE ALL IN c$i");
	is($old->query_safe("FETCH c$i"), '', "an old cursor: $query, at its end");
}
$old->query_safe('COMMIT');
same('after an old snapshot');
$node->safe_psql($db, 'VACUUM links');
refill(3000);
same('slots used again');

# A cursor in the middle while VACUUM may take all that it does not see.
$old->query_safe('BEGIN; DECLARE c CURSOR FOR SELECT id FROM links WHERE to_id = 6; MOVE 100 IN c');
my $left = $node->safe_psql($db, 'SELECT count(*) - 100 FROM links WHERE to_id = 6');
$node->safe_psql($db, 'DELETE FROM links WHERE to_id <> 6 AND id < 10000');
$node->safe_psql($db, 'VACUUM links');
refill(5000);
is($old->query_safe("SELECT count(*) FROM (SELECT 1) x; MOVE ALL IN c; FETCH c"), '1', 'a cursor in the middle');
$old->query_safe('ROLLBACK');
same('after a cursor in the middle');

# 2. VACUUM is cancelled in the middle of cleaning its indexes: slots are not free yet, for the first of them may have been cleaned, the others not.
# An index whose comparison is slow makes it dwell there; a lock on a page of an index would as well.
for my $round (1 .. 3)
{
	$node->safe_psql($db, sprintf($fill, 200_000 * $round, 200_000 * $round + 20_000));
	$node->safe_psql($db, "DELETE FROM links WHERE id >= @{[ 200_000 * $round ]} AND id % 2 = 0");
	if ($round < 3)
	{
		# sleeps between blocks, also those of indexes, so that it is caught in a pass
		my $vacuum = $node->background_psql($db, on_error_stop => 0);
		my $pid = $vacuum->query_safe('SELECT pg_backend_pid()');
		$vacuum->query_safe('SET vacuum_cost_delay = 20; SET vacuum_cost_limit = 40; SET vacuum_cost_page_hit = 20; SET vacuum_cost_page_dirty = 40');
		$vacuum->query_until(qr/started/, "\\echo started\nVACUUM links;\n");
		my $phase = $round == 1 ? 'vacuuming indexes' : 'vacuuming heap';
		ok($node->poll_query_until($db, "SELECT count(*) = 1 FROM pg_stat_progress_vacuum WHERE pid = $pid AND phase = '$phase'"), "VACUUM is in phase \"$phase\"");
		$node->safe_psql($db, "SELECT pg_cancel_backend($pid)");
		ok($node->poll_query_until($db, "SELECT count(*) = 0 FROM pg_stat_progress_vacuum WHERE pid = $pid"), 'VACUUM is cancelled');
		eval { $vacuum->quit };
	}
	refill(4000);
	same("VACUUM cancelled, round $round");
	$node->safe_psql($db, 'VACUUM (FREEZE) links') unless $round == 1;
	refill(4000);
	same("VACUUM, round $round");
}

# 3. CREATE INDEX CONCURRENTLY that waits for another session, and is cancelled, or goes on.
my $writer = $node->background_psql($db);
for my $end ('cancel', 'commit')
{
	$writer->query_safe("BEGIN; INSERT INTO links VALUES ($next, 3, 5, 1); UPDATE links SET to_id = 5 WHERE id BETWEEN 400000 AND 400100");
	$next++;
	my $builder = $node->background_psql($db, on_error_stop => 0);
	my $pid = $builder->query_safe('SELECT pg_backend_pid()');
	for my $index ('late_native ON links (to_id)', 'late_real ON links (to_id, id)')
	{
		my ($name) = split / /, $index;

		$builder->query_until(qr/started/, "\\echo started\nCREATE INDEX CONCURRENTLY $index;\n");
		ok($node->poll_query_until($db, "SELECT count(*) > 0 FROM pg_locks WHERE pid = $pid AND NOT granted"), "$name waits for the writer");
		$node->safe_psql($db, 'INSERT INTO links VALUES (' . $next++ . ', 3, 5, 1)');
		$node->safe_psql($db, 'UPDATE links SET to_id = 5 WHERE id = 300001; DELETE FROM links WHERE id = 300003');
		last if $end eq 'commit';
		$node->safe_psql($db, "SELECT pg_cancel_backend($pid)");
		ok($node->poll_query_until($db, "SELECT count(*) = 0 FROM pg_locks WHERE pid = $pid AND NOT granted"), "$name is cancelled");
		is($node->safe_psql($db, "SELECT indisvalid FROM pg_index WHERE indexrelid = '$name'::regclass"), 'f', "$name is left invalid");
	}
	$writer->query_safe('COMMIT');
	ok($node->poll_query_until($db, "SELECT state = 'idle' FROM pg_stat_activity WHERE pid = $pid"), 'the builder is done');
	same("CREATE INDEX CONCURRENTLY, $end");
	$node->safe_psql($db, 'DROP INDEX late_native; DROP INDEX IF EXISTS late_real') if $end eq 'cancel';
	eval { $builder->quit };
}
is($node->safe_psql($db, "SELECT count(*) FROM pg_index WHERE indrelid = 'links'::regclass AND NOT indisvalid"), '0', 'all indexes are valid');
$writer->query_safe("BEGIN; DELETE FROM links WHERE id = 300005");
$node->safe_psql($db, 'VACUUM links');
$writer->query_safe('ROLLBACK');
$node->safe_psql($db, 'REINDEX TABLE CONCURRENTLY links');
same('REINDEX TABLE CONCURRENTLY');
$old->quit;
$writer->quit;
if ($am ne 'heap' && $node->safe_psql($db, "SELECT count(*) FROM pg_available_extensions WHERE name = 'amcheck'") eq '1')
{
	$node->safe_psql($db, 'CREATE EXTENSION amcheck');
	is($node->safe_psql($db, "SELECT count(bt_index_parent_check(c.oid, true, true)::text) > 3 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = 'links'::regclass AND a.amname = 'btree'"), 't', 'amcheck');
}
$node->stop;
done_testing();
