-- What one transaction does to a table as a whole, again and again, and takes back.
\set VERBOSITY terse
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint);
CREATE INDEX ON links (from_id);
CREATE INDEX ON links USING hash (type_id);
INSERT INTO links SELECT i, i % 10, 0, 1 FROM generate_series(1, 100) i;

\echo made, filled, changed and used in one transaction
BEGIN;
CREATE TABLE made (id bigint PRIMARY KEY, a bigint, b bigint);
CREATE INDEX ON made USING hash (a);
INSERT INTO made SELECT i, i, i FROM generate_series(1, 100) i;
INSERT INTO made SELECT i, 0, 0 FROM generate_series(50, 150) i ON CONFLICT (id) DO UPDATE SET b = -1;
ALTER TABLE made SET ACCESS METHOD heap;
INSERT INTO made SELECT i, 0, 0 FROM generate_series(100, 200) i ON CONFLICT (id) DO UPDATE SET b = -2;
SET LOCAL enable_seqscan = off;
SELECT count(*), sum(b) FROM made WHERE id > 10;
SELECT count(*), sum(b) FROM made WHERE a = 7;
ALTER TABLE made SET ACCESS METHOD :am;
INSERT INTO made SELECT i, 0, 0 FROM generate_series(200, 250) i ON CONFLICT (id) DO UPDATE SET b = -3;
SELECT count(*), sum(b) FROM made WHERE id > 10;
SELECT count(*), sum(b) FROM made WHERE a = 7;
ALTER TABLE made DROP CONSTRAINT made_pkey;
ALTER TABLE made ADD PRIMARY KEY (id);
ALTER TABLE made SET ACCESS METHOD heap;
INSERT INTO made SELECT i, 0, 0 FROM generate_series(200, 250) i ON CONFLICT (id) DO UPDATE SET b = -4;
ALTER TABLE made SET ACCESS METHOD :am;
COMMIT;
SELECT count(*), sum(a), sum(b) FROM made;

\echo emptied, then moved over and back
BEGIN;
TRUNCATE links;
ALTER TABLE links SET ACCESS METHOD heap;
INSERT INTO links SELECT i, i % 7, 0, 2 FROM generate_series(1, 70) i;
INSERT INTO links VALUES (1, 0, 0, 0) ON CONFLICT (id) DO UPDATE SET to_id = 5 RETURNING *;
ALTER TABLE links SET ACCESS METHOD :am;
INSERT INTO links VALUES (1, 0, 0, 0) ON CONFLICT (id) DO UPDATE SET to_id = 6 RETURNING *;
SET LOCAL enable_seqscan = off;
SELECT count(*) FROM links WHERE from_id = 3;
SELECT count(*) FROM links WHERE type_id = 2;
COMMIT;

\echo taken back to a savepoint
BEGIN;
SET LOCAL enable_seqscan = off;
CLUSTER links USING links_pkey;
SAVEPOINT a;
ALTER TABLE links SET ACCESS METHOD heap;
INSERT INTO links SELECT i, i % 7, 0, 2 FROM generate_series(71, 140) i;
SELECT count(*) FROM links WHERE from_id = 3;
SAVEPOINT b;
ALTER TABLE links SET ACCESS METHOD :am;
SELECT count(*) FROM links WHERE from_id = 3;
ROLLBACK TO b;
SELECT count(*) FROM links WHERE from_id = 3;
INSERT INTO links VALUES (3, 3, 3, 3) ON CONFLICT (id) DO UPDATE SET to_id = 7 RETURNING *;
ROLLBACK TO a;
SELECT count(*) FROM links WHERE from_id = 3;
SELECT count(*) FROM links WHERE type_id = 2;
INSERT INTO links VALUES (3, 3, 3, 3) ON CONFLICT (id) DO UPDATE SET to_id = 7 RETURNING *;
INSERT INTO links VALUES (3, 3, 3, 3);
ROLLBACK TO a;
ALTER TABLE links SET ACCESS METHOD heap;
RELEASE a;
SELECT count(*) FROM links WHERE from_id = 3;
ROLLBACK;
SET enable_seqscan = off;
SELECT count(*) FROM links WHERE from_id = 3;
INSERT INTO links VALUES (3, 3, 3, 3) ON CONFLICT (id) DO UPDATE SET to_id = 8 RETURNING *;

\echo in a function that catches
DO $$
BEGIN
	TRUNCATE links;
	INSERT INTO links SELECT i, i % 7, 0, 2 FROM generate_series(1, 70) i;
	BEGIN
		EXECUTE 'ALTER TABLE links SET ACCESS METHOD heap';
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN
		NULL;
	END;
	INSERT INTO links SELECT i, 1, 1, 1 FROM generate_series(60, 80) i ON CONFLICT (id) DO UPDATE SET to_id = 9;
END $$;
SELECT count(*), sum(to_id) FROM links WHERE id > 0;
SELECT count(*) FROM links WHERE from_id = 1;
