-- Parallel query and JIT forced on everything.
\set QUIET off
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint);
CREATE INDEX ON links (from_id);
CREATE INDEX ON links (to_id);
CREATE INDEX ON links (type_id);
CREATE INDEX ON links (from_id, to_id);
CREATE INDEX ON links (type_id, id);
CREATE INDEX ON links (to_id, type_id, id);
INSERT INTO links SELECT i, i % 500, i % 70, i % 5 FROM generate_series(1, 20000) i;
INSERT INTO links VALUES (-1, NULL, NULL, NULL), (-2, NULL, 5, NULL);
UPDATE links SET to_id = to_id + 1 WHERE id % 10 = 0;
DELETE FROM links WHERE id % 17 = 0;
ANALYZE links;
CREATE FUNCTION plus(bigint) RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS $$ BEGIN RETURN $1 + (SELECT count(*) FROM links WHERE id = $1); END $$;
\set queries 'SELECT count(*), sum(id), sum(from_id), sum(to_id), sum(type_id) FROM links; SELECT count(*), sum(id) FROM links WHERE from_id BETWEEN 10 AND 50; SELECT count(*), sum(id) FROM links WHERE type_id = 3 AND to_id > 60; SELECT count(*), sum(id) FROM links WHERE to_id = 6 AND type_id = 1; SELECT count(*), sum(id) FROM links WHERE from_id IS NULL; SELECT id FROM links ORDER BY id LIMIT 3; SELECT id FROM links WHERE type_id = 2 ORDER BY id DESC LIMIT 3; SELECT type_id, count(*), max(id) FROM links GROUP BY 1 ORDER BY 1; SELECT count(*), sum(a.id) FROM links a JOIN links b ON b.from_id = a.id; SELECT count(*), sum(b.id) FROM links a LEFT JOIN links b ON b.id = a.to_id WHERE a.type_id = 1; SELECT count(*) FROM links a FULL JOIN links b ON a.id = b.from_id AND b.type_id = 1; SELECT count(*) FROM links a WHERE NOT EXISTS (SELECT 1 FROM links b WHERE b.from_id = a.id); SELECT count(DISTINCT to_id), min(from_id), max(to_id) FROM links; SELECT sum(plus(id)) FROM links WHERE from_id < 5; SELECT count(*) FROM (SELECT from_id FROM links WHERE type_id = 1 UNION ALL SELECT to_id FROM links WHERE type_id = 2) x; SELECT from_id, row_number() OVER (ORDER BY id) FROM links WHERE to_id = 5 ORDER BY id LIMIT 3; SELECT count(*), sum(id) FROM links WHERE ctid >= \'(5,1)\' OR ctid < \'(5,1)\'; WITH RECURSIVE w (id, n) AS (SELECT 499::bigint, 0 UNION SELECT l.to_id, n + 1 FROM w JOIN links l ON l.id = w.id WHERE n < 5) SELECT * FROM w ORDER BY n; SELECT count(*) FROM links TABLESAMPLE SYSTEM (100); SELECT count(*), sum(id) FROM links WHERE id = ANY (ARRAY(SELECT to_id FROM links WHERE from_id = 7)); SELECT sum(n) FROM (SELECT count(*) AS n FROM links GROUP BY GROUPING SETS ((from_id), (to_id, type_id), ())) x;'
SET max_parallel_workers_per_gather = 3;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
\echo == parallel
:queries
\echo == without sequential scans
SET enable_seqscan = off;
:queries
\echo == without bitmaps
SET enable_bitmapscan = off;
:queries
\echo == without index scans
SET enable_indexscan = off;
:queries
SET enable_indexonlyscan = off;
SET enable_bitmapscan = on;
:queries
RESET enable_seqscan;
RESET enable_indexscan;
RESET enable_indexonlyscan;
\echo == nested loops, merge joins, without leader
SET enable_hashjoin = off;
:queries
SET enable_mergejoin = off;
SET enable_parallel_hash = off;
SET parallel_leader_participation = off;
:queries
RESET enable_hashjoin;
RESET enable_mergejoin;
SET force_parallel_mode = regress;
:queries
SET max_parallel_workers = 0;
:queries
RESET max_parallel_workers;
RESET parallel_leader_participation;
\echo == in a transaction that has written; subtransactions; cursors; serializable
BEGIN;
UPDATE links SET to_id = 1000 WHERE id % 3 = 0;
SAVEPOINT a;
DELETE FROM links WHERE id % 5 = 0;
INSERT INTO links SELECT i, 1, 1000, 1 FROM generate_series(30001, 30500) i;
SELECT count(*), sum(id) FROM links WHERE to_id = 1000;
SELECT count(*), sum(to_id) FROM links;
ROLLBACK TO a;
SELECT count(*), sum(id) FROM links WHERE to_id = 1000;
SELECT count(*), sum(to_id) FROM links;
DECLARE c CURSOR FOR SELECT from_id, count(*), sum(to_id) FROM links WHERE from_id IN (3, 4, 5) GROUP BY 1 ORDER BY 1;
FETCH 1 FROM c;
DELETE FROM links WHERE from_id = 4;
FETCH ALL FROM c;
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*), sum(id) FROM links WHERE from_id BETWEEN 10 AND 50;
SELECT count(*), sum(id) FROM links WHERE type_id = 3;
UPDATE links SET to_id = 3 WHERE id = 8;
COMMIT;
\echo == tables made from parallel plans; parallel index builds, vacuum
CREATE TABLE copy AS SELECT * FROM links;
SELECT count(*), sum(id) FROM copy;
SELECT id, from_id, to_id INTO copy2 FROM links WHERE type_id = 1;
SELECT count(*), sum(id) FROM copy2;
CREATE MATERIALIZED VIEW m AS SELECT from_id, count(*), sum(id)::bigint FROM links GROUP BY 1;
REFRESH MATERIALIZED VIEW m;
SELECT sum(count), sum(sum) FROM m;
SET max_parallel_maintenance_workers = 4;
ALTER TABLE links SET (parallel_workers = 4);
CREATE INDEX again ON links (to_id, from_id, id);
CREATE UNIQUE INDEX unique_again ON links (id, type_id);
CREATE INDEX expr ON links ((from_id * 2), type_id);
CREATE INDEX part ON links (to_id) WHERE type_id IS NULL OR type_id > 2;
REINDEX TABLE links;
REINDEX TABLE CONCURRENTLY links;
DELETE FROM links WHERE id % 19 = 0;
VACUUM (PARALLEL 4) links;
INSERT INTO links SELECT i, i % 500, i % 70, i % 5 FROM generate_series(40001, 41000) i;
SET enable_seqscan = off;
SELECT count(*), sum(id) FROM links WHERE to_id = 30 AND from_id > 400;
SELECT count(*), sum(id) FROM links WHERE from_id * 2 = 30;
SELECT count(*), sum(id) FROM links WHERE to_id < 20 AND (type_id IS NULL OR type_id > 2);
RESET enable_seqscan;
:queries
RESET ALL;
\echo == JIT
SET jit = on;
SET jit_above_cost = 0;
SET jit_inline_above_cost = 0;
SET jit_optimize_above_cost = 0;
SELECT count(*), sum(id), sum(from_id), sum(to_id), sum(type_id) FROM links WHERE from_id + to_id > 100;
SELECT type_id, count(*), sum(from_id * to_id), max(id) FROM links WHERE id % 3 <> 1 GROUP BY 1 ORDER BY 1;
SELECT id, from_id, to_id, type_id, l.*::links IS NULL, l IS NOT NULL FROM links l WHERE id < 3 ORDER BY id;
SELECT links FROM links WHERE from_id = 3 AND to_id + type_id < 10 ORDER BY id LIMIT 5;
SELECT ctid IS NULL, xmin = 0, tableoid::regclass, id FROM links WHERE id = 5;
SELECT count(*), sum(a.id) FROM links a JOIN links b ON b.from_id = a.id AND b.to_id > a.type_id;
UPDATE links SET to_id = to_id + from_id WHERE id < 10 RETURNING id, to_id, xmax = 0;
INSERT INTO links VALUES (5, 1, 1, 1) ON CONFLICT (id) DO UPDATE SET to_id = links.to_id + excluded.to_id RETURNING *;
DELETE FROM links WHERE from_id % 7 = 3 AND id < 100 RETURNING id;
MERGE INTO links t USING (SELECT id, to_id FROM links WHERE id < 20) s ON t.id = s.id + 1 WHEN MATCHED AND s.to_id > 5 THEN UPDATE SET to_id = s.to_id WHEN NOT MATCHED THEN DO NOTHING;
SELECT count(*), sum(id), sum(to_id) FROM links;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*), sum(id), sum(from_id), sum(to_id), sum(type_id) FROM links WHERE from_id + to_id > 100;
RESET ALL;
DROP TABLE links, copy, copy2 CASCADE;
