# Writer.pm: the clients of the torture test.
#
# Every change is made to a doublets table and to its heap twin in one transaction, by the same statements; each statement must give
# the same on both.  Each transaction leaves its number in the table "marks".  What the client knows of it goes to a
# ledger, a file outside the server: I (about to commit), C (acknowledged), R (refused or rolled back), P (prepared),
# D (commit prepared about to be sent), X (rollback prepared about to be sent).
#
# Rows that one client alone changes have ids of its own; ids 1 to HOT exist always and all clients fight for them.
package Writer;

use strict;
use warnings;
use Session;

our $HOT = 20;
our $RANGE = 300;

# Failures that heap has as well when clients meet, that the test brings about itself, or that follow from another.
my %expected = map { $_ => 1 } qw(40P01 55P03 53400 40001 57014 57P01 57P02 57P03 FATAL 25P02);

sub expected { return $expected{ Session::sqlstate($_[0]) }; }

# connstr, number of the client, cycle, seed, ledger (path), stop (path), heap_first, long (bulk rows)
sub new
{
	my ($class, %p) = @_;
	my $self = bless {%p}, $class;

	open $self->{fh}, '>>', $p{ledger} or die "$p{ledger}: $!";
	$self->{base} = 1000 + $p{number} * 1000;
	$self->{serial} = $p{cycle} * 1_000_000 + $p{number} * 20_000;
	srand $p{seed};
	return $self;
}

sub note
{
	my ($self, $what, $text) = @_;

	syswrite $self->{fh}, "$what $self->{serial}" . (defined $text ? " $text" : '') . "\n";
	return;
}

sub fault
{
	my ($self, $text) = @_;

	$text =~ s/\s+/ /g;
	return $self->note('F', $text);
}

sub pick { return $_[ int rand @_ ]; }
sub own { my ($self) = @_; return $self->{base} + int rand $RANGE; }
sub some { return int rand 50; }
sub hot { return 1 + int rand $HOT; }

# A statement for %T (the links table) and %C (the table that references it).
sub statement
{
	my ($self) = @_;
	my ($id, $n, $base, $end) = ($self->own, $self->{serial}, $self->{base}, $self->{base} + $RANGE);
	my $to = $id + int rand 20;
	my $own = "id >= $base AND id < $end";
	my $v = sub { return rand() < 0.05 ? 'NULL' : $base + some() };

	return pick(
		sub { "INSERT INTO %T VALUES ($id, " . $v->() . ', ' . $v->() . ', ' . some() . ')' },
		sub { "INSERT INTO %T VALUES ($id, " . $v->() . ", $n, 1) ON CONFLICT (id) DO UPDATE SET to_id = $n, from_id = excluded.from_id RETURNING id, to_id" },
		sub { "INSERT INTO %T SELECT i, $base + i % 7, $n, i % 5 FROM generate_series($id, $to) i WHERE i < $end ON CONFLICT DO NOTHING" },
		sub { "INSERT INTO %T SELECT i, $base + i % 7, $n, i % 5 FROM generate_series($id, $to) i WHERE i < $end ON CONFLICT (id) DO UPDATE SET to_id = excluded.to_id, type_id = 9" },
		sub { 'COPY %T FROM PROGRAM $$printf "' . join('', map { "$_\\\\t$base\\\\t$n\\\\t2\\\\n" } grep { $_ < $end } $id .. $id + 2) . '"$$' },
		sub { "UPDATE %T SET to_id = $n WHERE id = $id RETURNING *" },
		sub { "UPDATE %T SET from_id = " . $v->() . ', to_id = ' . $v->() . ", type_id = type_id + 1 WHERE id = $id" },
		sub { "UPDATE %T SET to_id = to_id + 1 WHERE id BETWEEN $id AND $to AND $own" },
		sub { "UPDATE %T SET type_id = " . some() . " WHERE from_id = $base + " . some() },
		sub { "UPDATE %T SET id = $base + (id - $base + 150) % $RANGE WHERE id = $id" },
		sub { "DELETE FROM %T WHERE id = $id RETURNING id, from_id, to_id, type_id" },
		sub { "DELETE FROM %T WHERE id BETWEEN $id AND $to AND $own" },
		sub { "INSERT INTO %T SELECT id + 7, to_id, from_id, type_id FROM %T WHERE id BETWEEN $id AND $to AND id + 7 < $end ON CONFLICT DO NOTHING" },
		sub { 'UPDATE %T SET to_id = to_id + 1 WHERE id = ' . hot() },
		sub { 'UPDATE %T SET to_id = to_id + 1, type_id = 77 WHERE id IN (' . join(', ', sort { $a <=> $b } hot(), hot()) . ')' },
		sub { 'SELECT id FROM %T WHERE id = ' . hot() . ' FOR ' . pick('UPDATE', 'NO KEY UPDATE', 'SHARE', 'KEY SHARE') },
		sub { "INSERT INTO %C VALUES ($n, " . hot() . ')' },
		sub { "INSERT INTO %C SELECT $n, max(id) FROM %T WHERE id BETWEEN $id AND $to AND $own" },
		sub { "DELETE FROM %C WHERE n IN (SELECT n FROM %C WHERE n BETWEEN $n - 50 AND $n ORDER BY n LIMIT 3)" },
		sub {
			"DO \$\$BEGIN FOR i IN $id .. LEAST($id + 9, $end - 1) LOOP BEGIN"
			  . " INSERT INTO %T VALUES (i, $base, $n, 3); IF i % 3 = 0 THEN RAISE division_by_zero; END IF;"
			  . " EXCEPTION WHEN division_by_zero OR unique_violation THEN UPDATE %T SET to_id = -i WHERE id = i; END; END LOOP; END\$\$"
		},
		sub { "SELECT * FROM %T WHERE from_id = $base + " . some() . " AND $own ORDER BY id" },
		sub { "SELECT count(*), sum(to_id) FROM %T WHERE from_id BETWEEN $base AND $base + 20" },
		sub { "SELECT id FROM %T WHERE to_id = $base + " . some() . ' AND from_id = ' . "$base + " . some() . ' ORDER BY id' },
		sub { "SELECT count(*), min(id), max(id) FROM %T WHERE $own AND type_id = " . some() },
		$self->{long} ? (sub {
			my $far = $base * 1000;
			rand() < 0.5 ? "INSERT INTO %T SELECT i, $base, i, 4 FROM generate_series($far, $far + 2000) i ON CONFLICT DO NOTHING"
			  : "DELETE FROM %T WHERE id >= $far AND id < $far + 5000 AND from_id = $base"
		}) : (),
	)->();
}

