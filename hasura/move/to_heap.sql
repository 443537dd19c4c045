-- Turns the links table of a Deep database from doublets into heap, in one transaction: the way back from to_doublets.sql.
--
--   psql -X -v ON_ERROR_STOP=1 -d DATABASE -f hasura/move/to_heap.sql
--
-- Native indexes become btrees. Those that Deep's migration names "..._hash" are made again as hash indexes.
BEGIN;
SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = 0;
SET LOCAL client_min_messages = warning;

DO $$
BEGIN
  IF (SELECT a.amname FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE c.oid = 'public.links'::regclass) <> 'doublets' THEN
    RAISE EXCEPTION 'public.links is not a doublets table';
  END IF;
END $$;

LOCK TABLE public.links IN ACCESS EXCLUSIVE MODE;
CREATE TEMP TABLE links_before ON COMMIT DROP AS
  SELECT count(*) AS n, sum(hash_record_extended(l, 0)::numeric) AS hash FROM public.links l;
CREATE TEMP TABLE hash_indexes ON COMMIT DROP AS
  SELECT c.relname AS name, a.attname AS of_column, obj_description(c.oid, 'pg_class') AS comment
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
  WHERE i.indrelid = 'public.links'::regclass AND c.relname LIKE '%\_hash' AND i.indnatts = 1 AND NOT i.indisunique
    AND i.indpred IS NULL AND i.indexprs IS NULL;

DO $$
DECLARE
  index record;
BEGIN
  FOR index IN SELECT * FROM hash_indexes LOOP
    EXECUTE format('DROP INDEX public.%I', index.name);
  END LOOP;
  ALTER TABLE public.links SET ACCESS METHOD heap;
  FOR index IN SELECT * FROM hash_indexes LOOP
    EXECUTE format('CREATE INDEX %I ON public.links USING hash (%I)', index.name, index.of_column);
    IF index.comment IS NOT NULL THEN
      EXECUTE format('COMMENT ON INDEX public.%I IS %L', index.name, index.comment);
    END IF;
  END LOOP;
  IF (SELECT (n, hash) FROM links_before)
    IS DISTINCT FROM (SELECT (count(*), sum(hash_record_extended(l, 0)::numeric)) FROM public.links l) THEN
    RAISE EXCEPTION 'the links are not the same after the move';
  END IF;
END $$;
COMMIT;
ANALYZE public.links;
