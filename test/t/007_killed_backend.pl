# Backends that are cancelled, time out or are terminated at any moment leave no lock, no pin and no broken tree.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $node = new_server('killed', conf => "autovacuum = off\nfsync = off\nmax_wal_size = 4GB\n");
my $db = database($node, 'k', $am);
$node->safe_psql($db, 'CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint); CREATE INDEX ON links (from_id); CREATE INDEX ON links (to_id); CREATE INDEX ON links (type_id);'
	  . 'INSERT INTO links SELECT i, i % 1000, i % 100, i % 10 FROM generate_series(1, 50000) i; ANALYZE links');
my $sum = 'SELECT count(*), sum(id), sum(from_id), sum(to_id), sum(type_id) FROM links';
my $before = $node->safe_psql($db, $sum);
my @work = (
	'UPDATE links SET to_id = to_id + 1',
	'DELETE FROM links WHERE id % 2 = 0',
	'INSERT INTO links SELECT i, 1, 1, 1 FROM generate_series(100000, 200000) i',
	'UPDATE links SET id = -id',
	'SELECT count(*) FROM links a JOIN links b ON a.from_id = b.from_id',
	'SELECT * FROM links FOR UPDATE',
	'CREATE INDEX extra ON links (to_id, from_id, id)',
	'CREATE INDEX extra2 ON links ((to_id + 1))',
	'VACUUM FULL links',
	'VACUUM links',
	'ANALYZE links',
	'TRUNCATE links; INSERT INTO links SELECT i, 1, 1, 1 FROM generate_series(1, 100000) i',
	'BEGIN; SAVEPOINT a; UPDATE links SET to_id = 7; ROLLBACK TO a; DELETE FROM links; SELECT pg_sleep(1)',
	'ALTER TABLE links SET ACCESS METHOD heap',
	'INSERT INTO links SELECT i, 1, 1, 1 FROM generate_series(1, 100000) i ON CONFLICT (id) DO UPDATE SET to_id = 99',
);

for my $round (0 .. 2)
{
	for my $i (0 .. $#work)
	{
		my $ms = (3, 17, 70)[$round] + $i;

		$node->psql($db, "SET statement_timeout = '${ms}ms'; BEGIN; $work[$i]; ROLLBACK") if $work[$i] !~ /VACUUM/;
		$node->psql($db, "SET statement_timeout = '${ms}ms'; $work[$i]") if $work[$i] =~ /VACUUM/;
	}
	is($node->safe_psql($db, $sum), $before, "statement_timeout, round $round: all as before");
	check_ok($node, $db, 'links', "statement_timeout, round $round: trees and pages agree");
}

for my $how ('pg_cancel_backend', 'pg_terminate_backend')
{
	for my $i (0 .. $#work)
	{
		my ($out, $err) = ('', '');
		my $sql = $work[$i] =~ /VACUUM/ ? $work[$i] : "BEGIN; $work[$i]; SELECT pg_sleep(0.1); ROLLBACK";
		my @cmd = map { ('-c', $_) } split /; /, $sql;
		my $h = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr($db), @cmd ], '<', \'', '>', \$out, '2>', \$err);

		sleep 0.02 + ($i % 5) * 0.02;
		$node->safe_psql('postgres', "SELECT $how(pid) FROM pg_stat_activity WHERE datname = '$db' AND backend_type = 'client backend'");
		eval { $h->finish };
	}
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = '$db' AND backend_type = 'client backend'");
	is($node->safe_psql($db, $sum), $before, "$how: all as before");
	check_ok($node, $db, 'links', "$how: trees and pages agree");
	is($node->safe_psql($db, "SELECT count(*) FROM pg_locks WHERE relation = 'links'::regclass AND pid <> pg_backend_pid()"), '0', "$how: no locks");
}

# No pin is left: DROP and VACUUM FULL want the buffers to themselves.
$node->safe_psql($db, 'VACUUM FULL links');
$node->safe_psql($db, 'BEGIN; DROP TABLE links; ROLLBACK');
is($node->safe_psql($db, $sum), $before, 'after VACUUM FULL: all as before');
check_ok($node, $db, 'links', 'after VACUUM FULL: trees and pages agree');
$node->safe_psql($db, 'DROP TABLE links');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|was terminated by signal|buffer refcount leak|leaked/i, 'nothing broke in the log');
$node->stop;
done_testing();
