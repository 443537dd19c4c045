# Crash torture: clients of every kind write, and the server is killed in every way, again and again.  Nothing that was
# acknowledged may be lost, nothing else may appear.
#
#   make torture CYCLES=200 SEED=1
#
# Each table has a heap twin that gets the same statements in the same transactions; after each crash both must hold the
# same, and what the clients have noted in their ledgers outside the server must agree with the marks in it (see Writer.pm).
# CYCLES: how many crashes.  SEED: what happens, as far as the machine lets it repeat.  TORTURE_SECONDS: of writing in a cycle.
use strict;
use warnings;
use lib 'test/lib', 'test/torture';
use Doublets;
use Ddl;
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);
use Writer;

my $cycles = $ENV{CYCLES} || 20;
my $seed = $ENV{SEED} || 1;
my $seconds = $ENV{TORTURE_SECONDS} || 2;
my $clients = $ENV{TORTURE_CLIENTS} || 5;
my $dir = PostgreSQL::Test::Utils::tempdir();
my $db = 'postgres';
my (%state, %kills, $written, $doubts);

srand $seed;
note("CYCLES=$cycles SEED=$seed");

my $node = PostgreSQL::Test::Cluster->new('torture');
$node->init(extra => ['--data-checksums']);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_doublets'\n") unless $am eq 'heap';
$node->append_conf('postgresql.conf', <<'CONF');
max_prepared_transactions = 50
restart_after_crash = on
full_page_writes = on
autovacuum_naptime = 1s
autovacuum_vacuum_scale_factor = 0.02
log_statement = ddl
log_checkpoints = off
include 'cycle.conf'
CONF
configure(0);
$node->start;
setup();

# Settings of a cycle.
sub configure
{
	my ($cycle) = @_;
	my $archival = rand() < 0.6;
	my @lines = (
		'shared_buffers = ' . Writer::pick('1MB', '4MB', '128MB'),
		'max_wal_size = ' . Writer::pick('32MB', '64MB', '256MB'),
		'min_wal_size = 32MB',
		'wal_consistency_checking = ' . Writer::pick("'all'", "''"),
		'wal_compression = ' . Writer::pick('on', 'off'),
		'checkpoint_timeout = ' . Writer::pick('30s', '60s'),
		'wal_level = ' . ($archival ? 'replica' : 'minimal'),
		'wal_skip_threshold = ' . Writer::pick('0', '2MB'),
		'bgwriter_lru_maxpages = ' . Writer::pick(0, 1000),
		'bgwriter_delay = 10ms',
		'commit_delay = ' . Writer::pick(0, 0, 100));
	open my $fh, '>', $node->data_dir . '/cycle.conf' or die $!;
	print $fh map { "$_\n" } @lines;
	close $fh;
	return;
}

sub setup
{
	my $other = PostgreSQL::Test::Utils::tempdir_short();
	my $columns = 'id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint';
	my $sql = $am eq 'heap' ? '' : 'CREATE EXTENSION pg_doublets;';

	$node->safe_psql($db, "CREATE TABLESPACE other LOCATION '$other'");
	$sql .= 'CREATE EXTENSION amcheck; CREATE TABLE marks (n bigint PRIMARY KEY);';
	for my $t (qw(links d1 d2))
	{
		$sql .= "CREATE TABLE $t ($columns) USING $am; CREATE TABLE ${t}_h ($columns) USING heap;";
	}
	for my $t (qw(links links_h))
	{
		my $child = $t eq 'links' ? 'child' : 'child_h';

		$sql .= "CREATE INDEX ON $t (from_id); CREATE INDEX ON $t (to_id); CREATE INDEX ON $t (from_id, to_id); CREATE INDEX ON $t (type_id);"
		  . "INSERT INTO $t SELECT i, 0, 0, 0 FROM generate_series(1, $Writer::HOT) i;"
		  . "CREATE TABLE $child (n bigint, link bigint REFERENCES $t ON DELETE CASCADE ON UPDATE CASCADE) USING heap; CREATE INDEX ON $child (n);";
	}
	$sql .= 'CREATE INDEX real ON links ((to_id - from_id)); ALTER TABLE links SET (autovacuum_vacuum_threshold = 20, autovacuum_vacuum_insert_threshold = 100);';
	$node->safe_psql($db, $sql);
	return;
}

# --- clients ----------------------------------------------------------------------------

