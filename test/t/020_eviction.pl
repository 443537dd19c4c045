# Eviction: tables that together don't fit are dropped from memory and loaded again as they are wanted, the one used
# least recently first, never one that a transaction has locked; no answer is wrong and no row is lost.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

plan skip_all => 'heap' if $am eq 'heap';

my $node = new_server('eviction', init => [ allows_streaming => 1 ], conf => "autovacuum = off\nfsync = off\npg_doublets.max_memory = '20MB'\n");
my $db = database($node, 'e', 'doublets');
my $make = sub {
	my ($t, $n) = @_;
	return "CREATE TABLE $t (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint); CREATE INDEX ON $t (from_id); CREATE INDEX ON $t (type_id);"
	  . "INSERT INTO $t SELECT i, i % 100, i + 1, i % 7 FROM generate_series(1, $n) i";
};
my $loaded = sub { $node->safe_psql($db, "SELECT string_agg(rel::text, ' ' ORDER BY rel::text) FROM doublets_memory WHERE state = 'loaded'") };
my $total = sub { $node->safe_psql($db, 'SELECT bytes + leaving_bytes FROM doublets_memory_totals()') };

# 1. Order.  Each table takes about 7 MB.
$node->safe_psql($db, $make->($_, 60000)) for qw(a b c);
is($loaded->(), 'b c', 'the third table has pushed out the first');
$node->safe_psql($db, 'SELECT count(*) FROM b');
is($node->safe_psql($db, 'SELECT count(*), sum(id) FROM a'), '60000|1800030000', 'it is loaded again');
is($loaded->(), 'a b', 'the one used least recently has gone for it');
$node->safe_psql($db, 'SELECT count(*) FROM c');
is($loaded->(), 'a c', 'and the next');
is($node->safe_psql($db, "SELECT sum(evictions) >= 3 FROM doublets_memory"), 't', 'evictions are counted');
cmp_ok($total->(), '<=', 20 * 1024 * 1024, 'memory is below the limit');

# 2. What a transaction has locked stays, and so does what only memory knows of it: command ids.
my ($in, $out) = ('', '');
my $timer = IPC::Run::timer(180);
my $session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr($db) ], '<', \$in, '>', \$out, '2>&1', $timer);
my $say = sub {
	$out = '';
	$in = "$_[0];\n\\echo done\n";
	pump $session until $out =~ /^done$/m;
	$out =~ s/^done\n//m;
	chomp $out;
	return $out;
};
$say->('BEGIN');
$say->('INSERT INTO a VALUES (-1, 1, 1, 1)');
$say->('DECLARE cur CURSOR FOR SELECT count(*) FROM a WHERE id < 0');
$say->('INSERT INTO a VALUES (-2, 1, 1, 1)');
$node->safe_psql($db, "SELECT count(*) FROM $_") for qw(b c b c b c);
like($loaded->(), qr/\ba\b/, 'a table that is being written stays');
is($say->('FETCH cur'), '1', 'a cursor does not see what came after it');
$say->('ROLLBACK');
$say->('BEGIN');
$say->('SET enable_seqscan = off');
$say->('DECLARE t CURSOR FOR SELECT id FROM a WHERE type_id = 3');
my $first = $say->('FETCH 100 FROM t');
$node->safe_psql($db, "SELECT count(*) FROM $_") for qw(b c b c);
my $rest = $say->('FETCH ALL FROM t');
is(scalar(my @ids = split /\n/, "$first\n$rest"), 8572, 'a scan by type that is half done goes on');
$say->('COMMIT');
$node->safe_psql($db, "SELECT count(*) FROM $_") for qw(b c);
unlike($loaded->(), qr/\ba\b/, 'once it is done the table may go');

# A prepared transaction, and one that idles with a table that it has read.
$say->('BEGIN');
$say->('UPDATE a SET to_id = 5 WHERE id = 5');
$say->("PREPARE TRANSACTION 'p'");
$node->safe_psql($db, "SELECT count(*) FROM $_") for qw(b c b c);
like($loaded->(), qr/\ba\b/, 'a table with a prepared transaction stays');
$node->safe_psql($db, "COMMIT PREPARED 'p'");
is($node->safe_psql($db, 'SELECT to_id FROM a WHERE id = 5'), '5', 'which can be committed');

