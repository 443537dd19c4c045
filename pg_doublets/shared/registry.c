/*-------------------------------------------------------------------------
 *
 * registry.c
 *	  The array of stores in shared memory: start-up, finding, dropping.
 *
 * Lock order: control lock, then a store lock.  Which table an entry is for
 * changes under both, exclusively; its state under the store lock; either is
 * enough to look.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "access/twophase.h"
#include "access/xlog.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/procarray.h"
#include "storage/shmem.h"
#include "storage/smgr.h"
#include "utils/guc.h"

#include "shared/inject.h"
#include "shared/shared_impl.h"

int			dbl_max_memory_mb = 0;
int			dbl_max_tables = 1024;
void		(*dbl_load_hook) (Relation rel, DblTable *t);

DblControl *dbl_control;

static shmem_request_hook_type prev_shmem_request;
static shmem_startup_hook_type prev_shmem_startup;

/* --- start-up ------------------------------------------------------------------- */

static int
bucket_count(void)
{
	int			n = 64;

	while (n < dbl_max_tables)
		n *= 2;
	return n;
}

static Size
control_size(void)
{
	Size		size = CACHELINEALIGN(sizeof(DblControl));

	size = add_size(size, CACHELINEALIGN(mul_size(bucket_count(), sizeof(int))));
	size = add_size(size, mul_size(dbl_max_tables, CACHELINEALIGN(sizeof(DblEntry))));
	size = add_size(size, CACHELINEALIGN(mul_size(max_prepared_xacts, sizeof(TransactionId))));
	return add_size(size, PG_CACHE_LINE_SIZE);
}

DblEntry *
dbl_entry_at(int i)
{
	return (DblEntry *) ((char *) dbl_control->entries + (Size) i * CACHELINEALIGN(sizeof(DblEntry)));
}

static int
entry_number(DblEntry *e)
{
	return (int) (((char *) e - (char *) dbl_control->entries) / CACHELINEALIGN(sizeof(DblEntry)));
}

static void
shmem_request(void)
{
	if (prev_shmem_request)
		prev_shmem_request();
	RequestAddinShmemSpace(add_size(control_size(), dbl_area_size()));
}

static void
shmem_startup(void)
{
	bool		found;
	char	   *p;
	char	   *area;

	if (prev_shmem_startup)
		prev_shmem_startup();

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	p = ShmemInitStruct("doublets registry", control_size(), &found);
	dbl_control = (DblControl *) CACHELINEALIGN(p);
	area = ShmemInitStruct("doublets area", dbl_area_size(), &found);
	if (!found)
	{
		p = (char *) dbl_control;
		memset(dbl_control, 0, sizeof(DblControl));
		dbl_control->nentries = dbl_max_tables;
		dbl_control->nbuckets = bucket_count();
		dbl_control->store_tranche = LWLockNewTrancheId();
		dbl_control->area_tranche = LWLockNewTrancheId();
		pg_atomic_init_u64(&dbl_control->bytes, 0);
		pg_atomic_init_u64(&dbl_control->drops, 0);
		pg_atomic_init_u64(&dbl_control->evictions, 0);
		LWLockInitialize(&dbl_control->lock, dbl_control->store_tranche);
		LWLockInitialize(&dbl_control->redo_lock, dbl_control->store_tranche);
		LWLockInitialize(&dbl_control->evict_lock, dbl_control->store_tranche);
		LWLockInitialize(&dbl_control->mapping_lock, dbl_control->store_tranche);
		p += CACHELINEALIGN(sizeof(DblControl));
		dbl_control->buckets = (int *) p;
		for (int i = 0; i < dbl_control->nbuckets; i++)
			dbl_control->buckets[i] = -1;
		p += CACHELINEALIGN(dbl_control->nbuckets * sizeof(int));
		dbl_control->entries = (DblEntry *) p;
		for (int i = 0; i < dbl_control->nentries; i++)
		{
			DblEntry   *e = dbl_entry_at(i);

			memset(e, 0, sizeof(*e));
			LWLockInitialize(&e->lock, dbl_control->store_tranche);
			ConditionVariableInit(&e->cv);
			e->state = DBL_FREE;
			e->next = -1;
		}
		dbl_control->prepared = (TransactionId *) dbl_entry_at(dbl_control->nentries);
		dbl_control->area = area;
		dbl_control->area_size = dbl_area_size();
		dbl_area_create();
	}
	LWLockRelease(AddinShmemInitLock);

	/* inherited by every process that is forked from here */
	LWLockRegisterTranche(dbl_control->store_tranche, "doublets_store");
	LWLockRegisterTranche(dbl_control->area_tranche, "doublets_area");
}

