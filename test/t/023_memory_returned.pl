# Memory goes back to the system with the table, in idle sessions too; nothing leaks over many tables that come and go; a
# /dev/shm of 64 MB, memory set aside at start, and huge pages where the machine has some.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

plan skip_all => 'heap' if $am eq 'heap';

# With segments as files in the data directory one sees this server's alone.
my $node = new_server('returned', conf => "autovacuum = off\nfsync = off\ndynamic_shared_memory_type = mmap\nmax_locks_per_transaction = 256\n");
my $db = database($node, 'r', 'doublets');
my $segments = sub {
	my $sum = 0;
	$sum += -s $_ || 0 for glob $node->data_dir . '/pg_dynshmem/mmap.*';
	return $sum;
};
my $at_rest = $segments->();
my $settled = sub {
	for (1 .. 600)
	{
		return 1 if $segments->() <= $at_rest;
		sleep 0.05;
	}
	return 0;
};
my $rows = 'SELECT i, i, i + 1, i % 5 FROM generate_series(1, 100000) i';
my $columns = '(id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint)';

# Two sessions that have the table mapped and idle: one of them within a transaction that has not touched it.
my @idle = map {
	my %s = (in => '', out => '');
	$s{h} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr($db) ], '<', \$s{in}, '>', \$s{out}, '2>&1', IPC::Run::timer(180));
	\%s;
} 0 .. 1;
my $say = sub {
	my ($s, $sql) = @_;
	$s->{out} = '';
	$s->{in} = "$sql;\n\\echo done\n";
	$s->{h}->pump until $s->{out} =~ /^done$/m;
	return (split /\n/, $s->{out})[0];
};
my $map = sub {
	is($say->($_, "SELECT count(*) FROM $_[0]"), '100000', 'an idle session has it mapped') for @idle;
	$say->($idle[1], "BEGIN; SELECT 1");
};
for my $how ([ 'DROP', 'DROP TABLE t' ], [ 'TRUNCATE', 'TRUNCATE t' ], [ 'DELETE and VACUUM FULL', 'DELETE FROM t; VACUUM FULL t' ],
	[ 'SET ACCESS METHOD heap', 'ALTER TABLE t SET ACCESS METHOD heap' ], [ 'DROP EXTENSION', 'DROP EXTENSION pg_doublets CASCADE; CREATE EXTENSION pg_doublets' ])
{
	my ($name, $sql) = @$how;

	$node->safe_psql($db, "DROP TABLE IF EXISTS t; CREATE TABLE t $columns; INSERT INTO t $rows");
	$map->('t');
	cmp_ok($segments->(), '>', $at_rest + 8 * 1024 * 1024, "before $name: it takes memory");
	$node->safe_psql($db, $_) for split /; /, $sql;
	ok($settled->(), "after $name: all of it has been returned, though others had it mapped");
	$say->($idle[1], 'COMMIT');
}
$node->safe_psql($db, "CREATE TABLE u $columns");
for my $sql ("BEGIN; INSERT INTO u $rows; ALTER TABLE u ADD CHECK (id > 0); TRUNCATE u; INSERT INTO u $rows; ROLLBACK",
	"BEGIN; CREATE TABLE v $columns; INSERT INTO v $rows; ROLLBACK",
	"BEGIN; SAVEPOINT a; CREATE TABLE v $columns; INSERT INTO v $rows; ROLLBACK TO a; COMMIT")
{
	$node->safe_psql($db, 'TRUNCATE u');
	$node->psql($db, $sql);
	$node->safe_psql($db, 'TRUNCATE u');
	ok($settled->(), "a load is rolled back: all memory has been returned");
}
$node->psql($db, "CREATE TABLE x $columns; INSERT INTO x $rows; INSERT INTO x VALUES (5, 1, 1, 1)");
$node->safe_psql($db, 'DROP TABLE x');
ok($settled->(), 'a load that fails, and a drop');

# Prepared transactions.
$node->safe_psql($db, "CREATE TABLE t1 $columns; INSERT INTO t1 $rows");
$node->safe_psql($db, "BEGIN; DROP TABLE t1; PREPARE TRANSACTION 'drop'");
$node->safe_psql($db, "COMMIT PREPARED 'drop'");
ok($settled->(), 'a drop that was prepared');
$node->safe_psql($db, "BEGIN; CREATE TABLE t1 $columns; INSERT INTO t1 $rows; PREPARE TRANSACTION 'create'");
$node->safe_psql($db, "ROLLBACK PREPARED 'create'");
ok($settled->(), 'a prepared creation that is rolled back');

# A database.
database($node, 'gone', 'doublets');
$node->safe_psql('gone', "CREATE TABLE t $columns; INSERT INTO t $rows");
cmp_ok($segments->(), '>', $at_rest + 8 * 1024 * 1024, 'a table of another database takes memory');
$node->safe_psql('postgres', 'DROP DATABASE gone');
ok($settled->(), 'which is returned when the database is dropped');
$_->{h}->finish for @idle;

