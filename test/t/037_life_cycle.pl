# The life of the extension: dumps in all formats, pg_upgrade, ALTER EXTENSION UPDATE, several databases, single-user mode, and its removal.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use File::Copy ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'heap' if $am eq 'heap';

my $node = new_server('life', conf => "autovacuum = off\nfsync = off\n");
my $dir = PostgreSQL::Test::Utils::tempdir();
my $sum = "SELECT count(*), md5(string_agg(l::text, ' ' ORDER BY id)) FROM links l";
my $indexes = "SELECT c.relname, a.amname, pg_get_indexdef(c.oid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = 'links'::regclass ORDER BY 1";

deep_database($node, 'deep', 'doublets', 3000, 1);
$node->safe_psql('deep', 'UPDATE links SET to_id = 3 WHERE id % 7 = 0; DELETE FROM links WHERE id % 11 = 0 AND id < 2500');
my $want = $node->safe_psql('deep', $sum);

sub same
{
	my ($on, $db, $name) = @_;

	is($on->safe_psql($db, $sum), $want, "$name: the same rows");
	is($on->safe_psql($db, $indexes), $node->safe_psql('deep', $indexes), "$name: the same indexes") if $on == $node;
	check_ok($on, $db, 'links', "$name: trees and pages agree");
	return;
}

# --- dumps -----------------------------------------------------------------------------------------

for my $case ([ 'directory, in parallel', [ '-Fd', '-j2' ], [ '-j3' ] ], [ 'tar', ['-Ft'], [] ], [ 'custom, in one transaction', ['-Fc'], ['-1'] ], [ 'custom, data last', ['-Fc'], [ '-j2', '--section=pre-data' ], [ '--section=data', '--section=post-data' ] ])
{
	my ($name, $dump, @restores) = @$case;
	(my $db = "r_$name") =~ s/\W+/_/g;

	$node->safe_psql('postgres', "CREATE DATABASE $db TEMPLATE template0");
	$node->command_ok([ 'pg_dump', '-d', $node->connstr('deep'), @$dump, '-f', "$dir/$db" ], "pg_dump: $name");
	$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr($db), @$_, "$dir/$db" ], "pg_restore: $name") for @restores;
	same($node, $db, $name);
	$node->safe_psql('postgres', "DROP DATABASE $db");
}
$node->safe_psql('postgres', 'CREATE DATABASE r_parts TEMPLATE template0');
$node->command_ok([ 'pg_dump', '-d', $node->connstr('deep'), '--schema-only', '-f', "$dir/schema.sql" ], 'pg_dump --schema-only');
$node->command_ok([ 'pg_dump', '-d', $node->connstr('deep'), '--data-only', '--disable-triggers', '--inserts', '--rows-per-insert=50', '-f', "$dir/data.sql" ], 'pg_dump --data-only --inserts');
$node->command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('r_parts'), '-f', "$dir/$_.sql" ], "$_ restored") for qw(schema data);
same($node, 'r_parts', 'schema and data apart');
$node->safe_psql('postgres', 'DROP DATABASE r_parts');

# --- pg_upgrade -----------------------------------------------------------------------------------------

