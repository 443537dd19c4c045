/*-------------------------------------------------------------------------
 *
 * analyze.c
 *	  What the planner is told: ANALYZE's sample, and the size of the table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/transam.h"
#include "access/xact.h"
#include "optimizer/plancat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "shared/inject.h"
#include "table/fetch.h"
#include "table/maintain.h"
#include "table/scan.h"

/* Fewer blocks than this are not believed of a table that was never vacuumed or analyzed. */
#define MIN_UNKNOWN_BLOCKS	10

bool
dbl_scan_analyze_next_block(TableScanDesc sscan, BlockNumber blockno,
							BufferAccessStrategy bstrategy)
{
	DblScanDesc scan = (DblScanDesc) sscan;

	if (blockno == DBL_METAPAGE_BLKNO)
		return false;
	scan->block = blockno;
	scan->nbatch = 0;
	scan->pos = 0;
	scan->next_off = FirstOffsetNumber; /* the block has not been read */
	return true;
}

/*
 * Count the block's rows and collect those to sample, by heap's rules: what is
 * in progress has not happened yet, unless it is our own doing.
 */
static void
collect_sample(DblScanDesc scan, TransactionId oldest_xmin, double *liverows, double *deadrows)
{
	DblTable   *t = scan->table;
	uint32		first = (scan->block - 1) * DBL_RECORDS_PER_PAGE;
	uint32		end;

	DBL_INJECT("analyze");
	dbl_table_lock(scan->rs_base.rs_rd, t, LW_SHARED);
	end = Min(first + DBL_RECORDS_PER_PAGE, dbl_nslots(&t->store));
	for (DblSlot slot = first; slot < end; slot++)
	{
		DblVersion *v = dbl_version(&t->store, slot);
		bool		sample = false;

		if (!(v->flags & DBL_F_USED))
			continue;
		switch (dbl_satisfies_vacuum(v, oldest_xmin))
		{
			case HEAPTUPLE_LIVE:
				sample = true;
				break;
			case HEAPTUPLE_DEAD:
			case HEAPTUPLE_RECENTLY_DEAD:
				*deadrows += 1;
				break;
			case HEAPTUPLE_INSERT_IN_PROGRESS:
				/* somebody else's commit will add it to the statistics */
				sample = TransactionIdIsCurrentTransactionId(v->xmin);
				break;
			case HEAPTUPLE_DELETE_IN_PROGRESS:
				if (TransactionIdIsCurrentTransactionId(dbl_update_xid(v)))
					*deadrows += 1;
				else
					sample = true;
				break;
		}
		if (sample)
		{
			*liverows += 1;
			scan->slots[scan->nbatch] = slot;
			scan->batch[scan->nbatch] = *v;
			scan->nbatch++;
		}
	}
	dbl_table_unlock(t);
}

bool
dbl_scan_analyze_next_tuple(TableScanDesc sscan, TransactionId oldest_xmin,
							double *liverows, double *deadrows, TupleTableSlot *slot)
{
	DblScanDesc scan = (DblScanDesc) sscan;

	if (scan->next_off == FirstOffsetNumber)
	{
		collect_sample(scan, oldest_xmin, liverows, deadrows);
		scan->next_off = DBL_RECORDS_PER_PAGE + 1;
	}
	if (scan->pos >= scan->nbatch)
	{
		ExecClearTuple(slot);
		return false;
	}
	dbl_slot_store(slot, sscan->rs_rd, &scan->batch[scan->pos], scan->slots[scan->pos]);
	scan->pos++;
	return true;
}

/*
 * Blocks and rows, for the planner.
 *
 * A loaded store knows how many versions it holds; that is not asked of one
 * that would have to be loaded for it.  As with heap, a table that nobody has
 * vacuumed or analyzed yet is not believed to be small: a plan made for an empty
 * table may be kept and used on a full one.
 *
 * Index-only scans never fetch more than what the index has in its hands, so to the
 * planner every page is all-visible.
 */
void
dbl_relation_estimate_size(Relation rel, int32 *attr_widths, BlockNumber *pages,
						   double *tuples, double *allvisfrac)
{
	BlockNumber curpages = RelationGetNumberOfBlocks(rel);
	double		reltuples = rel->rd_rel->reltuples;
	BlockNumber relpages = rel->rd_rel->relpages;
	DblTable   *t = dbl_table_open(rel);
	DblTableInfo info;
	bool		unknown = reltuples < 0 && !rel->rd_rel->relhassubclass &&
		curpages < MIN_UNKNOWN_BLOCKS;

	*allvisfrac = 1.0;
	*pages = unknown ? MIN_UNKNOWN_BLOCKS : curpages;

	dbl_table_info(t, &info);
	if (unknown)
		*tuples = (double) MIN_UNKNOWN_BLOCKS * DBL_RECORDS_PER_PAGE;
	else if (curpages <= DBL_METAPAGE_BLKNO + 1)
		*tuples = 0;
	else if (info.loaded)
	{
		DblStoreStats stats;

		dbl_table_lock(rel, t, LW_SHARED);
		dbl_store_stats(&t->store, &stats);
		dbl_table_unlock(t);
		*tuples = stats.used;
	}
	else if (reltuples >= 0 && relpages > DBL_METAPAGE_BLKNO + 1)
		*tuples = rint(reltuples / (relpages - 1) * (curpages - 1));
	else
		*tuples = (double) (curpages - 1) * DBL_RECORDS_PER_PAGE;
}
