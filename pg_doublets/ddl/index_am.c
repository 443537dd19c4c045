/*-------------------------------------------------------------------------
 *
 * index_am.c
 *	  The access method and the operator classes of an existing index.
 *
 * A native index gets btree's operator class, so that foreign keys, logical
 * replication and the planner find the operators that they look for.  Our own
 * operator class has none: with operators it would take part in the planning of every
 * other table.
 *
 * Core never changes either, and so its relation cache reads them once.  Mostly that
 * does no harm, as the entry is thrown away when it is invalidated.  But the entry of an index
 * that was made, or got a new file, in this transaction is kept until the end of it, and only
 * refreshed in the parts that core knows to change.  Hence reload().
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_am.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "optimizer/planner.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

#include "ddl/ddl.h"
#include "index/index.h"

/*
 * Indexes whose access method this transaction has changed, and whether a subtransaction has
 * failed since they were last looked at.  The list is in TopTransactionContext.
 */
static List *switched = NIL;
static bool switched_suspect = false;

static planner_hook_type prev_planner_hook = NULL;

/*
 * Make the relation cache read access method and operator classes of an index anew.  The entry is open,
 * and nobody stands on what hangs on it.
 */
static void
reload(Relation index)
{
	MemoryContext old = index->rd_indexcxt;

	/* An entry that lacks this is rebuilt as a whole.  If that fails, the old one has to serve. */
	index->rd_indexcxt = NULL;
	PG_TRY();
	{
		RelationCacheInvalidateEntry(RelationGetRelid(index));
	}
	PG_CATCH();
	{
		if (index->rd_indexcxt == NULL)
			index->rd_indexcxt = old;
		PG_RE_THROW();
	}
	PG_END_TRY();
	Assert(index->rd_indexcxt != NULL && index->rd_indexcxt != old);
	if (old != NULL)
		MemoryContextDelete(old);
}

void
dbl_index_set_opclass(Oid indexid)
{
	Relation	pg_index = table_open(IndexRelationId, RowExclusiveLock);
	HeapTuple	tuple = SearchSysCacheCopy1(INDEXRELID, ObjectIdGetDatum(indexid));
	Datum		values[Natts_pg_index] = {0};
	bool		nulls[Natts_pg_index] = {0};
	bool		replaces[Natts_pg_index] = {0};
	Oid			classes[INDEX_MAX_KEYS];
	Relation	index;
	int			n;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for index %u", indexid);
	n = ((Form_pg_index) GETSTRUCT(tuple))->indnkeyatts;
	for (int i = 0; i < n; i++)
		classes[i] = INT8_BTREE_OPS_OID;
	values[Anum_pg_index_indclass - 1] = PointerGetDatum(buildoidvector(classes, n));
	replaces[Anum_pg_index_indclass - 1] = true;
	tuple = heap_modify_tuple(tuple, RelationGetDescr(pg_index), values, nulls, replaces);
	CatalogTupleUpdate(pg_index, &tuple->t_self, tuple);
	table_close(pg_index, RowExclusiveLock);
	CommandCounterIncrement();

	index = relation_open(indexid, NoLock);
	reload(index);
	relation_close(index, NoLock);
}

/*
 * The columns of a hash index are hash codes.  As keys of any other method they are what the table
 * has: bigint.
 */
static void
set_column_types(Oid indexid)
{
	Relation	pg_attribute = table_open(AttributeRelationId, RowExclusiveLock);
	HeapTuple	tuple;

	for (AttrNumber i = 1; HeapTupleIsValid(tuple = SearchSysCacheCopyAttNum(indexid, i)); i++)
	{
		Form_pg_attribute att = (Form_pg_attribute) GETSTRUCT(tuple);

		if (att->atttypid != INT8OID)
		{
			att->atttypid = INT8OID;
			att->atttypmod = -1;
			get_typlenbyvalalign(INT8OID, &att->attlen, &att->attbyval, &att->attalign);
			CatalogTupleUpdate(pg_attribute, &tuple->t_self, tuple);
		}
		heap_freetuple(tuple);
	}
	table_close(pg_attribute, RowExclusiveLock);
}

