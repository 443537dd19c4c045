/*-------------------------------------------------------------------------
 *
 * cluster.c
 *	  CLUSTER and VACUUM FULL: copy a table into a new file.
 *
 * The old table is locked with AccessExclusiveLock, so its slots hold still and a TID is
 * all that has to be sorted or fetched from an index.  What is not dead is
 * copied with its transaction ids, old ones frozen, and the chains of updates among
 * the copies are tied again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "access/transam.h"
#include "access/xact.h"
#include "commands/progress.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"

#include "shared/inject.h"
#include "table/fetch.h"
#include "table/maintain.h"
#include "table/scan.h"

/* Versions written under one hold of the new table's lock. */
#define COPY_BATCH		(4 * DBL_RECORDS_PER_PAGE)

typedef struct CopyState
{
	Relation	old;
	Relation	new;
	DblTable   *old_table;
	DblTable   *new_table;
	TransactionId oldest_xmin;
	DblFreezeCutoffs cutoffs;
	DblOldest	oldest;			/* not needed, but freezing keeps it */

	/* where each version of the old table went; DBL_NO_SLOT: nowhere (yet) */
	uint32		nslots;
	DblSlot    *new_slot;

	/* versions to be written */
	int			n;
	DblVersion	batch[COPY_BATCH];
	DblSlot		from[COPY_BATCH];

	/* old slots of copies whose successor was not copied before them */
	int64		nuntied;
	int64		max_untied;
	DblSlot    *untied;

	/* numbers to return */
	double		num_tuples;
	double		tups_vacuumed;
	double		tups_recently_dead;
	double		written;
} CopyState;

/*
 * The slot of the version that took this one's place, or DBL_NO_SLOT.  Old table's lock held.
 */
static DblSlot
successor(CopyState *state, DblVersion *v)
{
	DblVersion *next;

	if (v->next == DBL_NO_SLOT || (v->flags & (DBL_F_MOVED | DBL_F_SPECULATIVE)) ||
		dbl_is_only_locked(v))
		return DBL_NO_SLOT;
	next = dbl_version_or_null(state->old_table, v->next);
	if (next == NULL || !dbl_version_continues(next, dbl_update_xid(v)))
		return DBL_NO_SLOT;
	return v->next;
}

/* Write the batch to the new table. */
static void
flush_copies(CopyState *state)
{
	DblSlot		slots[COPY_BATCH];

	if (state->n == 0)
		return;
	DBL_INJECT("rewrite");
	dbl_table_lock_for_insert(state->new, state->new_table, state->n);
	dbl_write_copy(state->new, state->new_table, state->batch, state->n, slots);
	dbl_table_unlock(state->new_table);
	for (int i = 0; i < state->n; i++)
		state->new_slot[state->from[i]] = slots[i];
	state->written += state->n;
	state->n = 0;
}

/*
 * Copy the version in a slot of the old table, which is not dead.
 */
static void
copy_version(CopyState *state, DblSlot slot)
{
	DblVersion *v;
	DblVersion *copy = &state->batch[state->n];
	DblSlot		next;

	dbl_table_lock(state->old, state->old_table, LW_SHARED);
	v = dbl_version_or_null(state->old_table, slot);
	if (v == NULL)
		elog(ERROR, "slot %u of table \"%s\" is empty", slot,
			 RelationGetRelationName(state->old));
	*copy = *v;
	next = successor(state, v);
	dbl_freeze_version(copy, &state->cutoffs, &state->oldest);
	dbl_table_unlock(state->old_table);

	/* The indexes are built anew, and look at every version then. */
	copy->flags |= DBL_F_ANNOUNCED_ALL;
	copy->next = DBL_NO_SLOT;
	if (next != DBL_NO_SLOT)
	{
		copy->next = state->new_slot[next];
		if (copy->next == DBL_NO_SLOT)
		{
			if (state->nuntied >= state->max_untied)
			{
				state->max_untied = Max(state->max_untied * 2, 1024);
				state->untied = state->untied == NULL ?
					palloc(state->max_untied * sizeof(DblSlot)) :
					repalloc_huge(state->untied, state->max_untied * sizeof(DblSlot));
			}
			state->untied[state->nuntied++] = slot;
		}
	}
	state->from[state->n++] = slot;
	if (state->n == COPY_BATCH)
		flush_copies(state);
}

