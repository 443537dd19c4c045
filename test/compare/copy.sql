-- COPY with its options, FREEZE and its refusals.
\set QUIET off
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint DEFAULT 5, to_id bigint DEFAULT 6, type_id bigint NOT NULL DEFAULT 7);
CREATE INDEX ON links (from_id);
CREATE INDEX ON links (to_id, type_id);
SELECT current_setting('data_directory') || '/compare' AS file \gset
\echo == formats
COPY links FROM STDIN;
1	1	1	1
2	\N	2	2
3	3	\N	3
\.
COPY links FROM STDIN CSV;
4,4,,4
5,,"5",5
\.
COPY links (id, to_id) FROM STDIN (FORMAT csv, DELIMITER ';', NULL 'nil', HEADER);
a;b
6;nil
7;-7
\.
COPY links (type_id, id) FROM STDIN (FORMAT csv, HEADER match, QUOTE '''');
type_id,id
8,'8'
\.
COPY links (type_id, id) FROM STDIN (FORMAT csv, HEADER match);
id,type_id
8,8
\.
COPY links FROM STDIN (DELIMITER '|', NULL '-') WHERE id % 2 = 1 AND from_id IS NOT NULL;
9|9|-|9
10|10|-|10
11|-|-|11
13|13|-|13
\.
COPY links FROM STDIN (FORCE_NULL (from_id), FORMAT csv);
14,"",3,4
\.
COPY links FROM STDIN (FORCE_NOT_NULL (from_id), FORMAT csv);
15,,3,4
\.
COPY (SELECT * FROM links ORDER BY id) TO STDOUT;
COPY (SELECT * FROM links ORDER BY id) TO STDOUT (FORMAT csv, HEADER, FORCE_QUOTE *, NULL 'x');
COPY (SELECT id, from_id FROM links ORDER BY id LIMIT 2) TO STDOUT (DELIMITER ',', HEADER);
COPY (DELETE FROM links WHERE id = 14 RETURNING *) TO STDOUT;
COPY (UPDATE links SET to_id = 1 WHERE id = 13 RETURNING id, to_id) TO STDOUT;
COPY (INSERT INTO links VALUES (13, 1, 1, 1) ON CONFLICT (id) DO UPDATE SET to_id = 2 RETURNING *) TO STDOUT;
COPY links TO :'file' (FORMAT binary);
CREATE TABLE copy (LIKE links INCLUDING ALL);
COPY copy FROM :'file' (FORMAT binary);
SELECT count(*), sum(id), sum(from_id) FROM copy;
COPY copy FROM :'file';
COPY copy FROM :'file' (FORMAT binary);
COPY links TO PROGRAM 'cat > /dev/null';
COPY copy FROM PROGRAM 'echo 100,1,1,1' CSV;
COPY copy FROM PROGRAM 'exit 3';
\echo == failures leave nothing behind
COPY links FROM STDIN;
100	1	1	1
101	1	1	1
1	1	1	1
\.
COPY links FROM STDIN;
100	1	1	1
101	x	1	1
\.
COPY links FROM STDIN;
100	1	1	\N
\.
COPY links FROM STDIN;
100	1	1
\.
COPY links FROM STDIN;
100	1	1	1	1
\.
COPY links FROM STDIN;
100	1	1	1
100	1	1	1
\.
COPY links (id, id) FROM :'file';
COPY links (nothing) FROM :'file';
COPY nothing FROM :'file';
SELECT count(*) FROM links WHERE id >= 100 OR from_id = 1;
SET enable_seqscan = off;
SELECT count(*) FROM links WHERE id >= 100;
SELECT id FROM links WHERE from_id = 1;
RESET enable_seqscan;
COPY links FROM STDIN;
100	1	1	1
\.
SELECT count(*) FROM links WHERE from_id = 1;
BEGIN;
COPY links FROM STDIN;
200	1	1	1
201	1	1	1
\.
SAVEPOINT a;
COPY links FROM STDIN;
202	1	1	1
200	1	1	1
\.
ROLLBACK TO a;
COPY links FROM STDIN;
202	1	1	1
\.
UPDATE links SET to_id = 3 WHERE id > 200;
COMMIT;
SELECT * FROM links WHERE id >= 200 ORDER BY id;
\echo == triggers, checks, foreign keys
CREATE FUNCTION before() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.id = 303 THEN RETURN NULL; END IF;
  NEW.to_id := (SELECT count(*) FROM links WHERE id >= 300);
  RETURN NEW;
END $$;
CREATE FUNCTION after() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '% rows', (SELECT count(*) FROM n); RETURN NULL; END $$;
CREATE TRIGGER a AFTER INSERT ON links REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION after();
COPY links FROM STDIN;
290	1	1	1
291	1	1	1
\.
CREATE TRIGGER b BEFORE INSERT ON links FOR EACH ROW EXECUTE FUNCTION before();
COPY links FROM STDIN;
301	1	1	1
302	1	1	1
303	1	1	1
304	1	1	1
\.
SELECT * FROM links WHERE id >= 300 ORDER BY id;
DROP TRIGGER b ON links;
ALTER TABLE links ADD CHECK (id < 1000), ADD FOREIGN KEY (to_id) REFERENCES links DEFERRABLE NOT VALID;
COPY links FROM STDIN;
305	1	1	1
1001	1	1	1
\.
COPY links FROM STDIN;
305	1	307	1
306	1	305	1
\.
COPY links FROM STDIN;
305	1	305	1
306	1	305	1
\.
SELECT * FROM links WHERE id >= 305 ORDER BY id;
\echo == freeze
CREATE TABLE f (id bigint PRIMARY KEY, from_id bigint, to_id bigint);
CREATE INDEX ON f (from_id);
COPY f FROM STDIN (FREEZE);
1	1	1
\.
BEGIN;
TRUNCATE f;
COPY f FROM STDIN (FREEZE);
1	1	1
2	2	2
\.
SELECT * FROM f WHERE from_id = 2;
SELECT count(*) FROM f;
SAVEPOINT a;
COPY f FROM STDIN (FREEZE);
1	1	1
\.
ROLLBACK TO a;
COMMIT;
SELECT * FROM f ORDER BY id;
SELECT count(DISTINCT xmin::text) FROM f;
BEGIN;
CREATE TABLE g (id bigint PRIMARY KEY, from_id bigint, to_id bigint);
COPY g FROM STDIN (FREEZE on);
1	1	1
2	2	2
\.
UPDATE g SET to_id = 3 WHERE id = 1;
DELETE FROM g WHERE id = 2;
SELECT * FROM g;
COMMIT;
SELECT * FROM g;
BEGIN;
CREATE TABLE g2 (id bigint PRIMARY KEY, from_id bigint, to_id bigint);
SAVEPOINT a;
COPY g2 FROM STDIN (FREEZE);
1	1	1
\.
ROLLBACK TO a;
SELECT count(*) FROM g2;
SAVEPOINT b;
TRUNCATE g2;
COPY g2 FROM STDIN (FREEZE);
1	1	1
2	2	2
\.
RELEASE b;
SELECT count(*) FROM g2;
ROLLBACK;
BEGIN;
TRUNCATE f;
DECLARE c CURSOR FOR SELECT 1;
FETCH c;
COPY f FROM STDIN (FREEZE);
1	1	1
\.
ROLLBACK;
BEGIN;
TRUNCATE f;
SAVEPOINT s;
COPY f FROM STDIN (FREEZE);
1	1	1
\.
ROLLBACK;
BEGIN;
TRUNCATE f;
SAVEPOINT s;
RELEASE s;
COPY f FROM STDIN (FREEZE);
1	1	1
1	1	1
\.
ROLLBACK;
SELECT * FROM f ORDER BY id;
CREATE TABLE p (id bigint, from_id bigint, to_id bigint) PARTITION BY LIST (id);
CREATE TABLE p1 PARTITION OF p DEFAULT;
BEGIN;
TRUNCATE p;
COPY p FROM STDIN (FREEZE);
1	1	1
\.
ROLLBACK;
BEGIN;
TRUNCATE p1;
COPY p1 FROM STDIN (FREEZE);
1	1	1
\.
COMMIT;
SELECT * FROM p;
\echo == a view with a trigger; many rows; a table made for it
CREATE VIEW v AS SELECT * FROM f;
COPY v FROM :'file';
COPY v TO STDOUT;
CREATE FUNCTION instead() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO f VALUES (NEW.id, NEW.from_id, NEW.to_id); RETURN NEW; END $$;
CREATE TRIGGER i INSTEAD OF INSERT ON v FOR EACH ROW EXECUTE FUNCTION instead();
COPY v FROM STDIN;
50	5	5
\.
SELECT * FROM f WHERE from_id = 5;
COPY (SELECT i, i % 100, i % 7 FROM generate_series(1000, 21000) i) TO :'file';
COPY f FROM :'file';
SELECT count(*), sum(id) FROM f;
COPY f FROM :'file';
SELECT count(*), sum(id) FROM f WHERE from_id = 77;
CREATE UNLOGGED TABLE u (id bigint PRIMARY KEY, from_id bigint, to_id bigint);
COPY u FROM :'file';
SELECT count(*), sum(id) FROM u WHERE id < 2000;
CREATE TEMP TABLE t (id bigint PRIMARY KEY, from_id bigint, to_id bigint);
COPY t FROM :'file';
SELECT count(*), sum(id) FROM t WHERE id < 2000;
DROP TABLE links, copy, f, g, p, u CASCADE;
