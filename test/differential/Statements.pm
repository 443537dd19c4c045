# Statements.pm: random statements over the tables of a schedule.
package Generator;

use strict;
use warnings;

my @extremes = ('-9223372036854775808', '9223372036854775807', '-1');

sub id
{
	my ($self) = @_;

	return $self->{mode} eq 'ordered' ? pick(@extremes[0, 2]) : pick(@extremes) if chance(0.02);
	return chance(0.7) ? between(1, $self->{hot}) : between(0, $self->{ids} + 2);
}

# An id for a new row.
sub new_id { my ($self) = @_; return chance(0.5) ? $self->{ids} + between(1, 3) : $self->id }

# Some of them, different ones mostly.
sub new_ids
{
	my ($self, $n) = @_;
	my (%seen, @ids);

	for (1 .. $n)
	{
		my $id = $self->new_id;

		push @ids, $id unless $seen{$id}++ && chance(0.85);
	}
	return @ids;
}

# Not so large that one row's arithmetic fails, where the rows before it are another access method's choice.
sub end { my ($self) = @_; return chance(0.02) ? ($self->{mode} eq 'ordered' ? -1 : pick(@extremes)) : int rand $self->{ends} }
sub nullable { my ($self) = @_; return chance(0.08) ? 'NULL' : $self->end }
sub column { my ($self) = @_; return pick(@{ $self->{columns} }) }
sub typed { my ($self) = @_; return !$self->{three} }

# A condition on a row with a given alias ('' for none).
sub condition
{
	my ($self, $col) = @_;
	$col ||= $self->column;
	my $value = $col =~ /\bid$/ && $col !~ /_id$/ ? sub { $self->id } : sub { $self->end };
	my $kind = rand();

	return "$col = " . $value->() if $kind < 0.4;
	return "$col " . pick(qw(< <= > >= <>)) . ' ' . $value->() if $kind < 0.6;
	return "$col = ANY ('{" . join(',', map { chance(0.05) ? 'NULL' : $value->() } 1 .. between(1, 4)) . "}'::bigint[])" if $kind < 0.75;
	return "$col BETWEEN " . $value->() . ' AND ' . $value->() if $kind < 0.83;
	return "$col IN (" . join(', ', map { $value->() } 1 .. between(1, 3)) . ')' if $kind < 0.88;
	return "$col IS " . pick('NULL', 'NOT NULL') if $kind < 0.94;
	return "$col = " . ($col =~ /^(\w+\.)/ ? $1 : '') . 'to_id';
}

sub where
{
	my ($self) = @_;

	return $self->condition if chance(0.6);
	return $self->condition . ' ' . pick('AND', 'AND', 'OR') . ' ' . $self->condition;
}

# A condition that only an index on id serves.
sub by_id
{
	my ($self) = @_;
	my $kind = rand();

	return 'id = ' . $self->id if $kind < 0.35;
	return 'id ' . pick(qw(< <= > >=)) . ' ' . $self->id if $kind < 0.6;
	return 'id BETWEEN ' . between(0, 3) . ' AND ' . between(2, 9) if $kind < 0.8;
	return "id = ANY ('{" . join(',', map { $self->id } 1 .. between(2, 4)) . "}'::bigint[])" if $kind < 0.9;
	return 'id > 0 AND coalesce(to_id, 0) + 0 ' . pick('<', '>', '=') . ' ' . $self->end;
}

# A gate that another session may have shut: the statement stops at that row.  Not where the plan decides what was done before.
sub gate { my ($self) = @_; return $self->{gates} && chance(0.35) ? ' AND gate(id, ' . $self->id . ')' : '' }

# The condition of a change of several rows, or of one (then {single} is set).
sub target
{
	my ($self, $lock) = @_;
	my $m = $self->{mode};

	$self->{single} = 1;
	return 'id = ' . $self->id . $self->gate if chance(0.35) || $m eq 'ordered' && ($self->{pair} || $self->{second});
	$self->{single} = 0;
	return $self->gated_where if $m eq 'physical';
	return $self->by_id . $self->gate if $m eq 'index';

	# all are locked before the first is changed
	return 'id = ANY (ARRAY(SELECT id FROM links WHERE ' . $self->where . " ORDER BY id FOR $lock))";
}

