/*-------------------------------------------------------------------------
 *
 * vacuum.c
 *	  VACUUM: free the slots of dead versions, freeze old ones, tell the
 *	  statistics.
 *
 * The plan is that of access/heap/vacuumlazy.c.  Where the table has real
 * indexes it takes two passes: collect the TIDs of dead versions, clean the
 * indexes of them, free the slots; in several rounds if memory is short.  Where
 * all indexes are native there is nothing to clean first, and a block is done
 * at once.
 *
 * The table is locked with ShareUpdateExclusiveLock.  The store lock is held
 * for one block at a time, and shared unless the block needs a change.  There
 * is no visibility map: every block is looked at, so relfrozenxid and
 * relminmxid always move on as far as they can.  See MAINTENANCE.md.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/multixact.h"
#include "access/transam.h"
#include "access/xact.h"
#include "commands/dbcommands.h"
#include "commands/progress.h"
#include "commands/vacuum.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/autovacuum.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/pg_rusage.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "index/index.h"
#include "shared/inject.h"
#include "table/fetch.h"
#include "table/maintain.h"

/* Look for the need of the failsafe each time that many blocks have been read. */
#define FAILSAFE_EVERY_BLOCKS	((BlockNumber) 65536)

typedef enum VacuumPhase
{
	PHASE_UNKNOWN,
	PHASE_SCAN,
	PHASE_INDEX,
	PHASE_PRUNE,
	PHASE_CLEANUP,
	PHASE_TRUNCATE
} VacuumPhase;

typedef struct VacuumState
{
	Relation	rel;
	DblTable   *table;
	int			nindexes;
	Relation   *indexes;
	IndexBulkDeleteResult **indstats;
	Oid			native_am;
	BufferAccessStrategy bstrategy;

	/* what to do */
	bool		aggressive;
	bool		verbose;
	bool		one_pass;		/* no index to clean before slots are freed */
	bool		do_index_vacuuming;
	bool		do_index_cleanup;
	bool		do_truncate;
	bool		failsafe;		/* wraparound is near: nothing but freezing */

	TransactionId oldest_xmin;
	DblFreezeCutoffs cutoffs;
	DblOldest	oldest;			/* of what stays in the table */
	DblOldest	oldest_dead;	/* of the dead that have been collected, if they stay */
	DblOldest	oldest_start;	/* what both begin with */

	/* TIDs of dead versions; two passes only */
	VacDeadItems *dead_items;
	ParallelVacuumState *pvs;

	/* numbers */
	BlockNumber rel_pages;
	BlockNumber removed_pages;
	BlockNumber nonempty_pages; /* blocks up to the last one with a version */
	BlockNumber dead_pages;		/* blocks with dead versions */
	int			num_index_scans;
	int64		tuples_deleted;
	int64		dead_tuples;	/* found, whether deleted or not */
	int64		live_tuples;
	int64		recently_dead_tuples;
	double		new_live_tuples;
	double		new_rel_tuples;

	/* for errcontext */
	char	   *relnamespace;
	char	   *relname;
	char	   *indname;
	VacuumPhase phase;
	BlockNumber blkno;
} VacuumState;

/* What a look at a block has found. */
typedef struct BlockState
{
	bool		has_versions;	/* some stay */
	int			nlive;
	int			nrecently_dead;
	int			ndead;
	DblSlot		dead[DBL_RECORDS_PER_PAGE];
	TransactionId horizon;		/* of the dead */
	int			nfreeze;
	DblFreeze	freeze[DBL_RECORDS_PER_PAGE];
	TransactionId freeze_horizon;	/* newest xid that made a buried version dead */
	DblOldest	oldest;
	DblOldest	oldest_dead;
} BlockState;

