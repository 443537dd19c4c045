/*-------------------------------------------------------------------------
 *
 * sample.c
 *	  TABLESAMPLE.
 *
 * The sampling method chooses blocks and offsets.  As a sequential scan does,
 * a block's visible versions are collected at once under one lock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tsmapi.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "pgstat.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "table/maintain.h"
#include "table/scan.h"

bool
dbl_scan_sample_next_block(TableScanDesc sscan, SampleScanState *scanstate)
{
	DblScanDesc scan = (DblScanDesc) sscan;
	TsmRoutine *tsm = scanstate->tsmroutine;
	BlockNumber blkno;

	if (scan->nblocks == 0)
		return false;

	if (tsm->NextSampleBlock)
		blkno = tsm->NextSampleBlock(scanstate, scan->nblocks);
	else if (!scan->inited)
		blkno = DBL_METAPAGE_BLKNO;
	else
	{
		blkno = scan->block + 1;
		if (blkno >= scan->nblocks)
			blkno = InvalidBlockNumber;
	}

	if (!BlockNumberIsValid(blkno))
	{
		scan->inited = false;
		scan->block = InvalidBlockNumber;
		scan->nbatch = 0;
		return false;
	}
	dbl_scan_collect(scan, blkno, NULL, 0);
	scan->inited = true;
	scan->pos = 0;
	return true;
}

/* Where in the batch the version with this number is; -1: nowhere. */
static int
find_in_batch(DblScanDesc scan, DblSlot slot)
{
	int			lo = 0;
	int			hi = scan->nbatch;

	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;

		if (scan->slots[mid] < slot)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < scan->nbatch && scan->slots[lo] == slot ? lo : -1;
}

bool
dbl_scan_sample_next_tuple(TableScanDesc sscan, SampleScanState *scanstate, TupleTableSlot *slot)
{
	DblScanDesc scan = (DblScanDesc) sscan;
	TsmRoutine *tsm = scanstate->tsmroutine;
	/* the metapage has no rows, but the method wants to be told when its turn is over */
	OffsetNumber maxoff = scan->block == DBL_METAPAGE_BLKNO ? 0 : DBL_RECORDS_PER_PAGE;

	for (;;)
	{
		OffsetNumber off;
		ItemPointerData tid;
		int			i;

		CHECK_FOR_INTERRUPTS();

		off = tsm->NextSampleTuple(scanstate, scan->block, maxoff);
		if (!OffsetNumberIsValid(off))
		{
			ExecClearTuple(slot);
			return false;
		}
		ItemPointerSet(&tid, scan->block, off);
		i = find_in_batch(scan, DblTidToSlot(&tid));
		if (i < 0)
			continue;
		if (IsMVCCSnapshot(sscan->rs_snapshot))
			dbl_slot_store(slot, sscan->rs_rd, &scan->batch[i], scan->slots[i]);
		else if (!dbl_fetch_row_version(sscan->rs_rd, &tid, sscan->rs_snapshot, slot))
			continue;
		pgstat_count_heap_getnext(sscan->rs_rd);
		return true;
	}
}