# Start a process of ours.  It must not run what this one does at its end.
sub child
{
	my ($code) = @_;
	my $pid = fork;

	die "fork: $!" unless defined $pid;
	return $pid if $pid;
	my $ok = eval { $code->(); 1 };
	print STDERR "client: $@" unless $ok;
	POSIX::_exit($ok ? 0 : 1);
}

sub start_clients
{
	my ($cycle) = @_;
	my %p = (connstr => $node->connstr($db), cycle => $cycle, stop => "$dir/stop", am => $am, heap_first => $cycle % 2);
	my @pids;

	unlink "$dir/stop";
	for my $i (0 .. $clients + 2)
	{
		my $client = sub {
			my ($class) = @_;
			return $class->new(%p, number => $i, seed => $seed * 100_000 + $cycle * 100 + $i, ledger => "$dir/ledger.$cycle.$i", long => $i == 0);
		};

		push @pids, child(sub {
			return $client->('Writer')->work if $i < $clients;
			return $client->('Ddl')->work if $i == $clients;
			return $client->('Ddl')->maintain if $i == $clients + 1;
			return $client->('Ddl')->read;
		});
	}
	return @pids;
}

sub end_clients
{
	my (@pids) = @_;
	my $deadline = time + 60;

	append_to_file("$dir/stop", '');
	for my $pid (@pids)
	{
		until (waitpid($pid, POSIX::WNOHANG()) > 0)
		{
			kill 'KILL', $pid if time > $deadline;
			sleep 0.02;
		}
		ok(0, 'a client ended badly') if $?;
	}
	return;
}

# --- the server's death --------------------------------------------------------------------

sub postmaster_pid
{
	my $file = $node->data_dir . '/postmaster.pid';

	return -e $file && slurp_file($file) =~ /^(\d+)/ ? $1 : 0;
}

# The server's processes whose title matches.
sub processes
{
	my ($title) = @_;
	my $parent = postmaster_pid() or return ();
	my @pids;

	for my $pid (split ' ', eval { slurp_file("/proc/$parent/task/$parent/children") } || '')
	{
		my $cmd = eval { slurp_file("/proc/$pid/cmdline") } || '';

		push @pids, $pid if $cmd =~ $title;
	}
	return @pids;
}

# Wait until none of its processes is left.
sub wait_gone
{
	my (@pids) = @_;

	for (1 .. 3000)
	{
		@pids = grep { $_ && kill 0, $_ } @pids;
		return unless @pids;
		sleep 0.01;
	}
	die "processes of the killed server stay: @pids";
}

sub kill_server
{
	my @pids = (postmaster_pid(), processes(qr/./));

	# backends notice, finish what they are at, and clean up: or they are all gone at once
	$node->kill9;
	sleep rand() if rand() < 0.5;
	kill 'KILL', grep { $_ } @pids;
	wait_gone(@pids);
	return;
}

# Kill some process but the postmaster, which then starts all others anew.
sub kill_child
{
	my ($signal, $title) = @_;
	my @pids = processes($title) or return 0;
	my $before = -s $node->logfile;

	kill $signal, Writer::pick(@pids);
	# until the postmaster has noticed, it looks as if nothing had happened
	for (1 .. 500)
	{
		last if substr(slurp_file($node->logfile), $before) =~ /terminated by signal|exited with exit code/;
		sleep 0.01;
	}
	return 1;
}

# Start the server and kill it in the middle of recovery, now and then; then start it for good.
sub recover
{
	my $tries = Writer::pick(0, 0, 1, 2, 3);

	for (1 .. $tries)
	{
		my $whole = rand() < 0.5;
		my $delay = rand() * 0.3;
		my $pid = child(sub {
			for (1 .. 2000)
			{
				my @startup = processes(qr/startup/);

				if (@startup)
				{
					sleep $delay;
					kill 'KILL', $whole ? postmaster_pid() : @startup;
					return;
				}
				sleep 0.005;
			}
		});

		PostgreSQL::Test::Utils::system_log('pg_ctl', '-w', '-t', 10, '-D', $node->data_dir, '-l', $node->logfile, 'start');
		kill 'KILL', $pid;
		waitpid $pid, 0;
		my @pids = (grep({ $_ } postmaster_pid()), processes(qr/./));
		if (@pids && kill 0, $pids[0])
		{
			# it came up, or is about to fail: kill it there
			kill 'KILL', @pids;
		}
		wait_gone(@pids);
		$kills{recovery}++;
	}
	$node->{_pid} = undef;
	leave_out_orphans();
	return;
}

