-- Everyday statements over a table with Deep's indexes.
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint DEFAULT 0, to_id bigint DEFAULT 0, type_id bigint NOT NULL);
CREATE INDEX ON links USING hash (from_id);
CREATE INDEX ON links USING btree (from_id);
CREATE INDEX ON links USING btree (to_id);
CREATE INDEX ON links USING hash (type_id);
CREATE INDEX ON links (from_id, to_id);
CREATE INDEX ON links (type_id, id);
INSERT INTO links SELECT i, i % 100, i % 37, i % 5 FROM generate_series(1, 5000) i;
ANALYZE links;
\echo == where
SELECT count(*), sum(id) FROM links WHERE from_id = 7;
SELECT count(*), sum(id) FROM links WHERE from_id = 7 AND to_id = 7;
SELECT count(*), sum(id) FROM links WHERE from_id BETWEEN 5 AND 9 AND to_id > 30;
SELECT count(*), sum(id) FROM links WHERE type_id = 3 AND id > 4900;
SELECT count(*), sum(id) FROM links WHERE id = ANY ('{1,2,3,4999,5000,5001,1}');
SELECT count(*), sum(id) FROM links WHERE from_id IN (1, 2) OR to_id IN (3, 4);
SELECT count(*), sum(id) FROM links WHERE NOT (type_id = 1) AND from_id <> 0;
SELECT count(*), sum(id) FROM links WHERE id = 5::int4 OR id = 6::int2 OR id = 7::numeric;
SELECT id FROM links WHERE id > 4990 ORDER BY id DESC LIMIT 3;
SELECT id, to_id FROM links WHERE from_id = 50 ORDER BY to_id, id LIMIT 4 OFFSET 2;
SELECT from_id, count(*) FROM links WHERE from_id < 4 GROUP BY 1 ORDER BY 1;
SELECT DISTINCT type_id FROM links ORDER BY 1 DESC;
\echo == each plan gives the same
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*), sum(id) FROM links WHERE from_id = 7 AND to_id < 20;
SELECT sum(id) FROM (SELECT id FROM links ORDER BY id LIMIT 100 OFFSET 17) s;
SELECT sum(id) FROM (SELECT id FROM links ORDER BY id DESC LIMIT 100 OFFSET 17) s;
SELECT from_id FROM links WHERE from_id > 97 ORDER BY from_id LIMIT 2;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = on;
SELECT count(*), sum(id) FROM links WHERE from_id = 7 AND to_id < 20;
SELECT count(*), sum(id) FROM links WHERE from_id = 7 AND type_id = 2;
SELECT count(*), sum(id) FROM links WHERE from_id = 7 OR type_id = 2;
RESET ALL;
\echo == joins
SELECT count(*), sum(a.id + b.id) FROM links a JOIN links b ON b.from_id = a.id WHERE a.id < 20;
SELECT count(*), sum(a.id) FROM links a LEFT JOIN links b ON b.id = a.to_id + 4990 WHERE b.id IS NULL;
SELECT count(*) FROM links a WHERE EXISTS (SELECT 1 FROM links b WHERE b.to_id = a.id AND b.type_id = 1);
WITH RECURSIVE walk (id, depth) AS (SELECT 99::bigint, 0 UNION SELECT l.to_id, depth + 1 FROM walk JOIN links l ON l.id = walk.id WHERE depth < 9)
  SELECT * FROM walk ORDER BY depth, id;
\echo == update
UPDATE links SET to_id = to_id + 1000 WHERE from_id = 3 AND id < 1000;
SELECT count(*), sum(to_id) FROM links WHERE to_id > 999;
UPDATE links SET id = id + 100000 WHERE id % 100 = 3;
SELECT count(*), min(id), max(id) FROM links WHERE id > 100000;
UPDATE links SET id = 1 WHERE id = 2;
UPDATE links SET from_id = id, to_id = id WHERE id BETWEEN 10 AND 19 RETURNING *;
UPDATE links a SET type_id = b.to_id FROM links b WHERE b.id = a.id + 1 AND a.id BETWEEN 20 AND 25 RETURNING a.*, b.id;
UPDATE links SET from_id = NULL WHERE id = 20;
SELECT * FROM links WHERE from_id IS NULL;
UPDATE links SET type_id = NULL WHERE id = 20;
\echo == the same row again and again
DO $$ BEGIN FOR i IN 1..500 LOOP UPDATE links SET to_id = i WHERE id = 42; END LOOP; END $$;
SELECT * FROM links WHERE id = 42;
SELECT count(*) FROM links WHERE to_id BETWEEN 400 AND 499;
\echo == delete
DELETE FROM links WHERE id BETWEEN 4000 AND 4100 AND from_id = 50 RETURNING *;
DELETE FROM links a USING links b WHERE a.id = b.id + 1 AND b.type_id = 2 AND b.id < 50;
SELECT count(*), sum(id) FROM links;
DELETE FROM links WHERE type_id = 4;
SELECT count(*), sum(id) FROM links;
\echo == insert ... on conflict
INSERT INTO links VALUES (1, 1, 1, 1) ON CONFLICT DO NOTHING;
INSERT INTO links VALUES (1, 2, 3, 4), (200000, 2, 3, 4) ON CONFLICT (id) DO UPDATE SET to_id = links.to_id + excluded.to_id RETURNING *, xmax = 0 AS inserted;
INSERT INTO links SELECT i, 0, 0, 1 FROM generate_series(1, 60) i ON CONFLICT (id) DO UPDATE SET type_id = 55 WHERE links.type_id = 1;
SELECT count(*) FROM links WHERE type_id = 55;
INSERT INTO links VALUES (7, 0, 0, 0), (7, 0, 0, 0) ON CONFLICT (id) DO UPDATE SET to_id = 1;
INSERT INTO links VALUES (300000, 0, 0, 0), (300000, 0, 0, 0) ON CONFLICT (id) DO NOTHING RETURNING id;
INSERT INTO links VALUES (1, 1, 1, 1) ON CONFLICT (from_id) DO NOTHING;
\echo == merge
MERGE INTO links t USING (VALUES (1, 77), (400000, 78), (3, 0)) s (id, v) ON t.id = s.id
  WHEN MATCHED AND s.v = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET to_id = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v, s.v, 1);
