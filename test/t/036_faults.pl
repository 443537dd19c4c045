# Faults: a full disk for data and for WAL, cancels inside a load, processes that die in one; nothing is lost, half done, or left behind.
#
# The disk is made "full" by a limit on the size of files (ulimit -f), which needs no rights.  Dynamic shared memory is in
# files of the data directory, so that what is left of it can be counted.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $rows = 60_000;
my $node = new_server('faults', init => [ extra => [ '--wal-segsize=4' ] ],
	conf => "autovacuum = off\ndynamic_shared_memory_type = mmap\nmax_wal_size = 64MB\nmin_wal_size = 8MB\nwal_recycle = on\nwal_level = replica\n");
my $db = database($node, 'f', $am);
my $sum = 'SELECT count(*), sum(hashtextextended(t::text, 0)) FROM links t';
my $fill = sub { "INSERT INTO links SELECT i, i % 1000, i % 7, 1 FROM generate_series($_[0], $_[1]) i" };

sub segments
{
	return scalar grep { !/mmap\.0$/ } glob($node->data_dir . '/pg_dynshmem/mmap.*');
}

# Start it with no file larger than so many kB.
sub start_limited
{
	my ($kb) = @_;

	PostgreSQL::Test::Utils::system_log('sh', '-c', 'ulimit -f ' . $kb * 2 . '; exec pg_ctl -w -D "$0" -l "$1" start', $node->data_dir, $node->logfile) == 0
	  or BAIL_OUT('the server does not start with a limit');
	$node->_update_pid(1);
	return;
}

# Wait until it is up again after one of its processes has died.
sub wait_up
{
	# psql may be gone before it is told what to ask
	for (1 .. 600)
	{
		my ($o, $e) = ('', '');

		return if eval { IPC::Run::run([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'SELECT pg_is_in_recovery()' ], '<', \'', '>', \$o, '2>', \$e); } && $o eq "f\n";
		sleep 0.1;
	}
	BAIL_OUT('the server does not come back');
	return;
}

$node->safe_psql($db, 'CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint); CREATE INDEX ON links (from_id); CREATE INDEX ON links (type_id);' . $fill->(1, 20000));

# --- no room for data ------------------------------------------------------------------------------

my $before = $node->safe_psql($db, $sum);
$node->stop;
start_limited(5000);
for my $try (1 .. 2)
{
	my ($rc, $out, $err) = $node->psql($db, "\\set VERBOSITY verbose\n" . $fill->(20001, 300000));

	isnt($rc, 0, "no room for data, $try: the statement fails");
	like($err, qr/ERROR:  (?:53100|58030|54000|XX000): could not (?:extend|write)|File too large/, "no room for data, $try: and says why") or diag($err);
	is($node->safe_psql($db, $sum), $before, "no room for data, $try: what was there is there");
	check_ok($node, $db, 'links', "no room for data, $try: trees and pages agree");
	$node->safe_psql($db, 'VACUUM links');
	$node->safe_psql($db, $fill->(20001, 21000) . '; DELETE FROM links WHERE id > 20000');
}
my ($rc, $out, $err) = $node->psql($db, 'BEGIN; SAVEPOINT a; ' . $fill->(20001, 300000) . '; ROLLBACK TO a; ' . $fill->(30001, 30100) . '; COMMIT');
($rc, $out, $err) = $node->psql($db, 'COPY links FROM PROGRAM $$seq -f "%.0f	1	1	1" 20001 300000$$');
isnt($rc, 0, 'no room for data: COPY fails');
check_ok($node, $db, 'links', 'no room for data: trees and pages agree after COPY');
is($node->safe_psql($db, $sum), $before, 'no room for data: what was there is there after COPY');
$node->stop('immediate');
start_again($node);
is($node->safe_psql($db, $sum), $before, 'no room for data: and after a crash');
$node->safe_psql($db, 'VACUUM links; ' . $fill->(20001, $rows));
check_ok($node, $db, 'links', 'with room again: trees and pages agree');

# --- no room for WAL ---------------------------------------------------------------------------------

$node->append_conf('postgresql.conf', "restart_after_crash = off\n");
$node->safe_psql($db, 'CREATE TABLE small (LIKE links INCLUDING ALL); INSERT INTO small SELECT i, i, 0, 1 FROM generate_series(1, 1000) i');
$before = $node->safe_psql($db, $sum);
$node->stop;
# segments are of 4 MB: they cannot be written to their ends
start_limited(3200);
my $acknowledged = 0;
for my $i (1 .. 500)
{
	($rc, $out, $err) = $node->psql($db, "UPDATE small SET to_id = $i");
	last if $rc;
	$acknowledged = $i;
	last if ($node->psql($db, 'VACUUM small'))[0];
}
ok(slurp_file($node->logfile) =~ /PANIC:  could not (?:write|extend|create)|PANIC:.*File too large/, "no room for WAL: the server gives up, after $acknowledged transactions");
$node->{_pid} = undef;
start_again($node);
my ($n, $min, $max) = split /\|/, $node->safe_psql($db, 'SELECT count(*), min(to_id), max(to_id) FROM small');
is("$n $min", "1000 $max", 'no room for WAL: a transaction is there or is not');
cmp_ok($max, '>=', $acknowledged, 'no room for WAL: what was acknowledged is there');
is($node->safe_psql($db, $sum), $before, 'no room for WAL: the rest is as it was');
check_ok($node, $db, $_, "no room for WAL: $_: trees and pages agree") for qw(links small);
$node->append_conf('postgresql.conf', "restart_after_crash = on\n");
$node->restart;

