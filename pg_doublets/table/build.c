/*-------------------------------------------------------------------------
 *
 * build.c
 *	  Building real indexes: btree, hash, BRIN and what else there is.
 *
 * Every version gets an index entry of its own, as there are no HOT chains;
 * otherwise the rules are those of heapam_index_build_range_scan() and
 * heapam_index_validate_scan().  (Native indexes are built by index/build.c.)
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"

#include "table/fetch.h"
#include "table/maintain.h"
#include "table/scan.h"

/* What to do with a version that SnapshotAny has found. */
typedef struct BuildVerdict
{
	bool		index_it;
	bool		alive;			/* takes part in unique checks */
	bool		count;			/* in reltuples */
	TransactionId wait_for;		/* ... and then ask again */
	const char *surprise;		/* what somebody else is doing to it */
} BuildVerdict;

/*
 * The store lock is held.  The criteria for counting agree with
 * dbl_scan_analyze_next_tuple().
 */
static void
judge(DblVersion *v, TransactionId oldest_xmin, bool anyvisible, bool checking_uniqueness,
	  BuildVerdict *verdict)
{
	TransactionId xid;

	verdict->index_it = true;
	verdict->alive = false;
	verdict->count = false;
	verdict->wait_for = InvalidTransactionId;
	verdict->surprise = NULL;

	switch (dbl_satisfies_vacuum(v, oldest_xmin))
	{
		case HEAPTUPLE_DEAD:
			verdict->index_it = false;
			break;
		case HEAPTUPLE_LIVE:
			verdict->alive = true;
			verdict->count = true;
			break;
		case HEAPTUPLE_RECENTLY_DEAD:
			/* older snapshots may use the index and must find it there */
			break;
		case HEAPTUPLE_INSERT_IN_PROGRESS:
			verdict->alive = true;
			verdict->count = true;
			if (anyvisible || TransactionIdIsCurrentTransactionId(v->xmin))
				break;

			/*
			 * Nobody else should be able to insert, given the lock that is needed to
			 * build an index; if it happens all the same do not let a row that
			 * may not be there fail the build.
			 */
			verdict->count = false;
			verdict->surprise = "insert";
			if (checking_uniqueness)
				verdict->wait_for = v->xmin;
			break;
		case HEAPTUPLE_DELETE_IN_PROGRESS:
			xid = dbl_update_xid(v);
			if (anyvisible)
				verdict->count = true;
			else if (!TransactionIdIsCurrentTransactionId(xid))
			{
				verdict->surprise = "delete";
				if (checking_uniqueness)
					verdict->wait_for = xid;
				verdict->count = true;
			}
			break;
	}
}

/*
 * Look at the version in a slot until its fate is clear, and put it into the tuple slot.  Returns false
 * if it is not to be indexed.
 */
static bool
examine(Relation rel, DblTable *t, ItemPointer tid, TransactionId oldest_xmin, bool anyvisible,
		bool checking_uniqueness, TupleTableSlot *slot, BuildVerdict *verdict)
{
	ItemPointerData where = *tid;

	for (;;)
	{
		DblVersion *v;
		DblVersion	copy;

		dbl_table_lock(rel, t, LW_SHARED);
		v = dbl_version_or_null(t, DblTidToSlot(&where));
		if (v == NULL)
		{
			dbl_table_unlock(t);
			return false;
		}
		judge(v, oldest_xmin, anyvisible, checking_uniqueness, verdict);
		copy = *v;
		dbl_table_unlock(t);

		if (verdict->surprise)
			elog(WARNING, "concurrent %s in progress within table \"%s\"",
				 verdict->surprise, RelationGetRelationName(rel));
		if (!TransactionIdIsValid(verdict->wait_for))
		{
			if (verdict->index_it)
				dbl_slot_store(slot, rel, &copy, DblTidToSlot(&where));
			return verdict->index_it;
		}
		XactLockTableWait(verdict->wait_for, rel, &where, XLTW_InsertIndexUnique);
		CHECK_FOR_INTERRUPTS();
	}
}

