# Links tables as partitions, dumped and restored: the indexes of partitions are attached to those of the parent again.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('partitions', conf => "fsync = off\nautovacuum = off\n");
my $dir = PostgreSQL::Test::Utils::tempdir();
my $db = database($node, 'parted', $am);

$node->safe_psql($db, <<'SQL');
CREATE TABLE links (id bigint NOT NULL, from_id bigint, to_id bigint, type_id bigint) PARTITION BY RANGE (id);
CREATE TABLE links1 PARTITION OF links FOR VALUES FROM (0) TO (1000);
CREATE TABLE links2 (LIKE links);
CREATE INDEX own ON links2 (to_id);
CREATE INDEX hashed ON links2 USING hash (type_id);
ALTER TABLE links ATTACH PARTITION links2 FOR VALUES FROM (1000) TO (2000);
CREATE TABLE links3 PARTITION OF links FOR VALUES FROM (2000) TO (3000) USING heap;
ALTER TABLE links ADD PRIMARY KEY (id);
CREATE INDEX by_source ON links (from_id);
CREATE INDEX by_type ON links USING hash (type_id);
CREATE UNIQUE INDEX by_both ON links (from_id, id);
CREATE INDEX extra ON links1 (to_id);
CREATE TABLE files (id bigint PRIMARY KEY, link bigint REFERENCES links) USING heap;
INSERT INTO links SELECT i, i % 10, i % 7, i % 3 FROM generate_series(0, 2999) i;
INSERT INTO files VALUES (1, 1500);
SQL

my @look = (
	'SELECT count(*), md5(string_agg(l::text, $$ $$ ORDER BY id)) FROM links l',
	'SELECT c.relname, i.indisvalid, i.indisprimary, h.inhparent::regclass FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid LEFT JOIN pg_inherits h ON h.inhrelid = c.oid WHERE c.relname !~ $$^pg_$$ ORDER BY 1',
	'SELECT c.relname, a.amname FROM pg_class c LEFT JOIN pg_am a ON a.oid = c.relam WHERE c.relname ~ $$^(links|own|by|extra|hashed)$$ ORDER BY 1',
	'SET enable_seqscan = off; SELECT count(*), sum(id) FROM links WHERE from_id = 3; SELECT count(*), sum(id) FROM links WHERE type_id = 1',
	'INSERT INTO links VALUES (5, 1, 1, 1), (1005, 1, 1, 1), (2005, 1, 1, 1) ON CONFLICT (id) DO UPDATE SET to_id = links.to_id RETURNING *');

for my $format ('p', 'c')
{
	my $copy = "restored_$format";

	$node->safe_psql('postgres', "CREATE DATABASE $copy TEMPLATE template0");
	$node->command_ok([ 'pg_dump', '-d', $node->connstr($db), "-F$format", '-f', "$dir/dump.$format" ], "pg_dump -F$format");
	$node->command_ok($format eq 'p' ? [ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($copy), '-f', "$dir/dump.p" ] :
		  [ 'pg_restore', '-e', '-d', $node->connstr($copy), "$dir/dump.c" ], 'restore');
	is($node->safe_psql($copy, $_), $node->safe_psql($db, $_), "the same: $_") for @look;
	is($node->safe_psql($copy, 'SELECT count(*) FROM pg_index WHERE NOT indisvalid'), '0', 'all indexes are valid');
	check_ok($node, $copy, $_, "$_: trees and pages agree") for 'links1', 'links2';
}
$node->stop;
done_testing();
