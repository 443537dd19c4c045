-- Triggers of all kinds, LISTEN and NOTIFY from them, event triggers over DDL.
\set QUIET off
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint DEFAULT 0, to_id bigint DEFAULT 0, type_id bigint DEFAULT 1);
CREATE INDEX ON links (from_id);
CREATE INDEX ON links (type_id, to_id);
\echo == LISTEN and NOTIFY
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('links', json_build_object('op', TG_OP, 'old', OLD.to_id, 'new', NEW.to_id, 'id', coalesce(NEW.id, OLD.id))::text);
  RETURN NULL;
END $$;
CREATE TRIGGER tell AFTER INSERT OR UPDATE OR DELETE ON links FOR EACH ROW EXECUTE FUNCTION tell();
LISTEN links;
INSERT INTO links VALUES (1, 1, 1, 1), (2, 2, 2, 2);
SELECT count(*) FROM links;
BEGIN;
UPDATE links SET to_id = to_id + 10;
SAVEPOINT a;
DELETE FROM links;
ROLLBACK TO a;
DELETE FROM links WHERE id = 1;
COMMIT;
SELECT count(*) FROM links;
BEGIN;
INSERT INTO links VALUES (3, 3, 3, 3);
ROLLBACK;
INSERT INTO links VALUES (2, 5, 5, 5) ON CONFLICT (id) DO UPDATE SET to_id = excluded.to_id;
INSERT INTO links VALUES (2, 5, 5, 5) ON CONFLICT DO NOTHING;
MERGE INTO links t USING (VALUES (2), (4)) s (id) ON t.id = s.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id);
SELECT count(*) FROM links;
UNLISTEN *;
DROP TRIGGER tell ON links;
TRUNCATE links;
INSERT INTO links SELECT i, i % 3, i % 4, i % 2 FROM generate_series(1, 20) i;
\echo == every timing and event, in order
CREATE TABLE log (n serial, line text) USING heap;
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO log (line) VALUES (concat_ws(' ', TG_NAME, TG_WHEN, TG_LEVEL, TG_OP, CASE WHEN TG_LEVEL = 'ROW' AND TG_OP <> 'INSERT' THEN OLD::text END, CASE WHEN TG_LEVEL = 'ROW' AND TG_OP <> 'DELETE' THEN NEW::text END,
    (SELECT count(*) || '/' || sum(to_id) FROM links)));
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
CREATE FUNCTION lines() RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY SELECT line FROM log ORDER BY n; TRUNCATE log; END $$;
CREATE TRIGGER bs BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON links FOR EACH STATEMENT EXECUTE FUNCTION note();
CREATE TRIGGER br BEFORE INSERT OR UPDATE OR DELETE ON links FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER ar AFTER INSERT OR UPDATE OR DELETE ON links FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER "as" AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON links FOR EACH STATEMENT EXECUTE FUNCTION note();
CREATE TRIGGER w AFTER UPDATE OF from_id ON links FOR EACH ROW WHEN (OLD.from_id <> NEW.from_id) EXECUTE FUNCTION note();
CREATE CONSTRAINT TRIGGER d AFTER INSERT OR UPDATE OR DELETE ON links DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note();
INSERT INTO links VALUES (100, 1, 1, 1), (101, 1, 1, 1);
SELECT lines();
UPDATE links SET from_id = 2 WHERE id >= 100;
SELECT lines();
INSERT INTO links VALUES (100, 1, 7, 1), (102, 1, 1, 1) ON CONFLICT (id) DO UPDATE SET to_id = excluded.to_id;
SELECT lines();
INSERT INTO links VALUES (100, 1, 7, 1) ON CONFLICT DO NOTHING;
SELECT lines();
MERGE INTO links t USING (VALUES (100), (101), (103)) s (id) ON t.id = s.id WHEN MATCHED AND t.id = 100 THEN UPDATE SET to_id = 9 WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id);
SELECT lines();
BEGIN;
DELETE FROM links WHERE id > 100;
SELECT lines();
SET CONSTRAINTS d IMMEDIATE;
SELECT lines();
ROLLBACK;
BEGIN;
UPDATE links SET to_id = 1 WHERE id = 5;
UPDATE links SET to_id = 2 WHERE id = 5;
DELETE FROM links WHERE id = 5;
COMMIT;
SELECT lines();
BEGIN;
TRUNCATE links;
SELECT lines();
ROLLBACK;
UPDATE links SET to_id = 1 WHERE id = -1;
SELECT lines();
WITH x AS (INSERT INTO links VALUES (200, 1, 1, 1) RETURNING id), y AS (DELETE FROM links WHERE id = 6 RETURNING id) UPDATE links SET to_id = 77 FROM x, y WHERE links.id = 7;
SELECT lines();
DROP TRIGGER bs ON links; DROP TRIGGER br ON links; DROP TRIGGER ar ON links; DROP TRIGGER "as" ON links; DROP TRIGGER w ON links; DROP TRIGGER d ON links;
\echo == a row changed under its own trigger
CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF pg_trigger_depth() > 1 THEN RETURN coalesce(NEW, OLD); END IF;
  IF TG_OP = 'UPDATE' AND OLD.id = 8 THEN UPDATE links SET type_id = 99 WHERE id = 8; END IF;
  IF TG_OP = 'UPDATE' AND OLD.id = 9 THEN DELETE FROM links WHERE id = 9; END IF;
  IF TG_OP = 'UPDATE' AND OLD.id = 10 THEN UPDATE links SET type_id = 98 WHERE id = 11; END IF;
  IF TG_OP = 'DELETE' AND OLD.id = 12 THEN UPDATE links SET type_id = 97 WHERE id = 12; END IF;
  IF TG_OP = 'DELETE' AND OLD.id = 13 THEN DELETE FROM links WHERE id = 14; END IF;
  IF TG_OP = 'INSERT' AND NEW.id = 300 THEN INSERT INTO links VALUES (301, 1, 1, 1); END IF;
  IF TG_OP = 'INSERT' AND NEW.id = 302 THEN INSERT INTO links VALUES (302, 1, 1, 1); END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER m BEFORE INSERT OR UPDATE OR DELETE ON links FOR EACH ROW EXECUTE FUNCTION meddle();
