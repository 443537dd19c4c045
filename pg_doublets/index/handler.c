/*-------------------------------------------------------------------------
 *
 * handler.c
 *	  The index access method "doublets_tree": its table of callbacks, and which
 *	  indexes can be views on a store.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/vacuum.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "index/index.h"

PG_FUNCTION_INFO_V1(doublets_tree_handler);

/* hash's integer_ops; its oid is fixed but has no name in the headers */
#define HASH_INTEGER_FAMILY	1977

#define TRANCHE_NAME	"doublets_index_scan"

static shmem_request_hook_type prev_shmem_request_hook = NULL;

/* Columns of each kind of key. */
static const struct
{
	int			ncols;
	int			col[2];
	DblAccess	access;
}			key_kinds[DBL_NKEYKINDS] =
{
	[DBL_KEY_ID] = {1, {DBL_ID, -1}, DBL_BY_ID},
	[DBL_KEY_SOURCE] = {1, {DBL_SOURCE, -1}, DBL_BY_SOURCE},
	[DBL_KEY_TARGET] = {1, {DBL_TARGET, -1}, DBL_BY_TARGET},
	[DBL_KEY_TYPE] = {1, {DBL_TYPE, -1}, DBL_BY_TYPE},
	[DBL_KEY_SOURCE_TARGET] = {2, {DBL_SOURCE, DBL_TARGET}, DBL_BY_SOURCE},
	[DBL_KEY_TARGET_SOURCE] = {2, {DBL_TARGET, DBL_SOURCE}, DBL_BY_TARGET},
	[DBL_KEY_TYPE_ID] = {2, {DBL_TYPE, DBL_ID}, DBL_BY_TYPE},
};

bool
dbl_key_kind(const AttrNumber *attnums, int n, DblKeyKind *kind)
{
	for (int k = 0; k < DBL_NKEYKINDS; k++)
	{
		if (key_kinds[k].ncols == n && key_kinds[k].col[0] == attnums[0] - 1 &&
			(n == 1 || key_kinds[k].col[1] == attnums[1] - 1))
		{
			*kind = (DblKeyKind) k;
			return true;
		}
	}
	return false;
}

int
dbl_key_columns(DblKeyKind kind, int *cols)
{
	for (int i = 0; i < key_kinds[kind].ncols; i++)
		cols[i] = key_kinds[kind].col[i];
	return key_kinds[kind].ncols;
}

DblAccess
dbl_key_access(DblKeyKind kind)
{
	return key_kinds[kind].access;
}

/*
 * What the index is, from its catalog entry, or why it can't be served.
 */
static const char *
describe(Relation index, DblIndexShape *shape)
{
	Form_pg_index form = index->rd_index;
	int			n = form->indnatts;
	int			order = -1;
	AttrNumber	attnums[2];

	memset(shape, 0, sizeof(*shape));
	if (form->indisexclusion)
		return "exclusion constraints are not supported";
	if (!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return "partial indexes are not supported";
	if (!heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, NULL))
		return "indexes on expressions are not supported";
	if (form->indnkeyatts != n)
		return "included columns are not supported";
	if (n < 1 || n > 2)
		return "indexes on more than two columns are not supported";
	for (int i = 0; i < n; i++)
	{
		int			option = index->rd_indoption[i] & (INDOPTION_DESC | INDOPTION_NULLS_FIRST);

		attnums[i] = form->indkey.values[i];
		/* the table's column: a hash index has hash codes */
		if (get_atttype(form->indrelid, attnums[i]) != INT8OID)
			return "only columns of type bigint can be indexed";
		if ((order >= 0 && option != order) ||
			(option != 0 && option != (INDOPTION_DESC | INDOPTION_NULLS_FIRST)))
			return "the columns must all be ASC NULLS LAST, or all DESC NULLS FIRST";
		order = option;
	}
	if (!dbl_key_kind(attnums, n, &shape->kind))
		return "only (id), (source), (target), (type), (source, target), (target, source) and (type, id) can be indexed";

	shape->access = key_kinds[shape->kind].access;
	shape->ncols = dbl_key_columns(shape->kind, shape->col);
	shape->desc = order != 0;
	shape->unique = form->indisunique;
	shape->nulls_equal = form->indnullsnotdistinct;
	return NULL;
}

DblIndexShape
dbl_index_shape(Relation index)
{
	DblIndexShape shape;
	const char *reason;

	if (index->rd_amcache != NULL)
		return *(const DblIndexShape *) index->rd_amcache;

	reason = describe(index, &shape);
	if (reason != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("access method \"doublets_tree\" cannot serve index \"%s\"",
						RelationGetRelationName(index)),
				 errdetail_internal("%s", reason),
				 errhint("Set pg_doublets.adopt_indexes to off and use a btree index.")));
	index->rd_amcache = MemoryContextAlloc(index->rd_indexcxt, sizeof(DblIndexShape));
	memcpy(index->rd_amcache, &shape, sizeof(DblIndexShape));
	return shape;
}

