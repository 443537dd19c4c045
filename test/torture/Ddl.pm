# Ddl.pm: the clients of the torture test that change tables as a whole, look after them, and read all of them.
package Ddl;

use strict;
use warnings;
use parent 'Writer';
use Session;

# Statements that change the tables d1 (logged) and d2 (now logged, now not) and their twins, as %T.
sub statement
{
	my ($self) = @_;
	my $n = $self->{serial};

	return Writer::pick(
		"INSERT INTO %T SELECT i, i % 10, $n, 1 FROM generate_series(1, 500) i ON CONFLICT (id) DO UPDATE SET to_id = excluded.to_id",
		"TRUNCATE %T",
		"TRUNCATE %T; INSERT INTO %T SELECT i, 1, $n, 1 FROM generate_series(1, 400) i",
		'DELETE FROM %T WHERE id > 50',
		"UPDATE %T SET to_id = $n WHERE id % 3 = 0",
		'SELECT count(*), sum(to_id), sum(from_id) FROM %T',
		'SELECT id FROM %T WHERE from_id = 1 ORDER BY id',
	);
}

# What is done to the doublets table only, as it changes no row.
sub rewrite
{
	my ($self, $t) = @_;

	return Writer::pick(
		"ALTER TABLE $t SET ACCESS METHOD heap",
		"ALTER TABLE $t SET ACCESS METHOD $self->{am}",
		"ALTER TABLE $t SET TABLESPACE other",
		"ALTER TABLE $t SET TABLESPACE pg_default",
		"CLUSTER $t USING ${t}_pkey",
		"CREATE INDEX ON $t (from_id); CREATE INDEX ON $t ((to_id + 1))",
		"DROP INDEX IF EXISTS ${t}_from_id_idx, ${t}_expr_idx",
		"REINDEX TABLE $t",
		"ALTER TABLE $t DROP CONSTRAINT ${t}_pkey; ALTER TABLE $t ADD PRIMARY KEY (id)",
	);
}

sub both_of
{
	my ($self, $s, $pair, $sql) = @_;
	my %got;

	# heap first: what it takes ours must take
	for my $t ("${pair}_h", $pair)
	{
		(my $text = $sql) =~ s/%T/$t/g;
		$got{$t} = $s->run($text);
		return 0 unless defined $got{$t};
	}
	$self->fault("$pair: $sql: doublets: $got{$pair}; heap: $got{\"${pair}_h\"}")
	  if $got{$pair} ne $got{"${pair}_h"} && !grep { Writer::expected($_) } values %got;
	return 1;
}

# Something that must not fail, or only for what others do.
sub must
{
	my ($self, $s, $sql) = @_;
	my $text = $s->run($sql);

	return 0 unless defined $text;
	$self->fault("$sql: $text") if $text =~ /ERROR/ && !Writer::expected($text);
	return 1;
}

sub transaction
{
	my ($self, $s) = @_;
	my $pair = Writer::pick('d1', 'd1', 'd2');

	$self->{serial}++;
	if (rand() < 0.2)
	{
		# a pair of tables that comes in one transaction and goes in another
		my $n = $self->{serial};
		my $old = $s->run("SELECT coalesce(string_agg(oid::regclass::text, ', '), '') FROM pg_class WHERE relkind = 'r' AND relname ~ '^x[0-9]+' AND relname !~ '^x${n}'");
		return 0 unless defined $old;
		chomp $old;
		$s->run('BEGIN');
		$s->run("INSERT INTO marks VALUES ($n)");
		$s->run("DROP TABLE $old") if $old ne '' && rand() < 0.7;
		$s->run('SAVEPOINT a') if rand() < 0.5;
		$s->run("CREATE TABLE x$n (id bigint PRIMARY KEY, a bigint, b bigint) USING $self->{am}; CREATE INDEX ON x$n (a)");
		$s->run("CREATE TABLE x${n}_h (id bigint PRIMARY KEY, a bigint, b bigint) USING heap");
		$s->run("INSERT INTO $_ SELECT i, i % 7, $n FROM generate_series(1, 1000) i") for "x$n", "x${n}_h";
	}
	else
	{
		return 0 unless defined $s->run('BEGIN');
		$s->run("INSERT INTO marks VALUES ($self->{serial})");
		for (1 .. 1 + int rand 3)
		{
			my $nested = rand() < 0.7;

			$s->run('SAVEPOINT a') if $nested;
			return 0 unless $self->both_of($s, $pair, $self->statement);
			return 0 unless rand() < 0.5 || $self->must($s, $self->rewrite($pair));
			if ($pair eq 'd2' && rand() < 0.3)
			{
				my $how = Writer::pick('LOGGED', 'UNLOGGED');

				$self->must($s, "ALTER TABLE $_ SET $how") for 'd2', 'd2_h';
			}
			$self->close_savepoint($s) if $nested;
		}
	}
	if (rand() < 0.3)
	{
		$self->note('R');
		return defined $s->run('ROLLBACK');
	}
	$self->note('I');
	return $self->settle($s, 'COMMIT', 'COMMIT', 'C');
}

# Vacuum, checkpoints and rewrites that need no transaction.
sub maintain
{
	my ($self) = @_;
	my $s = Session->new($self->{connstr}, "SET lock_timeout = '1s'");

	until (-e $self->{stop})
	{
		my $text = $s->run(Writer::pick(
			'CHECKPOINT', 'CHECKPOINT',
			('VACUUM links', 'VACUUM (FREEZE) links', 'VACUUM (ANALYZE) links, child', 'VACUUM d1, d2') x 2,
			'VACUUM (FREEZE, TRUNCATE) links',
			'VACUUM FULL links', 'CLUSTER links USING links_pkey', 'REINDEX TABLE links',
			'VACUUM (INDEX_CLEANUP off) links', 'REINDEX TABLE CONCURRENTLY d1',
			'DROP INDEX CONCURRENTLY IF EXISTS more; CREATE INDEX CONCURRENTLY more ON links (from_id, id)',
			'SELECT pg_switch_wal()', 'ANALYZE'));

		last unless defined $text;
		# an index that was built in vain, or twice
		$self->fault("maintenance: $text") if $text =~ /ERROR/ && !Writer::expected($text) && $text !~ /42P07/;
		select undef, undef, undef, rand() * 0.1;
	}
	$s->quit;
	return;
}

# Any snapshot sees the same in a table and in its twin.
sub read
{
	my ($self) = @_;
	my $s = Session->new($self->{connstr});
	my $sql = 'SELECT (SELECT count(*) FROM (TABLE links EXCEPT ALL TABLE links_h) a), (SELECT count(*) FROM (TABLE links_h EXCEPT ALL TABLE links) b)';

	until (-e $self->{stop})
	{
		my $how = Writer::pick('on', 'off');
		my $text;

		$s->run("SET enable_seqscan = $how");
		$s->run('BEGIN ISOLATION LEVEL REPEATABLE READ');
		for (1 .. 1 + int rand 3)
		{
			$text = $s->run($sql);
			last unless defined $text;
			$self->fault("a snapshot sees what is not so: $text") unless $text eq "0|0\n" || Writer::expected($text);
			select undef, undef, undef, rand() * 0.1;
		}
		last unless defined $s->run('COMMIT');
	}
	$s->quit;
	return;
}

1;
