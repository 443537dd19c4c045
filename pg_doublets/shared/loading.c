/*-------------------------------------------------------------------------
 *
 * loading.c
 *	  Loading a store, and waiting for whoever does.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "portability/instr_time.h"
#include "postmaster/startup.h"
#include "storage/ipc.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "shared/shared_impl.h"

/* Also when a backend exits in the middle. */
static void
load_failed(int code, Datum arg)
{
	DblTable   *t = (DblTable *) DatumGetPointer(arg);
	DblEntry   *e = t->entry;

	if (!LWLockHeldByMe(&e->lock))
		LWLockAcquire(&e->lock, LW_EXCLUSIVE);
	dbl_entry_unload(e);
	LWLockRelease(&e->lock);
	dbl_tables_unmap_stale();
	ConditionVariableBroadcast(&e->cv);
}

/* Load the store.  The lock is held exclusively, the store is unloaded; the lock is released. */
void
dbl_entry_load(Relation rel, DblTable *t)
{
	DblEntry   *e = t->entry;
	instr_time	start;
	instr_time	end;
	bool		replaying = RecoveryInProgress();

	if (replaying)
	{
		/*
		 * Replay changes pages while we read them, unless it can see that we do.
		 */
		LWLockRelease(&e->lock);
		LWLockAcquire(&dbl_control->redo_lock, LW_SHARED);
		LWLockAcquire(&e->lock, LW_EXCLUSIVE);
		if (e->state != DBL_UNLOADED || !RelFileNodeEquals(e->node, t->node))
		{
			LWLockRelease(&e->lock);
			LWLockRelease(&dbl_control->redo_lock);
			return;
		}
	}
	e->state = DBL_LOADING;
	e->doomed = false;
	e->generation++;
	e->relid = RelationGetRelid(rel);
	e->last_used = GetCurrentStatementStartTimestamp();
	memset(&e->progress, 0, sizeof(e->progress));
	e->progress.pid = MyProcPid;
	LWLockRelease(&e->lock);
	if (replaying)
		LWLockRelease(&dbl_control->redo_lock);

	/* this may take a while, and others want the memory */
	dbl_tables_unmap_stale();
	INSTR_TIME_SET_CURRENT(start);
	PG_ENSURE_ERROR_CLEANUP(load_failed, PointerGetDatum(t));
	{
		if (t->store.shared != NULL)
			dbl_store_detach(&t->store);
		dbl_memory_unmap(t);
		dbl_store_init(&e->store, RelationGetNumberOfAttributes(rel) == DBL_NCOLUMNS);
		dbl_memory_bind(t);
		if (!dbl_store_refresh(&t->store))
			dbl_memory_error();
		dbl_load_hook(rel, t);
	}
	PG_END_ENSURE_ERROR_CLEANUP(load_failed, PointerGetDatum(t));
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);

	LWLockAcquire(&e->lock, LW_EXCLUSIVE);
	if (e->doomed)
		dbl_entry_unload(e);
	else
	{
		e->state = DBL_LOADED;
		e->load_ms = INSTR_TIME_GET_MILLISEC(end);
		e->loaded_at = GetCurrentTimestamp();
	}
	LWLockRelease(&e->lock);
	ConditionVariableBroadcast(&e->cv);
}

/* Wait until nobody loads the store. */
void
dbl_entry_wait(DblEntry *e)
{
	ConditionVariablePrepareToSleep(&e->cv);
	for (;;)
	{
		bool		loading;

		LWLockAcquire(&e->lock, LW_SHARED);
		loading = e->state == DBL_LOADING;
		LWLockRelease(&e->lock);
		if (!loading)
			break;

		/* the loader may have evicted, and wait for, what we have mapped */
		dbl_tables_unmap_stale();
		(void) ConditionVariableTimedSleep(&e->cv, 20, PG_WAIT_EXTENSION);
		if (AmStartupProcess())
			HandleStartupProcInterrupts();
	}
	ConditionVariableCancelSleep();
}

DblLoadProgress *
dbl_table_progress(DblTable *t)
{
	static DblLoadProgress unseen;

	return t->local ? &unseen : &t->entry->progress;
}
