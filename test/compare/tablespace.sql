-- Tables and indexes that move between tablespaces.
\set QUIET off
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE doublets_space LOCATION '';
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint);
CREATE INDEX native ON links (from_id);
CREATE INDEX real ON links (to_id, type_id);
INSERT INTO links SELECT i, i % 10, i % 7, i % 3 FROM generate_series(1, 3000) i;
CREATE FUNCTION state() RETURNS SETOF text LANGUAGE sql SET enable_seqscan = off AS $$
  SELECT concat_ws(' ', count(*), sum(id), sum(from_id), sum(to_id)) FROM links UNION ALL
  SELECT concat_ws(' ', count(*), sum(id)) FROM links WHERE from_id = 3 UNION ALL
  SELECT concat_ws(' ', count(*), sum(id)) FROM links WHERE to_id = 3 AND type_id = 2 UNION ALL
  SELECT concat_ws(' ', count(*), sum(id)) FROM links WHERE id BETWEEN 5 AND 10 UNION ALL
  SELECT string_agg(concat_ws(' ', relname, coalesce(spcname, 'default'), pg_relation_filepath(c.oid) LIKE 'pg_tblspc%'), ', ' ORDER BY relname)
    FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = reltablespace WHERE relname IN ('links', 'native', 'real', 'links_pkey') $$;
ALTER TABLE links SET TABLESPACE doublets_space;
SELECT state();
INSERT INTO links VALUES (3001, 3, 3, 2) ON CONFLICT (id) DO NOTHING;
UPDATE links SET from_id = 3 WHERE id = 7;
SELECT state();
ALTER INDEX native SET TABLESPACE doublets_space;
ALTER INDEX real SET TABLESPACE doublets_space;
ALTER INDEX links_pkey SET TABLESPACE doublets_space;
SELECT state();
DELETE FROM links WHERE id % 2 = 0;
VACUUM links;
INSERT INTO links SELECT i, 3, 3, 2 FROM generate_series(4001, 4500) i;
SELECT state();
BEGIN;
ALTER TABLE links SET TABLESPACE pg_default;
INSERT INTO links VALUES (5000, 3, 3, 2);
SAVEPOINT a;
ALTER TABLE links SET TABLESPACE doublets_space;
INSERT INTO links VALUES (5001, 3, 3, 2);
ALTER INDEX native SET TABLESPACE pg_default;
SELECT state();
ROLLBACK TO a;
SELECT state();
ROLLBACK;
SELECT state();
BEGIN;
DELETE FROM links WHERE from_id = 4;
ALTER TABLE links SET TABLESPACE pg_default;
SELECT state();
COMMIT;
SELECT state();
ALTER TABLE ALL IN TABLESPACE doublets_space SET TABLESPACE pg_default;
ALTER INDEX ALL IN TABLESPACE doublets_space SET TABLESPACE pg_default;
ALTER TABLE ALL IN TABLESPACE pg_default OWNED BY CURRENT_USER SET TABLESPACE doublets_space;
SELECT state();
REINDEX (TABLESPACE doublets_space) TABLE links;
REINDEX (TABLESPACE doublets_space, CONCURRENTLY) INDEX native;
SELECT state();
CLUSTER links USING native;
VACUUM FULL links;
ALTER TABLE links SET TABLESPACE pg_default, SET UNLOGGED;
SELECT state();
ALTER TABLE links SET LOGGED, SET TABLESPACE doublets_space, ALTER to_id SET DEFAULT 5;
SELECT state();
ALTER TABLE links SET ACCESS METHOD heap, SET TABLESPACE pg_default;
ALTER TABLE links SET ACCESS METHOD :am, SET TABLESPACE doublets_space;
SELECT state();
CREATE TABLE more (id bigint PRIMARY KEY USING INDEX TABLESPACE doublets_space, a bigint, b bigint) TABLESPACE doublets_space;
CREATE INDEX ON more (a) TABLESPACE doublets_space;
INSERT INTO more VALUES (1, 1, 1);
SET default_tablespace = doublets_space;
SET temp_tablespaces = doublets_space;
CREATE TABLE copy AS SELECT * FROM links;
CREATE TEMP TABLE t (id bigint PRIMARY KEY, a bigint, b bigint);
INSERT INTO t SELECT i, i, i FROM generate_series(1, 1000) i;
SELECT count(*) FROM t WHERE id < 10;
CREATE MATERIALIZED VIEW m AS SELECT id, from_id, to_id FROM links;
TRUNCATE more;
SELECT relname FROM pg_class c JOIN pg_tablespace s ON s.oid = reltablespace AND spcname = 'doublets_space' WHERE relname IN ('more', 'more_pkey', 'more_a_idx', 'copy', 't', 't_pkey', 'm') ORDER BY 1;
DROP TABLESPACE doublets_space;
DROP MATERIALIZED VIEW m;
DROP TABLE links, more, copy, t;
ALTER TABLE ALL IN TABLESPACE doublets_space SET TABLESPACE pg_default;
CHECKPOINT;
DROP TABLESPACE doublets_space;