sub gated_where { my ($self) = @_; my $gate = $self->gate; return $gate ? '(' . $self->where . ")$gate" : $self->where }

sub row
{
	my ($self, $id) = @_;

	return '(' . join(', ', defined $id ? $id : $self->id, $self->nullable, $self->nullable, $self->typed ? ($self->{not_null} ? $self->end : $self->nullable) : ()) . ')';
}

sub assignment
{
	my ($self, $p) = @_;
	$p = defined $p ? $p : '';
	my @all = ("to_id = " . $self->nullable, "to_id = ${p}to_id + 1", "from_id = ${p}to_id", "from_id = ${p}id, to_id = ${p}id", 'from_id = ' . $self->nullable . ', to_id = ' . $self->end,
		"to_id = coalesce(${p}to_id, 0) + 10", "to_id = ${p}to_id");

	# which row of several meets another one with its new key first is a matter of the plan
	push @all, "id = -${p}id", "id = ${p}id + 100", "id = ${p}id + 1" if $self->{mode} ne 'ordered' || $self->{single};
	push @all, 'type_id = ' . $self->end, "type_id = ${p}type_id + 1" if $self->typed;
	return pick(@all);
}

sub returning
{
	my ($self) = @_;

	return chance(0.5) ? '' : ' RETURNING ' . pick('*', 'id, to_id', $self->{levels} eq 'ser' ? 'from_id' : 'id, (xmax = 0) AS inserted', 'links.*, tableoid::regclass');
}

# Heap's CLUSTER and VACUUM FULL forget that a row was deleted as far as FOR KEY SHARE is concerned, which a snapshot from before
# shows.
sub strength
{
	my ($self) = @_;

	return pick('UPDATE', 'UPDATE', 'NO KEY UPDATE', 'SHARE', $self->{maintenance} && $self->{levels} ne 'rc' ? () : 'KEY SHARE');
}

sub all_columns { my ($self) = @_; return join ', ', @{ $self->{columns} } }

sub select_rows
{
	my ($self) = @_;
	my $where = $self->where;
	my $gated = $self->gated_where;
	my $all = $self->all_columns;
	my $some = $self->typed ? 'type_id' : 'from_id';

	return pick(
		"SELECT * FROM links WHERE $gated ORDER BY $all",
		"SELECT * FROM links ORDER BY $all",
		"SELECT * FROM links WHERE id = " . $self->id . " ORDER BY $all",
		"SELECT count(*), sum(id::numeric), min(from_id), max(to_id) FROM links WHERE $gated",
		"SELECT id FROM links WHERE $where ORDER BY id DESC LIMIT 3",
		"SELECT from_id, to_id, id FROM links WHERE $where ORDER BY from_id, to_id, id OFFSET 1 LIMIT 3",
		"SELECT min(id), max(id) FROM links",
		"SELECT $some, count(*) FROM links GROUP BY $some ORDER BY $some NULLS FIRST",
		"SELECT count(*) FROM links a JOIN links b ON b.from_id = a.to_id WHERE " . $self->condition('a.id'),
		"SELECT a.id FROM links a WHERE NOT EXISTS (SELECT FROM links b WHERE b.id = a.from_id) ORDER BY a.id",
		"SELECT a.id, (SELECT count(*) FROM links b WHERE b.to_id = a.id) FROM links a WHERE " . $self->condition('a.id') . " ORDER BY a.id, 2",
		"SELECT count(*), count_links() FROM links",
		"WITH RECURSIVE r(id, n) AS (SELECT id, 1 FROM links WHERE id = 1 UNION SELECT l.id, n + 1 FROM links l JOIN r ON l.from_id = r.id WHERE n < 3) SELECT * FROM r");
}

