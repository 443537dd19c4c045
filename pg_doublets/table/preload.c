/*-------------------------------------------------------------------------
 *
 * preload.c
 *	  Background workers that load tables into memory when the server starts.
 *
 * A launcher goes through the databases that pg_doublets.preload names and starts a
 * worker for one after the other, which loads its tables as any first access would.  Whatever
 * is in the way of a table is logged as a warning, and the next one comes.
 * Nothing is evicted for it.  The launcher stays, so that it is there again after a
 * crash; all of it works on a hot standby as well.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/varlena.h"

#include "shared/inject.h"
#include "table/preload.h"
#include "table/table.h"

#define RESTART_SECONDS		60	/* of a launcher that failed */

static char *preload_setting = NULL;
static NameData current_table;	/* that a worker loads, for its warning */

/* One item of the setting; NULL: all. */
typedef struct PreloadItem
{
	char	   *database;
	char	   *schema;
	char	   *table;
	bool		found;			/* the database */
} PreloadItem;

PGDLLEXPORT void dbl_preload_launcher_main(Datum arg);
PGDLLEXPORT void dbl_preload_worker_main(Datum arg);

/* --- the setting ------------------------------------------------------------------ */

/* Cut the string at the next comma outside of quotes; returns what follows, or NULL. */
static char *
cut_item(char *s)
{
	bool		quoted = false;

	for (; *s != '\0'; s++)
	{
		if (*s == '"')
			quoted = !quoted;
		else if (*s == ',' && !quoted)
		{
			*s = '\0';
			return s + 1;
		}
	}
	return NULL;
}

static char *
name_or_all(List *names, int i)
{
	char	   *name = i < list_length(names) ? list_nth(names, i) : "*";

	return strcmp(name, "*") == 0 ? NULL : pstrdup(name);
}

/* Items of the setting, in *items; false: malformed, *bad tells where. */
static bool
parse_setting(const char *value, List **items, char **bad)
{
	char	   *next = pstrdup(value);

	*items = NIL;
	while (next != NULL)
	{
		char	   *raw = next;
		List	   *names;
		PreloadItem *item;

		next = cut_item(raw);
		*bad = pstrdup(raw);
		if (raw[strspn(raw, " \t\n\r")] == '\0')
			continue;
		if (!SplitIdentifierString(raw, '.', &names) || names == NIL || list_length(names) > 3)
			return false;
		item = palloc0(sizeof(PreloadItem));
		item->database = name_or_all(names, 0);
		item->schema = name_or_all(names, 1);
		item->table = name_or_all(names, 2);

		/* all that is wanted of a name, or all: *, database.*, database.schema.* */
		if (strcmp(llast(names), "*") != 0 ? list_length(names) < 3 :
			((!item->database && list_length(names) > 1) || (!item->schema && list_length(names) > 2)))
			return false;
		*items = lappend(*items, item);
	}
	return true;
}

static bool
check_setting(char **newval, void **extra, GucSource source)
{
	List	   *items;
	char	   *bad;

	if (*newval == NULL || parse_setting(*newval, &items, &bad))
		return true;
	GUC_check_errdetail("\"%s\" is none of *, database.*, database.schema.*, database.schema.table.", bad);
	return false;
}

void
dbl_preload_init(void)
{
	BackgroundWorker worker;

	DefineCustomStringVariable("pg_doublets.preload",
							   "Sets which doublets tables are loaded into memory when the server starts.",
							   "A list of *, database.*, database.schema.*, database.schema.table.",
							   &preload_setting, "", PGC_POSTMASTER, 0,
							   check_setting, NULL, NULL);
	if (preload_setting == NULL || preload_setting[strspn(preload_setting, " \t\n\r")] == '\0')
		return;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_ConsistentState;
	worker.bgw_restart_time = RESTART_SECONDS;
	strlcpy(worker.bgw_library_name, "pg_doublets", BGW_MAXLEN);
	strlcpy(worker.bgw_function_name, "dbl_preload_launcher_main", BGW_MAXLEN);
	strlcpy(worker.bgw_name, "doublets preload launcher", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "doublets preload launcher", BGW_MAXLEN);
	RegisterBackgroundWorker(&worker);
}

