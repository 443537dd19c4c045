-- VACUUM, ANALYZE, CLUSTER, REINDEX and CREATE INDEX CONCURRENTLY in all forms, and what they refuse.
\set QUIET off
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint) WITH (autovacuum_enabled = off);
CREATE INDEX by_source ON links (from_id);
CREATE INDEX by_type ON links (type_id, id);
CREATE INDEX real ON links (to_id, type_id, id);
CREATE INDEX expr ON links ((from_id + to_id)) WHERE type_id = 1;
INSERT INTO links SELECT i, i % 10, i % 7, i % 3 FROM generate_series(1, 5000) i;
CREATE FUNCTION state() RETURNS SETOF text LANGUAGE sql SET enable_seqscan = off AS $$
  SELECT concat_ws(' ', count(*), sum(id), sum(from_id), sum(to_id), sum(type_id)) FROM links UNION ALL
  SELECT concat_ws(' ', count(*), sum(id)) FROM links WHERE from_id = 3 UNION ALL
  SELECT concat_ws(' ', count(*), sum(id)) FROM links WHERE type_id = 1 AND id > 2000 UNION ALL
  SELECT concat_ws(' ', count(*), sum(id)) FROM links WHERE to_id = 3 AND type_id = 2 UNION ALL
  SELECT concat_ws(' ', count(*), sum(id)) FROM links WHERE from_id + to_id = 5 AND type_id = 1 $$;
