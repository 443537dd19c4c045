# pg_dump | psql gives the same table back; \d reads as on heap but for the index method; a base backup works.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('dump', init => [ allows_streaming => 1 ], conf => "autovacuum = off\n");
my $dir = PostgreSQL::Test::Utils::tempdir();

deep_database($node, 'deep', $am, 20000, 1);
$node->safe_psql('deep', 'UPDATE links SET to_id = 3 WHERE id % 7 = 0; DELETE FROM links WHERE id % 11 = 0 AND id < 18000; ALTER TABLE links CLUSTER ON links_pkey');
for my $format ('p', 'c')
{
	my $db = "restored_$format";

	$node->safe_psql('postgres', "CREATE DATABASE $db TEMPLATE template0");
	$node->command_ok([ 'pg_dump', '-d', $node->connstr('deep'), "-F$format", '-f', "$dir/dump.$format" ], "pg_dump -F$format");
	$node->command_ok($format eq 'p' ? [ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($db), '-f', "$dir/dump.p" ] : [ 'pg_restore', '-j2', '-d', $node->connstr($db), "$dir/dump.c" ], 'restore');
	my $sum = "SELECT count(*), md5(string_agg(l::text, ' ' ORDER BY id)) FROM links l";
	is($node->safe_psql($db, $sum), $node->safe_psql('deep', $sum), 'the same rows');
	my $indexes = 'SELECT c.relname, a.amname, pg_get_indexdef(c.oid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = \'links\'::regclass ORDER BY 1';
	is($node->safe_psql($db, $indexes), $node->safe_psql('deep', $indexes), 'the same indexes');
	is($node->safe_psql($db, "SELECT amname FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE c.oid = 'links'::regclass"), $am, 'the same access method');
	is(`psql -X -d "@{[ $node->connstr($db) ]}" -c '\\d links'`, `psql -X -d "@{[ $node->connstr('deep') ]}" -c '\\d links'`, 'the same \d');
	check_ok($node, $db, 'links', 'trees and pages agree');
	$node->safe_psql($db, 'INSERT INTO links (type_id) VALUES (1)');
}
my ($first, $second) = map { my $t = slurp_file($_); $t =~ s/^\\.*restrict.*\n//mg; $t } map { $node->run_log([ 'pg_dump', '-d', $node->connstr($_), '-f', "$dir/$_.sql" ]); "$dir/$_.sql" } 'deep', 'deep';
is($first, $second, 'a dump is the same twice');

$node->backup('b');
my $copy = PostgreSQL::Test::Cluster->new('copy');
$copy->init_from_backup($node, 'b');
$copy->start;
is($copy->safe_psql('deep', 'SELECT count(*), sum(id) FROM links'), $node->safe_psql('deep', 'SELECT count(*), sum(id) FROM links'), 'a base backup has the same rows');
check_ok($copy, 'deep', 'links', 'base backup: trees and pages agree');
$copy->stop;

# Whole databases: copied both ways, moved, dropped.
for my $strategy (qw(wal_log file_copy))
{
	$node->safe_psql('postgres', "CREATE DATABASE $strategy TEMPLATE deep STRATEGY $strategy");
	is($node->safe_psql($strategy, 'SELECT count(*), sum(id) FROM links'), $node->safe_psql('deep', 'SELECT count(*), sum(id) FROM links'), "CREATE DATABASE ... STRATEGY $strategy");
	check_ok($node, $strategy, 'links', "$strategy: trees and pages agree");
	$node->safe_psql('postgres', "DROP DATABASE $strategy");
}
my $space = PostgreSQL::Test::Utils::tempdir_short();

$node->safe_psql('postgres', "CREATE TABLESPACE space LOCATION '$space'");
$node->safe_psql('deep', 'ALTER TABLE links SET TABLESPACE space');
is($node->safe_psql('deep', 'SELECT count(*) FROM links WHERE from_id = 5'), $node->safe_psql('restored_c', 'SELECT count(*) FROM links WHERE from_id = 5'), 'another tablespace');
$node->safe_psql('postgres', 'ALTER DATABASE restored_p SET TABLESPACE space');
is($node->safe_psql('restored_p', 'SELECT count(*) > 0 FROM links WHERE from_id = 5'), 't', 'a database in another tablespace');
check_ok($node, $_, 'links', "$_: trees and pages agree") for 'deep', 'restored_p';
$node->stop('immediate');
start_again($node);
check_ok($node, $_, 'links', "$_: trees and pages agree after a crash") for 'deep', 'restored_p', 'restored_c';
$node->stop;
done_testing();