SELECT * FROM links WHERE id IN (1, 3, 400000) ORDER BY id;
\echo == modifying WITH
WITH gone AS (DELETE FROM links WHERE id < 30 RETURNING *), back AS (INSERT INTO links SELECT id + 500000, from_id, to_id, type_id FROM gone RETURNING id)
  SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM back), (SELECT count(*) FROM links WHERE id > 500000);
SELECT count(*) FROM links WHERE id > 500000;
\echo == system columns
BEGIN;
INSERT INTO links VALUES (600000, 1, 1, 1) RETURNING xmax, xmin::text = (txid_current() % (2^32)::bigint)::text AS mine, cmin, tableoid::regclass;
UPDATE links SET to_id = 2 WHERE id = 600000 RETURNING xmax, cmin;
SELECT xmax, cmin FROM links WHERE id = 600000;
SELECT l = l2, l.ctid = l2.ctid FROM links l, links l2 WHERE l.id = 600000 AND l2.ctid = l.ctid;
UPDATE links SET to_id = 3 WHERE ctid = (SELECT ctid FROM links WHERE id = 600000) RETURNING *;
DELETE FROM links WHERE ctid = ANY (ARRAY(SELECT ctid FROM links WHERE id >= 600000));
COMMIT;
SELECT count(*) FROM links WHERE ctid = '(0,1)' OR ctid = '(999999,1)' OR ctid IS NULL;
SELECT * FROM links WHERE ctid = '(4294967295,65535)';
\echo == row locks in one session
BEGIN;
SELECT * FROM links WHERE id = 42 FOR UPDATE;
SELECT * FROM links WHERE id = 42 FOR KEY SHARE;
SAVEPOINT a;
SELECT * FROM links WHERE id = 43 FOR SHARE;
UPDATE links SET to_id = 1 WHERE id = 42;
ROLLBACK TO a;
SELECT * FROM links WHERE id IN (42, 43) ORDER BY id FOR NO KEY UPDATE;
DELETE FROM links WHERE id = 42;
COMMIT;
SELECT count(*) FROM links WHERE id = 42;
SELECT id FROM links WHERE from_id = 50 ORDER BY id LIMIT 3 FOR UPDATE SKIP LOCKED;
\echo == copy
CREATE TABLE copied (LIKE links INCLUDING ALL);
SELECT current_setting('data_directory') || '/compare.csv' AS csv \gset
COPY (SELECT * FROM links WHERE id < 100 ORDER BY id) TO :'csv' CSV;
COPY copied FROM :'csv' CSV;
SELECT count(*), sum(id), sum(from_id) FROM copied;
COPY copied FROM :'csv' CSV;
COPY (SELECT * FROM copied WHERE from_id = 50 ORDER BY id) TO STDOUT;
COPY copied (id, type_id) FROM STDIN;
1001	1
1002	2
1003	x
\.
SELECT count(*) FROM copied;
\echo == after vacuum
VACUUM links;
SELECT count(*), sum(id), sum(from_id), sum(to_id), sum(type_id) FROM links;
VACUUM (FULL) links;
SELECT count(*), sum(id), sum(from_id), sum(to_id), sum(type_id) FROM links;
SELECT count(*), sum(id) FROM links WHERE from_id = 7;
CLUSTER links USING links_pkey;
SELECT id FROM links WHERE id > 100 ORDER BY id LIMIT 3;
VACUUM (FREEZE, ANALYZE) links;
SELECT count(*), sum(id) FROM links WHERE from_id = 7;
