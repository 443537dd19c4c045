# Faults inside of every operation: at each of the named points of it (pg_doublets/shared/inject.h) an error, a cancel, a statement timeout, a backend
# that is terminated, killed or that crashes; and memory that runs out at every single allocation.  Afterwards the rows are
# those that heap has, trees and pages agree, and nothing has leaked.
#
# Needs a library with injection points (make INJECTION=1), whose PostgreSQL INJECTION_TREE names; ./run test builds it.
# Each point of an operation meets one action, another one with another INJECTION_SEED (0 to 5), and with INJECTION_FULL=1 all of them.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

plan skip_all => 'heap' if $am eq 'heap';
plan skip_all => 'no library with injection points' unless $ENV{INJECTION_TREE};

my $full = $ENV{INJECTION_FULL};
my $seed = $ENV{INJECTION_SEED} || 0;
my $node = PostgreSQL::Test::Cluster->new('injection', install_path => $ENV{INJECTION_TREE});
$node->init(allows_streaming => 1);
# segments as files in the data directory are this server's alone
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_doublets'\nautovacuum = off\nfsync = off\nrestart_after_crash = on\n"
	  . "allow_in_place_tablespaces = on\nmax_prepared_transactions = 10\ndynamic_shared_memory_type = mmap\npg_doublets.max_memory = '12MB'\n");
$node->start;
my $segments = sub { my $sum = 0; $sum += -s $_ || 0 for glob $node->data_dir . '/pg_dynshmem/mmap.*'; return $sum };
my $at_rest = $segments->();
my $db = 'i';
$node->safe_psql('postgres', "CREATE DATABASE $db");
$node->safe_psql('postgres', 'SET allow_in_place_tablespaces = on; CREATE TABLESPACE spc LOCATION \'\'');
my $columns = '(id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint)';
$node->safe_psql($db, <<"SQL");
CREATE EXTENSION pg_doublets;
CREATE FUNCTION doublets_plant_fault(regclass, text, int8) RETURNS void AS '\$libdir/pg_doublets' LANGUAGE C STRICT;
-- what a table has, and what the one beside it has that comes and goes
CREATE FUNCTION content(name text) RETURNS text LANGUAGE plpgsql SET pg_doublets.prune_dead = 0 AS \$\$
DECLARE
  result text := '';
  one text;
  t text;
BEGIN
  FOREACH t IN ARRAY ARRAY[name, name || '_2'] LOOP
    IF to_regclass(t) IS NOT NULL THEN
      EXECUTE format('SELECT concat_ws(\$1, count(*), sum(hashtext(x::text)::bigint), sum(id), sum(to_id)) FROM %I x', t) INTO one USING '|';
      result := result || ' ' || one;
    END IF;
  END LOOP;
  RETURN result;
END \$\$;
CREATE FUNCTION faults(name text) RETURNS text LANGUAGE sql AS \$\$
  SELECT string_agg(concat(c.oid::regclass, f), ' ') FROM pg_class c JOIN pg_am a ON a.oid = relam, LATERAL (SELECT * FROM doublets_check(c.oid) LIMIT 5) f
  WHERE amname = 'doublets' AND c.oid IN (to_regclass(name), to_regclass(name || '_2')) \$\$;
SQL
for my $t ([ 'h', 'heap' ], [ 'd', 'doublets' ])
{
	$node->safe_psql($db, "CREATE TABLE $t->[0] $columns USING $t->[1]; CREATE INDEX ON $t->[0] (from_id);"
		  . "INSERT INTO $t->[0] SELECT i, i % 100, i + 1, i % 7 FROM generate_series(1, 5000) i; CREATE INDEX ON $t->[0] ((to_id + 1))");
}
# two that don't fit into memory together
$node->safe_psql($db, "CREATE TABLE $_ $columns USING doublets; INSERT INTO $_ SELECT i, i, i, i % 7 FROM generate_series(1, 60000) i") for qw(e1 e2);
my $copy = $node->data_dir . '/rows.copy';

# --- faults at points ----------------------------------------------------------------------------------

