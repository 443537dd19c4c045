# Parallel workers, many backends at once, and sessions that come and go.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('parallel', conf => "fsync = off\nautovacuum_naptime = 1s\nautovacuum_vacuum_scale_factor = 0.01\nmax_worker_processes = 16\nmax_parallel_workers = 8\n");
my $db = database($node, 'p', $am);
my $parallel = 'SET max_parallel_workers_per_gather = 4; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET min_parallel_index_scan_size = 0;';

$node->safe_psql($db, 'CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint); CREATE INDEX ON links (from_id); CREATE INDEX ON links (to_id); CREATE INDEX ON links (type_id);'
	  . 'INSERT INTO links SELECT i, i % 1000, i % 100, i % 10 FROM generate_series(1, 100000) i; ANALYZE links');
$node->restart;
is($node->safe_psql($db, "$parallel SELECT count(*), sum(id), sum(to_id) FROM links"), '100000|5000050000|4950000', 'the first access is by parallel workers');
like($node->safe_psql($db, "$parallel EXPLAIN SELECT count(*) FROM links"), qr/Workers Planned/, 'they are planned');
for my $off ('', 'SET enable_seqscan = off;', 'SET enable_seqscan = off; SET enable_bitmapscan = off;', 'SET enable_seqscan = off; SET enable_indexscan = off;')
{
	is($node->safe_psql($db, "$parallel $off SELECT count(*), sum(id), sum(to_id) FROM links WHERE from_id BETWEEN 100 AND 400"), '30100|1497475000|1485000', "parallel: $off");
}
is($node->safe_psql($db, "$parallel SELECT count(*) FROM links a JOIN links b ON a.id = b.from_id WHERE b.type_id = 3"), '10000', 'parallel join');
is($node->safe_psql($db, "$parallel BEGIN; UPDATE links SET to_id = -1 WHERE from_id = 5; SELECT count(*) FROM links WHERE to_id = -1; ROLLBACK"), '100', "workers see the leader's changes");
$node->safe_psql($db, 'SET max_parallel_maintenance_workers = 4; SET min_parallel_table_scan_size = 0; CREATE INDEX real ON links ((to_id + from_id))');
is($node->safe_psql($db, 'SET enable_seqscan = off; SELECT count(*) FROM links WHERE to_id + from_id = 10'), $node->safe_psql($db, 'SET enable_indexscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM links WHERE to_id + from_id = 10'), 'a real index, built in parallel');

# Transfers: the sum never changes, whoever looks, with vacuum beside.
my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/move.sql", <<'SQL');
\set a random(1, 500)
\set b random(501, 1000)
\set v random(1, 10)
BEGIN;
UPDATE links SET to_id = to_id - :v WHERE id = :a;
UPDATE links SET to_id = to_id + :v WHERE id = :b;
COMMIT;
SQL
append_to_file("$dir/look.sql", <<'SQL');
SELECT 1 / (sum(to_id) = 4950000)::int FROM links;
SQL
append_to_file("$dir/keys.sql", <<'SQL');
\set k random(200001, 200050)
\set d random(1, 4)
\if :d = 1
DELETE FROM links WHERE id = :k;
\elif :d = 2
INSERT INTO links VALUES (:k, :client_id, 0, 1) ON CONFLICT DO NOTHING;
\elif :d = 3
INSERT INTO links VALUES (:k, :client_id, 0, 1) ON CONFLICT (id) DO UPDATE SET from_id = :client_id;
\else
SELECT 1 / (count(*) <= 1)::int FROM links WHERE id = :k;
\endif
SQL
append_to_file("$dir/locks.sql", <<'SQL');
\set k random(1, 1000)
BEGIN;
SELECT * FROM links WHERE id = :k FOR KEY SHARE;
SELECT count(*) FROM links WHERE from_id = :k;
UPDATE links SET type_id = type_id WHERE id = :k;
ROLLBACK;
SQL
$node->command_ok([ 'pgbench', '-n', '-C', '-c', 8, '-j', 2, '-T', 5, '-f', "$dir/look.sql", $node->connstr($db) ], 'a session for each transaction') if $ENV{TEST_LONG};
my ($rc, $out, $err) = (0, '', '');
$rc = IPC::Run::run([ 'pgbench', '-n', '-c', 10, '-j', 2, '-T', $ENV{PARALLEL_SECONDS} || 10, '-f', "$dir/move.sql\@6", '-f', "$dir/look.sql\@1", '-f', "$dir/keys.sql\@6", '-f', "$dir/locks.sql\@4", $node->connstr($db) ], '>', \$out, '2>', \$err);
ok($rc, 'ten clients move, look, insert, delete and lock') or diag($err);
unlike($err, qr/ERROR|aborted/, 'and none sees what is not so');
is($node->safe_psql($db, 'SELECT sum(to_id), count(*) FROM links WHERE id <= 100000'), '4950000|100000', 'the sum is as it was');
is($node->safe_psql($db, 'SELECT count(*) FROM (SELECT id FROM links GROUP BY id HAVING count(*) > 1) d'), '0', 'no key is there twice');
check_ok($node, $db, 'links', 'trees and pages agree');
$node->stop;
done_testing();
