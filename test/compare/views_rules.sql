-- Views (updatable, checked, security barriers, security invoker) and rules.
\set QUIET off
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint DEFAULT 0, to_id bigint DEFAULT 0, type_id bigint NOT NULL DEFAULT 1);
CREATE INDEX ON links (from_id);
CREATE INDEX ON links (type_id);
INSERT INTO links SELECT i, i % 10, i % 7, i % 3 FROM generate_series(1, 100) i;
ANALYZE links;
\echo == updatable views, stacked, checked locally and through
CREATE VIEW v1 AS SELECT * FROM links WHERE type_id = 1;
CREATE VIEW v2 AS SELECT id, from_id, to_id FROM v1 WHERE from_id < 5 WITH LOCAL CHECK OPTION;
CREATE VIEW v3 AS SELECT id, from_id FROM v2 WHERE id > 10 WITH CASCADED CHECK OPTION;
SELECT count(*), sum(id) FROM v1;
SELECT count(*), sum(id) FROM v2;
SELECT count(*), sum(id) FROM v3;
INSERT INTO v1 VALUES (1001, 1, 1, 2);
INSERT INTO v2 VALUES (1002, 9, 1);
INSERT INTO v2 VALUES (1002, 4, 1);
INSERT INTO v3 VALUES (5, 1);
INSERT INTO v3 VALUES (-5, 1);
INSERT INTO v3 VALUES (1003, 1) RETURNING *;
UPDATE v2 SET from_id = from_id + 4 WHERE id < 50;
UPDATE v2 SET from_id = 4 WHERE from_id = 3 RETURNING *;
UPDATE v3 SET id = 3 WHERE id = 1003;
UPDATE v3 SET id = id + 2000 WHERE id > 1000 RETURNING *;
DELETE FROM v3 WHERE from_id = 4 RETURNING *;
DELETE FROM v1 WHERE id = 2;
SELECT count(*), sum(id), sum(from_id) FROM links;
INSERT INTO v2 VALUES (4, 1, 1) ON CONFLICT (id) DO UPDATE SET to_id = excluded.to_id + 100 RETURNING *;
INSERT INTO v2 VALUES (3003, 1, 1) ON CONFLICT (id) DO UPDATE SET from_id = 9;
INSERT INTO v2 VALUES (3003, 1, 1) ON CONFLICT (id) DO UPDATE SET from_id = v2.from_id + 1 RETURNING *;
INSERT INTO v2 VALUES (3003, 1, 1) ON CONFLICT DO NOTHING;
MERGE INTO links t USING v1 s ON t.id = s.id AND s.id < 20 WHEN MATCHED AND s.id < 10 THEN DELETE WHEN MATCHED THEN UPDATE SET to_id = -s.id;
SELECT id, to_id FROM links WHERE to_id < 0 ORDER BY id;
\echo == views that are not updatable, and INSTEAD OF triggers that make them so
CREATE VIEW sums AS SELECT type_id, count(*) AS n, sum(id) AS ids FROM links GROUP BY 1;
SELECT * FROM sums ORDER BY 1;
DELETE FROM sums WHERE type_id = 0;
CREATE VIEW joined AS SELECT a.id, a.from_id, b.to_id, a.type_id FROM links a JOIN links b ON b.id = a.to_id;
UPDATE joined SET from_id = 1;
CREATE FUNCTION instead() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO links VALUES (NEW.id, NEW.from_id, NEW.to_id, NEW.type_id);
    RETURN NEW;
  ELSIF TG_OP = 'UPDATE' THEN
    UPDATE links SET from_id = NEW.from_id WHERE id = OLD.id;
    RETURN NEW;
  END IF;
  DELETE FROM links WHERE id = OLD.id;
  RETURN OLD;
