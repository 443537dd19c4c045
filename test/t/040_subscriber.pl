# Logical replication into links tables: with a native primary key, with REPLICA IDENTITY FULL and no key, with a real unique index as identity,
# into a partition, by trigger.  The publisher is on heap; publisher and subscriber must hold the same rows after each step.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use Test::More;

my $publisher = PostgreSQL::Test::Cluster->new('publisher');
$publisher->init(allows_streaming => 'logical');
$publisher->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\n");
$publisher->start;
my $subscriber = new_server('subscriber', conf => "fsync = off\nautovacuum = off\nmax_logical_replication_workers = 12\nmax_sync_workers_per_subscription = 4\n");
my $db = database($subscriber, 's', $am);
my %tables = (
	keyed => 'id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint',
	keyless => 'id bigint, from_id bigint, to_id bigint, type_id bigint',
	unique_real => 'id bigint NOT NULL, from_id bigint NOT NULL, to_id bigint NOT NULL, type_id bigint',
	parts => 'id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint',
	watched => 'id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint');

for my $node ([ $publisher, 'postgres' ], [ $subscriber, $db ])
{
	my ($server, $name) = @$node;

	$server->safe_psql($name, "CREATE TABLE $_ ($tables{$_})" . ($_ eq 'parts' && $server == $subscriber ? ' PARTITION BY HASH (id)' : '')) for sort keys %tables;
	$server->safe_psql($name, 'ALTER TABLE keyless REPLICA IDENTITY FULL; CREATE UNIQUE INDEX u ON unique_real (id, from_id, to_id); ALTER TABLE unique_real REPLICA IDENTITY USING INDEX u');
}
$subscriber->safe_psql($db, "CREATE INDEX ON $_ (from_id); CREATE INDEX ON $_ (to_id, type_id)") for grep { $_ ne 'parts' } sort keys %tables;
$subscriber->safe_psql($db, 'CREATE TABLE parts0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE parts1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1) USING heap; CREATE INDEX ON parts (from_id)');
$subscriber->safe_psql($db, <<'SQL');
CREATE TABLE log (n serial, op text, id bigint) USING heap;
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.log (op, id) VALUES (TG_OP, coalesce(NEW.id, OLD.id)); RETURN NULL; END $$;
CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON watched FOR EACH ROW EXECUTE FUNCTION note();
ALTER TABLE watched ENABLE REPLICA TRIGGER note;
SQL

# Run the same on each table of the publisher; then compare.
sub step
{
	my ($name, $sql) = @_;

	for my $table (sort keys %tables)
	{
		(my $here = $sql) =~ s/LINKS/$table/g;
		$publisher->safe_psql('postgres', $here);
	}
	$publisher->wait_for_catchup('sub');
	for my $table (sort keys %tables)
	{
		my $sum = "SELECT count(*), sum(hashint8extended(id, 0)), sum(hash_record_extended(l, 0)) FROM $table l";

		is($subscriber->safe_psql($db, $sum), $publisher->safe_psql('postgres', $sum), "$table: $name");
		$sum = "SET enable_seqscan = off; SELECT count(*), sum(id) FROM $table WHERE from_id = 3";
		is($subscriber->safe_psql($db, $sum), $publisher->safe_psql('postgres', $sum), "$table: $name, by index");
	}
}

$publisher->safe_psql('postgres', "INSERT INTO $_ SELECT i, i % 10, i % 7, nullif(i % 3, 2) FROM generate_series(1, 2000) i") for sort keys %tables;
$publisher->safe_psql('postgres', 'CREATE PUBLICATION pub FOR ALL TABLES');
$subscriber->safe_psql($db, "CREATE SUBSCRIPTION sub CONNECTION '" . $publisher->connstr . " dbname=postgres' PUBLICATION pub");
$subscriber->wait_for_subscription_sync($publisher, 'sub', $db) if $subscriber->can('wait_for_subscription_sync');
wait_for($subscriber, q{SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's')}, $db);
step('first copy', 'SELECT 1');
step('inserts', 'INSERT INTO LINKS SELECT i, i % 10, i % 7, 1 FROM generate_series(3001, 3100) i');
step('updates of what is no key', 'UPDATE LINKS SET type_id = 5 WHERE id % 50 = 0');
step('updates of ends', 'UPDATE LINKS SET from_id = 3, to_id = to_id + 1 WHERE id % 90 = 0');
step('updates of keys', 'UPDATE LINKS SET id = id + 100000 WHERE id % 70 = 0');
step('to null and back', 'UPDATE LINKS SET type_id = NULL WHERE id BETWEEN 100 AND 140; UPDATE LINKS SET type_id = 7 WHERE id BETWEEN 120 AND 130');
step('deletes', 'DELETE FROM LINKS WHERE id % 30 = 1');
step('the same row over and over', 'BEGIN; UPDATE LINKS SET to_id = 1 WHERE id = 77; UPDATE LINKS SET to_id = 2 WHERE id = 77; DELETE FROM LINKS WHERE id = 77; INSERT INTO LINKS VALUES (77, 3, 3, 3); SAVEPOINT a; DELETE FROM LINKS; ROLLBACK TO a; UPDATE LINKS SET id = 78000 WHERE id = 77; COMMIT');
step('rolled back', 'BEGIN; DELETE FROM LINKS; ROLLBACK');
step('copied', "COPY (SELECT i, 3, i, i FROM generate_series(5000, 5400) i) TO '/dev/null'; INSERT INTO LINKS SELECT i, 3, i, i FROM generate_series(5000, 5400) i");
step('many in one transaction', 'BEGIN; UPDATE LINKS SET to_id = to_id + 1 WHERE id < 500; DELETE FROM LINKS WHERE id BETWEEN 300 AND 400; INSERT INTO LINKS SELECT i, 4, 4, 4 FROM generate_series(300, 350) i; COMMIT');
$subscriber->safe_psql($db, "VACUUM $_") for sort keys %tables;
step('after VACUUM', 'INSERT INTO LINKS SELECT i, 3, 1, 1 FROM generate_series(7000, 7300) i; DELETE FROM LINKS WHERE id BETWEEN 7100 AND 7200');