sub lock_rows
{
	my ($self) = @_;
	my $all = $self->all_columns;
	my $lock = 'FOR ' . $self->strength;
	my $policy = $self->{levels} eq 'ser' ? '' : pick('', '', '', '', ' NOWAIT', ' SKIP LOCKED');
	my $kind = rand();

	return "SELECT * FROM links WHERE id = " . $self->id . " $lock$policy" if $kind < 0.4;
	return "SELECT * FROM links WHERE " . $self->gated_where . " $lock$policy" if $kind < 0.55 && $self->{mode} eq 'physical';
	# a snapshot may see two rows of one key, one's own and one that others have deleted since: a plan that knows the key to be unique stops at the first
	my $b_id = $self->{mode} eq 'ordered' && $self->{levels} ne 'rc' ? 'b.id + 0' : 'b.id';
	return "SELECT a.id, b.id FROM links a JOIN links b ON $b_id = a.to_id WHERE " . $self->condition('a.from_id') . " ORDER BY a.id, b.id $lock OF a$policy" if $kind < 0.62;
	return "SELECT id FROM links WHERE " . $self->where . " ORDER BY id LIMIT 2 $lock$policy" if $kind < 0.72;
	return "SELECT * FROM links WHERE " . $self->where . " ORDER BY $all $lock$policy";
}

sub insert
{
	my ($self) = @_;
	my $kind = rand();
	my $rows = join ', ', map { $self->row($_) } $self->new_ids(pick(1, 1, 1, 2, 3));
	my @columns = $self->typed ? qw(id from_id to_id type_id) : qw(id from_id to_id);

	return "INSERT INTO links VALUES $rows" . $self->returning if $kind < 0.33;
	return 'INSERT INTO links (id, to_id' . ($self->{not_null} ? ', type_id' : '') . ') VALUES (' . $self->new_id . ', ' . $self->end . ($self->{not_null} ? ', 1' : '') . ')' . $self->returning if $kind < 0.38;
	return 'INSERT INTO links SELECT id + ' . pick(20, 30, 40) . ', to_id, from_id' . ($self->typed ? ', type_id' : '') . ' FROM links WHERE ' . $self->where . ' ORDER BY id, from_id, to_id' . $self->returning if $kind < 0.46;
	my $set = pick('to_id = excluded.to_id', 'to_id = coalesce(links.to_id, 0) + 100', 'from_id = excluded.from_id, to_id = links.from_id', 'id = links.id + 200', 'id = excluded.id', $self->typed ? 'type_id = excluded.type_id' : 'to_id = 7');
	my $cond = pick('', '', '', ' WHERE links.to_id < 3', ' WHERE excluded.to_id IS DISTINCT FROM links.to_id', ' WHERE false');
	my @arbiters = ('(id)', '(id)', '(id)');
	push @arbiters, '(from_id, to_id)' if $self->{pair};
	push @arbiters, 'ON CONSTRAINT links_pkey' if $self->{key} =~ /^PRIMARY/;
	push @arbiters, $self->{second} if $self->{second};
	my $arbiter = pick(@arbiters);
	return "INSERT INTO links VALUES $rows" . $self->returning if $self->{key} =~ /DEFERRABLE/ && chance(0.9);
	return "INSERT INTO links VALUES $rows ON CONFLICT DO NOTHING" . $self->returning if $kind < 0.56;
	return "INSERT INTO links VALUES $rows ON CONFLICT $arbiter DO NOTHING" . $self->returning if $kind < 0.66;
	return "INSERT INTO links VALUES $rows ON CONFLICT $arbiter DO UPDATE SET $set$cond" . $self->returning;
}

# What it writes depends on what it reads elsewhere.
sub skew
{
	my ($self) = @_;
	my ($x, $y) = ($self->id, $self->id);
	my $end = $self->end;

	return pick("UPDATE links SET to_id = (SELECT coalesce(to_id, 0) + 1 FROM links b WHERE b.id = $y) WHERE id = $x",
		"UPDATE links SET to_id = (SELECT count(*) FROM links b WHERE b.from_id = $end) WHERE id = $x",
		"UPDATE links SET from_id = $end WHERE id = $x AND NOT EXISTS (SELECT FROM links b WHERE b.to_id = $end)",
		'INSERT INTO links SELECT ' . $self->new_id . ", $end, count(*)" . ($self->typed ? ', 1' : '') . " FROM links WHERE from_id = $end",
		"DELETE FROM links WHERE id = $x AND EXISTS (SELECT FROM links b WHERE b.id = $y AND b.to_id = $end)");
}

