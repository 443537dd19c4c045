/*-------------------------------------------------------------------------
 *
 * table.c
 *	  A process's handles of stores: opening, locking, loading.
 *
 * A handle is made at first use and stays until the end of the transaction in which it is found
 * stale.  It is bound to one generation of its entry; once the lock is held and the
 * generation is another, the view is made anew.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "access/parallel.h"
#include "access/xact.h"
#include "pgstat.h"
#include "portability/instr_time.h"
#include "postmaster/startup.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/lmgr.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "shared/shared_impl.h"

static HTAB *handles[2];		/* shared ones, local ones */
static DblTable *last_handle;	/* the shared one used last */
static uint64 seen_drops;
static bool local_unloaded;		/* there may be handles of dropped temporary tables */

/* --- handles ---------------------------------------------------------------------- */

/* The handle if there is one. */
DblTable *
dbl_table_handle(RelFileNode node, bool local)
{
	if (local)
		local_unloaded = true;
	if (handles[local] == NULL)
		return NULL;
	return hash_search(handles[local], &node, HASH_FIND, NULL);
}

/* Take the view and the mapped memory from a handle. */
static void
unmap(DblTable *t)
{
	if (t->store.shared != NULL)
		dbl_store_detach(&t->store);
	dbl_memory_unmap(t);
	t->store.shared = NULL;
	t->generation = 0;
}

/*
 * Unmap stores that are gone; the handles stay.  Safe wherever no such store is
 * locked, which it can't be.
 */
void
dbl_tables_unmap_stale(void)
{
	static uint64 unmapped_drops;
	HASH_SEQ_STATUS seq;
	DblTable   *t;
	uint64		drops;

	if (dbl_control == NULL || handles[0] == NULL)
		return;
	drops = pg_atomic_read_u64(&dbl_control->drops);
	if (drops == unmapped_drops)
		return;
	unmapped_drops = drops;
	hash_seq_init(&seq, handles[0]);
	while ((t = hash_seq_search(&seq)) != NULL)
	{
		DblPrivate *priv = t->private_data;

		if (priv->mapped != NULL && priv->mapped->generation != priv->mapped_generation)
			unmap(t);
	}
}

static void
relcache_callback(Datum arg, Oid relid)
{
	dbl_tables_unmap_stale();
}

/* What is mapped goes with the process; the counts don't. */
static void
exit_callback(int code, Datum arg)
{
	HASH_SEQ_STATUS seq;
	DblTable   *t;

	hash_seq_init(&seq, handles[0]);
	while ((t = hash_seq_search(&seq)) != NULL)
		dbl_mapping_end(t);
}