# --- cancels inside a load --------------------------------------------------------------------------------

my @access = (
	'SELECT count(*) FROM links WHERE from_id = 7',
	'UPDATE links SET to_id = to_id + 1 WHERE id < 100',
	'INSERT INTO links VALUES (-1, 1, 1, 1)',
	'VACUUM links',
	'CREATE INDEX extra ON links (to_id)',
	'CREATE INDEX extra ON links ((to_id + id))',
	'ANALYZE links',
	'SELECT * FROM links FOR UPDATE',
	'ALTER TABLE links SET ACCESS METHOD heap',
	'CLUSTER links USING links_pkey',
	'COPY links TO PROGRAM $$cat >/dev/null$$');
if ($am ne 'heap')
{
	$node->safe_psql($db, q{CREATE FUNCTION doublets_plant_fault(regclass, text, int8) RETURNS void AS 'pg_doublets' LANGUAGE C STRICT});
	my $loaded = 0;
	for my $ms (map { 2 * $_ } 1 .. 11)
	{
		my $sql = $access[ $ms % @access ];

		$node->safe_psql($db, "SELECT doublets_plant_fault('links', 'drop', 0)");
		$sql = "BEGIN; $sql; ROLLBACK" unless $sql =~ /VACUUM|CLUSTER/;
		my ($r) = $node->psql($db, "SET statement_timeout = '${ms}ms'; $sql");
		$loaded++ if $r == 0;
	}
	note("$loaded of 11 loads were done in time");
	is($node->safe_psql($db, $sum), $before, 'cancels inside a load: what was there is there');
	check_ok($node, $db, 'links', 'cancels inside a load: trees and pages agree');
	my $held = segments();
	for my $i (1 .. 5)
	{
		$node->safe_psql($db, "SELECT doublets_plant_fault('links', 'drop', 0)");
		$node->safe_psql($db, $sum);
	}
	cmp_ok(segments(), '<=', $held + 1, 'cancels inside a load: no memory is left behind');

	# several at once, who wait for the one that loads
	$node->safe_psql($db, "SELECT doublets_plant_fault('links', 'drop', 0)");
	my @all = map { my ($o, $e) = ('', ''); IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr($db), '-c', "SET statement_timeout = '" . $_ * 7 . "ms'", '-c', 'SELECT count(*) FROM links WHERE from_id = 7' ], '<', \'', '>', \$o, '2>', \$e) } 1 .. 6;
	for my $h (@all) { eval { $h->finish } }
	is($node->safe_psql($db, $sum), $before, 'cancelled waiters: what was there is there');
}

# --- processes that die in a load --------------------------------------------------------------------------

my $data = $node->data_dir;
for my $signal (qw(KILL SEGV TERM ABRT))
{
	for my $delay ($signal eq 'KILL' ? (0.01, 0.06) : 0.03)
	{
		if ($am ne 'heap')
		{
			$node->safe_psql($db, "SELECT doublets_plant_fault('links', 'drop', 0)");
		}
		my ($o, $e, $in) = ('', '', '');
		my $h = IPC::Run::start([ 'psql', '-XAt', '-d', $node->connstr($db) ], '<', \$in, '>', \$o, '2>', \$e);
		$in .= "SELECT 'pid ' || pg_backend_pid();\n";
		$h->pump while $o !~ /pid (\d+)/;
		my $pid = $1;
		$in .= "SELECT count(*) FROM links WHERE from_id = 7;\n\\q\n";
		$h->pump_nb;
		sleep $delay;
		kill $signal, $pid;
		eval { $h->finish };
		sleep 0.3;
		wait_up();
		is($node->safe_psql($db, $sum), $before, "SIG$signal in a load: what was there is there");
	}
	check_ok($node, $db, 'links', "SIG$signal in a load: trees and pages agree");
}
$node->stop('immediate');
start_again($node);
$node->safe_psql('postgres', 'SELECT 1');
my $others = segments();    # those of PostgreSQL itself
is($node->safe_psql($db, $sum), $before, 'after a crash: what was there is there');
cmp_ok(segments(), '>', $others, 'a table takes memory') if $am ne 'heap';
$node->safe_psql($db, 'DROP TABLE links, small');
# the last process that has it mapped lets go of it at the end of its transaction
is(segments(), $others, 'no memory is left behind');
$node->stop;
is(segments(), 0, 'nor after the server has stopped');
done_testing();
