# Age: freezing of transaction ids and multixacts, what holds it back, and the transaction counter driven once around, with a
# heap twin for comparison.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('age', conf => "fsync = off\nautovacuum = off\nmax_prepared_transactions = 10\nvacuum_freeze_min_age = 0\n");
my $db = database($node, 'a', $am);

sub sql { return $node->safe_psql($db, $_[0]); }
sub age_of { return sql("SELECT age(relfrozenxid) FROM pg_class WHERE relname = '$_[0]'"); }
sub frozen_of { return sql("SELECT relfrozenxid || ' ' || relminmxid FROM pg_class WHERE relname = '$_[0]'"); }
sub mxid_age_of { return sql("SELECT mxid_age(relminmxid) FROM pg_class WHERE relname = '$_[0]'"); }
sub burn { sql("DO \$\$BEGIN FOR i IN 1 .. $_[0] LOOP BEGIN PERFORM pg_current_xact_id(); INSERT INTO burnt VALUES (1); EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END\$\$; TRUNCATE burnt"); return; }

# A session that stays open.
sub session
{
	my ($in, $out, $err) = ('', '', '');
	my $s = { in => \$in, out => \$out };

	$s->{run} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr($db) ], '<', \$in, '>', \$out, '2>', \$err);
	return $s;
}

sub ask
{
	my ($s, $text) = @_;

	${ $s->{in} } .= "$text;\n\\echo done\n";
	${ $s->{out} } = '';
	$s->{run}->pump while ${ $s->{out} } !~ /done\n/;
	${ $s->{out} } =~ s/done\n//;
	return ${ $s->{out} };
}

sub end
{
	my ($s) = @_;

	${ $s->{in} } .= "\\q\n";
	$s->{run}->finish;
	return;
}

my $same = 'SELECT (SELECT count(*) FROM (TABLE links EXCEPT ALL TABLE twin) a), (SELECT count(*) FROM (TABLE twin EXCEPT ALL TABLE links) b), (SELECT count(*) > 0 FROM links)';

sql('CREATE TABLE burnt (i int) USING heap; CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint); CREATE INDEX ON links (from_id); CREATE TABLE twin (LIKE links INCLUDING ALL) USING heap');
sql("INSERT INTO $_ SELECT i, i % 10, 0, 1 FROM generate_series(1, 500) i; UPDATE $_ SET to_id = 1 WHERE id % 3 = 0; DELETE FROM $_ WHERE id % 7 = 0") for qw(links twin);
sql("BEGIN; DELETE FROM $_ WHERE id < 100; INSERT INTO $_ VALUES (-1, 1, 1, 1); ROLLBACK; BEGIN; SAVEPOINT a; UPDATE $_ SET to_id = 9 WHERE id < 50; ROLLBACK TO a; COMMIT") for qw(links twin);

# --- freezing and what holds it back -------------------------------------------------------------

burn(2000);
cmp_ok(age_of('links'), '>', 2000, 'the table grows old');
sql("VACUUM FREEZE $_") for qw(links twin);
cmp_ok(age_of('links'), '<', 20, 'VACUUM FREEZE makes it young');
is(frozen_of('links'), frozen_of('twin'), 'as it makes heap') if age_of('links') == age_of('twin');
is(sql($same), '0|0|t', 'and changes no row');

my $old = session();
ask($old, 'BEGIN ISOLATION LEVEL REPEATABLE READ');
is(ask($old, 'SELECT count(*), sum(to_id) FROM links'), ask($old, 'SELECT count(*), sum(to_id) FROM twin'), 'an old snapshot');
burn(1000);
sql("UPDATE $_ SET to_id = 2 WHERE id % 5 = 0; DELETE FROM $_ WHERE id % 11 = 0; VACUUM FREEZE $_") for qw(links twin);
cmp_ok(age_of('links'), '>', 1000, 'it holds back relfrozenxid');
cmp_ok(abs(age_of('links') - age_of('twin')), '<', 5, 'as on heap');
is(ask($old, 'SELECT count(*), sum(to_id) FROM links'), ask($old, 'SELECT count(*), sum(to_id) FROM twin'), 'and sees what it saw');
ask($old, 'COMMIT');
end($old);
sql("VACUUM FREEZE $_") for qw(links twin);
cmp_ok(age_of('links'), '<', 30, 'once it is gone, it holds back nothing');

sql("BEGIN; UPDATE $_ SET to_id = 3 WHERE id = 6; SELECT * FROM $_ WHERE id = 8 FOR SHARE; PREPARE TRANSACTION 'p_$_'") for qw(links twin);
burn(1000);
sql("VACUUM FREEZE $_") for qw(links twin);
cmp_ok(age_of('links'), '>', 1000, 'a prepared transaction holds back relfrozenxid');
cmp_ok(abs(age_of('links') - age_of('twin')), '<', 5, 'as on heap');
$node->restart;
sql("COMMIT PREPARED 'p_$_'") for qw(links twin);
sql("VACUUM FREEZE $_") for qw(links twin);
cmp_ok(age_of('links'), '<', 30, 'once it is committed, it holds back nothing');
is(sql($same), '0|0|t', 'and its change is there');

# --- multixacts --------------------------------------------------------------------------------------