static void
vacuum_error_callback(void *arg)
{
	VacuumState *vac = arg;

	switch (vac->phase)
	{
		case PHASE_SCAN:
			if (BlockNumberIsValid(vac->blkno))
				errcontext("while scanning block %u of relation \"%s.%s\"",
						   vac->blkno, vac->relnamespace, vac->relname);
			else
				errcontext("while scanning relation \"%s.%s\"",
						   vac->relnamespace, vac->relname);
			break;
		case PHASE_PRUNE:
			if (BlockNumberIsValid(vac->blkno))
				errcontext("while vacuuming block %u of relation \"%s.%s\"",
						   vac->blkno, vac->relnamespace, vac->relname);
			else
				errcontext("while vacuuming relation \"%s.%s\"",
						   vac->relnamespace, vac->relname);
			break;
		case PHASE_INDEX:
			errcontext("while vacuuming index \"%s\" of relation \"%s.%s\"",
					   vac->indname, vac->relnamespace, vac->relname);
			break;
		case PHASE_CLEANUP:
			errcontext("while cleaning up index \"%s\" of relation \"%s.%s\"",
					   vac->indname, vac->relnamespace, vac->relname);
			break;
		case PHASE_TRUNCATE:
			errcontext("while truncating relation \"%s.%s\" to %u blocks",
					   vac->relnamespace, vac->relname, vac->blkno);
			break;
		case PHASE_UNKNOWN:
			break;
	}
}

/*
 * Is the table so close to wraparound that only freezing counts?  Then index work is
 * given up, once and for all.
 */
static bool
check_failsafe(VacuumState *vac)
{
	if (vac->failsafe)
		return true;
	if (likely(!vacuum_xid_failsafe_check(vac->cutoffs.relfrozenxid, vac->cutoffs.relminmxid)))
		return false;

	vac->failsafe = true;
	vac->do_index_vacuuming = false;
	vac->do_index_cleanup = false;
	vac->do_truncate = false;
	ereport(WARNING,
			(errmsg("bypassing nonessential maintenance of table \"%s.%s.%s\" as a failsafe after %d index scans",
					get_database_name(MyDatabaseId), vac->relnamespace, vac->relname,
					vac->num_index_scans),
			 errdetail("The table's relfrozenxid or relminmxid is too far in the past."),
			 errhint("Consider increasing configuration parameter \"maintenance_work_mem\" or \"autovacuum_work_mem\".\n"
					 "You might also need to consider other ways for VACUUM to keep up with the allocation of transaction IDs.")));

	/* no more naps */
	VacuumCostActive = false;
	VacuumCostBalance = 0;
	return true;
}

/* --- dead TIDs --------------------------------------------------------------- */

static void
warn_not_parallel(VacuumState *vac)
{
	ereport(WARNING,
			(errmsg("disabling parallel option of vacuum on \"%s\" --- cannot vacuum temporary tables in parallel",
					vac->relname)));
}

static void
dead_items_alloc(VacuumState *vac, int nworkers)
{
	int			work_mem = IsAutoVacuumWorkerProcess() && autovacuum_work_mem != -1 ?
		autovacuum_work_mem : maintenance_work_mem;
	int64		max_items;

	if (vac->one_pass)
	{
		if (nworkers > 0 && vac->nindexes > 1 && RelationUsesLocalBuffers(vac->rel))
			warn_not_parallel(vac);
		return;
	}

	max_items = MAXDEADITEMS(work_mem * 1024L);
	max_items = Min(max_items, INT_MAX);
	max_items = Min(max_items, MAXDEADITEMS(MaxAllocSize));
	if ((BlockNumber) (max_items / DBL_RECORDS_PER_PAGE) > vac->rel_pages)
		max_items = (int64) vac->rel_pages * DBL_RECORDS_PER_PAGE;
	/* a block's worth at least */
	max_items = Max(max_items, (int64) DBL_RECORDS_PER_PAGE);

	if (nworkers >= 0 && vac->nindexes > 1 && vac->do_index_vacuuming)
	{
		if (!RelationUsesLocalBuffers(vac->rel))
			vac->pvs = parallel_vacuum_init(vac->rel, vac->indexes, vac->nindexes, nworkers,
											(int) max_items, vac->verbose ? INFO : DEBUG2,
											vac->bstrategy);
		else if (nworkers > 0)
			warn_not_parallel(vac);
		if (vac->pvs != NULL)
		{
			vac->dead_items = parallel_vacuum_get_dead_items(vac->pvs);
			return;
		}
	}

	vac->dead_items = palloc_extended(vac_max_items_to_alloc_size((int) max_items), 0);
	vac->dead_items->max_items = (int) max_items;
	vac->dead_items->num_items = 0;
}

/* --- one block ----------------------------------------------------------------- */

/*
 * Look at the versions of a block, store lock held.  Found under the exclusive
 * lock the answer can be acted upon; under the shared one it tells whether
 * there is anything to do.
 *
 * What counts as live agrees with dbl_scan_analyze_next_tuple(), or VACUUM and
 * ANALYZE would disagree about reltuples.
 */
