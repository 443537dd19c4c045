# Faults at named points of every operation: an error, a cancel, a backend that is killed; and memory that runs out at every
# single allocation.  Afterwards the rows are those that heap has, trees and pages agree, and nothing has leaked.
#
# Needs a library with injection points (make INJECTION=1), whose PostgreSQL INJECTION_TREE names; ./run test builds it.
# Each point meets one or two faults in turn, with INJECTION_FULL=1 all of them.
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

my $node = PostgreSQL::Test::Cluster->new('injection', install_path => $ENV{INJECTION_TREE});
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_doublets'\nautovacuum = off\nfsync = off\nrestart_after_crash = on\n"
	  . "allow_in_place_tablespaces = on\nmax_prepared_transactions = 10\n");
$node->start;
my $db = 'i';
$node->safe_psql('postgres', "CREATE DATABASE $db");
$node->safe_psql('postgres', 'SET allow_in_place_tablespaces = on; CREATE TABLESPACE spc LOCATION \'\'') or 1;
$node->safe_psql($db, "CREATE EXTENSION pg_doublets; CREATE FUNCTION doublets_plant_fault(regclass, text, int8) RETURNS void AS '\$libdir/pg_doublets' LANGUAGE C STRICT");
for my $t ([ 'h', 'heap' ], [ 'd', 'doublets' ])
{
	$node->safe_psql($db, "CREATE TABLE $t->[0] (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint) USING $t->[1]; CREATE INDEX ON $t->[0] (from_id);"
		  . "INSERT INTO $t->[0] SELECT i, i % 100, i + 1, i % 7 FROM generate_series(1, 5000) i; CREATE INDEX ON $t->[0] ((to_id + 1))");
}
my $copy = $node->data_dir . '/rows.copy';

my $content = 'SELECT count(*), sum(hashtext(t::text)::bigint), sum(id), sum(to_id) FROM %s t';
my $k = 10000;
my $serial = 0;

# name, statements (the last of them with the fault), its points; "after": what is to be done for the next time.
my $tail = 'DELETE FROM %s WHERE id > 5000';
my @cases = (
	[ 'insert', ['INSERT INTO %s SELECT i, i % 100, i, i % 7 FROM generate_series(K, K + 400) i'], [qw(insert-before insert-page insert-wal insert-store extend unique)] ],
	[ 'COPY', [ "COPY (SELECT i, 1, 1, 1 FROM generate_series(K, K + 2000) i) TO 'FILE'", "COPY %s FROM 'FILE'" ], [qw(insert-before:3 insert-store:3 extend:3 unique:1000)] ],
	[ 'update', ['UPDATE %s SET to_id = to_id + 1 WHERE id % 7 = 0'], [qw(update-before:5 update-page:5 update-wal:5 update-store:5)] ],
	[ 'update of a key', ['UPDATE %s SET id = -id WHERE id % 13 = 0'], [qw(update-before update-store:3 unique:4)] ],
	[ 'delete', ['DELETE FROM %s WHERE id % 17 = K % 17'], [qw(change-before:3 change-page:3 change-wal:3 change-store:3)] ],
	[ 'lock', ['SELECT count(*) FROM (SELECT 1 FROM %s FOR UPDATE) s'], [qw(change-before:9 change-page:9 change-wal:9 change-store:9)] ],
	[ 'upsert', ['INSERT INTO %s SELECT i, 0, 0, 0 FROM generate_series(4990, 5010 + K) i ON CONFLICT (id) DO UPDATE SET to_id = -1 WHERE excluded.id < 5005'], [qw(speculative change-store insert-before:9 update-store)], 'short' ],
	[ 'savepoint', ['BEGIN; INSERT INTO %s VALUES (-K, 1, 1, 1); SAVEPOINT a; UPDATE %s SET to_id = 7 WHERE id < 50; ROLLBACK TO a; DELETE FROM %s WHERE id = 60; COMMIT'], [qw(update-store:2 change-before)] ],
	[ 'VACUUM', [ 'DELETE FROM %s WHERE id % 19 = K % 19', 'VACUUM %s' ], [qw(vacuum-block:3 vacuum-indexes vacuum-prune prune-before prune-page prune-wal prune-store)] ],
	[ 'VACUUM FREEZE', [ 'UPDATE %s SET to_id = to_id + 1 WHERE id % 23 = K % 23', 'VACUUM FREEZE %s' ], [qw(freeze-before freeze-page freeze-wal freeze-store)] ],
	[ 'VACUUM that truncates', [ 'INSERT INTO %s SELECT i, 1, 1, 1 FROM generate_series(K, K + 9000) i', $tail, 'VACUUM %s' ], [qw(cut-before cut-forgotten cut-done)] ],
	[ 'VACUUM FULL', ['VACUUM FULL %s'], [qw(create-before create-page create-wal rewrite insert-store settle-commit)] ],
	[ 'TRUNCATE', ['BEGIN; TRUNCATE %s; INSERT INTO %s SELECT i, i % 100, i + 1, i % 7 FROM generate_series(1, 5000) i; COMMIT'], [qw(create-before create-wal insert-before settle-commit)] ],
	[ 'TRUNCATE, rolled back', ['BEGIN; TRUNCATE %s; INSERT INTO %s VALUES (1, 1, 1, 1); ROLLBACK'], [qw(settle-abort)] ],
	[ 'SET TABLESPACE', ['ALTER TABLE %s SET TABLESPACE spc'], [qw(copy-before copy-done settle-commit)], undef, 'ALTER TABLE %s SET TABLESPACE pg_default' ],
	[ 'CREATE INDEX', ['CREATE INDEX %s_x ON %s (to_id, from_id)'], [qw(index-build)], undef, 'DROP INDEX IF EXISTS %s_x' ],
	[ 'CREATE UNIQUE INDEX', ['CREATE UNIQUE INDEX %s_x ON %s (id)'], [qw(index-build)], undef, 'DROP INDEX IF EXISTS %s_x' ],
	[ 'load', ["SELECT doublets_plant_fault('d', 'drop', 0)", 'SELECT count(*) FROM %s'], [qw(load-before load-page:3 load-build load-done)] ],
);
my %critical = map { $_ => 1 } map { my $op = $_; map { "$op-$_" } qw(page wal store) } qw(insert update change prune freeze create);

