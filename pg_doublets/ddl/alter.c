/*-------------------------------------------------------------------------
 *
 * alter.c
 *	  What must happen before an ALTER TABLE.
 *
 * The parse tree may be cached by the caller: it is copied before it is changed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "nodes/parsenodes.h"
#include "parser/parse_type.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "ddl/ddl.h"
#include "index/index.h"
#include "shared/inject.h"
#include "table/table.h"

/*
 * The table is about to be rewritten under another access method, and its indexes built anew:
 * make them native, or real.  The table is locked exclusively.
 */
static void
switch_indexes(Oid relid, bool to_native)
{
	Relation	rel = table_open(relid, NoLock);
	List	   *indexes = RelationGetIndexList(rel);
	Oid			native = dbl_index_am_oid();
	ListCell   *lc;

	CheckTableNotInUse(rel, "ALTER TABLE");
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessExclusiveLock);
		Oid			am = index->rd_rel->relam;
		bool		change;

		if (to_native)
			change = (am == BTREE_AM_OID || am == HASH_AM_OID) && dbl_index_can_be_native(index) &&
				!dbl_index_must_be_real(relid, index->rd_index->indisunique);
		else
			change = am == native;
		index_close(index, NoLock);
		if (change)
			dbl_index_set_am(lfirst_oid(lc), to_native ? native : BTREE_AM_OID);
	}
	list_free(indexes);
	table_close(rel, NoLock);
	CommandCounterIncrement();
	DBL_INJECT("set-access-method");
}

/*
 * A table that becomes a partition: its indexes are matched with those of the partitioned
 * table, which are btrees.  So they become btrees.
 */
static void
prepare_partition(RangeVar *name)
{
	Oid			relid = RangeVarGetRelidExtended(name, AccessExclusiveLock, RVR_MISSING_OK,
												 RangeVarCallbackOwnsRelation, NULL);
	Oid			native = dbl_index_am_oid();
	ReindexParams params = {0};
	Relation	rel;
	List	   *indexes;
	List	   *changed = NIL;
	ListCell   *lc;

	if (!dbl_relid_is_doublets(relid))
		return;
	rel = table_open(relid, NoLock);
	CheckTableNotInUse(rel, "ALTER TABLE");
	indexes = RelationGetIndexList(rel);
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessExclusiveLock);

		if (index->rd_rel->relam == native)
			changed = lappend_oid(changed, lfirst_oid(lc));
		index_close(index, NoLock);
	}
	foreach(lc, changed)
		dbl_index_set_am(lfirst_oid(lc), BTREE_AM_OID);
	CommandCounterIncrement();
	foreach(lc, changed)
		reindex_index(lfirst_oid(lc), false, rel->rd_rel->relpersistence, &params);
	table_close(rel, NoLock);
	CommandCounterIncrement();
}

/*
 * ALTER COLUMN ... TYPE on a table that is ours: refused, unless there is nothing to it.  Returns true if the
 * command is to be left out, as core would make btrees of the native indexes.  What makes no sense is core's to refuse.
 */
static bool
check_type_change(AlterTableCmd *cmd, Oid relid)
{
	ColumnDef  *def = castNode(ColumnDef, cmd->def);
	Type		type;
	bool		same;

	if (get_attnum(relid, cmd->name) <= 0)
		return false;
	type = LookupTypeName(NULL, def->typeName, NULL, true);
	if (type == NULL)
		return false;
	same = typeTypeId(type) == INT8OID && def->raw_default == NULL && def->collClause == NULL;
	ReleaseSysCache(type);
	if (!same)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot change the type of a column of links table \"%s\"", get_rel_name(relid)),
				 errdetail("A links table has three or four columns of type bigint."),
				 errhint("To change values, use UPDATE.")));
	return true;
}

/*
 * What must happen before an ALTER TABLE of a table that is ours, will be, or gets a
 * partition that is.  Returns the statement to run;
 * *promoted is an index that was made a btree for the time of it, because core makes constraints of
 * nothing else.
 */
PlannedStmt *
dbl_before_alter_table(PlannedStmt *pstmt, Oid *promoted)
{
	AlterTableStmt *stmt = (AlterTableStmt *) pstmt->utilityStmt;
	bool		relevant = false;
	bool		columns_change = false;
	bool		ours;
	bool		will_be_ours;
	Oid			relid;
	Oid			am = InvalidOid;
	ListCell   *lc;

	if (stmt->objtype != OBJECT_TABLE && stmt->objtype != OBJECT_MATVIEW)
		return pstmt;
	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);

		switch (cmd->subtype)
		{
			case AT_SetAccessMethod:
				am = cmd->name ? get_table_am_oid(cmd->name, true) : InvalidOid;
				relevant = true;
				break;
			case AT_AddConstraint:
			case AT_AlterColumnType:
			case AT_AttachPartition:
				relevant = true;
				break;
			case AT_AddColumn:
			case AT_DropColumn:
				columns_change = true;
				break;
			default:
				break;
		}
		if (cmd->subtype == AT_AlterColumnType)
			columns_change = true;
	}
	if (!relevant || !OidIsValid(dbl_table_am_oid()))
		return pstmt;

	/* checks permissions too, before anything is looked at */
	relid = AlterTableLookupRelation(stmt, AlterTableGetLockLevel(stmt->cmds));
	if (!OidIsValid(relid))
		return pstmt;
	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);

		if (cmd->subtype == AT_AttachPartition && get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE)
			prepare_partition(((PartitionCmd *) cmd->def)->name);
	}
	ours = dbl_relid_is_doublets(relid);
	will_be_ours = OidIsValid(am) ? am == dbl_table_am_oid() : ours;
	if (!ours && !will_be_ours)
		return pstmt;
	if (!ours && !columns_change)
	{
		/* later it would be told about the transient table */
		Relation	rel = table_open(relid, NoLock);

		dbl_check_shape(RelationGetDescr(rel), RelationGetRelationName(rel));
		table_close(rel, NoLock);
	}

	pstmt = copyObject(pstmt);
	stmt = (AlterTableStmt *) pstmt->utilityStmt;
	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);
		Constraint *con;

		if (cmd->subtype == AT_AlterColumnType && ours)
		{
			if (check_type_change(cmd, relid))
				stmt->cmds = foreach_delete_current(stmt->cmds, lc);
			continue;
		}
		if (cmd->subtype != AT_AddConstraint || !IsA(cmd->def, Constraint))
			continue;
		con = (Constraint *) cmd->def;
		if (will_be_ours && dbl_adopt_indexes)
			dbl_adopt_constraint(relid, con);
		if (con->indexname != NULL && ours && will_be_ours)
		{
			Oid			index = get_relname_relid(con->indexname, get_rel_namespace(relid));
			Relation	rel;

			/* core takes no other lock on the table for this one either */
			rel = table_open(relid, NoLock);
			CheckTableNotInUse(rel, "ALTER TABLE");
			table_close(rel, NoLock);
			if (!OidIsValid(index) || get_rel_relkind(index) != RELKIND_INDEX ||
				IndexGetRelation(index, true) != relid)
				continue;
			rel = index_open(index, AccessExclusiveLock);
			if (rel->rd_rel->relam == dbl_index_am_oid())
				*promoted = index;
			index_close(rel, NoLock);
		}
	}
	if (OidIsValid(*promoted))
	{
		dbl_index_set_am(*promoted, BTREE_AM_OID);
		CommandCounterIncrement();
	}
	if (ours && !will_be_ours)
		switch_indexes(relid, false);
	else if (!ours && will_be_ours && dbl_adopt_indexes)
		switch_indexes(relid, true);
	return pstmt;
}