# Operations: name; statements, of which the last one meets the fault (%s: the table, %a: its access method, K: a number that
# grows); points, :n for the n-th time that one comes there; after: to be ready for the next time; resolve: what a crash may leave.
my $second = "CREATE TABLE %s_2 $columns USING %a; INSERT INTO %s_2 SELECT * FROM %s";
my $drop_second = 'DROP TABLE IF EXISTS %s_2';
my @cases = (
	[ 'insert', ['INSERT INTO %s SELECT i, i % 100, i, i % 7 FROM generate_series(K, K + 400) i'], [qw(insert-before insert-page insert-wal insert-store extend unique)] ],
	[ 'COPY', [ "COPY (SELECT i, 1, 1, 1 FROM generate_series(K, K + 2000) i) TO 'FILE'", "COPY %s FROM 'FILE'" ], [qw(multi-insert:2 insert-before:3 insert-page:2 insert-store:3 extend:3 unique:1000)] ],
	[ 'update', ['UPDATE %s SET to_id = to_id + 1 WHERE id % 7 = 0'], [qw(update-before:5 update-page:5 update-wal:5 update-store:5)] ],
	[ 'update of a key', ['UPDATE %s SET id = -id WHERE id % 13 = 0'], [qw(update-before update-store:3 unique:4)] ],
	[ 'delete', ['DELETE FROM %s WHERE id % 17 = K % 17'], [qw(change-before:3 change-page:3 change-wal:3 change-store:3)] ],
	[ 'lock', ['SELECT count(*) FROM (SELECT 1 FROM %s FOR UPDATE) s'], [qw(change-before:9 change-page:9 change-wal:9 change-store:9)] ],
	[ 'upsert', ['INSERT INTO %s SELECT i, 0, 0, 0 FROM generate_series(4990, 5010 + K) i ON CONFLICT (id) DO UPDATE SET to_id = -1 WHERE excluded.id < 5005'], [qw(speculative change-store insert-before:9 update-store)], short => 1 ],
	[ 'savepoint', ['BEGIN; INSERT INTO %s VALUES (-K, 1, 1, 1); SAVEPOINT a; UPDATE %s SET to_id = 7 WHERE id < 50; ROLLBACK TO a; DELETE FROM %s WHERE id = 60; COMMIT'], [qw(update-store:2 change-before)] ],
	[ 'two phases', ["BEGIN; INSERT INTO %s VALUES (-K, 1, 1, 1); $second; PREPARE TRANSACTION 'p%s'; COMMIT PREPARED 'p%s'"], [qw(create-wal insert-page:2 settle-prepare)], after => $drop_second, resolve => "ROLLBACK PREPARED 'pd'" ],
	[ 'scan', ['SELECT sum(to_id) FROM %s'], [qw(scan:5)] ],
	[ 'index scan', ['SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT sum(to_id) FROM %s WHERE id > 100'], [qw(index-scan:3)] ],
	[ 'bitmap scan', ['SET enable_seqscan = off; SET enable_indexscan = off; SELECT sum(to_id) FROM %s WHERE from_id < 50'], [qw(bitmap-scan:2 scan:3)] ],
	[ 'ANALYZE', ['ANALYZE %s'], [qw(analyze:3)] ],
	[ 'pruning by a scan', [ $second, 'UPDATE %s_2 SET to_id = to_id + 1 WHERE id % 3 = 0', 'SET enable_indexscan = off; SELECT sum(to_id) FROM %s_2' ], [qw(prune prune-before prune-page prune-wal prune-store)], after => $drop_second ],
	[ 'VACUUM', [ 'DELETE FROM %s WHERE id % 19 = K % 19', 'VACUUM %s' ], [qw(vacuum-block:3 vacuum-indexes vacuum-prune prune-before prune-page prune-wal prune-store)] ],
	[ 'VACUUM FREEZE', [ 'UPDATE %s SET to_id = to_id + 1 WHERE id % 23 = K % 23', 'VACUUM FREEZE %s' ], [qw(freeze-before freeze-page freeze-wal freeze-store)] ],
	[ 'VACUUM that truncates', [ 'VACUUM FULL %s', 'INSERT INTO %s SELECT i, 1, 1, 1 FROM generate_series(K, K + 9000) i', 'DELETE FROM %s WHERE id > 5000', 'VACUUM %s' ], [qw(cut-before cut-forgotten cut-done)] ],
	[ 'VACUUM FULL', ['VACUUM FULL %s'], [qw(create-before create-page create-wal rewrite insert-store settle-commit)] ],
	[ 'CLUSTER', ['CLUSTER %s USING %s_pkey'], [qw(rewrite create-wal insert-page settle-commit)] ],
	[ 'CREATE TABLE', ["CREATE TABLE %s_2 $columns USING %a"], [qw(create-before create-page create-wal)], after => $drop_second ],
	[ 'DROP TABLE', [ $second, 'DROP TABLE %s_2' ], [qw(drop settle-commit)], after => $drop_second ],
	[ 'DROP TABLE, rolled back', [ $second, 'BEGIN; DROP TABLE %s_2; ROLLBACK' ], [qw(drop settle-abort)], after => $drop_second ],
	[ 'TRUNCATE', ['BEGIN; TRUNCATE %s; INSERT INTO %s SELECT i, i % 100, i + 1, i % 7 FROM generate_series(1, 5000) i; COMMIT'], [qw(create-before create-wal insert-before settle-commit)] ],
	[ 'TRUNCATE of what is new', ["BEGIN; $second; TRUNCATE %s_2; INSERT INTO %s_2 SELECT * FROM %s; COMMIT"], [qw(cut-before cut-forgotten cut-done)], after => $drop_second ],
	[ 'TRUNCATE, rolled back', ['BEGIN; TRUNCATE %s; INSERT INTO %s VALUES (1, 1, 1, 1); ROLLBACK'], [qw(settle-abort)] ],
	[ 'SET TABLESPACE', ['ALTER TABLE %s SET TABLESPACE spc'], [qw(copy-before copy-done settle-commit)], after => 'ALTER TABLE %s SET TABLESPACE pg_default' ],
	[ 'SET ACCESS METHOD heap', [ $second, 'ALTER TABLE %s_2 SET ACCESS METHOD heap' ], [qw(set-access-method scan settle-commit)], after => $drop_second ],
	[ 'SET ACCESS METHOD doublets', [ "CREATE TABLE %s_2 $columns USING heap; INSERT INTO %s_2 SELECT * FROM %s", 'ALTER TABLE %s_2 SET ACCESS METHOD %a' ],
		[qw(set-access-method create-wal insert-before insert-store index-build)], after => $drop_second ],
	[ 'CREATE INDEX', ['CREATE INDEX %s_x ON %s (to_id, from_id)'], [qw(index-build)], after => 'DROP INDEX IF EXISTS %s_x' ],
	[ 'CREATE UNIQUE INDEX', ['CREATE UNIQUE INDEX %s_x ON %s (id)'], [qw(index-build)], after => 'DROP INDEX IF EXISTS %s_x' ],
	[ 'load', ["SELECT doublets_plant_fault('d', 'drop', 0); SELECT count(*) FROM %s"], [qw(load-before load-page:3 load-build load-done)] ],
	[ 'eviction', [ 'SELECT count(*) FROM e2', 'SELECT count(*) FROM e1' ], [qw(evict)] ],
);
my @actions = qw(error cancel terminate kill segv timeout);
my %critical = map { $_ => 1 } map { my $op = $_; map { "$op-$_" } qw(page wal store) } qw(insert update change prune freeze create);
# nothing may be raised there; nor does a timeout come at the end of a transaction
my %not = (evict => 'error', 'load-build' => 'error', map { $_ => 'error|timeout' } qw(settle-commit settle-abort settle-prepare));