void
dbl_shared_init(void)
{
	DefineCustomIntVariable("pg_doublets.max_memory",
							"Sets the most shared memory that all doublets tables together may use.",
							"0 means no limit.",
							&dbl_max_memory_mb, 0, 0, INT_MAX, PGC_SIGHUP, GUC_UNIT_MB,
							NULL, NULL, NULL);
	DefineCustomIntVariable("pg_doublets.max_tables",
							"Sets how many doublets tables can be in memory at the same time.",
							NULL,
							&dbl_max_tables, 1024, 16, 100000, PGC_POSTMASTER, 0,
							NULL, NULL, NULL);

	prev_shmem_request = shmem_request_hook;
	shmem_request_hook = shmem_request;
	prev_shmem_startup = shmem_startup_hook;
	shmem_startup_hook = shmem_startup;
	dbl_inject_init();
	dbl_pending_init();
}

bool
dbl_is_preloaded(void)
{
	return dbl_control != NULL;
}

void
dbl_require_preload(void)
{
	if (dbl_control == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("pg_doublets was not loaded at server start"),
				 errdetail("Its tables need shared memory and WAL records that exist only when the server starts with it."),
				 errhint("Add this line to postgresql.conf and restart the server: shared_preload_libraries = 'pg_doublets'")));
}

void
dbl_memory_error(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg("not enough shared memory for a doublets table"),
			 errhint("Raise pg_doublets.max_memory (now %d MB; 0 means no limit), the size of /dev/shm, or min_dynamic_shared_memory.",
					 dbl_max_memory_mb)));
}

void
dbl_memory_check_limit(uint64 bytes)
{
	if (dbl_max_memory_mb != 0 && bytes > (uint64) dbl_max_memory_mb * 1024 * 1024)
		dbl_memory_error();
}

/* --- finding ------------------------------------------------------------------------ */

static int *
bucket_of(RelFileNode node)
{
	uint32		h = hash_bytes((unsigned char *) &node, sizeof(node));

	return &dbl_control->buckets[h & (dbl_control->nbuckets - 1)];
}

static DblEntry *
find(RelFileNode node)
{
	for (int i = *bucket_of(node); i >= 0; i = dbl_entry_at(i)->next)
	{
		if (RelFileNodeEquals(dbl_entry_at(i)->node, node))
			return dbl_entry_at(i);
	}
	return NULL;
}

/* Throw away what the store holds.  Its lock is held exclusively. */
void
dbl_entry_unload(DblEntry *e)
{
	bool		has_type = e->store.has_type;
	bool		mapped;

	Assert(LWLockHeldByMeInMode(&e->lock, LW_EXCLUSIVE));
	mapped = dbl_mapping_gone(e);
	dbl_memory_release(e);
	dbl_store_init(&e->store, has_type);
	e->state = DBL_UNLOADED;
	e->doomed = false;
	e->nblocks = 0;
	pg_atomic_fetch_add_u64(&dbl_control->drops, 1);
	if (mapped)
		dbl_mapping_tell(e->node.dbNode, e->relid);
}

