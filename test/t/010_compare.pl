# Each file of test/compare runs in a new database on heap and on doublets, and must give the same.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use Test::More;

my $node = new_server('compare', conf => "fsync = off\nautovacuum = off\njit = off\n");
my @files = $ENV{TEST_FILES} ? split(/ /, $ENV{TEST_FILES}) : sort glob('test/compare/*.sql');

for my $file (@files)
{
	my ($name) = $file =~ m{([^/]+)\.sql$};

	database($node, "h_$name", 'heap');
	database($node, "d_$name", $am);
	compare_file($node, $file, "h_$name", "d_$name", $name);
	is($node->safe_psql('postgres', 'SELECT 1'), '1', "$name: the server is well") or BAIL_OUT('the server is down');
	next if $am eq 'heap';
	my $faults = $node->safe_psql("d_$name",
		"SELECT c.oid::regclass, f.* FROM pg_class c JOIN pg_am a ON a.oid = c.relam, LATERAL doublets_check(c.oid) f "
		  . "WHERE a.amname = 'doublets' AND c.relkind IN ('r', 'm') AND c.relpersistence <> 't' LIMIT 5");
	is($faults, '', "$name: trees and pages agree");
}
$node->stop;
done_testing();