my ($k, $serial) = (10000, $seed);
my (%kinds, %used, %points);
my ($survived, $crashes) = (0, 0);

sub prepared_sql
{
	my ($sql, $t) = @_;
	my $method = $t eq 'h' ? 'heap' : 'doublets';
	$sql =~ s/%s/$t/g;
	$sql =~ s/%a/$method/g;
	$sql =~ s/FILE/$copy/g;
	$sql =~ s/\bK\b/$k/g;
	return $sql;
}

# What the server logs from an offset on, until it matches; false if it doesn't within three minutes.
sub wait_log
{
	my ($server, $offset, $wanted) = @_;
	for (1 .. 3600)
	{
		return 1 if slurp_file($server->logfile, $offset) =~ $wanted;
		sleep 0.05;
	}
	return 0;
}

# Wait until a server that is ending has ended; false if it doesn't within a minute.  Meanwhile, do.
sub gone
{
	my ($server, $do) = @_;
	for (1 .. 600)
	{
		unless (-e $server->data_dir . '/postmaster.pid')
		{
			$server->_update_pid(0);
			return 1;
		}
		$do->() if $do;
		sleep 0.1;
	}
	return 0;
}

# One fault; returns whether it came, how psql ended and what it said.
sub strike
{
	my ($point, $action, $times, $sql) = @_;
	my ($fired, $rc, $out, $err);

	# a slow machine may be cancelled before it is there
	for my $ms ($action eq 'timeout' ? (100, 1000, 10000) : 0)
	{
		my $offset = -s $node->logfile;

		($rc, $out, $err) = $node->psql($db, "SET statement_timeout = $ms; SET pg_doublets.inject = '$point:$action:$times';\n$sql",
			timeout => $PostgreSQL::Test::Utils::timeout_default);
		$fired = slurp_file($node->logfile, $offset) =~ /injection point "$point": $action/;
		if ($fired && ($action =~ /kill|segv/ || ($action eq 'error' && $critical{$point})))
		{
			$crashes++;
			# the client may know of it before the postmaster does
			wait_log($node, $offset, qr/reinitializing.*ready to accept connections/s) or BAIL_OUT("$action at $point: the server does not come up");
		}
		last if $fired;
	}
	return ($fired, $rc, $err);
}