# Rows alike but for none of the columns: only one of two goes.
$publisher->safe_psql('postgres', 'INSERT INTO keyless VALUES (-1, 3, 3, NULL), (-1, 3, 3, NULL), (-1, NULL, NULL, NULL)');
$publisher->safe_psql('postgres', 'DELETE FROM keyless WHERE ctid = (SELECT min(ctid) FROM keyless WHERE id = -1 AND from_id = 3)');
$publisher->safe_psql('postgres', 'UPDATE keyless SET to_id = 9 WHERE id = -1 AND from_id IS NULL');
step('rows alike', 'SELECT 1');
is($subscriber->safe_psql($db, 'SELECT * FROM keyless WHERE id = -1 ORDER BY from_id'), "-1|3|3|\n-1||9|", 'keyless: one of two');

# Big transactions are streamed, if asked for, and prepared ones.
$subscriber->safe_psql($db, 'ALTER SUBSCRIPTION sub SET (streaming = on, binary = on)');
$publisher->safe_psql('postgres', "ALTER SYSTEM SET logical_decoding_work_mem = '64kB'; SELECT pg_reload_conf()");
step('streamed', 'INSERT INTO LINKS SELECT i, 3, 3, 3 FROM generate_series(20000, 23000) i; BEGIN; UPDATE LINKS SET to_id = 8 WHERE id BETWEEN 20000 AND 20500; SAVEPOINT a; DELETE FROM LINKS WHERE id > 21000; ROLLBACK TO a; DELETE FROM LINKS WHERE id > 22500; COMMIT');

# A conflict stops the worker; the row goes, and it carries on.
$subscriber->safe_psql($db, 'INSERT INTO keyed VALUES (90000, 1, 1, 1)');
$publisher->safe_psql('postgres', 'INSERT INTO keyed VALUES (90000, 2, 2, 2)');
wait_for($subscriber, 'SELECT apply_error_count > 0 FROM pg_stat_subscription_stats', $db);
is($subscriber->safe_psql($db, 'SELECT * FROM keyed WHERE id = 90000'), '90000|1|1|1', 'keyed: a conflict');
$subscriber->safe_psql($db, 'DELETE FROM keyed WHERE id = 90000');
step('after a conflict', 'SELECT 1');

step('truncate', 'TRUNCATE LINKS');
step('filled again', 'INSERT INTO LINKS SELECT i, i % 10, i % 7, 1 FROM generate_series(1, 500) i; UPDATE LINKS SET id = -id WHERE id > 400; DELETE FROM LINKS WHERE id < -450');
is($subscriber->safe_psql($db, "SELECT op, count(*) > 0 FROM log GROUP BY 1 ORDER BY 1"), "DELETE|t\nINSERT|t\nUPDATE|t", 'watched: triggers fired');

# Columns in another order, and one more, on the subscriber.
$publisher->safe_psql('postgres', 'CREATE TABLE other (type_id bigint, id bigint PRIMARY KEY, to_id bigint)');
$subscriber->safe_psql($db, 'CREATE TABLE other (id bigint PRIMARY KEY, from_id bigint DEFAULT 42, to_id bigint, type_id bigint); ALTER SUBSCRIPTION sub REFRESH PUBLICATION');
$publisher->safe_psql('postgres', 'INSERT INTO other VALUES (1, 2, 3); UPDATE other SET to_id = 4; INSERT INTO other VALUES (5, 6, 7); DELETE FROM other WHERE id = 6');
wait_for($subscriber, q{SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's')}, $db);
$publisher->wait_for_catchup('sub');
is($subscriber->safe_psql($db, 'SELECT * FROM other'), '2|42|4|1', 'other columns');

# The subscriber crashes and goes on where it was.
$publisher->safe_psql('postgres', 'INSERT INTO keyed SELECT i, 3, 3, 3 FROM generate_series(30000, 31000) i');
$subscriber->stop('immediate');
$publisher->safe_psql('postgres', 'UPDATE keyed SET to_id = 4 WHERE id > 30500');
start_again($subscriber);
step('after a crash of the subscriber', 'UPDATE LINKS SET to_id = 5 WHERE id % 40 = 0');
check_ok($subscriber, $db, $_, "$_: trees and pages agree") for qw(keyed keyless unique_real parts0 watched other);
$subscriber->safe_psql($db, 'DROP SUBSCRIPTION sub');
$subscriber->stop;
$publisher->stop;
done_testing();
