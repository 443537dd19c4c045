# Torn pages: of a write of a link page only one half has reached the disk when the power fails.  With full_page_writes recovery
# puts the page right; without, checksums tell (which shows that the pages were torn indeed).
use strict;
use warnings;
use lib 'test/lib';
use Doublets;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $sum = 'SELECT count(*), sum(hashtextextended(t::text, 0)) FROM links t';

sub read_pages
{
	my ($path) = @_;
	my $data = slurp_file($path);

	return map { substr $data, $_ * 8192, 8192 } 0 .. length($data) / 8192 - 1;
}

sub write_pages
{
	my ($path, @pages) = @_;

	open my $fh, '+<', $path or die "$path: $!";
	binmode $fh;
	print $fh @pages;
	close $fh;
	return;
}

# Make a server with a table that was changed since the last checkpoint; then crash it with torn pages.  how: which part is old.
sub torn
{
	my ($node, $how, $round) = @_;

	$node->safe_psql('postgres', 'DROP TABLE IF EXISTS links; CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint)'
		  . " USING $am; CREATE INDEX ON links (from_id); "
		  # of the last third of the pages the images are PostgreSQL's own, as the values make them long (durable/image.c)
		  . 'INSERT INTO links SELECT i, i % 50, w * (i > 3400)::int, w * (i > 3400)::int # 1 FROM (SELECT i, hashint8extended(i, 0) w FROM generate_series(1, 5000) i) x;'
		  . " DELETE FROM links WHERE id % 10 = 0");
	$node->safe_psql('postgres', 'VACUUM links');
	my $path = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('links')");
	$node->safe_psql('postgres', 'CHECKPOINT');
	my @old = read_pages($path);
	# all kinds of changes: in place, new versions, freed slots, frozen ones, rolled back ones
	$node->safe_psql('postgres', "UPDATE links SET to_id = $round WHERE id % 3 = 0; DELETE FROM links WHERE id % 7 = 0; INSERT INTO links SELECT i, 1, 1, 1 FROM generate_series(6000, 8000) i;"
		  . 'BEGIN; DELETE FROM links; ROLLBACK; BEGIN; SELECT count(*) FROM (SELECT * FROM links FOR SHARE) l; COMMIT');
	$node->safe_psql('postgres', 'VACUUM (FREEZE) links');
	$node->safe_psql('postgres', 'INSERT INTO links SELECT i, 2, 2, 2 FROM generate_series(9000, 9400) i');
	my $want = $node->safe_psql('postgres', $sum);
	# let the buffers be taken for something else, so that the pages are written out without a checkpoint
	$node->safe_psql('postgres', 'CREATE TABLE IF NOT EXISTS filler AS SELECT i, repeat(\'x\', 500) FROM generate_series(1, 20000) i; SELECT count(*), max(repeat) FROM filler; VACUUM filler; UPDATE filler SET i = 1');
	$node->stop('immediate');
	my @new = read_pages($path);
	my $torn = 0;

	for my $i (0 .. $#new)
	{
		my ($a, $b) = ($old[$i] // "\0" x 8192, $new[$i]);

		next if $a eq $b && $how ne 'garbage';
		next if $i == 0;    # the metapage has not changed since the checkpoint
		$torn++;
		$new[$i] = substr($b, 0, 4096) . substr($a, 4096) if $how eq 'second half old';
		$new[$i] = substr($a, 0, 4096) . substr($b, 4096) if $how eq 'first half old';
		# by sectors
		$new[$i] = join '', map { substr $_ % 2 ? $a : $b, $_ * 512, 512 } 0 .. 15 if $how eq 'sectors';
		$new[$i] = substr($b, 0, 4096) . "\xAA" x 4096 if $how eq 'garbage';
	}
	write_pages($path, @new);
	return ($want, $torn, $path);
}

my $node = PostgreSQL::Test::Cluster->new('torn');
$node->init(extra => ['--data-checksums']);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_doublets'\n") unless $am eq 'heap';
$node->append_conf('postgresql.conf', "shared_buffers = 1MB\nautovacuum = off\nmax_wal_size = 1GB\ncheckpoint_timeout = 1h\nbgwriter_delay = 10ms\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION pg_doublets') unless $am eq 'heap';

my $round = 0;
for my $how ('second half old', 'first half old', 'sectors', 'garbage')
{
	my ($want, $torn) = torn($node, $how, ++$round);

	cmp_ok($torn, '>', 30, "$how: $torn pages are torn");
	start_again($node);
	is($node->safe_psql('postgres', $sum), $want, "$how: the rows are there");
	is($node->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM links WHERE from_id >= 0'), $node->safe_psql('postgres', 'SELECT count(*) FROM links'), "$how: by index too");
	check_ok($node, 'postgres', 'links', "$how: trees and pages agree");
	$node->stop;
	command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ], "$how: checksums are right");
	$node->start;
}

# Without full-page writes the same damage is there, and is noticed.
$node->append_conf('postgresql.conf', "full_page_writes = off\nrestart_after_crash = off\n");
$node->restart;
my ($want, $torn) = torn($node, 'second half old', 99);
my $rc = $node->start(fail_ok => 1);
my ($psql, $out, $err) = $rc ? $node->psql('postgres', $sum) : (1, '', slurp_file($node->logfile));
isnt($psql, 0, 'without full_page_writes: not read as if nothing were');
like(slurp_file($node->logfile), qr/page verification failed, calculated checksum|invalid page in block/, 'without full_page_writes: the damage is noticed');
$node->stop('immediate') if $rc;
done_testing();
