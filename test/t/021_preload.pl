# pg_doublets.preload: tables are in memory before anybody asks for them, also after a crash and on a standby; what is in the
# way of one is logged.  Loads show how far they are, can be cancelled, and hold nobody up but those who want the same table.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

plan skip_all => 'heap' if $am eq 'heap';

my $node = new_server('preload', init => [ allows_streaming => 1 ], conf => "autovacuum = off\nfsync = off\nrestart_after_crash = on\nmax_wal_size = 4GB\nshared_buffers = 256MB\nmin_dynamic_shared_memory = '300MB'\n");
my ($p, $q) = (database($node, 'p', 'doublets'), database($node, '"Q q"', 'doublets'));
$q = 'Q q';
my $make = sub {
	my ($t, $n) = @_;
	return "CREATE TABLE $t (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint);"
	  . "INSERT INTO $t SELECT i, i % 1000, i + 1, i % 7 FROM generate_series(1, $n) i";
};
$node->safe_psql($p, $make->('big', 1000000));
$node->safe_psql($p, $make->($_, 20000)) for 'a', 'b', '"C c"', 'd';
$node->safe_psql($p, 'CREATE SCHEMA s');
$node->safe_psql($p, $make->('s.e', 1000));
$node->safe_psql($p, 'CREATE TABLE plain (id bigint) USING heap');
$node->safe_psql($q, $make->('f', 1000));
$node->safe_psql($p, 'CHECKPOINT');

my $loaded = sub {
	my ($server) = @_;
	return join ' ', map { $server->safe_psql($_, "SELECT string_agg(rel::text, ' ' ORDER BY rel::text COLLATE \"C\") FROM doublets_memory WHERE rel IS NOT NULL AND state = 'loaded'") } $p, $q;
};
my $finished = sub {
	my ($server, $offset) = @_;
	for (1 .. 1800)
	{
		return 1 if slurp_file($server->logfile, $offset) =~ /preloaded \d+ of \d+ doublets tables/;
		sleep 0.1;
	}
	return 0;
};

# Progress and cancellation of a load by first access.
$node->restart;
is($loaded->($node), ' ', 'without the setting nothing is loaded');
my ($rc, $out, $err) = $node->psql($p, "SET statement_timeout = '60ms'; SELECT count(*) FROM big WHERE id < 5");
like($err, qr/canceling statement due to statement timeout/, 'a load can be cancelled');
is($loaded->($node), ' ', 'then nothing is loaded');
is($node->safe_psql('postgres', 'SELECT bytes + leaving_bytes FROM doublets_memory_totals()'), '0', 'and no memory is taken');
my $samples = '';
my $sql = q{
CREATE TEMP TABLE samples USING heap AS SELECT now() AS at, 0::bigint AS other, * FROM doublets_progress_load LIMIT 0;
\echo ready
DO $$ DECLARE n bigint; until timestamptz := clock_timestamp() + '60 s'; BEGIN
  LOOP
    INSERT INTO samples SELECT clock_timestamp(), 0, * FROM doublets_progress_load;
    SELECT count(*) INTO n FROM a WHERE id <= 10;
    UPDATE samples SET other = n;
    EXIT WHEN clock_timestamp() > until OR (SELECT state = 'loaded' FROM doublets_memory WHERE rel = 'big'::regclass);
    PERFORM pg_sleep(0.005);
  END LOOP;
END $$;
SELECT count(*) > 3, bool_and(pid > 0), bool_and(datname = 'p'), bool_and(relid = 'big'::regclass), bool_and(blocks_done <= blocks_total), max(links_read), min(other) FROM samples;
SELECT DISTINCT phase FROM samples ORDER BY 1;
};
my $sampler = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr($p) ], '<', \$sql, '>', \$samples, '2>&1');
pump $sampler until $samples =~ /ready/;
is($node->safe_psql($p, 'SELECT count(*), sum(id) FROM big'), '1000000|500000500000', 'a table of 1,000,000 links is loaded');
$sampler->finish;
like($samples, qr/^t\|t\|t\|t\|t\|1000000\|10$/m, 'its load showed progress, and another table could be read meanwhile');
like($samples, qr/^reading pages$/m, 'phase: reading');
like($samples, qr/^building trees by (id|source|target)$/m, 'phase: building');
my $ms = $node->safe_psql($p, "SELECT load_ms FROM doublets_memory WHERE rel = 'big'::regclass");
note("1,000,000 links loaded in $ms ms");