UPDATE links SET to_id = 50 WHERE id = 8;
UPDATE links SET to_id = 50 WHERE id = 9;
UPDATE links SET to_id = 50 WHERE id IN (10, 11);
DELETE FROM links WHERE id = 12;
DELETE FROM links WHERE id IN (13, 14);
INSERT INTO links VALUES (300, 1, 1, 1);
INSERT INTO links VALUES (302, 1, 1, 1);
INSERT INTO links VALUES (302, 1, 1, 1) ON CONFLICT (id) DO NOTHING;
INSERT INTO links VALUES (300, 1, 5, 1) ON CONFLICT (id) DO UPDATE SET to_id = excluded.to_id;
SELECT * FROM links WHERE id BETWEEN 8 AND 14 OR id >= 300 ORDER BY id;
DROP TRIGGER m ON links;
\echo == transition tables
CREATE FUNCTION changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN RAISE NOTICE '% old %', TG_OP, (SELECT string_agg(o::text, ' ' ORDER BY id) FROM o); END IF;
  IF TG_OP <> 'DELETE' THEN RAISE NOTICE '% new %', TG_OP, (SELECT string_agg(n::text, ' ' ORDER BY id) FROM n); END IF;
  IF TG_OP = 'UPDATE' THEN RAISE NOTICE 'joined %', (SELECT count(*) FROM links l JOIN n ON n.id = l.id AND n.to_id = l.to_id JOIN o ON o.id = l.id); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER i AFTER INSERT ON links REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION changes();
