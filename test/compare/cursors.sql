-- Cursors, and changes under them.
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint);
CREATE INDEX ON links (from_id);
CREATE INDEX ON links (type_id, id);
INSERT INTO links SELECT i, i % 10, i % 7, i % 3 FROM generate_series(1, 1000) i;
ANALYZE links;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM links ORDER BY id;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ABSOLUTE 500 FROM c;
FETCH RELATIVE -10 FROM c;
FETCH LAST FROM c;
FETCH NEXT FROM c;
FETCH PRIOR FROM c;
FETCH FIRST FROM c;
FETCH PRIOR FROM c;
FETCH NEXT FROM c;
DECLARE d SCROLL CURSOR FOR SELECT id FROM links WHERE from_id = 3 ORDER BY id DESC;
FETCH 3 FROM d;
MOVE FORWARD ALL IN d;
FETCH BACKWARD 3 FROM d;
COMMIT;
\echo == changes are not seen by an open cursor
BEGIN;
DECLARE c CURSOR FOR SELECT id, to_id FROM links WHERE from_id = 5 ORDER BY id;
FETCH 2 FROM c;
UPDATE links SET to_id = -1 WHERE from_id = 5;
DELETE FROM links WHERE id = 25;
INSERT INTO links VALUES (26000, 5, 5, 5);
FETCH 3 FROM c;
SELECT id, to_id FROM links WHERE from_id = 5 ORDER BY id LIMIT 5;
COMMIT;
\echo == growth under an open cursor
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM links WHERE from_id = 7;
MOVE 5 IN c;
INSERT INTO links SELECT i, 7, 7, 7 FROM generate_series(30000, 60000) i;
MOVE FORWARD ALL IN c;
ROLLBACK;
SELECT count(*) FROM links;
\echo == where current of
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM links WHERE id < 5 ORDER BY id FOR UPDATE;
FETCH 2 FROM c;
UPDATE links SET to_id = 99 WHERE CURRENT OF c RETURNING *;
FETCH 1 FROM c;
DELETE FROM links WHERE CURRENT OF c RETURNING *;
FETCH 1 FROM c;
COMMIT;
SELECT * FROM links WHERE id < 5 ORDER BY id;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM links WHERE id = 9;
FETCH 1 FROM c;
UPDATE links SET to_id = 98 WHERE CURRENT OF c RETURNING id;
UPDATE links SET to_id = 97 WHERE CURRENT OF c RETURNING id;
COMMIT;
\echo == holdable
BEGIN;
DECLARE c CURSOR WITH HOLD FOR SELECT id FROM links ORDER BY id;
COMMIT;
DELETE FROM links WHERE id < 10;
FETCH 3 FROM c;
CLOSE c;
\echo == in plpgsql, changing what is looped over
DO $$
DECLARE
  l links;
BEGIN
  FOR l IN SELECT * FROM links WHERE type_id = 1 LOOP
    UPDATE links SET type_id = 2 WHERE id = l.id;
    INSERT INTO links VALUES (l.id + 100000, l.from_id, l.to_id, 1);
  END LOOP;
END $$;
SELECT type_id, count(*), sum(id) FROM links GROUP BY 1 ORDER BY 1;
\echo == a snapshot of functions
CREATE FUNCTION how_many() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT count(*) FROM links $$;
CREATE FUNCTION how_many_now() RETURNS bigint LANGUAGE sql VOLATILE AS $$ SELECT count(*) FROM links $$;
INSERT INTO links SELECT 500000 + i, how_many(), how_many_now(), 1 FROM generate_series(1, 3) i RETURNING from_id, to_id;
