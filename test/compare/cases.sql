-- Kinds of statement that broke other table access methods and links stores.
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint DEFAULT 0, to_id bigint DEFAULT 0, type_id bigint NOT NULL);
\echo == savepoints released and rolled back, nested
BEGIN;
INSERT INTO links VALUES (1, 0, 0, 1);
SAVEPOINT a;
INSERT INTO links VALUES (2, 0, 0, 1);
RELEASE a;
SAVEPOINT b;
SAVEPOINT c;
INSERT INTO links VALUES (3, 0, 0, 1);
UPDATE links SET to_id = 9 WHERE id = 1;
RELEASE c;
ROLLBACK TO b;
INSERT INTO links VALUES (4, 0, 0, 1);
COMMIT;
SELECT * FROM links ORDER BY id;
\echo == keys free again after a rollback
BEGIN;
SAVEPOINT s;
INSERT INTO links SELECT i, i, i, 1 FROM generate_series(10, 10000) i;
ROLLBACK TO s;
INSERT INTO links SELECT i, i, i, 1 FROM generate_series(10, 10000) i;
ROLLBACK;
INSERT INTO links VALUES (10, 1, 1, 1);
INSERT INTO links VALUES (10, 1, 1, 1);
SELECT count(*), sum(id) FROM links;
\echo == deferred row triggers fetch old versions by TID
CREATE TABLE log (n serial, op text, before bigint, after bigint) USING heap;
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log (op, before, after) VALUES (TG_OP, OLD.to_id, NEW.to_id); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON links DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note();
BEGIN;
INSERT INTO links VALUES (30, 1, 1, 1);
UPDATE links SET to_id = 2 WHERE id = 30;
SAVEPOINT a;
UPDATE links SET to_id = 77 WHERE id = 30;
ROLLBACK TO a;
UPDATE links SET to_id = 3 WHERE id = 30;
DELETE FROM links WHERE id = 30;
COMMIT;
SELECT op, before, after FROM log ORDER BY n;
DROP TRIGGER note ON links;
\echo == truncate, rolled back in parts and as a whole
INSERT INTO links VALUES (5, 1, 1, 1), (6, 1, 2, 1);
BEGIN;
TRUNCATE links;
INSERT INTO links VALUES (9, 9, 9, 9);
SAVEPOINT x;
TRUNCATE links;
SELECT count(*) FROM links;
ROLLBACK TO x;
SELECT * FROM links;
ROLLBACK;
SELECT * FROM links ORDER BY id;
BEGIN;
TRUNCATE links;
INSERT INTO links VALUES (9, 9, 9, 9);
COMMIT;
SELECT * FROM links ORDER BY id;
SELECT * FROM links WHERE id = 9 OR from_id = 1;
\echo == made and truncated in one transaction
BEGIN;
CREATE TABLE fresh (LIKE links INCLUDING ALL);
INSERT INTO fresh VALUES (1, 1, 1, 1);
TRUNCATE fresh;
INSERT INTO fresh VALUES (2, 2, 2, 2);
SAVEPOINT a;
DROP TABLE fresh;
ROLLBACK TO a;
SELECT * FROM fresh;
COMMIT;
SELECT * FROM fresh;
DROP TABLE fresh;
\echo == temporary tables
BEGIN;
CREATE TEMP TABLE tl (LIKE links INCLUDING ALL) ON COMMIT DROP;
INSERT INTO tl VALUES (1, 1, 1, 1);
SELECT count(*) FROM tl;
COMMIT;
CREATE TEMP TABLE td (LIKE links INCLUDING ALL) ON COMMIT DELETE ROWS;
BEGIN;
INSERT INTO td SELECT i, i, i, i FROM generate_series(1, 1000) i;
UPDATE td SET to_id = 1 WHERE from_id = 500;
SELECT * FROM td WHERE to_id = 1 ORDER BY id;
COMMIT;
SELECT count(*) FROM td;
INSERT INTO td VALUES (1, 1, 1, 1);
DROP TABLE td;
\echo == CREATE TABLE AS, materialized view, SET ACCESS METHOD
CREATE TABLE l2 AS SELECT * FROM links;
SELECT * FROM l2;
ALTER TABLE l2 SET ACCESS METHOD heap;
SELECT * FROM l2;
ALTER TABLE l2 SET ACCESS METHOD :am;
SELECT * FROM l2;
CREATE MATERIALIZED VIEW m AS SELECT id, from_id, to_id FROM links;
CREATE UNIQUE INDEX ON m (id);
INSERT INTO links VALUES (10, 1, 1, 1);
REFRESH MATERIALIZED VIEW m;
SELECT * FROM m ORDER BY id;
INSERT INTO links VALUES (11, 1, 1, 1);
REFRESH MATERIALIZED VIEW CONCURRENTLY m;
SELECT * FROM m ORDER BY id;
DROP MATERIALIZED VIEW m;
\echo == prepared transaction
BEGIN;
INSERT INTO links VALUES (50, 1, 1, 1);
DELETE FROM links WHERE id = 9;
PREPARE TRANSACTION 'compare_p';
SELECT count(*) FROM links;
COMMIT PREPARED 'compare_p';
SELECT id FROM links ORDER BY id;
BEGIN;
UPDATE links SET to_id = 5 WHERE id = 50;
PREPARE TRANSACTION 'compare_p';
ROLLBACK PREPARED 'compare_p';
SELECT * FROM links WHERE id = 50;
\echo == limits of int8, negative ids, NULL and 0 endpoints
INSERT INTO links VALUES (-9223372036854775808, -1, NULL, 0), (9223372036854775807, NULL, 0, 1), (0, 0, 0, 0),
  (9223372036854775804, 9223372036854775804, 9223372036854775804, 1);
