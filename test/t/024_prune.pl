# Dead versions are freed by whoever passes them, without VACUUM: a row that is updated all the time and a queue stay fast. Never one that somebody may
# still see, and not where a real index names it.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'heap has its own' if $am eq 'heap';

my $node = new_server('prune', init => [ allows_streaming => 1 ], conf => "fsync = off\nautovacuum = off\n");
my $db = database($node, 'prune', $am);
my $dir = PostgreSQL::Test::Utils::tempdir();

sub fresh
{
	my ($n) = @_;

	$node->safe_psql($db, "DROP TABLE IF EXISTS links; CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint);
		CREATE INDEX ON links (from_id); CREATE INDEX ON links (to_id); CREATE INDEX ON links (type_id); INSERT INTO links SELECT i, i, 0, 1 FROM generate_series(1, $n) i");
}
sub versions { return $node->safe_psql($db, q{SELECT versions FROM doublets_stats('links')}) }

# Each line a statement, in one session, n times.
sub repeat
{
	my ($n, $sql, @more) = @_;

	open my $out, '>', "$dir/script.sql" or die;
	print $out $sql;
	close $out;
	$node->command_ok([ 'pgbench', '-n', '-M', 'prepared', '-t', $n, '-f', "$dir/script.sql", @more, $node->connstr($db) ], "$n times: $sql");
}
sub clean { my ($what) = @_; is($node->safe_psql($db, q{SELECT * FROM doublets_check('links')}), '', "$what: trees and pages agree") }

# --- one row, and a queue ----------------------------------------------------------------------------

fresh(1000);
repeat(2000, 'UPDATE links SET to_id = to_id + 1 WHERE id = 7;');
is($node->safe_psql($db, 'SELECT to_id FROM links WHERE id = 7'), 2000, 'every update counts');
cmp_ok(versions(), '<', 1050, 'a row that was updated 2,000 times has few versions');
my $size = $node->safe_psql($db, q{SELECT pg_relation_size('links')});
repeat(2000, 'UPDATE links SET to_id = to_id + 1 WHERE id = 7;');
is($node->safe_psql($db, q{SELECT pg_relation_size('links')}), $size, 'and its table does not grow');
repeat(800, 'DELETE FROM links WHERE id = (SELECT id FROM links ORDER BY id LIMIT 1);');
is($node->safe_psql($db, 'SELECT count(*), min(id) FROM links'), '200|801', 'a queue gives its rows in order');
cmp_ok(versions(), '<', 250, 'and does not keep what was taken from it');
cmp_ok($node->safe_psql($db, q{SELECT n_dead_tup FROM pg_stat_all_tables WHERE relname = 'links'}), '<', 50, 'nor does it count as dead');
clean('queue');

fresh(1000);
$node->safe_psql($db, 'UPDATE links SET to_id = to_id + 1') for 1 .. 20;
cmp_ok(versions(), '<', 3000, 'changes of all rows, by sequential scans');
is($node->safe_psql($db, 'SELECT count(*), sum(to_id) FROM links'), '1000|20000', 'no row is lost');
clean('all rows');

# aborted ones
fresh(100);
repeat(300, 'BEGIN; UPDATE links SET to_id = to_id + 1 WHERE id = 7; ROLLBACK;');
cmp_ok(versions(), '<', 150, 'versions of transactions that were rolled back go, too');
is($node->safe_psql($db, 'SELECT to_id FROM links WHERE id = 7'), 0, 'and the row is what it was');

# a key with many versions, which an open snapshot keeps: no more than one look at each
fresh(1);
my $keeper = $node->background_psql($db);
$keeper->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM links');
$node->safe_psql($db, q{DO $$DECLARE c tid := (SELECT ctid FROM links); BEGIN FOR i IN 1 .. 40000 LOOP UPDATE links SET from_id = 1 WHERE ctid = c RETURNING ctid INTO c; END LOOP; DELETE FROM links; END$$});
$node->safe_psql($db, q{SET statement_timeout = '5s'; INSERT INTO links VALUES (1, 1, 1, 1)});
is($node->safe_psql($db, 'SELECT id, to_id FROM links'), '1|1', 'a key that had 40,000 versions is free again');
$keeper->query_safe('COMMIT');

# --- who may still see it ------------------------------------------------------------------------------

fresh(100);
my $old = $node->background_psql($db);
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
is($old->query_safe('SELECT sum(to_id) FROM links'), 0, 'a snapshot');
repeat(100, 'UPDATE links SET to_id = to_id + 1 WHERE id = 7;');
cmp_ok(versions(), '>=', 200, 'all that an old snapshot might see is kept');
is($old->query_safe('SELECT sum(to_id), count(*) FROM links'), '0|100', 'which it sees');
is($old->query_safe('SELECT to_id FROM links WHERE id = 7'), 0, 'by index, too');
$old->query_safe('COMMIT');
$node->safe_psql($db, 'SELECT * FROM links WHERE id = 7') for 1 .. 2;
cmp_ok(versions(), '<', 110, 'a reader frees what no snapshot sees any more');

fresh(100);
$node->safe_psql($db, 'BEGIN; UPDATE links SET to_id = 9 WHERE id <= 50; PREPARE TRANSACTION $$p$$');
repeat(100, 'UPDATE links SET to_id = to_id + 1 WHERE id = 70;');
cmp_ok(versions(), '>=', 250, 'a prepared transaction keeps them, too');
$node->safe_psql($db, 'COMMIT PREPARED $$p$$');
$node->safe_psql($db, 'SELECT * FROM links WHERE id = 70; SELECT * FROM links') for 1 .. 2;
cmp_ok(versions(), '<', 110, 'until it ends');
is($node->safe_psql($db, 'SELECT sum(to_id) FROM links'), 550, 'what it did counts');

# a cursor that stands in the middle of what is freed
fresh(400);
my $cursor = $node->background_psql($db);
for my $key (qw(id from_id to_id type_id))
{
	$cursor->query_safe("SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off; BEGIN; DECLARE c CURSOR FOR SELECT id FROM links WHERE $key >= 0; MOVE 37 IN c");
	repeat(100, 'UPDATE links SET type_id = type_id + 1 WHERE id % 8 = 3 AND id < 90;');
	is($cursor->query_safe('FETCH ALL FROM c') =~ tr/\n// + 1, 363, "a cursor by $key sees the rest of its rows");
	$cursor->query_safe('COMMIT');
}
$node->safe_psql($db, 'SET enable_seqscan = off; SELECT count(*) FROM links WHERE id > 0');
cmp_ok(versions(), '<', 420, 'one scan then frees all that it passes');
clean('cursors');

# --- where it must not be done --------------------------------------------------------------------------

fresh(100);
$node->safe_psql($db, 'CREATE INDEX real ON links ((id + to_id))');
repeat(100, 'UPDATE links SET to_id = to_id + 1 WHERE id = 7;');
cmp_ok(versions(), '>=', 200, 'nothing is freed under a real index');
is($node->safe_psql($db, 'SET enable_seqscan = off; SELECT id, to_id FROM links WHERE id + to_id = 107 ORDER BY id'), "7|100", 'which finds what it should');
$node->safe_psql($db, 'DROP INDEX real; SELECT * FROM links WHERE id = 7; SELECT * FROM links WHERE id = 7');
cmp_ok(versions(), '<', 110, 'but is once that has gone');

# whose DROP is taken back
fresh(100);
$node->safe_psql($db, 'CREATE INDEX real ON links ((id + to_id)); UPDATE links SET to_id = to_id + 1000; UPDATE links SET to_id = to_id + 1000');
for my $undo ('BEGIN; DROP INDEX real; %s; ROLLBACK', 'BEGIN; SAVEPOINT s; DROP INDEX real; %s; ROLLBACK TO s; %1$s; COMMIT')
{
	$node->safe_psql($db, sprintf $undo, 'SELECT * FROM links; SELECT * FROM links WHERE id < 50');
	is(versions(), 300, 'nothing is freed by who has dropped a real index and may take it back');
}
$node->safe_psql($db, 'INSERT INTO links SELECT i, i, 0, 1 FROM generate_series(101, 300) i');
is($node->safe_psql($db, 'SET enable_seqscan = off; SELECT count(*) FROM links WHERE id + to_id BETWEEN 1001 AND 1100'), 0, 'so that its entries name no other rows');

fresh(100);
$node->safe_psql($db, 'SET pg_doublets.prune_dead = 0; UPDATE links SET to_id = 1; UPDATE links SET to_id = 2; SELECT * FROM links');
is(versions(), 300, 'pg_doublets.prune_dead = 0 leaves it to VACUUM');
my $locker = $node->background_psql($db);
$locker->query_safe('BEGIN; LOCK TABLE links IN SHARE MODE');
$node->safe_psql($db, q{SET statement_timeout = '10s'; SELECT * FROM links});
is(versions(), 300, 'a reader neither waits for a lock nor frees anything without it');
$node->safe_psql($db, q{BEGIN; LOCK TABLE links IN SHARE MODE; SELECT * FROM links; COMMIT});
is(versions(), 300, 'nor one who holds a lock beside which an index can be built');
$locker->query_safe('COMMIT');
$node->safe_psql($db, q{BEGIN READ ONLY; SELECT * FROM links WHERE id < 20; COMMIT});
cmp_ok(versions(), '<', 300, 'a transaction that only reads frees them');
$node->safe_psql($db, 'CREATE ROLE reader; GRANT SELECT ON links TO reader; SET ROLE reader; SELECT * FROM links; SELECT * FROM links');
cmp_ok(versions(), '<', 200, 'so does one who may only read');

# --- many at once, then a crash, and a standby -------------------------------------------------------------

fresh(100);
$node->backup('b');
my $standby = PostgreSQL::Test::Cluster->new('prune_standby');
$standby->init_from_backup($node, 'b', has_streaming => 1);
$standby->start;
$standby->safe_psql($db, 'SELECT count(*) FROM links');
append_to_file("$dir/hot.sql", "\\set i random(1, 5)\nUPDATE links SET to_id = to_id + 1 WHERE id = :i;\n");
append_to_file("$dir/look.sql", "SET pg_doublets.prune_dead = 1;\nBEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT 1 / (count(*) = 100)::int FROM links;\nSELECT 1 / (count(*) = 5)::int FROM links WHERE id <= 5;\nSELECT 1 / (count(*) = 100)::int FROM links WHERE type_id = 1;\nCOMMIT;\n");
$node->command_ok([ 'pgbench', '-n', '-c', 6, '-j', 2, '-t', 400, '-f', "$dir/hot.sql\@2", '-f', "$dir/look.sql\@1", $node->connstr($db) ], 'writers of the same rows, and readers');
my $done = $node->safe_psql($db, 'SELECT sum(to_id) FROM links');
cmp_ok($done, '>', 1000, 'many updates');
cmp_ok(versions(), '<', 600, 'few versions');
clean('many at once');
$node->wait_for_catchup($standby);
is($standby->safe_psql($db, 'SELECT count(*), sum(to_id) FROM links; SELECT count(*) FROM links WHERE id <= 5'), "100|$done\n5", 'the standby has the same, and frees nothing by itself');
is($standby->safe_psql($db, q{SELECT * FROM doublets_check('links')}), '', 'its trees and pages agree');
$node->stop('immediate');
$node->start;
is($node->safe_psql($db, 'SELECT count(*), sum(to_id) FROM links'), "100|$done", 'the same after a crash');
clean('after a crash');
$standby->stop;
$node->stop;
done_testing();
