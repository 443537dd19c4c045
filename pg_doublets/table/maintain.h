/*-------------------------------------------------------------------------
 *
 * maintain.h
 *	  Callbacks that look after a table as a whole: vacuum, analyze, index
 *	  builds, cluster, sampling, size estimates.
 *
 * See MAINTENANCE.md for the rules by which slots are freed and versions frozen.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_MAINTAIN_H
#define DBL_MAINTAIN_H

#include "postgres.h"

#include "access/multixact.h"
#include "access/tableam.h"
#include "nodes/execnodes.h"

#include "table/table.h"

struct VacuumParams;
struct ValidateIndexState;

/* vacuum.c */
extern void dbl_relation_vacuum(Relation rel, struct VacuumParams *params,
								BufferAccessStrategy bstrategy);

/* analyze.c */
extern bool dbl_scan_analyze_next_block(TableScanDesc sscan, BlockNumber blockno,
										BufferAccessStrategy bstrategy);
extern bool dbl_scan_analyze_next_tuple(TableScanDesc sscan, TransactionId oldest_xmin,
										double *liverows, double *deadrows,
										TupleTableSlot *slot);
extern void dbl_relation_estimate_size(Relation rel, int32 *attr_widths, BlockNumber *pages,
									   double *tuples, double *allvisfrac);

/* build.c */
extern double dbl_index_build_range_scan(Relation rel, Relation index, struct IndexInfo *info,
										 bool allow_sync, bool anyvisible, bool progress,
										 BlockNumber start_blockno, BlockNumber numblocks,
										 IndexBuildCallback callback, void *callback_state,
										 TableScanDesc sscan);
extern void dbl_index_validate_scan(Relation rel, Relation index, struct IndexInfo *info,
									Snapshot snapshot, struct ValidateIndexState *state);

/* cluster.c */
extern void dbl_relation_copy_for_cluster(Relation old, Relation new, Relation index,
										  bool use_sort, TransactionId oldest_xmin,
										  TransactionId *xid_cutoff, MultiXactId *multi_cutoff,
										  double *num_tuples, double *tups_vacuumed,
										  double *tups_recently_dead);

/* sample.c */
extern bool dbl_scan_sample_next_block(TableScanDesc sscan, SampleScanState *scanstate);
extern bool dbl_scan_sample_next_tuple(TableScanDesc sscan, SampleScanState *scanstate,
									   TupleTableSlot *slot);

/* truncate.c */
extern bool dbl_tail_worth_truncating(BlockNumber nblocks, BlockNumber nonempty);
extern BlockNumber dbl_truncate_tail(Relation rel, BlockNumber nblocks, BlockNumber nonempty,
									 int elevel);

/* --- freeze.c ------------------------------------------------------------- */

/* What is old, and what the table's catalog entry promised so far. */
typedef struct DblFreezeCutoffs
{
	TransactionId relfrozenxid; /* nothing may be older, or data is corrupt */
	MultiXactId relminmxid;
	TransactionId freeze_limit; /* older xids are frozen */
	MultiXactId multi_cutoff;	/* older multis are replaced */
} DblFreezeCutoffs;

/* Oldest of what stays; starts at the vacuum's OldestXmin and OldestMxact. */
typedef struct DblOldest
{
	TransactionId xid;
	MultiXactId multi;
} DblOldest;

extern void dbl_spare_old_snapshots(Relation rel, TransactionId *oldest_xmin,
									TransactionId *freeze_limit);
extern bool dbl_freeze_version(DblVersion *v, const DblFreezeCutoffs *cutoffs, DblOldest *oldest);
extern bool dbl_bury_version(DblVersion *v, const DblFreezeCutoffs *cutoffs, DblOldest *oldest);

#endif							/* DBL_MAINTAIN_H */