SELECT count(*) FROM links WHERE from_id IS NULL;
SELECT id FROM links WHERE to_id = 0 ORDER BY 1;
SELECT id FROM links WHERE from_id < 0;
SELECT min(id), max(id), min(from_id), max(to_id) FROM links;
SELECT * FROM links WHERE id >= 9223372036854775804 ORDER BY id DESC;
INSERT INTO links VALUES (0, 0, 0, 0);
\echo == parallel plans, forced
SET force_parallel_mode = on;
BEGIN;
CREATE TABLE p (LIKE links);
INSERT INTO p VALUES (1, 1, 1, 1);
SELECT * FROM p;
ROLLBACK;
SELECT count(*) FROM links;
RESET force_parallel_mode;
\echo == rebuilt concurrently
REINDEX TABLE CONCURRENTLY links;
SELECT count(*) FROM links WHERE id > 0;
REINDEX TABLE links;
CREATE INDEX CONCURRENTLY later ON links (to_id);
SELECT count(*) FROM links WHERE to_id = 1;
\echo == references to what is absent, then comes, points to itself, and goes
INSERT INTO links VALUES (100, 200, 300, 400);
SELECT id FROM links WHERE from_id = 200 OR to_id = 300 ORDER BY 1;
INSERT INTO links VALUES (200, 200, 200, 200), (300, 200, 300, 300);
SELECT id FROM links WHERE from_id = 200 ORDER BY 1;
UPDATE links SET from_id = 100, to_id = 100, type_id = 100 WHERE id = 100;
SELECT * FROM links WHERE from_id = 100 AND to_id = 100;
DELETE FROM links WHERE id IN (100, 200, 300);
SELECT count(*) FROM links WHERE from_id IN (100, 200) OR to_id IN (100, 200, 300);
\echo == repeated pairs
INSERT INTO links SELECT i, 7, 8, 9 FROM generate_series(1000, 1099) i;
DELETE FROM links WHERE from_id = 7 AND to_id = 8 AND id % 2 = 0;
SELECT count(*), sum(id) FROM links WHERE from_id = 7 AND to_id = 8;
UPDATE links SET from_id = 8, to_id = 7 WHERE from_id = 7 AND id < 1050;
SELECT count(*) FILTER (WHERE from_id = 7), count(*) FILTER (WHERE from_id = 8) FROM links;