static BlockNumber
scan_total_blocks(DblScanDesc scan)
{
	if (scan->rs_base.rs_parallel != NULL)
		return ((ParallelBlockTableScanDesc) scan->rs_base.rs_parallel)->phs_nblocks;
	return scan->nblocks;
}

/* Blocks read so far; for progress reports only. */
static BlockNumber
scan_blocks_done(DblScanDesc scan)
{
	BlockNumber start;

	if (scan->rs_base.rs_parallel == NULL)
		return scan->block;
	start = ((ParallelBlockTableScanDesc) scan->rs_base.rs_parallel)->phs_startblock;
	if (scan->block > start)
		return scan->block - start;
	return scan_total_blocks(scan) - start + scan->block;
}

/*
 * Feed the rows of a table, or of some of its blocks, to an index build.  See
 * table_index_build_range_scan().
 */
double
dbl_index_build_range_scan(Relation rel, Relation index, IndexInfo *info,
						   bool allow_sync, bool anyvisible, bool progress,
						   BlockNumber start_blockno, BlockNumber numblocks,
						   IndexBuildCallback callback, void *callback_state,
						   TableScanDesc sscan)
{
	DblTable   *t = dbl_table_open(rel);
	bool		checking_uniqueness = info->ii_Unique || info->ii_ExclusionOps != NULL;
	bool		unregister = false;
	TransactionId oldest_xmin = InvalidTransactionId;
	BlockNumber last_reported = InvalidBlockNumber;
	double		reltuples = 0;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	Snapshot	snapshot;
	DblScanDesc scan;
	EState	   *estate;
	ExprContext *econtext;
	ExprState  *predicate;
	TupleTableSlot *slot;

	Assert(OidIsValid(index->rd_rel->relam));
	Assert(!(anyvisible && checking_uniqueness));

	/* for index expressions and the predicate of a partial index */
	estate = CreateExecutorState();
	econtext = GetPerTupleExprContext(estate);
	slot = table_slot_create(rel, NULL);
	econtext->ecxt_scantuple = slot;
	predicate = ExecPrepareQual(info->ii_Predicate, estate);

	/*
	 * A plain build indexes recently dead versions too, so it reads with SnapshotAny
	 * and decides by itself; a concurrent one indexes what an MVCC snapshot sees.
	 */
	if (!info->ii_Concurrent)
		oldest_xmin = GetOldestNonRemovableTransactionId(rel);
	if (sscan == NULL)
	{
		if (TransactionIdIsValid(oldest_xmin))
			snapshot = SnapshotAny;
		else
		{
			snapshot = RegisterSnapshot(GetTransactionSnapshot());
			unregister = true;
		}
		sscan = table_beginscan_strat(rel, snapshot, 0, NULL, true, allow_sync);
	}
	else
	{
		/* one of the processes of a parallel build */
		Assert(allow_sync);
		snapshot = sscan->rs_snapshot;
	}
	Assert(snapshot == SnapshotAny || IsMVCCSnapshot(snapshot));
	Assert((snapshot == SnapshotAny) == TransactionIdIsValid(oldest_xmin));
	Assert(snapshot == SnapshotAny || !anyvisible);
	scan = (DblScanDesc) sscan;

	if (progress)
		pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL, scan_total_blocks(scan));
	if (!allow_sync)
		dbl_scan_limit(scan, start_blockno, numblocks);
	else
		Assert(start_blockno == 0 && numblocks == InvalidBlockNumber);

	while (table_scan_getnextslot(sscan, ForwardScanDirection, slot))
	{
		bool		alive = true;
		bool		count = true;
		ItemPointerData tid;

		CHECK_FOR_INTERRUPTS();

		if (progress)
		{
			BlockNumber done = scan_blocks_done(scan);

			if (done != last_reported)
			{
				pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, done);
				last_reported = done;
			}
		}

		if (snapshot == SnapshotAny)
		{
			BuildVerdict verdict;
			bool		index_it;

			index_it = examine(rel, t, &slot->tts_tid, oldest_xmin, anyvisible,
							   checking_uniqueness, slot, &verdict);
			alive = verdict.alive;
			count = verdict.count;
			if (!index_it)
				continue;
		}
		if (count)
			reltuples += 1;

		MemoryContextReset(econtext->ecxt_per_tuple_memory);
		if (predicate != NULL && !ExecQual(predicate, econtext))
			continue;
		FormIndexDatum(info, slot, estate, values, isnull);
		tid = slot->tts_tid;
		callback(index, &tid, values, isnull, alive, callback_state);
	}

	if (progress)
		pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, scan_total_blocks(scan));

	table_endscan(sscan);
	if (unregister)
		UnregisterSnapshot(snapshot);
	ExecDropSingleTupleTableSlot(slot);
	FreeExecutorState(estate);

	/* these pointed into it */
	info->ii_ExpressionsState = NIL;
	info->ii_PredicateState = NULL;

	return reltuples;
}