# Tables that come and go: in one session, and in a session each.
my $cycles = $ENV{MEMORY_CYCLES} || 300;
my $session = sub {
	my ($n) = @_;
	my $do = "DO \$\$ BEGIN FOR n IN 1 .. $n LOOP CREATE TABLE c $columns; INSERT INTO c SELECT i, i, i + 1, i % 5 FROM generate_series(1, CASE WHEN n % 10 = 0 THEN 15000 ELSE 100 END) i;"
	  . 'COMMIT; IF n % 3 = 0 THEN TRUNCATE c; INSERT INTO c VALUES (1, 1, 1, 1); END IF; DROP TABLE c; COMMIT; END LOOP; END $$';
	return $node->safe_psql($db, "$do; $do; SELECT sum(total_bytes) FROM pg_backend_memory_contexts WHERE name ~ 'doublets' OR ident ~ 'doublets'; $do; SELECT sum(total_bytes) FROM pg_backend_memory_contexts WHERE name ~ 'doublets' OR ident ~ 'doublets'");
};
my ($before, $after) = split /\n/, $session->(int($cycles / 3));
cmp_ok($after, '<=', $before + 8192, "$cycles tables that come and go in one session: it has $after bytes, and had $before before the last third");
for (1 .. $cycles / 10)
{
	$node->safe_psql($db, "CREATE TABLE c $columns; INSERT INTO c SELECT i, i, i + 1, i % 5 FROM generate_series(1, 15000) i; SELECT count(*) FROM c; DROP TABLE c");
}
$node->safe_psql($db, 'DROP TABLE u');
ok($settled->(), 'nothing is left of them');
is($node->safe_psql($db, 'SELECT bytes, leaving_bytes FROM doublets_memory_totals()'), '0|0', 'nor is anything counted');
is($node->safe_psql($db, 'SELECT count(*) FROM doublets_memory WHERE rel IS NULL'), '0', 'nor are there entries of tables that are gone');
$node->stop;

# With memory that was set aside, with and without huge pages: nothing is taken from the system.
for my $huge ('off', 'on')
{
  SKIP:
	{
		my ($free, $kb) = (0, 0);
		if (open my $f, '<', '/proc/meminfo')
		{
			my $text = join '', <$f>;
			($free) = $text =~ /HugePages_Free:\s+(\d+)/;
			($kb) = $text =~ /Hugepagesize:\s+(\d+)/;
		}
		skip 'no huge pages on this machine', 4 if $huge eq 'on' && ($free || 0) * ($kb || 0) < 180 * 1024;

		$node->append_conf('postgresql.conf', "huge_pages = $huge\nmin_dynamic_shared_memory = '60MB'\nshared_buffers = '32MB'\n");
		$node->start;
		$node->safe_psql($db, "CREATE TABLE t $columns; INSERT INTO t $rows; INSERT INTO t SELECT i, i, i, i FROM generate_series(200001, 300000) i");
		cmp_ok($segments->(), '<=', $at_rest, "huge pages $huge: the segments come from what was set aside");
		is($node->safe_psql($db, 'SELECT count(*) FROM t WHERE id > 250000'), '50000', "huge pages $huge: rows");
		$node->safe_psql($db, 'DROP TABLE t');
		for (1 .. 5)
		{
			$node->safe_psql($db, "CREATE TABLE t $columns; INSERT INTO t $rows; INSERT INTO t SELECT i, i, i, i FROM generate_series(200001, 300000) i; DROP TABLE t");
		}
		cmp_ok($segments->(), '<=', $at_rest, "huge pages $huge: and what is freed is used again");
		$node->stop;
		pass("huge pages $huge: stopped");
	}
}

# A /dev/shm of 64 MB, in a mount namespace of its own: other tables go; with none left, an error that says why.
SKIP:
{
	my @unshare = ('unshare', '-U', '-m', '--map-current-user', '--keep-caps', 'sh', '-c');
	my $conf = "huge_pages = off\nmin_dynamic_shared_memory = 0\ndynamic_shared_memory_type = posix\nshared_buffers = '32MB'\n";

	skip 'no mount namespaces', 1 unless run_log([ @unshare, 'mount -t tmpfs -o size=64m tmpfs /dev/shm' ]);
	$node->append_conf('postgresql.conf', $conf);
	my ($data, $logfile) = ($node->data_dir, $node->logfile);
	ok(run_log([ @unshare, "mount -t tmpfs -o size=64m tmpfs /dev/shm && pg_ctl -w -D '$data' -l '$logfile' -o '--cluster-name=returned' start" ]), 'a server with a /dev/shm of 64 MB');
	$node->_update_pid(1);
	$node->safe_psql($db, "CREATE TABLE s$_ $columns; INSERT INTO s$_ SELECT i, i, i + 1, i % 5 FROM generate_series(1, 200000) i") for 1 .. 4;
	is($node->safe_psql($db, "SELECT count(*) FROM s$_"), '200000', "table $_ of four that don't fit together") for 1 .. 4;
	cmp_ok($node->safe_psql($db, 'SELECT evictions FROM doublets_memory_totals()'), '>', 0, 'some were evicted');
	my ($rc, $out, $err) = $node->psql($db, "\\set VERBOSITY verbose\nCREATE TABLE big $columns; INSERT INTO big SELECT i, i, i + 1, i % 5 FROM generate_series(1, 1000000) i");
	like($err, qr/53200/, 'a table that does not fit: 53200');
	like($err, qr/HINT:.*\/dev\/shm/s, 'the hint names /dev/shm');
	is($node->safe_psql($db, 'SELECT count(*) FROM big'), '0', 'nothing of it is there');
	is($node->safe_psql($db, "SELECT count(*), sum(id) FROM s$_"), '200000|20000100000', "table $_ is all there") for 1 .. 4;
	check_ok($node, $db, "s$_", "s$_: trees and pages agree") for 1 .. 4;
	$node->stop;
}
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|was terminated by signal|leak/i, 'nothing broke in the log');
done_testing();
