# Executor.pm: run one schedule against one database and say what happened.
#
# A schedule is { setup => [ SQL ... ], sessions => n, steps => [ [ session, SQL ] ... ], mode, levels }, and if the first {shape} of
# setup only make tables, {empty} empties them.  All that happens is a function of the schedule and of what the server answers,
# never of time:
#
# - One session runs at a time.  Its turn, the steps up to the next of another session, is sent, and the next turn begins when
#   every session is either idle or in a queue of the lock manager (one look at pg_locks, which is consistent, tells).  Sessions
#   in such a queue are stopped (SIGSTOP): they hold no latch there.  When a turn releases what several of them wait for
#   they are let on one after the other, the longest waiting first.
# - A turn of a session that waits is put off until it no longer does.
# - The servers' own deadlock detection is off (deadlock_timeout), since it depends on time.  When sessions wait for each other
#   in a circle the one that came last is cancelled; likewise when all that is left to run is waiting.
package Executor;

use strict;
use warnings;
use Wire;

my $patience = 20;    # seconds for which a session may neither end nor wait for a lock

# dir, port, user: the server; db: the database.
sub new
{
	my ($class, %p) = @_;

	return bless { %p, session => [], order => [] }, $class;
}

sub _open
{
	my ($self, $n) = @_;

	$self->{control} ||= Wire->connect(@$self{qw(dir port db user)}, 'control');
	for my $s (1 .. $n) { $self->{session}[$s] ||= Wire->connect(@$self{qw(dir port db user)}, "s$s") }
}

# Leave no process stopped.
my %stopped;
END { local $?; kill CONT => keys %stopped if %stopped }

sub _stop { my ($w) = @_; kill STOP => $w->pid; $stopped{ $w->pid } = 1 }
sub _go_on { my ($w) = @_; kill CONT => $w->pid; delete $stopped{ $w->pid } }

sub control { my ($self) = @_; $self->_open(0); return $self->{control} }
sub _sessions { return grep { $_ } @{ $_[0]->{session} } }

# Drop all connections and wait until the server takes new ones (after a crash, or when a session hangs).
sub reconnect
{
	my ($self) = @_;

	for my $w ($self->_sessions, grep { $_ } $self->{control})
	{
		unless ($w->lost)
		{
			_go_on($w);
			kill TERM => $w->pid;
		}
		$w->close;
	}
	@$self{qw(control session made)} = (undef, [], undef);
	for (1 .. 600)
	{
		return if eval { $self->_open(0); 1 };
		$self->{control} = undef;
		select undef, undef, undef, 0.1;
	}
	die "the server does not come back\n";
}

# Ask who waits: for each session with something to do [ is it in a queue of the lock manager, whom does it wait for ].
sub _ask
{
	my ($self) = @_;
	my $c = $self->{control};
	my %who = map { ($self->{session}[$_] ? ($self->{session}[$_]->pid => "s$_") : ()) } 1 .. $#{ $self->{session} };
	my $pids = join ',', map { $self->{session}[$_]->pid } @{ $self->{order} };
	my ($answer) = $c->query("SELECT p, p IN (SELECT pid FROM pg_locks WHERE NOT granted), pg_blocking_pids(p) FROM unnest('{$pids}'::int[]) p");
	my %state;

	die "lost\n" if $c->lost;
	$who{0} = 'prepared';
	for my $row (Wire::rows($answer))
	{
		my ($pid, $queued, $blockers) = split /\|/, $row;
		my %names = map { ($who{$_} || 'somebody') => 1 } $blockers =~ /(\d+)/g;

		(my $s = $who{$pid}) =~ s/^s//;
		$state{$s} = [ $queued eq 't', join ' ', sort keys %names ];
	}
	return \%state;
}

# Does the kernel say that a process sleeps?  If it can't tell, perhaps.
sub _sleeps
{
	my ($pid) = @_;

	open my $in, '<', "/proc/$pid/stat" or return 1;
	my $line = <$in>;
	close $in;
	return defined $line && $line =~ /\) ([A-Z])/ ? $1 eq 'S' : 1;
}

