/*-------------------------------------------------------------------------
 *
 * evict.c
 *	  Make room: the stores used least recently go, to be loaded again when
 *	  they are wanted.
 *
 * A store may go when no transaction holds a lock on its table, of any mode.
 * What is in memory only (command ids, announcements to unique indexes) matters to
 * transactions in progress that have written, and these hold one; so do scans that stand on
 * a place of the store, vacuum, index builds and prepared transactions.  That
 * is looked at with the store locked: who gets a lock on the table later has
 * not yet been in the store.
 *
 * Lock order: own store lock (or none), evict lock; the locks of victims are only tried.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlogutils.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/procsignal.h"
#include "utils/timestamp.h"

#include "shared/inject.h"
#include "shared/shared_impl.h"

#define CANDIDATES		32		/* looked for in one pass over the entries */

/* How long to wait until a table can go. */
#define PATIENCE_MS		5000
#define NAP_US			2000

bool		dbl_may_evict = true;

typedef struct Candidate
{
	TimestampTz used;
	int			entry;
} Candidate;

static bool
older(const Candidate *a, const Candidate *b)
{
	return a->used != b->used ? a->used < b->used : a->entry < b->entry;
}

/* The oldest loaded stores behind *after, sorted; returns how many.  Locks nothing. */
static int
find_candidates(const Candidate *after, bool empty_too, Candidate *out)
{
	int			n = 0;

	for (int i = 0; i < dbl_control->nentries; i++)
	{
		DblEntry   *e = dbl_entry_at(i);
		Candidate	c = {e->last_used, i};
		int			at;

		if (e->state != DBL_LOADED || !older(after, &c) ||
			(e->memory.bytes == 0 && !empty_too))
			continue;
		if (n == CANDIDATES && !older(&c, &out[n - 1]))
			continue;
		at = n < CANDIDATES ? n++ : n - 1;
		for (; at > 0 && older(&c, &out[at - 1]); at--)
			out[at] = out[at - 1];
		out[at] = c;
	}
	return n;
}

/* Has our own transaction locked the table, in any mode? */
static bool
locked_by_us(const LOCKTAG *tag)
{
	for (LOCKMODE mode = AccessShareLock; mode <= AccessExclusiveLock; mode++)
	{
		if (LockHeldByMe(tag, mode))
			return true;
	}
	return false;
}

/*
 * Transactions that hold a lock on the table, ours included; -1: can't tell,
 * for want of memory.  Raises nothing.
 */
int
dbl_table_users(Oid dbid, Oid relid)
{
	MemoryContext cxt = CurrentMemoryContext;
	volatile int result = -1;
	LOCKTAG		tag;

	SET_LOCKTAG_RELATION(tag, dbid, relid);
	PG_TRY();
	{
		int			n;
		VirtualTransactionId *users = GetLockConflicts(&tag, AccessExclusiveLock, &n);

		/* recovery keeps it for the next call */
		if (!InHotStandby)
			pfree(users);
		result = n;
	}
	PG_CATCH();
	{
		/* it allocates before it takes any lock */
		MemoryContextSwitchTo(cxt);
		FlushErrorState();
	}
	PG_END_TRY();
	if (result < 0)
		return -1;
	return locked_by_us(&tag) ? result + 1 : result;
}

/* Evict a store if nobody uses it, adding what it had to *freed. */
static bool
evict(DblEntry *e, uint64 *freed)
{
	bool		done = false;

	if (!LWLockConditionalAcquire(&e->lock, LW_EXCLUSIVE))
		return false;
	if (e->state == DBL_LOADED && dbl_table_users(e->node.dbNode, e->relid) == 0)
	{
		DBL_INJECT("evict");
		*freed += e->memory.bytes;
		dbl_entry_unload(e);
		e->evictions++;
		pg_atomic_fetch_add_u64(&dbl_control->evictions, 1);
		done = true;
	}
	LWLockRelease(&e->lock);
	return done;
}

/* Is there not yet room, by the limit or, if the system has no more, in what has been freed? */
static bool
wanted(Size size, bool system_full, uint64 freed)
{
	uint64		limit = (uint64) dbl_max_memory_mb * 1024 * 1024;

	if (system_full)
		return freed < size;
	return limit != 0 && pg_atomic_read_u64(&dbl_control->bytes) + size > limit;
}

/* Evict until there is room, the oldest first.  Returns whether there is. */
static bool
evict_until(Size size, bool system_full, uint64 *freed)
{
	Candidate	after = {PG_INT64_MIN, -1};
	Candidate	found[CANDIDATES];
	int			n;

	while (wanted(size, system_full, *freed) && (n = find_candidates(&after, false, found)) > 0)
	{
		for (int i = 0; i < n && wanted(size, system_full, *freed); i++)
			(void) evict(dbl_entry_at(found[i].entry), freed);
		after = found[n - 1];
	}
	return !wanted(size, system_full, *freed);
}

/*
 * Is there any other store, which could go later?  One whose table we have locked ourselves (the old
 * one of a rewrite, say) can't as long as we wait.  Locks nothing.
 */
static bool
others_remain(DblEntry *mine)
{
	for (int i = 0; i < dbl_control->nentries; i++)
	{
		DblEntry   *e = dbl_entry_at(i);
		LOCKTAG		tag;

		if (e == mine || e->memory.bytes == 0)
			continue;
		SET_LOCKTAG_RELATION(tag, e->node.dbNode, e->relid);
		if (!locked_by_us(&tag))
			return true;
	}
	return false;
}

/*
 * A piece of memory of that size can't be had for a store: by the limit, or (system_full)
 * because the system has none.  Evict what is enough; while all others are in use, wait for a
 * while until one no longer is.  *give_up: 0 at first, then the time when that ends.
 *
 * Returns whether it's worth trying again.  Raises nothing.  With LWLocks held it does
 * not wait for tables in use.
 */
bool
dbl_make_room(DblEntry *mine, Size size, bool system_full, TimestampTz *give_up)
{
	bool		locked = InterruptHoldoffCount > 0;
	uint64		freed = 0;

	if (!dbl_may_evict)
		return false;
	if (*give_up == 0)
		*give_up = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), PATIENCE_MS);
	else if (GetCurrentTimestamp() >= *give_up)
		return false;
	for (;;)
	{
		bool		room;

		/* a cancel may be why there was no memory */
		if (QueryCancelPending || ProcDiePending)
			return false;
		LWLockAcquire(&dbl_control->evict_lock, LW_EXCLUSIVE);
		room = evict_until(size, system_full, &freed);
		LWLockRelease(&dbl_control->evict_lock);
		if (freed > 0)
			dbl_mapping_wait(size, system_full);
		if (room)
			return true;
		if (locked || !others_remain(mine) || GetCurrentTimestamp() >= *give_up)
			return freed > 0 && system_full;
		if (ProcSignalBarrierPending)
			ProcessProcSignalBarrier();
		dbl_tables_unmap_stale();
		pg_usleep(NAP_US);
	}
}

/* Evict the oldest store, because there are too many.  Returns whether there was one. */
bool
dbl_evict_one(void)
{
	Candidate	after = {PG_INT64_MIN, -1};
	Candidate	found[CANDIDATES];
	uint64		freed = 0;
	bool		done = false;
	int			n;

	LWLockAcquire(&dbl_control->evict_lock, LW_EXCLUSIVE);
	while (!done && (n = find_candidates(&after, true, found)) > 0)
	{
		for (int i = 0; i < n && !done; i++)
			done = evict(dbl_entry_at(found[i].entry), &freed);
		after = found[n - 1];
	}
	LWLockRelease(&dbl_control->evict_lock);
	return done;
}