static DblTable *
make_handle(RelFileNode node, bool local)
{
	DblTable   *t;
	DblPrivate *priv;
	bool		found;

	if (handles[local] == NULL)
	{
		HASHCTL		ctl = {0};

		ctl.keysize = sizeof(RelFileNode);
		ctl.entrysize = sizeof(DblTable);
		ctl.hcxt = TopMemoryContext;
		handles[local] = hash_create("doublets tables", 64, &ctl,
									 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		if (!local)
		{
			CacheRegisterRelcacheCallback(relcache_callback, (Datum) 0);
			on_shmem_exit(exit_callback, (Datum) 0);
		}
	}
	t = hash_search(handles[local], &node, HASH_FIND, NULL);
	if (t != NULL)
		return t;

	priv = MemoryContextAllocZero(TopMemoryContext, sizeof(DblPrivate));
	for (int i = 0; i < lengthof(priv->recent); i++)
		priv->recent[i].blkno = InvalidBlockNumber;
	t = hash_search(handles[local], &node, HASH_ENTER, &found);
	memset((char *) t + sizeof(RelFileNode), 0, sizeof(DblTable) - sizeof(RelFileNode));
	t->local = local;
	t->private_data = priv;
	return t;
}

static void
unbind(DblTable *t)
{
	unmap(t);
	t->entry = NULL;
}

static void
remove_handle(DblTable *t)
{
	bool		local = t->local;

	if (local)
		dbl_local_unload(t);
	else
		unbind(t);
	if (t == last_handle)
		last_handle = NULL;
	pfree(t->private_data);
	(void) hash_search(handles[local], &t->node, HASH_REMOVE, NULL);
}

/*
 * At the end of a transaction: let go of stores that are gone, so that their
 * memory returns to the system.  Read without locks: who misses a change sees it next time.
 */
void
dbl_tables_forget_stale(void)
{
	HASH_SEQ_STATUS seq;
	DblTable   *t;
	uint64		drops;

	if (dbl_control == NULL)
		return;
	drops = pg_atomic_read_u64(&dbl_control->drops);
	if (drops != seen_drops && handles[0] != NULL)
	{
		hash_seq_init(&seq, handles[0]);
		while ((t = hash_seq_search(&seq)) != NULL)
		{
			if (t->entry == NULL || !RelFileNodeEquals(t->entry->node, t->node) ||
				t->entry->generation != t->generation)
				remove_handle(t);
		}
	}
	seen_drops = drops;
	if (local_unloaded && handles[1] != NULL)
	{
		hash_seq_init(&seq, handles[1]);
		while ((t = hash_seq_search(&seq)) != NULL)
		{
			if (!((DblPrivate *) t->private_data)->loaded)
				remove_handle(t);
		}
	}
	local_unloaded = false;
}

DblTable *
dbl_table_open(Relation rel)
{
	if (last_handle != NULL && RelFileNodeEquals(last_handle->node, rel->rd_node) &&
		!RelationUsesLocalBuffers(rel))
		return last_handle;
	dbl_require_preload();
	if (RelationUsesLocalBuffers(rel))
		return make_handle(rel->rd_node, true);
	last_handle = make_handle(rel->rd_node, false);
	return last_handle;
}

/* --- locking --------------------------------------------------------------------------- */

/*
 * Note that the table is in use.  Several readers may do so at a time: they write the same, or nearly
 * so.  A relid changes when a rewritten table is swapped with the transient one that
 * was filled.
 */
static inline void
touch(Relation rel, DblEntry *e)
{
	TimestampTz now = GetCurrentStatementStartTimestamp();

	/* whoever has not locked the table may find its store evicted at any moment */
	Assert(IsParallelWorker() || CheckRelationLockedByMe(rel, AccessShareLock, true));
	if (e->last_used < now)
		e->last_used = now;
	if (unlikely(e->relid != RelationGetRelid(rel)))
		e->relid = RelationGetRelid(rel);
}

/* Make the view of a loaded store current.  The lock is held; released if false. */
static bool
view_current(DblTable *t)
{
	if (t->generation != t->entry->generation || t->store.shared != &t->entry->store)
	{
		if (t->store.shared != NULL)
			dbl_store_detach(&t->store);
		dbl_memory_unmap(t);
		dbl_memory_bind(t);
	}
	if (dbl_store_refresh(&t->store))
		return true;
	LWLockRelease(&t->entry->lock);
	return false;
}

void
dbl_table_lock(Relation rel, DblTable *t, LWLockMode mode)
{
	if (t->local)
	{
		dbl_local_lock(rel, t);
		return;
	}
	for (;;)
	{
		DblEntry   *e = t->entry;

		if (e == NULL)
			e = t->entry = dbl_entry_get(t->node, true);
		LWLockAcquire(&e->lock, mode);
		if (likely(e->state == DBL_LOADED && RelFileNodeEquals(e->node, t->node)))
		{
			if (likely(view_current(t)))
			{
				touch(rel, e);
				return;
			}
			dbl_memory_error();
		}
		if (e->state == DBL_FREE || !RelFileNodeEquals(e->node, t->node))
		{
			LWLockRelease(&e->lock);
			unbind(t);
			continue;
		}
		if (e->state == DBL_LOADING)
		{
			LWLockRelease(&e->lock);
			dbl_entry_wait(e);
			continue;
		}
		if (mode == LW_SHARED)
		{
			LWLockRelease(&e->lock);
			LWLockAcquire(&e->lock, LW_EXCLUSIVE);
			if (e->state != DBL_UNLOADED || !RelFileNodeEquals(e->node, t->node))
			{
				LWLockRelease(&e->lock);
				continue;
			}
		}
		dbl_entry_load(rel, t);
	}
}

void
dbl_table_lock_for_insert(Relation rel, DblTable *t, uint32 n)
{
	TimestampTz give_up = 0;

	for (;;)
	{
		uint32		nslots;
		uint32		nfree;

		dbl_table_lock(rel, t, LW_EXCLUSIVE);
		if (t->local)
			return;
		dbl_memory_attempt();
		nslots = dbl_nslots(&t->store);
		nfree = nslots - t->store.shared->nused;
		if (likely(dbl_reserve(&t->store, (uint64) nslots + (n > nfree ? n - nfree : 0), n)))
			return;
		dbl_table_unlock(t);
		CHECK_FOR_INTERRUPTS();
		if (!dbl_memory_wait(t->entry, &give_up))
		{
			CHECK_FOR_INTERRUPTS();
			dbl_memory_error();
		}
	}
}

void
dbl_table_unlock(DblTable *t)
{
	if (!t->local)
		LWLockRelease(&t->entry->lock);
}

bool
dbl_table_held(DblTable *t, LWLockMode mode)
{
	if (t->local)
		return true;
	if (t->entry == NULL)
		return false;
	if (mode == LW_EXCLUSIVE)
		return LWLockHeldByMeInMode(&t->entry->lock, LW_EXCLUSIVE);
	return LWLockHeldByMe(&t->entry->lock);
}

void
dbl_table_reserve(DblTable *t, uint64 nslots, uint32 inserts)
{
	if (likely(dbl_reserve(&t->store, nslots, inserts)))
		return;
	dbl_table_unlock(t);
	/* a cancel may be why the segment could not be made */
	CHECK_FOR_INTERRUPTS();
	dbl_memory_error();
}

void
dbl_table_info(DblTable *t, DblTableInfo *info)
{
	memset(info, 0, sizeof(*info));
	if (t->local)
	{
		DblPrivate *priv = t->private_data;

		info->loaded = priv->loaded;
		info->bytes = priv->bytes;
		info->load_ms = priv->load_ms;
		info->generation = t->generation;
	}
	else
	{
		DblEntry   *e = dbl_entry_get(t->node, false);
		bool		held = e != NULL && LWLockHeldByMe(&e->lock);

		if (e == NULL)
			return;
		if (!held)
			LWLockAcquire(&e->lock, LW_SHARED);
		if (e->state == DBL_LOADED && RelFileNodeEquals(e->node, t->node))
		{
			info->loaded = true;
			info->bytes = e->memory.bytes;
			info->load_ms = e->load_ms;
			info->generation = e->generation;
		}
		if (!held)
			LWLockRelease(&e->lock);
	}
}

/* --- redo --------------------------------------------------------------------------------- */

/*
 * Begin the replay of a record: no load of the table begins until
 * dbl_redo_unlock().  If its store is loaded, it is locked exclusively and returned.
 */
DblTable *
dbl_redo_lock(RelFileNode node)
{
	for (;;)
	{
		DblEntry   *e;
		DblTable   *t;

		LWLockAcquire(&dbl_control->redo_lock, LW_EXCLUSIVE);
		e = dbl_entry_get(node, false);
		if (e == NULL)
			return NULL;
		LWLockAcquire(&e->lock, LW_EXCLUSIVE);
		if (RelFileNodeEquals(e->node, node) && e->state == DBL_LOADING)
		{
			LWLockRelease(&e->lock);
			LWLockRelease(&dbl_control->redo_lock);
			dbl_entry_wait(e);
			continue;
		}
		if (!RelFileNodeEquals(e->node, node) || e->state != DBL_LOADED)
		{
			LWLockRelease(&e->lock);
			return NULL;
		}
		if (pg_atomic_read_u64(&dbl_control->drops) != seen_drops)
			dbl_tables_forget_stale();
		t = make_handle(node, false);
		t->entry = e;
		if (view_current(t))
			return t;

		/* it can't be mapped here: readers will load it again */
		LWLockAcquire(&e->lock, LW_EXCLUSIVE);
		if (RelFileNodeEquals(e->node, node) && e->state == DBL_LOADED)
			dbl_entry_unload(e);
		LWLockRelease(&e->lock);
		return NULL;
	}
}

/* End of the replay of a record; t as dbl_redo_lock() has returned it. */
void
dbl_redo_unlock(DblTable *t)
{
	if (t != NULL)
		dbl_table_unlock(t);
	LWLockRelease(&dbl_control->redo_lock);
}

/* The store can't take the change: throw it away.  dbl_redo_unlock(NULL) is still to come. */
void
dbl_redo_give_up(DblTable *t)
{
	DblEntry   *e = t->entry;

	unbind(t);
	dbl_entry_unload(e);
	LWLockRelease(&e->lock);
}

/* --- file size, recent buffers --------------------------------------------------------------- */

/* Blocks that the file has at least; the lock is held. */
BlockNumber *
dbl_table_nblocks(DblTable *t)
{
	return t->local ? &((DblPrivate *) t->private_data)->nblocks : &t->entry->nblocks;
}

/* Where block blkno was last found: the caller tries it, and stores what it found. */
Buffer *
dbl_table_recent_buffer(DblTable *t, BlockNumber blkno)
{
	DblPrivate *priv = t->private_data;
	int			i = blkno % lengthof(priv->recent);

	if (priv->recent[i].blkno != blkno)
	{
		priv->recent[i].blkno = blkno;
		priv->recent[i].buffer = InvalidBuffer;
	}
	return &priv->recent[i].buffer;
}
