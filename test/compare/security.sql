-- What EXPLAIN tells a role whose rows row-level security chooses: the same for values that hidden rows have and for
-- values that no row has.
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint) WITH (autovacuum_enabled = off);
CREATE INDEX ON links (from_id);
CREATE INDEX ON links (type_id);
INSERT INTO links SELECT i, i % 3, 0, 1 FROM generate_series(1, 3000) i;
CREATE FUNCTION plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  result text := '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
    result := result || coalesce(substring(line FROM 'cost=.*\)'), '') || ' ';
  END LOOP;
  RETURN result;
END $$;
CREATE ROLE doublets_security_role;
GRANT SELECT ON links TO doublets_security_role;
ALTER TABLE links ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON links USING (to_id = 7);
SET ROLE doublets_security_role;
SELECT count(*) FROM links WHERE from_id = 1;
SELECT plan('SELECT * FROM links WHERE from_id = 1') = plan('SELECT * FROM links WHERE from_id = 100') AS by_source,
  plan('SELECT * FROM links WHERE type_id = 1') = plan('SELECT * FROM links WHERE type_id = 2') AS by_type,
  plan('SELECT * FROM links WHERE from_id IN (1, 2)') = plan('SELECT * FROM links WHERE from_id IN (5, 6)') AS by_list;
RESET ROLE;
DROP TABLE links;
DROP ROLE doublets_security_role;