/*
 * A native index depends on our operator class, though it has btree's, so that it does not outlive the extension: CREATE
 * INDEX has recorded that.  One that becomes real must outlive it.
 */
static void
set_dependency(Oid indexid, bool native)
{
	ObjectAddress index;
	ObjectAddress opclass;

	ObjectAddressSet(index, RelationRelationId, indexid);
	ObjectAddressSet(opclass, OperatorClassRelationId,
					 GetDefaultOpClass(INT8OID, dbl_index_am_oid()));
	if (!OidIsValid(opclass.objectId))
		return;
	deleteDependencyRecordsForSpecific(RelationRelationId, indexid, DEPENDENCY_NORMAL,
									   OperatorClassRelationId, opclass.objectId);
	if (native)
		recordDependencyOn(&index, &opclass, DEPENDENCY_NORMAL);
}

void
dbl_index_set_am(Oid indexid, Oid am)
{
	Relation	pg_class = table_open(RelationRelationId, RowExclusiveLock);
	HeapTuple	tuple = SearchSysCacheCopy1(RELOID, ObjectIdGetDatum(indexid));
	MemoryContext old;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", indexid);
	((Form_pg_class) GETSTRUCT(tuple))->relam = am;
	CatalogTupleUpdate(pg_class, &tuple->t_self, tuple);
	heap_freetuple(tuple);
	table_close(pg_class, RowExclusiveLock);

	old = MemoryContextSwitchTo(TopTransactionContext);
	switched = list_append_unique_oid(switched, indexid);
	MemoryContextSwitchTo(old);
	set_column_types(indexid);
	set_dependency(indexid, am == dbl_index_am_oid());
	dbl_index_set_opclass(indexid);
}

/* Is what the relation cache has of an index older than its entry in pg_class? */
static bool
is_stale(Relation index)
{
	HeapTuple	tuple = SearchSysCache1(AMOID, ObjectIdGetDatum(index->rd_rel->relam));
	bool		stale;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for access method %u", index->rd_rel->relam);
	stale = index->rd_amhandler != ((Form_pg_am) GETSTRUCT(tuple))->amhandler;
	ReleaseSysCache(tuple);
	return stale;
}

void
dbl_index_recheck(void)
{
	ListCell   *lc;

	if (likely(!switched_suspect) || !IsTransactionState())
		return;
	switched_suspect = false;
	foreach(lc, switched)
	{
		Oid			indexid = lfirst_oid(lc);
		Relation	index;

		/* what somebody else can lock is no longer our business: its entry was thrown away */
		if (!ConditionalLockRelationOid(indexid, AccessShareLock))
			continue;
		if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(indexid)) &&
			RelationIsValid(index = RelationIdGetRelation(indexid)))
		{
			if (is_stale(index))
				reload(index);
			RelationClose(index);
		}
		UnlockRelationOid(indexid, AccessShareLock);
	}
}

/*
 * A subtransaction that fails takes back what it has done to pg_class.  The relation cache can't be
 * put right until the catalogs can be read again, at the next statement.
 */
static void
subxact_callback(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB && switched != NIL)
		switched_suspect = true;
}

static void
xact_callback(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
	{
		switched = NIL;
		switched_suspect = false;
	}
}

static PlannedStmt *
planner_entry(Query *parse, const char *query, int options, ParamListInfo params)
{
	dbl_index_recheck();
	if (prev_planner_hook)
		return prev_planner_hook(parse, query, options, params);
	return standard_planner(parse, query, options, params);
}

void
dbl_index_am_init(void)
{
	RegisterXactCallback(xact_callback, NULL);
	RegisterSubXactCallback(subxact_callback, NULL);
	prev_planner_hook = planner_hook;
	planner_hook = planner_entry;
}
