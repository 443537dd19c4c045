-- Real indexes of every kind over a table that changes a lot: each says what a sequential scan says, whatever was vacuumed
-- and whatever slots are used again.
\set QUIET off
SELECT count(*) = 4 AS there FROM pg_available_extensions WHERE name IN ('btree_gin', 'btree_gist', 'bloom', 'amcheck') \gset
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint) WITH (autovacuum_enabled = off);
CREATE INDEX n1 ON links (from_id);
CREATE INDEX n2 ON links (type_id, id);
SET pg_doublets.adopt_indexes = off;
CREATE UNIQUE INDEX b_id ON links (id);
CREATE INDEX b_from ON links (from_id);
CREATE INDEX b_to_desc ON links (to_id DESC NULLS LAST);
CREATE INDEX b_type ON links (type_id);
RESET pg_doublets.adopt_indexes;
CREATE INDEX b_three ON links (from_id, to_id, type_id);
CREATE INDEX b_four ON links (type_id, to_id, from_id, id);
CREATE INDEX b_inc ON links (to_id) INCLUDE (id, type_id);
CREATE UNIQUE INDEX b_uinc ON links (id) INCLUDE (from_id);
CREATE INDEX b_part ON links (from_id) WHERE type_id = 1;
CREATE UNIQUE INDEX b_upart ON links (from_id, to_id, id) WHERE type_id IS NULL;
CREATE INDEX b_expr ON links ((from_id % 10), (coalesce(to_id, -1)));
CREATE UNIQUE INDEX b_uexpr ON links ((id * 2 + 1));
CREATE INDEX h_from ON links USING hash ((from_id + 0));
CREATE INDEX h_part ON links USING hash (to_id) WHERE type_id > 1;
CREATE INDEX br ON links USING brin (id, from_id) WITH (pages_per_range = 2);
CREATE INDEX br_multi ON links USING brin (to_id int8_minmax_multi_ops, type_id int8_bloom_ops) WITH (pages_per_range = 3, autosummarize = off);
CREATE INDEX g_arr ON links USING gin ((ARRAY[from_id, to_id, type_id]));
CREATE INDEX g_slow ON links USING gin ((ARRAY[id, to_id])) WITH (fastupdate = off);
CREATE INDEX gs_point ON links USING gist (point(from_id, to_id));
CREATE INDEX sp_point ON links USING spgist (point(id, to_id));
CREATE INDEX gs_range ON links USING gist (int8range(least(from_id, to_id), greatest(from_id, to_id), '[]'));
\if :there
CREATE EXTENSION btree_gin;
CREATE EXTENSION btree_gist;
CREATE EXTENSION bloom;
CREATE EXTENSION amcheck;
CREATE INDEX g_int ON links USING gin (from_id, to_id);
CREATE INDEX gs_int ON links USING gist (type_id, id);
CREATE INDEX bl ON links USING bloom ((from_id::int), (to_id::int));
CREATE FUNCTION checked() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bt_index_check(c.oid, true) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = 'links'::regclass AND a.amname = 'btree' AND i.indisvalid;
  PERFORM bt_index_parent_check(c.oid, true, true) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = 'links'::regclass AND a.amname = 'btree' AND i.indisvalid;
END $$;
\else
CREATE FUNCTION checked() RETURNS void LANGUAGE sql AS '';
\endif
CREATE TABLE queries (n serial, q text) USING heap;
INSERT INTO queries (q) VALUES
  ('id = 7'), ('id = ANY (''{1,5,9,100001,100500,200001}'')'), ('id BETWEEN 100 AND 120'), ('id > 100000 AND id < 100050'),
  ('from_id = 3'), ('from_id = 3 AND to_id = 5'), ('from_id = 3 AND to_id = 5 AND type_id = 1'), ('from_id IN (1, 4, 77)'), ('from_id IS NULL'), ('from_id > 95'),
  ('to_id = 5'), ('to_id BETWEEN 2 AND 3'), ('to_id IS NULL AND type_id = 2'), ('to_id > 500'), ('to_id IS NOT NULL AND to_id < 1'),
  ('type_id = 1'), ('type_id = 1 AND to_id = 3'), ('type_id IS NULL'), ('type_id = 2 AND id < 500'), ('type_id = 1 AND from_id = 3'), ('type_id IS NULL AND from_id = 5'),
  ('from_id % 10 = 3'), ('from_id % 10 = 3 AND coalesce(to_id, -1) = -1'), ('id * 2 + 1 = 15'), ('id * 2 + 1 BETWEEN 200 AND 300'),
  ('from_id + 0 = 33'), ('to_id = 5 AND type_id > 1 AND type_id = 2'), ('id < 300 AND from_id = 3'), ('to_id = 777 AND type_id = 2'),
  ('ARRAY[from_id, to_id, type_id] @> ''{3,5}'''), ('ARRAY[from_id, to_id, type_id] && ''{777,99}'''), ('ARRAY[id, to_id] @> ''{7}'''),
  ('point(from_id, to_id) <@ box ''((3,5),(7,9))'''), ('point(id, to_id) <@ box ''((100,0),(130,3))'''), ('int8range(least(from_id, to_id), greatest(from_id, to_id), ''[]'') @> 777::bigint'),
  ('from_id = 3 OR to_id = 777 OR id = 9'), ('(from_id = 3 OR type_id IS NULL) AND (to_id = 5 OR id < 100)'), ('from_id::int = 3 AND to_id::int = 5');
