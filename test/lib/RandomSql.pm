# Random statements over a links table, from a seed: the same text for heap and for doublets.
#
# What is compared must not depend on the order in which rows are met: every SELECT is ordered or
# aggregates, and of a statement that fails only the fact that it fails is kept (which of several bad
# rows is met first is nobody's promise).
package RandomSql;
use strict;
use warnings;

my @columns = qw(id from_id to_id type_id);
my @extremes = ('-9223372036854775808', '9223372036854775807', '0', '-1');

sub new
{
	my ($class, $seed) = @_;
	srand($seed);
	return bless { spread => (4, 12, 60)[ rand 3 ], depth => 0, open => 0 }, $class;
}

sub pick { return $_[ rand @_ ] }

sub value
{
	my ($self) = @_;
	return pick(@extremes) if rand() < 0.06;
	return int(rand($self->{spread} + 3)) - 2;
}

sub nullable { return rand() < 0.1 ? 'NULL' : $_[0]->value }

sub condition
{
	my ($self, $col) = @_;
	$col ||= pick(@columns);
	my $kind = rand();
	return "$col = " . $self->value if $kind < 0.4;
	return "$col " . pick(qw(< <= > >= <>)) . ' ' . $self->value if $kind < 0.6;
	return "$col = ANY ('{" . join(',', map { $self->nullable } 1 .. 1 + rand 5) . "}'::bigint[])" if $kind < 0.75;
	return "$col BETWEEN " . $self->value . ' AND ' . $self->value if $kind < 0.85;
	return "$col IS " . pick('NULL', 'NOT NULL') if $kind < 0.92;
	return "$col = " . pick(@columns);
}

sub where
{
	my ($self) = @_;
	return $self->condition if rand() < 0.5;
	return '(' . $self->condition . ' ' . pick(qw(AND AND OR)) . ' ' . $self->condition . ')';
}

sub row
{
	my ($self) = @_;
	return '(' . join(', ', $self->value, $self->nullable, $self->nullable, $self->nullable) . ')';
}

sub assignment
{
	my ($self) = @_;
	return pick("to_id = " . $self->nullable, 'from_id = to_id', 'type_id = ' . $self->nullable, 'to_id = to_id + 1',
		'from_id = id, to_id = id', 'id = id + ' . (100 + int rand 900), 'from_id = ' . $self->nullable . ', type_id = ' . $self->nullable);
}

sub select
{
	my ($self) = @_;
	my $where = $self->where;
	return pick(
		"SELECT * FROM links WHERE $where ORDER BY id, from_id, to_id, type_id",
		"SELECT count(*), sum(id::numeric), min(from_id), max(to_id) FROM links WHERE $where",
		"SELECT id FROM links WHERE $where ORDER BY id DESC LIMIT 5",
		"SELECT from_id, to_id FROM links WHERE $where ORDER BY from_id, to_id, id OFFSET 1 LIMIT 7",
		"SELECT DISTINCT type_id FROM links WHERE $where ORDER BY type_id NULLS FIRST",
		"SELECT count(*) FROM links a JOIN links b ON b.from_id = a.to_id WHERE a." . $self->condition('id'),
		"SELECT count(*) FROM links a WHERE NOT EXISTS (SELECT FROM links b WHERE b.id = a.from_id)",
		"SELECT a.id, (SELECT count(*) FROM links b WHERE b.to_id = a.id) FROM links a WHERE $where ORDER BY a.id LIMIT 5",
		"SELECT id FROM links WHERE $where ORDER BY id FOR " . pick('UPDATE', 'NO KEY UPDATE', 'SHARE', 'KEY SHARE'));
}

