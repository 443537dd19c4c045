-- Contributed tools and size functions on the table and its indexes.  What reads heap pages answers or refuses the table: try() takes
-- both for fine, and shows any other failure.
\set QUIET off
SELECT count(*) = 9 AS there FROM pg_available_extensions WHERE name IN ('pageinspect', 'pgstattuple', 'amcheck', 'pg_visibility', 'pg_prewarm', 'pg_buffercache', 'pgrowlocks', 'pg_surgery', 'pg_freespacemap') \gset
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint);
CREATE INDEX native ON links (from_id);
CREATE INDEX real ON links (to_id, type_id);
INSERT INTO links SELECT i, i % 10, i % 7, i % 3 FROM generate_series(1, 3000) i;
DELETE FROM links WHERE id % 10 = 0;
VACUUM ANALYZE links;
-- The SQLSTATE of what a statement raises, or its row; an internal error or a data-corrupted one stands out.
CREATE FUNCTION try(q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE r text;
BEGIN
  EXECUTE 'SELECT x::text FROM (' || q || ') x LIMIT 1' INTO r;
  RETURN 'fine';
EXCEPTION WHEN OTHERS THEN
  RETURN CASE WHEN SQLSTATE IN ('42809', '0A000', '22023', '55000') THEN 'fine' ELSE SQLSTATE || ' ' || SQLERRM END;
END $$;
\echo == sizes
SELECT pg_relation_size('links') > 0, pg_relation_size('links', 'main') > 0, pg_relation_size('links', 'init'), pg_table_size('links') >= pg_relation_size('links'),
  pg_total_relation_size('links') >= pg_table_size('links') + pg_indexes_size('links'), pg_indexes_size('links') > 0, pg_relation_size('links') % 8192;
SELECT pg_relation_size('nothing');
SELECT pg_relation_size(0), pg_table_size(0), pg_size_pretty(pg_relation_size('real')) IS NOT NULL, pg_column_size((SELECT id FROM links LIMIT 1));
SELECT pg_relation_filepath('links') = 'base/' || (SELECT oid FROM pg_database WHERE datname = current_database()) || '/' || pg_relation_filenode('links');
SELECT pg_filenode_relation(0, pg_relation_filenode('links')), pg_filenode_relation(0, pg_relation_filenode('real'));
SELECT (pg_stat_file(pg_relation_filepath('links'))).size = pg_relation_size('links');
\dt+ nothing
SELECT relpages > 0, reltuples, relallvisible >= 0, relkind, relpersistence, relhasindex, relispartition FROM pg_class WHERE oid = 'links'::regclass;
\echo == catalog functions on indexes
SELECT pg_get_indexdef('native'::regclass, 1, true), pg_get_indexdef('links_pkey'::regclass, 1, false), pg_get_indexdef('native'::regclass, 2, false);
SELECT pg_index_column_has_property('native'::regclass, 1, p) FROM unnest('{asc,desc,nulls_first,nulls_last,orderable,returnable}'::text[]) p;
SELECT pg_index_has_property('native'::regclass, p) FROM unnest('{index_scan,bitmap_scan,backward_scan}'::text[]) p;
SELECT pg_describe_object('pg_class'::regclass, 'native'::regclass, 0), pg_identify_object('pg_class'::regclass, 'links'::regclass, 0);
SELECT tablename, indexname FROM pg_indexes WHERE tablename = 'links' ORDER BY 2;
\d links
\echo == row locks, seen from outside
SELECT mode, granted FROM pg_locks WHERE relation = 'links'::regclass AND pid <> pg_backend_pid();
BEGIN;
SELECT id FROM links WHERE id = 5 FOR UPDATE;
SELECT locktype, mode FROM pg_locks WHERE relation = 'links'::regclass ORDER BY 1, 2;
COMMIT;
\if :there
CREATE EXTENSION pageinspect; CREATE EXTENSION pgstattuple; CREATE EXTENSION amcheck; CREATE EXTENSION pg_visibility;
CREATE EXTENSION pg_prewarm; CREATE EXTENSION pg_buffercache; CREATE EXTENSION pgrowlocks; CREATE EXTENSION pg_surgery; CREATE EXTENSION pg_freespacemap;
\echo == pageinspect
SELECT octet_length(get_raw_page('links', 0)), octet_length(get_raw_page('links', 1)), octet_length(get_raw_page('real', 0));
SELECT get_raw_page('links', 1000000);
SELECT try('SELECT * FROM page_header(get_raw_page(''links'', ' || b || '))') FROM generate_series(0, 2) b;
SELECT (page_header(get_raw_page('links', 1))).pagesize;
SELECT try('SELECT * FROM heap_page_items(get_raw_page(''links'', 0))') IS NOT NULL, try('SELECT * FROM heap_page_items(get_raw_page(''links'', 1))') IS NOT NULL,
  try('SELECT * FROM heap_page_item_attrs(get_raw_page(''links'', 1), ''links'')') IS NOT NULL;
SELECT page_checksum(get_raw_page('links', 1), 1) IS NOT NULL;
SELECT try('SELECT * FROM bt_metap(''real'')'), try('SELECT * FROM bt_page_items(''real'', 1)'), try('SELECT * FROM bt_page_stats(''real'', 1)');
SELECT try('SELECT * FROM bt_metap(''native'')'), try('SELECT * FROM bt_page_items(''native'', 1)'), try('SELECT * FROM bt_page_stats(''native'', 1)');
SELECT try('SELECT * FROM bt_metap(''links'')');
\echo == pgstattuple
SELECT try('SELECT * FROM pgstattuple(''links'')'), try('SELECT * FROM pgstattuple(''real'')'), try('SELECT * FROM pgstattuple(''native'')'),
  try('SELECT * FROM pgstattuple_approx(''links'')'), try('SELECT * FROM pgstatindex(''real'')'), try('SELECT * FROM pgstatindex(''native'')'), try('SELECT * FROM pgstathashindex(''native'')');
SELECT pg_relpages('links') > 0, pg_relpages('native') >= 0;
\echo == amcheck
SELECT bt_index_check('real', true), bt_index_parent_check('real', true, true);
SELECT try('SELECT bt_index_check(''native'', true)'), try('SELECT bt_index_parent_check(''native'', true, true)'), try('SELECT * FROM verify_heapam(''links'')');
\echo == pg_visibility, pg_freespacemap
SELECT try('SELECT * FROM pg_visibility(''links'')'), try('SELECT * FROM pg_visibility_map(''links'', 0)'), try('SELECT * FROM pg_visibility_map_summary(''links'')'),
  try('SELECT * FROM pg_check_frozen(''links'')'), try('SELECT * FROM pg_check_visible(''links'')'), try('SELECT pg_truncate_visibility_map(''links'')');
SELECT try('SELECT * FROM pg_freespace(''links'')'), try('SELECT * FROM pg_freespace(''links'', 0)'), try('SELECT * FROM pg_freespace(''native'')');
\echo == pg_prewarm, pg_buffercache
SELECT pg_prewarm('links') > 0, pg_prewarm('links', 'read') > 0, pg_prewarm('links', 'prefetch') > 0, pg_prewarm('links', 'buffer', 'main', 0, 0), pg_prewarm('real') > 0;
SELECT try('SELECT pg_prewarm(''native'')'), try('SELECT pg_prewarm(''links'', ''buffer'', ''main'', 0, 1000000)');
SELECT count(*) > 0 FROM pg_buffercache WHERE relfilenode = pg_relation_filenode('links') AND reldatabase = (SELECT oid FROM pg_database WHERE datname = current_database());
SELECT count(*) > 0 FROM pg_buffercache WHERE relfilenode = pg_relation_filenode('links') AND pinning_backends > 0;
\echo == pgrowlocks, pg_surgery
SELECT try('SELECT * FROM pgrowlocks(''links'')'), try('SELECT heap_force_kill(''links'', ARRAY[''(1,1)'']::tid[])'), try('SELECT heap_force_freeze(''links'', ARRAY[''(1,2)'']::tid[])') IS NOT NULL;
\endif
SELECT count(*) >= 2699, sum(id) > 0 FROM links;
SET enable_seqscan = off;
SELECT count(*) > 250 FROM links WHERE from_id = 3;
SELECT count(*) > 100 FROM links WHERE to_id = 3 AND type_id = 1;
CHECKPOINT;
DROP TABLE links;
