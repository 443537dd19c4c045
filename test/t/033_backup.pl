# Base backups taken under load, recovery to a named point, and pg_rewind of a primary that went its own way.
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $node = new_server('first', init => [ allows_streaming => 1, has_archiving => 1 ],
	conf => "fsync = off\nautovacuum_naptime = 1s\nwal_keep_size = 256MB\nmax_wal_size = 64MB\nmax_connections = 30\nshared_buffers = 4MB\nwal_consistency_checking = pg_doublets\n");
my $db = database($node, 'b', $am);
my $dir = PostgreSQL::Test::Utils::tempdir();

sub sum_of { return "SELECT count(*), sum(hashtextextended(t::text, 0)) FROM $_[0] t"; }

$node->safe_psql($db, 'CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint); CREATE INDEX ON links (from_id); CREATE INDEX ON links (to_id, from_id);'
	  . 'INSERT INTO links SELECT i, i % 100, 0, 1 FROM generate_series(1, 30000) i;'
	  . 'CREATE TABLE twin (LIKE links INCLUDING ALL) USING heap; INSERT INTO twin TABLE links;'
	  . 'CREATE TABLE t2 (id bigint PRIMARY KEY, a bigint, b bigint); INSERT INTO t2 SELECT i, i, i FROM generate_series(1, 1000) i');
append_to_file("$dir/write.sql", <<'SQL');
\set k random(1, 30000)
\set v random(1, 100000)
BEGIN;
SELECT pg_advisory_xact_lock(:k);
UPDATE links SET to_id = :v WHERE id = :k;
UPDATE twin SET to_id = :v WHERE id = :k;
DELETE FROM links WHERE id = :k + 1000000;
DELETE FROM twin WHERE id = :k + 1000000;
INSERT INTO links VALUES (:k + 1000000, :v % 50, :v, 3);
INSERT INTO twin VALUES (:k + 1000000, :v % 50, :v, 3);
COMMIT;
SQL
my $same = 'SELECT (SELECT count(*) FROM (TABLE links EXCEPT ALL TABLE twin) a), (SELECT count(*) FROM (TABLE twin EXCEPT ALL TABLE links) b)';

sub load
{
	my ($on) = @_;
	my ($out, $err) = ('', '');

	return IPC::Run::start([ 'pgbench', '-n', '-c', 4, '-T', 600, '-f', "$dir/write.sql", $on->connstr($db) ], '<', \'', '>', \$out, '2>', \$err);
}

sub good
{
	my ($on, $name) = @_;

	is($on->safe_psql($db, $same), '0|0', "$name: as the heap twin");
	check_ok($on, $db, $_, "$name: $_: trees and pages agree") for qw(links t2);
	return;
}

# --- backups under load; recovery to a named point --------------------------------------------

my $load = load($node);
sleep 1;
$node->backup('under_load');
command_ok([ 'pg_verifybackup', $node->backup_dir . '/under_load' ], 'pg_verifybackup');
sleep 1;
$node->safe_psql($db, 'TRUNCATE t2; INSERT INTO t2 SELECT i, 7, 7 FROM generate_series(1, 500) i');
$load->kill_kill;
eval { $load->finish };
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'pgbench'");
my %at = map { $_ => $node->safe_psql($db, sum_of($_)) } qw(links t2);
$node->safe_psql('postgres', "SELECT pg_create_restore_point('here')");
$node->safe_psql($db, 'VACUUM FULL links; DELETE FROM links WHERE id % 2 = 0; TRUNCATE t2; VACUUM (FREEZE) links; INSERT INTO t2 VALUES (1, 1, 1)');
my %later = map { $_ => $node->safe_psql($db, sum_of($_)) } qw(links t2);
my $last = $node->safe_psql('postgres', 'SELECT pg_walfile_name(pg_switch_wal())');
$node->poll_query_until('postgres', "SELECT last_archived_wal >= '$last' FROM pg_stat_archiver") or BAIL_OUT('WAL is not archived');

