# WAL without page images: no more than an eighth of what heap with Deep's eight indexes writes for the same rows in one statement; and what is written in
# the short form and in the long one (pack.c) is read back alike.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'heap is what is compared with' if $am eq 'heap';

my $node = new_server('wal_size', conf => "fsync = off\nautovacuum = off\nfull_page_writes = off\nmax_wal_size = 4GB\n");
my $db = database($node, 'wal_size', $am);

my @tables = qw(heap doublets);
for my $table (@tables)
{
	$node->safe_psql($db, "CREATE TABLE $table (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint) USING $table;
		CREATE INDEX ON $table USING hash (id); CREATE INDEX ON $table (from_id); CREATE INDEX ON $table USING hash (from_id);
		CREATE INDEX ON $table (to_id); CREATE INDEX ON $table USING hash (to_id); CREATE INDEX ON $table (type_id); CREATE INDEX ON $table USING hash (type_id);
		INSERT INTO $table SELECT i, i, i + 1, i % 100 FROM generate_series(1, 20000) i; CHECKPOINT");
}

# bytes a row
sub wal
{
	my ($table, $rows, $sql) = @_;

	$sql =~ s/\blinks\b/$table/g;
	my ($bytes) = $node->safe_psql($db, "SELECT pg_current_wal_insert_lsn() AS a \\gset\n$sql;\nSELECT pg_current_wal_insert_lsn() - :'a'::pg_lsn") =~ /(\d+)\z/;
	return $bytes / $rows;
}
for ([ 'an inserted row', 5000, 'INSERT INTO links SELECT i, i, i + 1, i % 100 FROM generate_series(100001, 105000) i' ],
	[ 'an updated row', 5000, 'UPDATE links SET to_id = to_id + 7 WHERE id BETWEEN 100001 AND 105000' ])
{
	my ($what, $rows, $sql) = @$_;
	my ($heap, $doublets) = map { wal($_, $rows, $sql) } @tables;

	cmp_ok($doublets, '<=', $heap / 8, sprintf '%s: %.0f bytes, heap %.0f', $what, $doublets, $heap);
}

# With page images: scattered rows of a table that has just been checkpointed.  A link page's image is some two thousand bytes.
$node->append_conf('postgresql.conf', "full_page_writes = on\n");
$node->reload;
$node->poll_query_until('postgres', 'SHOW full_page_writes', 'on') or die;
for ([ 'a row updated after a checkpoint', 200, 'UPDATE links SET to_id = to_id + 7 WHERE id <= 20000 AND id % 100 = 0' ],
	[ 'a row deleted after a checkpoint', 200, 'DELETE FROM links WHERE id <= 20000 AND id % 100 = 50' ],
	[ 'a row inserted after a checkpoint', 5000, 'INSERT INTO links SELECT i, i, i + 1, i % 100 FROM generate_series(120001, 125000) i' ])
{
	my ($what, $rows, $sql) = @$_;
	my ($heap, $doublets) = map { $node->safe_psql($db, 'CHECKPOINT'); wal($_, $rows, $sql) } @tables;

	cmp_ok($doublets, '<=', $heap / ($what =~ /deleted/ ? 2 : 8), sprintf '%s: %.0f bytes, heap %.0f', $what, $doublets, $heap);
}

# Both forms, a crash, and the same rows: speculative insertions, rows locked by others and by a savepoint, a subtransaction's rows, COPY FREEZE.
my $dir = PostgreSQL::Test::Utils::tempdir();
for my $table (@tables)
{
	my $sql = <<'EOS';
INSERT INTO links SELECT i, i, 0, 1 FROM generate_series(200001, 200050) i ON CONFLICT (id) DO UPDATE SET to_id = 1;
INSERT INTO links SELECT i, i, 0, 1 FROM generate_series(200041, 200060) i ON CONFLICT (id) DO UPDATE SET to_id = 1;
BEGIN;
SELECT count(*) FROM (SELECT 1 FROM links WHERE id <= 50 FOR KEY SHARE) x;
SAVEPOINT a;
UPDATE links SET to_id = -1 WHERE id <= 30;
INSERT INTO links VALUES (300001, 1, 2, 3), (300002, NULL, NULL, 3);
INSERT INTO links SELECT 400000 + i * 4 + j, v, -v, CASE j WHEN 0 THEN v WHEN 1 THEN NULL WHEN 2 THEN v - 1 ELSE 1 END
  FROM unnest('{0,1,127,128,32767,32768,8388607,8388608,2147483647,2147483648,9223372036854775807}'::bigint[]) WITH ORDINALITY x(v, i), generate_series(0, 3) j;
UPDATE links SET from_id = -9223372036854775808, type_id = NULL WHERE id BETWEEN 400001 AND 400010;
UPDATE links SET from_id = to_id, to_id = type_id WHERE id > 400010 AND id < 500000;
RELEASE a;
UPDATE links SET type_id = -1 WHERE id <= 10;
SAVEPOINT b;
UPDATE links SET type_id = -2 WHERE id <= 40;
DELETE FROM links WHERE id = 300001;
ROLLBACK TO b;
COMMIT;
CREATE TABLE more_links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint) USING links;
BEGIN;
TRUNCATE more_links;
COPY more_links FROM STDIN FREEZE;
1	2	3	4
5	\N	\N	6
\.
COMMIT;
EOS
	$sql =~ s/\blinks\b/$table/g;
	$sql =~ s/\bmore_links\b/more_$table/g;
	$node->safe_psql($db, $sql);

	# a locker of another transaction goes on as a member of the new version's xmax
	my $other = $node->background_psql($db);
	$other->query_safe("BEGIN; SELECT count(*) FROM (SELECT 1 FROM $table WHERE id BETWEEN 60 AND 80 FOR KEY SHARE) x");
	$node->safe_psql($db, "UPDATE $table SET to_id = -60 WHERE id BETWEEN 60 AND 70");
	$other->query_safe('COMMIT');
	$other->quit;
}
sub rows { my ($table) = @_; return $node->safe_psql($db, "SELECT * FROM $table ORDER BY id") . "\n" . $node->safe_psql($db, "SELECT * FROM more_$table ORDER BY id") }
my $before = rows('doublets');
is($before, rows('heap'), 'before a crash the rows are those of heap');
$node->stop('immediate');
$node->start;
is(rows('doublets'), $before, 'after it, too');
is($node->safe_psql($db, "SELECT * FROM doublets_check('doublets')"), '', 'trees and pages agree');
$node->stop;
done_testing();