/* Tie the chains whose later end was copied after the earlier one. */
static void
tie_chains(CopyState *state)
{
	for (int64 i = 0; i < state->nuntied; i++)
	{
		DblSlot		slot = state->untied[i];
		DblSlot		next;

		CHECK_FOR_INTERRUPTS();

		dbl_table_lock(state->old, state->old_table, LW_SHARED);
		next = dbl_version(&state->old_table->store, slot)->next;
		dbl_table_unlock(state->old_table);

		/* a successor that is dead was not copied: the row ends here */
		if (state->new_slot[next] == DBL_NO_SLOT)
			continue;
		dbl_table_lock(state->new, state->new_table, LW_EXCLUSIVE);
		dbl_write_set_next(state->new, state->new_table, state->new_slot[slot],
						   state->new_slot[next]);
		dbl_table_unlock(state->new_table);
	}
}

/* Does the version have to be copied?  Counts it. */
static bool
must_copy(CopyState *state, DblSlot slot)
{
	DblVersion *v;
	HTSV_Result res;
	TransactionId xid = InvalidTransactionId;

	dbl_table_lock(state->old, state->old_table, LW_SHARED);
	v = dbl_version_or_null(state->old_table, slot);
	res = v != NULL ? dbl_satisfies_vacuum(v, state->oldest_xmin) : HEAPTUPLE_DEAD;
	if (res == HEAPTUPLE_INSERT_IN_PROGRESS)
		xid = v->xmin;
	else if (res == HEAPTUPLE_DELETE_IN_PROGRESS)
		xid = dbl_update_xid(v);
	dbl_table_unlock(state->old_table);

	switch (res)
	{
		case HEAPTUPLE_DEAD:
			state->tups_vacuumed += 1;
			return false;
		case HEAPTUPLE_RECENTLY_DEAD:
			state->tups_recently_dead += 1;
			break;
		case HEAPTUPLE_LIVE:
			break;
		case HEAPTUPLE_INSERT_IN_PROGRESS:
			/* as we hold the strongest lock it can only be our own */
			if (!TransactionIdIsCurrentTransactionId(xid))
				elog(WARNING, "concurrent insert in progress within table \"%s\"",
					 RelationGetRelationName(state->old));
			break;
		case HEAPTUPLE_DELETE_IN_PROGRESS:
			if (!TransactionIdIsCurrentTransactionId(xid))
				elog(WARNING, "concurrent delete in progress within table \"%s\"",
					 RelationGetRelationName(state->old));
			state->tups_recently_dead += 1;
			break;
	}
	state->num_tuples += 1;
	return true;
}

/* Copy, or put into the sort, every version that an index scan or a sequential scan finds. */
static void
read_old_table(CopyState *state, Relation index, Tuplesortstate *sort)
{
	IndexScanDesc iscan = NULL;
	TableScanDesc sscan = NULL;
	BlockNumber last_reported = InvalidBlockNumber;
	TupleTableSlot *slot = table_slot_create(state->old, NULL);

	if (index != NULL && sort == NULL)
	{
		static const int param[] = {PROGRESS_CLUSTER_PHASE, PROGRESS_CLUSTER_INDEX_RELID};
		int64		value[2] = {PROGRESS_CLUSTER_PHASE_INDEX_SCAN_HEAP, RelationGetRelid(index)};

		pgstat_progress_update_multi_param(2, param, value);
		iscan = index_beginscan(state->old, index, SnapshotAny, 0, 0);
		index_rescan(iscan, NULL, 0, NULL, 0);
	}
	else
	{
		pgstat_progress_update_param(PROGRESS_CLUSTER_PHASE,
									 PROGRESS_CLUSTER_PHASE_SEQ_SCAN_HEAP);
		sscan = table_beginscan(state->old, SnapshotAny, 0, NULL);
		pgstat_progress_update_param(PROGRESS_CLUSTER_TOTAL_HEAP_BLKS,
									 ((DblScanDesc) sscan)->nblocks);
	}

	for (;;)
	{
		DblSlot		where;

		CHECK_FOR_INTERRUPTS();

		if (iscan != NULL)
		{
			if (!index_getnext_slot(iscan, ForwardScanDirection, slot))
				break;
			if (iscan->xs_recheck)
				elog(ERROR, "CLUSTER does not support lossy index conditions");
		}
		else
		{
			DblScanDesc scan = (DblScanDesc) sscan;

			if (!table_scan_getnextslot(sscan, ForwardScanDirection, slot))
			{
				pgstat_progress_update_param(PROGRESS_CLUSTER_HEAP_BLKS_SCANNED, scan->nblocks);
				break;
			}
			if (scan->block != last_reported)
			{
				pgstat_progress_update_param(PROGRESS_CLUSTER_HEAP_BLKS_SCANNED, scan->block + 1);
				last_reported = scan->block;
			}
		}

		where = DblTidToSlot(&slot->tts_tid);
		if (!must_copy(state, where))
			continue;
		if (sort != NULL)
		{
			HeapTuple	tuple = ExecCopySlotHeapTuple(slot);

			tuplesort_putheaptuple(sort, tuple);
			heap_freetuple(tuple);
			pgstat_progress_update_param(PROGRESS_CLUSTER_HEAP_TUPLES_SCANNED,
										 (int64) state->num_tuples);
		}
		else
		{
			static const int param[] = {
				PROGRESS_CLUSTER_HEAP_TUPLES_SCANNED,
				PROGRESS_CLUSTER_HEAP_TUPLES_WRITTEN
			};
			int64		value[2];

			copy_version(state, where);
			value[0] = (int64) state->num_tuples;
			value[1] = (int64) state->written;
			pgstat_progress_update_multi_param(2, param, value);
		}
	}

	if (iscan != NULL)
		index_endscan(iscan);
	if (sscan != NULL)
		table_endscan(sscan);
	ExecDropSingleTupleTableSlot(slot);
}