# 3. An idle session, one within a transaction and one without, gives memory back at once.
$node->safe_psql($db, 'SELECT count(*) FROM b');
$say->('SELECT count(*) FROM a');
$node->safe_psql($db, "SELECT count(*) FROM $_") for qw(b c);
unlike($loaded->(), qr/\ba\b/, 'a table that an idle session has mapped has gone');
ok($node->poll_query_until('postgres', 'SELECT leaving_bytes = 0 FROM doublets_memory_totals()'), 'the idle session has let go of it');
$say->('SELECT count(*) FROM a');
$say->('BEGIN');
$say->('SELECT 1');
$node->safe_psql($db, "SELECT count(*) FROM $_") for qw(b c);
unlike($loaded->(), qr/\ba\b/, 'a table that a transaction has not touched has gone');
ok($node->poll_query_until('postgres', 'SELECT leaving_bytes = 0 FROM doublets_memory_totals()'), 'the session that idles within a transaction has let go of it');
is($say->('SELECT count(*) FROM a'), '60000', 'and loads it again in the same transaction');
$say->('COMMIT');
$say->('SELECT count(*) FROM c');
my $before = $node->safe_psql('postgres', 'SELECT bytes FROM doublets_memory_totals()');
$node->safe_psql($db, 'DROP TABLE c');
ok($node->poll_query_until('postgres', 'SELECT leaving_bytes = 0 FROM doublets_memory_totals()'), 'an idle session lets go of a table that was dropped');
$node->safe_psql($db, $make->('c', 60000));

# 4. Nothing that can go: the error, and only then.
$say->('BEGIN');
$say->('SELECT count(*) FROM a');
$say->('SELECT count(*) FROM b');
my ($rc, $o, $err) = $node->psql($db, "\\set VERBOSITY verbose\nSELECT count(*) FROM c");
like($err, qr/53200/, 'with all others in use there is no room: 53200');
$say->('COMMIT');
is($node->safe_psql($db, 'SELECT count(*) FROM c'), '60000', 'afterwards there is');
($rc, $o, $err) = $node->psql($db, "\\set VERBOSITY verbose\n" . $make->('huge', 1000000));
like($err, qr/53200/, 'a table larger than the limit: 53200');
is($node->safe_psql($db, "SELECT count(*), sum(id) FROM $_"), '60000|1800030000', "$_ is all there") for qw(a b c);

# 5. Unlogged tables go and come back too.
$node->safe_psql($db, "ALTER TABLE a SET UNLOGGED; DELETE FROM a WHERE id % 2 = 0; UPDATE a SET to_id = -id");
$node->safe_psql($db, "SELECT count(*) FROM $_") for qw(b c b c);
unlike($loaded->(), qr/\ba\b/, 'an unlogged table has gone');
is($node->safe_psql($db, 'SELECT count(*), sum(id), sum(to_id) FROM a'), '30000|900000000|-900000000', 'and is what it was');
check_ok($node, $db, 'a', 'its trees and pages agree');
$node->safe_psql($db, 'DROP TABLE a');
$node->safe_psql($db, $make->('a', 60000));
$session->finish;

