# Generator.pm: a random schedule from a seed: tables and their start (Shape.pm), and for each of some sessions a list of
# transactions (Statements.pm), interleaved.
#
# Heap and doublets may meet rows in different orders, and the order in which a statement locks rows decides who waits for whom.
# So each schedule is of one mode, which says how statements that change or lock several rows look (README.md):
#
#   physical   any condition; only sequential scans, and nothing that lets places be used again
#   index      conditions on id; only index scans
#   ordered    any plan; all rows are locked in the order of their ids first
package Generator;

use strict;
use warnings;
use Shape;
use Statements;

sub pick { return $_[ int rand @_ ] }
sub chance { return rand() < $_[0] }
sub between { return $_[0] + int rand($_[1] - $_[0] + 1) }

# Tables are chosen from a seed of their own, so that several schedules can have the same.
sub new
{
	my ($class, $shape_seed, $seed) = @_;

	srand($shape_seed);
	my $self = bless { seed => $seed, mode => pick(qw(physical physical physical index index ordered ordered ordered)), ids => pick(4, 6, 10), ends => pick(3, 6) }, $class;
	$self->{shape} = [ $self->shape ];
	srand($seed);
	my $sessions = $self->{temp} || $self->{key} =~ /DEFERRABLE/ ? 1 : pick(1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4);
	@$self{qw(sessions levels hot)} = ($sessions, pick('rc', 'rc', 'rc', 'rr', 'mixed', 'mixed', 'ser'), pick(1, 2, 2, 3));
	@$self{qw(maintenance cursors two_phase copy gates gids)} = (chance(0.25), chance(0.25), chance(0.12), chance(0.2), $sessions > 1 && chance(0.25), 0);
	# what the rule for serializable schedules (Compare.pm) could not replay
	@$self{qw(maintenance two_phase gates cursors named held)} = (0, 0, 0, 0, -1, 1) if $self->{levels} eq 'ser';
	return $self;
}

sub begin
{
	my ($self) = @_;
	my $level = {
		rc => '', rr => ' ISOLATION LEVEL REPEATABLE READ', ser => ' ISOLATION LEVEL SERIALIZABLE',
		mixed => pick('', ' ISOLATION LEVEL REPEATABLE READ') }->{ $self->{levels} };

	return "BEGIN$level" . ($self->{levels} ne 'rc' && chance(0.02) ? ' READ ONLY' : '');
}

# What a session does at its start.
sub settings
{
	my ($self) = @_;
	my %set;

	if ($self->{mode} eq 'physical') { @set{qw(enable_indexscan enable_bitmapscan enable_indexonlyscan)} = ('off') x 3 }
	elsif ($self->{mode} eq 'index') { @set{qw(enable_seqscan enable_bitmapscan)} = ('off') x 2 }
	else
	{
		for my $what (qw(seqscan indexscan bitmapscan indexonlyscan)) { $set{"enable_$what"} = 'off' if chance(0.25) }
		$set{work_mem} = "'64kB'" if chance(0.1);
	}
	# the order of a join is that of its outer side
	@set{qw(enable_hashjoin enable_mergejoin)} = ('off') x 2 if $self->{mode} ne 'ordered' || chance(0.4);
	$set{plan_cache_mode} = 'force_generic_plan' if chance(0.15);
	# freed places are used again, and rows with the same key are in the order of their places
	$set{'pg_doublets.prune_dead'} = $self->{mode} eq 'physical' ? 0 : pick(1, 1, 2, 8);
	$set{'pg_doublets.prune_dead'} = 0 if $self->{key} eq '' || $self->{key} =~ /DEFERRABLE/;
	@set{qw(force_parallel_mode max_parallel_workers_per_gather parallel_setup_cost min_parallel_table_scan_size)} = qw(on 2 0 0) if chance(0.01);
	$set{default_transaction_isolation} = "'serializable'" if $self->{levels} eq 'ser';
	return map { "SET $_ = $set{$_}" } sort keys %set;
}

# Statements of one transaction, or a few that stand alone.
sub transaction
{
	my ($self) = @_;
	my @out;

	return map { $self->alone } 1 .. between(1, 3) if chance(0.15);
	my @save;
	$self->{cursor} = undef;
	$self->{inside} = 1;
	push @out, $self->begin;
	push @out, $self->contend if chance(0.6);
	for (1 .. between(1, 6))
	{
		if (chance(0.13))
		{
			push @save, 's' . (1 + @save);
			push @out, "SAVEPOINT $save[-1]";
		}
		push @out, $self->inside;
		if (@save && chance(0.25))
		{
			my $to = int rand @save;

			if (chance(0.75)) { push @out, "ROLLBACK TO $save[$to]"; $#save = $to }
			else { push @out, "RELEASE $save[$to]"; $#save = $to - 1 }
		}
	}
	$self->{inside} = 0;
	if ($self->{two_phase} && chance(0.4))
	{
		my $gid = "g$self->{seed}_" . ++$self->{gids};

		push @out, "PREPARE TRANSACTION '$gid'";
		push @{ $self->{prepared} }, $gid;
		return @out;
	}
	push @out, chance(0.8) ? 'COMMIT' : 'ROLLBACK';
	return @out;
}

sub schedule
{
	my ($self) = @_;
	my @setup = (@{ $self->{shape} }, $self->start);
	my $shape = @{ $self->{shape} };
	my (@lists, @steps);

	for my $s (1 .. $self->{sessions})
	{
		my @settings = $self->settings;
		my @list = @settings ? join('; ', @settings) : ();
		my $length = between(4, 12);

		@$self{qw(prepared shut)} = ([], 0);
		$self->{named} = $self->{held} = 0 if $self->{levels} ne 'ser';
		until (@list >= $length)
		{
			push @list, $self->transaction;
			push @list, pick('COMMIT', 'COMMIT', 'ROLLBACK') . " PREPARED '" . shift(@{ $self->{prepared} }) . "'" while @{ $self->{prepared} } && chance(0.6);
		}
		push @{ $self->{left} }, @{ $self->{prepared} };
		push @lists, \@list;
	}
	# somebody else ends what was prepared
	push @{ pick(@lists) }, pick('COMMIT', 'ROLLBACK') . " PREPARED '$_'" for @{ $self->{left} || [] };

	if ($self->{temp})
	{
		# temporary tables are made by the session that uses them
		push @steps, map { [ 1, $_ ] } splice @setup, 1;
		$shape = 0;
	}
	while (my @open = grep { @{ $lists[$_] } } 0 .. $#lists)
	{
		my $s = pick(@open);

		push @steps, [ $s + 1, shift @{ $lists[$s] } ] for 1 .. pick(1, 1, 2, 3);
		@steps = grep { defined $_->[1] } @steps;
	}
	return { setup => \@setup, shape => $shape, empty => $self->empty, sessions => $self->{sessions}, steps => \@steps, levels => $self->{levels}, mode => $self->{mode} };
}

1;
