/*-------------------------------------------------------------------------
 *
 * stats.c
 *	  doublets_stats(regclass): what a table's store holds.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "inspect/inspect.h"
#include "table/table.h"

PG_FUNCTION_INFO_V1(doublets_stats);

/* Slots looked at under one lock. */
#define SLOTS_A_LOCK	4096

typedef struct DblCounts
{
	int64		visible;
	int64		versions;
	int64		dead;
} DblCounts;

Relation
dbl_inspect_open(Oid relid)
{
	Relation	rel = relation_open(relid, AccessShareLock);

	if (!RelationIsDoublets(rel))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table that uses access method \"doublets\"",
						RelationGetRelationName(rel))));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
	return rel;
}

/*
 * Look at every version.  The lock is let go now and then, so the counts are as exact as those of any
 * scan that others write beside.
 */
static void
count_versions(Relation rel, DblTable *t, DblCounts *counts)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TransactionId oldest_xmin = GetOldestNonRemovableTransactionId(rel);
	uint64		slot = 0;
	bool		more = true;

	memset(counts, 0, sizeof(*counts));
	while (more)
	{
		uint64		end;

		CHECK_FOR_INTERRUPTS();
		dbl_table_lock(rel, t, LW_SHARED);
		end = Min(slot + SLOTS_A_LOCK, (uint64) dbl_nslots(&t->store));
		for (; slot < end; slot++)
		{
			DblVersion *v = dbl_version(&t->store, (DblSlot) slot);

			if (!(v->flags & DBL_F_USED))
				continue;
			counts->versions++;
			if (dbl_visible(v, snapshot))
				counts->visible++;
			else if (dbl_satisfies_vacuum(v, oldest_xmin) == HEAPTUPLE_DEAD)
				counts->dead++;
		}
		more = slot < dbl_nslots(&t->store);
		dbl_table_unlock(t);
	}
	UnregisterSnapshot(snapshot);
}

/*
 * doublets_stats(regclass): one row (loaded, load_ms, links, versions,
 * dead_versions, free_slots, nodes, slot_bytes, tree_bytes, directory_bytes,
 * posting_bytes, shared_bytes).
 *
 * Loads the store if it isn't; "loaded" tells whether it was before.  Needs
 * SELECT on the table or membership in pg_stat_scan_tables.
 */
Datum
doublets_stats(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	Relation	rel = dbl_inspect_open(relid);
	AclResult	acl;
	DblTable   *t;
	DblTableInfo before;
	DblTableInfo after;
	DblStoreStats st;
	DblCounts	counts;
	TupleDesc	desc;
	Datum		values[12];
	bool		nulls[12] = {false};
	bool		set = fcinfo->flinfo->fn_retset;

	acl = pg_class_aclcheck(relid, GetUserId(), ACL_SELECT);
	if (acl != ACLCHECK_OK && !has_privs_of_role(GetUserId(), ROLE_PG_STAT_SCAN_TABLES))
		aclcheck_error(acl, OBJECT_TABLE, RelationGetRelationName(rel));

	if (set)
	{
		InitMaterializedSRF(fcinfo, 0);
		desc = ((ReturnSetInfo *) fcinfo->resultinfo)->setDesc;
	}
	else if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (desc->natts != lengthof(values))
		elog(ERROR, "doublets_stats() is declared with %d columns instead of %d",
			 desc->natts, (int) lengthof(values));

	t = dbl_table_open(rel);
	dbl_table_info(t, &before);
	count_versions(rel, t, &counts);
	dbl_table_lock(rel, t, LW_SHARED);
	dbl_store_stats(&t->store, &st);
	dbl_table_unlock(t);
	dbl_table_info(t, &after);

	values[0] = BoolGetDatum(before.loaded);
	values[1] = Float8GetDatum(after.load_ms);
	values[2] = Int64GetDatum(counts.visible);
	values[3] = Int64GetDatum(counts.versions);
	values[4] = Int64GetDatum(counts.dead);
	values[5] = Int64GetDatum((int64) st.free);
	values[6] = Int64GetDatum((int64) st.nodes);
	values[7] = Int64GetDatum((int64) st.bytes_slots);
	values[8] = Int64GetDatum((int64) st.bytes_trees);
	values[9] = Int64GetDatum((int64) st.bytes_directory);
	values[10] = Int64GetDatum((int64) st.bytes_postings);
	values[11] = Int64GetDatum((int64) after.bytes);
	relation_close(rel, AccessShareLock);

	if (set)
	{
		ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

		tuplestore_putvalues(rsinfo->setResult, desc, values, nulls);
		return (Datum) 0;
	}
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