# To a server of the same version, which pg_upgrade allows: files are carried over, catalogs are restored.
{
	my $new = PostgreSQL::Test::Cluster->new('upgraded');
	my $bin = $node->config_data('--bindir');

	$new->init;
	$new->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_doublets'\nmax_prepared_transactions = 10\n");
	$node->stop;
	my $cwd = PostgreSQL::Test::Utils::tempdir();
	my ($out, $err) = ('', '');
	my $rc = IPC::Run::run([ 'sh', '-c', 'cd "$1" && shift && exec "$@"', 'sh', $cwd, 'pg_upgrade', '--no-sync', '-d', $node->data_dir, '-D', $new->data_dir, '-b', $bin, '-B', $bin,
		'-s', $new->host, '-p', $node->port, '-P', $new->port, '-U', scalar(getpwuid $<) ], '<', \'', '>', \$out, '2>', \$err);

	ok($rc, 'pg_upgrade') or diag("$out $err");
	$node->start;
	if ($rc)
	{
		$new->start;
		same($new, 'deep', 'upgraded');
		is($new->safe_psql('deep', 'SET enable_seqscan = off; SELECT count(*) FROM links WHERE type_id = 1'), $node->safe_psql('deep', 'SELECT count(*) FROM links WHERE type_id = 1'), 'upgraded: by index');
		$new->safe_psql('deep', 'INSERT INTO links (type_id) VALUES (1); UPDATE links SET to_id = 1 WHERE id % 5 = 0; VACUUM FREEZE links');
		check_ok($new, 'deep', 'links', 'upgraded, and written to: trees and pages agree');
		$new->stop('immediate');
		start_again($new);
		check_ok($new, 'deep', 'links', 'upgraded, after a crash: trees and pages agree');
		$new->stop;
	}
}

# --- versions of the extension ------------------------------------------------------------------------------

SKIP:
{
	my $extensions = $node->config_data('--sharedir') . '/extension';
	my $default = $node->safe_psql('deep', "SELECT default_version FROM pg_available_extensions WHERE name = 'pg_doublets'");

	is($node->safe_psql('deep', "SELECT extversion FROM pg_extension WHERE extname = 'pg_doublets'"), $default, 'the default version is installed');
	# every version that has ever been out must have a way to this one
	is($node->safe_psql('deep', "SELECT count(*) FROM pg_extension_update_paths('pg_doublets') WHERE target = '$default' AND path IS NULL"), '0', 'all versions can be updated to it');
	skip 'the folder of extensions is not ours', 4 unless -w $extensions;
	append_to_file("$extensions/pg_doublets--$default--999.sql", "CREATE FUNCTION doublets_next() RETURNS int LANGUAGE sql AS 'SELECT 999';\n");
	append_to_file("$extensions/pg_doublets--999--$default.sql", "DROP FUNCTION doublets_next();\n");
	$node->safe_psql('deep', "ALTER EXTENSION pg_doublets UPDATE TO '999'");
	is($node->safe_psql('deep', 'SELECT doublets_next()'), '999', 'ALTER EXTENSION UPDATE runs the script between versions');
	same($node, 'deep', 'updated');
	$node->safe_psql('deep', 'ALTER EXTENSION pg_doublets UPDATE');
	is($node->safe_psql('deep', "SELECT extversion FROM pg_extension WHERE extname = 'pg_doublets'"), $default, 'and back');
	unlink "$extensions/pg_doublets--$default--999.sql", "$extensions/pg_doublets--999--$default.sql";
}

# --- several databases ------------------------------------------------------------------------------------------

$node->safe_psql('postgres', 'CREATE DATABASE other TEMPLATE template0');
$node->safe_psql('other', 'CREATE SCHEMA ext; CREATE EXTENSION pg_doublets SCHEMA ext; CREATE TABLE links (id bigint PRIMARY KEY, a bigint, b bigint) USING doublets; INSERT INTO links SELECT i, i, i FROM generate_series(1, 100) i');
$node->safe_psql('other', 'ALTER EXTENSION pg_doublets SET SCHEMA public; INSERT INTO links VALUES (0, 0, 0) ON CONFLICT (id) DO UPDATE SET a = 1');
is($node->safe_psql('other', 'SELECT count(*) FROM links'), '101', 'a second database has it in a schema of its own, moved to another');
same($node, 'deep', 'the first one');
my ($rc, $out, $err) = $node->psql('other', 'DROP EXTENSION pg_doublets');
like($err, qr/cannot drop extension pg_doublets because other objects depend on it/, 'DROP EXTENSION is refused while tables need it');
$node->safe_psql('other', 'DROP EXTENSION pg_doublets CASCADE');
is($node->safe_psql('other', "SELECT to_regclass('links') IS NULL"), 't', 'CASCADE drops the tables');
$node->safe_psql('other', 'CREATE EXTENSION pg_doublets; CREATE TABLE links (id bigint PRIMARY KEY, a bigint, b bigint) USING doublets; INSERT INTO links VALUES (1, 2, 3)');
check_ok($node, 'other', 'links', 'and here it is again: trees and pages agree');
same($node, 'deep', 'the first one, still');

