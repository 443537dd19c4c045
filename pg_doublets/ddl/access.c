/*-------------------------------------------------------------------------
 *
 * access.c
 *	  Object access hook: what happens to catalog entries, whatever statement
 *	  was the cause.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_am.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "ddl/ddl.h"
#include "index/index.h"
#include "shared/inject.h"
#include "shared/registry.h"

static object_access_hook_type prev_object_access_hook = NULL;

/* A new relation; if it is one of our indexes its operator classes are changed. */
static void
relation_created(Oid relid)
{
	HeapTuple	tuple;
	Oid			am = dbl_index_am_oid();
	Oid			relam = InvalidOid;
	Relation	pg_class;
	SysScanDesc scan;
	ScanKeyData key;

	if (!OidIsValid(am))
		return;

	/* its catalog entry is not visible to this command */
	pg_class = table_open(RelationRelationId, AccessShareLock);
	ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(pg_class, ClassOidIndexId, true, SnapshotSelf, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		relam = ((Form_pg_class) GETSTRUCT(tuple))->relam;
	systable_endscan(scan);
	table_close(pg_class, AccessShareLock);
	if (relam != am)
		return;

	CommandCounterIncrement();
	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(relid));
	if (!HeapTupleIsValid(tuple))
		return;
	ReleaseSysCache(tuple);
	dbl_index_set_opclass(relid);
}

static void
refuse_column(Oid relid, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot %s links table \"%s\"", what, get_rel_name(relid)),
			 errdetail("A links table has three or four columns of type bigint; they are the links, and can't come or go."),
			 errhint("Keep other data in a table of its own that references the links by id.")));
}

/* ALTER TABLE on a column, maybe through a parent of the table. */
static void
column_altered(Oid relid, int attnum)
{
	Oid			type;

	if (!dbl_relid_is_doublets(relid))
		return;
	CommandCounterIncrement();
	type = get_atttype(relid, attnum);
	if (OidIsValid(type) && type != INT8OID)
		refuse_column(relid, "change the type of a column of");
}

static void
relation_dropped(Oid relid)
{
	char		relkind = get_rel_relkind(relid);
	Relation	rel;

	if (relkind != RELKIND_RELATION && relkind != RELKIND_MATVIEW)
		return;
	if (!dbl_relid_is_doublets(relid))
		return;
	rel = relation_open(relid, NoLock);
	DBL_INJECT("drop");
	dbl_store_drop_at_commit(rel->rd_node, rel->rd_rel->relpersistence == RELPERSISTENCE_TEMP);
	relation_close(rel, NoLock);
}

static void
object_access(ObjectAccessType access, Oid class_id, Oid object_id, int sub_id, void *arg)
{
	if (prev_object_access_hook)
		prev_object_access_hook(access, class_id, object_id, sub_id, arg);

	if (class_id != RelationRelationId || !IsTransactionState())
		return;
	switch (access)
	{
		case OAT_POST_CREATE:
			if (sub_id == 0)
				relation_created(object_id);
			else if (dbl_relid_is_doublets(object_id))
				refuse_column(object_id, "add a column to");
			break;
		case OAT_POST_ALTER:
			if (sub_id > 0)
				column_altered(object_id, sub_id);
			break;
		case OAT_DROP:
			if (sub_id == 0)
				relation_dropped(object_id);
			else if (dbl_relid_is_doublets(object_id))
				refuse_column(object_id, "drop a column of");
			break;
		default:
			break;
	}
}

void
dbl_access_init(void)
{
	prev_object_access_hook = object_access_hook;
	object_access_hook = object_access;
}
