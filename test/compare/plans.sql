-- Prepared statements, generic plans, plans that DDL makes invalid, EXPLAIN in its forms.
\set QUIET off
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint);
CREATE INDEX by_source ON links (from_id);
CREATE INDEX by_type ON links (type_id, id);
INSERT INTO links SELECT i, i % 10, i % 7, i % 3 FROM generate_series(1, 2000) i;
ANALYZE links;
\echo == generic and custom
PREPARE one (bigint) AS SELECT * FROM links WHERE id = $1;
PREPARE src (bigint) AS SELECT count(*), sum(id) FROM links WHERE from_id = $1;
PREPARE many (bigint[]) AS SELECT count(*), sum(id) FROM links WHERE id = ANY ($1);
PREPARE span (bigint, bigint) AS SELECT count(*), sum(id) FROM links WHERE id BETWEEN $1 AND $2;
PREPARE typ (bigint, bigint) AS SELECT id FROM links WHERE type_id = $1 AND id > $2 ORDER BY id LIMIT 3;
PREPARE nul AS SELECT count(*) FROM links WHERE from_id IS NOT DISTINCT FROM $1;
PREPARE ins (bigint, bigint) AS INSERT INTO links VALUES ($1, $2, $2, 1) ON CONFLICT (id) DO UPDATE SET to_id = links.to_id + excluded.to_id RETURNING *;
PREPARE upd (bigint) AS UPDATE links SET to_id = to_id + 1 WHERE from_id = $1;
PREPARE del (bigint) AS DELETE FROM links WHERE id = $1 RETURNING id;
PREPARE mrg (bigint) AS MERGE INTO links t USING (SELECT $1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET to_id = 0 WHEN NOT MATCHED THEN INSERT VALUES (s.id, 1, 1, 1);
PREPARE lck (bigint) AS SELECT id FROM links WHERE id = $1 FOR UPDATE;
\set run 'EXECUTE one (5); EXECUTE one (-1); EXECUTE src (3); EXECUTE src (NULL); EXECUTE many (''{1,2,3,NULL,2,99999}''); EXECUTE many (NULL); EXECUTE many (''{}''); EXECUTE span (5, 10); EXECUTE span (10, 5); EXECUTE span (NULL, 5); EXECUTE typ (1, 100); EXECUTE nul (NULL); EXECUTE nul (3); EXECUTE ins (5, 1); EXECUTE upd (3); EXECUTE mrg (6); EXECUTE lck (7);'
SET plan_cache_mode = force_generic_plan;
:run
SET plan_cache_mode = force_custom_plan;
:run
RESET plan_cache_mode;
:run :run :run :run :run :run
SELECT name, generic_plans + custom_plans FROM pg_prepared_statements WHERE name <> 'x' ORDER BY name;
\echo == DDL under prepared statements
SET plan_cache_mode = force_generic_plan;
DROP INDEX by_source;
:run
CREATE INDEX by_source ON links (from_id);
:run
ALTER TABLE links DROP CONSTRAINT links_pkey;
EXECUTE one (5);
EXECUTE ins (5, 1);
ALTER TABLE links ADD PRIMARY KEY (id);
:run
ALTER TABLE links SET ACCESS METHOD heap;
:run
ALTER TABLE links SET ACCESS METHOD :am;
:run
TRUNCATE links;
EXECUTE one (5);
EXECUTE ins (5, 1);
EXECUTE src (1);
INSERT INTO links SELECT i, i % 10, i % 7, i % 3 FROM generate_series(1, 2000) i ON CONFLICT DO NOTHING;
REINDEX TABLE links;
:run
VACUUM FULL links;
:run
CLUSTER links USING by_source;
:run
ALTER TABLE links RENAME to_id TO target;
EXECUTE one (5);
EXECUTE ins (5, 1);
ALTER TABLE links RENAME target TO to_id;
:run
ALTER TABLE links RENAME TO edges;
EXECUTE one (5);
ALTER TABLE edges RENAME TO links;
ALTER TABLE links ALTER to_id SET DEFAULT 3, ADD CHECK (to_id > -5);
:run
CREATE SCHEMA s;
CREATE TABLE s.links (LIKE links INCLUDING ALL);
SET search_path = s, public;
EXECUTE src (3);
INSERT INTO links SELECT * FROM public.links WHERE id < 100;
EXECUTE src (3);
RESET search_path;
EXECUTE src (3);
DROP TABLE s.links;
BEGIN;
DROP TABLE links;
SAVEPOINT a;
EXECUTE one (5);
ROLLBACK;
EXECUTE one (5);
BEGIN;
ALTER TABLE links SET UNLOGGED;
EXECUTE src (3);
EXECUTE ins (5, 1);
ROLLBACK;
EXECUTE src (3);
RESET plan_cache_mode;
\echo == functions that keep plans
CREATE FUNCTION look(bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN (SELECT count(*) FROM links WHERE from_id = $1); END $$;
CREATE FUNCTION put(bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE r bigint;
BEGIN INSERT INTO links VALUES ($1, 1, 1, 1) ON CONFLICT (id) DO UPDATE SET to_id = links.to_id + 1 RETURNING to_id INTO r; RETURN r; END $$;
SELECT look(3), put(5), put(99999);
TRUNCATE links;
SELECT look(3), put(5), put(5), put(5), look(1);
DO $$
BEGIN
  FOR i IN 1..3 LOOP
    PERFORM put(i), look(i);
    DROP INDEX IF EXISTS by_source;
    RAISE NOTICE '% %', put(i), look(1);
    CREATE INDEX by_source ON links (from_id);
    RAISE NOTICE '% %', put(i), look(1);
    TRUNCATE links;
    RAISE NOTICE '% %', put(i), look(1);
  END LOOP;
END $$;
INSERT INTO links SELECT i, i % 10, i % 7, i % 3 FROM generate_series(1, 2000) i ON CONFLICT DO NOTHING;
\echo == EXPLAIN
ANALYZE links;
CREATE FUNCTION explain(options text, query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (' || options || ') ' || query LOOP
    CONTINUE WHEN line ~ '(Buffers|WAL|Planning|I/O|Memory|Heap Blocks|Heap Fetches|Execution)';
    RETURN NEXT regexp_replace(line, '\(cost[^)]*\)|\(actual[^r]*rows|width=\d+', '', 'g');
  END LOOP;
END $$;
SET enable_bitmapscan = off;
SELECT explain('ANALYZE, BUFFERS, WAL, TIMING OFF, SUMMARY OFF, COSTS OFF', 'SELECT * FROM links WHERE id = 5');
SELECT explain('ANALYZE, BUFFERS, VERBOSE, TIMING OFF, SUMMARY OFF, COSTS OFF', 'SELECT id FROM links WHERE id BETWEEN 5 AND 10 ORDER BY id');
SELECT explain('ANALYZE, BUFFERS, WAL, TIMING OFF, SUMMARY OFF, COSTS OFF', 'INSERT INTO links VALUES (5, 1, 1, 1), (70000, 1, 1, 1) ON CONFLICT (id) DO NOTHING');
SELECT explain('ANALYZE, BUFFERS, WAL, TIMING OFF, SUMMARY OFF, COSTS OFF', 'UPDATE links SET to_id = 5 WHERE id = 70000');
SELECT explain('ANALYZE, BUFFERS, WAL, TIMING OFF, SUMMARY OFF, COSTS OFF', 'DELETE FROM links WHERE id = 70000');
SELECT explain('ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF, COSTS OFF', 'SELECT count(*) FROM links');
SELECT explain('ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF, COSTS OFF', 'SELECT * FROM links WHERE ctid = ''(0,0)''');
SELECT explain('ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF', 'SELECT * FROM links WHERE id = 7 FOR UPDATE');
SELECT explain('SETTINGS, GENERIC_PLAN', 'SELECT 1');
RESET enable_bitmapscan;
EXPLAIN (COSTS OFF) SELECT * FROM links WHERE false;
EXPLAIN (COSTS OFF) SELECT min(id), max(id) FROM links;
EXPLAIN (COSTS OFF) SELECT * FROM links ORDER BY id LIMIT 1;
EXPLAIN (COSTS OFF) EXECUTE one (5);
EXPLAIN (FORMAT JSON, COSTS OFF) SELECT * FROM links WHERE id = 5;
EXPLAIN (FORMAT XML, COSTS OFF) DELETE FROM links WHERE id = 5;
EXPLAIN (FORMAT YAML, COSTS OFF) SELECT 1 FROM links WHERE id = 5;
\echo == constraint exclusion, joins removed, materialized and memoized
ALTER TABLE links ADD CONSTRAINT big CHECK (id > 0);
SET constraint_exclusion = on;
EXPLAIN (COSTS OFF) SELECT * FROM links WHERE id < 0;
EXPLAIN (COSTS OFF) SELECT a.* FROM links a LEFT JOIN links b ON a.from_id = b.id WHERE a.id = 5;
SELECT count(*), sum(a.id) FROM links a, LATERAL (SELECT * FROM links b WHERE b.id = a.from_id OFFSET 0) x;
SELECT count(*), sum(x) FROM links a, LATERAL (SELECT sum(b.id) AS x FROM links b WHERE b.from_id = a.to_id LIMIT 5) y WHERE a.id < 50;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT count(*), sum(a.id) FROM links a JOIN links b ON a.id = b.from_id;
SELECT count(*), sum(a.id) FROM links a JOIN links b ON a.from_id = b.id AND b.type_id = a.type_id;
SELECT count(*) FROM links a FULL JOIN links b ON a.id = b.from_id;
SET enable_sort = off;
SELECT count(*), sum(a.id) FROM links a JOIN links b ON a.id = b.from_id;
RESET ALL;
DEALLOCATE ALL;
DROP TABLE links CASCADE;
