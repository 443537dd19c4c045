-- doublets_memory and doublets_progress_load: what is in memory, told to those who may read it.
CREATE TABLE mem (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint) USING doublets WITH (autovacuum_enabled = off);
INSERT INTO mem SELECT i, i, i, i FROM generate_series(1, 20000) i;
CREATE TABLE mem_secret (id bigint, from_id bigint, to_id bigint) USING doublets;
INSERT INTO mem_secret VALUES (1, 1, 1);
CREATE UNLOGGED TABLE mem_unlogged (id bigint, from_id bigint, to_id bigint) USING doublets;
INSERT INTO mem_unlogged VALUES (1, 1, 1);
CREATE TEMPORARY TABLE mem_temp (id bigint, from_id bigint, to_id bigint) USING doublets;
INSERT INTO mem_temp VALUES (1, 1, 1);
SELECT datname = current_database() AS here, rel, state, bytes > 1000000 AS big, loaded_at <= now() AS loaded, load_ms >= 0 AS took,
  last_used >= loaded_at - interval '1 min' AS used, backends, evictions
FROM doublets_memory WHERE datid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND rel::text LIKE 'mem%' ORDER BY rel::text;
SELECT m.relfilenode = pg_relation_filenode('mem') AS file, m.tablespace = d.dattablespace AS tablespace
FROM doublets_memory m JOIN pg_database d ON d.oid = m.datid WHERE m.rel = 'mem'::regclass;
-- A transaction that has it locked is a user.
BEGIN;
SELECT users FROM doublets_memory WHERE rel = 'mem'::regclass;
SELECT count(*) FROM mem;
SELECT users FROM doublets_memory WHERE rel = 'mem'::regclass;
COMMIT;
SELECT count(*) FROM doublets_progress_load WHERE datname = current_database();
SELECT bytes > 1000000 AS bytes, evictions >= 0 AS evictions, leaving_bytes >= 0 AS leaving FROM doublets_memory_totals();
-- Who may see what.
CREATE ROLE regress_doublets_memory;
GRANT SELECT ON mem TO regress_doublets_memory;
SET ROLE regress_doublets_memory;
SELECT rel FROM doublets_memory ORDER BY rel::text;
SELECT count(*) FROM doublets_progress_load;
SELECT * FROM doublets_memory_totals();
RESET ROLE;
GRANT pg_monitor TO regress_doublets_memory;
SET ROLE regress_doublets_memory;
SELECT rel FROM doublets_memory WHERE rel::text LIKE 'mem%' ORDER BY rel::text;
SELECT bytes > 0 AS bytes FROM doublets_memory_totals();
RESET ROLE;
-- It goes with the table.
CREATE TABLE mem_before AS SELECT bytes FROM doublets_memory_totals();
TRUNCATE mem;
SELECT m.bytes < b.bytes - 1000000 AS less FROM doublets_memory_totals() m, mem_before b;
-- And with a load that is rolled back, into a table made by it or into a new file of one that was there.
UPDATE mem_before SET bytes = (SELECT bytes FROM doublets_memory_totals());
BEGIN;
CREATE TABLE mem_new (id bigint PRIMARY KEY, from_id bigint, to_id bigint) USING doublets;
INSERT INTO mem_new SELECT i, i, i FROM generate_series(1, 50000) i;
SELECT m.bytes > b.bytes + 4000000 AS more FROM doublets_memory_totals() m, mem_before b;
ROLLBACK;
BEGIN;
TRUNCATE mem;
INSERT INTO mem SELECT i, i, i, i FROM generate_series(1, 50000) i;
SELECT m.bytes > b.bytes + 4000000 AS more FROM doublets_memory_totals() m, mem_before b;
ROLLBACK;
SELECT m.bytes < b.bytes + 200000 AS as_before FROM doublets_memory_totals() m, mem_before b;
DROP TABLE mem, mem_secret, mem_unlogged, mem_before;
SELECT rel FROM doublets_memory WHERE rel::text LIKE 'mem%';
DROP ROLE regress_doublets_memory;