sub update
{
	my ($self) = @_;

	return $self->skew if $self->{levels} eq 'ser' && chance(0.7);
	my $where = $self->target('NO KEY UPDATE');
	my $kind = rand();

	if ($kind < 0.8) { return "UPDATE links SET " . $self->assignment . " WHERE $where" . $self->returning }
	return 'UPDATE links SET to_id = b.id FROM links b WHERE links.id = ' . $self->id . ' AND b.id = ' . pick($self->id, 'links.from_id') . ' RETURNING links.id, links.to_id' if $kind < 0.9;
	return 'UPDATE links SET to_id = (SELECT max(id) FROM links b WHERE b.from_id = links.to_id) WHERE id = ' . $self->id if $kind < 0.95;
	return 'UPDATE links SET from_id = 1 WHERE id = ' . $self->id . ' AND EXISTS (SELECT FROM links b WHERE b.id = links.to_id)';
}

sub delete
{
	my ($self) = @_;
	my $where = $self->target('UPDATE');

	return 'DELETE FROM links USING links b WHERE links.id = ' . $self->id . ' AND b.id = links.to_id RETURNING links.id' if chance(0.12);
	return "DELETE FROM links WHERE $where" . $self->returning;
}

sub merge
{
	my ($self) = @_;
	my $values = join ', ', map { "($_\::bigint, " . $self->end . '::bigint)' } $self->new_ids($self->{mode} eq 'ordered' ? 1 : pick(1, 1, 2));
	my $matched = pick(
		'WHEN MATCHED THEN UPDATE SET to_id = j', 'WHEN MATCHED AND to_id < 3 THEN DELETE WHEN MATCHED THEN UPDATE SET to_id = coalesce(to_id, 0) + 1',
		'WHEN MATCHED THEN DELETE', 'WHEN MATCHED AND from_id = j THEN DO NOTHING WHEN MATCHED THEN UPDATE SET from_id = j, to_id = i', 'WHEN MATCHED THEN UPDATE SET id = id + 300');

	return "MERGE INTO links USING (VALUES $values) v(i, j) ON id = i $matched WHEN NOT MATCHED THEN INSERT VALUES (i, j, 1" . ($self->typed ? ', 1' : '') . ')';
}

sub with_change
{
	my ($self) = @_;
	my $one = 'id = ' . $self->id;
	my $other = 'id = ' . $self->id;
	my $rest = $self->typed ? ', type_id' : '';

	return pick(
		"WITH gone AS (DELETE FROM links WHERE $one RETURNING *) INSERT INTO links SELECT id + 50, from_id, to_id$rest FROM gone",
		"WITH gone AS (DELETE FROM links WHERE $one RETURNING *) INSERT INTO links SELECT id, to_id, from_id$rest FROM gone",
		"WITH u AS (UPDATE links SET to_id = 8 WHERE $one RETURNING id) SELECT count(*), (SELECT count(*) FROM u) FROM links WHERE to_id = 8",
		"WITH u AS (UPDATE links SET to_id = 8 WHERE $one RETURNING id) DELETE FROM links WHERE $other",
		"WITH i AS (INSERT INTO links VALUES " . $self->row . " ON CONFLICT DO NOTHING RETURNING id) UPDATE links SET to_id = 6 WHERE $one RETURNING id, (SELECT count(*) FROM i)",
		"SELECT touch(" . $self->id . "), count_links()",
		"SELECT " . ($self->{levels} eq 'ser' ? 'touch' : 'try_insert') . '(' . $self->id . "), count_links()",
		"SELECT id, touch(id) FROM links WHERE " . $self->by_id . " ORDER BY id");
}