END $$;
CREATE TRIGGER i INSTEAD OF INSERT OR UPDATE OR DELETE ON joined FOR EACH ROW EXECUTE FUNCTION instead();
INSERT INTO joined VALUES (4000, 1, 5, 1), (4001, 1, 6, 1);
UPDATE joined SET from_id = from_id + 1000 WHERE id > 3990 RETURNING *;
UPDATE joined SET from_id = from_id + 1000 WHERE id BETWEEN 30 AND 33 RETURNING *;
DELETE FROM joined WHERE id = 31 RETURNING *;
SELECT count(*), sum(from_id) FROM links;
\echo == a view that computes and renames
CREATE VIEW named AS SELECT type_id AS kind, id AS link, from_id + to_id AS ends, to_id AS head FROM links;
UPDATE named SET head = 55 WHERE link = 40 RETURNING *;
UPDATE named SET ends = 1 WHERE link = 40;
INSERT INTO named (kind, link) VALUES (7, 5000) RETURNING *;
ALTER VIEW named ALTER head SET DEFAULT 777;
INSERT INTO named (kind, link) VALUES (7, 5001) RETURNING *;
INSERT INTO named (link) VALUES (5002), (5003) RETURNING *;
\echo == FOR UPDATE and system columns through a view
BEGIN;
SELECT * FROM v1 WHERE id < 25 ORDER BY id FOR UPDATE;
SELECT id FROM v2 WHERE id < 25 ORDER BY id FOR KEY SHARE SKIP LOCKED;
ROLLBACK;
CREATE VIEW tids AS SELECT ctid AS place, xmin = xmax AS no, tableoid::regclass AS tab, id FROM links;
SELECT l.id FROM tids t JOIN links l ON l.ctid = t.place WHERE t.id = 40;
SELECT tab, id FROM tids WHERE id = 40;
\echo == security barrier
CREATE FUNCTION leak(bigint) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE 'leak %', $1; RETURN true; END $$;
CREATE VIEW open AS SELECT * FROM links WHERE id BETWEEN 40 AND 49 AND from_id = 3;
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM links WHERE id BETWEEN 40 AND 49 AND from_id = 3;
SELECT id FROM barrier WHERE leak(id);
SELECT id FROM barrier WHERE leak(to_id) AND to_id = 1;
UPDATE barrier SET to_id = to_id + 1 WHERE leak(id) RETURNING id;
DELETE FROM barrier WHERE leak(id) AND id = 43 RETURNING id;
\echo == security invoker
CREATE ROLE doublets_view_role;
GRANT SELECT ON v1, sums TO doublets_view_role;
CREATE VIEW invoker WITH (security_invoker) AS SELECT * FROM links WHERE type_id = 1;
GRANT ALL ON invoker TO doublets_view_role;
SET ROLE doublets_view_role;
SELECT count(*) FROM v1;
SELECT count(*) FROM invoker;
DELETE FROM v1;
DELETE FROM invoker;
RESET ROLE;
GRANT SELECT (id, type_id, from_id, to_id), UPDATE (to_id) ON links TO doublets_view_role;
SET ROLE doublets_view_role;
SELECT count(*) FROM invoker;
UPDATE invoker SET to_id = 1 WHERE id = 4;
UPDATE invoker SET from_id = 1 WHERE id = 4;
RESET ROLE;
DROP OWNED BY doublets_view_role;
DROP ROLE doublets_view_role;
\echo == rules: also, instead, conditional, on a view, with NEW and OLD
CREATE TABLE log (n serial, op text, old_id bigint, new_id bigint) USING heap;
CREATE RULE r_ins AS ON INSERT TO links WHERE NEW.id > 9000 DO ALSO INSERT INTO log (op, new_id) VALUES ('ins', NEW.id);
CREATE RULE r_upd AS ON UPDATE TO links WHERE OLD.id <> NEW.id DO ALSO INSERT INTO log (op, old_id, new_id) VALUES ('upd', OLD.id, NEW.id);
CREATE RULE r_del AS ON DELETE TO links WHERE OLD.type_id = 2 DO INSTEAD UPDATE links SET type_id = 22 WHERE id = OLD.id;
CREATE RULE r_not AS ON DELETE TO links WHERE OLD.type_id = 0 DO INSTEAD NOTHING;
INSERT INTO links VALUES (9001, 1, 1, 1), (8999, 1, 1, 1);
INSERT INTO links SELECT i, 1, 1, 1 FROM generate_series(9002, 9005) i;
UPDATE links SET id = id + 100 WHERE id > 9003;
UPDATE links SET to_id = 9 WHERE id > 9003;
DELETE FROM links WHERE id BETWEEN 50 AND 60;
SELECT id, type_id FROM links WHERE id BETWEEN 50 AND 60 ORDER BY id;
SELECT op, old_id, new_id FROM log ORDER BY n;
INSERT INTO links VALUES (9001, 1, 1, 1) ON CONFLICT DO NOTHING;
COPY links FROM STDIN;
9900	1	1	1
\.
SELECT count(*) FROM log;
ALTER TABLE links DISABLE RULE r_ins;
INSERT INTO links VALUES (9950, 1, 1, 1);
SELECT count(*) FROM log;
ALTER TABLE links ENABLE ALWAYS RULE r_ins;
DROP RULE r_del ON links;
DROP RULE r_not ON links;
CREATE VIEW ruled AS SELECT id, from_id FROM links WHERE id > 9000;
CREATE RULE ins AS ON INSERT TO ruled DO INSTEAD INSERT INTO links VALUES (NEW.id, NEW.from_id, 0, 1) RETURNING id, from_id;
CREATE RULE upd AS ON UPDATE TO ruled DO INSTEAD (UPDATE links SET from_id = NEW.from_id WHERE id = OLD.id; INSERT INTO log (op, old_id) VALUES ('view', OLD.id));
CREATE RULE del AS ON DELETE TO ruled DO INSTEAD DELETE FROM links WHERE id = OLD.id RETURNING old.id, old.from_id;
INSERT INTO ruled VALUES (9960, 6) RETURNING *;
UPDATE ruled SET from_id = 8 WHERE id > 9900;
DELETE FROM ruled WHERE from_id = 8 RETURNING *;
SELECT op, old_id, new_id FROM log ORDER BY n;
CREATE TABLE to_view (id bigint, a bigint, b bigint);
CREATE RULE "_RETURN" AS ON SELECT TO to_view DO INSTEAD SELECT id, from_id AS a, to_id AS b FROM links WHERE id < 5;
SELECT * FROM to_view ORDER BY id;
SELECT relkind, relam FROM pg_class WHERE relname = 'to_view';
\d+ v3
DROP TABLE links CASCADE;
