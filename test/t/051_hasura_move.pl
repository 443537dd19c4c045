# Moving a Deep database over: 100,000 links made by the migrations on heap become doublets and heap again, each way in one
# transaction, with all that hangs on the table; and the API answers the same afterwards.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'heap' if $am eq 'heap';

my $python = $ENV{PYTHON} || 'python3';
my $node = new_server('hasura_move', conf => "fsync = off\nautovacuum = off\n");

$ENV{PYTHONPATH} = 'hasura';
$ENV{PYTHONDONTWRITEBYTECODE} = 1;

sub driver
{
	my ($name, @args) = @_;
	my $out = '';

	ok(IPC::Run::run([ $python, '-m', 'driver', @args ], '<', \'', '>', \$out, '2>&1'), $name) or diag($out);
	return $out;
}

# Run a script; its complaints.
sub script
{
	my ($db, $file) = @_;
	my ($out, $err) = ('', '');

	IPC::Run::run([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($db), '-f', $file ], '<', \'', '>', \$out, '2>', \$err);
	return $err;
}

# All that a database tells about the links, but for the access methods; and what is in it.
sub picture
{
	my ($db) = @_;
	my $out = '';

	IPC::Run::run([ 'psql', '-X', '-d', $node->connstr($db), '-c', '\d+ links', '-c', '\dv', '-c', '\df public.*', '-c', '\d storage.files',
			'-c', 'SELECT count(*), sum(hash_record_extended(l, 0)::numeric) FROM links l',
			'-c', 'SELECT count(*), sum(hash_record_extended(m, 0)::numeric) FROM mp m',
			'-c', "SELECT tgname, tgenabled, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'links'::regclass AND NOT tgisinternal ORDER BY 1",
			'-c', "SELECT conname, pg_get_constraintdef(oid), convalidated FROM pg_constraint WHERE 'links'::regclass IN (conrelid, confrelid) ORDER BY 1",
			'-c', "SELECT 'links'::regclass::oid, 'links_pkey'::regclass::oid, obj_description('links'::regclass), relacl, reloptions FROM pg_class WHERE oid = 'links'::regclass",
			'-c', "SELECT attname, pg_get_expr(adbin, adrelid) FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE attrelid = 'links'::regclass AND attnum > 0",
			'-c', 'SELECT last_value, is_called FROM links_id_seq' ],
		'<', \'', '>', \$out, '2>&1');
	return $out;
}

sub methods
{
	my ($db) = @_;

	return $node->safe_psql($db, "SELECT string_agg(DISTINCT a.amname, ',' ORDER BY a.amname) FROM pg_class c JOIN pg_am a ON a.oid = c.relam "
		  . "WHERE c.oid = 'links'::regclass OR c.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = 'links'::regclass)");
}

# A database as the migrations make it, with an engine's event trigger and 100,000 links, some of them through all triggers.
my $conn = $node->connstr('deep');
$node->safe_psql('postgres', 'CREATE DATABASE deep TEMPLATE template0');
driver('migrations on heap', 'migrate', $conn, '--access-method', 'heap', '--event-triggers');
$node->safe_psql('deep', <<'SQL');
CREATE EXTENSION pg_doublets;
CREATE ROLE reader;
GRANT SELECT ON links TO reader;
COMMENT ON TABLE links IS 'the links';
COMMENT ON INDEX links__to_id_hash IS 'by target';
CREATE STATISTICS links_stats ON from_id, type_id FROM links;
ALTER TABLE links ALTER from_id SET STATISTICS 500;
CREATE VIEW loops AS SELECT * FROM links WHERE from_id = to_id;
INSERT INTO links (type_id, from_id, to_id) SELECT 3, 40, 1 + i % 3 FROM generate_series(1, 200) i;
SET session_replication_role = replica;
INSERT INTO links (type_id, from_id, to_id) SELECT 1 + i % 40, nullif(i % 1000, 7), i * 7 % 3000 FROM generate_series(1, 99750) i;
RESET session_replication_role;
INSERT INTO storage.files (link_id, name) SELECT id, 'file ' || id FROM links WHERE id BETWEEN 301 AND 400;
INSERT INTO strings (link_id, value) SELECT id, 'string ' || id FROM links WHERE id % 10 = 0;
SQL
cmp_ok($node->safe_psql('deep', 'SELECT count(*) FROM links'), '>=', 99900, 'there are 100,000 links, give or take');
my $before = picture('deep');
my $heap_methods = methods('deep');