# Let session s run until its turn has ended, or it waits for a lock: then returns what _ask() said.
sub _run
{
	my ($self, $s) = @_;
	my $w = $self->{session}[$s];
	my $spent = 0;
	my $pause = 0.002;

	_go_on($w) if delete $self->{stopped}{$s};
	until ($w->wait($pause))
	{
		$spent += $pause;
		$pause = 0.02 if ($pause *= 1.5) > 0.02;
		next unless _sleeps($w->pid) || $spent > 1;
		my $state = $self->_ask;

		if ($state->{$s}[0])
		{
			$w->wait(0) and last;
			_stop($w);
			$self->{stopped}{$s} = 1;
			$self->_take($s);
			return $state;
		}
		if ($spent > $patience)
		{
			my ($answer) = $self->{control}->query('SELECT wait_event_type, wait_event, state FROM pg_stat_activity WHERE pid = ' . $w->pid);

			$self->_note("s$s HANGS (" . join(',', Wire::rows($answer)) . ')');
			die "hang\n";
		}
	}
	$self->_take($s);
	@{ $self->{order} } = grep { $_ != $s } @{ $self->{order} };
	delete $self->{blockers}{$s};
	die "lost\n" if $w->lost;
	return undef;
}

sub _note { my ($self, $line) = @_; push @{ $self->{transcript} }, $line }

# Does the order of its rows count?
sub _ordered { return $_[0] =~ /^SELECT\b.*ORDER BY|^FETCH/is ? 1 : 0 }

# Note the answers that have come.
sub _take
{
	my ($self, $s) = @_;

	for my $answer ($self->{session}[$s]->answers)
	{
		my $sql = shift @{ $self->{sent}{$s} };
		my $result = Wire::text($answer, _ordered(defined $sql ? $sql : ''), $self->{any_notice});

		$self->_note("s$s <- $result");
		push @{ $self->{done} }, [ $s, $sql, $result ];
	}
}

# Let everything run that can, in order of waiting; then note who waits for whom.
sub _settle
{
	my ($self, $state) = @_;

	while (@{ $self->{order} })
	{
		$state ||= $self->_ask;
		my ($s) = grep { !$state->{$_}[0] } @{ $self->{order} };

		last unless defined $s;
		$state = $self->_run($s);
	}
	for my $s (@{ $self->{order} })
	{
		my $line = $state->{$s}[1];

		next if defined $self->{blockers}{$s} && $self->{blockers}{$s} eq $line;
		$self->{blockers}{$s} = $line;
		$self->_note("s$s waits for $line");
	}
}

# The session to cancel because of a circle, if there is one.
sub _circle
{
	my ($self) = @_;

	for my $last (reverse @{ $self->{order} })
	{
		my %seen;
		my @todo = ($last);

		while (defined(my $s = shift @todo))
		{
			for my $b ((defined $self->{blockers}{$s} ? $self->{blockers}{$s} : '') =~ /s(\d+)/g)
			{
				return $last if $b == $last;
				push @todo, $b unless $seen{$b}++;
			}
		}
	}
	return undef;
}

# Cancel what session s waits in; whatever else it has to do in its turn follows.
sub _cancel
{
	my ($self, $s, $why) = @_;
	my $w = $self->{session}[$s];
	my $before = $w->pending;

	$self->_note("s$s is cancelled ($why)");
	kill INT => $w->pid;
	_go_on($w) if delete $self->{stopped}{$s};
	for (1 .. $patience * 1000)
	{
		last if $w->wait(0.001) || $w->pending < $before;
	}
	if ($w->pending == $before) { $self->_note("s$s HANGS when cancelled"); die "hang\n" }
	$self->_settle($self->_run($s));
}

# A turn: steps of session s.
sub _turn
{
	my ($self, $s, @steps) = @_;
	my $w = $self->{session}[$s];

	# what follows in a failed transaction is nothing but failures
	@steps = grep { (($w->status || '') ne 'E' || $_->[2] =~ /^(?:ROLLBACK|COMMIT|PREPARE TRANSACTION)\b/) } @steps;
	return unless @steps;
	$self->_note("#$_->[0] s$s -> $_->[2]") for @steps;
	$self->{sent}{$s} = [ map { $_->[2] } @steps ];
	push @{ $self->{order} }, $s;
	$self->{made} = undef if grep { $_->[2] =~ /^(?:CREATE|ALTER|DROP|CLUSTER|REINDEX TABLE CONCURRENTLY)\b/ } @steps;
	$w->send(@{ $self->{sent}{$s} });
	$self->_settle($self->_run($s));
	while (defined(my $victim = $self->_circle)) { $self->_cancel($victim, 'circle') }
}

