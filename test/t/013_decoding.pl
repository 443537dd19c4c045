# Logical decoding: a plugin says the same of heap and of doublets; a publication of links tables reaches subscribers.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $conf = "fsync = off\nautovacuum = off\nmax_prepared_transactions = 10\n"
	. "logical_decoding_work_mem = 64kB\n";
my $node = new_server('publisher', init => [ allows_streaming => 'logical' ], conf => $conf);

# --- what test_decoding says ----------------------------------------------------

my %said;
for my $method ('heap', $am)
{
	database($node, "d_$method", $method);
	$node->safe_psql("d_$method", "SELECT pg_create_logical_replication_slot('$_->[0]_$method', 'test_decoding', false, $_->[1])")
		for ['plain', 'false'], ['prepared', 'true'], ['stream', 'false'], ['ahead', 'false'];
	my ($out, $ok) = run_file($node, "d_$method", $method, 'test/lib/decoding.sql');
	ok($ok, "$method: changes made") or diag($out);
	for my $q (
		['plain', ''], ['prepared', ''], ['plain', ", 'include-rewrites', '1'"],
		['stream', ", 'stream-changes', '1'"], ['plain', ", 'skip-empty-xacts', '1', 'only-local', '1'"])
	{
		my ($slot, $options) = @$q;
		push @{ $said{$method} },
			$node->safe_psql("d_$method",
			"SELECT regexp_replace(data, 'pg_temp_[0-9]+', 'pg_temp', 'g') FROM pg_logical_slot_peek_changes('${slot}_$method', NULL, NULL, 'include-xids', '0'$options)");
	}
	$node->safe_psql("d_$method", "SELECT pg_replication_slot_advance('ahead_$method', pg_current_wal_lsn())");
	$node->safe_psql("d_$method", "INSERT INTO links VALUES (1, 2, 3, 4)");
	push @{ $said{$method} }, $node->safe_psql("d_$method",
		"SELECT data FROM pg_logical_slot_get_changes('ahead_$method', NULL, NULL, 'include-xids', '0', 'skip-empty-xacts', '1')");
}
my @names = ('all changes', 'two-phase', 'rewrites too', 'streamed', 'local', 'after moving ahead');
for my $i (0 .. $#names)
{
	is($said{$am}[$i], $said{heap}[$i], "test_decoding, $names[$i]: as on heap");
}
like($said{$am}[0], qr/table public.links: UPDATE: old-key: id\[bigint\]:2 new-tuple: id\[bigint\]:1000/, 'keys that change are told');
unlike($said{$am}[0], qr/nothing/, 'no odd text');
done_with($node, "d_$_") for 'heap', $am;

sub done_with
{
	my ($n, $db) = @_;
	$n->safe_psql($db, "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = '$db'");
}

# --- publications ----------------------------------------------------------------

my $other = new_server('subscriber', init => [ allows_streaming => 'logical' ], conf => $conf);
my $tables = q{
	CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint);
	CREATE INDEX ON links (from_id); CREATE INDEX ON links (to_id); CREATE INDEX ON links (type_id);
	CREATE TABLE nokey (id bigint, source bigint, target bigint);
	CREATE TABLE few (id bigint PRIMARY KEY, source bigint NOT NULL, target bigint);
};
database($node, 'source', $am);
$node->safe_psql('source', $tables . q{
	ALTER TABLE nokey REPLICA IDENTITY FULL;
	INSERT INTO links SELECT i, i, i + 1, i % 5 FROM generate_series(1, 2000) i;
	INSERT INTO nokey VALUES (1, 2, 3), (1, 2, 3), (NULL, NULL, NULL);
	INSERT INTO few VALUES (1, 1, 1), (2, 2, 2);
	CREATE PUBLICATION p FOR TABLE links, nokey;
	CREATE PUBLICATION f FOR TABLE few (id, target) WHERE (id > 1)});

