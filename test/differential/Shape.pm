# Shape.pm: the tables that a schedule works on, and what has happened to them before it starts.
package Generator;

use strict;
use warnings;

# Once in each database.
our $functions = <<'SQL';
CREATE FUNCTION touch(k bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE r bigint;
BEGIN UPDATE links SET to_id = coalesce(to_id, 0) + 1 WHERE id = k RETURNING to_id INTO r; RETURN r; END $$;
CREATE FUNCTION try_insert(k bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO links VALUES (k, 1, 1, 1);
  RETURN 'inserted';
EXCEPTION WHEN unique_violation OR foreign_key_violation OR check_violation THEN RETURN SQLSTATE;
END $$;
CREATE FUNCTION gate(k bigint, at bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF k = at THEN
    PERFORM pg_advisory_lock_shared(1);
    PERFORM pg_advisory_unlock_shared(1);
  END IF;
  RETURN true;
END $$;
CREATE FUNCTION count_links() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT count(*) FROM links';
CREATE FUNCTION log_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  BEGIN
    RAISE NOTICE '% % % -> %', TG_WHEN, TG_OP, CASE WHEN TG_OP <> 'INSERT' THEN OLD::text END, CASE WHEN TG_OP <> 'DELETE' THEN NEW::text END;
  EXCEPTION WHEN undefined_function THEN RAISE;
  END;
  RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE FUNCTION change_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.to_id = 2 THEN NEW.from_id := coalesce(NEW.from_id, 0) + 1; END IF;
  IF NEW.to_id = 3 THEN RETURN NULL; END IF;
  RETURN NEW;
END $$;
CREATE FUNCTION write_other() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE links SET to_id = 0 WHERE id = OLD.id + 1;
    RETURN OLD;
  END IF;
  IF NEW.id BETWEEN 0 AND 49 THEN
    INSERT INTO links VALUES (NEW.id + 50, NEW.id, 0, 1) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NEW;
END $$;
CREATE FUNCTION write_self() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE links SET to_id = 9 WHERE id = OLD.id AND to_id = 1;
  RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE FUNCTION count_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN RAISE NOTICE 'new %', (SELECT string_agg(n::text, ' ' ORDER BY n::text) FROM new_rows n);
  ELSIF TG_OP = 'DELETE' THEN RAISE NOTICE 'old %', (SELECT string_agg(o::text, ' ' ORDER BY o::text) FROM old_rows o);
  ELSE RAISE NOTICE 'old % new %', (SELECT string_agg(o::text, ' ' ORDER BY o::text) FROM old_rows o),
    (SELECT string_agg(n::text, ' ' ORDER BY n::text) FROM new_rows n);
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION count_all() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE NOTICE '% % of %', TG_WHEN, TG_OP, (SELECT count(*) FROM links); RETURN NULL; END $$;
SQL

my @triggers = (
	'CREATE TRIGGER t_change BEFORE INSERT OR UPDATE ON links FOR EACH ROW EXECUTE FUNCTION change_row()',
	'CREATE TRIGGER t_log AFTER INSERT OR UPDATE OR DELETE ON links FOR EACH ROW EXECUTE FUNCTION log_row()',
	'CREATE TRIGGER t_before BEFORE UPDATE OR DELETE ON links FOR EACH ROW EXECUTE FUNCTION log_row()',
	'CREATE TRIGGER t_other AFTER INSERT OR UPDATE OR DELETE ON links FOR EACH ROW WHEN (pg_trigger_depth() < 2) EXECUTE FUNCTION write_other()',
	'CREATE TRIGGER t_other BEFORE INSERT OR DELETE ON links FOR EACH ROW WHEN (pg_trigger_depth() < 2) EXECUTE FUNCTION write_other()',
	'CREATE TRIGGER t_self BEFORE UPDATE OR DELETE ON links FOR EACH ROW WHEN (pg_trigger_depth() < 2) EXECUTE FUNCTION write_self()',
	'CREATE TRIGGER t_self AFTER UPDATE ON links FOR EACH ROW WHEN (pg_trigger_depth() < 2) EXECUTE FUNCTION write_self()',
	'CREATE CONSTRAINT TRIGGER t_late AFTER INSERT OR UPDATE OR DELETE ON links DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION log_row()',
	'CREATE CONSTRAINT TRIGGER t_late AFTER INSERT OR DELETE ON links DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (pg_trigger_depth() < 2) EXECUTE FUNCTION write_other()',
	'CREATE TRIGGER t_all AFTER INSERT OR UPDATE OR DELETE ON links FOR EACH STATEMENT EXECUTE FUNCTION count_all()',
	'CREATE TRIGGER t_all BEFORE INSERT OR UPDATE OR DELETE ON links FOR EACH STATEMENT EXECUTE FUNCTION count_all()',
	'CREATE TRIGGER t_new AFTER INSERT ON links REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_changed()',
	'CREATE TRIGGER t_old AFTER DELETE ON links REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_changed()',
	'CREATE TRIGGER t_both AFTER UPDATE ON links REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_changed()',
);

sub action { return pick('', '', ' ON DELETE CASCADE', ' ON DELETE SET NULL', ' ON DELETE SET DEFAULT', ' ON DELETE RESTRICT')
	. pick('', '', ' ON UPDATE CASCADE', ' ON UPDATE SET NULL', ' ON UPDATE RESTRICT') . pick('', '', ' DEFERRABLE', ' DEFERRABLE INITIALLY DEFERRED') }

# Tables, indexes, foreign keys, triggers.
sub shape
{
	my ($self) = @_;
	my $m = $self->{mode};
	my $temp = chance(0.03);
	my @setup = ('DROP TABLE IF EXISTS files, links, types CASCADE');
	my $natural = $m eq 'physical';

	$self->{three} = chance(0.06);
	$self->{columns} = [ qw(id from_id to_id), $self->{three} ? () : 'type_id' ];
	$self->{key} = $natural && chance(0.07) ? '' : pick(('PRIMARY KEY') x 8, $natural ? ('PRIMARY KEY DEFERRABLE', 'PRIMARY KEY DEFERRABLE INITIALLY DEFERRED') x 2 : (), 'UNIQUE NOT NULL');
	$self->{temp} = $temp;
	push @setup, 'SET pg_doublets.adopt_indexes = ' . ($self->{key} !~ /DEFERRABLE/ && chance(0.15) ? 'off' : 'on');
	my $not_null = $self->{three} ? '' : chance(0.3) ? ', type_id bigint NOT NULL' : ', type_id bigint DEFAULT 1';
	$self->{not_null} = $not_null =~ /NOT/;
	# what refers to an unlogged table is unlogged, too
	$self->{unlogged} = !$temp && chance(0.1) ? 'UNLOGGED ' : '';
	push @setup, 'CREATE ' . ($temp ? 'TEMP ' : $self->{unlogged}) . "TABLE links (id bigint $self->{key}, from_id bigint DEFAULT 0, to_id bigint DEFAULT 0$not_null)";

	my @kinds = ('(from_id)', '(to_id)', '(from_id, to_id)', '(to_id, from_id)', '((from_id + to_id))', '(to_id) WHERE from_id > 2', '(id) INCLUDE (to_id)', '(to_id DESC)',
		$self->{three} ? () : ('(type_id)', '(from_id, type_id)'));
	# in which order an index with id behind gives ids is not told
	push @kinds, '(type_id, id)' unless $m eq 'index' || $self->{three};
	if ($m ne 'index' && chance(0.12) && !$self->{three})
	{
		$self->{hash} = 1;
		push @setup, join '; ', map { ("CREATE INDEX ON links USING hash ($_)", $_ eq 'id' ? () : "CREATE INDEX ON links ($_)") } @{ $self->{columns} };
	}
	else { push @setup, "CREATE INDEX ON links " . pick(@kinds) for 1 .. between(0, 2) }
	$self->{real} = grep { /adopt_indexes = off|ON links (?:\(\(|.* WHERE |.* INCLUDE )/ } @setup;
	my $late = $self->{key} =~ /DEFERRABLE/;
	if (!$late && chance(0.15))
	{
		$self->{pair} = 1;
		push @setup, 'CREATE UNIQUE INDEX links_pair ON links (from_id, to_id)' . pick('', '', ' NULLS NOT DISTINCT');
	}
	if (!$late && chance(0.06))
	{
		my $what = pick(qw((from_id) (to_id)), '((to_id + 0))', '(to_id) WHERE from_id = 1', $self->{three} || $m eq 'index' ? () : '(type_id, id)');

		$self->{second} = $what;
		push @setup, "CREATE UNIQUE INDEX links_second ON links $what";
	}
	if (!$temp && $natural && chance(0.25) && !$late) { push @setup, $self->foreign_keys }
	elsif (!$temp && chance(0.06) && $self->{key} eq 'PRIMARY KEY') { push @setup, $self->foreign_keys('in') }
	if (chance(0.2))
	{
		my %seen;

		# a trigger that writes cares for the order in which rows are met, and a deferred one for when the key is checked
		for my $t (map { pick(grep { ($m ne 'ordered' || !/write_/) && (!$late || !/write_|t_late/) } @triggers) } 1 .. between(1, 3))
		{
			my ($name) = $t =~ /TRIGGER (\w+)/;

			push @setup, $t unless $seen{$name}++;
		}
	}
	return @setup;
}

# Foreign keys: to another table, from another table, from the table to itself.
sub foreign_keys
{
	my ($self, $only) = @_;
	my $kind = $only || pick('in', 'in', 'out', 'self');
	my $keyed = $self->{key} =~ /^PRIMARY KEY$|UNIQUE/;

	if ($kind eq 'out')
	{
		$self->{types} = 1;
		return ('CREATE TABLE types (id bigint PRIMARY KEY) USING heap',
			'ALTER TABLE links ADD CONSTRAINT links_fk FOREIGN KEY (' . pick('to_id', $self->{three} ? 'to_id' : 'type_id') . ') REFERENCES types' . action());
	}
	return () unless $keyed;
	if ($kind eq 'self')
	{
		$self->{selfref} = 1;
		return ('ALTER TABLE links ADD CONSTRAINT links_fk FOREIGN KEY (from_id) REFERENCES links (id)' . action());
	}
	$self->{files} = 1;
	return ("CREATE $self->{unlogged}TABLE files (id bigint PRIMARY KEY, link_id bigint DEFAULT 1 REFERENCES links (id)" . action() . ') USING heap');
}

# Makes the tables of shape() what they were when they were new.
sub empty { my ($self) = @_; return 'TRUNCATE links' . ($self->{files} ? ', files' : '') . ($self->{types} ? ', types' : '') }

# Rows, and what has become of them.
sub start
{
	my ($self) = @_;
	my $natural = $self->{mode} eq 'physical';
	my $n = $self->{mode} eq 'ordered' && chance($self->{sessions} == 1 ? 0.3 : 0.03) ? between(20, 400) : between(3, $self->{ids});
	# an update on a full page makes index entries on heap, which doubtful keys show
	$n = 50 if $n > 50 && $self->{key} =~ /DEFERRABLE/;
	my $ends = $self->{ends};
	my $from = $self->{selfref} ? "(i * 3) % $n + 1" : "(i * 3) % $ends";
	my $skip = $self->{pair} || $self->{second} ? ' ON CONFLICT DO NOTHING' : '';
	# triggers are for what comes later
	my @setup = ('SET session_replication_role = replica');

	push @setup, 'INSERT INTO types SELECT generate_series(0, 5)' if $self->{types};
	push @setup, "INSERT INTO links SELECT i, CASE WHEN (i * 3) % 7 = 6 THEN NULL ELSE $from END, CASE WHEN (i * 5) % 7 = 6 THEN NULL ELSE (i * 5) % $ends END"
	  . ($self->{three} ? '' : ', i % 3') . " FROM generate_series(1, $n) i$skip";
	push @setup, 'INSERT INTO files SELECT id, id FROM links WHERE id < 4' if $self->{files};
	push @setup, 'RESET session_replication_role';
	push @setup, $self->history for 1 .. pick(0, 0, 1, 2, 4);
	push @setup, pick('VACUUM links', 'VACUUM FREEZE links', 'ANALYZE links') if !$natural && chance(0.3);
	return @setup;
}

# Something that leaves versions behind.
sub history
{
	my ($self) = @_;
	my ($a, $b) = ($self->id, $self->id);

	return pick(
		"UPDATE links SET to_id = to_id WHERE id = $a",
		"BEGIN; UPDATE links SET to_id = 1 WHERE id = $a; ROLLBACK",
		"BEGIN; DELETE FROM links WHERE id = $a; ROLLBACK",
		"BEGIN; INSERT INTO links (id) VALUES (77); ROLLBACK",
		"BEGIN; SELECT FROM links WHERE id = $a FOR UPDATE; SAVEPOINT a; UPDATE links SET to_id = 4 WHERE id = $a; ROLLBACK TO a; COMMIT",
		"BEGIN; SAVEPOINT a; UPDATE links SET from_id = 2 WHERE id = $b; ROLLBACK TO a; UPDATE links SET from_id = to_id WHERE id = $a; COMMIT",
		"BEGIN; SELECT FROM links WHERE id = $a FOR KEY SHARE; SAVEPOINT a; SELECT FROM links WHERE id = $a FOR UPDATE; RELEASE a; COMMIT",
		"UPDATE links SET to_id = to_id WHERE id = $a; DELETE FROM links WHERE id = $b",
		"DELETE FROM links WHERE id = $a; INSERT INTO links VALUES ($a, 1, 1" . ($self->{three} ? '' : ', 1') . ')',
		'BEGIN; DELETE FROM links; ROLLBACK');
}

1;
