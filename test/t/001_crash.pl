# kill -9 of the server, or of a backend, while eight clients write: nothing committed is lost, nothing else is seen, and trees agree with pages.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $seconds = $ENV{CRASH_SECONDS} || 6;
my $node = new_server('crash',
	conf => "autovacuum_naptime = 1s\nfsync = on\nmax_wal_size = 64MB\ncheckpoint_timeout = 30s\nrestart_after_crash = on\nwal_consistency_checking = 'all'\n");
my $db = 'postgres';

$node->safe_psql($db, "SET default_table_access_method = $am;"
	  . 'CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint DEFAULT 0, to_id bigint DEFAULT 0, type_id bigint NOT NULL);'
	  . 'CREATE INDEX ON links (from_id); CREATE INDEX ON links (to_id); CREATE INDEX ON links (type_id);'
	  . 'CREATE TABLE ledger (client int, n bigint, id bigint, to_id bigint, gone boolean) USING heap;'
	  . 'INSERT INTO links SELECT i, i % 100, 0, 1 FROM generate_series(1, 8000) i;');

# Each client writes ids of its own, and into the ledger, in one transaction, what they are to be.
my $dir = PostgreSQL::Test::Utils::tempdir();
my $script = "$dir/write.sql";
append_to_file($script, <<'SQL');
\set id :client_id * 1000 + random(1, 900)
\set v random(1, 1000000)
\set op random(1, 10)
BEGIN;
\if :op <= 5
INSERT INTO links VALUES (:id, :v % 100, :v, 1) ON CONFLICT (id) DO UPDATE SET to_id = :v, from_id = :v % 100;
INSERT INTO ledger VALUES (:client_id, :v, :id, :v, false);
\elif :op <= 7
UPDATE links SET to_id = :v WHERE id = :id;
INSERT INTO ledger SELECT :client_id, :v, :id, :v, false WHERE EXISTS (SELECT FROM links WHERE id = :id);
\elif :op <= 9
DELETE FROM links WHERE id = :id;
INSERT INTO ledger VALUES (:client_id, :v, :id, 0, true);
\else
SELECT count(*) FROM links WHERE from_id = :v % 100;
SELECT count(*) FROM links WHERE type_id = 1 AND to_id > :v;
\endif
COMMIT;
SQL
# The last word of the ledger on each id: each id belongs to one client, so seq is in its order.
my $lost = <<'SQL';
WITH last AS (SELECT DISTINCT ON (id) id, to_id, gone FROM ledger ORDER BY id, seq DESC)
SELECT count(*) FROM last LEFT JOIN links USING (id) WHERE gone <> (links.id IS NULL) OR NOT gone AND links.to_id <> last.to_id
SQL
$node->safe_psql($db, 'ALTER TABLE ledger ADD seq bigserial');
my $alone = "SELECT count(*) FROM links l WHERE id NOT IN (SELECT id FROM ledger) AND NOT (to_id = 0 AND id BETWEEN 1 AND 8000)";

sub writers
{
	my ($out, $err) = ('', '');
	return IPC::Run::start([ 'pgbench', '-n', '-c', 8, '-j', 2, '-T', 600, '-f', $script, $node->connstr($db) ], '<', \'', '>', \$out, '2>', \$err);
}

sub verify
{
	my ($name) = @_;

	is($node->safe_psql($db, $lost), '0', "$name: every committed change is there");
	is($node->safe_psql($db, $alone), '0', "$name: no other change is seen");
	check_ok($node, $db, 'links', "$name: trees and pages agree");
	is($node->safe_psql($db, 'SET enable_seqscan = off; SELECT count(*) FROM links WHERE from_id >= 0'),
		$node->safe_psql($db, 'SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off; SELECT count(*) FROM links'),
		"$name: index and sequential scans agree");
}

for my $round (1 .. 2)
{
	my $pgbench = writers();

	for (1 .. $seconds)
	{
		sleep 1;
		$node->safe_psql($db, 'CHECKPOINT') if $_ % 2;
		$node->safe_psql($db, 'VACUUM links') if $_ == 2;
	}
	$node->kill9;
	$pgbench->kill_kill;
	eval { $pgbench->finish };
	start_again($node);
	verify("server killed, $round");
}

# One backend: the postmaster starts all others anew.
my $pgbench = writers();
sleep 2;
my $pid = $node->safe_psql($db, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND state <> 'idle' LIMIT 1");
kill 'KILL', $pid;
eval { $pgbench->kill_kill; $pgbench->finish };
$node->poll_query_until($db, 'SELECT true');
sleep 1;
wait_for($node, 'SELECT NOT pg_is_in_recovery()');
verify('backend killed');
cmp_ok($node->safe_psql($db, 'SELECT count(*) FROM ledger'), '>', 100, 'the writers wrote');

# Prepared transactions survive.
$node->safe_psql($db, "BEGIN; INSERT INTO links VALUES (900001, 1, 1, 1); DELETE FROM links WHERE id = 1000; INSERT INTO links VALUES (900002, 1, 1, 1); PREPARE TRANSACTION 'x'");
$node->safe_psql($db, "BEGIN; UPDATE links SET to_id = 5 WHERE id = 2000; INSERT INTO links VALUES (900003, 1, 1, 1); PREPARE TRANSACTION 'y'");
$node->stop('immediate');
start_again($node);
is($node->safe_psql($db, 'SELECT count(*) FROM links WHERE id > 900000'), '0', 'prepared: not seen before its commit');
my ($rc, $out, $err) = $node->psql($db, "SET lock_timeout = '100ms'; UPDATE links SET to_id = 6 WHERE id = 2000");
like($err, qr/lock timeout/, 'prepared: its row locks hold after a crash') if $node->safe_psql($db, 'SELECT count(*) FROM links WHERE id = 2000');
$node->safe_psql($db, "COMMIT PREPARED 'x'");
$node->safe_psql($db, "ROLLBACK PREPARED 'y'");
is($node->safe_psql($db, 'SELECT count(*) FROM links WHERE id > 900000'), '2', 'prepared: committed');
$node->stop('immediate');
start_again($node);
is($node->safe_psql($db, 'SELECT string_agg(id::text, \' \' ORDER BY id) FROM links WHERE id > 900000'), '900001 900002', 'prepared: committed, after another crash');
check_ok($node, $db, 'links', 'prepared: trees and pages agree');

# A crash just after a checkpoint, in the middle of what a transaction writes.
$node->safe_psql($db, 'CREATE TABLE t2 (LIKE links INCLUDING ALL) USING ' . $am);
$node->safe_psql($db, 'INSERT INTO t2 SELECT i, 1, 1, 1 FROM generate_series(1, 1000) i');
$node->safe_psql($db, 'UPDATE t2 SET to_id = 2 WHERE id <= 500');
$node->safe_psql($db, 'CHECKPOINT');
$node->safe_psql($db, 'TRUNCATE t2; INSERT INTO t2 SELECT i, 3, 3, 3 FROM generate_series(1, 10) i');
$node->safe_psql($db, 'VACUUM FULL links');
$node->stop('immediate');
start_again($node);
is($node->safe_psql($db, 'SELECT count(*), sum(from_id) FROM t2'), '10|30', 'TRUNCATE is there after a crash');
is($node->safe_psql($db, 'SELECT count(*) FROM links WHERE id > 900000'), '2', 'VACUUM FULL is there after a crash');
check_ok($node, $db, $_, "$_: trees and pages agree") for qw(links t2);
$node->stop;
done_testing();
