/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  Sequential, parallel, TID range and bitmap scans.
 *
 * A scan goes through the slots in the order of their numbers, by block as heap
 * does, so that core's helpers for parallel scans serve us too.  For a block one
 * shared lock is taken; the versions that the snapshot sees are copied and
 * handed out afterwards without any lock.  An MVCC snapshot's verdict does not
 * change any more, other snapshots are asked anew for each version.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/skey.h"
#include "access/valid.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "shared/inject.h"
#include "table/prune.h"
#include "table/scan.h"

/* Does the snapshot's verdict on a version stay what it is? */
static inline bool
verdict_is_final(Snapshot snapshot)
{
	return IsMVCCSnapshot(snapshot);
}

static inline bool
is_parallel(DblScanDesc scan)
{
	return scan->rs_base.rs_parallel != NULL;
}

/* The file has grown to nblocks blocks: read them all. */
static void
init_scan(DblScanDesc scan, ScanKey key)
{
	if (is_parallel(scan))
		scan->nblocks = ((ParallelBlockTableScanDesc) scan->rs_base.rs_parallel)->phs_nblocks;
	else
		scan->nblocks = RelationGetNumberOfBlocks(scan->rs_base.rs_rd);
	scan->startblock = DBL_METAPAGE_BLKNO + 1;
	scan->endblock = scan->nblocks;
	scan->inited = false;
	scan->block = InvalidBlockNumber;
	scan->nbatch = 0;
	scan->pos = 0;
	ItemPointerSetInvalid(&scan->rs_base.rs_mintid);
	ItemPointerSetInvalid(&scan->rs_base.rs_maxtid);

	if (key != NULL && scan->rs_base.rs_nkeys > 0)
		memcpy(scan->rs_base.rs_key, key, scan->rs_base.rs_nkeys * sizeof(ScanKeyData));
	if (scan->rs_base.rs_flags & SO_TYPE_SEQSCAN)
		pgstat_count_heap_scan(scan->rs_base.rs_rd);
}

TableScanDesc
dbl_scan_begin(Relation rel, Snapshot snapshot, int nkeys, ScanKey key,
			   ParallelTableScanDesc pscan, uint32 flags)
{
	DblScanDesc scan;
	DblTable   *table = dbl_table_open(rel);

	/* the relation must stay while the scan lives */
	RelationIncrementReferenceCount(rel);

	scan = palloc(sizeof(DblScanDescData));
	memset(scan, 0, offsetof(DblScanDescData, slots));
	scan->rs_base.rs_rd = rel;
	scan->rs_base.rs_snapshot = snapshot;
	scan->rs_base.rs_nkeys = nkeys;
	scan->rs_base.rs_flags = flags;
	scan->rs_base.rs_parallel = pscan;
	if (nkeys > 0)
		scan->rs_base.rs_key = palloc(nkeys * sizeof(ScanKeyData));
	if (pscan != NULL)
		scan->pscan = palloc(sizeof(ParallelBlockTableScanWorkerData));
	scan->table = table;

	/* as heap: such a scan reads the whole relation, as far as conflicts go */
	if (flags & (SO_TYPE_SEQSCAN | SO_TYPE_SAMPLESCAN))
	{
		Assert(snapshot);
		PredicateLockRelation(rel, snapshot);
	}

	init_scan(scan, key);
	return (TableScanDesc) scan;
}

void
dbl_scan_end(TableScanDesc sscan)
{
	DblScanDesc scan = (DblScanDesc) sscan;

	RelationDecrementReferenceCount(sscan->rs_rd);
	if (sscan->rs_key)
		pfree(sscan->rs_key);
	if (scan->pscan)
		pfree(scan->pscan);
	if (sscan->rs_flags & SO_TEMP_SNAPSHOT)
		UnregisterSnapshot(sscan->rs_snapshot);
	pfree(scan);
}

/* There is no buffer strategy and no page mode to change; sync scans: see dbl_parallelscan_initialize. */
void
dbl_scan_rescan(TableScanDesc sscan, ScanKey key, bool set_params,
				bool allow_strat, bool allow_sync, bool allow_pagemode)
{
	init_scan((DblScanDesc) sscan, key);
}

void
dbl_scan_limit(DblScanDesc scan, BlockNumber start, BlockNumber n)
{
	Assert(!scan->inited);

	scan->startblock = Max(start, DBL_METAPAGE_BLKNO + 1);
	scan->endblock = (n >= scan->nblocks || start >= scan->nblocks - n) ? scan->nblocks : start + n;
}

/*
 * Copy what the snapshot sees of block blkno into the batch: at the given offsets,
 * in their order, or at all of them.
 *
 * For a snapshot whose verdict may change, every version in use is taken; who hands them out
 * asks again.
 */
