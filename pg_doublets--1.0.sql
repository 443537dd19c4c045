/* pg_doublets--1.0.sql */

\echo Use "CREATE EXTENSION pg_doublets" to load this file. \quit

-- Access methods

CREATE FUNCTION doublets_handler(internal) RETURNS table_am_handler
AS 'MODULE_PATHNAME' LANGUAGE C STRICT;

CREATE FUNCTION doublets_tree_handler(internal) RETURNS index_am_handler
AS 'MODULE_PATHNAME' LANGUAGE C STRICT;

CREATE ACCESS METHOD doublets TYPE TABLE HANDLER doublets_handler;
COMMENT ON ACCESS METHOD doublets IS 'links tables in doublets trees';

CREATE ACCESS METHOD doublets_tree TYPE INDEX HANDLER doublets_tree_handler;
COMMENT ON ACCESS METHOD doublets_tree IS 'indexes that are views on the trees of a doublets table';

-- What CREATE INDEX finds by default.  It has no operators: the index gets those of btree.
CREATE OPERATOR CLASS int8_ops DEFAULT FOR TYPE int8 USING doublets_tree AS
	FUNCTION 1 btint8cmp(int8, int8);

-- Inspection

CREATE FUNCTION doublets_stats(
	rel regclass,
	OUT loaded boolean,
	OUT load_ms double precision,
	OUT links bigint,
	OUT versions bigint,
	OUT dead_versions bigint,
	OUT free_slots bigint,
	OUT nodes bigint,
	OUT slot_bytes bigint,
	OUT tree_bytes bigint,
	OUT directory_bytes bigint,
	OUT posting_bytes bigint,
	OUT shared_bytes bigint)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT;
COMMENT ON FUNCTION doublets_stats(regclass) IS 'what the store of a doublets table holds';

CREATE FUNCTION doublets_check(rel regclass, OUT slot bigint, OUT ctid tid, OUT fault text)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT;
COMMENT ON FUNCTION doublets_check(regclass) IS 'faults in the trees and pages of a doublets table; no row if all is well';

CREATE FUNCTION doublets_memory(
	OUT datid oid,
	OUT relid oid,
	OUT tablespace oid,
	OUT relfilenode oid,
	OUT state text,
	OUT bytes bigint,
	OUT loaded_at timestamptz,
	OUT load_ms double precision,
	OUT last_used timestamptz,
	OUT backends integer,
	OUT users integer,
	OUT evictions bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION doublets_memory() IS 'doublets tables in memory, as far as one may read them';

CREATE VIEW doublets_memory AS
	SELECT m.datid, d.datname, m.relid::regclass AS rel, m.tablespace, m.relfilenode, m.state, m.bytes, m.loaded_at, m.load_ms,
		m.last_used, m.backends, m.users, m.evictions
	FROM doublets_memory() m LEFT JOIN pg_catalog.pg_database d ON d.oid = m.datid;
COMMENT ON VIEW doublets_memory IS 'doublets tables in memory, as far as one may read them';
GRANT SELECT ON doublets_memory TO PUBLIC;

CREATE FUNCTION doublets_memory_totals(
	OUT limit_bytes bigint,
	OUT bytes bigint,
	OUT leaving_bytes bigint,
	OUT evictions bigint)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION doublets_memory_totals() IS 'shared memory of all doublets tables of the server';

CREATE FUNCTION doublets_progress_load(
	OUT pid integer,
	OUT datid oid,
	OUT relid oid,
	OUT phase text,
	OUT blocks_total bigint,
	OUT blocks_done bigint,
	OUT links_read bigint,
	OUT links_indexed bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION doublets_progress_load() IS 'doublets tables that are being loaded into memory';

CREATE VIEW doublets_progress_load AS
	SELECT p.pid, p.datid, d.datname, p.relid, p.phase, p.blocks_total, p.blocks_done, p.links_read, p.links_indexed
	FROM doublets_progress_load() p LEFT JOIN pg_catalog.pg_database d ON d.oid = p.datid;
COMMENT ON VIEW doublets_progress_load IS 'doublets tables that are being loaded into memory';
GRANT SELECT ON doublets_progress_load TO PUBLIC;
