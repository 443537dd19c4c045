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