/* Take an entry from its table.  Both locks are held exclusively; the entry is not loading. */
static void
entry_release(DblEntry *e)
{
	int		   *link = bucket_of(e->node);

	if (e->state == DBL_LOADED)
		dbl_entry_unload(e);
	while (*link != entry_number(e))
		link = &dbl_entry_at(*link)->next;
	*link = e->next;
	e->next = -1;
	e->state = DBL_FREE;
	e->generation++;
	e->evictions = 0;
	e->relid = InvalidOid;
	memset(&e->node, 0, sizeof(e->node));
	pg_atomic_fetch_add_u64(&dbl_control->drops, 1);
}

/* Has the file gone?  A dropped one may stay until the next checkpoint, empty; ours never are. */
static bool
file_is_gone(RelFileNode node)
{
	SMgrRelation reln = smgropen(node, InvalidBackendId);
	bool		gone;

	gone = !smgrexists(reln, MAIN_FORKNUM);
	if (!gone)
	{
		reln->smgr_cached_nblocks[MAIN_FORKNUM] = InvalidBlockNumber;
		gone = smgrnblocks(reln, MAIN_FORKNUM) == 0;
	}
	smgrrelease(reln);
	return gone;
}

/*
 * Free entries: those without a store first, then those whose file is gone (on a standby, and
 * after prepared transactions, nobody tells us).  The control lock is held exclusively.
 */
static void
sweep(bool unloaded)
{
	for (int i = 0; i < dbl_control->nentries; i++)
	{
		DblEntry   *e = dbl_entry_at(i);

		if (e->state == DBL_FREE || !LWLockConditionalAcquire(&e->lock, LW_EXCLUSIVE))
			continue;
		if (unloaded ? e->state == DBL_UNLOADED :
			(e->state == DBL_LOADED && file_is_gone(e->node)))
			entry_release(e);
		LWLockRelease(&e->lock);
	}
}

/*
 * Has any prepared transaction ended that had dropped or made tables?  Only for them is there anything to
 * sweep.  The control lock is held exclusively.
 */
static bool
prepared_has_ended(void)
{
	bool		ended = false;

	for (int i = dbl_control->nprepared - 1; i >= 0; i--)
	{
		if (TransactionIdIsInProgress(dbl_control->prepared[i]))
			continue;
		dbl_control->prepared[i] = dbl_control->prepared[--dbl_control->nprepared];
		ended = true;
	}
	return ended;
}

/*
 * A transaction with drops to come has been prepared.  Those of before a restart need no care: nothing is
 * loaded of what they have locked.
 */
void
dbl_remember_prepared(TransactionId xid)
{
	LWLockAcquire(&dbl_control->lock, LW_EXCLUSIVE);
	if (dbl_control->nprepared == max_prepared_xacts)
		(void) prepared_has_ended();
	if (dbl_control->nprepared < max_prepared_xacts)
		dbl_control->prepared[dbl_control->nprepared++] = xid;
	LWLockRelease(&dbl_control->lock);
}

void
dbl_sweep_prepared(void)
{
	if (dbl_control == NULL || dbl_control->nprepared == 0)
		return;
	LWLockAcquire(&dbl_control->lock, LW_EXCLUSIVE);
	if (prepared_has_ended())
		sweep(false);
	LWLockRelease(&dbl_control->lock);
}

static DblEntry *
find_free(void)
{
	for (int i = 0; i < dbl_control->nentries; i++)
	{
		if (dbl_entry_at(i)->state == DBL_FREE)
			return dbl_entry_at(i);
	}
	return NULL;
}

/*
 * The entry of a table.  NULL if there is none and none is to be made.  It may be given to
 * another table at once: look at its node once its lock is held.
 */