static void
look_at_block(VacuumState *vac, BlockNumber blkno, BlockState *b)
{
	DblStore   *store = &vac->table->store;
	uint32		first = (blkno - 1) * DBL_RECORDS_PER_PAGE;
	uint32		end = Min(first + DBL_RECORDS_PER_PAGE, dbl_nslots(store));

	b->has_versions = false;
	b->nlive = b->nrecently_dead = b->ndead = b->nfreeze = 0;
	b->horizon = b->freeze_horizon = InvalidTransactionId;
	b->oldest = vac->oldest;
	b->oldest_dead = vac->oldest_dead;

	for (DblSlot slot = first; slot < end; slot++)
	{
		DblVersion *v = dbl_version(store, slot);
		DblVersion	copy;
		bool		changed;

		if (!(v->flags & DBL_F_USED))
			continue;

		switch (dbl_satisfies_vacuum(v, vac->oldest_xmin))
		{
			case HEAPTUPLE_DEAD:
				b->dead[b->ndead++] = slot;
				dbl_advance_horizon(v, &b->horizon);
				if (vac->one_pass)
					continue;
				break;
			case HEAPTUPLE_LIVE:
				b->nlive++;
				b->has_versions = true;
				break;
			case HEAPTUPLE_RECENTLY_DEAD:
				b->nrecently_dead++;
				b->has_versions = true;
				break;
			case HEAPTUPLE_INSERT_IN_PROGRESS:
				/* the inserter will add it to the statistics when it commits */
				b->has_versions = true;
				break;
			case HEAPTUPLE_DELETE_IN_PROGRESS:
				/* as if it had not begun */
				b->nlive++;
				b->has_versions = true;
				break;
		}

		copy = *v;
		if (b->ndead > 0 && b->dead[b->ndead - 1] == slot)
		{
			changed = dbl_bury_version(&copy, &vac->cutoffs, &b->oldest_dead);
			if (changed)
				dbl_advance_horizon(v, &b->freeze_horizon);
		}
		else
			changed = dbl_freeze_version(&copy, &vac->cutoffs, &b->oldest);
		if (changed)
		{
			DblFreeze  *f = &b->freeze[b->nfreeze++];

			f->slot = slot;
			f->xmax = copy.xmax;
			f->flags = copy.flags;
		}
	}
}

/*
 * Remember the dead of a block, or free them at once; freeze what is old.
 */
static void
scan_block(VacuumState *vac, BlockNumber blkno, BlockState *b)
{
	DblTable   *t = vac->table;

	DBL_INJECT("vacuum-block");

	/*
	 * Most blocks of a quiet table need nothing.  Only if this one does, take
	 * the lock that keeps readers out, and look again.
	 */
	dbl_table_lock(vac->rel, t, LW_SHARED);
	look_at_block(vac, blkno, b);
	dbl_table_unlock(t);

	if (b->nfreeze > 0 || (vac->one_pass && b->ndead > 0))
	{
		dbl_table_lock(vac->rel, t, LW_EXCLUSIVE);
		look_at_block(vac, blkno, b);
		if (b->nfreeze > 0)
		{
			TransactionId cutoff = vac->cutoffs.freeze_limit;

			/* freezing concerns xids before the cutoff; burying is a removal */
			if (TransactionIdIsValid(b->freeze_horizon) &&
				TransactionIdFollowsOrEquals(b->freeze_horizon, cutoff))
			{
				cutoff = b->freeze_horizon;
				TransactionIdAdvance(cutoff);
			}
			dbl_write_freeze(vac->rel, t, blkno, b->freeze, b->nfreeze, cutoff);
		}
		if (vac->one_pass && b->ndead > 0)
			dbl_write_prune(vac->rel, t, blkno, b->dead, b->ndead, b->horizon);
		dbl_table_unlock(t);
		if (VacuumCostActive)
			VacuumCostBalance += VacuumCostPageDirty;
	}

	vac->oldest = b->oldest;
	vac->oldest_dead = b->oldest_dead;
	vac->live_tuples += b->nlive;
	vac->recently_dead_tuples += b->nrecently_dead;
	if (b->has_versions)
		vac->nonempty_pages = blkno + 1;
	if (b->ndead > 0)
	{
		vac->dead_pages++;
		vac->dead_tuples += b->ndead;
	}
	if (vac->one_pass)
		vac->tuples_deleted += b->ndead;
	else if (vac->do_index_vacuuming)
	{
		VacDeadItems *dead = vac->dead_items;

		for (int i = 0; i < b->ndead; i++)
			DblSlotToTid(b->dead[i], &dead->items[dead->num_items++]);
		Assert(dead->num_items <= dead->max_items);
		pgstat_progress_update_param(PROGRESS_VACUUM_NUM_DEAD_TUPLES, dead->num_items);
	}
}

