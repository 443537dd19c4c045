-- The links table: Deep's own DDL but for the access method.
CREATE EXTENSION IF NOT EXISTS pg_doublets;

CREATE TABLE public."links" (
  id bigint PRIMARY KEY,
  from_id bigint DEFAULT 0,
  to_id bigint DEFAULT 0,
  type_id bigint NOT NULL
) USING doublets;
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

-- Tables that hold values of links.
CREATE TABLE public."links__tables" (id bigint PRIMARY KEY, name text);
CREATE SEQUENCE links__tables_id_seq AS bigint START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
ALTER SEQUENCE links__tables_id_seq OWNED BY public."links__tables".id;
ALTER TABLE ONLY public."links__tables" ALTER COLUMN id SET DEFAULT nextval('links__tables_id_seq'::regclass);
CREATE INDEX IF NOT EXISTS links__tables__id_hash ON links__tables USING hash (id);
CREATE INDEX IF NOT EXISTS links__tables__name_hash ON links__tables USING hash (name);
CREATE INDEX IF NOT EXISTS links__tables__name_btree ON links__tables USING btree (name);
