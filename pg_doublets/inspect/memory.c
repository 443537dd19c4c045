/*-------------------------------------------------------------------------
 *
 * memory.c
 *	  doublets_memory(), doublets_memory_totals(), doublets_progress_load(): which tables are in
 *	  memory, and which are being loaded.
 *
 * Of a table one is told only what one could find out by reading it: its row is left out for those who
 * may not SELECT from it, unless they are members of pg_read_all_stats (as pg_monitor is).  Tables of
 * other databases are for these alone.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/relfilenodemap.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "shared/registry.h"

PG_FUNCTION_INFO_V1(doublets_memory);
PG_FUNCTION_INFO_V1(doublets_memory_totals);
PG_FUNCTION_INFO_V1(doublets_progress_load);

static bool
reads_all_stats(void)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
}

/* The table of a file of this database, as far as the catalog shows it; else invalid. */
static Oid
table_of(const RelFileNode *node)
{
	Oid			spc = node->spcNode == MyDatabaseTableSpace ? InvalidOid : node->spcNode;

	if (node->dbNode != MyDatabaseId)
		return InvalidOid;
	return RelidByRelfilenode(spc, node->relNode);
}

/* May the user be told of this table?  *relid is set to it, if it is one of this database. */
static bool
may_see(const DblEntryInfo *info, bool all, Oid *relid)
{
	bool		gone = false;

	*relid = table_of(&info->node);
	if (all)
		return true;
	if (!OidIsValid(*relid))
		return false;
	return pg_class_aclcheck_ext(*relid, GetUserId(), ACL_SELECT, &gone) == ACLCHECK_OK && !gone;
}

static void
begin_set(FunctionCallInfo fcinfo, int natts)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	dbl_require_preload();
	InitMaterializedSRF(fcinfo, 0);
	if (rsinfo->setDesc->natts != natts)
		elog(ERROR, "function %u is declared with %d columns instead of %d",
			 fcinfo->flinfo->fn_oid, rsinfo->setDesc->natts, natts);
}

static void
set_or_null(Datum *value, bool *isnull, bool known, Datum datum)
{
	*value = datum;
	*isnull = !known;
}

/*
 * doublets_memory(): one row a table that has an entry in shared memory (datid, relid, tablespace, relfilenode,
 * state, bytes, loaded_at, load_ms, last_used, backends, users, evictions).
 */
Datum
doublets_memory(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		all = reads_all_stats();
	DblEntryInfo *list;
	int			n;

	begin_set(fcinfo, 12);
	n = dbl_entries_list(&list);
	for (int i = 0; i < n; i++)
	{
		DblEntryInfo *info = &list[i];
		Datum		values[12];
		bool		nulls[12] = {false};
		Oid			relid;
		int			users;

		if (!may_see(info, all, &relid))
			continue;
		users = info->loaded ? dbl_table_users(info->node.dbNode, info->relid) : 0;
		values[0] = ObjectIdGetDatum(info->node.dbNode);
		set_or_null(&values[1], &nulls[1], OidIsValid(relid), ObjectIdGetDatum(relid));
		values[2] = ObjectIdGetDatum(info->node.spcNode);
		values[3] = ObjectIdGetDatum(info->node.relNode);
		values[4] = CStringGetTextDatum(info->loaded ? "loaded" :
										info->loading ? "loading" : "not loaded");
		values[5] = Int64GetDatum((int64) info->bytes);
		set_or_null(&values[6], &nulls[6], info->loaded, TimestampTzGetDatum(info->loaded_at));
		set_or_null(&values[7], &nulls[7], info->loaded, Float8GetDatum(info->load_ms));
		set_or_null(&values[8], &nulls[8], info->last_used != 0, TimestampTzGetDatum(info->last_used));
		values[9] = Int32GetDatum(info->backends);
		set_or_null(&values[10], &nulls[10], users >= 0, Int32GetDatum(users));
		values[11] = Int64GetDatum((int64) info->evictions);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/*
 * doublets_memory_totals(): (limit_bytes, bytes, leaving_bytes, evictions) of all tables
 * of the server together; limit NULL: none.  Needs membership in pg_read_all_stats.
 */
Datum
doublets_memory_totals(PG_FUNCTION_ARGS)
{
	DblMemoryTotals totals;
	TupleDesc	desc;
	Datum		values[4];
	bool		nulls[4] = {false};

	dbl_require_preload();
	if (!reads_all_stats())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for function %s", "doublets_memory_totals"),
				 errdetail("Only members of role pg_read_all_stats may see what the tables of all databases take.")));
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (desc->natts != lengthof(values))
		elog(ERROR, "doublets_memory_totals() is declared with %d columns instead of %d",
			 desc->natts, (int) lengthof(values));

	dbl_memory_totals(&totals);
	set_or_null(&values[0], &nulls[0], dbl_max_memory_mb != 0,
				Int64GetDatum((int64) dbl_max_memory_mb * 1024 * 1024));
	values[1] = Int64GetDatum((int64) totals.bytes);
	values[2] = Int64GetDatum((int64) totals.leaving_bytes);
	values[3] = Int64GetDatum((int64) totals.evictions);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

static const char *
phase_name(int phase)
{
	switch (phase)
	{
		case DBL_LOAD_STARTING:
			return "initializing";
		case DBL_LOAD_READING:
			return "reading pages";
		case DBL_LOAD_BUILDING + DBL_BUILD_IDS:
			return "building trees by id";
		case DBL_LOAD_BUILDING + DBL_BUILD_SOURCES:
			return "building trees by source";
		case DBL_LOAD_BUILDING + DBL_BUILD_TARGETS:
			return "building trees by target";
		case DBL_LOAD_BUILDING + DBL_BUILD_TYPES:
			return "building lists by type";
	}
	return "?";
}

/*
 * doublets_progress_load(): one row a table that is being loaded (pid, datid, relid, phase,
 * blocks_total, blocks_done, links_read, links_indexed).
 */
Datum
doublets_progress_load(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		all = reads_all_stats();
	DblEntryInfo *list;
	int			n;

	begin_set(fcinfo, 8);
	n = dbl_entries_list(&list);
	for (int i = 0; i < n; i++)
	{
		DblEntryInfo *info = &list[i];
		Datum		values[8];
		bool		nulls[8] = {false};
		Oid			relid;

		if (!info->loading || !may_see(info, all, &relid))
			continue;
		values[0] = Int32GetDatum(info->progress.pid);
		values[1] = ObjectIdGetDatum(info->node.dbNode);
		/* as in pg_stat_progress_*, a number that only its own database can tell the name of */
		values[2] = ObjectIdGetDatum(info->relid);
		values[3] = CStringGetTextDatum(phase_name(info->progress.phase));
		values[4] = Int64GetDatum((int64) info->progress.blocks_total);
		values[5] = Int64GetDatum((int64) info->progress.blocks_done);
		values[6] = Int64GetDatum((int64) info->progress.links);
		values[7] = Int64GetDatum((int64) info->progress.links_indexed);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