# Run a statement on both tables; false if the connection is gone.
sub both
{
	my ($self, $s, $sql) = @_;
	my %got;

	for my $suffix ($self->{heap_first} ? ('_h', '') : ('', '_h'))
	{
		my $text = $sql;

		$text =~ s/%T/links$suffix/g;
		$text =~ s/%C/child$suffix/g;
		$got{$suffix} = $s->run($text);
		return 0 unless defined $got{$suffix};
	}
	my $wrong = $got{''} ne $got{'_h'} && !expected($got{''}) && !expected($got{'_h'});

	# an internal error never is as it should be
	$wrong = 1 if $got{''} =~ /ERROR:\s+XX/;
	# ours came first and failed: heap can't tell any more
	$wrong = 1 if !$self->{heap_first} && $got{''} =~ /ERROR/ && $got{''} !~ /ERROR:\s+(?:23505|23503)/ && !expected($got{''});
	return 1 unless $wrong;
	$self->fault("$sql: doublets: $got{''}; heap: $got{'_h'}");
	return 1;
}

# What a COMMIT or the like has given, into the ledger.  0: the connection is gone; 1: done; 2: refused.
sub settle
{
	my ($self, $s, $sql, $want, $note) = @_;
	my $text = $s->run($sql);

	return 0 unless defined $text;
	if ($text =~ /^\Q$want\E$/m)
	{
		$self->note($note);
		return 1;
	}
	my $state = Session::sqlstate($text);

	# COMMIT of what has failed answers ROLLBACK; what was prepared stays so
	$self->note('R') if ($text =~ /^ROLLBACK$/m || $state =~ /\d/) && $want !~ / PREPARED/;
	$self->fault("$sql: $text") if $text !~ /^ROLLBACK$/m && !$expected{$state};
	return 2;
}

sub close_savepoint
{
	my ($self, $s) = @_;
	my $end = $s->run(rand() < 0.3 ? 'ROLLBACK TO a' : 'RELEASE a');

	return 0 unless defined $end;
	# after an error only rolling back helps
	return defined $s->run('ROLLBACK TO a') if Session::sqlstate($end);
	return 1;
}

sub transaction
{
	my ($self, $s) = @_;
	my $kind = pick(('commit') x 12, 'rollback', ('prepare') x 2, ('lazy') x 3);

	$self->{serial}++;
	return 0 unless defined $s->run('BEGIN');
	$s->run('SET LOCAL synchronous_commit = off') if $kind eq 'lazy';
	$s->run("INSERT INTO marks VALUES ($self->{serial})");
	for (1 .. 1 + int rand 4)
	{
		my $nested = rand() < 0.8;

		$s->run('SAVEPOINT a') if $nested;
		for (1 .. 1 + int rand 2)
		{
			return 0 unless $self->both($s, $self->statement);
		}
		return 0 if $nested && !$self->close_savepoint($s);
	}
	if ($kind eq 'rollback')
	{
		$self->note('R');
		return defined $s->run('ROLLBACK');
	}
	if ($kind eq 'prepare')
	{
		$self->note('I');
		my $done = $self->settle($s, "PREPARE TRANSACTION 't$self->{serial}'", 'PREPARE TRANSACTION', 'P');
		return $done unless $done == 1;
		select undef, undef, undef, rand() * 0.2;
		if (rand() < 0.7)
		{
			$self->note('D');
			return $self->settle($s, "COMMIT PREPARED 't$self->{serial}'", 'COMMIT PREPARED', 'C');
		}
		$self->note('X');
		return $self->settle($s, "ROLLBACK PREPARED 't$self->{serial}'", 'ROLLBACK PREPARED', 'R');
	}
	$self->note('I');
	return $self->settle($s, 'COMMIT', 'COMMIT', $kind eq 'lazy' ? 'L' : 'C');
}

# Write until told to stop or the server is gone.
sub work
{
	my ($self) = @_;
	my $s = Session->new($self->{connstr}, "SET lock_timeout = '2s'", "SET deadlock_timeout = '50ms'");

	until (-e $self->{stop})
	{
		# ids are given by their place in the ledger: another cycle begins before they run out
		last if $self->{serial} % 20_000 > 19_000;
		last unless $self->transaction($s);
	}
	$s->quit;
	return;
}

1;
