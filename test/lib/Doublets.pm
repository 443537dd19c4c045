# Doublets.pm: what the TAP tests share: servers with the library preloaded, and running a file of SQL on heap and on
# doublets and comparing what comes out.
#
# TEST_AM names another access method than doublets to compare with heap; heap itself shows that a test is sound.
package Doublets;

use strict;
use warnings;
use Exporter 'import';
use IPC::Run ();
use JSON::PP ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw($am new_server run_file compare_file database deep_database check_ok wait_for start_again);
our $am = $ENV{TEST_AM} || 'doublets';

# A server, started, with pg_doublets in template1 (and so in every database made later).
sub new_server
{
	my ($name, %p) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(@{ $p{init} || [] });
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_doublets'\n") unless $am eq 'heap';
	$node->append_conf('postgresql.conf', "max_prepared_transactions = 10\n");
	# plans that are forced have costs beyond all bounds, so each would be compiled
	$node->append_conf('postgresql.conf', "jit = off\n");
	$node->append_conf('postgresql.conf', $p{conf}) if $p{conf};
	$node->start;
	unless ($am eq 'heap')
	{
		$node->safe_psql($_, 'CREATE EXTENSION pg_doublets') for qw(template1 postgres);
	}
	return $node;
}

# A database in which tables are made with an access method.
sub database
{
	my ($node, $name, $method, $template) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $name" . ($template ? " TEMPLATE $template" : ''));
	$node->safe_psql('postgres', "ALTER DATABASE $name SET default_table_access_method = '$method'");
	return $name;
}

# The same with Deep's schema and n links in it.
sub deep_database
{
	my ($node, $name, $method, $n, $triggers) = @_;

	database($node, $name, $method);
	for my $file (qw(deep.sql deep_seed.sql), $triggers ? 'deep_triggers.sql' : ())
	{
		my ($out, $ok) = run_file($node, $name, $method, "test/lib/$file", n => $n);

		BAIL_OUT("$file on $method: $out") unless $ok;
	}
	return $name;
}

# Run a file; what psql prints, errors in their place, and whether it ended well.  The last line says that all of the file was run: psql gives up
# in the middle where, for one, COPY FROM STDIN is refused.
sub run_file
{
	my ($node, $db, $method, $file, %vars) = @_;
	my $out = '';
	my @cmd = ('psql', '-X', '-q', '-A', '-t', '-P', 'null=NULL', '-d', $node->connstr($db), '-v', "am=$method", '-f', $file, '-c', '\\echo finished');

	push @cmd, '-v', "$_=$vars{$_}" for sort keys %vars;
	my $ok = IPC::Run::run(\@cmd, '<', \'', '>', \$out, '2>&1');
	return ($out, $ok);
}

# Arrays in no particular order, sorted.
sub sorted
{
	my ($v, $json) = @_;

	return [ sort { $json->encode($a) cmp $json->encode($b) } map { sorted($_, $json) } @$v ] if ref $v eq 'ARRAY';
	return { map { $_ => sorted($v->{$_}, $json) } keys %$v } if ref $v eq 'HASH';
	return $v;
}

# What may differ: the names of access methods, numbers of processes, and the order within JSON arrays where no order was asked
# for ("\echo ordered" says that one is, from there on).
sub normal
{
	my ($out) = @_;
	my $json = JSON::PP->new->canonical->allow_nonref;
	my $ordered = 0;
	my @lines;

	for my $line (split /\n/, $out)
	{
		$ordered = 1 if $line eq 'ordered';
		$ordered = 0 if $line eq 'unordered';
		$line =~ s/\b(?:btree|hash|doublets_tree) \(/index (/g;
		$line =~ s/\b(?:heap|doublets)\b/AM/g;
		$line =~ s/\bPID \d+/PID/g;
		unless ($ordered)
		{
			$line = join '|', map {
				my $cell = $_;
				if ($cell =~ /^[\[{]/)
				{
					my $v = eval { $json->decode($cell) };
					$cell = $json->encode(sorted($v, $json)) if defined $v;
				}
				$cell;
			} split /\|/, $line, -1;
		}
		push @lines, $line;
	}
	return join("\n", @lines) . "\n";
}

# One test: the file gives the same in two databases.
sub compare_file
{
	my ($node, $file, $db_heap, $db_ours, $name, %vars) = @_;
	my ($heap, $heap_ok) = run_file($node, $db_heap, 'heap', $file, %vars);
	my ($ours, $ours_ok) = run_file($node, $db_ours, $am, $file, %vars);
	my ($want, $got) = (normal($heap), normal($ours));
	my $same = ok($got eq $want && $want =~ /.\nfinished\n$/s && !$heap_ok == !$ours_ok, $name);

	unless ($same)
	{
		my $dir = $PostgreSQL::Test::Utils::tmp_check;
		my ($a, $b) = ("$dir/compare.heap", "$dir/compare.$am");
		my $diff = '';

		PostgreSQL::Test::Utils::append_to_file($_->[0], $_->[1]) for map { unlink $_->[0]; $_ } [ $a, $want ], [ $b, $got ];
		IPC::Run::run([ 'diff', '-U1', $a, $b ], '>', \$diff);
		diag(join "\n", grep { defined } (split /\n/, $diff)[ 0 .. 40 ]);
	}
	return $same;
}

# One test: doublets_check() finds nothing in a table.
sub check_ok
{
	my ($node, $db, $table, $name) = @_;

	return pass("$name (heap)") if $am eq 'heap';
	return is($node->safe_psql($db, "SELECT * FROM doublets_check('$table') LIMIT 5"), '', $name);
}

# Start a server that was killed, as soon as its processes are gone.
sub start_again
{
	my ($node) = @_;

	my $file = $node->data_dir . '/postmaster.pid';

	for (1 .. 600)
	{
		my ($pid) = -e $file ? PostgreSQL::Test::Utils::slurp_file($file) =~ /^(\d+)/ : ();

		last unless $pid && kill 0, $pid;
		select undef, undef, undef, 0.1;
	}
	$node->start;
}

# Wait until a query gives 't'.
sub wait_for
{
	my ($node, $query, $db) = @_;

	$node->poll_query_until($db || 'postgres', $query) or die "timed out: $query";
}

1;