DblEntry *
dbl_entry_get(RelFileNode node, bool create)
{
	DblEntry   *e;

	LWLockAcquire(&dbl_control->lock, LW_SHARED);
	e = find(node);
	LWLockRelease(&dbl_control->lock);
	if (e != NULL || !create)
		return e;

	LWLockAcquire(&dbl_control->lock, LW_EXCLUSIVE);
	e = find(node);
	if (e == NULL)
	{
		if (prepared_has_ended() || RecoveryInProgress())
			sweep(false);
		e = find_free();
		if (e == NULL)
		{
			sweep(true);
			e = find_free();
		}
		if (e == NULL)
		{
			sweep(false);
			e = find_free();
		}
		if (e == NULL && dbl_may_evict && dbl_evict_one())
		{
			sweep(true);
			e = find_free();
		}
		if (e == NULL)
		{
			LWLockRelease(&dbl_control->lock);
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("too many doublets tables are in memory"),
					 errhint("Raise pg_doublets.max_tables (now %d) and restart the server.",
							 dbl_max_tables)));
		}
		LWLockAcquire(&e->lock, LW_EXCLUSIVE);
		e->node = node;
		e->state = DBL_UNLOADED;
		e->doomed = false;
		e->generation++;
		e->next = *bucket_of(node);
		*bucket_of(node) = entry_number(e);
		LWLockRelease(&e->lock);
	}
	LWLockRelease(&dbl_control->lock);
	return e;
}

/* --- dropping --------------------------------------------------------------------------- */

/* Both locks held exclusively by this function. */
static void
drop_entry(DblEntry *e)
{
	LWLockAcquire(&e->lock, LW_EXCLUSIVE);
	if (e->state == DBL_LOADING)
		e->doomed = true;		/* its loader will see */
	else
		entry_release(e);
	LWLockRelease(&e->lock);
}

void
dbl_store_drop(RelFileNode node, bool local)
{
	DblEntry   *e;

	if (dbl_control == NULL)
		return;
	if (local)
	{
		DblTable   *t = dbl_table_handle(node, true);

		if (t != NULL)
			dbl_local_unload(t);
		return;
	}
	LWLockAcquire(&dbl_control->lock, LW_EXCLUSIVE);
	e = find(node);
	if (e != NULL)
		drop_entry(e);
	LWLockRelease(&dbl_control->lock);
}

void
dbl_store_drop_database(Oid dbid, Oid spcid)
{
	if (dbl_control == NULL)
		return;
	LWLockAcquire(&dbl_control->lock, LW_EXCLUSIVE);
	for (int i = 0; i < dbl_control->nentries; i++)
	{
		DblEntry   *e = dbl_entry_at(i);

		if (e->state != DBL_FREE && e->node.dbNode == dbid &&
			(!OidIsValid(spcid) || e->node.spcNode == spcid))
			drop_entry(e);
	}
	LWLockRelease(&dbl_control->lock);
}


/* --- looking ------------------------------------------------------------------------------ */

int
dbl_entries_list(DblEntryInfo **list)
{
	DblEntryInfo *info = palloc0(sizeof(DblEntryInfo) * dbl_control->nentries);
	int			n = 0;

	LWLockAcquire(&dbl_control->lock, LW_SHARED);
	for (int i = 0; i < dbl_control->nentries; i++)
	{
		DblEntry   *e = dbl_entry_at(i);

		/* which table it is for stays under the control lock; all else is as it happens to be */
		if (e->state == DBL_FREE)
			continue;
		info[n].node = e->node;
		info[n].relid = e->relid;
		info[n].loaded = e->state == DBL_LOADED;
		info[n].loading = e->state == DBL_LOADING;
		info[n].backends = e->nmapped;
		info[n].bytes = e->memory.bytes;
		info[n].load_ms = e->load_ms;
		info[n].loaded_at = e->loaded_at;
		info[n].last_used = e->last_used;
		info[n].evictions = e->evictions;
		info[n].progress = e->progress;
		n++;
	}
	LWLockRelease(&dbl_control->lock);
	*list = info;
	return n;
}

void
dbl_memory_totals(DblMemoryTotals *totals)
{
	/* what goes moves from one to the other under this lock */
	LWLockAcquire(&dbl_control->mapping_lock, LW_SHARED);
	totals->bytes = pg_atomic_read_u64(&dbl_control->bytes);
	totals->leaving_bytes = dbl_control->leaving_bytes;
	totals->evictions = pg_atomic_read_u64(&dbl_control->evictions);
	LWLockRelease(&dbl_control->mapping_lock);
}