static List *
setting_items(void)
{
	List	   *items;
	char	   *bad;

	(void) parse_setting(preload_setting, &items, &bad);
	return items;
}

/* --- launcher --------------------------------------------------------------------- */

/*
 * Databases that one can connect to, as far as the items name them; warns of the names that are none.
 * Reads pg_database in full, since its indexes can't be used where no database is.
 */
static List *
find_databases(List *items)
{
	MemoryContext cxt = CurrentMemoryContext;
	List	   *found = NIL;
	Relation	rel;
	TableScanDesc scan;
	HeapTuple	tuple;
	ListCell   *lc;

	StartTransactionCommand();
	(void) GetTransactionSnapshot();
	rel = table_open(DatabaseRelationId, AccessShareLock);
	scan = table_beginscan_catalog(rel, 0, NULL);
	while (HeapTupleIsValid(tuple = heap_getnext(scan, ForwardScanDirection)))
	{
		Form_pg_database db = (Form_pg_database) GETSTRUCT(tuple);

		if (!db->datallowconn || database_is_invalid_form(db))
			continue;
		foreach(lc, items)
		{
			PreloadItem *item = lfirst(lc);
			MemoryContext old;

			if (item->database == NULL ? db->datistemplate :
				strcmp(item->database, NameStr(db->datname)) != 0)
				continue;
			item->found = true;
			old = MemoryContextSwitchTo(cxt);
			found = list_append_unique_oid(found, db->oid);
			MemoryContextSwitchTo(old);
		}
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);

	foreach(lc, items)
	{
		PreloadItem *item = lfirst(lc);

		if (item->database != NULL && !item->found)
			ereport(WARNING,
					(errcode(ERRCODE_UNDEFINED_DATABASE),
					 errmsg("could not preload doublets tables: there is no database \"%s\" that one can connect to",
							item->database)));
	}
	CommitTransactionCommand();
	MemoryContextSwitchTo(cxt);
	return found;
}

/* Run a worker for a database, and wait until it has ended. */
static void
run_worker(Oid dbid)
{
	BackgroundWorker worker;
	BackgroundWorkerHandle *handle;
	pid_t		pid;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_ConsistentState;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker.bgw_library_name, "pg_doublets", BGW_MAXLEN);
	strlcpy(worker.bgw_function_name, "dbl_preload_worker_main", BGW_MAXLEN);
	strlcpy(worker.bgw_name, "doublets preload worker", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "doublets preload worker", BGW_MAXLEN);
	worker.bgw_main_arg = ObjectIdGetDatum(dbid);
	worker.bgw_notify_pid = MyProcPid;
	if (!RegisterDynamicBackgroundWorker(&worker, &handle))
	{
		ereport(WARNING,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("could not preload doublets tables: no background worker is free"),
				 errhint("Raise max_worker_processes.")));
		return;
	}
	if (WaitForBackgroundWorkerStartup(handle, &pid) == BGWH_POSTMASTER_DIED ||
		WaitForBackgroundWorkerShutdown(handle) == BGWH_POSTMASTER_DIED)
		proc_exit(1);
}

void
dbl_preload_launcher_main(Datum arg)
{
	List	   *databases;
	ListCell   *lc;

	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SIG_IGN);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);

	databases = find_databases(setting_items());
	foreach(lc, databases)
	{
		CHECK_FOR_INTERRUPTS();
		run_worker(lfirst_oid(lc));
	}

	/* Nothing is left to do; but who ends well is not started again after a crash. */
	for (;;)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, -1L, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/* --- worker ----------------------------------------------------------------------- */

/* Append the links tables of this database, of one schema or of all, that are not on the list yet. */
static List *
all_tables(List *tables, Oid schema, MemoryContext cxt)
{
	Oid			am = get_table_am_oid("doublets", true);
	Relation	pg_class;
	SysScanDesc scan;
	HeapTuple	tuple;

	if (!OidIsValid(am))
		return tables;
	pg_class = table_open(RelationRelationId, AccessShareLock);
	scan = systable_beginscan(pg_class, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		if (form->relam == am && form->relpersistence != RELPERSISTENCE_TEMP &&
			(!OidIsValid(schema) || form->relnamespace == schema))
		{
			MemoryContext old = MemoryContextSwitchTo(cxt);

			tables = list_append_unique_oid(tables, form->oid);
			MemoryContextSwitchTo(old);
		}
	}
	systable_endscan(scan);
	table_close(pg_class, AccessShareLock);
	return tables;
}

