/*-------------------------------------------------------------------------
 *
 * scan.h
 *	  Descriptor of a table scan, shared by the scan callbacks.
 *
 * A scan works block by block: under one shared lock it copies the versions of a block that its
 * snapshot sees, and hands them out without the lock.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_SCAN_H
#define DBL_SCAN_H

#include "table/table.h"

typedef struct DblScanDescData
{
	TableScanDescData rs_base;	/* must be first */
	DblTable   *table;
	BlockNumber nblocks;		/* blocks of the file at the start, metapage included */
	BlockNumber startblock;		/* limits, set by scan_set_tidrange and by index builds */
	BlockNumber endblock;		/* first block not to be read */
	bool		inited;
	bool		prune_in_vain;	/* dead versions cannot be freed: note no more */
	BlockNumber block;			/* block in the batch */
	OffsetNumber next_off;		/* where a one-by-one scan goes on in the block */
	ParallelBlockTableScanWorkerData *pscan;

	/* versions of `block` that the snapshot sees, in slot order */
	int			nbatch;
	int			pos;			/* last one handed out */
	DblSlot		slots[DBL_RECORDS_PER_PAGE];
	DblVersion	batch[DBL_RECORDS_PER_PAGE];
} DblScanDescData;

typedef DblScanDescData *DblScanDesc;

/*
 * Fill the batch with the versions of a block that the scan's snapshot sees; offs NULL: all offsets.
 * Takes and releases the store lock.  Returns their number.
 */
extern int	dbl_scan_collect(DblScanDesc scan, BlockNumber blkno, const OffsetNumber *offs, int noffs);

extern TableScanDesc dbl_scan_begin(Relation rel, Snapshot snapshot, int nkeys, struct ScanKeyData *key,
									ParallelTableScanDesc pscan, uint32 flags);
extern void dbl_scan_end(TableScanDesc sscan);
extern void dbl_scan_rescan(TableScanDesc sscan, struct ScanKeyData *key, bool set_params,
							bool allow_strat, bool allow_sync, bool allow_pagemode);
extern bool dbl_scan_getnextslot(TableScanDesc sscan, ScanDirection direction, TupleTableSlot *slot);
extern void dbl_scan_set_tidrange(TableScanDesc sscan, ItemPointer mintid, ItemPointer maxtid);
extern bool dbl_scan_getnextslot_tidrange(TableScanDesc sscan, ScanDirection direction, TupleTableSlot *slot);
extern bool dbl_scan_bitmap_next_block(TableScanDesc sscan, struct TBMIterateResult *tbmres);
extern bool dbl_scan_bitmap_next_tuple(TableScanDesc sscan, struct TBMIterateResult *tbmres, TupleTableSlot *slot);

/* Limit a scan that has not begun to blocks start .. start + n - 1 of the file. */
extern void dbl_scan_limit(DblScanDesc scan, BlockNumber start, BlockNumber n);

/* fetch.c */
extern IndexFetchTableData *dbl_index_fetch_begin(Relation rel);
extern void dbl_index_fetch_reset(IndexFetchTableData *data);
extern void dbl_index_fetch_end(IndexFetchTableData *data);
extern bool dbl_index_fetch_tuple(IndexFetchTableData *data, ItemPointer tid, Snapshot snapshot,
								  TupleTableSlot *slot, bool *call_again, bool *all_dead);
extern bool dbl_fetch_row_version(Relation rel, ItemPointer tid, Snapshot snapshot, TupleTableSlot *slot);
extern bool dbl_tid_valid(TableScanDesc sscan, ItemPointer tid);
extern void dbl_get_latest_tid(TableScanDesc sscan, ItemPointer tid);
extern bool dbl_satisfies_snapshot(Relation rel, TupleTableSlot *slot, Snapshot snapshot);
extern TransactionId dbl_index_delete_tuples(Relation rel, TM_IndexDeleteOp *delstate);

#endif							/* DBL_SCAN_H */
