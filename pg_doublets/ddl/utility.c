/*-------------------------------------------------------------------------
 *
 * utility.c
 *	  Utility hook: statements that make indexes, and those that change what a
 *	  table is.
 *
 * "Adoption": CREATE INDEX ... USING btree or hash, PRIMARY KEY and UNIQUE on a
 * doublets table make native indexes where the store has the order that they
 * need.  Other indexes stay what they are asked to be.
 *
 * Parse trees that come in may be cached by the caller: they are copied before
 * they are changed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "parser/parse_type.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "ddl/ddl.h"
#include "durable/write.h"
#include "index/index.h"
#include "shared/registry.h"
#include "table/table.h"

bool		dbl_adopt_indexes = true;

static ProcessUtility_hook_type prev_ProcessUtility_hook = NULL;

static bool
same_name(const char *a, const char *b)
{
	return a != NULL && strcmp(a, b) == 0;
}

/* --- which statements make a native index ----------------------------------- */

/* Do these columns of the table, by name, make a key that the store serves? */
static bool
columns_are_key(Oid relid, List *names)
{
	AttrNumber	attnums[2];
	DblKeyKind	kind;
	int			n = 0;
	ListCell   *lc;

	if (list_length(names) < 1 || list_length(names) > 2)
		return false;
	foreach(lc, names)
		attnums[n++] = get_attnum(relid, strVal(lfirst(lc)));
	return dbl_key_kind(attnums, n, &kind);
}

/* An operator class that we may replace by ours: int8_ops of the system. */
static bool
is_int8_ops(List *opclass)
{
	if (opclass == NIL)
		return true;
	if (list_length(opclass) > 2 || !same_name(strVal(llast(opclass)), "int8_ops"))
		return false;
	return list_length(opclass) == 1 || same_name(strVal(linitial(opclass)), "pg_catalog");
}

static bool
index_can_be_native(IndexStmt *stmt, Oid relid)
{
	bool		hash = same_name(stmt->accessMethod, "hash");
	List	   *names = NIL;
	int			order = -1;
	ListCell   *lc;

	if (!hash && !same_name(stmt->accessMethod, "btree"))
		return false;
	if (stmt->whereClause || stmt->indexIncludingParams || stmt->excludeOpNames)
		return false;

	/* what hash can't do is hash's to refuse */
	if (hash && (stmt->unique || list_length(stmt->indexParams) != 1))
		return false;

	foreach(lc, stmt->indexParams)
	{
		IndexElem  *elem = lfirst_node(IndexElem, lc);
		bool		desc = elem->ordering == SORTBY_DESC;
		bool		nulls_first = elem->nulls_ordering == SORTBY_NULLS_DEFAULT ? desc :
			elem->nulls_ordering == SORTBY_NULLS_FIRST;

		if (elem->name == NULL || elem->expr || elem->collation || elem->opclassopts ||
			!is_int8_ops(elem->opclass))
			return false;
		if (hash && (elem->ordering != SORTBY_DEFAULT || elem->nulls_ordering != SORTBY_NULLS_DEFAULT))
			return false;
		if (desc != nulls_first || (order >= 0 && order != desc))
			return false;
		order = desc;
		names = lappend(names, makeString(elem->name));
	}
	return columns_are_key(relid, names);
}

static bool
has_exotic_options(List *options)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, "fillfactor") != 0 && strcmp(def->defname, "deduplicate_items") != 0)
			return true;
	}
	return false;
}

/*
 * Must an index of this relation be real?  ALTER INDEX ... ATTACH PARTITION, which pg_dump relies on, wants the
 * parent's method, and ON CONFLICT through a partitioned table wants btrees (upsert.c sees only the root).  REFRESH
 * MATERIALIZED VIEW CONCURRENTLY looks for a unique btree.
 */
static bool
must_be_real(Oid relid, bool unique)
{
	return get_rel_relispartition(relid) ||
		(unique && get_rel_relkind(relid) == RELKIND_MATVIEW);
}

/*
 * CREATE INDEX, or the part of CREATE TABLE that makes an index.  Returns the statement to run.
 */
static PlannedStmt *
adopt_index_stmt(PlannedStmt *pstmt, ProcessUtilityContext context)
{
	IndexStmt  *stmt = (IndexStmt *) pstmt->utilityStmt;
	Oid			relid;
	bool		ours;

	if (stmt->relation == NULL)
		return pstmt;
	relid = RangeVarGetRelid(stmt->relation, NoLock, true);
	if (!OidIsValid(relid))
		return pstmt;
	ours = dbl_relid_is_doublets(relid);

	if (ours && dbl_adopt_indexes && index_can_be_native(stmt, relid) &&
		!has_exotic_options(stmt->options) &&
		!must_be_real(relid, stmt->unique))
	{
		ListCell   *lc;

		pstmt = copyObject(pstmt);
		stmt = (IndexStmt *) pstmt->utilityStmt;
		stmt->accessMethod = pstrdup("doublets_tree");
		foreach(lc, stmt->indexParams)
			lfirst_node(IndexElem, lc)->opclass = NIL;
	}
	else if (same_name(stmt->accessMethod, "doublets_tree") &&
			 ((!ours && context == PROCESS_UTILITY_SUBCOMMAND) || (ours && must_be_real(relid, stmt->unique))))
	{
		/* such as CREATE TABLE (LIKE links INCLUDING INDEXES), made as another kind of table */
		pstmt = copyObject(pstmt);
		((IndexStmt *) pstmt->utilityStmt)->accessMethod = pstrdup("btree");
	}
	return pstmt;
}

