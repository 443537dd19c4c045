# Compare.pm: one schedule on two databases; what differs.
package Compare;

use strict;
use warnings;
use Executor;

# Every way to read the table gives the same: says where it does not.  Of each column all rows, by a condition that an index on it
# serves; rows by the pairs that they refer to.
our $functions = <<'SQL';
CREATE FUNCTION disagreements() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  pairs text := '(SELECT string_agg(a::text || b::text, '' '' ORDER BY a::text, b::text) FROM links a, LATERAL (SELECT b FROM links b WHERE b.id = a.to_id UNION ALL SELECT b FROM links b WHERE b.from_id = a.from_id AND b.to_id = a.to_id) x)';
  seq text := 'SELECT ARRAY[';
  whole text := 'SELECT ARRAY[';
  narrow text := 'SELECT ARRAY[';
  all_rows text; seq_whole text[]; seq_narrow text[]; got text[]; what text; comma text := '';
BEGIN
  PERFORM set_config('enable_indexscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('enable_indexonlyscan', 'off', true),
    set_config('enable_seqscan', 'on', true), set_config('max_parallel_workers_per_gather', '0', true);
  EXECUTE 'SELECT string_agg(l::text, '' '' ORDER BY l::text), ARRAY[' || pairs || '] FROM links l' INTO all_rows, seq_whole;
  FOR what IN SELECT attname FROM pg_attribute WHERE attrelid = 'links'::regclass AND attnum > 0 ORDER BY attnum LOOP
    seq := seq || comma || format('string_agg(%1$I::text, '' '' ORDER BY %1$I)', what);
    whole := whole || comma || format('(SELECT string_agg(l::text, '' '' ORDER BY l::text) FROM (SELECT l FROM links l WHERE %1$I >= -9223372036854775808 UNION ALL SELECT l FROM links l WHERE %1$I IS NULL) x)', what);
    narrow := narrow || comma || format('(SELECT string_agg(%1$I::text, '' '' ORDER BY %1$I) FROM links WHERE %1$I >= -9223372036854775808)', what);
    comma := ',';
    seq_whole := all_rows || seq_whole;
  END LOOP;
  whole := whole || ', ' || pairs || ']';
  narrow := narrow || ']';
  EXECUTE seq || '] FROM links' INTO seq_narrow;
  PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'on', true);
  EXECUTE whole INTO got;
  IF got IS DISTINCT FROM seq_whole THEN RETURN NEXT format('index scans: %s', got); END IF;
  PERFORM set_config('enable_indexonlyscan', 'on', true);
  EXECUTE narrow INTO got;
  IF got IS DISTINCT FROM seq_narrow THEN RETURN NEXT format('index only scans: %s', got); END IF;
  PERFORM set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true), set_config('enable_bitmapscan', 'on', true);
  EXECUTE whole INTO got;
  IF got IS DISTINCT FROM seq_whole THEN RETURN NEXT format('bitmap scans: %s', got); END IF;
END $$;
SQL

my $rows = 'SELECT * FROM links';

# heap, other: Executors.  check: SQL that gives no row when all is well in the other.
sub new
{
	my ($class, %p) = @_;

	return bless { %p, excused => 0, excluded => 0 }, $class;
}

sub _side
{
	my ($self, $exec, $schedule, $check) = @_;

	my @lines = $exec->run($schedule);
	my $side = { done => [ @{ $exec->{done} } ] };
	my @looks = ($rows, $check ? @$check : ());
	my @results = $exec->finish($schedule, @looks);
	$side->{rows} = $results[0];
	push @lines, "at the end: $side->{rows}";
	push @{ $side->{bad} }, map { $results[$_] eq 'SELECT 0' ? () : "$looks[$_]: $results[$_]" } 1 .. $#looks;
	$side->{bad} ||= [];
	push @{ $side->{bad} }, grep { /^BROKEN|HANGS/ } @{ $exec->{transcript} };
	$side->{lines} = \@lines;
	return $side;
}

# Undef, or what differs: { text, heap, other }, the last two transcripts.
sub schedule
{
	my ($self, $schedule) = @_;
	my $a = $self->_side($self->{heap}, $schedule);
	my $b = $self->_side($self->{other}, $schedule, $self->{check});
	my @text = @{ $b->{bad} };
	my $n = 0;

	push @text, map { "heap: $_" } @{ $a->{bad} };
	$n++ while $n < @{ $a->{lines} } && $n < @{ $b->{lines} } && $a->{lines}[$n] eq $b->{lines}[$n];
	if ($n < @{ $a->{lines} } || $n < @{ $b->{lines} })
	{
		my @here = map { $n < @{ $_->{lines} } ? $_->{lines}[$n] : '(nothing)' } $a, $b;

		if ($schedule->{levels} eq 'ser' && grep { /ERROR 40001/ } @{ $a->{lines} }, @{ $b->{lines} })
		{
			$self->{excused}++;
			for my $side ($a, $b)
			{
				push @text, ($side == $a ? 'heap' : 'other') . ': no serial order of what was committed gives this' unless $self->_serializable($schedule, $side);
			}
		}
		else { push @text, "heap:  $here[0]", "other: $here[1]" }
	}
	return @text ? { text => join("\n", @text), heap => $a->{lines}, other => $b->{lines} } : undef;
}

