-- What applying metadata with the event trigger "links" (insert, update, delete, all columns) leaves in a database, in
-- our wording: a log, and for each operation a row trigger whose body is a block with an exception handler, thus one
-- subtransaction a row.
CREATE SCHEMA hdb_catalog;
CREATE FUNCTION hdb_catalog.gen_hasura_uuid() RETURNS uuid LANGUAGE sql AS 'select gen_random_uuid()';
CREATE TABLE hdb_catalog.event_log (
  id text DEFAULT hdb_catalog.gen_hasura_uuid() PRIMARY KEY,
  schema_name text NOT NULL, table_name text NOT NULL, trigger_name text NOT NULL, payload jsonb NOT NULL,
  delivered boolean NOT NULL DEFAULT false, error boolean NOT NULL DEFAULT false, tries int NOT NULL DEFAULT 0,
  created_at timestamp DEFAULT now(), locked timestamptz, next_retry_at timestamp, archived boolean NOT NULL DEFAULT false);
CREATE INDEX ON hdb_catalog.event_log (trigger_name);
CREATE INDEX event_log_fetch_events ON hdb_catalog.event_log (locked NULLS FIRST, next_retry_at NULLS FIRST, created_at)
  WHERE delivered = 'f' AND error = 'f' AND archived = 'f';
CREATE FUNCTION hdb_catalog.insert_event_log(schema_name text, table_name text, trigger_name text, op text, row_data json)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE id text := gen_random_uuid(); payload json; sv json := current_setting('hasura.user','t'); tc json := current_setting('hasura.tracecontext','t');
BEGIN
  payload := json_build_object('op', op, 'data', row_data, 'session_variables', sv, 'trace_context', tc);
  INSERT INTO hdb_catalog.event_log(id, schema_name, table_name, trigger_name, payload)
  VALUES (id, schema_name, table_name, trigger_name, payload);
  RETURN id;
END $$;

CREATE OR REPLACE function hdb_catalog."notify_hasura_links_INSERT"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE _old record; _new record; _data json;
BEGIN
  IF TG_OP = 'UPDATE' THEN _old := row((select 1)); _new := row((SELECT "e" FROM (SELECT NEW."id" , NEW."from_id" , NEW."to_id" , NEW."type_id" ) AS "e"));
  ELSE _old := row((select 1)); _new := row((select 1)); END IF;
  _data := json_build_object('old', NULL, 'new', row_to_json((SELECT "e" FROM (SELECT NEW."id" , NEW."from_id" , NEW."to_id" , NEW."type_id" ) AS "e")));
  BEGIN   -- a block with EXCEPTION: one SUBTRANSACTION for every row
    IF (TG_OP <> 'UPDATE') OR (_old <> _new) THEN
      PERFORM hdb_catalog.insert_event_log(CAST('public' AS text), CAST('links' AS text), CAST('links' AS text), TG_OP, _data);
    END IF;
  EXCEPTION WHEN undefined_function THEN
    IF (TG_OP <> 'UPDATE') OR (_old *<> _new) THEN
      PERFORM hdb_catalog.insert_event_log(CAST('public' AS text), CAST('links' AS text), CAST('links' AS text), TG_OP, _data);
    END IF;
  END;
  RETURN NULL;
END $$;
CREATE OR REPLACE function hdb_catalog."notify_hasura_links_UPDATE"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE _old record; _new record; _data json;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    _old := row((SELECT "e" FROM (SELECT OLD."id" , OLD."from_id" , OLD."to_id" , OLD."type_id" ) AS "e"));
    _new := row((SELECT "e" FROM (SELECT NEW."id" , NEW."from_id" , NEW."to_id" , NEW."type_id" ) AS "e"));
  ELSE _old := row((select 1)); _new := row((select 1)); END IF;
  _data := json_build_object(
    'old', row_to_json((SELECT "e" FROM (SELECT OLD."id" , OLD."from_id" , OLD."to_id" , OLD."type_id" ) AS "e")),
    'new', row_to_json((SELECT "e" FROM (SELECT NEW."id" , NEW."from_id" , NEW."to_id" , NEW."type_id" ) AS "e")));
  BEGIN
    IF (TG_OP <> 'UPDATE') OR (_old <> _new) THEN
      PERFORM hdb_catalog.insert_event_log(CAST('public' AS text), CAST('links' AS text), CAST('links' AS text), TG_OP, _data);
    END IF;
  EXCEPTION WHEN undefined_function THEN
    IF (TG_OP <> 'UPDATE') OR (_old *<> _new) THEN
      PERFORM hdb_catalog.insert_event_log(CAST('public' AS text), CAST('links' AS text), CAST('links' AS text), TG_OP, _data);
    END IF;
  END;
  RETURN NULL;
END $$;
CREATE OR REPLACE function hdb_catalog."notify_hasura_links_DELETE"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE _old record; _new record; _data json;
BEGIN
  _old := row((select 1)); _new := row((select 1));
  _data := json_build_object('old', row_to_json((SELECT "e" FROM (SELECT OLD."id" , OLD."from_id" , OLD."to_id" , OLD."type_id" ) AS "e")), 'new', NULL);
  BEGIN
    IF (TG_OP <> 'UPDATE') OR (_old <> _new) THEN
      PERFORM hdb_catalog.insert_event_log(CAST('public' AS text), CAST('links' AS text), CAST('links' AS text), TG_OP, _data);
    END IF;
  EXCEPTION WHEN undefined_function THEN
    IF (TG_OP <> 'UPDATE') OR (_old *<> _new) THEN
      PERFORM hdb_catalog.insert_event_log(CAST('public' AS text), CAST('links' AS text), CAST('links' AS text), TG_OP, _data);
    END IF;
  END;
  RETURN NULL;
END $$;
CREATE TRIGGER "notify_hasura_links_INSERT" AFTER INSERT ON "public"."links" FOR EACH ROW EXECUTE PROCEDURE hdb_catalog."notify_hasura_links_INSERT"();
CREATE TRIGGER "notify_hasura_links_UPDATE" AFTER UPDATE ON "public"."links" FOR EACH ROW EXECUTE PROCEDURE hdb_catalog."notify_hasura_links_UPDATE"();
CREATE TRIGGER "notify_hasura_links_DELETE" AFTER DELETE ON "public"."links" FOR EACH ROW EXECUTE PROCEDURE hdb_catalog."notify_hasura_links_DELETE"();
