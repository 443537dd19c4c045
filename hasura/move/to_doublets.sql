-- Turns the links table of a Deep database from heap into doublets, in one transaction: it succeeds as a whole or leaves
-- everything as it was.
--
--   psql -X -v ON_ERROR_STOP=1 -d DATABASE -f hasura/move/to_doublets.sql
--
-- Rows, constraints, foreign keys, triggers, views, functions, rights, comments and the table's identity stay, so an engine's
-- metadata holds. The table is locked meanwhile; a lock that is not to be had within ten seconds ends it.
BEGIN;
SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = 0;
SET LOCAL client_min_messages = warning;

DO $$
BEGIN
  IF 'pg_doublets' <> ALL (regexp_split_to_array(current_setting('shared_preload_libraries'), '\s*,\s*')) THEN
    RAISE EXCEPTION 'the server has not loaded pg_doublets'
      USING HINT = 'Add it to shared_preload_libraries in postgresql.conf and restart the server.';
  END IF;
  IF (SELECT a.amname FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE c.oid = 'public.links'::regclass) <> 'heap' THEN
    RAISE EXCEPTION 'public.links is not a heap table';
  END IF;
END $$;
CREATE EXTENSION IF NOT EXISTS pg_doublets;

LOCK TABLE public.links IN ACCESS EXCLUSIVE MODE;
CREATE TEMP TABLE links_before ON COMMIT DROP AS
  SELECT count(*) AS n, sum(hash_record_extended(l, 0)::numeric) AS hash FROM public.links l;

ALTER TABLE public.links SET ACCESS METHOD doublets;

DO $$
DECLARE
  index record;
BEGIN
  IF (SELECT (n, hash) FROM links_before)
    IS DISTINCT FROM (SELECT (count(*), sum(hash_record_extended(l, 0)::numeric)) FROM public.links l) THEN
    RAISE EXCEPTION 'the links are not the same after the move';
  END IF;
  FOR index IN
    SELECT i.indexrelid::regclass AS name, a.amname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = 'public.links'::regclass AND a.amname <> 'doublets_tree'
  LOOP
    RAISE WARNING 'index % stays an ordinary % index: it works, but costs what it costs on heap', index.name, index.amname;
  END LOOP;
END $$;
COMMIT;
ANALYZE public.links;
