# A standby on the same machine with wal_consistency_checking = all: every page that redo makes is compared with the
# primary's.  The primary runs the comparison tests meanwhile, and all tables must be the same in the end.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use PostgreSQL::Test::Cluster;
use Test::More;

my $primary = new_server('primary', init => [ allows_streaming => 1 ],
	conf => "fsync = off\nwal_consistency_checking = 'all'\nautovacuum = off\nfull_page_writes = on\nmax_wal_size = 1GB\nwal_keep_size = 8GB\n");

$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "max_standby_streaming_delay = 1s\nhot_standby_feedback = off\n");
$standby->start;

sub caught_up
{
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
}

# Every doublets table and what is in it.
sub contents
{
	my ($node, $db) = @_;
	my $tables = $node->safe_psql($db, "SELECT c.oid::regclass FROM pg_class c JOIN pg_am a ON a.oid = c.relam "
		  . "WHERE a.amname = '$am' AND c.relkind IN ('r', 'm') AND c.relpersistence = 'p' AND c.oid >= 16384 ORDER BY c.oid");
	return join "\n", map { "$_: " . $node->safe_psql($db, "SELECT count(*), md5(string_agg(t::text, ' ' ORDER BY t.*)) FROM $_ t") } split /\n/, $tables;
}

# A long-lived session of the standby.
my $db = database($primary, 'live', $am);
$primary->safe_psql($db, 'CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint); CREATE INDEX ON links (from_id); INSERT INTO links SELECT i, i % 10, 0, 1 FROM generate_series(1, 1000) i');
caught_up();
my $count = 'SET enable_seqscan = off; SELECT count(*), sum(to_id) FROM links WHERE from_id < 5';
is($standby->safe_psql($db, $count), '500|0', 'the standby reads by index');
$primary->safe_psql($db, 'UPDATE links SET to_id = 1');
caught_up();
is($standby->safe_psql($db, $count), '500|500', 'and sees updates, redone into the loaded trees');
check_ok($standby, $db, 'links', 'standby: trees and pages agree after updates');
$primary->safe_psql($db, 'DELETE FROM links WHERE id > 500');
$primary->safe_psql($db, 'VACUUM links');
$primary->safe_psql($db, 'INSERT INTO links SELECT i, 1, 7, 1 FROM generate_series(5001, 5400) i');
caught_up();
is($standby->safe_psql($db, $count), '650|3050', 'and slots that vacuum freed and others took');
check_ok($standby, $db, 'links', 'standby: trees and pages agree after vacuum');
$primary->safe_psql($db, 'VACUUM FREEZE links');
$primary->safe_psql($db, 'BEGIN; TRUNCATE links; INSERT INTO links VALUES (1, 1, 1, 1); COMMIT');
caught_up();
is($standby->safe_psql($db, $count), '1|1', 'and TRUNCATE');
$primary->safe_psql($db, 'INSERT INTO links SELECT i, 1, 1, 1 FROM generate_series(2, 1000) i; DELETE FROM links WHERE id > 10');
$primary->safe_psql($db, 'VACUUM (TRUNCATE) links');
caught_up();
is($standby->safe_psql($db, $count), '10|10', 'and blocks that VACUUM gave back');
$primary->safe_psql($db, 'INSERT INTO links SELECT i, 1, 1, 1 FROM generate_series(2000, 4000) i');
caught_up();
is($standby->safe_psql($db, $count), '2011|2011', 'and their return');
check_ok($standby, $db, 'links', 'standby: trees and pages agree');