/* --- access method of existing indexes ----------------------------------------- */

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
				!must_be_real(relid, index->rd_index->indisunique);
		else
			change = am == native;
		index_close(index, NoLock);
		if (change)
			dbl_index_set_am(lfirst_oid(lc), to_native ? native : BTREE_AM_OID);
	}
	list_free(indexes);
	table_close(rel, NoLock);
	CommandCounterIncrement();
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

/* --- ALTER TABLE ------------------------------------------------------------------ */

/* PRIMARY KEY and UNIQUE that are to make an index of their own. */
static bool
makes_index(Constraint *con)
{
	return (con->contype == CONSTR_PRIMARY || con->contype == CONSTR_UNIQUE) &&
		con->indexname == NULL && con->access_method == NULL && con->including == NIL &&
		!has_exotic_options(con->options);
}

static void
adopt_constraint(Oid relid, Constraint *con)
{
	if (makes_index(con) && columns_are_key(relid, con->keys) && !must_be_real(relid, true))
		con->access_method = pstrdup("doublets_tree");
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
static PlannedStmt *
before_alter_table(PlannedStmt *pstmt, Oid *promoted)
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
			adopt_constraint(relid, con);
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

/* --- the hook ------------------------------------------------------------------------ */

/* The default tablespace of a database; InvalidOid if there is no such database. */
static Oid
tablespace_of_database(Oid dbid)
{
	HeapTuple	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(dbid));
	Oid			spcid;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	spcid = ((Form_pg_database) GETSTRUCT(tuple))->dattablespace;
	ReleaseSysCache(tuple);
	return spcid;
}

static void
process_utility(PlannedStmt *pstmt, const char *query, bool read_only_tree,
				ProcessUtilityContext context, ParamListInfo params, QueryEnvironment *env,
				DestReceiver *dest, QueryCompletion *qc)
{
	Oid			promoted = InvalidOid;
	Oid			dropped_database = InvalidOid;
	Oid			moved_database = InvalidOid;
	Oid			old_tablespace = InvalidOid;
	bool		prepared_ends = false;
	int			guc_level = 0;

	dbl_index_recheck();
	if (IsTransactionState())
	{
		Node	   *stmt = pstmt->utilityStmt;

		if (IsA(stmt, IndexStmt))
			pstmt = adopt_index_stmt(pstmt, context);
		else if (IsA(stmt, AlterTableStmt))
			pstmt = before_alter_table(pstmt, &promoted);
		else if (IsA(stmt, TransactionStmt))
		{
			TransactionStmtKind kind = ((TransactionStmt *) stmt)->kind;

			prepared_ends = kind == TRANS_STMT_COMMIT_PREPARED || kind == TRANS_STMT_ROLLBACK_PREPARED;
		}
		else if (IsA(stmt, DropdbStmt))
			dropped_database = get_database_oid(((DropdbStmt *) stmt)->dbname, true);
		else if (IsA(stmt, AlterDatabaseStmt))
		{
			moved_database = get_database_oid(((AlterDatabaseStmt *) stmt)->dbname, true);
			old_tablespace = tablespace_of_database(moved_database);
		}
		else if (IsA(stmt, RefreshMatViewStmt) && ((RefreshMatViewStmt *) stmt)->concurrent &&
				 strcmp(default_table_access_method, "doublets") == 0)
		{
			/* the difference is collected in a table that core makes, of no shape of ours */
			guc_level = NewGUCNestLevel();
			(void) set_config_option("default_table_access_method", "heap", PGC_USERSET,
									 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
		}
	}

	if (prev_ProcessUtility_hook)
		prev_ProcessUtility_hook(pstmt, query, read_only_tree, context, params, env, dest, qc);
	else
		standard_ProcessUtility(pstmt, query, read_only_tree, context, params, env, dest, qc);

	if (guc_level > 0)
		AtEOXact_GUC(true, guc_level);
	if (OidIsValid(promoted))
	{
		CommandCounterIncrement();
		if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(promoted)))
			dbl_index_set_am(promoted, dbl_index_am_oid());
	}
	if (prepared_ends)
		dbl_sweep_prepared();
	if (OidIsValid(dropped_database))
		dbl_storage_forget_database(dropped_database, InvalidOid);

	/* its files may come back under the numbers that they had there */
	if (OidIsValid(old_tablespace) && tablespace_of_database(moved_database) != old_tablespace)
		dbl_storage_forget_database(moved_database, old_tablespace);
}

void
dbl_utility_init(void)
{
	prev_ProcessUtility_hook = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}

void
dbl_ddl_init(void)
{
	DefineCustomBoolVariable("pg_doublets.adopt_indexes",
							 "Makes btree and hash indexes on doublets tables native where possible.",
							 "Native indexes are views on the table's own trees and take no space.",
							 &dbl_adopt_indexes, true, PGC_USERSET, 0, NULL, NULL, NULL);
	dbl_utility_init();
	dbl_access_init();
	dbl_index_am_init();
	dbl_upsert_init();
	dbl_index_init();
}
