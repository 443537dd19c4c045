/*-------------------------------------------------------------------------
 *
 * plant.c
 *	  doublets_plant_fault(regclass, text, int8): damage a store, for tests.
 *
 * Not in the extension's script.  A test declares it:
 *
 *	CREATE FUNCTION doublets_plant_fault(regclass, text, int8) RETURNS void
 *		AS 'pg_doublets' LANGUAGE C STRICT;
 *
 * Damages memory only, never the pages; 'drop' throws the store away, so that
 * the next access loads a sound one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "inspect/inspect.h"
#include "store/internal.h"
#include "table/table.h"

PG_FUNCTION_INFO_V1(doublets_plant_fault);

static void
no_such_fault(const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("cannot plant that fault: %s", why)));
}

static void
plant(Relation rel, DblTable *t, const char *what, DblSlot slot)
{
	DblStore   *s = &t->store;
	DblVersion *v = dbl_version(s, slot);
	DblLinks   *links = slot_links(s, slot);

	if (!(v->flags & DBL_F_USED))
		no_such_fault("the slot is free");
	if (strcmp(what, "order") == 0)
	{
		uint32_t	left = links->out.left;

		if (left == links->out.right)
			no_such_fault("the slot has no children in the tree by source");
		links->out.left = links->out.right;
		links->out.right = left;
	}
	else if (strcmp(what, "size") == 0)
		links->id_size++;
	else if (strcmp(what, "missing") == 0)
	{
		DblNode    *node = dbl_dir_find(s, v->key[DBL_TARGET], DblVersionIsNull(v, DBL_TARGET));

		if (node == NULL || !dbl_tree_remove(s, TREE_IN, &node->root[TREE_IN], slot))
			no_such_fault("it is missing already");
	}
	else if (strcmp(what, "twice") == 0)
	{
		DblNode    *node = dbl_dir_find(s, v->key[DBL_TYPE], DblVersionIsNull(v, DBL_TYPE));

		if (node == NULL || node->type == NONE)
			no_such_fault("the table has no type column");
		dbl_table_reserve(t, dbl_nslots(s), 1);
		dbl_posting_add(s, node, slot);
	}
	else if (strcmp(what, "page") == 0)
		v->xmax++;
	else if (strcmp(what, "value") == 0)
		v->key[DBL_SOURCE]++;
	else if (strcmp(what, "free") == 0)
		v->flags &= ~(uint32) DBL_F_USED;
	else
		no_such_fault("it is none of order, size, missing, twice, page, value, free, drop");
}

Datum
doublets_plant_fault(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	char	   *what = text_to_cstring(PG_GETARG_TEXT_PP(1));
	int64		slot = PG_GETARG_INT64(2);
	Relation	rel;
	DblTable   *t;

	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be superuser to plant faults")));
	rel = dbl_inspect_open(relid);
	if (strcmp(what, "drop") == 0)
		dbl_store_drop(rel->rd_node, RelationUsesLocalBuffers(rel));
	else
	{
		t = dbl_table_open(rel);
		dbl_table_lock(rel, t, LW_EXCLUSIVE);
		if (slot < 0 || slot >= dbl_nslots(&t->store))
			no_such_fault("there is no such slot");
		plant(rel, t, what, (DblSlot) slot);
		dbl_table_unlock(t);
	}
	relation_close(rel, AccessShareLock);
	PG_RETURN_VOID();
}