CREATE FUNCTION agree(what text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  r record;
  want text;
  got text;
  way text[];
  n int := 0;
BEGIN
  FOR r IN SELECT * FROM queries ORDER BY 1 LOOP
    PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true), set_config('enable_bitmapscan', 'off', true);
    EXECUTE 'SELECT concat_ws('' '', count(*), sum(id), sum(from_id), sum(to_id), sum(type_id), sum(hashint8(id))) FROM links WHERE ' || r.q INTO want;
    PERFORM set_config('enable_seqscan', 'off', true);
    FOREACH way SLICE 1 IN ARRAY '{{on,off,off},{off,on,off},{off,off,on},{on,on,on}}'::text[] LOOP
      PERFORM set_config('enable_indexscan', way[1], true), set_config('enable_indexonlyscan', way[2], true), set_config('enable_bitmapscan', way[3], true);
      EXECUTE 'SELECT concat_ws('' '', count(*), sum(id), sum(from_id), sum(to_id), sum(type_id), sum(hashint8(id))) FROM links WHERE ' || r.q INTO got;
      IF got IS DISTINCT FROM want THEN RETURN NEXT format('%s: WHERE %s: %s by sequential scan, %s by %s', what, r.q, want, got, way); END IF;
      n := n + 1;
    END LOOP;
  END LOOP;
  PERFORM checked();
  RETURN NEXT format('%s: %s compared, %s rows, sum %s', what, n, (SELECT count(*) FROM links), (SELECT sum(hashint8(id)) FROM links));
END $$;
SELECT agree('empty');
INSERT INTO links SELECT i, i % 100, nullif(i % 13, 7), nullif(i % 4, 3) FROM generate_series(1, 3000) i;
ANALYZE links;
SELECT agree('filled');
\echo == kinds of change
UPDATE links SET to_id = 777 WHERE id % 50 = 0;
SELECT agree('one end');
UPDATE links SET from_id = nullif(to_id, 4), to_id = from_id WHERE id % 7 = 0;
UPDATE links SET id = id + 100000 WHERE id % 11 = 0;
UPDATE links SET type_id = NULL WHERE id % 17 = 0;
SELECT agree('more ends');
DELETE FROM links WHERE id % 5 = 0;
SELECT agree('deleted');
BEGIN;
UPDATE links SET from_id = from_id + 1, to_id = NULL;
INSERT INTO links SELECT i, 3, 5, 1 FROM generate_series(200001, 200500) i;
DELETE FROM links WHERE id % 2 = 0;
SELECT agree('in a transaction');
ROLLBACK;
SELECT agree('rolled back');
\echo == slots used again: deleted, vacuumed, others inserted
VACUUM links;
SELECT agree('vacuumed');
INSERT INTO links SELECT i, i % 90 + 10, i % 6, i % 3 FROM generate_series(200001, 201000) i;
SELECT agree('used again');
DELETE FROM links WHERE from_id = 3 OR to_id = 5 OR id % 3 = 0;
VACUUM links;
INSERT INTO links SELECT i, i % 5, i % 6 + 700, i % 4 FROM generate_series(300001, 302000) i;
SELECT agree('and again');
DO $$
BEGIN
  FOR i IN 1..20 LOOP
    DELETE FROM links WHERE id % 20 = i % 20;
    INSERT INTO links SELECT 400000 + i * 1000 + k, k % 50, nullif(k % 9, i % 9), nullif(k % 5, 3) FROM generate_series(1, 100) k;
    UPDATE links SET to_id = to_id + i WHERE id % 9 = i % 9;
  END LOOP;
