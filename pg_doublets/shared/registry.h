/*-------------------------------------------------------------------------
 *
 * registry.h
 *	  Stores in shared memory, found by relation file node.
 *
 * A table's store is a cache of its link pages (durable/): it is loaded at first
 * access, thrown away with its file, and evicted when memory is short and no transaction
 * has the table locked.  Temporary tables have theirs in local memory, with the
 * same calls.
 *
 * Lock order: store lock, then buffer content lock, then WAL.  The store lock is an LWLock: it is held
 * for one operation, never across a wait for another transaction, never while user code runs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_REGISTRY_H
#define DBL_REGISTRY_H

#include "postgres.h"

#include "access/xlogreader.h"
#include "datatype/timestamp.h"
#include "storage/block.h"
#include "storage/buf.h"
#include "storage/lwlock.h"
#include "storage/relfilenode.h"
#include "utils/relcache.h"

#include "store/store.h"

typedef struct DblEntry DblEntry;	/* in shared memory; registry.c */

/*
 * This backend's handle of a table's store.  Valid until the end of the
 * transaction at least; found again by dbl_table_open().
 */
typedef struct DblTable
{
	RelFileNode node;			/* hash key; must be first */
	bool		local;			/* temporary table: no lock, local memory */
	DblEntry   *entry;			/* NULL when local */
	uint64		generation;		/* of the entry that `store` is a view of */
	DblStore	store;
	void	   *private_data;	/* registry.c, memory.c */
} DblTable;

/* settings */
extern int	dbl_max_memory_mb;	/* pg_doublets.max_memory, in MB */
extern int	dbl_max_tables;		/* pg_doublets.max_tables */

/*
 * Called from _PG_init when the library is being preloaded: settings of this layer, shmem_request and
 * shmem_startup hooks, transaction callbacks.
 */
extern void dbl_shared_init(void);

/* Was the library preloaded?  If not, raise the error that says what to add. */
extern bool dbl_is_preloaded(void);
extern void dbl_require_preload(void);

/*
 * Handle of the relation's store (its current file node).  Loads nothing and locks nothing.
 * Raises: not preloaded (55000), out of memory (53200).
 */
extern DblTable *dbl_table_open(Relation rel);

/*
 * Lock the store, loading it first where need be (in which case it may wait for another
 * backend that loads it, interruptibly), and refresh the view.  On return the
 * lock is held and t->store may be used.  Raises 53200 when there's no memory; then no lock is held.
 * rel is needed to read the pages.
 */
extern void dbl_table_lock(Relation rel, DblTable *t, LWLockMode mode);
extern void dbl_table_unlock(DblTable *t);

/*
 * Lock the store exclusively, with memory for so many insertions.  Where it's short, others are
 * evicted, and if all are in use it waits for them for a while, interruptibly, with no lock held, before it raises
 * 53200.  dbl_table_reserve(), which has the lock already, hardly waits.
 */
extern void dbl_table_lock_for_insert(Relation rel, DblTable *t, uint32 n);
extern bool dbl_table_held(DblTable *t, LWLockMode mode);	/* for Assert */

/*
 * dbl_reserve() that raises the full 53200 error (with the hint) instead of returning false.  Exclusive lock held.
 */
extern void dbl_table_reserve(DblTable *t, uint64 nslots, uint32 inserts);

/* The error raised wherever a store finds no memory. */
extern void dbl_memory_error(void) pg_attribute_noreturn();

/* Raises it for a store that would be larger than all stores together may be. */
extern void dbl_memory_check_limit(uint64 bytes);

/*
 * File nodes that come and go with the transaction: the store of a new one is dropped at (sub)abort, that of
 * an old one at commit.
 */
extern void dbl_store_drop_at_abort(RelFileNode node, bool local);
extern void dbl_store_drop_at_commit(RelFileNode node, bool local);

/* Drop a store at once, wherever its users are: the next access loads it again. */
extern void dbl_store_drop(RelFileNode node, bool local);
/*
 * Drop every store of a database that is gone, or, if spcid is given, those in a tablespace that
 * the database has left.
 */
extern void dbl_store_drop_database(Oid dbid, Oid spcid);

/*
 * Redo: the loaded store of a node with its lock held exclusively, or NULL if
 * none is loaded (waits while one is loading).  A change that finds no memory: dbl_redo_give_up()
 * drops the store and releases its lock.  dbl_redo_unlock() ends it.
 */
extern DblTable *dbl_redo_lock(RelFileNode node);
extern void dbl_redo_give_up(DblTable *t);
/*
 * Between dbl_redo_lock() and this no load of a table begins, so that no loader misses the page that
 * is being changed.  To be called in every case, with NULL where nothing was loaded or it was given up.
 */
extern void dbl_redo_unlock(DblTable *t);

/* Number of blocks that the file is known to have; may be raised while the lock is held exclusively. */
extern BlockNumber *dbl_table_nblocks(DblTable *t);

/* Where this process found a block of the file last, to be tried and set anew by the caller. */
extern Buffer *dbl_table_recent_buffer(DblTable *t, BlockNumber blkno);

/* For doublets_stats(): is it loaded, bytes of shared memory, load time in ms. */
typedef struct DblTableInfo
{
	bool		loaded;
	uint64		bytes;
	double		load_ms;
	uint64		generation;
} DblTableInfo;
extern void dbl_table_info(DblTable *t, DblTableInfo *info);

/* How far a load is, for doublets_progress_load. */
typedef enum DblLoadPhase
{
	DBL_LOAD_STARTING,
	DBL_LOAD_READING,			/* of pages */
	DBL_LOAD_BUILDING			/* and a DblBuildStep */
} DblLoadPhase;

typedef struct DblLoadProgress
{
	int			pid;
	int			phase;			/* DblLoadPhase */
	BlockNumber blocks_total;
	BlockNumber blocks_done;
	uint64		links;			/* read */
	uint64		links_indexed;	/* in this phase */
} DblLoadProgress;

/* Where the loader says so; a place without readers for a temporary table. */
extern DblLoadProgress *dbl_table_progress(DblTable *t);

/* One entry of the registry, for the views; see dbl_entries_list(). */
typedef struct DblEntryInfo
{
	RelFileNode node;
	Oid			relid;
	bool		loaded;
	bool		loading;
	int			backends;		/* that have it mapped */
	uint64		bytes;
	double		load_ms;
	TimestampTz loaded_at;
	TimestampTz last_used;
	uint32		evictions;
	DblLoadProgress progress;
} DblEntryInfo;

/* Entries with a table, in memory of the caller's context; returns their number.  Takes the control lock. */
extern int	dbl_entries_list(DblEntryInfo **list);

/* Transactions that hold a lock on a table, ours included; -1: no memory to tell. */
extern int	dbl_table_users(Oid dbid, Oid relid);

/* All stores together. */
typedef struct DblMemoryTotals
{
	uint64		bytes;
	uint64		leaving_bytes;	/* of stores that have gone, but are still mapped somewhere */
	uint64		evictions;
} DblMemoryTotals;
extern void dbl_memory_totals(DblMemoryTotals *totals);

/* May this process evict tables to make room?  On by default. */
extern bool dbl_may_evict;

/* After COMMIT PREPARED and ROLLBACK PREPARED: free the stores of files that went with it. */
extern void dbl_sweep_prepared(void);

/* Set by durable/load.c: fills an empty store (view bound, exclusively ours) from the relation's pages. May raise. */
extern void (*dbl_load_hook) (Relation rel, DblTable *t);

#endif							/* DBL_REGISTRY_H */