sub prepared_sql
{
	my ($sql, $t) = @_;
	$sql =~ s/%s/$t/g;
	$sql =~ s/FILE/$copy/g;
	$sql =~ s/\bK\b/$k/g;
	return $sql;
}

my ($crashes, $errors) = (0, 0);
for my $case (@cases)
{
	my ($name, $sql, $points, $short, $after) = @$case;
	my @sql = @$sql;
	my $last = pop @sql;

	# what the cases before have deleted
	$node->safe_psql($db, "INSERT INTO $_ SELECT i, i % 100, i + 1, i % 7 FROM generate_series(1, 5000) i ON CONFLICT DO NOTHING") for qw(h d);
	for my $p (@$points)
	{
		my ($point, $times) = split /:/, $p;
		my @actions = qw(error cancel kill);

		$serial++;
		@actions = ('kill') if $point eq 'settle-commit';
		@actions = grep { $_ ne 'error' } @actions if $point eq 'settle-abort';
		@actions = ($critical{$point} ? $actions[ $serial % 2 ? 2 : 1 ] : @actions > 2 && $serial % 4 ? $actions[ $serial % 2 ] : $actions[-1]) unless $ENV{INJECTION_FULL};
		for my $action (@actions)
		{
			my $what = "$name, $action at $point";
			my $offset = -s $node->logfile;

			$k += 20000;
			$k = 5100 + $serial * 3 if $short;
			for my $s (@sql)
			{
				$node->safe_psql($db, prepared_sql($s, $_)) for $s =~ /%s/ ? qw(h d) : ('');
			}
			my ($rc, $out, $err) = $node->psql($db, "SET pg_doublets.inject = '$point:$action:" . ($times || 1) . "';\n" . prepared_sql($last, 'd'));
			my $committed = $rc == 0 || $point eq 'settle-commit';

			# a cancel that comes within a critical section is obeyed after it, or when the statement is done
			if ($rc == 2 || $err =~ /server closed the connection|terminating connection/)
			{
				$crashes++;
				# the client may know of it before the postmaster does
				my $up = 0;

				for (1 .. 1800)
				{
					$up = slurp_file($node->logfile, $offset) =~ /reinitializing.*ready to accept connections/s;
					last if $up;
					sleep 0.05;
				}
				BAIL_OUT("$what: the server does not come up") unless $up;
			}
			elsif ($rc != 0)
			{
				$errors++;
			}
			my $log = slurp_file($node->logfile, $offset);
			my $fired = $log =~ /injection point "$point": $action/;

			$node->psql($db, prepared_sql($last, 'h')) if $committed;
			my $want = $node->safe_psql($db, sprintf $content, 'h');
			my $got = $node->safe_psql($db, sprintf $content, 'd');
			my $found = $node->safe_psql($db, "SELECT * FROM doublets_check('d') LIMIT 5");
			ok($fired && $want eq $got && $found eq '' && ($rc != 0 || $action eq 'cancel'), "$what: as on heap")
			  or diag("fired: $fired, rc: $rc, $err\nheap: $want\nours: $got\nfaults: $found");
			$node->safe_psql($db, prepared_sql($after, $_)) for $after ? qw(h d) : ();
		}
	}
}
note("$crashes crashes, $errors errors");
cmp_ok($crashes, '>', 5, 'the server crashed now and then');
is($node->safe_psql($db, "SELECT count(*) FROM pg_locks WHERE relation = 'd'::regclass"), '0', 'no lock is left');
is($node->safe_psql($db, 'SELECT count(*) FROM h FULL JOIN d USING (id) WHERE h IS DISTINCT FROM d'), '0', 'row by row');

