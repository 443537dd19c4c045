-- Which indexes become views on the table's own trees, and which stay real.
CREATE VIEW methods AS
  SELECT c.relname AS index, a.amname AS method, pg_relation_size(c.oid) = 0 AS empty, i.indisunique AS uniq, i.indisvalid AS valid
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
  WHERE i.indrelid = to_regclass('links');
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint DEFAULT 0, to_id bigint DEFAULT 0, type_id bigint NOT NULL) USING doublets;
INSERT INTO links SELECT i, i % 10, i % 7, i % 3 FROM generate_series(1, 1000) i;
CREATE INDEX i01 ON links USING hash (id);
CREATE INDEX i02 ON links (from_id);
CREATE INDEX i03 ON links USING btree (to_id DESC);
CREATE INDEX i04 ON links USING hash (type_id);
CREATE INDEX i05 ON links (from_id, to_id);
CREATE INDEX i06 ON links (to_id, from_id);
CREATE INDEX i07 ON links (type_id, id);
CREATE UNIQUE INDEX i08 ON links (id);
CREATE INDEX CONCURRENTLY i09 ON links (from_id);
ALTER TABLE links ADD CONSTRAINT i10 UNIQUE (id);
-- Real ones.
CREATE INDEX r01 ON links (to_id, type_id);
CREATE INDEX r02 ON links (from_id) WHERE type_id = 1;
CREATE INDEX r03 ON links ((from_id + to_id));
CREATE INDEX r04 ON links (id) INCLUDE (to_id);
CREATE INDEX r05 ON links USING brin (id);
CREATE UNIQUE INDEX r06 ON links (from_id, to_id, type_id, id);
SELECT * FROM methods ORDER BY 1;
-- Asked for by name.
CREATE INDEX n01 ON links USING doublets_tree (to_id);
CREATE INDEX n02 ON links USING doublets_tree (to_id, type_id);
CREATE INDEX n03 ON links USING doublets_tree ((to_id + 1));
CREATE TABLE plain (a bigint);
CREATE INDEX n04 ON plain USING doublets_tree (a);
CREATE INDEX n05 ON plain (a);
SELECT amname FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE relname = 'n05';
-- Not adopted when told so; used all the same.
SET pg_doublets.adopt_indexes = off;
CREATE INDEX off01 ON links (from_id);
CREATE INDEX off02 ON links USING hash (to_id);
SELECT * FROM methods WHERE index LIKE 'off%' ORDER BY 1;
RESET pg_doublets.adopt_indexes;
SELECT count(*) FROM links WHERE from_id = 5;
-- Plans.
ANALYZE links;
DROP INDEX off01, off02, r01, r02, r03, r04, r05, r06, i01, i03, i08, i09;
EXPLAIN (COSTS OFF) SELECT * FROM links WHERE id = 5;
EXPLAIN (COSTS OFF) SELECT * FROM links WHERE from_id = 5 AND to_id = 5;
EXPLAIN (COSTS OFF) SELECT * FROM links ORDER BY id DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT max(id) FROM links;
EXPLAIN (COSTS OFF) UPDATE links SET to_id = 1 WHERE id = 5;
EXPLAIN (COSTS OFF) INSERT INTO links VALUES (1, 1, 1, 1) ON CONFLICT (id) DO UPDATE SET to_id = 1;
-- There and back.
SELECT md5(string_agg(l::text, ' ' ORDER BY id)) AS before FROM links l \gset
ALTER TABLE links SET ACCESS METHOD heap;
SELECT index, method, empty FROM methods ORDER BY 1;
SELECT md5(string_agg(l::text, ' ' ORDER BY id)) = :'before' AS same FROM links l;
ALTER TABLE links SET ACCESS METHOD doublets;
SELECT index, method, empty FROM methods ORDER BY 1;
SELECT md5(string_agg(l::text, ' ' ORDER BY id)) = :'before' AS same FROM links l;
INSERT INTO links VALUES (5, 1, 1, 1);
BEGIN;
ALTER TABLE links SET ACCESS METHOD heap;
ROLLBACK;
SELECT index, method, empty FROM methods ORDER BY 1;
SELECT count(*) FROM links WHERE from_id = 5;
-- Hash indexes of a heap table become native too, with keys instead of hash codes; back on heap they are btrees.
CREATE TABLE hashed (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint) USING heap;
CREATE INDEX hashed_from ON hashed USING hash (from_id) WITH (fillfactor = 60);
CREATE INDEX hashed_type ON hashed USING hash (type_id);
INSERT INTO hashed SELECT i, i * 3000000000, i, i % 3 FROM generate_series(1, 300) i;
CREATE VIEW hashes AS SELECT c.relname AS index, a.amname AS method, format_type(t.atttypid, t.atttypmod) AS type, t.attlen
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam JOIN pg_attribute t ON t.attrelid = c.oid
  WHERE i.indrelid = 'hashed'::regclass;
SELECT * FROM hashes ORDER BY 1;
BEGIN;
ALTER TABLE hashed SET ACCESS METHOD doublets;
SELECT * FROM hashes ORDER BY 1;
SET LOCAL enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT from_id FROM hashed WHERE from_id = 600000000000;
SELECT from_id FROM hashed WHERE from_id = 600000000000;
SELECT count(*), sum(from_id) FROM hashed WHERE from_id > 600000000000;
SAVEPOINT s;
ALTER TABLE hashed SET ACCESS METHOD heap;
SELECT from_id FROM hashed WHERE from_id = 600000000000;
ROLLBACK TO s;
SELECT from_id FROM hashed WHERE from_id = 600000000000;
ROLLBACK;
SELECT * FROM hashes ORDER BY 1;
SELECT id FROM hashed WHERE from_id = 600000000000;
ALTER TABLE hashed SET ACCESS METHOD doublets;
SELECT count(*) FROM hashed WHERE type_id = 2;
SELECT * FROM doublets_check('hashed');
ALTER TABLE hashed SET ACCESS METHOD heap;
SELECT * FROM hashes ORDER BY 1;
SELECT from_id FROM hashed WHERE from_id = 600000000000;
DROP VIEW hashes;
DROP TABLE hashed;
-- A copy of the definition on heap.
CREATE TABLE copy (LIKE links INCLUDING ALL) USING heap;
SELECT c.relname, a.amname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam WHERE indrelid = 'copy'::regclass ORDER BY 1;
REINDEX TABLE links;
REINDEX INDEX CONCURRENTLY i02;
SELECT count(*) FROM methods WHERE NOT valid;
SELECT * FROM doublets_check('links');
DROP TABLE copy, plain;
DROP VIEW methods;
DROP TABLE links;