# 6. Under load: readers and writers of all three in turn, in short transactions.
my $seconds = $ENV{EVICTION_SECONDS} || 5;
$node->safe_psql($db, 'CREATE TABLE ledger (t text, id bigint) USING heap');
my $stop = time + $seconds;
my @work;
for my $w (1 .. 3)
{
	my $sql = "DO \$\$ DECLARE t text; i bigint; s bigint; until timestamptz := clock_timestamp() + '$seconds s'; n bigint := 0; BEGIN "
	  . "LOOP t := ('{a,b,c}'::text[])[1 + (n + $w) % 3]; i := 1 + floor(random() * 60000); "
	  . "EXECUTE format('UPDATE %I SET to_id = to_id + 1 WHERE id = \$1', t) USING i; INSERT INTO ledger VALUES (t, i); COMMIT; "
	  . "EXECUTE format('SELECT count(*) FROM %I', t) INTO s; "
	  . "IF s <> 60000 THEN RAISE EXCEPTION '% has % rows', t, s; END IF; COMMIT; n := n + 1; EXIT WHEN clock_timestamp() > until; END LOOP; RAISE NOTICE 'rounds %', n; END \$\$";
	my $wout = '';
	my $h = IPC::Run::start([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($db), '-c', $sql ], '<', \'', '>', \$wout, '2>&1');

	push @work, [ $h, \$wout ];
}
my ($max, $samples) = (0, 0);
while (time < $stop)
{
	my $now = $total->();

	$max = $now if $now > $max;
	$samples++;
	sleep 0.05;
}
for my $w (@work)
{
	my $ok = $w->[0]->finish;

	ok($ok && ${ $w->[1] } =~ /rounds \d+/, "a session that reads and writes all three in turn: ${ $w->[1] }");
}
cmp_ok($max, '<=', 20 * 1024 * 1024, "memory was below the limit all the time ($samples samples)");
note(join(" ", map { ${ $_->[1] } } @work) . "at most $max bytes; " . $node->safe_psql($db, 'SELECT evictions FROM doublets_memory_totals()') . ' evictions');
my $balance = sub { $node->safe_psql($db, "SELECT sum(to_id) - sum(id) - count(*) - (SELECT count(*) FROM ledger WHERE t = '$_[0]') FROM $_[0]") };
for my $t (qw(a b c))
{
	is($balance->($t), '0', "$t: every update is there, once");
	check_ok($node, $db, $t, "$t: trees and pages agree");
}
$node->restart;
is($balance->($_), '0', "$_: after a restart too") for qw(a b c);

# 7. On a standby: readers evict there, replay goes on, and what was evicted comes back with all changes.
$node->backup('b');
my $standby = PostgreSQL::Test::Cluster->new('eviction_standby');
$standby->init_from_backup($node, 'b', has_streaming => 1);
$standby->start;
for my $round (1 .. 6)
{
	$node->safe_psql($db, "UPDATE $_ SET to_id = to_id + $round WHERE id % 100 = $round; INSERT INTO $_ SELECT -i, i, i, $round FROM generate_series($round * 1000, $round * 1000 + 300) i") for qw(a b c);
	$node->wait_for_catchup($standby);
	for my $t ((qw(a b c a b))[ $round % 3 .. $round % 3 + 2 ])
	{
		my $sum = "SELECT count(*), sum(id), sum(to_id), sum(type_id) FROM $t";

		is($standby->safe_psql($db, $sum), $node->safe_psql($db, $sum), "standby, round $round: $t");
	}
}
cmp_ok($standby->safe_psql($db, 'SELECT evictions FROM doublets_memory_totals()'), '>=', 5, 'tables were evicted there');
cmp_ok($standby->safe_psql($db, 'SELECT bytes FROM doublets_memory_totals()'), '<=', 20 * 1024 * 1024, 'memory is below the limit there');
check_ok($standby, $db, $_, "$_: trees and pages agree there") for qw(a b c);
$standby->stop;
unlike(slurp_file($standby->logfile), qr/PANIC|TRAP|was terminated by signal|leak/i, 'nothing broke in its log');

# 8. More tables than pg_doublets.max_tables.
$node->append_conf('postgresql.conf', "pg_doublets.max_tables = 16\npg_doublets.max_memory = 0\n");
$node->restart;
$node->safe_psql($db, "CREATE TABLE t$_ (id bigint PRIMARY KEY, a bigint, b bigint); INSERT INTO t$_ VALUES ($_, 1, 1)") for 1 .. 40;
is($node->safe_psql($db, join '; ', map { "SELECT id FROM t$_" } 1 .. 40), join("\n", 1 .. 40), '40 tables where 16 can be in memory at a time');
$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|was terminated by signal|leak/i, 'nothing broke in the log');
done_testing();