sub change
{
	my ($self) = @_;
	my $where = $self->where;
	my $kind = rand();
	return 'INSERT INTO links VALUES ' . join(', ', map { $self->row } 1 .. 1 + rand 4) if $kind < 0.25;
	return 'INSERT INTO links VALUES ' . $self->row . ' ON CONFLICT ' . pick('DO NOTHING', '(id) DO NOTHING', '(id) DO UPDATE SET ' . $self->assignment) if $kind < 0.45;
	return 'INSERT INTO links SELECT id + ' . int(1000 + rand 5000) . ", to_id, from_id, type_id FROM links WHERE $where" if $kind < 0.52;
	return 'UPDATE links SET ' . $self->assignment . " WHERE $where" if $kind < 0.77;
	return 'UPDATE links a SET type_id = 7 FROM links b WHERE b.from_id = a.id AND b.' . $self->condition('to_id') if $kind < 0.82;
	return "DELETE FROM links WHERE $where AND " . $self->condition('id') if $kind < 0.93;
	return 'MERGE INTO links USING (VALUES (' . $self->value . '::bigint)) v(i) ON id = i WHEN MATCHED THEN UPDATE SET to_id = 5 '
	  . 'WHEN NOT MATCHED THEN INSERT VALUES (i, 1, 1, 1)' if $kind < 0.97;
	return 'WITH gone AS (DELETE FROM links WHERE ' . $self->condition('id') . ' RETURNING *) INSERT INTO links SELECT id + 20000, from_id, to_id, type_id FROM gone';
}

# The next line of the script.
sub statement
{
	my ($self) = @_;
	my $kind = rand();
	if ($kind < 0.12)
	{
		unless ($self->{open}) { $self->{open} = 1; $self->{depth} = 0; return 'BEGIN' }
		my $end = rand();
		if ($end < 0.35) { $self->{depth}++; return "SAVEPOINT s$self->{depth}" }
		if ($end < 0.6 && $self->{depth}) { return 'ROLLBACK TO s' . (1 + int rand $self->{depth}) }
		$self->{open} = 0;
		return pick('COMMIT', 'COMMIT', 'ROLLBACK');
	}
	return pick('VACUUM links', 'VACUUM (FREEZE) links', 'ANALYZE links', 'REINDEX TABLE links', 'VACUUM FULL links', 'TRUNCATE links') if $kind < 0.15 && !$self->{open};
	return pick('SET enable_seqscan = ' . pick('on', 'off'), 'SET enable_bitmapscan = ' . pick('on', 'off'), 'SET enable_indexscan = ' . pick('on', 'off')) if $kind < 0.2;
	return $self->select if $kind < 0.55;
	return $self->change;
}

# A whole script: table, indexes, n statements, and every way to read the table at the end.
sub script
{
	my ($self, $n) = @_;
	my @lines = (
		'CREATE TABLE links (id bigint ' . pick('PRIMARY KEY', 'PRIMARY KEY', 'PRIMARY KEY DEFERRABLE', 'UNIQUE NOT NULL') . ', from_id bigint DEFAULT 0, to_id bigint DEFAULT 0, type_id bigint)',
		'CREATE INDEX ON links USING ' . pick('hash', 'btree') . ' (from_id)');
	push @lines, 'CREATE ' . pick('', '', 'UNIQUE ') . 'INDEX ON links (' . pick('from_id, to_id', 'to_id, from_id', 'to_id DESC', 'type_id, id', 'type_id', '(from_id + to_id)') . ')' for 1 .. rand 3;
	push @lines, 'INSERT INTO links SELECT i, i % 7, i % 5, i % 3 FROM generate_series(1, ' . int(rand 200) . ') i';
	push @lines, $self->statement for 1 .. $n;
	push @lines, 'ROLLBACK', 'SET enable_seqscan = on';
	push @lines, 'SELECT * FROM links ORDER BY id, from_id, to_id, type_id';
	push @lines, 'SET enable_seqscan = off';
	for my $col (@columns)
	{
		push @lines, "SELECT count(*), sum(${col}::numeric) FROM links WHERE $col >= -9223372036854775808 OR $col IS NULL";
	}
	return join '', map { "$_;\n" } @lines;
}

1;
