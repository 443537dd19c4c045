# Without the library preloaded: one clear error, with the line to add.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'heap' if $am eq 'heap';

my $line = qr/shared_preload_libraries = 'pg_doublets'/;
my $node = PostgreSQL::Test::Cluster->new('plain');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\n");
$node->start;
my ($rc, $out, $err) = $node->psql('postgres', 'CREATE EXTENSION pg_doublets');
isnt($rc, 0, 'CREATE EXTENSION fails');
like($err, $line, 'and says what to add');
is(scalar(() = $err =~ /ERROR/g), 1, 'in one error');
$node->stop;

# A table made with the library, then a server without it.
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_doublets'\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION pg_doublets; CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint) USING doublets; CREATE INDEX ON links (from_id); INSERT INTO links VALUES (1, 2, 3)');
$node->stop;
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
$node->start;
for my $sql ('SELECT * FROM links', 'SELECT * FROM links WHERE id = 1', 'INSERT INTO links VALUES (2, 2, 2)', 'UPDATE links SET to_id = 1', 'DELETE FROM links', 'VACUUM links', 'ANALYZE links',
	'CREATE TABLE more (id bigint, a bigint, b bigint) USING doublets', 'CREATE INDEX ON links (to_id)', "SELECT doublets_check('links')", "SELECT doublets_stats('links')", 'TRUNCATE links', 'REINDEX TABLE links')
{
	($rc, $out, $err) = $node->psql('postgres', $sql);
	like($err, $line, "without the library: $sql");
}
is($node->safe_psql('postgres', 'SELECT 1'), '1', 'the server is well');
$node->stop;

# After a crash the server needs the library for recovery, and says so.
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_doublets'\n");
$node->start;
$node->safe_psql('postgres', 'INSERT INTO links VALUES (5, 6, 7)');
$node->stop('immediate');
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
sleep 1;
is($node->start(fail_ok => 1), 0, 'no start after a crash without the library');
like(slurp_file($node->logfile), qr/resource manager with ID 161 not registered/, 'and the log tells why');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_doublets'\n");
$node->start;
is($node->safe_psql('postgres', 'SELECT * FROM links ORDER BY id'), "1|2|3\n5|6|7", 'with the library all is there');
$node->stop;
done_testing();