for my $case (@cases)
{
	my ($name, $sql, $points, %more) = @$case;
	my @sql = @$sql;
	my $last = pop @sql;

	# what the cases before have deleted
	$node->safe_psql($db, "INSERT INTO $_ SELECT i, i % 100, i + 1, i % 7 FROM generate_series(1, 5000) i ON CONFLICT DO NOTHING") for qw(h d);
	for my $p (@$points)
	{
		my ($point, $times) = split /:/, $p;
		my @may = grep { !$not{$point} || $_ !~ /$not{$point}/ } @actions;
		my @now = $full ? @may : $may[ $serial % @may ];

		$serial++;
		for my $action (@now)
		{
			$k += 20000;
			$k = 5100 + keys(%kinds) * 3 if $more{short};
			$node->safe_psql($db, join ";\n", map { my $s = $_; map { prepared_sql($s, $_) } $s =~ /%s/ ? qw(h d) : ('d') } @sql) if @sql;
			my $before = $action eq 'terminate' ? $node->safe_psql($db, "SELECT content('d')") : '';
			my ($fired, $rc, $err) = strike($point, $action, $times || 1, prepared_sql($last, 'd'));

			$node->psql($db, $more{resolve}) if $more{resolve} && $rc;
			# what comes within a critical section is obeyed after it, or when the statement is done
			my $committed = $rc == 0 || $point eq 'settle-commit' || ($action eq 'terminate' && $node->safe_psql($db, "SELECT content('d')") ne $before);

			$node->safe_psql($db, prepared_sql($last, 'h')) if $committed && $last =~ /%s/;
			my ($want, $got, $found) = split /\n/, $node->safe_psql($db, join ";\n", "SELECT content('h')", "SELECT content('d')", "SELECT coalesce(faults('d'), 'none')",
				map { prepared_sql($more{after}, $_) } $more{after} ? qw(h d) : ());
			ok($fired && $want eq $got && $found eq 'none' && ($rc != 0 || $action =~ /cancel|timeout|terminate/), "$name, $action at $point: as on heap")
			  or diag("fired: $fired, rc: $rc, $err\nheap: $want\nours: $got\nfaults: $found");
			$kinds{"$name $action $point"} = $used{$action} = $points{$point} = 1;
			$survived++;
		}
	}
}
cmp_ok($crashes, '>', 5, 'the server crashed now and then');
is(scalar(() = slurp_file($node->logfile) =~ /was terminated by signal/g), $crashes, 'whenever it was to, and never else');
is($node->safe_psql($db, "SELECT count(*) FROM pg_locks WHERE relation = 'd'::regclass"), '0', 'no lock is left');
is($node->safe_psql($db, 'SELECT count(*) FROM h FULL JOIN d USING (id) WHERE h IS DISTINCT FROM d'), '0', 'row by row');
is($node->safe_psql($db, "SELECT count(*), sum(id) FROM $_"), '60000|1800030000', "$_ has its rows") for qw(e1 e2);
check_ok($node, $db, $_, "$_: trees and pages agree") for qw(e1 e2);

