/*-------------------------------------------------------------------------
 *
 * prune.c
 *	  Freeing the slots of dead versions on the way, without VACUUM.
 *
 * A scan that passes versions which are dead to everybody notes their slots, and once it has
 * noted enough of them they are freed here: what page pruning (heap_page_prune_opt()) and the
 * killing of index entries are for heap and btree.  Without it a row that is
 * updated all the time, or a queue, would get slower until VACUUM comes.  See MAINTENANCE.md for
 * when a slot may be freed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xlog.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "durable/write.h"
#include "index/index.h"
#include "mvcc/mvcc.h"
#include "shared/inject.h"
#include "table/fetch.h"
#include "table/prune.h"

int			dbl_prune_dead = 8;

/* Called while preloading. */
void
dbl_prune_init(void)
{
	DefineCustomIntVariable("pg_doublets.prune_dead",
							"Sets how many dead versions a scan passes before it frees their slots.",
							"0 leaves that to VACUUM alone.",
							&dbl_prune_dead, 8, 0, DBL_NOTED_MAX, PGC_USERSET, 0,
							NULL, NULL, NULL);
}

/*
 * Note dead versions in a scan with this snapshot?  Not where prune() could not free them.
 */
bool
dbl_prune_wanted(Snapshot snapshot)
{
	return dbl_prune_dead > 0 && IsMVCCSnapshot(snapshot) && !IsParallelWorker() && !RecoveryInProgress();
}

static int
compare_slots(const void *a, const void *b)
{
	DblSlot		x = *(const DblSlot *) a;
	DblSlot		y = *(const DblSlot *) b;

	return x < y ? -1 : x > y;
}

/* Store lock held exclusively, slots in order; some may be there twice, or be in use again. */
static int
prune(Relation rel, DblTable *t, const DblSlot *slots, int n)
{
	struct GlobalVisState *vistest = GlobalVisTestFor(rel);
	int			total = 0;

	for (int i = 0; i < n;)
	{
		BlockNumber blkno = DblSlotBlock(slots[i]);
		TransactionId horizon = InvalidTransactionId;
		DblSlot		dead[DBL_RECORDS_PER_PAGE];
		int			ndead = 0;

		for (; i < n && DblSlotBlock(slots[i]) == blkno; i++)
		{
			DblVersion *v = dbl_version_or_null(t, slots[i]);

			if (v == NULL || (ndead > 0 && dead[ndead - 1] == slots[i]) || !dbl_is_dead(v, vistest))
				continue;
			dbl_advance_horizon(v, &horizon);
			dead[ndead++] = slots[i];
		}
		dbl_write_prune(rel, t, blkno, dead, ndead, horizon);
		total += ndead;
	}
	return total;
}

/*
 * Free those of n slots (n <= DBL_NOTED_MAX, any order, sorted here) whose versions are dead to everybody.
 * For a scan between two holds of the store lock; takes that lock exclusively.  Raises what writing a page raises.
 *
 * Returns false, with nothing done, where the table has real indexes, may be about to get one, or may have lost one in this
 * transaction: then it is no use to note more.
 */
bool
dbl_prune_noted(Relation rel, DblTable *t, DblSlot *slots, int n)
{
	bool		locked = false;
	bool		native;

	/*
	 * Who holds this one may have dropped a real index.  That comes back with all its entries if the transaction fails.
	 */
	if (CheckRelationLockedByMe(rel, AccessExclusiveLock, false))
		return false;

	/*
	 * Who asks dbl_indexes_all_native() needs it, to keep out who builds a real index.  Not "or stronger": a ShareLock
	 * of ours would let in another.
	 */
	if (!CheckRelationLockedByMe(rel, RowExclusiveLock, false))
	{
		if (!ConditionalLockRelation(rel, RowExclusiveLock))
			return false;
		locked = true;
	}
	native = dbl_indexes_all_native(rel);
	if (native)
	{
		int			total;

		qsort(slots, n, sizeof(DblSlot), compare_slots);
		DBL_INJECT("prune");
		dbl_table_lock(rel, t, LW_EXCLUSIVE);
		total = prune(rel, t, slots, n);
		dbl_table_unlock(t);
		if (total > 0)
			pgstat_update_heap_dead_tuples(rel, total);
	}
	if (locked)
		UnlockRelation(rel, RowExclusiveLock);
	return native;
}