# Take the next turn off the list: steps of one session that does not wait.
sub _next
{
	my ($self, $todo) = @_;
	my %waits = map { $_ => 1 } @{ $self->{order} };
	my ($at) = grep { !$waits{ $todo->[$_][1] } } 0 .. $#$todo;
	my @steps;

	return () unless defined $at;
	my $s = $todo->[$at][1];
	while ($at < @$todo && $todo->[$at][1] == $s)
	{
		push @steps, splice @$todo, $at, 1;
		last if $steps[-1][2] =~ /^COPY .*FROM STDIN/;
	}
	return ($s, @steps);
}

# Run it.  Returns the transcript, an array of lines; of each step that was run {done} has [ session, SQL, result ].  A lost
# connection or a hang is in the transcript as BROKEN, and all connections are made anew.
sub run
{
	my ($self, $schedule) = @_;
	my @todo = map { [ $_ + 1, @{ $schedule->{steps}[$_] } ] } 0 .. $#{ $schedule->{steps} };

	@$self{qw(transcript order blockers stopped sent done)} = ([], [], {}, {}, {}, []);
	$self->{any_notice} = $schedule->{mode} eq 'ordered';
	$self->_guard(sub
	{
		$self->_open($schedule->{sessions});
		$self->_setup($schedule);
		while (@todo)
		{
			my @turn = $self->_next(\@todo);

			if (@turn) { $self->_turn(@turn) }
			else { $self->_cancel($self->{order}[-1], 'nobody else is left') }
		}
		$self->_cancel($self->{order}[-1], 'the end') while @{ $self->{order} };
	});
	return @{ $self->{transcript} };
}

# Make the tables; if they are those of the schedule before, and have not been changed, empty them.
sub _setup
{
	my ($self, $schedule) = @_;
	my @setup = @{ $schedule->{setup} };
	my $n = $schedule->{shape} || 0;
	my $shape = join "\n", @setup[ 0 .. $n - 1 ];

	($n, @setup) = (1, $schedule->{empty}, @setup[ $n .. $#setup ]) if $n && defined $self->{made} && $self->{made} eq $shape;
	$self->{made} = undef;
	my (undef, @answers) = $self->{control}->query('RESET ALL', @setup, 'ROLLBACK');

	die "lost\n" if $self->{control}->lost;
	$self->{made} = $shape if $n;
	for my $i (0 .. $#setup)
	{
		my $result = Wire::text(shift @answers);

		next unless $result =~ /^ERROR/m;
		$self->_note("setup: $setup[$i]: $result");
		$self->{made} = undef if $i < $n;
	}
}

sub _guard
{
	my ($self, $what) = @_;
	return 1 if eval { $what->(); 1 };
	my $why = $@;

	die $why unless $why =~ /^(?:hang|lost|cannot connect)/;
	$self->_note("BROKEN: $why");
	$self->{broken} = 1;
	$self->reconnect;
	return 0;
}

# End all transactions, then what each of some queries gives in the first session (which has the temporary tables), then make
# ready for the next schedule.
sub finish
{
	my ($self, $schedule, @sql) = @_;
	my @results;

	$self->_guard(sub
	{
		$self->_open(1);
		my ($first, @rest) = $self->_sessions;
		my @ready = ('DISCARD ALL');

		$_->send($_->status eq 'I' ? () : 'ROLLBACK', @ready) for @rest;
		$_->wait(600), $_->answers for @rest;
		if (grep { $_->[1] =~ /^PREPARE TRANSACTION/ } @{ $schedule->{steps} })
		{
			my ($answer) = $self->control->query('SELECT gid FROM pg_prepared_xacts WHERE database = current_database()');

			$first->query('ROLLBACK') if $first->status ne 'I';
			$self->control->query("ROLLBACK PREPARED '$_'") for Wire::rows($answer);
		}
		my @before = $first->status eq 'I' ? () : 'ROLLBACK';
		my @answers = $first->query(@before, @sql, @ready);

		die "lost\n" if grep { $_->lost } $first, @rest;
		@results = map { Wire::text($_) } @answers[ @before .. @before + $#sql ];
	});
	return map { defined $results[$_] ? $results[$_] : 'BROKEN' } 0 .. $#sql;
}

1;
