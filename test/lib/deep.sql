-- The schema of Deep's links, on whatever table access method is the default: the migration that makes the
-- table, and what hangs on it (values, a permission table, a foreign key, Hasura's event triggers).
-- Only the DDL of public.links, its sequence and indexes is Deep's; the rest is reduced.
\set ON_ERROR_STOP on
SET client_min_messages = warning;

CREATE TABLE public."links" (
  id bigint PRIMARY KEY,
  from_id bigint DEFAULT 0,
  to_id bigint DEFAULT 0,
  type_id bigint NOT NULL
);
CREATE SEQUENCE links_id_seq AS bigint START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
ALTER SEQUENCE links_id_seq OWNED BY public."links".id;
ALTER TABLE ONLY public."links" ALTER COLUMN id SET DEFAULT nextval('links_id_seq'::regclass);
CREATE INDEX IF NOT EXISTS links__id_hash ON links USING hash (id);
CREATE INDEX IF NOT EXISTS links__from_id_hash ON links USING hash (from_id);
CREATE INDEX IF NOT EXISTS links__from_id_btree ON links USING btree (from_id);
CREATE INDEX IF NOT EXISTS links__to_id_hash ON links USING hash (to_id);
CREATE INDEX IF NOT EXISTS links__to_id_btree ON links USING btree (to_id);
CREATE INDEX IF NOT EXISTS links__type_id_hash ON links USING hash (type_id);
CREATE INDEX IF NOT EXISTS links__type_id_btree ON links USING btree (type_id);

-- Values of links, in ordinary tables.
CREATE TABLE strings (id bigserial PRIMARY KEY, link_id bigint, value text) USING heap;
CREATE TABLE numbers (id bigserial PRIMARY KEY, link_id bigint, value double precision) USING heap;
CREATE INDEX ON strings (link_id);
CREATE INDEX ON numbers (link_id);

CREATE FUNCTION links__value__function(link links) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
  found jsonb;
BEGIN
  SELECT to_jsonb(s) INTO found FROM strings s WHERE s.link_id = link.id ORDER BY s.id LIMIT 1;
  IF found IS NULL THEN
    SELECT to_jsonb(n) INTO found FROM numbers n WHERE n.link_id = link.id ORDER BY n.id LIMIT 1;
  END IF;
  RETURN found;
END $$;

CREATE FUNCTION links__same_type__function(link links, other bigint) RETURNS SETOF links LANGUAGE sql STABLE AS
$$ SELECT l.* FROM links l WHERE l.id = other AND l.type_id = link.type_id $$;

-- Who may do what: Deep's view "can", as a table.
CREATE TABLE can (object_id bigint, subject_id bigint, action_id bigint) USING heap;
CREATE INDEX ON can (object_id, subject_id, action_id);

-- The one foreign key that references links.
CREATE SCHEMA storage;
CREATE TABLE storage.files (id bigserial PRIMARY KEY, name text,
  link_id bigint REFERENCES public.links (id) ON UPDATE CASCADE ON DELETE CASCADE) USING heap;

-- What an event trigger of Hasura leaves: a log, and a row trigger for each operation whose body is a block
-- with an exception handler, thus a subtransaction a row.
CREATE SCHEMA hdb_catalog;
CREATE TABLE hdb_catalog.event_log (
  id bigserial PRIMARY KEY, trigger_name text NOT NULL, payload jsonb NOT NULL,
  delivered boolean NOT NULL DEFAULT false, error boolean NOT NULL DEFAULT false,
  locked timestamptz) USING heap;

CREATE FUNCTION hdb_catalog.log_links() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  before json;
  after json;
BEGIN
  IF TG_OP <> 'INSERT' THEN
    before := row_to_json((SELECT e FROM (SELECT OLD.id, OLD.from_id, OLD.to_id, OLD.type_id) AS e));
  END IF;
  IF TG_OP <> 'DELETE' THEN
    after := row_to_json((SELECT e FROM (SELECT NEW.id, NEW.from_id, NEW.to_id, NEW.type_id) AS e));
  END IF;
  BEGIN
    IF TG_OP <> 'UPDATE' OR before::text <> after::text THEN
      INSERT INTO hdb_catalog.event_log (trigger_name, payload)
      VALUES (TG_NAME, json_build_object('op', TG_OP, 'data', json_build_object('old', before, 'new', after),
                                         'session_variables', nullif(current_setting('hasura.user', true), '')::json));
    END IF;
  EXCEPTION WHEN undefined_function THEN
    RAISE;
  END;
  RETURN NULL;
END $$;