int
dbl_scan_collect(DblScanDesc scan, BlockNumber blkno, const OffsetNumber *offs, int noffs)
{
	Relation	rel = scan->rs_base.rs_rd;
	DblTable   *t = scan->table;
	Snapshot	snapshot = scan->rs_base.rs_snapshot;
	bool		final = verdict_is_final(snapshot);
	bool		serializable;
	uint32		first,
				nslots;
	int			n = offs ? noffs : DBL_RECORDS_PER_PAGE;
	bool		note_dead = !offs && !scan->prune_in_vain && dbl_prune_wanted(snapshot);
	DblSlot		dead[DBL_NOTED_MAX];
	int			ndead = 0;

	scan->block = blkno;
	scan->nbatch = 0;
	if (blkno == DBL_METAPAGE_BLKNO || blkno > DblSlotBlock(DBL_MAX_SLOTS - 1))
		return 0;

	CHECK_FOR_INTERRUPTS();
	DBL_INJECT("scan");

	first = (blkno - 1) * DBL_RECORDS_PER_PAGE;
	dbl_table_lock(rel, t, LW_SHARED);
	serializable = final && CheckForSerializableConflictOutNeeded(rel, snapshot);
	nslots = dbl_nslots(&t->store);
	for (int i = 0; i < n; i++)
	{
		DblSlot		slot = first + (offs ? offs[i] - 1 : i);
		DblVersion *v;

		if (slot >= nslots || (offs && offs[i] > DBL_RECORDS_PER_PAGE))
		{
			if (offs)
				continue;
			break;
		}
		v = dbl_version(&t->store, slot);
		if (!(v->flags & DBL_F_USED))
			continue;
		if (final)
		{
			bool		visible = dbl_visible_plainly(v, snapshot) || dbl_visible(v, snapshot);

			if (unlikely(serializable))
				dbl_predicate_read(rel, v, slot, visible, snapshot);
			if (!visible)
			{
				if (note_dead && ndead < DBL_NOTED_MAX && dbl_perhaps_dead(v) &&
					dbl_is_dead(v, GlobalVisTestFor(rel)))
					dead[ndead++] = slot;
				continue;
			}
		}
		scan->slots[scan->nbatch] = slot;
		scan->batch[scan->nbatch] = *v;
		scan->nbatch++;
	}
	dbl_table_unlock(t);
	if (unlikely(note_dead && ndead >= dbl_prune_dead))
		scan->prune_in_vain = !dbl_prune_noted(rel, t, dead, ndead);
	return scan->nbatch;
}

/* For a snapshot whose verdict may change: is entry `pos` of the batch still to be handed out?  Refreshes the copy. */
static pg_noinline bool
batch_entry_still_visible(DblScanDesc scan, int pos)
{
	Snapshot	snapshot = scan->rs_base.rs_snapshot;
	Relation	rel = scan->rs_base.rs_rd;
	DblTable   *t = scan->table;
	bool		visible = false;
	DblSlot		slot = scan->slots[pos];

	dbl_table_lock(rel, t, LW_SHARED);
	if (slot < dbl_nslots(&t->store))
	{
		DblVersion *v = dbl_version(&t->store, slot);

		if (v->flags & DBL_F_USED)
			visible = dbl_visible(v, snapshot);
		if (visible)
			scan->batch[pos] = *v;
	}
	dbl_table_unlock(t);
	return visible;
}

static inline bool
batch_entry_visible(DblScanDesc scan, int pos)
{
	return verdict_is_final(scan->rs_base.rs_snapshot) || batch_entry_still_visible(scan, pos);
}

/* The scan's own conditions, used by catalogue-like scans from C. */
static bool
keys_match(TableScanDesc sscan, TupleTableSlot *slot)
{
	for (int i = 0; i < sscan->rs_nkeys; i++)
	{
		ScanKey		key = &sscan->rs_key[i];
		bool		isnull;
		Datum		value;

		if (key->sk_flags & SK_ISNULL)
			return false;
		value = slot_getattr(slot, key->sk_attno, &isnull);
		if (isnull ||
			!DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation,
											value, key->sk_argument)))
			return false;
	}
	return true;
}

