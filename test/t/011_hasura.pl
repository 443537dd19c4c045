# Hasura's statements give the same on heap and on doublets, and read indexes where heap does.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use Test::More;

my $node = new_server('hasura', conf => "fsync = off\nautovacuum = off\n");
my @files = $ENV{TEST_FILES} ? split(/ /, $ENV{TEST_FILES}) : sort glob('test/hasura/[1-8]*.sql');

my $ours = 'deep_ours';

deep_database($node, 'deep_heap', 'heap', 20000, 1);
deep_database($node, $ours, $am, 20000, 1);

SKIP:
{
	skip 'heap', 2 if $am eq 'heap';
	is( $node->safe_psql($ours,
			"SELECT string_agg(a.amname || ' ' || pg_relation_size(i.indexrelid), ',') FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
			  . "JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = 'links'::regclass"),
		join(',', ('doublets_tree 0') x 8),
		'all eight indexes are native and take no space');
	my %d;
	for my $db ('deep_heap', $ours)
	{
		$d{$db} = `psql -X -d "@{[ $node->connstr($db) ]}" -c '\\d links' 2>&1`;
	}
	$d{$ours} =~ s/doublets_tree \(/index (/g;
	$d{deep_heap} =~ s/(?:btree|hash) \(/index (/g;
	is($d{$ours}, $d{deep_heap}, '\d reads the same but for the method');
}

# Each file on a copy of its own.
for my $file (@files)
{
	my ($name) = $file =~ m{([^/]+)\.sql$};

	database($node, "h_$name", 'heap', 'deep_heap');
	database($node, "d_$name", $am, $ours);
	compare_file($node, $file, "h_$name", "d_$name", $name);
	is($node->safe_psql('postgres', 'SELECT 1'), '1', "$name: the server is well") or BAIL_OUT('the server is down');
	check_ok($node, "d_$name", 'links', "$name: trees and pages agree");
	$node->safe_psql('postgres', "DROP DATABASE $_") for "h_$name", "d_$name";
}

# Plans.
open my $fh, '<', 'test/hasura/90_plans.sql' or die $!;
my $text = do { local $/; <$fh> };
$text =~ s/^--.*\n//mg;
for my $statement (grep { /\S/ } split /;\n/, $text)
{
	my %plan = map { $_ => $node->safe_psql($_, $statement) } 'deep_heap', $ours;
	my %seq = map { $_ => scalar(() = $plan{$_} =~ /Seq Scan on links/g) } keys %plan;
	my ($name) = $statement =~ /WHERE \((\("public"\."links".*)\) AS "_root.base"/s;

	$name ||= $statement;
	$name =~ s/\s+/ /g;
	$name =~ s/"public"\."links"\.//g;
	ok($seq{$ours} <= $seq{deep_heap}, 'no sequential scan: ' . substr($name, 0, 100)) or diag($plan{$ours});
}
$node->stop;
done_testing();