/* --- indexes --------------------------------------------------------------------- */

static void
fill_index_info(VacuumState *vac, Relation index, IndexVacuumInfo *info)
{
	info->index = index;
	info->analyze_only = false;
	info->report_progress = false;
	info->message_level = DEBUG2;
	info->strategy = vac->bstrategy;
}

/* Take the collected TIDs out of every index.  False: the failsafe stopped it halfway. */
static bool
vacuum_indexes(VacuumState *vac)
{
	bool		all = true;

	DBL_INJECT("vacuum-indexes");
	if (check_failsafe(vac))
		return false;

	pgstat_progress_update_param(PROGRESS_VACUUM_PHASE, PROGRESS_VACUUM_PHASE_VACUUM_INDEX);
	if (vac->pvs != NULL)
	{
		parallel_vacuum_bulkdel_all_indexes(vac->pvs, vac->rel->rd_rel->reltuples,
											vac->num_index_scans);
		if (check_failsafe(vac))
			all = false;
	}
	else
	{
		for (int i = 0; i < vac->nindexes; i++)
		{
			Relation	index = vac->indexes[i];
			IndexVacuumInfo info;

			/* ours hold nothing that could be deleted */
			if (index->rd_rel->relam == vac->native_am)
				continue;

			fill_index_info(vac, index, &info);
			info.estimated_count = true;
			info.num_heap_tuples = vac->rel->rd_rel->reltuples;
			vac->indname = RelationGetRelationName(index);
			vac->phase = PHASE_INDEX;
			vac->indstats[i] = vac_bulkdel_one_index(&info, vac->indstats[i], vac->dead_items);
			vac->phase = PHASE_SCAN;
			if (check_failsafe(vac))
			{
				all = false;
				break;
			}
		}
	}

	vac->num_index_scans++;
	pgstat_progress_update_param(PROGRESS_VACUUM_NUM_INDEX_VACUUMS, vac->num_index_scans);
	return all;
}

static void
cleanup_indexes(VacuumState *vac)
{
	pgstat_progress_update_param(PROGRESS_VACUUM_PHASE, PROGRESS_VACUUM_PHASE_INDEX_CLEANUP);
	if (vac->pvs != NULL)
	{
		parallel_vacuum_cleanup_all_indexes(vac->pvs, vac->new_rel_tuples,
											vac->num_index_scans, false);
		return;
	}
	for (int i = 0; i < vac->nindexes; i++)
	{
		Relation	index = vac->indexes[i];
		IndexVacuumInfo info;

		fill_index_info(vac, index, &info);
		info.estimated_count = false;
		info.num_heap_tuples = vac->new_rel_tuples;
		vac->indname = RelationGetRelationName(index);
		vac->phase = PHASE_CLEANUP;
		vac->indstats[i] = vac_cleanup_one_index(&info, vac->indstats[i]);
		vac->phase = PHASE_SCAN;
	}
}

static void
update_index_stats(VacuumState *vac)
{
	for (int i = 0; i < vac->nindexes; i++)
	{
		IndexBulkDeleteResult *stat = vac->indstats[i];

		if (stat == NULL || stat->estimated_count)
			continue;
		vac_update_relstats(vac->indexes[i], stat->num_pages, stat->num_index_tuples, 0, false,
							InvalidTransactionId, InvalidMultiXactId, NULL, NULL, false);
	}
}

/* --- second pass ------------------------------------------------------------------ */

/*
 * Free the slots whose TIDs were collected and are in no index any more.
 */