\set churn 'UPDATE links SET to_id = to_id + 1 WHERE id % 4 = 0; DELETE FROM links WHERE id % 11 = 0; INSERT INTO links SELECT i + (SELECT max(id) FROM links), i % 10, i % 7, i % 3 FROM generate_series(1, 300) i; UPDATE links SET id = id + 1000000 WHERE id % 97 = 0;'
\echo == vacuum
:churn
VACUUM links;
SELECT state();
:churn
VACUUM (VERBOSE off, ANALYZE) links;
SELECT state();
:churn
VACUUM (FREEZE, INDEX_CLEANUP off, TRUNCATE off) links;
SELECT state();
:churn
VACUUM (INDEX_CLEANUP on, PROCESS_TOAST off, SKIP_LOCKED, DISABLE_PAGE_SKIPPING) links;
SELECT state();
:churn
VACUUM (INDEX_CLEANUP auto, PARALLEL 2) links;
SELECT state();
:churn
VACUUM (PARALLEL 0) links (id, to_id);
VACUUM ANALYZE links (id, to_id);
VACUUM ANALYZE links (id, nothing);
VACUUM ANALYZE links (id, id);
SELECT state();
:churn
VACUUM (FULL, PARALLEL 2) links;
VACUUM (FULL, FREEZE, ANALYZE) links;
SELECT state();
:churn
SET vacuum_cost_delay = 0.01;
SET vacuum_cost_limit = 100;
VACUUM links;
RESET vacuum_cost_delay;
SET maintenance_work_mem = '1MB';
:churn
VACUUM links;
RESET maintenance_work_mem;
SELECT state();
VACUUM links, links;
BEGIN;
VACUUM links;
ROLLBACK;
DO $$ BEGIN EXECUTE 'VACUUM links'; END $$;
VACUUM by_source;
VACUUM nothing;
VACUUM (FULL, DISABLE_PAGE_SKIPPING) links;
SET vacuum_freeze_min_age = 0;
SET vacuum_freeze_table_age = 0;
SET vacuum_multixact_freeze_min_age = 0;
:churn
BEGIN;
SELECT count(*) FROM links WHERE id < 100;
SELECT id FROM links WHERE id < 5 ORDER BY id FOR SHARE;
SAVEPOINT a;
SELECT id FROM links WHERE id < 5 ORDER BY id FOR UPDATE;
COMMIT;
VACUUM links;
SELECT state();
SELECT age(relfrozenxid) < 100, mxid_age(relminmxid) < 100 FROM pg_class WHERE oid = 'links'::regclass;
RESET vacuum_freeze_min_age;
RESET vacuum_freeze_table_age;
RESET vacuum_multixact_freeze_min_age;
\echo == truncation at the end
DELETE FROM links WHERE id > 100;
VACUUM links;
SELECT state();
DELETE FROM links;
VACUUM links;
SELECT state();
SELECT pg_relation_size('links') < 10 * 8192;
INSERT INTO links SELECT i, i % 10, i % 7, i % 3 FROM generate_series(1, 5000) i;
VACUUM (TRUNCATE off, ANALYZE) links;
SELECT reltuples FROM pg_class WHERE oid = 'links'::regclass;
SELECT state();
\echo == analyze
ANALYZE VERBOSE nothing;
ANALYZE links (id);
ANALYZE (SKIP_LOCKED) links (id, from_id);
BEGIN;
DELETE FROM links WHERE id > 4000;
ANALYZE links;
SELECT reltuples FROM pg_class WHERE oid = 'links'::regclass;
ROLLBACK;
ANALYZE links;
SELECT reltuples FROM pg_class WHERE oid = 'links'::regclass;
SELECT attname, null_frac, n_distinct, correlation IS NOT NULL, array_length(histogram_bounds::text::bigint[], 1) FROM pg_stats WHERE tablename = 'links' ORDER BY 1;
SELECT attname, n_distinct FROM pg_stats WHERE tablename = 'expr';
CREATE STATISTICS st (ndistinct, dependencies, mcv) ON from_id, to_id, type_id FROM links;
CREATE STATISTICS st2 ON (from_id + to_id), type_id FROM links;
ANALYZE links;
SELECT stxdndistinct, stxddependencies IS NOT NULL, (SELECT count(*) FROM pg_mcv_list_items(stxdmcv)) FROM pg_statistic_ext_data d JOIN pg_statistic_ext e ON e.oid = stxoid ORDER BY stxname;
ALTER STATISTICS st SET STATISTICS 10;
DROP STATISTICS st;
\echo == cluster
CLUSTER links;
CLUSTER links USING by_source;
SELECT bool_and(from_id >= before) FROM (SELECT from_id, lag(from_id) OVER (ORDER BY ctid) AS before FROM links) x;
SELECT state();
:churn
CLUSTER (VERBOSE off) links;
SELECT bool_and(from_id >= before) FROM (SELECT from_id, lag(from_id) OVER (ORDER BY ctid) AS before FROM links) x;
CLUSTER links USING real;
SELECT bool_and((to_id, type_id, id) >= before) FROM (SELECT to_id, type_id, id, lag((to_id, type_id, id)) OVER (ORDER BY ctid) AS before FROM links) x;
CLUSTER links USING expr;
CLUSTER links USING nothing;
SELECT state();
BEGIN;
CLUSTER links USING links_pkey;
UPDATE links SET to_id = 0 WHERE id < 100;
SELECT state();
ROLLBACK;
SELECT state();
BEGIN;
DELETE FROM links WHERE id % 2 = 0;
UPDATE links SET to_id = to_id + 1 WHERE id % 3 = 0;
CLUSTER links USING links_pkey;
SELECT state();
COMMIT;
SELECT state();
CLUSTER;
SET enable_indexscan = off;
CLUSTER links USING by_type;
SET maintenance_work_mem = '1MB';
CLUSTER links USING by_source;
RESET ALL;
SELECT state();
SELECT indexrelid::regclass FROM pg_index WHERE indisclustered AND indrelid = 'links'::regclass;
\echo == reindex
:churn
REINDEX TABLE links;
REINDEX (VERBOSE off) INDEX by_source;
REINDEX INDEX real;
REINDEX (CONCURRENTLY) INDEX real;
REINDEX INDEX CONCURRENTLY by_source;
REINDEX INDEX CONCURRENTLY links_pkey;
REINDEX TABLE CONCURRENTLY links;
REINDEX (TABLESPACE pg_default) TABLE links;
REINDEX SCHEMA public;
SELECT format('REINDEX DATABASE %I', current_database()) AS reindex \gset
:reindex;
SELECT state();
BEGIN;
REINDEX TABLE CONCURRENTLY links;
ROLLBACK;
BEGIN;
REINDEX TABLE links;
INSERT INTO links VALUES (-5, 3, 3, 3);
SELECT count(*) FROM links WHERE from_id = 3;
ROLLBACK;
SELECT state();
ALTER INDEX real SET (deduplicate_items = off);
REINDEX INDEX real;
\echo == create index concurrently, and failures of it
CREATE INDEX CONCURRENTLY c1 ON links (to_id);
CREATE UNIQUE INDEX CONCURRENTLY c2 ON links (id, to_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS c1 ON links (to_id);
CREATE INDEX CONCURRENTLY c1 ON links (to_id);
BEGIN;
CREATE INDEX CONCURRENTLY c3 ON links (to_id);
ROLLBACK;
\set VERBOSITY terse
CREATE UNIQUE INDEX CONCURRENTLY bad1 ON links (from_id);
CREATE UNIQUE INDEX CONCURRENTLY bad2 ON links (from_id, to_id);
CREATE UNIQUE INDEX CONCURRENTLY bad3 ON links (from_id, to_id, type_id);
CREATE INDEX CONCURRENTLY bad4 ON links ((100 / (id - 7)));
SELECT c.relname, indisvalid, indisready, indislive FROM pg_index i JOIN pg_class c ON c.oid = indexrelid WHERE indrelid = 'links'::regclass AND (relname LIKE 'bad%' OR relname LIKE 'c_') ORDER BY 1;
INSERT INTO links VALUES (-1, 1, 1, 1), (-2, 1, 1, 1);
INSERT INTO links VALUES (-3, 1, 1, 1) ON CONFLICT (from_id) DO NOTHING;
INSERT INTO links VALUES (-3, 1, 1, 1) ON CONFLICT DO NOTHING;
UPDATE links SET from_id = 5 WHERE id = 20;
SELECT state();
REINDEX INDEX CONCURRENTLY bad1;
REINDEX INDEX bad1;
REINDEX INDEX bad2;
REINDEX TABLE links;
REINDEX TABLE CONCURRENTLY links;
SELECT c.relname, indisvalid FROM pg_index i JOIN pg_class c ON c.oid = indexrelid WHERE indrelid = 'links'::regclass AND NOT indisvalid ORDER BY 1;
VACUUM links;
VACUUM FULL links;
DROP INDEX bad4;
VACUUM FULL links;
CLUSTER links USING real;
SELECT state();
SELECT c.relname, indisvalid, indisready FROM pg_index i JOIN pg_class c ON c.oid = indexrelid WHERE indrelid = 'links'::regclass AND NOT indisvalid ORDER BY 1;
INSERT INTO links VALUES (-3, 1, 1, 1);
INSERT INTO links VALUES (-4, 1000, 1, 1);
DELETE FROM links WHERE id IN (-3, -4);
DROP INDEX bad1;
DROP INDEX CONCURRENTLY bad2, bad3;
DROP INDEX CONCURRENTLY bad2;
DROP INDEX bad3;
DROP INDEX IF EXISTS bad4_ccnew, bad1_ccnew, bad2_ccnew, bad3_ccnew;
\set VERBOSITY default
DELETE FROM links WHERE id IN (-1, -2);
DROP INDEX CONCURRENTLY c1;
BEGIN;
DROP INDEX CONCURRENTLY c2;
ROLLBACK;
DROP INDEX c2;
SELECT state();
DROP INDEX links_pkey;
\echo == statistics of use count
SELECT pg_stat_force_next_flush();
SELECT pg_stat_reset_single_table_counters('links'::regclass);
SELECT pg_stat_force_next_flush();
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(id) FROM links WHERE id BETWEEN 1 AND 10;
RESET enable_seqscan;
UPDATE links SET to_id = 4 WHERE id < 5;
INSERT INTO links VALUES (-7, 3, 3, 3);
SELECT pg_stat_force_next_flush();
SELECT n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables WHERE relname = 'links';
SELECT idx_scan > 0 FROM pg_stat_user_indexes WHERE indexrelname = 'links_pkey';
SELECT heap_blks_read IS NOT NULL, idx_blks_hit IS NOT NULL FROM pg_statio_user_tables WHERE relname = 'links';
SELECT last_vacuum IS NOT NULL, vacuum_count > 0, last_analyze IS NOT NULL FROM pg_stat_user_tables WHERE relname = 'links';
DROP TABLE links CASCADE;
