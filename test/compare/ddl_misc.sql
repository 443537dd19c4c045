-- Definitions in functions, DO blocks and procedures; DROP, REASSIGN and dependencies; comments, statistics, sequences of commands that hold locks.
\set QUIET off
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint DEFAULT 0, to_id bigint DEFAULT 0, type_id bigint NOT NULL DEFAULT 1);
CREATE INDEX ON links (from_id);
INSERT INTO links SELECT i, i % 10, i % 7, i % 3 FROM generate_series(1, 300) i;
\echo == in functions, DO blocks and procedures
CREATE FUNCTION make(name text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
  EXECUTE format('CREATE TABLE %I (id bigint PRIMARY KEY, a bigint, b bigint)', name);
  EXECUTE format('CREATE INDEX ON %I (a)', name);
  EXECUTE format('INSERT INTO %I SELECT i, i %% 5, i FROM generate_series(1, 100) i', name);
  EXECUTE format('INSERT INTO %I VALUES (1, 1, 1) ON CONFLICT (id) DO UPDATE SET b = 1000', name);
  EXECUTE format('ALTER TABLE %I ADD CHECK (id > 0), ALTER b SET DEFAULT 7', name);
  EXECUTE format('SELECT sum(b) FROM %I WHERE a = 1', name) INTO n;
  RETURN n;
END $$;
SELECT make('t1');
SELECT make('t' || i) FROM generate_series(2, 4) i;
SELECT make('t1');
BEGIN;
SELECT make('t5');
ROLLBACK;
SELECT to_regclass('t5');
DO $$
BEGIN
  FOR i IN 1..4 LOOP
    BEGIN
      PERFORM make('x' || i);
      IF i % 2 = 0 THEN RAISE EXCEPTION 'no'; END IF;
    EXCEPTION WHEN raise_exception THEN NULL;
    END;
  END LOOP;
END $$;
SELECT relname FROM pg_class WHERE relname ~ '^[tx]\d$' ORDER BY 1;
CREATE FUNCTION sqlmake() RETURNS bigint LANGUAGE sql AS $$
  CREATE TABLE IF NOT EXISTS sm (id bigint PRIMARY KEY, a bigint, b bigint);
  SELECT count(*) FROM links;
$$;
SELECT sqlmake();
INSERT INTO sm VALUES (1, 1, 1), (1, 1, 1) ON CONFLICT DO NOTHING;
CREATE PROCEDURE steps() LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1..6 LOOP
    CREATE TABLE step (id bigint PRIMARY KEY, a bigint, b bigint);
    INSERT INTO step VALUES (i, i, i);
    IF i % 3 = 0 THEN ROLLBACK; ELSE COMMIT; END IF;
    DROP TABLE IF EXISTS step;
    IF i % 2 = 0 THEN ROLLBACK; ELSE COMMIT; END IF;
    DROP TABLE IF EXISTS step;
    COMMIT;
  END LOOP;
END $$;
CALL steps();
SELECT to_regclass('step');
CREATE TABLE step AS SELECT * FROM links;
CREATE PROCEDURE batches() LANGUAGE plpgsql AS $$
DECLARE
  c CURSOR FOR SELECT id FROM step ORDER BY id;
  n bigint := 0;
BEGIN
  FOR r IN c LOOP
    UPDATE step SET to_id = -1 WHERE id = r.id;
    n := n + 1;
    IF n % 50 = 0 THEN COMMIT; END IF;
  END LOOP;
  ROLLBACK;
END $$;
CALL batches();
SELECT count(*) FROM step WHERE to_id = -1;
\echo == schemas
CREATE SCHEMA s CREATE TABLE a (id bigint PRIMARY KEY, b bigint, c bigint) CREATE INDEX ON a (b) CREATE VIEW v AS SELECT * FROM a;
INSERT INTO s.a VALUES (1, 1, 1) ON CONFLICT (id) DO NOTHING;
SELECT * FROM s.v;
BEGIN;
DROP SCHEMA s CASCADE;
SELECT to_regclass('s.a');
ROLLBACK;
INSERT INTO s.a VALUES (1, 1, 1), (2, 2, 2) ON CONFLICT (id) DO NOTHING;
SELECT * FROM s.a ORDER BY id;
ALTER SCHEMA s RENAME TO s2;
SELECT * FROM s2.a WHERE b = 2;
DROP SCHEMA s2;
DROP SCHEMA s2 CASCADE;
\echo == dependencies
CREATE TABLE files (id bigint PRIMARY KEY, link bigint REFERENCES links, more bigint);
CREATE VIEW v AS SELECT id FROM links;
CREATE FUNCTION f(links) RETURNS bigint LANGUAGE sql AS 'SELECT $1.id';
CREATE FUNCTION b() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM links; END;
CREATE TABLE typed (l links, n int) USING heap;
INSERT INTO typed SELECT l, 1 FROM links l WHERE id < 4;
SELECT (l).from_id FROM typed ORDER BY 1;
SELECT f(l) FROM links l WHERE id = 5;
SELECT b();
DROP TABLE links;
DROP INDEX links_pkey;
ALTER TABLE links DROP CONSTRAINT links_pkey;
BEGIN;
DROP TABLE links CASCADE;
SELECT count(*) FROM files;
ROLLBACK;
SELECT count(*) FROM links;
SELECT f(l) FROM links l WHERE id = 5;
DROP TABLE typed, files;
DROP FUNCTION f, b;
DROP VIEW v;
\echo == owners
CREATE ROLE doublets_misc_a;
CREATE ROLE doublets_misc_b;
GRANT ALL ON SCHEMA public TO doublets_misc_a;
SET ROLE doublets_misc_a;
CREATE TABLE mine (id bigint PRIMARY KEY, a bigint, b bigint);
CREATE INDEX ON mine (a);
CREATE INDEX ON mine (b, a, id);
INSERT INTO mine SELECT i, i % 3, i FROM generate_series(1, 30) i;
CREATE TABLE mine2 (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a bigint REFERENCES mine, b bigint);
INSERT INTO mine2 (a) VALUES (1), (2);
RESET ROLE;
DROP ROLE doublets_misc_a;
REASSIGN OWNED BY doublets_misc_a TO doublets_misc_b;
SELECT relname, relowner::regrole FROM pg_class WHERE relname LIKE 'mine%' ORDER BY 1;
SET ROLE doublets_misc_b;
SELECT count(*) FROM mine WHERE a = 1;
INSERT INTO mine VALUES (1, 1, 1) ON CONFLICT (id) DO UPDATE SET b = -1 RETURNING *;
RESET ROLE;
BEGIN;
DROP OWNED BY doublets_misc_b;
SELECT to_regclass('mine'), to_regclass('mine2_id_seq');
ROLLBACK;
SELECT count(*) FROM mine WHERE a = 1;
DROP OWNED BY doublets_misc_a, doublets_misc_b CASCADE;
SELECT to_regclass('mine');
DROP ROLE doublets_misc_a, doublets_misc_b;
\echo == many tables at once, and names that come again
DROP TABLE t1, t2, t3, t4, x1, x3, sm, step;
DO $$
BEGIN
  FOR i IN 1..60 LOOP
    CREATE TABLE again (id bigint PRIMARY KEY, a bigint, b bigint);
    CREATE INDEX ON again (a);
    INSERT INTO again VALUES (i, i, i);
    IF (SELECT count(*) FROM again WHERE a = i) <> 1 THEN RAISE EXCEPTION 'lost'; END IF;
    DROP TABLE again;
  END LOOP;
END $$;
BEGIN;
CREATE TABLE again (id bigint PRIMARY KEY, a bigint, b bigint);
INSERT INTO again VALUES (1, 1, 1);
DROP TABLE again;
CREATE TABLE again (id bigint PRIMARY KEY, a bigint, b bigint);
SELECT count(*) FROM again;
SAVEPOINT a;
DROP TABLE again;
CREATE TABLE again (id bigint PRIMARY KEY, a bigint, b bigint);
INSERT INTO again VALUES (5, 5, 5);
ROLLBACK TO a;
SELECT count(*) FROM again;
ROLLBACK;
SELECT 'CREATE TABLE many' || i || ' (id bigint PRIMARY KEY, a bigint, b bigint)' FROM generate_series(1, 5) i \gexec
INSERT INTO many3 VALUES (3, 3, 3);
TRUNCATE many1, many2, many3, many4, many5;
SELECT count(*) FROM many3;
DROP TABLE many1, many2, many3, many4, many5;
\echo == LOCK TABLE, in every mode
BEGIN;
LOCK TABLE links IN ACCESS SHARE MODE; LOCK TABLE links IN ROW SHARE MODE; LOCK TABLE links IN ROW EXCLUSIVE MODE; LOCK TABLE links IN SHARE UPDATE EXCLUSIVE MODE;
LOCK TABLE links IN SHARE MODE; LOCK TABLE links IN SHARE ROW EXCLUSIVE MODE; LOCK TABLE links IN EXCLUSIVE MODE; LOCK TABLE ONLY links IN ACCESS EXCLUSIVE MODE NOWAIT;
SELECT mode FROM pg_locks WHERE relation = 'links'::regclass ORDER BY 1;
UPDATE links SET to_id = 1 WHERE id = 1;
ROLLBACK;
\echo == publications, statistics, comments, labels of columns
CREATE STATISTICS st ON from_id, to_id FROM links;
COMMENT ON STATISTICS st IS 'pair';
COMMENT ON TABLE links IS 'links';
COMMENT ON COLUMN links.from_id IS 'source';
ANALYZE links;
SELECT statistics_name, attnames, n_distinct FROM pg_stats_ext;
SELECT obj_description('links'::regclass), col_description('links'::regclass, 2);
ALTER STATISTICS st RENAME TO st2;
ALTER STATISTICS st2 SET SCHEMA public;
DROP STATISTICS st2;
\echo == table functions, composite values, rows compared
SELECT count(*) FROM (SELECT l FROM links l INTERSECT SELECT l FROM links l) x;
SELECT l FROM links l WHERE l = ROW(5, 5, 5, 2)::links;
SELECT * FROM json_populate_recordset(NULL::links, '[{"id": 1, "to_id": 2}, {"id": 3}]');
INSERT INTO links SELECT * FROM jsonb_populate_recordset(NULL::links, '[{"id": 1001, "to_id": 2, "from_id": 1, "type_id": 1}]') RETURNING to_jsonb(links);
SELECT jsonb_agg(l ORDER BY id) FROM links l WHERE id < 3;
SELECT array_agg(l ORDER BY id) FROM links l WHERE id < 3;
SELECT (array_agg(l ORDER BY id DESC))[1].id FROM links l;
CREATE FUNCTION two_of(n bigint) RETURNS SETOF links LANGUAGE sql STABLE AS $$ SELECT * FROM links WHERE from_id = n ORDER BY id LIMIT 2 $$;
SELECT * FROM two_of(3);
SELECT (two_of(4)).id;
SELECT l.id, s.id FROM links l, two_of(l.to_id) s WHERE l.id = 5;
DROP FUNCTION two_of;
DROP TABLE links CASCADE;