/* Tables of this database that the items name, in their order; warns of names that are none. */
static List *
find_tables(List *items)
{
	MemoryContext cxt = CurrentMemoryContext;
	char	   *database;
	List	   *tables = NIL;
	ListCell   *lc;

	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	database = get_database_name(MyDatabaseId);
	foreach(lc, items)
	{
		PreloadItem *item = lfirst(lc);
		Oid			schema = InvalidOid;
		Oid			relid = InvalidOid;

		if (item->database != NULL && (database == NULL || strcmp(item->database, database) != 0))
			continue;
		if (item->schema != NULL)
			schema = get_namespace_oid(item->schema, true);
		if (OidIsValid(schema) && item->table != NULL)
			relid = get_relname_relid(item->table, schema);
		if (item->schema != NULL && item->table == NULL && !OidIsValid(schema))
			ereport(WARNING,
					(errcode(ERRCODE_UNDEFINED_SCHEMA),
					 errmsg("could not preload doublets tables: schema \"%s\" does not exist in database \"%s\"",
							item->schema, database)));
		else if (item->table == NULL)
			tables = all_tables(tables, schema, cxt);
		else if (!OidIsValid(relid))
			ereport(WARNING,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("could not preload doublets table \"%s.%s\": it does not exist in database \"%s\"",
							item->schema, item->table, database)));
		else
		{
			MemoryContext old = MemoryContextSwitchTo(cxt);

			tables = list_append_unique_oid(tables, relid);
			MemoryContextSwitchTo(old);
		}
	}
	PopActiveSnapshot();
	CommitTransactionCommand();
	MemoryContextSwitchTo(cxt);
	return tables;
}

/* Load a table, in a transaction of its own.  May raise. */
static void
load_table(Oid relid)
{
	Relation	rel;

	StartTransactionCommand();
	rel = try_relation_open(relid, AccessShareLock);
	if (rel != NULL)
	{
		DblTable   *t;

		current_table = rel->rd_rel->relname;
		if (!RelationIsDoublets(rel))
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is not a table that uses access method \"doublets\"",
							RelationGetRelationName(rel))));
		DBL_INJECT("preload");
		t = dbl_table_open(rel);
		dbl_table_lock(rel, t, LW_SHARED);
		dbl_table_unlock(t);
		relation_close(rel, NoLock);
	}
	CommitTransactionCommand();
}

/* The same; what goes wrong is a warning. */
static bool
try_table(Oid relid)
{
	MemoryContext cxt = CurrentMemoryContext;
	volatile bool done = true;

	NameStr(current_table)[0] = '\0';
	SetCurrentStatementStartTimestamp();
	PG_TRY();
	{
		load_table(relid);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(cxt);
		error = CopyErrorData();
		FlushErrorState();
		AbortCurrentTransaction();
		ereport(WARNING,
				(errcode(error->sqlerrcode),
				 errmsg("could not preload doublets table \"%s\": %s",
						NameStr(current_table), error->message),
				 error->hint ? errhint("%s", error->hint) : 0));
		FreeErrorData(error);
		done = false;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(cxt);
	return done;
}

void
dbl_preload_worker_main(Datum arg)
{
	TimestampTz start = GetCurrentTimestamp();
	List	   *tables;
	ListCell   *lc;
	int			n = 0;

	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SIG_IGN);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(arg), InvalidOid, 0);

	/* what somebody has used already shall not go for what nobody may want */
	dbl_may_evict = false;

	pgstat_report_activity(STATE_RUNNING, "preloading doublets tables");
	tables = find_tables(setting_items());
	foreach(lc, tables)
	{
		CHECK_FOR_INTERRUPTS();
		if (try_table(lfirst_oid(lc)))
			n++;
	}
	pgstat_report_activity(STATE_IDLE, NULL);
	if (tables != NIL)
		ereport(LOG,
				(errmsg("preloaded %d of %d doublets tables of database with OID %u in %ld ms",
						n, list_length(tables), MyDatabaseId,
						TimestampDifferenceMilliseconds(start, GetCurrentTimestamp()))));
}