static void
prune_dead_items(VacuumState *vac)
{
	VacDeadItems *dead = vac->dead_items;
	DblTable   *t = vac->table;
	int			i = 0;

	pgstat_progress_update_param(PROGRESS_VACUUM_PHASE, PROGRESS_VACUUM_PHASE_VACUUM_HEAP);
	vac->phase = PHASE_PRUNE;

	while (i < dead->num_items)
	{
		BlockNumber blkno = ItemPointerGetBlockNumber(&dead->items[i]);
		TransactionId horizon = InvalidTransactionId;
		DblSlot		slots[DBL_RECORDS_PER_PAGE];
		int			n = 0;

		vac->blkno = blkno;
		vacuum_delay_point();
		DBL_INJECT("vacuum-prune");

		dbl_table_lock(vac->rel, t, LW_EXCLUSIVE);
		for (; i < dead->num_items && ItemPointerGetBlockNumber(&dead->items[i]) == blkno; i++)
		{
			DblSlot		slot = DblTidToSlot(&dead->items[i]);
			DblVersion *v = dbl_version_or_null(t, slot);

			/*
			 * Dead stays dead, and nobody else frees slots of a table that has
			 * real indexes; look all the same before throwing a row away.
			 */
			if (v == NULL || dbl_satisfies_vacuum(v, vac->oldest_xmin) != HEAPTUPLE_DEAD)
			{
				Assert(false);
				continue;
			}
			dbl_advance_horizon(v, &horizon);
			slots[n++] = slot;
		}
		if (n > 0)
			dbl_write_prune(vac->rel, t, blkno, slots, n, horizon);
		dbl_table_unlock(t);

		vac->tuples_deleted += n;
		if (VacuumCostActive)
			VacuumCostBalance += VacuumCostPageDirty;
	}

	vac->blkno = InvalidBlockNumber;
	vac->phase = PHASE_SCAN;
}

/* One round: indexes, then slots.  Forgets the collected TIDs in any case. */
static void
vacuum_round(VacuumState *vac)
{
	if (vac->do_index_vacuuming && vacuum_indexes(vac))
	{
		prune_dead_items(vac);
		vac->oldest_dead = vac->oldest_start;
	}
	else
	{
		/* they stay, and so does what they hold */
		if (TransactionIdPrecedes(vac->oldest_dead.xid, vac->oldest.xid))
			vac->oldest.xid = vac->oldest_dead.xid;
		if (MultiXactIdPrecedes(vac->oldest_dead.multi, vac->oldest.multi))
			vac->oldest.multi = vac->oldest_dead.multi;
	}
	if (vac->dead_items != NULL)
		vac->dead_items->num_items = 0;
}

/* --- the whole table --------------------------------------------------------------- */

static void
scan_table(VacuumState *vac)
{
	static const int index[] = {
		PROGRESS_VACUUM_PHASE,
		PROGRESS_VACUUM_TOTAL_HEAP_BLKS,
		PROGRESS_VACUUM_MAX_DEAD_TUPLES
	};
	int64		value[3];
	BlockNumber next_failsafe = 0;
	BlockNumber blkno;
	BlockState *b = palloc(sizeof(BlockState));

	value[0] = PROGRESS_VACUUM_PHASE_SCAN_HEAP;
	value[1] = vac->rel_pages;
	value[2] = vac->dead_items ? vac->dead_items->max_items : DBL_RECORDS_PER_PAGE;
	pgstat_progress_update_multi_param(3, index, value);

	vac->phase = PHASE_SCAN;
	for (blkno = DBL_METAPAGE_BLKNO + 1; blkno < vac->rel_pages; blkno++)
	{
		pgstat_progress_update_param(PROGRESS_VACUUM_HEAP_BLKS_SCANNED, blkno);
		vac->blkno = blkno;
		if (VacuumCostActive)
			VacuumCostBalance += VacuumCostPageHit;
		vacuum_delay_point();

		if (blkno - next_failsafe >= FAILSAFE_EVERY_BLOCKS)
		{
			check_failsafe(vac);
			next_failsafe = blkno;
		}

		/* make room for the dead of one more block */
		if (vac->dead_items != NULL && vac->do_index_vacuuming &&
			vac->dead_items->max_items - vac->dead_items->num_items < DBL_RECORDS_PER_PAGE)
		{
			vac->blkno = InvalidBlockNumber;
			vacuum_round(vac);
			pgstat_progress_update_param(PROGRESS_VACUUM_PHASE,
										 PROGRESS_VACUUM_PHASE_SCAN_HEAP);
			vac->blkno = blkno;
		}

		scan_block(vac, blkno, b);
	}
	vac->blkno = InvalidBlockNumber;
	pgstat_progress_update_param(PROGRESS_VACUUM_HEAP_BLKS_SCANNED, blkno);

	vac->new_live_tuples = vac_estimate_reltuples(vac->rel, vac->rel_pages, vac->rel_pages,
												  vac->live_tuples);
	vac->new_rel_tuples = Max(vac->new_live_tuples, 0) + vac->recently_dead_tuples;

	if (!vac->one_pass && (vac->dead_items->num_items > 0 || !vac->do_index_vacuuming))
		vacuum_round(vac);
	pgstat_progress_update_param(PROGRESS_VACUUM_HEAP_BLKS_VACUUMED, blkno);

	if (vac->nindexes > 0 && vac->do_index_cleanup)
		cleanup_indexes(vac);
	pfree(b);
}

