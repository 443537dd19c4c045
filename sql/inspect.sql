-- doublets_stats() and doublets_check().
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint) USING doublets WITH (autovacuum_enabled = off);
CREATE INDEX ON links (from_id);
SELECT links, versions, dead_versions, free_slots FROM doublets_stats('links');
INSERT INTO links SELECT i, i % 10, i % 7, i % 3 FROM generate_series(1, 1000) i;
SELECT loaded, links, versions, dead_versions FROM doublets_stats('links');
UPDATE links SET to_id = 1 WHERE id <= 100;
DELETE FROM links WHERE id > 900;
SELECT links, versions FROM doublets_stats('links');
VACUUM links;
SELECT links, versions, dead_versions, free_slots FROM doublets_stats('links');
SELECT nodes > 900 AS nodes, slot_bytes > 0 AS slots, tree_bytes > 0 AS trees, directory_bytes > 0 AS directory, posting_bytes > 0 AS postings,
  shared_bytes >= slot_bytes + tree_bytes AS sum, load_ms >= 0 AS load FROM doublets_stats('links');
SELECT * FROM doublets_check('links');
-- What is not a doublets table.
CREATE TABLE plain (a bigint);
SELECT * FROM doublets_stats('plain');
SELECT * FROM doublets_check('plain');
SELECT * FROM doublets_check('links_pkey');
-- Who may.
CREATE ROLE regress_doublets;
SET ROLE regress_doublets;
SELECT * FROM doublets_check('links');
SELECT links FROM doublets_stats('links');
RESET ROLE;
GRANT SELECT ON links TO regress_doublets;
SET ROLE regress_doublets;
SELECT * FROM doublets_check('links');
SELECT links FROM doublets_stats('links');
RESET ROLE;
-- Faults, planted in memory.
CREATE FUNCTION doublets_plant_fault(regclass, text, int8) RETURNS void AS '$libdir/pg_doublets' LANGUAGE C STRICT;
CREATE FUNCTION planted(what text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
  kinds text;
BEGIN
  FOR slot IN 0 .. 899 LOOP
    BEGIN
      PERFORM doublets_plant_fault('links', what, slot);
      EXIT;
    EXCEPTION WHEN invalid_parameter_value THEN NULL;
    END;
  END LOOP;
  SELECT count(*), string_agg(DISTINCT fault, '; ' ORDER BY fault) INTO n, kinds FROM doublets_check('links');
  PERFORM doublets_plant_fault('links', 'drop', 0);
  RETURN CASE WHEN n > 0 THEN 'caught: ' || kinds ELSE 'NOT CAUGHT' END;
END $$;
SELECT what, planted(what) FROM unnest('{order,size,missing,twice,page,value,free}'::text[]) what;
SELECT count(*) FROM doublets_check('links');
SELECT doublets_plant_fault('links', 'page', 100000);
SELECT count(*), sum(to_id) FROM links;
DROP FUNCTION planted, doublets_plant_fault;
DROP TABLE links, plain;
DROP ROLE regress_doublets;