# Memory that runs out at every allocation in turn, until there are none left to fail.
$node->safe_psql($db, <<'SQL');
CREATE FUNCTION starve(statement text, unload boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  before record;
  now record;
  failed int := 0;
  absorbed int := 0;
BEGIN
  FOR n IN 1 .. 10000 LOOP
    SELECT count(*), sum(hashtext(t::text)::bigint) INTO before FROM o t;
    IF unload THEN PERFORM doublets_plant_fault('o', 'drop', 0); END IF;
    PERFORM set_config('pg_doublets.inject_no_memory', n::text, false);
    BEGIN
      EXECUTE statement;
      IF current_setting('pg_doublets.inject_no_memory') = '0' THEN
        -- the allocation has failed, and something smaller or older did as well
        RAISE SQLSTATE 'AB000';
      END IF;
      PERFORM set_config('pg_doublets.inject_no_memory', '0', false);
      RETURN format('%s failures, %s absorbed', failed, absorbed);
    EXCEPTION WHEN out_of_memory OR SQLSTATE 'AB000' THEN
      IF SQLSTATE = 'AB000' THEN absorbed := absorbed + 1; ELSE failed := failed + 1; END IF;
      PERFORM set_config('pg_doublets.inject_no_memory', '0', false);
      SELECT count(*), sum(hashtext(t::text)::bigint) INTO now FROM o t;
      IF before IS DISTINCT FROM now THEN RETURN format('after failure %s: %s instead of %s', n, now, before); END IF;
      IF (SELECT count(*) FROM doublets_check('o')) > 0 THEN RETURN format('after failure %s: faults', n); END IF;
    END;
  END LOOP;
  RETURN 'endless';
END $$;
SQL
my $starve = sub {
	my ($name, $statement, $setup, $unload, $least) = @_;

	$node->safe_psql($db, 'DROP TABLE IF EXISTS o; CREATE TABLE o (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint) USING doublets; CREATE INDEX ON o (from_id)');
	$node->safe_psql($db, $setup) if $setup;
	my $got = $node->safe_psql($db, "SELECT starve(\$s\$$statement\$s\$, $unload)");
	like($got, qr/^\d+ failures, \d+ absorbed$/, "$name: $got for want of memory, and nothing is changed");
	cmp_ok(($got =~ /^(\d+)/)[0], '>=', $least, "$name: there were allocations to fail");
	check_ok($node, $db, 'o', "$name: trees and pages agree");
};
my $rows = 'INSERT INTO o SELECT i, i * 7919 % 10007, i * 104729 % 1000003, i % 50 FROM generate_series(1, 20000) i';
$starve->('insert', $rows, '', 'false', 10);
$starve->('COPY', "COPY o FROM '$copy'", "COPY (SELECT i, i, i, i FROM generate_series(1, 10000) i) TO '$copy'", 'false', 10);
$starve->('update', 'UPDATE o SET to_id = -to_id, from_id = id * 1000 WHERE id <= 200', $rows, 'true', 10);
$starve->('delete', 'DELETE FROM o WHERE id % 2 = 0', $rows, 'true', 5);
$starve->('load', 'SELECT count(*) FROM o', $rows, 'true', 10);
$starve->('scan by index', 'SET LOCAL enable_seqscan = off; SELECT sum(to_id) FROM o WHERE from_id < 100', $rows, 'true', 10);
$starve->('CREATE INDEX', 'CREATE INDEX o_x ON o (to_id)', $rows, 'true', 10);
$starve->('CREATE INDEX, a real one', 'CREATE INDEX o_x ON o ((to_id + 1))', $rows, 'true', 10);
$starve->('rewrite', 'ALTER TABLE o SET UNLOGGED', $rows, 'false', 10);
$starve->('TRUNCATE', 'TRUNCATE o; INSERT INTO o VALUES (1, 1, 1, 1)', $rows, 'false', 1);
$node->safe_psql($db, "DELETE FROM o; $rows; DELETE FROM o WHERE id % 2 = 0; SELECT doublets_plant_fault('o', 'drop', 0)");
for my $n (1 .. 60)
{
	my ($rc, $out, $err) = $node->psql($db, "SELECT doublets_plant_fault('o', 'drop', 0); SET pg_doublets.inject_no_memory = $n;\nVACUUM o");
	next if $rc;
	cmp_ok($n, '>', 10, "VACUUM: failed $n times");
	last;
}
is($node->safe_psql($db, 'SELECT count(*), count(DISTINCT id) FROM o'), '10000|10000', 'VACUUM without memory has lost nothing');
check_ok($node, $db, 'o', 'VACUUM: trees and pages agree');

# Replay on a standby, at each allocation and with a reader: it goes on.
$node->backup('b');
my $standby = PostgreSQL::Test::Cluster->new('injection_standby', install_path => $ENV{INJECTION_TREE});
$standby->init_from_backup($node, 'b', has_streaming => 1);
$standby->start;
my $standby_failures = 0;
for my $n (1 .. ($ENV{INJECTION_FULL} ? 60 : 8))
{
	my $allocation = $ENV{INJECTION_FULL} ? $n : 3 * $n;

	$standby->safe_psql($db, 'SELECT count(*) FROM o');
	$standby->append_conf('postgresql.conf', "pg_doublets.inject_no_memory = $allocation\n");
	$standby->reload;
	sleep 0.2;
	$node->safe_psql($db, "INSERT INTO o SELECT $n * 100000 + i, i * 7919, i, $n * 1000 + i % 100 FROM generate_series(1, 3000) i; UPDATE o SET to_id = $n WHERE id % 50 = 0");
	$node->wait_for_catchup($standby);
	$standby->append_conf('postgresql.conf', "pg_doublets.inject_no_memory = 0\n");
	$standby->reload;
	$standby_failures++ if $standby->safe_psql($db, "SELECT state FROM doublets_memory WHERE rel = 'o'::regclass") ne 'loaded';
	is($standby->safe_psql($db, sprintf $content, 'o'), $node->safe_psql($db, sprintf $content, 'o'), "replay with allocation $allocation failing: the standby has the rows");
	check_ok($standby, $db, 'o', "replay with allocation $allocation failing: trees and pages agree");
}
cmp_ok($standby_failures, '>', 0, "the standby had to drop the store $standby_failures times");
for my $point (qw(redo-before redo-page redo-done))
{
	# an error in replay ends the standby, and so does a kill; it starts again from there
	for my $action (qw(error kill))
	{
		$standby->append_conf('postgresql.conf', "pg_doublets.inject = '$point:$action:5'\nrestart_after_crash = off\n");
		$standby->reload;
		sleep 0.2;
		$node->safe_psql($db, 'UPDATE o SET to_id = to_id + 1 WHERE id % 100 = 0');
		for (1 .. 600)
		{
			last unless -e $standby->data_dir . '/postmaster.pid';
			sleep 0.1;
		}
		$standby->_update_pid(0);
		$standby->append_conf('postgresql.conf', "pg_doublets.inject = ''\n");
		start_again($standby);
		$node->wait_for_catchup($standby);
		is($standby->safe_psql($db, sprintf $content, 'o'), $node->safe_psql($db, sprintf $content, 'o'), "$action at $point: the standby goes on and has the rows");
	}
}
$standby->stop;

# Nothing has leaked.
$node->safe_psql($db, 'DROP TABLE d, h, o');
ok($node->poll_query_until($db, 'SELECT bytes + leaving_bytes = 0 FROM doublets_memory_totals()'), 'all memory has been given back');
$node->stop;
unlike(slurp_file($_->logfile), qr/TRAP|leaked|refcount leak/i, $_->name . ': nothing broke in the log but what was to') for $node, $standby;
done_testing();