# An old snapshot on the standby: the rows it saw, or a conflict; never others.
my ($in, $out, $err) = ('', '', '');
my $session = IPC::Run::start([ 'psql', '-XAtq', '-d', $standby->connstr($db) ], '<', \$in, '>', \$out, '2>', \$err);
my $ask = sub {
	$in .= $_[0] . "\n\\echo done\n";
	$out = '';
	$session->pump while $out !~ /done\n/;
	$out =~ s/done\n//;
	return $out;
};
$ask->('BEGIN ISOLATION LEVEL REPEATABLE READ;');
is($ask->('SELECT count(*), sum(to_id) FROM links;'), "2011|2011\n", 'a snapshot of the standby');
$primary->safe_psql($db, 'UPDATE links SET to_id = 2');
caught_up();
is($ask->('SELECT count(*), sum(to_id) FROM links;'), "2011|2011\n", 'does not see what came later');
$primary->safe_psql($db, 'VACUUM links; ') for 1;
caught_up();
my $again = eval { $ask->('SELECT count(*), sum(to_id) FROM links;') };
ok(!defined $again || $again eq "2011|2011\n" || $again eq '', 'after vacuum: the same or a conflict') or diag("$again $err");
$in .= "\\q\n";
eval { $session->finish };

# The comparison tests, with a standby.
my @dbs = ($db);
for my $file (glob('test/compare/*.sql'), glob('test/hasura/[4-7]*.sql'))
{
	my ($name) = $file =~ m{([^/]+)\.sql$};
	my $own = database($primary, "r_$name", $am);

	if ($file =~ /hasura/)
	{
		run_file($primary, $own, $am, "test/lib/$_", n => 20000) for qw(deep.sql deep_seed.sql deep_triggers.sql);
	}
	run_file($primary, $own, $am, $file);
	push @dbs, $own;
}
# The regression tests too, but for the one that drops the extension.
my $regress = database($primary, 'r_regress', $am);
run_file($primary, $regress, $am, $_) for grep { !/z_drop/ } sort(glob('sql/*.sql'));
push @dbs, $regress;
caught_up();
for my $each (@dbs)
{
	is(contents($standby, $each), contents($primary, $each), "$each: the same on the standby");
	next if $am eq 'heap';
	is( $standby->safe_psql($each, "SELECT c.oid::regclass, f.* FROM pg_class c JOIN pg_am a ON a.oid = c.relam, LATERAL doublets_check(c.oid) f "
			  . "WHERE a.amname = '$am' AND c.relkind IN ('r', 'm') AND c.relpersistence = 'p' LIMIT 5"),
		'', "$each: trees and pages agree on the standby");
}

# A database that changes its tablespace and comes back has the file numbers that it had.
{
	my $moved = database($primary, 'moved', $am);
	$primary->safe_psql('postgres', "SET allow_in_place_tablespaces = on; CREATE TABLESPACE elsewhere LOCATION ''");
	$primary->safe_psql($moved, 'CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint); INSERT INTO links SELECT i, i, i FROM generate_series(1, 1000) i');
	caught_up();
	is($standby->safe_psql($moved, 'SELECT count(*) FROM links'), '1000', 'before the database moves');
	$primary->safe_psql('postgres', 'ALTER DATABASE moved SET TABLESPACE elsewhere');
	$primary->safe_psql($moved, 'DELETE FROM links WHERE id < 10');
	$primary->safe_psql('postgres', 'ALTER DATABASE moved SET TABLESPACE pg_default');
	caught_up();
	for my $node ($primary, $standby)
	{
		is($node->safe_psql($moved, 'SELECT count(*) FROM links'), '991', $node->name . ': after it has come back');
		check_ok($node, $moved, 'links', $node->name . ': trees and pages agree after it has come back');
	}
}

# Promotion.
$standby->promote;
$standby->safe_psql($db, 'INSERT INTO links VALUES (1000000, 1, 1, 1)');
is($standby->safe_psql($db, 'SELECT count(*) FROM links WHERE id IN (1, 1000000)'), '2', 'the standby, promoted, takes writes');
check_ok($standby, $db, 'links', 'promoted: trees and pages agree');
unlike(PostgreSQL::Test::Utils::slurp_file($standby->logfile), qr/inconsistent page|PANIC|FATAL: .*redo/, 'no page differs');
$standby->stop;
$primary->stop;
done_testing();
