-- Statistics, estimates within reason, samples, parallel plans.
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint);
CREATE INDEX ON links (from_id);
CREATE INDEX ON links (type_id);
INSERT INTO links SELECT i, i % 1000, i % 100, i % 10 FROM generate_series(1, 50000) i;
UPDATE links SET to_id = to_id WHERE id % 10 = 0;
ANALYZE links;
SELECT reltuples FROM pg_class WHERE oid = 'links'::regclass;
SELECT attname, null_frac, avg_width, CASE WHEN attname = 'id' THEN n_distinct ELSE round(n_distinct) END FROM pg_stats WHERE tablename = 'links' AND attname IN ('id', 'type_id') ORDER BY 1;
SELECT count(*) FROM links TABLESAMPLE SYSTEM (100);
SELECT count(*) FROM links TABLESAMPLE BERNOULLI (100);
SELECT count(*) BETWEEN 20000 AND 30000 FROM links TABLESAMPLE BERNOULLI (50);
SELECT count(*) = 0 FROM links TABLESAMPLE SYSTEM (0);
SELECT count(*) > 0 AND count(*) < 50000 FROM links TABLESAMPLE SYSTEM (30) REPEATABLE (1);
\echo == parallel
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SELECT count(*), sum(id), sum(from_id), sum(to_id), sum(type_id) FROM links;
SELECT count(*), sum(id) FROM links WHERE from_id BETWEEN 10 AND 500;
SELECT count(*), sum(a.id) FROM links a JOIN links b ON a.id = b.from_id;
SELECT type_id, count(*) FROM links GROUP BY 1 ORDER BY 1;
SET enable_seqscan = off;
SELECT count(*), sum(id) FROM links WHERE from_id BETWEEN 10 AND 500;
SELECT count(*), sum(to_id) FROM links WHERE type_id = 3;
SET enable_bitmapscan = off;
SELECT count(*), sum(id) FROM links WHERE from_id BETWEEN 10 AND 500;
SET enable_indexscan = off;
SELECT count(from_id) FROM links WHERE from_id BETWEEN 10 AND 500;
RESET ALL;
\echo == estimates
CREATE FUNCTION estimate(q text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE j json;
BEGIN EXECUTE 'EXPLAIN (FORMAT JSON) ' || q INTO j; RETURN (j -> 0 -> 'Plan' ->> 'Plan Rows')::bigint; END $$;
SELECT estimate('SELECT * FROM links WHERE id = 5');
SELECT estimate('SELECT * FROM links WHERE from_id = 5') BETWEEN 25 AND 100;
SELECT estimate('SELECT * FROM links WHERE type_id = 5') BETWEEN 4000 AND 6000;
SELECT estimate('SELECT * FROM links') BETWEEN 49000 AND 56000;
\echo == work_mem too small for exact bitmaps
SET work_mem = 64;
SET enable_seqscan = off;
SET enable_indexscan = off;
SELECT count(*), sum(id) FROM links WHERE type_id = 3 OR from_id < 500;
RESET ALL;
\echo == TID ranges
SELECT count(*) FROM links WHERE ctid >= '(0,0)';
SELECT count(*) FROM links WHERE ctid < '(0,0)';
SELECT (SELECT count(*) FROM links WHERE ctid < '(50,10)') + (SELECT count(*) FROM links WHERE ctid >= '(50,10)');
SET enable_seqscan = off;
SELECT (SELECT count(*) FROM links WHERE ctid > '(50,10)' AND ctid <= '(90,3)') + (SELECT count(*) FROM links WHERE ctid <= '(50,10)') + (SELECT count(*) FROM links WHERE ctid > '(90,3)');
RESET ALL;
\echo == statistics of use
CREATE TABLE used (id bigint PRIMARY KEY, from_id bigint, to_id bigint);
INSERT INTO used SELECT i, i, i FROM generate_series(1, 100) i;
UPDATE used SET to_id = 1 WHERE id <= 10;
DELETE FROM used WHERE id <= 5;
BEGIN;
INSERT INTO used VALUES (1000, 1, 1);
ROLLBACK;
SELECT pg_stat_force_next_flush();
SELECT n_tup_ins, n_tup_upd, n_tup_del, n_live_tup FROM pg_stat_user_tables WHERE relname = 'used';
SELECT pg_relation_size('used') > 0, pg_table_size('used') > 0, pg_total_relation_size('used') > 0;