my %subscribed;
for my $method ('heap', $am)
{
	my $db = "target_$method";
	database($other, $db, $method);
	$other->safe_psql($db, $tables);
	$other->safe_psql($db, 'ALTER TABLE few ALTER source DROP NOT NULL; ALTER TABLE nokey REPLICA IDENTITY FULL');
	my $connstr = $node->connstr('source') =~ s{'}{''}gr;
	$other->safe_psql($db, "CREATE SUBSCRIPTION s_$method CONNECTION '$connstr' PUBLICATION p, f WITH (streaming = on)");
	$subscribed{$method} = $db;
}

my $all = q{SELECT 'links', count(*), coalesce(sum(hashtextextended(l::text, 0)), 0) FROM links l UNION ALL
	SELECT 'nokey', count(*), coalesce(sum(hashtextextended(l::text, 0)), 0) FROM nokey l UNION ALL
	SELECT 'few', count(*), coalesce(sum(id * 31 + coalesce(target, -7)), 0) FROM few WHERE id > 1 ORDER BY 1};

sub caught_up
{
	my ($what) = @_;
	my $want = $node->safe_psql('source', $all);
	for my $method (sort keys %subscribed)
	{
		$other->wait_for_subscription_sync($node, "s_$method", $subscribed{$method});
		$node->wait_for_catchup("s_$method");
		is($other->safe_psql($subscribed{$method}, $all), $want, "$method subscriber: $what");
	}
	is($other->safe_psql($subscribed{$am}, "SELECT * FROM doublets_check('links')"), '', "$what: trees and pages agree")
		unless $am eq 'heap';
}

caught_up('first copy');
$node->safe_psql('source', q{
	INSERT INTO links SELECT i, i, i + 1, i % 5 FROM generate_series(2001, 3000) i;
	UPDATE links SET type_id = 9 WHERE id % 10 = 0;
	UPDATE links SET id = id + 100000 WHERE id % 97 = 0;
	DELETE FROM links WHERE id % 7 = 0;
	INSERT INTO links VALUES (1, 0, 0, 42), (5000, 1, 2, 3) ON CONFLICT (id) DO UPDATE SET type_id = excluded.type_id;
	UPDATE nokey SET target = 9 WHERE id IS NULL;
	DELETE FROM nokey WHERE ctid IN (SELECT ctid FROM nokey WHERE id = 1 LIMIT 1);
	INSERT INTO few VALUES (3, 3, 3), (0, 0, 0);
	UPDATE few SET target = 7 WHERE id = 2;
	UPDATE few SET id = 10 WHERE id = 1;
	UPDATE few SET id = -3 WHERE id = 3});
caught_up('changes of every kind');
$node->safe_psql('source', q{
	BEGIN; INSERT INTO links SELECT i, i, i + 1, i % 5 FROM generate_series(200001, 230000) i;
	UPDATE links SET to_id = 1 WHERE id > 200000 AND id % 3 = 0;
	SAVEPOINT a; DELETE FROM links WHERE id > 200000; ROLLBACK TO a; DELETE FROM links WHERE id % 2 = 0; COMMIT});
caught_up('a large transaction');
my $script = $PostgreSQL::Test::Utils::tmp_check . '/upsert.sql';
append_to_file($script, q{\set id random(1, 15)
\set pair random(1, 15)
INSERT INTO links VALUES (400000 + :id, :pair, :id, 0) ON CONFLICT (id) DO UPDATE SET type_id = links.type_id + 1;
INSERT INTO links VALUES (500000 + :id, :pair, :id, 0) ON CONFLICT DO NOTHING;
BEGIN;
DELETE FROM links WHERE id = 400000 + :pair;
DELETE FROM links WHERE id = 500000 + :pair;
COMMIT;
});
$node->command_ok(['pgbench', '-n', '-c', '4', '-t', '150', '-f', $script, $node->connstr('source')], 'upserts by four clients');
caught_up('upserts at once');
$node->safe_psql('source', 'VACUUM FULL links; VACUUM FREEZE links; CLUSTER links USING links_pkey; REINDEX TABLE links; UPDATE links SET type_id = 4 WHERE id < 1000');
caught_up('rewritten in between');
$node->stop('immediate');
start_again($node);
$node->safe_psql('source', 'UPDATE links SET type_id = 6 WHERE id < 500');
caught_up('after a crash of the publisher');
$other->stop('immediate');
start_again($other);
$node->safe_psql('source', 'UPDATE links SET type_id = 8 WHERE id < 300; DELETE FROM links WHERE id < 50');
caught_up('after a crash of the subscriber');
$node->safe_psql('source', 'TRUNCATE links, nokey; INSERT INTO links VALUES (1, 2, 3, 4)');
caught_up('truncation');
my ($status, $out, $err) = $node->psql('source', 'ALTER TABLE links REPLICA IDENTITY NOTHING; DELETE FROM links');
like($err, qr/does not have a replica identity/, 'a delete without replica identity is refused');
$other->safe_psql($subscribed{$_}, "DROP SUBSCRIPTION s_$_") for sort keys %subscribed;
$other->stop;
$node->stop;
done_testing();