/* --- report ------------------------------------------------------------------------ */

typedef struct VacuumStart
{
	PGRUsage	ru;
	TimestampTz time;
	PgStat_Counter readtime;
	PgStat_Counter writetime;
	WalUsage	wal;
	BufferUsage buffers;
} VacuumStart;

/* The summary of VACUUM VERBOSE and of log_autovacuum_min_duration, as heap words it. */
static void
report(VacuumState *vac, VacuumParams *params, const VacuumStart *start, BlockNumber orig_pages,
	   bool frozenxid_updated, bool minmulti_updated, char **indnames)
{
	TimestampTz endtime = GetCurrentTimestamp();
	StringInfoData buf;
	WalUsage	wal;
	BufferUsage buffers;
	const char *msgfmt;
	long		secs;
	int			usecs;
	double		read_rate = 0;
	double		write_rate = 0;
	double		of_total = orig_pages == 0 ? 0 : 100.0 / orig_pages;

	if (!vac->verbose && params->log_min_duration != 0 &&
		!TimestampDifferenceExceeds(start->time, endtime, params->log_min_duration))
		return;

	TimestampDifference(start->time, endtime, &secs, &usecs);
	memset(&wal, 0, sizeof(wal));
	WalUsageAccumDiff(&wal, &pgWalUsage, &start->wal);
	memset(&buffers, 0, sizeof(buffers));
	BufferUsageAccumDiff(&buffers, &pgBufferUsage, &start->buffers);

	initStringInfo(&buf);
	if (vac->verbose)
		msgfmt = "finished vacuuming \"%s.%s.%s\": index scans: %d\n";
	else if (params->is_wraparound)
		msgfmt = vac->aggressive ?
			"automatic aggressive vacuum to prevent wraparound of table \"%s.%s.%s\": index scans: %d\n" :
			"automatic vacuum to prevent wraparound of table \"%s.%s.%s\": index scans: %d\n";
	else
		msgfmt = vac->aggressive ?
			"automatic aggressive vacuum of table \"%s.%s.%s\": index scans: %d\n" :
			"automatic vacuum of table \"%s.%s.%s\": index scans: %d\n";
	appendStringInfo(&buf, msgfmt, get_database_name(MyDatabaseId), vac->relnamespace,
					 vac->relname, vac->num_index_scans);
	appendStringInfo(&buf, "pages: %u removed, %u remain, %u scanned (%.2f%% of total)\n",
					 vac->removed_pages, vac->rel_pages, orig_pages, 100.0);
	appendStringInfo(&buf, "tuples: %lld removed, %lld remain, %lld are dead but not yet removable\n",
					 (long long) vac->tuples_deleted, (long long) vac->new_rel_tuples,
					 (long long) vac->recently_dead_tuples);
	appendStringInfo(&buf, "removable cutoff: %u, which was %d XIDs old when operation ended\n",
					 vac->oldest_xmin, (int32) (ReadNextTransactionId() - vac->oldest_xmin));
	if (frozenxid_updated)
		appendStringInfo(&buf, "new relfrozenxid: %u, which is %d XIDs ahead of previous value\n",
						 vac->oldest.xid, (int32) (vac->oldest.xid - vac->cutoffs.relfrozenxid));
	if (minmulti_updated)
		appendStringInfo(&buf, "new relminmxid: %u, which is %d MXIDs ahead of previous value\n",
						 vac->oldest.multi, (int32) (vac->oldest.multi - vac->cutoffs.relminmxid));
	if (vac->one_pass || vac->do_index_vacuuming)
	{
		appendStringInfoString(&buf, vac->num_index_scans == 0 ?
							   "index scan not needed: " : "index scan needed: ");
		msgfmt = "%u pages from table (%.2f%% of total) had %lld dead item identifiers removed\n";
	}
	else
	{
		appendStringInfoString(&buf, vac->failsafe ?
							   "index scan bypassed by failsafe: " : "index scan bypassed: ");
		msgfmt = "%u pages from table (%.2f%% of total) have %lld dead item identifiers\n";
	}
	appendStringInfo(&buf, msgfmt, vac->dead_pages, vac->dead_pages * of_total,
					 (long long) vac->dead_tuples);
	for (int i = 0; i < vac->nindexes; i++)
		if (vac->indstats[i] != NULL)
			appendStringInfo(&buf,
							 "index \"%s\": pages: %u in total, %u newly deleted, %u currently deleted, %u reusable\n",
							 indnames[i], vac->indstats[i]->num_pages,
							 vac->indstats[i]->pages_newly_deleted,
							 vac->indstats[i]->pages_deleted, vac->indstats[i]->pages_free);
	if (track_io_timing)
		appendStringInfo(&buf, "I/O timings: read: %.3f ms, write: %.3f ms\n",
						 (double) (pgStatBlockReadTime - start->readtime) / 1000,
						 (double) (pgStatBlockWriteTime - start->writetime) / 1000);
	if (secs > 0 || usecs > 0)
	{
		double		duration = (1024 * 1024) * (secs + usecs / 1000000.0);

		read_rate = (double) BLCKSZ *
			(buffers.shared_blks_read + buffers.local_blks_read) / duration;
		write_rate = (double) BLCKSZ *
			(buffers.shared_blks_dirtied + buffers.local_blks_dirtied) / duration;
	}
	appendStringInfo(&buf, "avg read rate: %.3f MB/s, avg write rate: %.3f MB/s\n",
					 read_rate, write_rate);
	appendStringInfo(&buf, "buffer usage: %lld hits, %lld misses, %lld dirtied\n",
					 (long long) (buffers.shared_blks_hit + buffers.local_blks_hit),
					 (long long) (buffers.shared_blks_read + buffers.local_blks_read),
					 (long long) (buffers.shared_blks_dirtied + buffers.local_blks_dirtied));
	appendStringInfo(&buf, "WAL usage: %lld records, %lld full page images, %llu bytes\n",
					 (long long) wal.wal_records, (long long) wal.wal_fpi,
					 (unsigned long long) wal.wal_bytes);
	appendStringInfo(&buf, "system usage: %s", pg_rusage_show(&start->ru));

	ereport(vac->verbose ? INFO : LOG, (errmsg_internal("%s", buf.data)));
	pfree(buf.data);
}

