/*-------------------------------------------------------------------------
 *
 * check.c
 *	  doublets_check(regclass): verify a table's store and its pages.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/tuplestore.h"

#include "inspect/inspect.h"
#include "table/table.h"

PG_FUNCTION_INFO_V1(doublets_check);

/* Enough to know; a store that is badly broken has millions. */
#define MAX_FAULTS	10000

typedef struct DblFault
{
	DblSlot		slot;
	const char *text;
} DblFault;

typedef struct DblFaults
{
	bool		copy;			/* texts don't stay */
	int			n;
	DblFault	fault[MAX_FAULTS];
} DblFaults;

/* Only notes the fault: the store is locked here. */
static bool
note_fault(void *arg, DblSlot slot, const char *text)
{
	DblFaults  *faults = arg;

	faults->fault[faults->n].slot = slot;
	faults->fault[faults->n].text = faults->copy ? pstrdup(text) : text;
	faults->n++;
	return faults->n < MAX_FAULTS;
}

/*
 * doublets_check(regclass): one row (slot int8, ctid tid, fault text) a fault
 * found, none if all is well; at most MAX_FAULTS.  slot and ctid are NULL for faults that are no
 * slot's.
 *
 * Needs SELECT on the table, and is refused to those whom row-level security hides rows
 * from.  Writers wait while the trees are looked through.
 */
Datum
doublets_check(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Relation	rel = dbl_inspect_open(relid);
	AclResult	acl;
	DblTable   *t;
	DblFaults  *faults;

	acl = pg_class_aclcheck(relid, GetUserId(), ACL_SELECT);
	if (acl != ACLCHECK_OK)
		aclcheck_error(acl, OBJECT_TABLE, RelationGetRelationName(rel));
	if (check_enable_rls(relid, InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("cannot check table \"%s\" under row-level security",
						RelationGetRelationName(rel)),
				 errdetail("The check looks at rows that policies may hide.")));

	InitMaterializedSRF(fcinfo, 0);
	if (rsinfo->setDesc->natts != 3)
		elog(ERROR, "doublets_check() is declared with %d columns instead of 3",
			 rsinfo->setDesc->natts);

	faults = palloc(sizeof(DblFaults));
	faults->n = 0;

	t = dbl_table_open(rel);
	dbl_table_lock(rel, t, LW_SHARED);
	faults->copy = false;		/* texts of the store are constants */
	dbl_store_check(&t->store, note_fault, faults);
	dbl_table_unlock(t);

	if (faults->n < MAX_FAULTS)
	{
		faults->copy = true;
		dbl_compare_pages(rel, t, note_fault, faults);
	}
	relation_close(rel, AccessShareLock);

	for (int i = 0; i < faults->n; i++)
	{
		Datum		values[3];
		bool		nulls[3] = {false, false, false};
		ItemPointerData tid;

		nulls[0] = nulls[1] = faults->fault[i].slot == DBL_NO_SLOT;
		values[0] = values[1] = (Datum) 0;
		if (!nulls[0])
		{
			DblSlotToTid(faults->fault[i].slot, &tid);
			values[0] = Int64GetDatum((int64) faults->fault[i].slot);
			values[1] = PointerGetDatum(&tid);
		}
		values[2] = CStringGetTextDatum(faults->fault[i].text);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
