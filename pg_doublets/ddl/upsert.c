/*-------------------------------------------------------------------------
 *
 * upsert.c
 *	  INSERT ... ON CONFLICT over native unique indexes.
 *
 * Before the first row the executor opens the indexes and asks for the equality
 * operators of each unique one, which it knows for btree alone.  It does so only
 * if they aren't open: so they are opened here, and the operators filled in.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "nodes/execnodes.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "ddl/ddl.h"
#include "index/index.h"

static ExecutorStart_hook_type prev_ExecutorStart_hook = NULL;

/* As BuildSpeculativeIndexInfo() does for btree, whose operator classes the index has. */
static void
fill_equality(Relation index, IndexInfo *info)
{
	int			n = IndexRelationGetNumberOfKeyAttributes(index);

	info->ii_UniqueOps = palloc(sizeof(Oid) * n);
	info->ii_UniqueProcs = palloc(sizeof(Oid) * n);
	info->ii_UniqueStrats = palloc(sizeof(uint16) * n);
	for (int i = 0; i < n; i++)
	{
		info->ii_UniqueStrats[i] = BTEqualStrategyNumber;
		info->ii_UniqueOps[i] = get_opfamily_member(index->rd_opfamily[i], index->rd_opcintype[i],
													index->rd_opcintype[i], BTEqualStrategyNumber);
		if (!OidIsValid(info->ii_UniqueOps[i]))
			elog(ERROR, "no equality operator for column %d of index \"%s\"",
				 i + 1, RelationGetRelationName(index));
		info->ii_UniqueProcs[i] = get_opcode(info->ii_UniqueOps[i]);
	}
}

static void
open_indexes(EState *estate, ModifyTableState *mtstate)
{
	ModifyTable *node = (ModifyTable *) mtstate->ps.plan;
	Oid			native = dbl_index_am_oid();

	if (node->onConflictAction == ONCONFLICT_NONE)
		return;
	for (int i = 0; i < mtstate->mt_nrels; i++)
	{
		ResultRelInfo *rri = &mtstate->resultRelInfo[i];
		Relation	rel = rri->ri_RelationDesc;
		MemoryContext old;

		if (rel->rd_rel->relkind != RELKIND_RELATION || !RelationIsDoublets(rel) ||
			!rel->rd_rel->relhasindex || rri->ri_IndexRelationDescs != NULL)
			continue;

		old = MemoryContextSwitchTo(estate->es_query_cxt);
		ExecOpenIndices(rri, false);
		for (int k = 0; k < rri->ri_NumIndices; k++)
		{
			IndexInfo  *info = rri->ri_IndexRelationInfo[k];
			Relation	index = rri->ri_IndexRelationDescs[k];

			if (!info->ii_Unique)
				continue;
			if (index->rd_rel->relam == native)
				fill_equality(index, info);
			else
				BuildSpeculativeIndexInfo(index, info);
		}
		MemoryContextSwitchTo(old);
	}
}

static void
executor_start(QueryDesc *query, int eflags)
{
	ListCell   *lc;

	dbl_index_recheck();
	if (prev_ExecutorStart_hook)
		prev_ExecutorStart_hook(query, eflags);
	else
		standard_ExecutorStart(query, eflags);

	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) || query->planstate == NULL)
		return;
	if (query->operation == CMD_SELECT && !query->plannedstmt->hasModifyingCTE)
		return;
	if (IsA(query->planstate, ModifyTableState))
		open_indexes(query->estate, (ModifyTableState *) query->planstate);
	foreach(lc, query->estate->es_auxmodifytables)
		open_indexes(query->estate, (ModifyTableState *) lfirst(lc));
}

void
dbl_upsert_init(void)
{
	prev_ExecutorStart_hook = ExecutorStart_hook;
	ExecutorStart_hook = executor_start;
}