DblKeyKind
dbl_index_kind(Relation index)
{
	return dbl_index_shape(index).kind;
}

bool
dbl_index_can_be_native(Relation index)
{
	DblIndexShape shape;

	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		if (index->rd_opfamily[i] != INTEGER_BTREE_FAM_OID &&
			index->rd_opfamily[i] != HASH_INTEGER_FAMILY)
			return false;
		if (index->rd_opcintype[i] != INT8OID)
			return false;
	}
	return describe(index, &shape) == NULL;
}

bool
dbl_indexes_all_native(Relation rel)
{
	List	   *indexes = RelationGetIndexList(rel);
	Oid			am = dbl_index_am_oid();
	bool		all = true;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(lfirst_oid(lc)));

		if (!HeapTupleIsValid(tuple))
			continue;
		all = ((Form_pg_class) GETSTRUCT(tuple))->relam == am;
		ReleaseSysCache(tuple);
		if (!all)
			break;
	}
	list_free(indexes);
	return all;
}

Oid
dbl_index_am_oid(void)
{
	return get_am_oid("doublets_tree", true);
}

void
dbl_index_check_table(Relation index, Relation table)
{
	if (!RelationIsDoublets(table))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("access method \"doublets_tree\" only supports tables of access method \"doublets\""),
				 errdetail("Index \"%s\" is on table \"%s\".",
						   RelationGetRelationName(index), RelationGetRelationName(table))));
}

static void
shmem_request(void)
{
	if (prev_shmem_request_hook)
		prev_shmem_request_hook();
	RequestNamedLWLockTranche(TRANCHE_NAME, 1);
}

void
dbl_index_init(void)
{
	prev_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = shmem_request;
	dbl_estimate_init();
}

/* For the locks of parallel scans. */
int
dbl_index_tranche(void)
{
	return GetNamedLWLockTranche(TRANCHE_NAME)->lock.tranche;
}

static bool
amcanreturn(Relation index, int attno)
{
	return true;
}

static bool
amvalidate(Oid opclassoid)
{
	return true;
}

/* Storage parameters of btree and hash are accepted, and mean nothing here. */
static bytea *
amoptions(Datum reloptions, bool validate)
{
	return btoptions(reloptions, validate);
}

/*
 * The operator classes of our indexes are btree's (ddl/access.c), so whatever
 * is numbered per operator class must be numbered as in btree.
 */
Datum
doublets_tree_handler(PG_FUNCTION_ARGS)
{
	IndexAmRoutine *am = makeNode(IndexAmRoutine);

	dbl_require_preload();

	am->amstrategies = BTMaxStrategyNumber;
	am->amsupport = BTNProcs;
	am->amoptsprocnum = BTOPTIONS_PROC;
	am->amcanorder = true;
	am->amcanorderbyop = false;
	am->amcanbackward = true;
	am->amcanunique = true;
	am->amcanmulticol = true;
	am->amoptionalkey = true;
	am->amsearcharray = true;
	am->amsearchnulls = true;
	am->amstorage = false;
	am->amclusterable = true;
	am->ampredlocks = true;
	am->amcanparallel = true;
	am->amcaninclude = false;
	am->amusemaintenanceworkmem = false;
	am->amparallelvacuumoptions = VACUUM_OPTION_NO_PARALLEL;
	am->amkeytype = InvalidOid;

	am->ambuild = dbl_ambuild;
	am->ambuildempty = dbl_ambuildempty;
	am->aminsert = dbl_aminsert;
	am->ambulkdelete = dbl_ambulkdelete;
	am->amvacuumcleanup = dbl_amvacuumcleanup;
	am->amcanreturn = amcanreturn;
	am->amcostestimate = dbl_amcostestimate;
	am->amoptions = amoptions;
	am->amproperty = NULL;
	am->ambuildphasename = NULL;
	am->amvalidate = amvalidate;
	am->amadjustmembers = NULL;
	am->ambeginscan = dbl_ambeginscan;
	am->amrescan = dbl_amrescan;
	am->amgettuple = dbl_amgettuple;
	am->amgetbitmap = dbl_amgetbitmap;
	am->amendscan = dbl_amendscan;
	am->ammarkpos = dbl_ammarkpos;
	am->amrestrpos = dbl_amrestrpos;
	am->amestimateparallelscan = dbl_amestimateparallelscan;
	am->aminitparallelscan = dbl_aminitparallelscan;
	am->amparallelrescan = dbl_amparallelrescan;

	PG_RETURN_POINTER(am);
}