# What is refused leaves all as it was.
like(script('deep', 'hasura/move/to_heap.sql'), qr/is not a doublets table/, 'the way back is refused on heap');
my $reader = IPC::Run::start([ 'psql', '-X', '-q', '-d', $conn, '-c', "BEGIN; SELECT count(*) FROM links; SELECT pg_sleep(60)" ], '<', \'', '>', \my $ignored, '2>&1');
wait_for($node, "SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND wait_event = 'PgSleep' AND pid <> pg_backend_pid()");
system("sed \"s/lock_timeout = '10s'/lock_timeout = '200ms'/\" hasura/move/to_doublets.sql > " . $node->data_dir . '/impatient.sql');
like(script('deep', $node->data_dir . '/impatient.sql'), qr/lock timeout/, 'a reader is not waited for for ever');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()");
$reader->finish;
is(methods('deep'), $heap_methods, 'nothing has changed');

# Over.
is(script('deep', 'hasura/move/to_doublets.sql'), '', 'to doublets');
is(methods('deep'), 'doublets,doublets_tree', 'the table and all its indexes are native');
my $after = picture('deep');
(my $want = $before) =~ s/^( +"links_.*)(?:btree|hash) \(/$1doublets_tree (/mg;
$want =~ s/^Access method: heap$/Access method: doublets/m;
is($after, $want, 'all else is as before');
check_ok($node, 'deep', 'links', 'trees and pages agree');
like(script('deep', 'hasura/move/to_doublets.sql'), qr/is not a heap table/, 'a second time is refused');

# It works: triggers, the foreign key, the engine's log.
$node->safe_psql('deep', "INSERT INTO links (id, type_id) VALUES (50, 24); UPDATE links SET id = 99 WHERE id = 301; DELETE FROM links WHERE id = 302");
is($node->safe_psql('deep', "SELECT (SELECT count(*) FROM storage.files WHERE link_id = 99), (SELECT count(*) FROM storage.files WHERE link_id IN (301, 302)), "
	  . "(SELECT count(*) FROM hdb_catalog.event_log WHERE (payload->'data'->'new'->>'id')::int IN (50, 99) OR (payload->'data'->'old'->>'id')::int = 302)"),
	'1|0|3', 'triggers and the foreign key work');
$node->stop('immediate');
start_again($node);
is($node->safe_psql('deep', 'SELECT count(*) FROM links WHERE id IN (50, 99, 301, 302)'), '2', 'also after a crash');
$node->safe_psql('deep', "DELETE FROM storage.files WHERE link_id = 99; UPDATE links SET id = 301 WHERE id = 99; DELETE FROM links WHERE id = 50");
$before = picture('deep');

# And back.
is(script('deep', 'hasura/move/to_heap.sql'), '', 'to heap');
is(methods('deep'), $heap_methods, 'the indexes are what they were, hash indexes too');
$want = $before;
$want =~ s/"([^"]*_hash)" doublets_tree \(/"$1" hash (/g;
$want =~ s/doublets_tree \(/btree (/g;
$want =~ s/^Access method: doublets$/Access method: heap/m;
is($node->safe_psql('deep', "SELECT obj_description('links__to_id_hash'::regclass)"), 'by target', 'comments of indexes too');
is(join("\n", sort split(/\n/, picture('deep'))), join("\n", sort split(/\n/, $want)), 'and all else is as before');

# The API on databases that were moved: heap to doublets, and to heap again.
for my $moves (1, 2)
{
	my $db = "moved$moves";

	$node->safe_psql('postgres', "CREATE DATABASE $db TEMPLATE template0");
	driver("migrations for $db", 'migrate', $node->connstr($db), '--access-method', 'heap');
	is(script($db, 'hasura/move/' . ($_ == 1 ? 'to_doublets' : 'to_heap') . '.sql'), '', "move $_ of $db") for 1 .. $moves;
	like(driver("the API on $db", 'conformance', "moved=" . $node->connstr($db)), qr/^moved \(replay.*: (\d\d\d) of \1 cases as expected/m, 'all cases');
}
$node->stop;
done_testing();