END $$;
SELECT agree('churned');
VACUUM (INDEX_CLEANUP off) links;
INSERT INTO links SELECT i, 3, 5, 1 FROM generate_series(500001, 500300) i;
SELECT agree('index cleanup off');
VACUUM (INDEX_CLEANUP on) links;
INSERT INTO links SELECT i, 33, 777, 2 FROM generate_series(600001, 600300) i;
SELECT agree('index cleanup on');
SET maintenance_work_mem = '1MB';
UPDATE links SET to_id = to_id + 1, from_id = from_id - 1;
UPDATE links SET to_id = to_id - 1, from_id = from_id + 1;
VACUUM (PARALLEL 0) links;
INSERT INTO links SELECT i, 13, NULL, NULL FROM generate_series(700001, 700300) i;
SELECT agree('small memory');
RESET maintenance_work_mem;
DELETE FROM links WHERE id > 300000 AND id % 2 = 0;
VACUUM (PARALLEL 4, FREEZE) links;
INSERT INTO links SELECT i, i % 20, 5, 1 FROM generate_series(800001, 800300) i;
SELECT agree('parallel');
SELECT brin_summarize_new_values('br') IS NOT NULL, brin_desummarize_range('br', 0) IS NOT NULL, brin_summarize_range('br', 0) IS NOT NULL, brin_summarize_new_values('br_multi') IS NOT NULL, gin_clean_pending_list('g_arr') IS NOT NULL;
SELECT agree('summarized');
\echo == rebuilt
REINDEX TABLE links;
SELECT agree('reindexed');
DELETE FROM links WHERE id % 3 = 1;
VACUUM links;
INSERT INTO links SELECT i, i % 20, 5, 1 FROM generate_series(900001, 900300) i;
REINDEX TABLE CONCURRENTLY links;
SELECT agree('concurrently');
UPDATE links SET from_id = 3 WHERE id % 4 = 0;
CLUSTER links USING b_three;
SELECT agree('clustered');
VACUUM FULL links;
SELECT agree('full');
ALTER TABLE links SET UNLOGGED;
ALTER TABLE links SET LOGGED;
SELECT agree('unlogged and back');
ALTER TABLE links SET ACCESS METHOD heap;
SELECT agree('heap');
DELETE FROM links WHERE id % 13 = 1;
ALTER TABLE links SET ACCESS METHOD :am;
SELECT agree('back');
BEGIN;
TRUNCATE links;
INSERT INTO links VALUES (1, 3, 5, 1), (2, 3, 777, 2);
SELECT agree('truncated');
ROLLBACK;
SELECT agree('not truncated');
\echo == unique, among native and real ones
INSERT INTO links VALUES (-1, 1, 1, 1);
INSERT INTO links VALUES (-1, 1, 1, 1);
INSERT INTO links VALUES (-1, 1, 1, 1) ON CONFLICT DO NOTHING;
INSERT INTO links VALUES (-1, 1, 1, 1) ON CONFLICT (id) DO UPDATE SET to_id = links.to_id + 1 RETURNING *;
INSERT INTO links VALUES (-1, 1, 1, 1) ON CONFLICT ((id * 2 + 1)) DO UPDATE SET to_id = links.to_id + 1 RETURNING *;
INSERT INTO links VALUES (-2, 1, 1, NULL), (-3, 1, 1, NULL);
INSERT INTO links VALUES (-2, 1, 1, NULL) ON CONFLICT (from_id, to_id, id) WHERE type_id IS NULL DO UPDATE SET to_id = links.to_id RETURNING *;
INSERT INTO links VALUES (-4, 1, 1, NULL) ON CONFLICT (from_id, to_id) DO NOTHING;
DELETE FROM links WHERE id = -3;
CREATE UNIQUE INDEX u_pair ON links (from_id, to_id) WHERE id < -1;
INSERT INTO links VALUES (-5, 1, 1, 9);
INSERT INTO links VALUES (-5, 1, 1, 9) ON CONFLICT (id) DO NOTHING;
INSERT INTO links VALUES (-5, 1, 1, 9) ON CONFLICT DO NOTHING RETURNING *;
INSERT INTO links VALUES (-5, 1, 1, 9), (-6, 2, 2, 9) ON CONFLICT (from_id, to_id) WHERE id < -1 DO UPDATE SET type_id = 10 RETURNING *;
INSERT INTO links VALUES (-7, 7, 7, 7), (-7, 8, 8, 8) ON CONFLICT DO NOTHING RETURNING *;
INSERT INTO links VALUES (-8, 7, 8, 7), (-9, 7, 8, 8) ON CONFLICT (from_id, to_id) WHERE id < -1 DO UPDATE SET type_id = 10;
UPDATE links SET from_id = 1, to_id = 1 WHERE id = -7;
UPDATE links SET id = -2 WHERE id = -7;
DELETE FROM links WHERE id = -2;
INSERT INTO links VALUES (-2, 1, 1, NULL);
DELETE FROM links WHERE id = -2;
VACUUM links;
INSERT INTO links VALUES (-2, 1, 1, NULL);
BEGIN;
DELETE FROM links WHERE id = -2;
INSERT INTO links VALUES (-22, 1, 1, NULL);
SAVEPOINT a;
INSERT INTO links VALUES (-2, 1, 1, NULL);
ROLLBACK TO a;
DELETE FROM links WHERE id = -22;
INSERT INTO links VALUES (-2, 1, 1, NULL);
COMMIT;
ALTER TABLE links ADD CONSTRAINT late UNIQUE (to_id, from_id, type_id, id) DEFERRABLE INITIALLY DEFERRED;
BEGIN;
UPDATE links SET id = CASE id WHEN -2 THEN -7 WHEN -7 THEN -2 END WHERE id IN (-2, -7);
ROLLBACK;
DELETE FROM links WHERE id < 0;
\if :there
\echo == exclusion
CREATE TABLE spans (id bigint PRIMARY KEY, low bigint, high bigint, type_id bigint, EXCLUDE USING gist (type_id WITH =, int8range(low, high) WITH &&));
INSERT INTO spans VALUES (1, 0, 10, 1), (2, 10, 20, 1), (3, 5, 15, 2);
INSERT INTO spans VALUES (4, 5, 15, 1);
INSERT INTO spans VALUES (4, 5, 15, 1) ON CONFLICT DO NOTHING;
INSERT INTO spans VALUES (4, 5, 15, 1) ON CONFLICT (id) DO NOTHING;
UPDATE spans SET high = 11 WHERE id = 1;
UPDATE spans SET low = 11 WHERE id = 2;
UPDATE spans SET high = 11 WHERE id = 1;
DELETE FROM spans WHERE id = 1;
INSERT INTO spans VALUES (5, 0, 11, 1);
ALTER TABLE spans ADD CONSTRAINT other EXCLUDE USING gist (low WITH <>, id WITH =) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE spans ADD CONSTRAINT apart EXCLUDE USING spgist (int8range(low, high) WITH &&) WHERE (type_id = 2);
INSERT INTO spans VALUES (6, 14, 16, 2);
DELETE FROM spans WHERE id = 3;
VACUUM spans;
INSERT INTO spans VALUES (6, 14, 16, 2);
BEGIN;
INSERT INTO spans VALUES (7, 0, 14, 2);
SAVEPOINT a;
UPDATE spans SET high = 15 WHERE id = 7;
ROLLBACK TO a;
UPDATE spans SET low = 1 WHERE id = 7;
COMMIT;
SELECT * FROM spans ORDER BY id;
DROP TABLE spans;
\echo == nearest neighbours
SELECT id, from_id, to_id FROM links ORDER BY point(from_id, to_id) <-> point(3, 5), id LIMIT 3;
SELECT id FROM links ORDER BY from_id <-> 3, id LIMIT 3;
\endif
\echo == index-only scans, and bitmaps of native and real ones together
VACUUM links;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_indexscan = off;
SELECT count(*), sum(id), sum(type_id) FROM (SELECT to_id, id, type_id FROM links WHERE to_id = 5) x;
UPDATE links SET to_id = 5 WHERE id % 31 = 0;
SELECT count(*), sum(id), sum(type_id) FROM (SELECT to_id, id, type_id FROM links WHERE to_id = 5) x;
SELECT id, from_id FROM links WHERE id BETWEEN 1 AND 40 ORDER BY id LIMIT 5;
RESET enable_bitmapscan;
RESET enable_indexscan;
SELECT agree('at the end');
DELETE FROM links;
VACUUM links;
SELECT agree('nothing left');
INSERT INTO links SELECT i, i % 100, nullif(i % 13, 7), nullif(i % 4, 3) FROM generate_series(1, 3000) i;
SELECT agree('filled again');
DROP TABLE links CASCADE;