# By name.
$node->append_conf('postgresql.conf', qq{pg_doublets.preload = 'P.public.a, p.public."C c", p.public.missing, p.public.plain, p.nowhere.*, nodb.*, "Q q".*, p.s.*'\n});
my $offset = -s $node->logfile;
$node->restart;
ok($finished->($node, $offset), 'preloading ends');
is($node->poll_query_until($q, "SELECT count(*) = 1 FROM doublets_memory WHERE rel = 'f'::regclass AND state = 'loaded'"), 1, 'also in the second database');
is($loaded->($node), '"C c" a s.e f', 'the tables that are named are loaded');
my $log = slurp_file($node->logfile, $offset);
like($log, qr/WARNING:  could not preload doublets table "public.missing": it does not exist/, 'a missing table is warned of');
like($log, qr/WARNING:  could not preload doublets table "plain": "plain" is not a table that uses/, 'so is one that is of another kind');
like($log, qr/WARNING:  could not preload doublets tables: schema "nowhere" does not exist/, 'and a missing schema');
like($log, qr/WARNING:  could not preload doublets tables: there is no database "nodb"/, 'and a missing database');
is($node->safe_psql($p, 'SELECT count(*) FROM a'), '20000', 'they can be read');

# After a crash.
my $pid = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE backend_type = 'doublets preload launcher'");
$offset = -s $node->logfile;
my $victim = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr($p), '-c', 'SELECT pg_sleep(100)' ], '<', \'', '>', \my $o, '2>&1');
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE query ~ 'pg_sleep.100' AND pid <> pg_backend_pid()");
kill 'KILL', $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE query ~ 'pg_sleep.100' AND pid <> pg_backend_pid()");
$victim->finish;
ok($finished->($node, $offset), 'after a crash it is done again');
$node->poll_query_until($q, "SELECT count(*) = 1 FROM doublets_memory WHERE rel = 'f'::regclass AND state = 'loaded'");
is($loaded->($node), '"C c" a s.e f', 'and the tables are there');

# All, with memory for the small ones only; on a standby, with memory for all.
$node->backup('b');
my $standby = PostgreSQL::Test::Cluster->new('preload_standby');
$standby->init_from_backup($node, 'b', has_streaming => 1);
$standby->append_conf('postgresql.conf', "pg_doublets.preload = '*'\n");
$offset = 0;
$standby->start;
ok($finished->($standby, 0), 'a standby preloads');
$standby->poll_query_until($q, "SELECT count(*) = 1 FROM doublets_memory WHERE rel = 'f'::regclass AND state = 'loaded'");
is($loaded->($standby), '"C c" a b big d s.e f', 'all tables');
$node->safe_psql($p, 'UPDATE a SET to_id = 0 WHERE id <= 100; DELETE FROM b WHERE id > 10');
$node->wait_for_catchup($standby);
is($standby->safe_psql($p, 'SELECT count(*) FROM a WHERE to_id = 0; SELECT count(*) FROM b'), "100\n10", 'and follows changes of them');
check_ok($standby, $p, $_, "trees and pages of $_ agree there") for qw(a b big);
$standby->stop;

$node->append_conf('postgresql.conf', "pg_doublets.preload = '*'\npg_doublets.max_memory = '20MB'\n");
$offset = -s $node->logfile;
$node->restart;
ok($finished->($node, $offset), 'preloading with little memory ends');
$node->poll_query_until($q, "SELECT count(*) = 1 FROM doublets_memory WHERE rel = 'f'::regclass AND state = 'loaded'");
is($loaded->($node), '"C c" a b d s.e f', 'what fits is loaded');
like(slurp_file($node->logfile, $offset), qr/WARNING:  could not preload doublets table "big": not enough shared memory/, 'what does not is warned of');

# A setting that makes no sense.
$node->append_conf('postgresql.conf', "pg_doublets.preload = 'p.a'\n");
$offset = -s $node->logfile;
$node->restart;
like(slurp_file($node->logfile, $offset), qr/invalid value for parameter "pg_doublets.preload": "p.a"/, 'a malformed setting is told of');
is($node->safe_psql($p, 'SELECT count(*) FROM a'), '20000', 'and the server runs');
$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|leak/i, 'nothing broke in the log');
done_testing();