void
dbl_relation_copy_for_cluster(Relation old, Relation new, Relation index, bool use_sort,
							  TransactionId oldest_xmin, TransactionId *xid_cutoff,
							  MultiXactId *multi_cutoff, double *num_tuples,
							  double *tups_vacuumed, double *tups_recently_dead)
{
	CopyState  *state = palloc0(sizeof(CopyState));
	Tuplesortstate *sort = NULL;

	state->old = old;
	state->new = new;
	state->old_table = dbl_table_open(old);
	state->new_table = dbl_table_open(new);
	dbl_spare_old_snapshots(old, &oldest_xmin, xid_cutoff);
	if (TransactionIdPrecedes(*xid_cutoff, old->rd_rel->relfrozenxid))
		*xid_cutoff = old->rd_rel->relfrozenxid;
	state->oldest_xmin = oldest_xmin;
	state->cutoffs.relfrozenxid = old->rd_rel->relfrozenxid;
	state->cutoffs.relminmxid = old->rd_rel->relminmxid;
	state->cutoffs.freeze_limit = *xid_cutoff;
	state->cutoffs.multi_cutoff = *multi_cutoff;
	state->oldest.xid = oldest_xmin;
	state->oldest.multi = *multi_cutoff;

	dbl_table_lock(old, state->old_table, LW_SHARED);
	state->nslots = dbl_nslots(&state->old_table->store);
	dbl_table_unlock(state->old_table);
	state->new_slot = MemoryContextAllocHuge(CurrentMemoryContext,
											 Max((Size) state->nslots, 1) * sizeof(DblSlot));
	memset(state->new_slot, 0xFF, (Size) state->nslots * sizeof(DblSlot));

	if (use_sort)
		sort = tuplesort_begin_cluster(RelationGetDescr(old), index, maintenance_work_mem,
									   NULL, TUPLESORT_NONE);
	read_old_table(state, index, sort);
	if (sort != NULL)
	{
		HeapTuple	tuple;

		pgstat_progress_update_param(PROGRESS_CLUSTER_PHASE,
									 PROGRESS_CLUSTER_PHASE_SORT_TUPLES);
		tuplesort_performsort(sort);
		pgstat_progress_update_param(PROGRESS_CLUSTER_PHASE,
									 PROGRESS_CLUSTER_PHASE_WRITE_NEW_HEAP);
		while ((tuple = tuplesort_getheaptuple(sort, true)) != NULL)
		{
			CHECK_FOR_INTERRUPTS();
			copy_version(state, DblTidToSlot(&tuple->t_self));
			pgstat_progress_update_param(PROGRESS_CLUSTER_HEAP_TUPLES_WRITTEN,
										 (int64) state->written);
		}
		tuplesort_end(sort);
	}
	flush_copies(state);
	tie_chains(state);

	*num_tuples = state->num_tuples;
	*tups_vacuumed = state->tups_vacuumed;
	*tups_recently_dead = state->tups_recently_dead;

	if (state->untied != NULL)
		pfree(state->untied);
	pfree(state->new_slot);
	pfree(state);
}
