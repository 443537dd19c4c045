/*-------------------------------------------------------------------------
 *
 * mapping.c
 *	  Which processes have a store mapped, and what becomes of its memory when it goes.
 *
 * The system has the memory of a store back only when the last process has
 * unmapped it.  So handles are counted per entry; when a store goes, its count
 * moves to the list of memory that is leaving, and those who still have it
 * mapped are told: an idle backend by the interrupt that sinval uses to wake those who lag
 * behind, one that idles within a transaction by an invalidation message besides, since only
 * then does that interrupt run any code of ours.  All others see it at the end of
 * their transaction, or when they lock a relation.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/proc.h"
#include "storage/procsignal.h"
#include "storage/sinval.h"
#include "utils/timestamp.h"

#include "shared/shared_impl.h"

/* How long to wait for those who have mapped what went; and how long not to wait again. */
#define PATIENCE_MS			1000
#define PATIENCE_LOCKED_MS	20
#define VAIN_MS				10000

/* A handle has been bound to its entry's store, whose lock is held (or which we are loading). */
void
dbl_mapping_begin(DblTable *t)
{
	DblPrivate *priv = t->private_data;

	Assert(priv->mapped == NULL);
	LWLockAcquire(&dbl_control->mapping_lock, LW_EXCLUSIVE);
	t->entry->nmapped++;
	priv->mapped = t->entry;
	priv->mapped_generation = t->entry->generation;
	LWLockRelease(&dbl_control->mapping_lock);
}

/* It has been unmapped. */
void
dbl_mapping_end(DblTable *t)
{
	DblPrivate *priv = t->private_data;
	DblEntry   *e = priv->mapped;

	if (e == NULL)
		return;
	priv->mapped = NULL;
	LWLockAcquire(&dbl_control->mapping_lock, LW_EXCLUSIVE);
	if (e->generation == priv->mapped_generation)
		e->nmapped--;
	else
	{
		for (int i = 0; i < dbl_control->nleaving; i++)
		{
			DblLeaving *l = &dbl_control->leaving[i];

			if (l->entry != e || l->generation != priv->mapped_generation)
				continue;
			if (--l->nmapped == 0)
			{
				dbl_control->leaving_bytes -= l->bytes;
				*l = dbl_control->leaving[--dbl_control->nleaving];
			}
			break;
		}
	}
	LWLockRelease(&dbl_control->mapping_lock);
}

/*
 * The store of an entry goes; its lock is held exclusively, and its memory not released yet.  Counts that no
 * longer, and moves the entry on to its next generation.  Returns whether another process has it mapped.
 */
bool
dbl_mapping_gone(DblEntry *e)
{
	DblTable   *t = dbl_table_handle(e->node, false);
	DblPrivate *mine = t ? t->private_data : NULL;
	int			others;

	LWLockAcquire(&dbl_control->mapping_lock, LW_EXCLUSIVE);
	others = e->nmapped;
	if (mine != NULL && mine->mapped == e && mine->mapped_generation == e->generation)
		others--;

	/* where the list is full the memory is taken for gone, which is nearly true */
	if (e->nmapped > 0 && e->memory.nextents > 0 && dbl_control->nleaving < DBL_MAX_LEAVING)
	{
		DblLeaving *l = &dbl_control->leaving[dbl_control->nleaving++];

		l->entry = e;
		l->generation = e->generation;
		l->nmapped = e->nmapped;
		l->bytes = e->memory.bytes - e->memory.area_bytes;
		dbl_control->leaving_bytes += l->bytes;
	}
	pg_atomic_fetch_sub_u64(&dbl_control->bytes, e->memory.bytes);
	e->nmapped = 0;
	e->generation++;
	LWLockRelease(&dbl_control->mapping_lock);
	return others > 0 && e->memory.nextents > 0;
}

/* Wake the backends of a database, so that they unmap what has gone. */
void
dbl_mapping_tell(Oid dbid, Oid relid)
{
	SharedInvalidationMessage msg;

	/* AcceptInvalidationMessages() calls back for a message only */
	memset(&msg, 0, sizeof(msg));
	msg.rc.id = SHAREDINVALRELCACHE_ID;
	msg.rc.dbId = dbid;
	msg.rc.relId = relid;
	SendSharedInvalidMessages(&msg, 1);

	for (uint32 i = 0; i < ProcGlobal->allProcCount; i++)
	{
		PGPROC	   *proc = &ProcGlobal->allProcs[i];
		int			pid = proc->pid;

		/* read without a lock: who starts or ends now has nothing mapped */
		if (pid != 0 && pid != MyProcPid && proc->databaseId == dbid &&
			proc->backendId != InvalidBackendId)
			(void) SendProcSignal(pid, PROCSIG_CATCHUP_INTERRUPT, proc->backendId);
	}
}

/* Does the limit allow for so much more, what is leaving included? */
static bool
below_limit(Size size)
{
	uint64		limit = (uint64) dbl_max_memory_mb * 1024 * 1024;

	/* read without the lock: what matters is that it falls */
	return pg_atomic_read_u64(&dbl_control->bytes) + dbl_control->leaving_bytes + size <= limit;
}

/*
 * Wait for a while, a short one with LWLocks held, until others have unmapped enough of what is
 * leaving that the limit allows for `size` bytes more, or (system_full) until nothing is leaving.  In vain is
 * no reason to fail: the limit is for stores in use.
 */
void
dbl_mapping_wait(Size size, bool system_full)
{
	static TimestampTz vain_until = 0;
	TimestampTz now;
	TimestampTz until;

	if (dbl_control->leaving_bytes == 0 ||
		(!system_full && (dbl_max_memory_mb == 0 || below_limit(size))))
		return;
	dbl_tables_unmap_stale();
	now = GetCurrentTimestamp();
	if (now < vain_until)
		return;
	until = TimestampTzPlusMilliseconds(now, InterruptHoldoffCount > 0 ?
										PATIENCE_LOCKED_MS : PATIENCE_MS);
	while (dbl_control->leaving_bytes > 0 && (system_full || !below_limit(size)))
	{
		if (now >= until || QueryCancelPending || ProcDiePending)
		{
			/* somebody sits on it: don't wait for each piece */
			vain_until = TimestampTzPlusMilliseconds(now, VAIN_MS);
			break;
		}
		pg_usleep(1000);

		/* others wait for us likewise */
		dbl_tables_unmap_stale();
		now = GetCurrentTimestamp();
	}
}