/*
 * Second pass of a concurrent build: what the snapshot sees and the index lacks is
 * inserted.  state->tuplesort has the TIDs that are in the index, in order.
 */
void
dbl_index_validate_scan(Relation rel, Relation index, IndexInfo *info, Snapshot snapshot,
						ValidateIndexState *state)
{
	BlockNumber last_reported = InvalidBlockNumber;
	bool		have_indexed = false;
	bool		exhausted = false;
	ItemPointerData indexed;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	TableScanDesc sscan;
	DblScanDesc scan;
	EState	   *estate;
	ExprContext *econtext;
	ExprState  *predicate;
	TupleTableSlot *slot;

	Assert(OidIsValid(index->rd_rel->relam));

	estate = CreateExecutorState();
	econtext = GetPerTupleExprContext(estate);
	slot = table_slot_create(rel, NULL);
	econtext->ecxt_scantuple = slot;
	predicate = ExecPrepareQual(info->ii_Predicate, estate);

	/* from the first block on, to match the order of the TIDs */
	sscan = table_beginscan_strat(rel, snapshot, 0, NULL, true, false);
	scan = (DblScanDesc) sscan;
	pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL, scan->nblocks);

	while (table_scan_getnextslot(sscan, ForwardScanDirection, slot))
	{
		ItemPointerData tid = slot->tts_tid;

		CHECK_FOR_INTERRUPTS();

		state->htups += 1;
		if (scan->block != last_reported)
		{
			pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, scan->block);
			last_reported = scan->block;
		}

		/* on to the first TID in the index that is not before this one */
		while (!exhausted && (!have_indexed || ItemPointerCompare(&indexed, &tid) < 0))
		{
			Datum		value;
			bool		null;

			exhausted = !tuplesort_getdatum(state->tuplesort, true, &value, &null, NULL);
			if (exhausted)
				break;
			Assert(!null);
			itemptr_decode(&indexed, DatumGetInt64(value));
			have_indexed = true;
#ifndef USE_FLOAT8_BYVAL
			pfree(DatumGetPointer(value));
#endif
		}
		if (!exhausted && ItemPointerEquals(&indexed, &tid))
			continue;

		MemoryContextReset(econtext->ecxt_per_tuple_memory);
		if (predicate != NULL && !ExecQual(predicate, econtext))
			continue;
		FormIndexDatum(info, slot, estate, values, isnull);

		/* The index finds out by itself whether this version is still alive. */
		index_insert(index, values, isnull, &tid, rel,
					 info->ii_Unique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO, false, info);
		state->tups_inserted += 1;
	}

	table_endscan(sscan);
	ExecDropSingleTupleTableSlot(slot);
	FreeExecutorState(estate);

	/* these pointed into it */
	info->ii_ExpressionsState = NIL;
	info->ii_PredicateState = NULL;
}