# Start; where that fails for a fault of PostgreSQL's own, make way.  When an unlogged table goes, its init fork is removed at
# once and its file is emptied, whether or not the WAL that says so is on disk; recovery then makes the init fork anew, finds
# the file, and gives up.  It is so for heap too.
sub leave_out_orphans
{
	for (1 .. 20)
	{
		my $before = -s $node->logfile;

		return if $node->start(fail_ok => 1);
		my ($file) = substr(slurp_file($node->logfile), $before) =~ /FATAL:  could not create file "([^"]+)": File exists/
		  or BAIL_OUT('the server does not start');
		my $path = $node->data_dir . "/$file";

		BAIL_OUT("$path is not empty") if -s $path || !-e "${path}_init";
		unlink $path;
		$kills{'(orphans of core)'}++;
	}
	BAIL_OUT('the server does not start');
}

# Wait until it has recovered by itself.  psql may be gone before it is told what to ask.
sub wait_up
{
	for (1 .. 600)
	{
		my ($out, $err) = ('', '');

		return if eval { IPC::Run::run([ 'psql', '-XAtq', '-d', $node->connstr($db), '-c', 'SELECT pg_is_in_recovery()' ], '<', \'', '>', \$out, '2>', \$err); } && $out eq "f\n";
		sleep 0.1;
	}
	BAIL_OUT('the server does not come back');
}

sub die_somehow
{
	my ($cycle) = @_;
	my $how = Writer::pick(qw(server server server backend backend segv checkpointer walwriter background immediate immediate autovacuum fast));

	sleep $seconds * (0.3 + rand() * 1.4);
	if ($how eq 'server') { kill_server(); }
	elsif ($how eq 'immediate') { $node->stop('immediate'); }
	elsif ($how eq 'fast') { $node->stop('fast'); }
	else
	{
		my %what = (
			backend => [ 'KILL', qr/ \[local\]/ ],
			segv => [ 'SEGV', qr/ \[local\]/ ],
			checkpointer => [ 'KILL', qr/checkpointer/ ],
			walwriter => [ 'KILL', qr/walwriter/ ],
			background => [ 'KILL', qr/background writer/ ],
			autovacuum => [ 'KILL', qr/autovacuum worker/ ]);
		# there may be no autovacuum worker just now
		for (1 .. 300)
		{
			last if kill_child(@{ $what{$how} });
			sleep 0.01;
			if ($_ == 300) { $how = 'server'; kill_server(); }
		}
		if ($how ne 'server')
		{
			# it comes up by itself; half of the time it is killed meanwhile
			if (rand() < 0.5) { sleep rand() * 0.5; $how .= ', then server'; kill_server(); }
			else
			{
				wait_up();
			}
		}
	}
	$kills{$how}++;
	return $how;
}

# --- what is left ---------------------------------------------------------------------------

# What the ledgers say of the transactions of a cycle: the last word on each; faults are reported.
sub ledger
{
	my ($cycle) = @_;
	my %last;

	for my $file (glob "$dir/ledger.$cycle.*")
	{
		for my $line (split /\n/, slurp_file($file))
		{
			my ($what, $n, $text) = $line =~ /^(\w) (\d+)(?: (.*))?$/ or next;

			if ($what eq 'F') { fail("cycle $cycle: $text"); }
			else { $last{$n} = $what; }
		}
		unlink $file;
	}
	return \%last;
}

# End what is prepared; then compare ledger and marks.  Returns what is wrong.
sub compare_ledger
{
	my ($cycle) = @_;
	my $ledger = ledger($cycle);
	my %prepared = map { /^t(\d+)$/ ? ($1 => 1) : () } split /\n/, $node->safe_psql($db, 'SELECT gid FROM pg_prepared_xacts');
	my %marks = map { $_ => 1 } split /\n/, $node->safe_psql($db, 'SELECT n FROM marks WHERE n >= ' . $cycle * 1_000_000);
	my @wrong;

	for my $n (sort { $a <=> $b } keys %$ledger)
	{
		my ($what, $there) = ($ledger->{$n}, $marks{$n});

		$written++ if $there;
		$doubts++ if $what =~ /[ILDX]/;
		push @wrong, "$n was acknowledged and is lost" if $what eq 'C' && !$there;
		push @wrong, "$n was rolled back and is there" if $what eq 'R' && ($there || $prepared{$n});
		push @wrong, "$n was prepared and is " . ($there ? 'committed' : 'lost') if $what eq 'P' && !$prepared{$n};
		push @wrong, "$n was committed in two steps and is lost" if $what eq 'D' && !$there && !$prepared{$n};
		push @wrong, "$n was to be rolled back and is there" if $what eq 'X' && $there;
	}
	push @wrong, map { "nobody wrote $_" } grep { !$ledger->{$_} } (keys %marks, keys %prepared);
	for my $n (keys %prepared)
	{
		$node->safe_psql($db, Writer::pick('COMMIT', 'ROLLBACK') . " PREPARED 't$n'");
	}
	return @wrong;
}