/*
 * VACUUM one table, but not VACUUM FULL.  The table is locked with ShareUpdateExclusiveLock.
 */
void
dbl_relation_vacuum(Relation rel, VacuumParams *params, BufferAccessStrategy bstrategy)
{
	VacuumState *vac = palloc0(sizeof(VacuumState));
	bool		instrument;
	bool		frozenxid_updated,
				minmulti_updated;
	BlockNumber orig_pages;
	VacuumStart start;
	ErrorContextCallback errcallback;
	char	  **indnames = NULL;

	vac->rel = rel;
	vac->verbose = (params->options & VACOPT_VERBOSE) != 0;
	instrument = vac->verbose ||
		(IsAutoVacuumWorkerProcess() && params->log_min_duration >= 0);
	if (instrument)
	{
		pg_rusage_init(&start.ru);
		start.time = GetCurrentTimestamp();
		start.readtime = pgStatBlockReadTime;
		start.writetime = pgStatBlockWriteTime;
		start.wal = pgWalUsage;
		start.buffers = pgBufferUsage;
	}

	pgstat_progress_start_command(PROGRESS_COMMAND_VACUUM, RelationGetRelid(rel));

	vac->aggressive = vacuum_set_xid_limits(rel, params->freeze_min_age,
											params->freeze_table_age,
											params->multixact_freeze_min_age,
											params->multixact_freeze_table_age,
											&vac->oldest_xmin, &vac->oldest_start.multi,
											&vac->cutoffs.freeze_limit,
											&vac->cutoffs.multi_cutoff);
	dbl_spare_old_snapshots(rel, &vac->oldest_xmin, &vac->cutoffs.freeze_limit);
	if (params->options & VACOPT_DISABLE_PAGE_SKIPPING)
		vac->aggressive = true;
	vac->oldest_start.xid = vac->oldest_xmin;
	vac->oldest = vac->oldest_dead = vac->oldest_start;
	vac->cutoffs.relfrozenxid = rel->rd_rel->relfrozenxid;
	vac->cutoffs.relminmxid = rel->rd_rel->relminmxid;

	vac->relnamespace = get_namespace_name(RelationGetNamespace(rel));
	vac->relname = pstrdup(RelationGetRelationName(rel));
	vac->phase = PHASE_UNKNOWN;
	vac->blkno = InvalidBlockNumber;
	errcallback.callback = vacuum_error_callback;
	errcallback.arg = vac;
	errcallback.previous = error_context_stack;
	error_context_stack = &errcallback;
	if (vac->verbose)
		ereport(INFO,
				(errmsg(vac->aggressive ? "aggressively vacuuming \"%s.%s.%s\"" :
						"vacuuming \"%s.%s.%s\"",
						get_database_name(MyDatabaseId), vac->relnamespace, vac->relname)));

	vac_open_indexes(rel, RowExclusiveLock, &vac->nindexes, &vac->indexes);
	if (instrument && vac->nindexes > 0)
	{
		indnames = palloc(sizeof(char *) * vac->nindexes);
		for (int i = 0; i < vac->nindexes; i++)
			indnames[i] = pstrdup(RelationGetRelationName(vac->indexes[i]));
	}
	vac->indstats = palloc0(Max(vac->nindexes, 1) * sizeof(IndexBulkDeleteResult *));
	vac->nonempty_pages = DBL_METAPAGE_BLKNO + 1;
	vac->native_am = dbl_index_am_oid();
	vac->bstrategy = bstrategy;
	vac->one_pass = dbl_indexes_all_native(rel);
	vac->do_index_vacuuming = params->index_cleanup != VACOPTVALUE_DISABLED;
	vac->do_index_cleanup = vac->do_index_vacuuming;
	vac->do_truncate = params->truncate != VACOPTVALUE_DISABLED;

	/*
	 * The number of blocks is taken after OldestXmin, so no version in a later block can
	 * hold an xid before it.
	 */
	vac->table = dbl_table_open(rel);
	vac->rel_pages = orig_pages = RelationGetNumberOfBlocks(rel);

	check_failsafe(vac);
	dead_items_alloc(vac, params->nworkers);
	scan_table(vac);

	if (vac->pvs != NULL)
	{
		parallel_vacuum_end(vac->pvs, vac->indstats);
		vac->pvs = NULL;
	}
	if (vac->do_index_cleanup)
		update_index_stats(vac);
	vac_close_indexes(vac->nindexes, vac->indexes, NoLock);

	if (vac->do_truncate && dbl_tail_worth_truncating(vac->rel_pages, vac->nonempty_pages))
	{
		pgstat_progress_update_param(PROGRESS_VACUUM_PHASE, PROGRESS_VACUUM_PHASE_TRUNCATE);
		vac->phase = PHASE_TRUNCATE;
		vac->blkno = vac->nonempty_pages;
		vac->rel_pages = dbl_truncate_tail(rel, orig_pages, vac->nonempty_pages,
										   vac->verbose ? INFO : DEBUG2);
		vac->removed_pages = orig_pages - vac->rel_pages;
	}

	error_context_stack = errcallback.previous;

	pgstat_progress_update_param(PROGRESS_VACUUM_PHASE, PROGRESS_VACUUM_PHASE_FINAL_CLEANUP);
	vac_update_relstats(rel, vac->rel_pages, vac->new_live_tuples, 0, vac->nindexes > 0,
						vac->oldest.xid, vac->oldest.multi,
						&frozenxid_updated, &minmulti_updated, false);
	pgstat_report_vacuum(RelationGetRelid(rel), rel->rd_rel->relisshared,
						 Max(vac->new_live_tuples, 0), vac->recently_dead_tuples);
	pgstat_progress_end_command();

	if (instrument)
		report(vac, params, &start, orig_pages, frozenxid_updated, minmulti_updated, indnames);
}