# --- single-user mode ------------------------------------------------------------------------------------------------

$node->stop;
{
	my ($o, $e) = ('', '');
	my $sql = "INSERT INTO links VALUES (2, 3, 4)\nUPDATE links SET b = 5 WHERE id = 1\nVACUUM links\nSELECT count(*) AS n FROM links WHERE a >= 0\nREINDEX TABLE links\n";

	IPC::Run::run([ 'postgres', '--single', '-D', $node->data_dir, 'other' ], '<', \$sql, '>', \$o, '2>', \$e);
	like($o, qr/n = "2"/, 'single-user mode reads and writes') or diag("$o $e");
	unlike($e, qr/ERROR|FATAL|PANIC/, 'without errors');
}
$node->start;
is($node->safe_psql('other', 'SELECT * FROM links ORDER BY id'), "1|2|5\n2|3|4", 'and the server finds what it wrote');
check_ok($node, 'other', 'links', 'after single-user mode: trees and pages agree');

# --- removal ----------------------------------------------------------------------------------------------------------

# Without the library in shared_preload_libraries tables can't be dropped either; nothing of the extension goes.
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
$node->restart;
($rc, $out, $err) = $node->psql('other', 'DROP EXTENSION pg_doublets CASCADE');
like($err, qr/HINT:.*shared_preload_libraries = 'pg_doublets'/, 'without the library preloaded: DROP EXTENSION CASCADE says what is missing');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_doublets'\n");
$node->restart;
same($node, 'deep', 'preloaded again');
# there and back once more: what depends on what must follow
$node->safe_psql('deep', "ALTER TABLE links SET ACCESS METHOD $_") for qw(heap doublets);
is($node->safe_psql('deep', "SELECT count(*) FROM pg_depend WHERE refclassid = 'pg_opclass'::regclass AND classid = 'pg_class'::regclass AND refobjid >= 16384"),
	$node->safe_psql('deep', "SELECT count(*) FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'doublets_tree'"), 'native indexes depend on the extension');
$node->safe_psql('deep', 'ALTER TABLE links SET ACCESS METHOD heap');
is($node->safe_psql('deep', "SELECT count(*) FROM pg_depend WHERE refclassid = 'pg_opclass'::regclass AND classid = 'pg_class'::regclass AND refobjid >= 16384"), '0', 'moved to heap: no index depends on the extension');
my $heap = $node->safe_psql('deep', "SELECT a.amname, count(*) FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE c.relname LIKE 'links%' GROUP BY 1 ORDER BY 1");
unlike($heap, qr/doublets/, 'moved to heap: no access method of ours is left');
$node->safe_psql($_, 'DROP EXTENSION pg_doublets') for qw(deep postgres template1);
$node->stop;
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
my $library = $node->config_data('--pkglibdir') . '/pg_doublets.so';
my $away = -w $library && File::Copy::copy($library, "$dir/away.so") && unlink $library;
$node->start;
is($node->safe_psql('deep', $sum), $want, 'without the library' . ($away ? ', whose file is gone,' : '') . ' all rows are there, on heap');
$node->safe_psql('deep', 'UPDATE links SET to_id = to_id; VACUUM FULL links; REINDEX TABLE links');
is($node->safe_psql('deep', $sum), $want, 'and it works as any table');
if ($away)
{
	File::Copy::copy("$dir/away.so", $library);
	chmod 0755, $library;
}
$node->stop;
done_testing();
