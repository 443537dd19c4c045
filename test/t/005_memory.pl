# Too little memory: an error that says which settings matter; nothing is lost or half done.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use Test::More;

plan skip_all => 'heap' if $am eq 'heap';

my $node = new_server('memory', conf => "autovacuum = off\npg_doublets.max_memory = '16MB'\n");
my $db = database($node, 'm', 'doublets');
my $insert = sub { "INSERT INTO links SELECT i, i, i + 1, i % 5 FROM generate_series($_[0], $_[1]) i" };

$node->safe_psql($db, 'CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint); CREATE INDEX ON links (from_id)');
$node->safe_psql($db, $insert->(1, 10000));
my ($rc, $out, $err) = $node->psql($db, "\\set VERBOSITY verbose\n" . $insert->(10001, 2000000));
isnt($rc, 0, 'a load that does not fit fails');
like($err, qr/53200/, 'with 53200');
like($err, qr/HINT:.*pg_doublets\.max_memory/s, 'and names the setting');
is($node->safe_psql($db, 'SELECT count(*), max(id) FROM links'), '10000|10000', 'what was there is there');
check_ok($node, $db, 'links', 'trees and pages agree');
is($node->safe_psql($db, 'SET enable_seqscan = off; SELECT to_id FROM links WHERE from_id = 77'), '78', 'reads go on');
$node->safe_psql($db, 'VACUUM links');
is($node->safe_psql($db, $insert->(20001, 30000) . '; SELECT count(*) FROM links'), '20000', 'the room of what failed is used again');

# A second table, and one that goes, gives room.
($rc, $out, $err) = $node->psql($db, 'CREATE TABLE big (id bigint PRIMARY KEY, a bigint, b bigint); INSERT INTO big SELECT i, i, i FROM generate_series(1, 1000000) i');
like($err, qr/out of memory|53200|memory/, 'another table finds no room');
$node->safe_psql($db, 'DROP TABLE big');
$node->safe_psql($db, 'TRUNCATE links');
$node->safe_psql($db, $insert->(1, 30000));
is($node->safe_psql($db, 'SELECT count(*) FROM links'), '30000', 'TRUNCATE gives memory back');
for (1 .. 20)
{
	$node->safe_psql($db, 'CREATE TABLE again (id bigint PRIMARY KEY, a bigint, b bigint); INSERT INTO again SELECT i, i, i FROM generate_series(1, 20000) i; DROP TABLE again');
}
pass('tables that come and go leave no memory behind');
$node->restart;
is($node->safe_psql($db, 'SELECT count(*) FROM links'), '30000', 'loaded again');

# A store that does not fit after a restart.
$node->safe_psql('postgres', "ALTER SYSTEM SET pg_doublets.max_memory = '2MB'");
$node->restart;
($rc, $out, $err) = $node->psql($db, "\\set VERBOSITY verbose\nSELECT count(*) FROM links WHERE from_id = 5");
like($err, qr/53200/, 'a table that does not fit after a restart: 53200') or diag("$rc $out $err");
is($node->safe_psql($db, 'SELECT 1'), '1', 'the server is well');
$node->safe_psql('postgres', 'ALTER SYSTEM RESET pg_doublets.max_memory');
$node->restart;
is($node->safe_psql($db, 'SELECT count(*) FROM links'), '30000', 'with more memory all is there');
check_ok($node, $db, 'links', 'trees and pages agree in the end');
$node->stop;
done_testing();
