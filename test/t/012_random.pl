# Random single-session scripts on heap and on doublets: same rows, same counts, same failures.  DIFF_SEEDS and DIFF_FIRST
# say how many and from which seed; a seed that differs prints its first difference and keeps both outputs.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use RandomSql;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $count = $ENV{DIFF_SEEDS} || 25;
my $first = $ENV{DIFF_FIRST} || 1;
my $node = new_server('random', conf => "fsync = off\nautovacuum = off\n");

sub run_script
{
	my ($method, $file) = @_;
	my $out = '';

	$node->safe_psql('postgres', "DROP DATABASE IF EXISTS random_$method");
	database($node, "random_$method", $method);
	my @cmd = ('psql', '-X', '-q', '-a', '-A', '-t', '-P', 'null=NULL', '-v', 'VERBOSITY=sqlstate',
		'-d', $node->connstr("random_$method"), '-f', $file);
	IPC::Run::run(\@cmd, '<', \'', '>', \$out, '2>&1');
	# which of several bad rows is met first is not promised
	$out =~ s/^psql:.*?(ERROR|WARNING|NOTICE):.*$/$1/mg;
	return $out;
}

for my $seed ($first .. $first + $count - 1)
{
	my $file = "$PostgreSQL::Test::Utils::tmp_check/random_$seed.sql";
	PostgreSQL::Test::Utils::append_to_file($file, RandomSql->new($seed)->script(100));
	my $heap = run_script('heap', $file);
	my $doublets = run_script('doublets', $file);
	my $same = is($doublets, $heap, "seed $seed: as on heap");

	is($node->safe_psql('random_doublets', "SELECT * FROM doublets_check('links') LIMIT 5"), '', "seed $seed: trees and pages agree");
	unlink $file if $same;
}
$node->stop;
done_testing();
