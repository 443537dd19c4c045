# UNLOGGED tables are emptied by a crash and kept by a shutdown; TEMP tables go with their session.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use Test::More;

my $node = new_server('unlogged', conf => "autovacuum = off\n");
my $db = database($node, 'u', $am);

$node->safe_psql($db, 'CREATE UNLOGGED TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint); CREATE INDEX ON links (from_id); CREATE INDEX ON links (to_id, type_id)');
$node->safe_psql($db, 'CREATE TABLE kept (id bigint PRIMARY KEY, from_id bigint, to_id bigint); INSERT INTO kept SELECT i, i, i FROM generate_series(1, 500) i');
$node->safe_psql($db, 'INSERT INTO links SELECT i, i % 7, 1, 1 FROM generate_series(1, 1000) i');
$node->safe_psql($db, 'UPDATE links SET to_id = 2 WHERE from_id = 3');
is($node->safe_psql($db, 'SELECT count(*), sum(to_id) FROM links'), '1000|1143', 'unlogged: written');
check_ok($node, $db, 'links', 'unlogged: trees and pages agree');
$node->restart;
is($node->safe_psql($db, 'SELECT count(*), sum(to_id) FROM links'), '1000|1143', 'unlogged: there after a shutdown');
check_ok($node, $db, 'links', 'unlogged: trees and pages agree after a shutdown');
$node->stop('immediate');
start_again($node);
is($node->safe_psql($db, 'SELECT count(*) FROM links'), '0', 'unlogged: empty after a crash');
is($node->safe_psql($db, 'SELECT count(*) FROM kept'), '500', 'logged: there after a crash');
$node->safe_psql($db, 'INSERT INTO links SELECT i, i % 7, 1, 1 FROM generate_series(1, 1000) i');
is($node->safe_psql($db, 'SET enable_seqscan = off; SELECT count(*) FROM links WHERE from_id = 3'), '143', 'unlogged: works after a crash');
check_ok($node, $db, 'links', 'unlogged: trees and pages agree after a crash');
$node->safe_psql($db, 'ALTER TABLE links SET LOGGED');
$node->stop('immediate');
start_again($node);
is($node->safe_psql($db, 'SELECT count(*) FROM links'), '1000', 'SET LOGGED: there after a crash');
$node->safe_psql($db, 'ALTER TABLE links SET UNLOGGED; TRUNCATE kept; INSERT INTO kept VALUES (1, 1, 1)');
$node->stop('immediate');
start_again($node);
is($node->safe_psql($db, 'SELECT count(*) FROM links'), '0', 'SET UNLOGGED: empty after a crash');
is($node->safe_psql($db, 'SELECT count(*) FROM kept'), '1', 'TRUNCATE: there after a crash');

is( $node->safe_psql($db, "CREATE TEMP TABLE t (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint) USING $am; CREATE INDEX ON t (from_id);"
		  . 'INSERT INTO t SELECT i, i % 7, 1, 1 FROM generate_series(1, 20000) i; UPDATE t SET to_id = 2 WHERE from_id = 3; DELETE FROM t WHERE from_id = 4; VACUUM t;'
		  . 'INSERT INTO t SELECT i, 4, 1, 1 FROM generate_series(20001, 20500) i; SET enable_seqscan = off; SELECT count(*), sum(to_id) FROM t WHERE from_id IN (3, 4)'),
	'3357|6214', 'temp: works');
ok($node->poll_query_until($db, "SELECT count(*) = 0 FROM pg_class WHERE relname = 't'"), 'temp: gone with its session');
is($node->safe_psql($db, "CREATE TEMP TABLE t (id bigint PRIMARY KEY, from_id bigint, to_id bigint) USING $am; BEGIN; INSERT INTO t VALUES (1, 1, 1); SAVEPOINT a; TRUNCATE t; "
		  . 'INSERT INTO t VALUES (2, 2, 2); ROLLBACK TO a; SELECT * FROM t; COMMIT; SELECT count(*) FROM t; BEGIN; DROP TABLE t; ROLLBACK; SELECT count(*) FROM t'), "1|1|1\n1\n1", 'temp: TRUNCATE and DROP rolled back');
$node->stop;
done_testing();
