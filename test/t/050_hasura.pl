# The Hasura project: migrations up and down, an engine's statements and responses, event triggers and subscriptions,
# on heap and on doublets.
#
# GRAPHQL_HEAP and GRAPHQL_DOUBLETS name engines with Hasura's API (URLs) that serve hasura/metadata over two databases
# with the migrations and nothing else in them: then the cases run through them too.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use PostgreSQL::Test::Utils;
use Test::More;

my $python = $ENV{PYTHON} || 'python3';
my $node = new_server('hasura_project', conf => "fsync = off\nautovacuum = off\n");
my @methods = $am eq 'heap' ? ('heap') : ('heap', $am);

$ENV{PYTHONPATH} = 'hasura';
$ENV{PYTHONDONTWRITEBYTECODE} = 1;

# Run the driver; its lines "ok: ..." and "not ok: ..." become tests, other lines are shown.
sub driver
{
	my ($name, @args) = @_;
	my $out = '';
	my $good = IPC::Run::run([ $python, '-m', 'driver', @args ], '<', \'', '>', \$out, '2>&1');

	for my $line (split /\n/, $out)
	{
		if ($line =~ /^(not )?ok: (.*)/)
		{
			ok(!$1, "$name: $2");
		}
		else
		{
			note($line);
		}
	}
	ok($good, $name) or diag($out);
	return $out;
}

my %db;
for my $method (@methods)
{
	$db{$method} = $node->connstr("deep_$method");
	$node->safe_psql('postgres', "CREATE DATABASE deep_$method TEMPLATE template0");
	driver("migrations up on $method", 'migrate', $db{$method}, '--access-method', $method);
	driver("migrations down on $method", 'migrate', $db{$method}, '--access-method', $method, '--down');
	is($node->safe_psql("deep_$method", q(SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace
		AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e'))),
		'0', "nothing is left on $method");
	driver("migrations up again on $method", 'migrate', $db{$method}, '--access-method', $method);
	is($node->safe_psql("deep_$method", "SELECT amname FROM pg_am JOIN pg_class ON relam = pg_am.oid WHERE pg_class.oid = 'links'::regclass"),
		$method, "links are on $method");
	$node->safe_psql('postgres', "CREATE DATABASE $_") for "http_$method", "plain_$method";
	driver("$method for HTTP", 'migrate', $node->connstr("http_$method"), '--access-method', $method);
}

# Statements and responses.
like(driver('known statements', 'facts', $db{heap}), qr/^(\d\d+) of \1 statements/m, 'all are the engine\'s');
my @pair = map { "$_=$db{$_}" } @methods;
my $conformance = driver('conformance, replayed', 'conformance', @pair);
my ($cases) = $conformance =~ /^heap \(replay.*: (\d+) of \1 cases as expected/m;
ok($cases && $cases > 200, "all @{[ $cases || 'no' ]} cases as expected");
like($conformance, qr/^heap and $am: $cases of $cases cases equal/m, 'and equal') if @methods > 1;
check_ok($node, "deep_$am", 'links', 'trees and pages agree');

# The same over HTTP, answered by replaying: this tests the driver's HTTP side, not an engine.
my (@standins, @urls);
for my $method (@methods)
{
	my ($out, $err) = ('', '');
	my $standin = IPC::Run::start([ $python, '-m', 'driver', 'standin', $node->connstr("http_$method") ], '<', \'', '>', \$out, '2>', \$err,
		IPC::Run::timer(60));

	IPC::Run::pump($standin) until $out =~ /(http\S+)/ || !$standin->pumpable;
	push @standins, $standin;
	push @urls, "$method=$1" if $out =~ /(http\S+)/;
}
like(driver('conformance over HTTP, of a stand-in', 'conformance', @urls), qr/^heap \(GraphQL over HTTP\): $cases of $cases cases/m, 'all cases');
$node->safe_psql('postgres', 'CREATE DATABASE deployed TEMPLATE template0');
my ($url) = $urls[0] =~ /=(.*)/;
like(driver('deployment to a stand-in', 'deploy', $url, $node->connstr('deployed')),
	qr/"success", "type": "replace_metadata", "tables": \[(?:"\w+", ){11}"\w+"\]/, 'an engine is sent twelve tables')
  if $am eq 'doublets';
$_->kill_kill for @standins;

SKIP:
{
	skip 'no engine: GRAPHQL_HEAP and GRAPHQL_DOUBLETS are not set', 1 unless $ENV{GRAPHQL_HEAP} && $ENV{GRAPHQL_DOUBLETS};
	driver('conformance of an engine', 'conformance', "heap=$ENV{GRAPHQL_HEAP}", "doublets=$ENV{GRAPHQL_DOUBLETS}");
}

# Subscriptions and event triggers, without Deep's own triggers.
for my $method (@methods)
{
	my $plain = $node->connstr("plain_$method");

	driver("$method: links and values", 'migrate', $plain, '--access-method', $method, '--only', '1616701513782', '--only', '1622421760250');
	driver("$method: live queries", 'live', $plain, '--seconds', 4);
	driver("$method: streams", 'stream', $plain, '--seconds', 2);
	check_ok($node, "plain_$method", 'links', "$method: trees and pages agree") if $method ne 'heap';
	$node->safe_psql("plain_$method", 'TRUNCATE links');
	driver("$method: event triggers made", 'migrate', $plain, '--only', 'no migration', '--event-triggers');
	driver("$method: event triggers", 'events', $plain);
}

# A short workload: it measures nothing here, but checks every response.
if (@methods > 1)
{
	my $results = $node->data_dir . '/workload.json';
	my @stores = map { my $plain = $node->connstr("plain_$_"); "$_=$plain" } @methods;

	$node->safe_psql("plain_$_", 'DROP SCHEMA hdb_catalog CASCADE') for @methods;
	driver('workload', 'workload', @stores, '--results', $results, '--sizes', '300,1000', '--n', 20, '--samples', 2, '--warmups', 1);
	my @timed = slurp_file($results) =~ /"operation"/g;
	is(scalar(@timed), 16, 'eight operations on two sizes');
	$node->safe_psql('plain_heap', 'INSERT INTO links VALUES (1, 1, 1, 1)');
	unlink $results;
	my $refused = '';
	IPC::Run::run([ $python, '-m', 'driver', 'workload', @stores, '--results', $results, '--sizes', '300' ], '<', \'', '>', \$refused, '2>&1');
	like($refused, qr/the store is not empty: 1 links/, 'a store that is not empty is refused');
}

# The metadata against the published types.
SKIP:
{
	my $dir = PostgreSQL::Test::Utils::tempdir;

	skip 'no npm', 1 unless IPC::Run::run([ 'sh', '-c', 'command -v node && command -v npm' ], '>', \my $where, '2>&1');
	system("cp -r hasura/validate '$dir/'");
	skip 'npm has no packages here', 1
	  unless IPC::Run::run([ 'npm', 'ci', '--silent', '--prefix', "$dir/validate" ], '<', \'', '>', \my $log, '2>&1', IPC::Run::timeout(120));
	my $out = '';
	ok(IPC::Run::run([ 'node', "$dir/validate/validate.mjs", 'hasura/metadata', '--json', "$dir/metadata.json" ], '>', \$out, '2>&1'),
		'the metadata is of the published types') or diag($out);
	like(driver('our reader of YAML reads the same', 'yaml', "$dir/metadata.json"), qr/same/, 'it does');
}
$node->stop;
done_testing();