sub copy_statement
{
	my ($self) = @_;

	return pick('COPY links TO STDOUT', 'COPY (SELECT * FROM links ORDER BY id, from_id, to_id) TO STDOUT') if chance(0.4);
	my @lines = map { my $r = $self->row($_); $r =~ s/[()]//g; $r =~ s/NULL/\\N/g; join "\t", split /, /, $r } $self->new_ids(between(1, 3));
	return join "\n", 'COPY links FROM STDIN', @lines, '';
}

# The next statement about a cursor, in a transaction.
sub cursor
{
	my ($self) = @_;
	my $all = $self->all_columns;

	unless ($self->{cursor})
	{
		$self->{cursor} = pick('SCROLL', 'SCROLL', 'UPDATE');
		return "DECLARE c SCROLL CURSOR FOR SELECT * FROM links WHERE " . $self->where . " ORDER BY $all" if $self->{cursor} eq 'SCROLL';
		return "DECLARE c NO SCROLL CURSOR FOR SELECT * FROM links " . pick('', 'WHERE ' . $self->condition('id')) . ' ORDER BY id FOR UPDATE';
	}
	return pick('FETCH ', 'MOVE ') . pick('2 FROM c', 'ALL FROM c', 'PRIOR FROM c', 'LAST FROM c', 'FIRST FROM c', 'ABSOLUTE 2 FROM c', 'BACKWARD 2 FROM c', 'RELATIVE -1 FROM c', 'NEXT FROM c') if $self->{cursor} eq 'SCROLL';
	return pick('FETCH NEXT FROM c', 'FETCH 2 FROM c', 'MOVE 1 FROM c') if chance(0.6);
	return chance(0.6) ? 'UPDATE links SET ' . $self->assignment . ' WHERE CURRENT OF c RETURNING *' : 'DELETE FROM links WHERE CURRENT OF c RETURNING id';
}

sub other_table
{
	my ($self) = @_;

	if ($self->{files})
	{
		return pick('INSERT INTO files VALUES (' . between(1, 9) . ', ' . pick('NULL', $self->id, $self->id) . ')', 'UPDATE files SET link_id = ' . $self->id . ' WHERE id = ' . between(1, 4),
			'DELETE FROM files WHERE id = ' . between(1, 4), 'SELECT * FROM files ORDER BY id', 'SET CONSTRAINTS ALL IMMEDIATE');
	}
	return pick('INSERT INTO types VALUES (' . between(0, 8) . ')', 'DELETE FROM types WHERE id = ' . between(0, 5), 'UPDATE types SET id = id + 10 WHERE id = ' . between(0, 5), 'SELECT * FROM types ORDER BY id',
		'SET CONSTRAINTS ALL IMMEDIATE');
}

sub named
{
	my ($self) = @_;

	if (!$self->{named})
	{
		$self->{named} = 1;
		return 'PREPARE p(bigint) AS ' . pick('SELECT * FROM links WHERE id = $1', 'UPDATE links SET to_id = to_id + 1 WHERE id = $1 RETURNING *', 'SELECT * FROM links WHERE id = $1 FOR UPDATE',
			'DELETE FROM links WHERE id = $1 RETURNING id');
	}
	return 'EXECUTE p(' . $self->id . ')';
}

sub definition
{
	my ($self) = @_;
	my $mode = 'LOCK TABLE links IN ' . pick('ACCESS SHARE', 'ROW SHARE', 'ROW EXCLUSIVE', 'SHARE UPDATE EXCLUSIVE', 'SHARE', 'SHARE ROW EXCLUSIVE', 'EXCLUSIVE', 'ACCESS EXCLUSIVE') . ' MODE' . pick('', '', ' NOWAIT');
	my $physical = $self->{mode} eq 'physical';

	# whether a cursor of ours has an index open is up to the plan
	return pick($mode, $mode, 'ANALYZE links', $self->{cursor} ? () : 'REINDEX TABLE links', 'TRUNCATE links' . ($self->{files} ? ' CASCADE' : ''),
		'CREATE INDEX ON links ' . pick('(to_id)', '(from_id)', '(from_id, to_id)', '(to_id) WHERE from_id = 1', '((from_id + to_id))', '(id) INCLUDE (to_id)'),
		$self->{mode} ne 'ordered' ? 'CREATE UNIQUE INDEX ON links ' . pick('(from_id, to_id)', '(to_id)') : (),
		'ALTER TABLE links ALTER to_id SET DEFAULT 5', 'ALTER TABLE links ADD CHECK (to_id < ' . pick(4, 1000) . ')');
}

# Outside of a transaction.  A vacuum may not wait for a pin on a page or an index page that a cursor or a waiting statement holds,
# which doublets has not.
sub maintain
{
	my ($self) = @_;
	my $cleanup = $self->{cursors} || $self->{hash} || $self->{real} && $self->{sessions} > 1 ? ', INDEX_CLEANUP off' : '';
	my $rewrite = $self->{levels} eq 'rc' || !$self->{files} && !$self->{selfref};
	my @all = ('ANALYZE links');

	# they wait for other transactions in no particular order
	push @all, 'REINDEX TABLE CONCURRENTLY links', 'CREATE INDEX CONCURRENTLY ON links (to_id)' if $self->{sessions} < 3;
	push @all, 'VACUUM FULL links' if $rewrite;
	push @all, 'CLUSTER links USING links_pkey' if $rewrite && $self->{key} =~ /^PRIMARY/ && $self->{mode} ne 'physical';
	push @all, ("VACUUM (TRUNCATE off$cleanup) links") x 6 if $self->{mode} ne 'physical';
	return pick(@all);
}

# A change or a lock of one of the few rows that all sessions are after.
sub contend
{
	my ($self) = @_;
	my $id = between(1, $self->{hot});
	my $kind = rand();

	$self->{single} = 1;
	return 'UPDATE links SET ' . $self->assignment . " WHERE id = $id" . $self->returning if $kind < 0.4;
	return "DELETE FROM links WHERE id = $id" . $self->returning if $kind < 0.5;
	return "SELECT * FROM links WHERE id = $id FOR " . $self->strength if $kind < 0.7;
	return 'INSERT INTO links VALUES ' . $self->row($self->{ids} + between(1, 2)) . ' ON CONFLICT (id) DO UPDATE SET to_id = coalesce(links.to_id, 0) + 1' . $self->returning if $kind < 0.8 && $self->{key} !~ /DEFERRABLE/;
	return 'INSERT INTO links VALUES ' . $self->row($self->{ids} + between(1, 2));
}

# A statement in a transaction.
sub inside
{
	my ($self) = @_;

	if ($self->{shut})
	{
		return 'SELECT pg_advisory_unlock(1)' if --$self->{shut} == 0;
	}
	elsif ($self->{gates} && chance(0.12))
	{
		$self->{shut} = between(2, 6);
		return 'SELECT pg_advisory_lock(1)';
	}
	return $self->definition if $self->{maintenance} && chance(0.06);
	return $self->cursor if $self->{cursors} && chance(0.4);
	return $self->copy_statement if $self->{copy} && chance(0.2);
	return $self->other_table if ($self->{files} || $self->{types}) && chance(0.3);
	return $self->named if $self->{named} >= 0 && chance(0.04);
	return 'SET CONSTRAINTS ALL ' . pick('IMMEDIATE', 'DEFERRED') if $self->{key} =~ /DEFERRABLE/ && chance(0.1);
	my $kind = rand();
	return $self->select_rows if $kind < 0.24;
	return $self->lock_rows if $kind < 0.38;
	return $self->insert if $kind < 0.56;
	return $self->update if $kind < 0.76;
	return $self->delete if $kind < 0.86;
	return $self->merge if $kind < 0.91;
	return $self->with_change;
}

# A statement by itself.
sub alone
{
	my ($self) = @_;

	return $self->maintain if $self->{maintenance} && chance(0.25);
	if ($self->{cursors} && !$self->{held} && chance(0.1))
	{
		$self->{held} = 1;
		return 'DECLARE h SCROLL CURSOR WITH HOLD FOR SELECT * FROM links ORDER BY ' . $self->all_columns;
	}
	return 'FETCH ' . pick('2', 'PRIOR', 'ALL', 'FIRST') . ' FROM h' if $self->{held} && chance(0.2);
	local $self->{cursors} = 0;
	return $self->inside;
}

1;
