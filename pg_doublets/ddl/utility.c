/*-------------------------------------------------------------------------
 *
 * utility.c
 *	  Utility hook: statements that make indexes, those that change what a table
 *	  is, and those that concern whole databases.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "utils/guc.h"
#include "utils/syscache.h"

#include "ddl/ddl.h"
#include "durable/write.h"
#include "index/index.h"

bool		dbl_adopt_indexes = true;

static ProcessUtility_hook_type prev_ProcessUtility_hook = NULL;

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
			pstmt = dbl_adopt_index_stmt(pstmt, context);
		else if (IsA(stmt, AlterTableStmt))
			pstmt = dbl_before_alter_table(pstmt, &promoted);
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