/* The block after the one in the batch, or the first; InvalidBlockNumber at the end. */
static BlockNumber
next_block(DblScanDesc scan, bool backward)
{
	BlockNumber blkno;

	if (is_parallel(scan))
	{
		Relation	rel = scan->rs_base.rs_rd;
		ParallelBlockTableScanDesc pbscan = (ParallelBlockTableScanDesc) scan->rs_base.rs_parallel;

		/* parallel scans only go forward */
		Assert(!backward);
		if (!scan->inited)
			table_block_parallelscan_startblock_init(rel, scan->pscan, pbscan);
		do
			blkno = table_block_parallelscan_nextpage(rel, scan->pscan, pbscan);
		while (blkno == DBL_METAPAGE_BLKNO);
		return blkno;
	}

	if (scan->startblock >= scan->endblock)
		return InvalidBlockNumber;
	if (!scan->inited)
		return backward ? scan->endblock - 1 : scan->startblock;
	if (backward)
		return scan->block <= scan->startblock ? InvalidBlockNumber : scan->block - 1;
	return scan->block + 1 >= scan->endblock ? InvalidBlockNumber : scan->block + 1;
}

bool
dbl_scan_getnextslot(TableScanDesc sscan, ScanDirection direction, TupleTableSlot *slot)
{
	DblScanDesc scan = (DblScanDesc) sscan;
	bool		backward = ScanDirectionIsBackward(direction);

	if (ScanDirectionIsNoMovement(direction))
		return !TTS_EMPTY(slot);

	for (;;)
	{
		BlockNumber blkno;

		if (scan->inited)
		{
			scan->pos += backward ? -1 : 1;
			if (scan->pos >= 0 && scan->pos < scan->nbatch)
			{
				if (!batch_entry_visible(scan, scan->pos))
					continue;
				dbl_slot_store(slot, sscan->rs_rd, &scan->batch[scan->pos],
							   scan->slots[scan->pos]);
				if (sscan->rs_nkeys > 0 && !keys_match(sscan, slot))
					continue;
				pgstat_count_heap_getnext(sscan->rs_rd);
				return true;
			}
		}

		blkno = next_block(scan, backward);
		if (blkno == InvalidBlockNumber)
		{
			/* the next call, maybe the other way, starts from that end */
			scan->inited = false;
			scan->block = InvalidBlockNumber;
			scan->nbatch = 0;
			ExecClearTuple(slot);
			return false;
		}
		scan->inited = true;
		dbl_scan_collect(scan, blkno, NULL, 0);
		scan->pos = backward ? scan->nbatch : -1;
	}
}

/*
 * Limit the scan to TIDs from mintid to maxtid, both included.  Whole blocks are left out
 * here, the offsets in the outer ones by getnextslot_tidrange.
 */
void
dbl_scan_set_tidrange(TableScanDesc sscan, ItemPointer mintid, ItemPointer maxtid)
{
	DblScanDesc scan = (DblScanDesc) sscan;
	BlockNumber lo = ItemPointerGetBlockNumberNoCheck(mintid);
	BlockNumber hi = ItemPointerGetBlockNumberNoCheck(maxtid);

	ItemPointerCopy(mintid, &sscan->rs_mintid);
	ItemPointerCopy(maxtid, &sscan->rs_maxtid);
	scan->inited = false;
	scan->startblock = Max(lo, DBL_METAPAGE_BLKNO + 1);
	scan->endblock = hi < scan->nblocks ? hi + 1 : scan->nblocks;
}

bool
dbl_scan_getnextslot_tidrange(TableScanDesc sscan, ScanDirection direction, TupleTableSlot *slot)
{
	while (dbl_scan_getnextslot(sscan, direction, slot))
	{
		bool		below = ItemPointerCompare(&slot->tts_tid, &sscan->rs_mintid) < 0;
		bool		above = ItemPointerCompare(&slot->tts_tid, &sscan->rs_maxtid) > 0;

		if (!below && !above)
			return true;
		/* blocks were chosen, so only a few at either end are out of range */
	}
	ExecClearTuple(slot);
	return false;
}

bool
dbl_scan_bitmap_next_block(TableScanDesc sscan, TBMIterateResult *tbmres)
{
	DblScanDesc scan = (DblScanDesc) sscan;

	scan->pos = -1;
	if (tbmres->ntuples >= 0)
		return dbl_scan_collect(scan, tbmres->blockno, tbmres->offsets, tbmres->ntuples) > 0;
	return dbl_scan_collect(scan, tbmres->blockno, NULL, 0) > 0;
}

bool
dbl_scan_bitmap_next_tuple(TableScanDesc sscan, TBMIterateResult *tbmres, TupleTableSlot *slot)
{
	DblScanDesc scan = (DblScanDesc) sscan;

	while (++scan->pos < scan->nbatch)
	{
		if (!batch_entry_visible(scan, scan->pos))
			continue;
		dbl_slot_store(slot, sscan->rs_rd, &scan->batch[scan->pos], scan->slots[scan->pos]);
		pgstat_count_heap_fetch(sscan->rs_rd);
		return true;
	}
	return false;
}