for my $round (1 .. 8)
{
	my ($a, $b) = (session(), session());

	for my $t (qw(links twin))
	{
		ask($_, "BEGIN; SELECT * FROM $t WHERE id BETWEEN 1 AND 30 FOR KEY SHARE") for $a, $b;
		ask($b, "UPDATE $t SET to_id = $round WHERE id BETWEEN 10 AND 12");
		ask($a, $round % 2 ? 'COMMIT' : 'ROLLBACK');
		ask($b, $round % 3 ? 'COMMIT' : 'ROLLBACK');
	}
	end($_) for $a, $b;
}
cmp_ok(mxid_age_of('links'), '>', 8, 'multixacts have been made');
is(sql($same), '0|0|t', 'rows with multixacts');
my ($a, $b) = (session(), session());
ask($_, 'BEGIN; SELECT * FROM links WHERE id = 15 FOR SHARE; SELECT * FROM twin WHERE id = 15 FOR SHARE') for $a, $b;
burn(10);
sql("VACUUM FREEZE $_") for qw(links twin);
cmp_ok(abs(mxid_age_of('links') - mxid_age_of('twin')), '<', 3, 'lockers that run hold back relminmxid as on heap');
for my $t (qw(links twin))
{
	my ($rc, $out, $err) = $node->psql($db, "SET lock_timeout = '200ms'; UPDATE $t SET to_id = 0 WHERE id = 15");
	like($err, qr/lock timeout/, "$t: and keep their lock");
}
ask($_, 'COMMIT') for $a, $b;
end($_) for $a, $b;
sql("VACUUM FREEZE $_") for qw(links twin);
cmp_ok(mxid_age_of('links'), '<=', 1, 'VACUUM FREEZE forgets them');
is(frozen_of('links') =~ / (\d+)/ && $1, frozen_of('twin') =~ / (\d+)/ && $1, 'relminmxid is heap\'s');
is(sql($same), '0|0|t', 'and changes no row');
check_ok($node, $db, 'links', 'trees and pages agree');

# --- once around ----------------------------------------------------------------------------------------

# The counter of transactions is moved on while the server is down; its commit log has nothing of the time between.
$node->safe_psql('postgres', 'UPDATE pg_database SET datallowconn = true');
my $per_file = 1 << 20;

sub jump_to
{
	my ($xid) = @_;

	$node->stop;
	my $file = sprintf '%s/pg_xact/%04X', $node->data_dir, $xid / $per_file;
	open my $fh, '>>', $file or die "$file: $!";
	binmode $fh;
	truncate $fh, 0;
	print $fh "\0" x (256 * 1024);
	close $fh;
	PostgreSQL::Test::Utils::system_or_bail('pg_resetwal', '-x', $xid, '-D', $node->data_dir);
	$node->start;
	return;
}

my $step = 1_400_000_000;
my $xid = 0;
for my $round (1 .. ($ENV{AGE_STEPS} || 4))
{
	# rows that live through all of it, rows of this age, dead ones, aborted ones, locked ones
	sql("INSERT INTO $_ SELECT $round * 1000 + i, $round, 0, 1 FROM generate_series(1, 100) i;"
		  . "UPDATE $_ SET to_id = to_id + 1 WHERE from_id = $round - 1 AND id % 2 = 0; DELETE FROM $_ WHERE id = $round * 10;") for qw(links twin);
	sql("BEGIN; INSERT INTO $_ SELECT -i, $round, 0, 1 FROM generate_series(1, 50) i; DELETE FROM $_ WHERE id < 60; ROLLBACK; BEGIN; SELECT count(*) FROM (SELECT * FROM $_ FOR KEY SHARE) l; COMMIT") for qw(links twin);
	$xid = ($xid + $step) % (1 << 32);
	$xid -= $xid % $per_file;
	$xid = $per_file if $xid < $per_file;
	jump_to($xid);
	# autovacuum may be there before us
	note("the table's age: " . age_of('links'));
	note("step $round: next transaction id $xid");
	is(sql($same), '0|0|t', "step $round: all rows are seen as on heap");
	is(sql('SET enable_seqscan = off; SELECT count(*) FROM links WHERE from_id >= 0'), sql('SELECT count(*) FROM twin WHERE from_id >= 0'), "step $round: by index too");
	if ($round % 2)
	{
		# autovacuum comes by itself, though it is off, as the table is about to be lost
		$node->append_conf('postgresql.conf', "autovacuum_naptime = 1s\nautovacuum_vacuum_cost_delay = 0\nvacuum_failsafe_age = " . ($round == 3 ? 0 : 1600000000) . "\n");
		$node->reload;
		$node->safe_psql('postgres', 'SELECT pg_sleep(0.1)');
		$node->poll_query_until($db, "SELECT age(relfrozenxid) < 1000000 FROM pg_class WHERE relname = 'links'");
		cmp_ok(age_of('links'), '<', 1_000_000, "step $round: autovacuum has frozen the table");
	}
	else
	{
		sql('VACUUM links');
		cmp_ok(age_of('links'), '<', 1_000_000, "step $round: VACUUM has frozen the table");
	}
	PostgreSQL::Test::Utils::run_log([ 'vacuumdb', '--all', '--freeze', '-h', $node->host, '-p', $node->port ]);
	is(sql($same), '0|0|t', "step $round: and nothing else has changed");
	check_ok($node, $db, 'links', "step $round: trees and pages agree");
	$node->restart('immediate') if $round % 2;
	is(sql($same), '0|0|t', "step $round: also when loaded again");
}
ok(slurp_file($node->logfile) !~ /PANIC|TRAP|from before (?:relfrozenxid|relminmxid|xid cutoff)|could not access status/, 'nothing broke in the log');
$node->stop;
done_testing();