CREATE TRIGGER u AFTER UPDATE ON links REFERENCING OLD TABLE AS o NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION changes();
CREATE TRIGGER d AFTER DELETE ON links REFERENCING OLD TABLE AS o FOR EACH STATEMENT EXECUTE FUNCTION changes();
INSERT INTO links VALUES (400, 1, 1, 1), (401, 1, 1, 1);
UPDATE links SET to_id = to_id + 1 WHERE id >= 400;
INSERT INTO links VALUES (400, 1, 1, 1), (402, 1, 1, 1) ON CONFLICT (id) DO UPDATE SET to_id = 0;
MERGE INTO links t USING (VALUES (400), (401), (403)) s (id) ON t.id = s.id WHEN MATCHED AND t.id = 400 THEN UPDATE SET to_id = 9 WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id);
DELETE FROM links WHERE id >= 400;
ALTER TABLE links ADD FOREIGN KEY (from_id) REFERENCES links ON DELETE CASCADE NOT VALID;
INSERT INTO links VALUES (500, NULL, 1, 1), (501, 500, 1, 1), (502, 501, 1, 1), (503, 502, 1, 1);
DELETE FROM links WHERE id = 500;
SELECT count(*) FROM links WHERE id >= 500;
DROP TRIGGER i ON links; DROP TRIGGER u ON links; DROP TRIGGER d ON links;
\echo == triggers that raise and are caught; system columns of OLD and NEW
CREATE FUNCTION picky() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.to_id = 13 THEN RAISE EXCEPTION 'not 13'; END IF;
  IF TG_WHEN = 'AFTER' THEN RAISE NOTICE '% %', TG_OP, NEW.xmin::text = (txid_current() % (2^32)::bigint)::text; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER p AFTER INSERT OR UPDATE ON links FOR EACH ROW EXECUTE FUNCTION picky();
DO $$
BEGIN
  FOR i IN 11..15 LOOP
    BEGIN
      INSERT INTO links VALUES (600 + i, NULL, i, 1);
      UPDATE links SET type_id = i WHERE id = 600 + i;
    EXCEPTION WHEN raise_exception THEN RAISE NOTICE 'caught %', i;
    END;
  END LOOP;
END $$;
SELECT id, to_id, type_id FROM links WHERE id > 600 ORDER BY id;
DROP TRIGGER p ON links;
CREATE TRIGGER s BEFORE UPDATE ON links FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
UPDATE links SET to_id = to_id WHERE id > 600;
UPDATE links SET to_id = to_id + (id - 611) WHERE id > 600;
DROP TRIGGER s ON links;
\echo == event triggers
CREATE FUNCTION ddl() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  IF TG_EVENT = 'ddl_command_end' THEN
    FOR r IN SELECT * FROM pg_event_trigger_ddl_commands() LOOP RAISE NOTICE '% % % %', TG_EVENT, r.command_tag, r.object_type, r.object_identity; END LOOP;
  ELSIF TG_EVENT = 'sql_drop' THEN
    FOR r IN SELECT * FROM pg_event_trigger_dropped_objects() WHERE object_type <> 'trigger' LOOP RAISE NOTICE '% % %', TG_EVENT, r.object_type, r.object_identity; END LOOP;
  ELSIF TG_EVENT = 'table_rewrite' THEN
    RAISE NOTICE 'rewrite % %', pg_event_trigger_table_rewrite_oid()::regclass, pg_event_trigger_table_rewrite_reason();
  ELSE
    RAISE NOTICE '% %', TG_EVENT, TG_TAG;
  END IF;
END $$;
CREATE EVENT TRIGGER e1 ON ddl_command_start EXECUTE FUNCTION ddl();
CREATE EVENT TRIGGER e2 ON ddl_command_end EXECUTE FUNCTION ddl();
CREATE EVENT TRIGGER e3 ON sql_drop EXECUTE FUNCTION ddl();
CREATE EVENT TRIGGER e4 ON table_rewrite EXECUTE FUNCTION ddl();
CREATE TABLE e (id bigint PRIMARY KEY, a bigint REFERENCES links, b bigint DEFAULT 3);
CREATE INDEX ei ON e (a);
CREATE UNIQUE INDEX eu ON e (id);
ALTER TABLE e ADD CONSTRAINT un UNIQUE USING INDEX eu, ADD CHECK (id > 0);
ALTER TABLE e SET UNLOGGED;
DROP EVENT TRIGGER e4;
ALTER TABLE e SET ACCESS METHOD heap;
ALTER TABLE e SET ACCESS METHOD :am;
CREATE TABLE e2 AS SELECT * FROM e;
CREATE TABLE e3 (LIKE e INCLUDING ALL);
REINDEX TABLE e;
CREATE INDEX CONCURRENTLY ec ON e (b);
DROP INDEX CONCURRENTLY ec;
TRUNCATE e;
DROP TABLE e, e2, e3;
DROP EVENT TRIGGER e1; DROP EVENT TRIGGER e2; DROP EVENT TRIGGER e3;
DROP TABLE links CASCADE;