my $point = PostgreSQL::Test::Cluster->new('point');
$point->init_from_backup($node, 'under_load', has_restoring => 1);
$point->append_conf('postgresql.conf', "recovery_target_name = 'here'\nrecovery_target_action = 'promote'\narchive_mode = off\n");
$point->start;
$point->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()');
is($point->safe_psql($db, sum_of($_)), $at{$_}, "restored to the named point: $_") for qw(links t2);
good($point, 'restored to the named point');
$point->safe_psql($db, 'UPDATE links SET type_id = 9 WHERE id < 100; UPDATE twin SET type_id = 9 WHERE id < 100; VACUUM links');
good($point, 'and written to');
$point->stop;

my $end = PostgreSQL::Test::Cluster->new('end');
$end->init_from_backup($node, 'under_load', has_restoring => 1, standby => 0);
$end->append_conf('postgresql.conf', "archive_mode = off\n");
$end->start;
$end->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()');
is($end->safe_psql($db, sum_of($_)), $later{$_}, "restored to the end of the archive: $_") for qw(links t2);
check_ok($end, $db, $_, "restored to the end: $_: trees and pages agree") for qw(links t2);
$end->stop;

# --- pg_rewind -----------------------------------------------------------------------------------

$node->safe_psql($db, 'TRUNCATE links, twin; INSERT INTO links SELECT i, i % 100, 0, 1 FROM generate_series(1, 30000) i; INSERT INTO twin TABLE links');
$node->backup('for_rewind');
my $second = PostgreSQL::Test::Cluster->new('second');
$second->init_from_backup($node, 'for_rewind', has_streaming => 1);
$second->append_conf('postgresql.conf', "archive_mode = off\n");
$second->start;
$load = load($node);
sleep 1;
$node->wait_for_catchup($second, 'replay', $node->lsn('insert'));
$second->promote;
# both go on by themselves
sleep 1;
$load->kill_kill;
eval { $load->finish };
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'pgbench'");
$node->safe_psql($db, 'DELETE FROM links WHERE id % 3 = 0; VACUUM links; CREATE TABLE lost (id bigint PRIMARY KEY, a bigint, b bigint); INSERT INTO lost VALUES (1, 1, 1)');
$load = load($second);
sleep 1;
$load->kill_kill;
eval { $load->finish };
$second->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'pgbench'");
$second->safe_psql('postgres', 'CHECKPOINT');
# the old primary dies hard: pg_rewind runs its recovery first
$node->stop('immediate');
my $conf = slurp_file($node->data_dir . '/postgresql.conf');
command_ok([ 'pg_rewind', '--source-server', $second->connstr('postgres'), '--target-pgdata', $node->data_dir, '--no-sync', '--config-file', $node->data_dir . '/postgresql.conf' ], 'pg_rewind');
# it has copied the settings of the other
open my $fh, '>', $node->data_dir . '/postgresql.conf' or die $!;
print $fh $conf;
close $fh;
$node->enable_streaming($second);
$node->set_standby_mode;
$node->start;
$second->safe_psql($db, 'UPDATE links SET to_id = to_id + 1 WHERE id < 1000; UPDATE twin SET to_id = to_id + 1 WHERE id < 1000');
$second->wait_for_catchup($node, 'replay', $second->lsn('insert'));
is($node->safe_psql($db, sum_of('links')), $second->safe_psql($db, sum_of('links')), 'rewound: the rows of the new primary');
is($node->safe_psql($db, "SELECT to_regclass('lost') IS NULL"), 't', 'rewound: what only the old one had is gone');
good($_, 'rewound: ' . $_->name) for $node, $second;
$node->promote;
$node->safe_psql($db, 'UPDATE links SET type_id = 9 WHERE id < 100; UPDATE twin SET type_id = 9 WHERE id < 100; VACUUM links');
good($node, 'rewound and promoted');
ok(slurp_file($_->logfile) !~ /PANIC|TRAP|inconsistent page/, $_->name . ': nothing broke in the log') for $node, $second, $point, $end;
$_->stop for $second, $node;
done_testing();
