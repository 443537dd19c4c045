# Large tables: 1,000,000 links are loaded within two seconds of the first access after a restart; 2,097,153 links are all there.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use Test::More;

plan skip_all => 'heap' if $am eq 'heap';

# Set aside at start, so that the test does not depend on the size of /dev/shm.
my $node = new_server('load', conf => "autovacuum = off\nfsync = off\nmax_wal_size = 8GB\nshared_buffers = 256MB\npg_doublets.max_memory = '2GB'\nmin_dynamic_shared_memory = '700MB'\n");
my $db = database($node, 'l', 'doublets');

$node->safe_psql($db, 'CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint); CREATE INDEX ON links (from_id); CREATE INDEX ON links (to_id); CREATE INDEX ON links (type_id)');
$node->safe_psql($db, 'INSERT INTO links SELECT i, i, i + 1, i % 10 FROM generate_series(1, 1000000) i');
my $bytes = $node->safe_psql($db, "SELECT (shared_bytes / 1000000.0)::numeric(10, 1) FROM doublets_stats('links')");
cmp_ok($bytes, '<=', 130, "1,000,000 pairs (i, i + 1) take $bytes bytes of shared memory each");
$node->safe_psql($db, 'CHECKPOINT');
$node->restart;
my $ms = $node->safe_psql($db, "SELECT load_ms FROM doublets_stats('links')");
cmp_ok($ms, '<=', 2000, "1,000,000 links are loaded in $ms ms");
is($node->safe_psql($db, 'SELECT to_id FROM links WHERE from_id = 777777'), '777778', 'and found');
$node->safe_psql($db, 'INSERT INTO links SELECT i, i, i + 1, i % 10 FROM generate_series(1000001, 2097153) i');
my $find = 'SET enable_seqscan = off; SELECT count(*) FROM links WHERE %s = ANY (ARRAY[1, 1040384, 1048576, 2097153]::bigint[])';
for my $when ('written', 'loaded again')
{
	is($node->safe_psql($db, sprintf($find, 'id')), '4', "2,097,153 links, $when: by id");
	is($node->safe_psql($db, sprintf($find, 'from_id')), '4', "2,097,153 links, $when: by source");
	is($node->safe_psql($db, 'SET enable_seqscan = off; SELECT count(*) FROM links WHERE to_id IN (2, 1040385, 1048577, 2097154)'), '4', "2,097,153 links, $when: by target");
	is($node->safe_psql($db, 'SELECT count(*), sum(id) FROM links'), '2097153|2199026401281', "2,097,153 links, $when: counted");
	check_ok($node, $db, 'links', "2,097,153 links, $when: trees and pages agree");
	$node->restart if $when eq 'written';
}
$node->stop;
done_testing();