# Whatever there was is dropped: all memory has been given back.
my $given_back = sub {
	my ($what) = @_;
	$node->poll_query_until($db, 'SELECT bytes + leaving_bytes = 0 FROM doublets_memory_totals()');
	is($node->safe_psql($db, "SELECT bytes, leaving_bytes, (SELECT count(*) FROM doublets_memory WHERE state <> 'unloaded') FROM doublets_memory_totals()") . '|' . ($segments->() <= $at_rest ? '0' : $segments->()),
		'0|0|0|0', "$what: all memory has been given back");
};
$node->safe_psql($db, 'DROP TABLE h, d, e1, e2');
$given_back->('after the faults');

# --- want of memory ---------------------------------------------------------------------------------------

# A statement with allocation n failing, for each n until there are no more of them.  A failure may be absorbed: the store of another
# table goes, or a smaller piece will do.  The statement has failed for want of memory or is undone, and nothing is changed.
$node->safe_psql($db, <<'SQL');
CREATE FUNCTION starve(statement text, unload boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  before text := content('o');
  failed int := 0;
  absorbed int := 0;
  start timestamptz;
  slowest int := 0;
BEGIN
  FOR n IN 1 .. 10000 LOOP
    IF unload THEN PERFORM doublets_plant_fault('o', 'drop', 0); END IF;
    PERFORM set_config('pg_doublets.inject_no_memory', n::text, false);
    start := clock_timestamp();
    BEGIN
      EXECUTE statement;
      IF current_setting('pg_doublets.inject_no_memory') = '0' THEN RAISE SQLSTATE 'AB000'; END IF;
      PERFORM set_config('pg_doublets.inject_no_memory', '0', false);
      RETURN format('%s failures, %s absorbed, %s ms', failed, absorbed, slowest);
    EXCEPTION WHEN out_of_memory OR SQLSTATE 'AB000' THEN
      IF current_setting('pg_doublets.inject_no_memory') <> '0' THEN RETURN format('after %s: short of memory without a fault', n); END IF;
      slowest := greatest(slowest, extract(epoch FROM clock_timestamp() - start) * 1000);
      IF SQLSTATE = 'AB000' THEN absorbed := absorbed + 1; ELSE failed := failed + 1; END IF;
      IF content('o') IS DISTINCT FROM before THEN RETURN format('after failure %s: %s instead of %s', n, content('o'), before); END IF;
      IF (SELECT count(*) FROM doublets_check('o')) > 0 THEN RETURN format('after failure %s: faults', n); END IF;
    END;
  END LOOP;
  RETURN 'endless';
END $$;
SQL
my ($failures, $absorbed, $starved, $slowest) = (0, 0, 0, 0);
my $count = sub {
	my ($name, $failed, $absorbed_now, $least) = @_;
	ok($failed > 0 && $failed + $absorbed_now >= $least, "$name: $failed allocations failed, $absorbed_now more were absorbed; each time nothing was changed");
	$failures += $failed;
	$absorbed += $absorbed_now;
	$starved++;
};
# In o, with a twin p on heap, and v, which may go when memory is short; all of it in one session, for temporary tables.
my $tables = "CREATE TABLE o $columns USING doublets; CREATE INDEX o_f ON o (from_id); CREATE TABLE p $columns USING heap; CREATE TABLE v $columns USING doublets; INSERT INTO v SELECT i, i, i, i FROM generate_series(1, 3000) i; SELECT count(*) FROM v;";
my $both = sub { my ($sql) = @_; return join ';', map { my $s = $sql; $s =~ s/%s/$_/g; $s } qw(o p) };
my $starve = sub {
	my ($name, $statement, $n, $unload, $least, $temp) = @_;
	my $rows = $n ? 'INSERT INTO %s SELECT ' . "i, i * 7919 % 10007, i * 104729 % 1000003, i % 50 FROM generate_series(1, $n) i" : 'SELECT FROM %s';
	my $create = $tables;
	my ($ours, $heap) = map { my $s = $statement; $s =~ s/%s/$_/g; $s } qw(o p);

	$create =~ s/TABLE o/TEMP TABLE o/ if $temp;
	my $out = $node->safe_psql($db, "SET client_min_messages = warning; $create " . $both->($rows) . "; SELECT 'got ' || starve(\$s\$$ours\$s\$, $unload); $heap; SELECT 'same ' || (content('o') = content('p')); SELECT 'faults ' || count(*) FROM doublets_check('o')");
	# statements print in between
	my ($failed, $absorbed_now, $ms) = $out =~ /^got (\d+) failures, (\d+) absorbed, (\d+) ms\n(?:.*\n)*same true\nfaults 0$/m or diag($out);
	$count->($name, $failed // -1, $absorbed_now // 0, $least);
	$slowest = $ms if defined $ms && $ms > $slowest;
	$node->safe_psql($db, 'SET client_min_messages = warning; DROP TABLE IF EXISTS o, p, v');
	$given_back->($name);
};
my $insert = 'INSERT INTO %s SELECT i, i * 7919 % 10007, i * 104729 % 1000003, i % 50 FROM generate_series(1, 10000) i';
$starve->('insert', $insert, 0, 'false', 5);
$node->safe_psql($db, "COPY (SELECT i, i, i, i FROM generate_series(1, 10000) i) TO '$copy'");
$starve->('COPY', "COPY %s FROM '$copy'", 0, 'false', 10);
$starve->('load', 'SELECT count(*) FROM %s', 9000, 'true', 10);
$starve->('SET UNLOGGED', 'ALTER TABLE %s SET UNLOGGED', 9000, 'false', 10);
$starve->('CLUSTER', 'CLUSTER %s USING %s_pkey', 1000, 'true', 10);
$starve->('SET ACCESS METHOD, there and back', 'ALTER TABLE %s SET ACCESS METHOD heap; ALTER TABLE %s SET ACCESS METHOD doublets', 1000, 'true', 10);
$starve->('update', 'UPDATE %s SET to_id = -to_id, from_id = id * 1000 WHERE id <= 200', 1000, 'true', 10);
$starve->('delete', 'DELETE FROM %s WHERE id % 2 = 0', 1000, 'true', 10);
$starve->('lock', 'SELECT count(*) FROM (SELECT 1 FROM %s FOR UPDATE) s', 1000, 'true', 10);
$starve->('upsert', 'INSERT INTO %s SELECT i, 0, 0, 0 FROM generate_series(900, 1100) i ON CONFLICT (id) DO UPDATE SET to_id = -1', 1000, 'true', 10);
$starve->('index scan', 'SET LOCAL enable_seqscan = off; SELECT sum(to_id) FROM %s WHERE from_id < 100', 1000, 'true', 10);
$starve->('CREATE INDEX', 'CREATE UNIQUE INDEX %s_x ON %s (id, to_id)', 1000, 'true', 10);
$starve->('CREATE INDEX, a real one', 'CREATE INDEX %s_x ON %s ((to_id + 1))', 1000, 'true', 10);
$starve->('ANALYZE', 'ANALYZE %s', 1000, 'true', 10);
$starve->('TRUNCATE', 'TRUNCATE %s; INSERT INTO %s VALUES (1, 1, 1, 1)', 1000, 'false', 10);
$starve->('a temporary table', $insert, 0, 'false', 5, 'temp');
# dbl_make_room() waits so long for tables in use to go, but not for those that one uses oneself
cmp_ok($slowest, '<', 5000, "nobody waits for memory in vain ($slowest ms at most)");

# The same for statements that can't be run in a function: before each of them the table is changed and its store dropped.
for my $statement ('VACUUM o', 'VACUUM FULL o')
{
	my $change = $both->('UPDATE %s SET to_id = to_id + 1 WHERE id % 50 = 0; DELETE FROM %s WHERE id = (SELECT max(id) FROM %s)');
	my ($n, $failed, $done) = (0, 0, 0);

	$node->safe_psql($db, "$tables " . $both->('INSERT INTO %s SELECT i, i * 7919 % 10007, i * 104729 % 1000003, i % 50 FROM generate_series(1, 1000) i') . '; ALTER TABLE o SET (vacuum_truncate = off)');
	while (!$done && $n < 400)
	{
		my $script = join '', map { "$change; SELECT doublets_plant_fault('o', 'drop', 0); SET pg_doublets.inject_no_memory = " . ($n + $_) . ";\n$statement;\nSELECT 'left ' || current_setting('pg_doublets.inject_no_memory'); SET pg_doublets.inject_no_memory = 0;\n" } 1 .. 20;
		my ($rc, $out, $err) = $node->psql($db, $script, on_error_stop => 0);

		$n += 20;
		$failed += () = $err =~ /not enough shared memory for a doublets table/g;
		$done = 1 if $out =~ /^left [1-9]/m;
		$n -= () = $out =~ /^left [1-9]/mg;
	}
	$count->($statement, $failed, $n - $failed, 10);
	ok($done, "$statement: until there were no more allocations to fail");
	is($node->safe_psql($db, "SELECT content('o')"), $node->safe_psql($db, "SELECT content('p')"), "$statement: rows as on heap");
	check_ok($node, $db, 'o', "$statement: trees and pages agree");
	$node->safe_psql($db, 'DROP TABLE o, p, v');
	$given_back->($statement);
}

# --- preload ------------------------------------------------------------------------------------------------

$node->safe_psql($db, "CREATE TABLE o $columns USING doublets; INSERT INTO o SELECT i, i * 7919, i, i % 100 FROM generate_series(1, 10000) i");
my $content = $node->safe_psql($db, "SELECT content('o')");
$node->append_conf('postgresql.conf', "pg_doublets.preload = '$db.*'\n");
my @preload = qw(error kill cancel segv terminate);
for my $fault (map({ "inject = 'preload:$_'" } $full ? @preload : map { $preload[ ($seed + $_) % @preload ] } 0, 1), 'inject_no_memory = 5')
{
	my ($action) = $fault =~ /:(\w+)/;
	my $crash = $action && $action =~ /kill|segv/;
	my $offset = -s $node->logfile;

	# the worker that a server which goes on would start after a crash would meet it again
	$node->append_conf('postgresql.conf', "pg_doublets.$fault\nrestart_after_crash = " . ($crash ? 'off' : 'on') . "\n");
	$node->stop;
	# not start(), which does not expect that the server is gone again at once
	run_log([ "$ENV{INJECTION_TREE}/bin/pg_ctl", '-w', '-D', $node->data_dir, '-l', $node->logfile, '-o', '--cluster-name=injection', 'start' ]);
	my $met = wait_log($node, $offset, $crash ? qr/shutting down because restart_after_crash is off.*database system is shut down/s
		: $action && $action eq 'terminate' ? qr/terminating background worker "doublets preload worker"/ : qr/could not preload doublets table "o"/);
	$node->append_conf('postgresql.conf', "pg_doublets.inject = ''\npg_doublets.inject_no_memory = 0\nrestart_after_crash = on\n");
	if ($crash)
	{
		gone($node) or BAIL_OUT("preload, $fault: the server does not end");
		start_again($node);
		$node->poll_query_until($db, "SELECT state = 'loaded' FROM doublets_memory WHERE rel = 'o'::regclass");
		$crashes++;
	}
	else
	{
		$node->_update_pid(1);
		$node->reload;
		$node->poll_query_until($db, "SELECT current_setting('pg_doublets.inject_no_memory') || current_setting('pg_doublets.inject') = '0'");
	}
	ok($met && $node->safe_psql($db, "SELECT content('o')") eq $content, "preload, $fault: the rows are there");
	check_ok($node, $db, 'o', "preload, $fault: trees and pages agree");
	$kinds{$fault} = 1;
	$points{preload} = 1 if $action;
	$survived++;
}
# the limit has served its turn: the table that is replayed grows
$node->append_conf('postgresql.conf', "pg_doublets.preload = ''\npg_doublets.max_memory = 0\n");
$node->restart;

# --- replay ---------------------------------------------------------------------------------------------------

# On a standby with a reader, where the allocations fail that replay needs: it goes on.
$node->backup('b');
my $standby = PostgreSQL::Test::Cluster->new('injection_standby', install_path => $ENV{INJECTION_TREE});
$standby->init_from_backup($node, 'b', has_streaming => 1);
$standby->start;
my ($dropped, $rounds) = (0, 0);
my $set_memory = sub {
	my ($n) = @_;
	$standby->append_conf('postgresql.conf', "pg_doublets.inject_no_memory = $n\n");
	$standby->reload;
	# a session that starts now has it
	$standby->poll_query_until($db, "SELECT current_setting('pg_doublets.inject_no_memory') = '$n'");
};
my $same = sub {
	my ($what) = @_;
	is($standby->safe_psql($db, "SELECT content('o')"), $node->safe_psql($db, "SELECT content('o')"), "$what: the standby has the rows");
	check_ok($standby, $db, 'o', "$what: trees and pages agree");
};
for my $n ($full ? 1 .. 24 : map { 4 * $_ - $seed % 4 } 1 .. 5)
{
	my $offset = -s $standby->logfile;
	my $met;

	$standby->safe_psql($db, 'SELECT count(*) FROM o');
	$set_memory->($n);
	# replay sees the setting a little later
	for (1 .. 100)
	{
		$rounds++;
		$node->safe_psql($db, "INSERT INTO o SELECT $rounds * 100000 + i, $rounds * 1000000 + i * 7919, i, $rounds * 1000 + i % 100 FROM generate_series(1, 3000) i; UPDATE o SET to_id = $rounds WHERE id % 50 = 0");
		$node->wait_for_catchup($standby);
		last if $met = slurp_file($standby->logfile, $offset) =~ /injection: an allocation fails/;
		sleep 0.1;
	}
	$set_memory->(0);
	$dropped++ if $standby->safe_psql($db, "SELECT state FROM doublets_memory WHERE rel = 'o'::regclass") ne 'loaded';
	ok($met, "replay with allocation $n failing");
	$same->("replay with allocation $n failing");
	$failures++;
}
$starved++;
cmp_ok($dropped, '>', 0, "the standby had to drop the store $dropped times");

# An error in replay ends the standby, and so does a crash of it; it starts again from there.
$node->safe_psql($db, "CREATE TABLE q $columns USING doublets");
my @redo = qw(redo-before redo-page redo-done);
for my $i (0 .. ($full ? 3 : 1) * @redo - 1)
{
	my $point = $redo[ $i % 3 ];
	my $action = (qw(error kill segv))[ ($i + int($i / 3) + $seed) % 3 ];
	my $times = 1 + ($i + $seed) * 37 % 101;
	my $offset = -s $standby->logfile;

	$standby->safe_psql($db, 'SELECT count(*) FROM o');
	$standby->append_conf('postgresql.conf', "pg_doublets.inject = '$point:$action:$times'\nrestart_after_crash = off\n");
	$standby->reload;
	gone($standby, sub { $node->safe_psql($db, "UPDATE o SET to_id = to_id + 1 WHERE id % 500 = 0; INSERT INTO q SELECT i, i, i, i FROM generate_series(1, 1000) i; DELETE FROM q; VACUUM q; TRUNCATE q; VACUUM o") })
	  or BAIL_OUT("$action at $point: the standby does not end");
	my $met = slurp_file($standby->logfile, $offset) =~ /injection point "$point": $action/;
	$standby->append_conf('postgresql.conf', "pg_doublets.inject = ''\n");
	start_again($standby);
	$node->wait_for_catchup($standby);
	ok($met, "replay, $action at $point");
	$same->("replay, $action at $point");
	$kinds{"replay $action $point"} = $points{$point} = 1;
	$survived++;
	$crashes++;
}
$standby->stop;

# --- in the end -------------------------------------------------------------------------------------------------

$node->safe_psql($db, 'DROP TABLE o, q');
$given_back->('in the end');
$node->stop;
unlike(slurp_file($_->logfile), qr/TRAP|leak/i, $_->name . ': nothing broke in the log but what was to') for $node, $standby;
note(sprintf 'injection: %d points in %d operations, %d actions: %d kinds of fault; %d faults survived, %d of them crashes; in %d operations %d allocations failed, %d more were absorbed',
	scalar keys %points, @cases + 2, scalar keys %used, scalar keys %kinds, $survived, $crashes, $starved, $failures, $absorbed);
done_testing();
