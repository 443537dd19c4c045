/*-------------------------------------------------------------------------
 *
 * unique.c
 *	  Uniqueness.
 *
 * The table puts a version into the trees before the executor comes here for
 * each index, so two transactions that insert the same key find each
 * other's version in the trees.  To keep them from waiting for each other, a version counts for
 * a unique index only once it has been announced to that kind of key (DBL_F_ANNOUNCED).
 * Looking for a conflict and announcing happen under one hold of the exclusive
 * lock, so of two the second finds the first, and waits for it unannounced.  Nor do
 * other looks at the index that count what is in progress (SnapshotDirty: ON CONFLICT)
 * find what was not announced; see take() in scan.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "index/index.h"
#include "shared/inject.h"
#include "table/fetch.h"
#include "table/modify.h"

#define CHUNK	32

typedef enum Conflict
{
	CONFLICT_NONE,
	CONFLICT_WAIT,				/* with a transaction in progress */
	CONFLICT_CERTAIN
} Conflict;

/* Has b the key of a, as far as this kind of index goes? */
static bool
same_key(const DblIndexShape *shape, const DblVersion *a, const DblVersion *b)
{
	for (int i = 0; i < shape->ncols; i++)
		if (DblVersionIsNull(a, shape->col[i]) != DblVersionIsNull(b, shape->col[i]) ||
			a->key[shape->col[i]] != b->key[shape->col[i]])
			return false;
	return true;
}

/* Versions of chains that have been followed; those for whom there is no place are met again, and looked at by themselves. */
typedef struct Followed
{
	int			n;
	bool		full;			/* some are missing */
	DblSlot		slots[CHUNK];
} Followed;

static bool
was_followed(const Followed *followed, DblSlot slot)
{
	for (int i = 0; i < followed->n; i++)
		if (followed->slots[i] == slot)
			return true;
	return false;
}

/* Does this version stand in the way? */
static Conflict
version_conflict(DblVersion *v, SnapshotData *dirty)
{
	InitDirtySnapshot(*dirty);
	if (!dbl_visible(v, dirty))
		return CONFLICT_NONE;
	return TransactionIdIsValid(dirty->xmin) || TransactionIdIsValid(dirty->xmax) ?
		CONFLICT_WAIT : CONFLICT_CERTAIN;
}

/*
 * What stands in the way of a version: v, or a version that has settled in its place.  Those of v's chain are
 * noted as followed.
 */
static Conflict
chain_conflict(DblTable *t, const DblIndexShape *shape, DblVersion *v, DblSlot slot, const DblVersion *mine,
			   DblSlot self, Followed *followed, SnapshotData *dirty)
{
	Conflict	result = CONFLICT_NONE;
	bool		done = false;

	for (;;)
	{
		if (slot == self)
			done = true;
		else if (!done)
		{
			result = version_conflict(v, dirty);
			done = result != CONFLICT_NONE;
		}
		slot = dbl_settled_successor(t, v);
		if (slot == DBL_NO_SLOT)
			return result;
		v = dbl_version(&t->store, slot);
		if (!(v->flags & DBL_F_ANNOUNCED(shape->kind)) || !same_key(shape, v, mine))
			return result;
		if (followed->n < CHUNK)
			followed->slots[followed->n++] = slot;
		else
			followed->full = true;
	}
}

/*
 * Look for another announced version, live or perhaps so, with the same key.  Store
 * lock held exclusively.  For CONFLICT_WAIT *dirty tells whom to wait for.
 *
 * There is more than one only under a deferrable constraint.  Then the one that came first counts, and
 * a version that has taken its announcement over (DBL_F_SETTLED) came with the first of its chain.
 */
static Conflict
find_conflict(DblTable *t, const DblIndexShape *shape, const DblVersion *mine, DblSlot self,
			  SnapshotData *dirty)
{
	DblAccess	access = shape->access;
	int			first_col = shape->col[0];
	DblRange	first;
	DblRange	second;
	DblCursor	cursor;
	DblSlot		slots[CHUNK];
	Followed	followed;
	bool		narrowed = false;
	Conflict	result = CONFLICT_NONE;
	uint32		got;

	if (shape->kind == DBL_KEY_TYPE_ID)
	{
		/* few links have the same id, many the same type */
		access = DBL_BY_ID;
		first_col = DBL_ID;
	}
	first.with_null = DblVersionIsNull(mine, first_col);
	first.lo = first.with_null ? 1 : mine->key[first_col];
	first.hi = first.with_null ? 0 : mine->key[first_col];
	if (shape->ncols == 2 && shape->kind != DBL_KEY_TYPE_ID)
	{
		narrowed = true;
		second.with_null = DblVersionIsNull(mine, shape->col[1]);
		second.lo = second.with_null ? 1 : mine->key[shape->col[1]];
		second.hi = second.with_null ? 0 : mine->key[shape->col[1]];
	}

	dirty->xmin = dirty->xmax = InvalidTransactionId;
	dirty->speculativeToken = 0;
	followed.n = 0;
	followed.full = false;
	memset(&cursor, 0, sizeof(cursor));
	do
	{
		got = dbl_scan(&t->store, access, &first, narrowed ? &second : NULL, false, &cursor, slots, CHUNK);
		for (uint32 i = 0; i < got; i++)
		{
			DblVersion *v = dbl_version(&t->store, slots[i]);
			bool		settled = (v->flags & DBL_F_SETTLED) != 0;
			bool		headless;
			SnapshotData look;
			Conflict	found;

			if (slots[i] == self || !(v->flags & DBL_F_ANNOUNCED(shape->kind)) ||
				!same_key(shape, v, mine))
				continue;
			if (settled && was_followed(&followed, slots[i]))
				continue;

			/* Following a long chain from each of its versions would take the square of the time that one pass takes. */
			headless = settled && !followed.full;
			if (settled && !headless)
				found = version_conflict(v, &look);
			else
				found = chain_conflict(t, shape, v, slots[i], mine, self, &followed, &look);
			if (found == CONFLICT_NONE)
				continue;
			if (result == CONFLICT_NONE || headless)
			{
				*dirty = look;
				result = found;
			}
			/* the first of its chain, gone by now, was before all that we meet here */
			if (headless)
				return result;
		}
	} while (got == CHUNK);
	return result;
}

