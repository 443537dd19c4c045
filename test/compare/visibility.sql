-- What a transaction sees of itself.
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint);
CREATE INDEX ON links (from_id);
INSERT INTO links SELECT i, 1, 1, 1 FROM generate_series(1, 10) i;
\echo == a command does not see its own changes
UPDATE links SET from_id = from_id + 1;
INSERT INTO links SELECT id + 100, from_id, to_id, type_id FROM links;
SELECT count(*), sum(from_id) FROM links;
UPDATE links SET id = id + 1000 WHERE id < 20 OR id > 1000;
SELECT min(id), max(id), count(*) FROM links;
SET enable_seqscan = off;
UPDATE links SET from_id = from_id + 1 WHERE from_id < 100;
SELECT from_id, count(*) FROM links GROUP BY 1;
RESET enable_seqscan;
\echo == many subtransactions
BEGIN;
DO $$
BEGIN
  FOR i IN 1..300 LOOP
    BEGIN
      INSERT INTO links VALUES (5000 + i, i, i, i);
      UPDATE links SET to_id = to_id + 1 WHERE id = 1001;
      IF i % 3 = 0 THEN RAISE EXCEPTION 'no'; END IF;
    EXCEPTION WHEN raise_exception THEN NULL;
    END;
  END LOOP;
END $$;
SELECT count(*) FROM links WHERE id > 5000;
SELECT to_id FROM links WHERE id = 1001;
COMMIT;
SELECT count(*) FROM links WHERE id > 5000;
SELECT to_id FROM links WHERE id = 1001;
\echo == delete and insert one key over and over
DO $$
BEGIN
  FOR i IN 1..200 LOOP
    DELETE FROM links WHERE id = 1002;
    INSERT INTO links VALUES (1002, i, i, i);
  END LOOP;
END $$;
SELECT * FROM links WHERE id = 1002;
SELECT count(*) FROM links WHERE from_id = 100 AND to_id = 100 AND type_id = 100;
\echo == unique, within one statement
UPDATE links SET id = 1003 WHERE id IN (1003, 1004);
UPDATE links SET id = 2000 - id WHERE id BETWEEN 1001 AND 1010;
UPDATE links SET id = id WHERE id < 2000;
INSERT INTO links VALUES (9000, 1, 1, 1), (9000, 1, 1, 1);
SELECT count(*) FROM links WHERE id = 9000;
\echo == repeatable read, read only, serializable
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM links;
INSERT INTO links VALUES (9001, 1, 1, 1);
SELECT count(*) FROM links;
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
UPDATE links SET to_id = 3 WHERE id = 1101;
SELECT * FROM links WHERE id = 1101;
COMMIT;
BEGIN READ ONLY;
DELETE FROM links;
ROLLBACK;
SELECT count(*) FROM links;
\echo == row values, whole rows, records
SELECT links FROM links WHERE id = 1101;
SELECT (links).to_id FROM links WHERE id = 1101;
SELECT row_to_json(l) FROM links l WHERE id = 1101;
SELECT count(*) FROM links a WHERE a = (SELECT b FROM links b WHERE b.id = 1101);
SELECT NULL::links, ROW(1, 2, 3, 4)::links;