# Transactions of a side that were committed, in order of their ends: [ session, what COMMIT gave if it is a block, [ SQL, result ] ... ].  What was
# rolled back to a savepoint is left out.
sub _committed
{
	my ($side) = @_;
	my (@all, %open);

	for my $d (@{ $side->{done} })
	{
		my ($s, $sql, $result) = @$d;
		my $o = $open{$s};

		next if $sql =~ /^SET (?!CONSTRAINTS)/;
		if ($sql =~ /^BEGIN/) { $open{$s} = { list => [], save => [] } unless $result =~ /ERROR/ }
		elsif ($sql =~ /^(?:COMMIT|ROLLBACK)$/)
		{
			push @all, [ $s, $result, @{ $o->{list} } ] if $o && $result =~ /^COMMIT$/m;
			delete $open{$s};
		}
		elsif ($sql =~ /^SAVEPOINT (\w+)/) { push @{ $o->{save} }, [ $1, scalar @{ $o->{list} } ] if $o && $result !~ /ERROR/ }
		elsif ($sql =~ /^ROLLBACK TO (\w+)/)
		{
			next unless $o && $result !~ /ERROR/;
			pop @{ $o->{save} } while $o->{save}[-1][0] ne $1;
			$#{ $o->{list} } = $o->{save}[-1][1] - 1;
		}
		elsif ($sql =~ /^RELEASE (\w+)/)
		{
			next unless $o && $result !~ /ERROR/;
			pop @{ $o->{save} } while $o->{save}[-1][0] ne $1;
			pop @{ $o->{save} };
		}
		elsif ($result =~ /^ERROR/m) { next }
		elsif ($o) { push @{ $o->{list} }, [ $sql, $result ] }
		else { push @all, [ $s, 0, [ $sql, $result ] ] }
	}
	return @all;
}

# Is there an order of the committed transactions that, one after the other on heap, gives what they gave?
sub _serializable
{
	my ($self, $schedule, $side) = @_;
	my @all = _committed($side);
	my ($tries, %bad) = (0);
	my $exec = $self->{heap};
	my $walk;

	$walk = sub
	{
		my (@order) = @_;
		my %used = map { $_ => 1 } @order;

		if (@order == @all)
		{
			$tries++;
			my $failed = $self->_replay($exec, $schedule, $side, map { $all[$_] } @order);

			return 1 unless defined $failed;
			$bad{ join ',', @order[ 0 .. $failed ] } = 1 if $failed < @all;
			return 0;
		}
		my %blocked;
		for my $i (0 .. $#all)
		{
			next if $used{$i} || $blocked{ $all[$i][0] }++;
			my @next = (@order, $i);

			next if $bad{ join ',', @next };
			return 1 if $walk->(@next);
			return 0 if $tries > 300;
			return 0 if grep { $bad{ join ',', @order[ 0 .. $_ ] } } 0 .. $#order;
		}
		return 0;
	};
	my $found = $walk->();
	$self->{undecided}++ if !$found && $tries > 300;
	return $found || $tries > 300;
}

# Undef if all is as it was, or the number of the first transaction that gives something else.
sub _replay
{
	my ($self, $exec, $schedule, $side, @order) = @_;
	my @plan = map
	{
		my ($session, $block, @list) = @{ $order[$_] };
		my $n = $_;

		(($block ? [ $n, 'BEGIN' ] : ()), (map { [ $n, @$_ ] } @list), ($block ? [ $n, 'COMMIT', $block ] : ()));
	} 0 .. $#order;
	# settings that give rows in the order of the mode; all sessions have them then
	my ($settings) = grep { /^SET enable/ } map { $_->[1] =~ s/^SET default_transaction_isolation = 'serializable'; //r } @{ $schedule->{steps} };

	unshift @plan, [ 0, $settings ] if defined $settings && $schedule->{mode} ne 'ordered';
	$exec->run({ %$schedule, sessions => 1, steps => [ map { [ 1, $_->[1] ] } @plan ] });
	my @done = @{ $exec->{done} };
	my ($rows_now) = $exec->finish($schedule, $rows);
	for my $i (0 .. $#plan)
	{
		my ($n, $sql, $result) = @{ $plan[$i] };

		return $n unless $done[$i] && (!defined $result || $done[$i][2] eq $result);
	}
	return $rows_now eq $side->{rows} ? undef : scalar @order;
}

1;
