/*-------------------------------------------------------------------------
 *
 * build.c
 *	  CREATE INDEX, REINDEX and VACUUM of an index that stores nothing.
 *
 * A build counts rows, and for a unique index it looks for keys that occur
 * twice and announces the versions that it has looked at (see unique.c).
 *
 * A concurrent build looks at what its snapshot sees.  The rows that were inserted before all
 * transactions knew of the index are not announced, so dbl_ambulkdelete() does
 * not name them, and validate_index() inserts them: which checks them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "index/index.h"
#include "shared/inject.h"

#define CHUNK	1024

typedef struct BuildState
{
	Relation	table;
	Relation	index;
	DblTable   *t;
	DblIndexShape shape;
	Snapshot	snapshot;		/* of a concurrent build, or NULL */
	TransactionId oldest_xmin;

	/* the last live key, by the columns of the index */
	bool		have;
	DblVersion	last;

	/* (type, id): the types of the links of one id */
	int64	   *types;
	int			ntypes;
	int			types_room;
	int			null_types;
} BuildState;

/*
 * Does the version take part in uniqueness, and in the number of rows?  *wait_for: it depends on
 * that transaction.  Store lock held.
 */
static bool
is_alive(BuildState *b, DblVersion *v, TransactionId *wait_for)
{
	TransactionId xid;

	if (b->snapshot)
		return dbl_visible(v, b->snapshot);

	switch (dbl_satisfies_vacuum(v, b->oldest_xmin))
	{
		case HEAPTUPLE_LIVE:
			return true;
		case HEAPTUPLE_INSERT_IN_PROGRESS:
			if (!TransactionIdIsCurrentTransactionId(v->xmin))
				*wait_for = v->xmin;
			return true;
		case HEAPTUPLE_DELETE_IN_PROGRESS:
			xid = dbl_update_xid(v);
			if (TransactionIdIsCurrentTransactionId(xid))
				return false;
			*wait_for = xid;
			return true;
		case HEAPTUPLE_DEAD:
		case HEAPTUPLE_RECENTLY_DEAD:
			break;
	}
	return false;
}

static void
duplicate(BuildState *b, const DblVersion *v)
{
	Datum		values[2];
	bool		isnull[2];
	char	   *key;

	for (int i = 0; i < b->shape.ncols; i++)
	{
		values[i] = Int64GetDatum(v->key[b->shape.col[i]]);
		isnull[i] = DblVersionIsNull(v, b->shape.col[i]);
	}
	key = BuildIndexValueDescription(b->index, values, isnull);
	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("could not create unique index \"%s\"", RelationGetRelationName(b->index)),
			 key ? errdetail("Key %s is duplicated.", key) : errdetail("Duplicate keys exist."),
			 errtableconstraint(b->table, RelationGetRelationName(b->index))));
}

static int
compare_int64(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return x < y ? -1 : x > y;
}

/* Twice the same type among the links of one id? */
static void
check_types(BuildState *b)
{
	DblVersion	v = b->last;

	if (b->ntypes > 1)
		qsort(b->types, b->ntypes, sizeof(int64), compare_int64);
	for (int i = 1; i < b->ntypes; i++)
	{
		if (b->types[i] == b->types[i - 1])
		{
			v.key[DBL_TYPE] = b->types[i];
			v.flags &= ~DBL_F_NULL(DBL_TYPE);
			duplicate(b, &v);
		}
	}
	if (b->null_types > 1)
	{
		v.key[DBL_TYPE] = 0;
		v.flags |= DBL_F_NULL(DBL_TYPE);
		duplicate(b, &v);
	}
	b->ntypes = 0;
	b->null_types = 0;
}

static bool
same_value(const DblVersion *a, const DblVersion *b, int col)
{
	return DblVersionIsNull(a, col) == DblVersionIsNull(b, col) && a->key[col] == b->key[col];
}

/* A live version, in the order of the scan. */
static void
check_one(BuildState *b, const DblVersion *v)
{
	const DblIndexShape *shape = &b->shape;

	if (!shape->nulls_equal)
		for (int i = 0; i < shape->ncols; i++)
			if (DblVersionIsNull(v, shape->col[i]))
				return;

	if (shape->kind == DBL_KEY_TYPE_ID)
	{
		if (b->have && !same_value(v, &b->last, DBL_ID))
			check_types(b);
		if (b->ntypes == b->types_room)
		{
			b->types_room = Max(16, b->types_room * 2);
			b->types = b->types ? repalloc_huge(b->types, sizeof(int64) * b->types_room) :
				palloc(sizeof(int64) * b->types_room);
		}
		if (DblVersionIsNull(v, DBL_TYPE))
			b->null_types++;
		else
			b->types[b->ntypes++] = v->key[DBL_TYPE];
	}
	else if (b->have)
	{
		bool		same = true;

		for (int i = 0; i < shape->ncols; i++)
			same &= same_value(v, &b->last, shape->col[i]);
		if (same)
			duplicate(b, v);
	}
	b->last = *v;
	b->have = true;
}

/*
 * Go over all versions in key order; raise 23505 for a key that is there twice.
 */