/*
 * A serializable reader of this value has left its mark before it read.  One who read the row that this
 * version replaces has marked that row, which the update has looked at: where the key stays as it is nothing
 * new appears in the index (heap makes such an update HOT).
 */
static void
check_readers(Relation index, Relation table, const DblIndexShape *shape, Datum *values, bool *isnull,
			  DblSlot slot)
{
	uint32		cols = 0;

	for (int i = 0; i < shape->ncols; i++)
		cols |= 1 << shape->col[i];
	if ((dbl_update_kept(table, slot) & cols) != cols)
		dbl_predicate_check(index, isnull[0] ? 0 : DatumGetInt64(values[0]), isnull[0]);
}

/*
 * Insert into an index: nothing to do but to see to its uniqueness.  Returns false only for
 * UNIQUE_CHECK_PARTIAL, when there may be a conflict.  Raises 23505.  No lock may be held; may
 * wait for other transactions.
 */
bool
dbl_aminsert(Relation index, Datum *values, bool *isnull, ItemPointer tid, Relation table,
			 IndexUniqueCheck check, bool unchanged, IndexInfo *info)
{
	DblIndexShape shape;
	DblSlot		slot = DblTidToSlot(tid);
	bool		anynull = false;
	uint32		doubt = DBL_F_DOUBTFUL;
	DblTable   *t;

	dbl_index_check_table(index, table);

	/* most calls have nothing to do */
	if (check == UNIQUE_CHECK_NO && !IsolationIsSerializable())
		return false;

	shape = dbl_index_shape(index);
	if (check != UNIQUE_CHECK_EXISTING)
		check_readers(index, table, &shape, values, isnull, slot);
	if (check == UNIQUE_CHECK_NO)
		return false;

	for (int i = 0; i < shape.ncols; i++)
		anynull |= isnull[i];

	/*
	 * The check that may be put off now is passed on to versions that settle in this one's place, unless there is
	 * a deferrable constraint of another kind: that has an entry for each version, and checks it for itself.
	 */
	if (check == UNIQUE_CHECK_PARTIAL && !dbl_columns(table).real_deferrable)
		doubt = DBL_F_DOUBT_PASSES;

	t = dbl_table_open(table);
	for (;;)
	{
		SnapshotData dirty;
		TransactionId xwait;
		Conflict	conflict = CONFLICT_NONE;
		DblVersion *mine;
		bool		alive = true;

		DBL_INJECT("unique");
		dbl_table_lock(table, t, LW_EXCLUSIVE);
		if (check == UNIQUE_CHECK_EXISTING)
			slot = dbl_doubted_version(t, DblTidToSlot(tid));
		mine = slot < dbl_nslots(&t->store) ? dbl_version(&t->store, slot) : NULL;
		if (mine == NULL || !(mine->flags & DBL_F_USED))
		{
			/*
			 * A deferred check, or the last step of a concurrent build, may come for a row that has been deleted
			 * and is gone.
			 */
			dbl_table_unlock(t);
			return true;
		}
		if (check != UNIQUE_CHECK_EXISTING && (mine->flags & DBL_F_SETTLED) &&
			(mine->flags & DBL_F_ANNOUNCED(shape.kind)))
		{
			/* its predecessor had the same key, and has passed */
			dbl_table_unlock(t);
			return true;
		}
		if (!anynull || shape.nulls_equal)
			conflict = find_conflict(t, &shape, mine, slot, &dirty);
		if (conflict == CONFLICT_CERTAIN && check != UNIQUE_CHECK_PARTIAL)
		{
			/* a row that is dead by now violates nothing */
			alive = dbl_visible(mine, SnapshotSelf);
		}
		if (conflict == CONFLICT_NONE || check == UNIQUE_CHECK_PARTIAL || !alive)
		{
			/* with a possible conflict the row is in the index all the same, to be checked later */
			mine->flags |= DBL_F_ANNOUNCED(shape.kind);
			if (conflict != CONFLICT_NONE && alive)
				mine->flags |= doubt;
			dbl_table_unlock(t);
			return conflict == CONFLICT_NONE || !alive;
		}
		dbl_table_unlock(t);

		if (conflict == CONFLICT_CERTAIN)
		{
			char	   *key;

			/*
			 * The transaction that we have waited for may have read what we are about to write: that
			 * failure comes before this one, as in btree.
			 */
			dbl_predicate_check(index, isnull[0] ? 0 : DatumGetInt64(values[0]), isnull[0]);
			key = BuildIndexValueDescription(index, values, isnull);
			ereport(ERROR,
					(errcode(ERRCODE_UNIQUE_VIOLATION),
					 errmsg("duplicate key value violates unique constraint \"%s\"",
							RelationGetRelationName(index)),
					 key ? errdetail("Key %s already exists.", key) : 0,
					 errtableconstraint(table, RelationGetRelationName(index))));
		}

		xwait = TransactionIdIsValid(dirty.xmin) ? dirty.xmin : dirty.xmax;
		if (dirty.speculativeToken)
			SpeculativeInsertionWait(dirty.xmin, dirty.speculativeToken);
		else
			XactLockTableWait(xwait, index, tid, XLTW_InsertIndex);
	}
}