# Tables that differ from their twins, trees that differ from pages, indexes from scans.
sub compare_tables
{
	my @wrong;
	my @pairs = split /\n/, $node->safe_psql($db, "SELECT left(relname, -2) FROM pg_class WHERE relkind = 'r' AND relname ~ '_h\$' ORDER BY 1");

	for my $t (@pairs)
	{
		my $diff = $node->safe_psql($db, "(SELECT 'extra', * FROM (TABLE $t EXCEPT ALL TABLE ${t}_h) a LIMIT 5) UNION ALL (SELECT 'lost', * FROM (TABLE ${t}_h EXCEPT ALL TABLE $t) b LIMIT 5)");

		push @wrong, "$t: $diff" if $diff ne '';
	}
	if ($am ne 'heap')
	{
		my $faults = $node->safe_psql($db, "SELECT c.oid::regclass, f.* FROM pg_class c JOIN pg_am a ON a.oid = c.relam, LATERAL doublets_check(c.oid) f WHERE a.amname = 'doublets' LIMIT 5");

		push @wrong, "doublets_check: $faults" if $faults ne '';
	}
	my $by = 'SELECT %s, count(*), sum(id) FROM links WHERE %s >= -5 GROUP BY 1 ORDER BY 1';
	for my $col (qw(id from_id to_id type_id), '(to_id - from_id)')
	{
		my $sql = sprintf $by, $col, $col;
		my ($index, $seq) = map { $node->safe_psql($db, "$_ $sql") } 'SET enable_seqscan = off;', 'SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;';

		push @wrong, "links by $col: index and sequential scan differ" if $index ne $seq;
	}
	return @wrong;
}

sub tools
{
	my ($cycle) = @_;
	my @wrong;
	my ($out, $err) = ('', '');

	IPC::Run::run([ 'pg_amcheck', '--heapallindexed', '-h', $node->host, '-p', $node->port, '-d', $db ], '>', \$out, '2>', \$err)
	  or push @wrong, "pg_amcheck: $out $err";
	$node->stop('fast');
	IPC::Run::run([ 'pg_checksums', '--check', '-D', $node->data_dir ], '>', \$out, '2>', \$err)
	  or push @wrong, "pg_checksums: $out $err";
	configure($cycle);
	$node->start;
	return @wrong;
}

for my $cycle (1 .. $cycles)
{
	my @pids = start_clients($cycle);
	my $how = die_somehow($cycle);

	end_clients(@pids);
	recover() unless $node->{_pid} && postmaster_pid();
	my @wrong = (compare_ledger($cycle), compare_tables());
	push @wrong, tools($cycle) if $cycle % 2 == 0 || $cycle == $cycles;
	is(join("\n", @wrong), '', "cycle $cycle: $how");
	if (@wrong)
	{
		diag("kept: " . $node->data_dir);
		last unless $ENV{TORTURE_GO_ON};
	}
}
# A backend whose commit drops files when the postmaster has just died exits on the way, in RegisterSyncRequest() of PostgreSQL, and that is a PANIC, on heap
# too; nothing depends on it, as everybody else exits as well.
my @broke = grep { !/PANIC:  cannot abort transaction \d+, it was already committed/ } grep { /TRAP:|inconsistent page|invalid (?:memory alloc|page)|could not read block|PANIC/ } split /\n/, slurp_file($node->logfile);
is(join("\n", splice(@broke, 0, 20)), '', 'nothing broke in the log');
note("seen committed: $written, in doubt: $doubts; killed: " . join ', ', map { "$_ $kills{$_}" } sort keys %kills);
$node->stop;
done_testing();