static void
check_unique(BuildState *b)
{
	DblAccess	access = b->shape.kind == DBL_KEY_TYPE_ID ? DBL_BY_ID : b->shape.access;
	DblRange	all = DBL_RANGE_ALL;
	DblVersion *alive = palloc(sizeof(DblVersion) * CHUNK);
	DblSlot    *slots = palloc(sizeof(DblSlot) * CHUNK);
	DblCursor	cursor;
	uint32		got;

	memset(&cursor, 0, sizeof(cursor));
	do
	{
		DblCursor	before = cursor;
		TransactionId wait_for = InvalidTransactionId;
		int			n = 0;

		dbl_table_lock(b->table, b->t, LW_SHARED);
		got = dbl_scan(&b->t->store, access, &all, NULL, false, &cursor, slots, CHUNK);
		for (uint32 i = 0; i < got && !TransactionIdIsValid(wait_for); i++)
		{
			DblVersion *v = dbl_version(&b->t->store, slots[i]);

			if (is_alive(b, v, &wait_for))
				alive[n++] = *v;
		}
		dbl_table_unlock(b->t);

		/*
		 * Nobody else should be able to change the table, given the lock that is needed to build an
		 * index; as heap does, wait for who does it all the same.
		 */
		if (TransactionIdIsValid(wait_for))
		{
			cursor = before;
			XactLockTableWait(wait_for, b->table, NULL, XLTW_None);
			continue;
		}
		for (int i = 0; i < n; i++)
			check_one(b, &alive[i]);
		CHECK_FOR_INTERRUPTS();
	} while (got > 0);
	if (b->have && b->shape.kind == DBL_KEY_TYPE_ID)
		check_types(b);
	pfree(alive);
	pfree(slots);
}

/*
 * Count the rows, slot by slot, and for a unique index announce them.
 */
static double
count_and_announce(BuildState *b)
{
	double		n = 0;
	uint32		slot = 0;
	uint32		nslots;
	uint32		bit = b->shape.unique ? DBL_F_ANNOUNCED(b->shape.kind) : 0;

	do
	{
		uint32		stop;

		dbl_table_lock(b->table, b->t, bit ? LW_EXCLUSIVE : LW_SHARED);
		nslots = dbl_nslots(&b->t->store);
		stop = Min(nslots, slot + CHUNK);
		for (; slot < stop; slot++)
		{
			DblVersion *v = dbl_version(&b->t->store, slot);
			TransactionId wait_for = InvalidTransactionId;
			bool		alive;

			if (!(v->flags & DBL_F_USED))
				continue;
			alive = is_alive(b, v, &wait_for);
			if (alive)
				n++;

			/* a concurrent build answers only for what it has seen */
			if (bit && (alive || b->snapshot == NULL))
				v->flags |= bit;
		}
		dbl_table_unlock(b->t);
		CHECK_FOR_INTERRUPTS();
		DBL_INJECT("index-build");
	} while (slot < nslots);
	return n;
}

IndexBuildResult *
dbl_ambuild(Relation table, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc0(sizeof(IndexBuildResult));
	BuildState	b;

	dbl_index_check_table(index, table);

	memset(&b, 0, sizeof(b));
	b.table = table;
	b.index = index;
	b.shape = dbl_index_shape(index);
	b.t = dbl_table_open(table);
	if (info->ii_Concurrent)
		b.snapshot = RegisterSnapshot(GetTransactionSnapshot());
	else
		b.oldest_xmin = GetOldestNonRemovableTransactionId(table);

	/* VACUUM FULL and CLUSTER build an index that is invalid, for a duplicate maybe, without this check */
	if (b.shape.unique && info->ii_Unique)
		check_unique(&b);
	result->heap_tuples = result->index_tuples = count_and_announce(&b);

	if (b.snapshot)
		UnregisterSnapshot(b.snapshot);
	if (b.types)
		pfree(b.types);
	return result;
}

/* The init fork of an unlogged table's index is as empty as the rest of it. */
void
dbl_ambuildempty(Relation index)
{
}

/*
 * Name all TIDs that are in the index; whether the callback wants them gone
 * does not matter, since they go with their versions.  (It is validate_index() that needs to know them.)
 */
IndexBulkDeleteResult *
dbl_ambulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
				 IndexBulkDeleteCallback callback, void *state)
{
	DblIndexShape shape = dbl_index_shape(info->index);
	Relation	table;
	uint32		slot = 0;
	uint32		nslots;
	double		count = 0;
	DblSlot    *found = palloc(sizeof(DblSlot) * CHUNK);
	DblTable   *t;

	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	table = RelationIdGetRelation(info->index->rd_index->indrelid);
	dbl_index_check_table(info->index, table);
	t = dbl_table_open(table);

	do
	{
		uint32		stop;
		int			n = 0;

		dbl_table_lock(table, t, LW_SHARED);
		nslots = dbl_nslots(&t->store);
		stop = Min(nslots, slot + CHUNK);
		for (; slot < stop; slot++)
		{
			DblVersion *v = dbl_version(&t->store, slot);

			if ((v->flags & DBL_F_USED) &&
				(!shape.unique || (v->flags & DBL_F_ANNOUNCED(shape.kind))))
				found[n++] = slot;
		}
		dbl_table_unlock(t);

		for (int i = 0; i < n; i++)
		{
			ItemPointerData tid;

			DblSlotToTid(found[i], &tid);
			if (callback(&tid, state))
				stats->tuples_removed++;
			else
				count++;
		}
		vacuum_delay_point();
	} while (slot < nslots);

	stats->num_index_tuples = count;
	stats->estimated_count = false;
	pfree(found);
	RelationClose(table);
	return stats;
}

IndexBulkDeleteResult *
dbl_amvacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	if (info->analyze_only)
		return stats;
	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	stats->num_pages = 0;
	stats->num_index_tuples = Max(info->num_heap_tuples, 0);
	stats->estimated_count = info->estimated_count;
	return stats;
}
