/*-------------------------------------------------------------------------
 *
 * lock.c
 *	  Row locks: SELECT FOR ..., triggers, EvalPlanQual, foreign keys.
 *
 * The protocol is that of heap_lock_tuple(), with the store lock in the place
 * of the buffer lock; access/heap/README.tuplock explains it.  A lock on a
 * version whose update is in progress, or has committed, may have to be taken
 * on its successors too: lock_successors().
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/multixact.h"
#include "access/transam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "mvcc/rowlock.h"
#include "table/fetch.h"
#include "table/modify.h"

static void
could_not_lock(Relation rel)
{
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("could not obtain lock on row in relation \"%s\"",
					RelationGetRelationName(rel))));
}

/* Wait for a transaction as the policy says; false: skip. */
static bool
wait_for_xact(Relation rel, ItemPointer tid, TransactionId xid, LockWaitPolicy policy,
			  XLTW_Oper oper)
{
	switch (policy)
	{
		case LockWaitBlock:
			XactLockTableWait(xid, rel, tid, oper);
			break;
		case LockWaitSkip:
			return ConditionalXactLockTableWait(xid);
		case LockWaitError:
			if (!ConditionalXactLockTableWait(xid))
				could_not_lock(rel);
			break;
	}
	return true;
}

/* The same for a multixact: those of its members who conflict with the mode. */
static bool
wait_for_multi(Relation rel, ItemPointer tid, MultiXactId multi, uint32 flags,
			   LockTupleMode mode, LockWaitPolicy policy)
{
	MultiXactStatus status = dbl_status_for_lock(mode, false);

	if (dbl_multi_wait(multi, status, flags, policy != LockWaitBlock, rel, tid, XLTW_Lock, NULL))
		return true;
	if (policy == LockWaitError)
		could_not_lock(rel);
	return false;
}

/* Record the lock in xmax.  Exclusive store lock held. */
static void
write_lock(Relation rel, DblTable *t, DblSlot slot, DblVersion *v, LockTupleMode mode)
{
	DblChange	change;

	dbl_compute_xmax(v->xmax, v->flags, GetCurrentTransactionId(), mode, false,
					 &change.xmax, &change.flags);

	/*
	 * If xmax only locks now, whatever update it had has aborted, and with it the successor.  A
	 * multixact may go on with its updater.
	 */
	if (change.flags & DBL_F_XMAX_LOCK_ONLY)
		change.next = (v->flags & DBL_F_SPECULATIVE) ? v->next : DBL_NO_SLOT;
	else
	{
		change.next = v->next;
		change.flags |= v->flags & DBL_F_MOVED;
	}
	change.flags |= v->flags & ~DBL_F_XMAX_BITS;
	change.cmax = v->cmax;
	dbl_write_change(rel, t, slot, &change, DBL_CHANGE_LOCK, 0);
}

/* How one holder of a version stands to a lock that we want on it. */
typedef enum Holder
{
	HOLDER_IS_US,				/* it is locked by us already */
	HOLDER_IN_THE_WAY,			/* wait for it */
	HOLDER_HAS_CHANGED,			/* a conflicting update or delete has committed */
	HOLDER_HARMLESS
} Holder;

static Holder
test_holder(TransactionId xid, MultiXactStatus status, LockTupleMode mode)
{
	bool		conflict = dbl_statuses_conflict(status, dbl_status_for_lock(mode, false));

	if (TransactionIdIsCurrentTransactionId(xid))
		return HOLDER_IS_US;
	if (TransactionIdIsInProgress(xid))
		return conflict ? HOLDER_IN_THE_WAY : HOLDER_HARMLESS;
	if (TransactionIdDidCommit(xid) && ISUPDATE_from_mxstatus(status) && conflict)
		return HOLDER_HAS_CHANGED;
	return HOLDER_HARMLESS;
}

/* The worst of all holders of a version; who, in *xid. */
static Holder
test_holders(const DblVersion *v, LockTupleMode mode, TransactionId *xid)
{
	MultiXactMember *members;
	int			nmembers;
	Holder		result = HOLDER_HARMLESS;

	if (v->xmax == InvalidTransactionId || (v->flags & DBL_F_XMAX_ABORTED))
		return HOLDER_HARMLESS;
	if (!(v->flags & DBL_F_XMAX_MULTI))
	{
		*xid = v->xmax;
		return test_holder(v->xmax, dbl_status_of_xmax(v->flags), mode);
	}

	nmembers = GetMultiXactIdMembers(v->xmax, &members, false, DblXmaxIsLockedOnly(v->flags));
	for (int i = 0; i < nmembers && result == HOLDER_HARMLESS; i++)
	{
		*xid = members[i].xid;
		result = test_holder(members[i].xid, members[i].status, mode);
	}
	if (nmembers > 0)
		pfree(members);
	return result;
}

/*
 * Lock the successors of a version too, from slot `next` on, whose predecessor had
 * prior_xmax (and flags).  Otherwise a weak lock on a version whose update is in
 * progress would be lost with that version.  Store lock not held; may wait.
 * Assigns a transaction id.  As heap_lock_updated_tuple().
 */
static TM_Result
lock_successors(Relation rel, DblTable *t, TransactionId prior_xmax, uint32 prior_flags,
				DblSlot next, LockTupleMode mode)
{
	DblVersion	prior = {.xmax = prior_xmax,.flags = prior_flags};
	TM_Result	result = TM_Ok;

	/* a row that has moved to another partition has no successor here */
	if ((prior_flags & DBL_F_MOVED) || next == DBL_NO_SLOT)
		return TM_Ok;

	(void) GetCurrentTransactionId();
	MultiXactIdSetOldestMember();
	prior_xmax = dbl_update_xid(&prior);

	for (;;)
	{
		DblVersion *v;
		ItemPointerData tid;
		TransactionId holder = InvalidTransactionId;
		Holder		how;

		CHECK_FOR_INTERRUPTS();

		dbl_table_lock(rel, t, LW_EXCLUSIVE);
		v = dbl_version_or_null(t, next);

		/* Pruned, used again for another row, or of an update that failed: the chain ends. */
		if (v == NULL ||
			(TransactionIdIsValid(prior_xmax) && !dbl_version_continues(v, prior_xmax)) ||
			TransactionIdDidAbort(v->xmin))
			break;

		how = test_holders(v, mode, &holder);
		if (how == HOLDER_IN_THE_WAY)
		{
			dbl_table_unlock(t);
			DblSlotToTid(next, &tid);
			XactLockTableWait(holder, rel, &tid, XLTW_LockUpdated);
			continue;
		}
		if (how == HOLDER_HAS_CHANGED)
		{
			result = dbl_gone(v);
			break;
		}
		if (how == HOLDER_HARMLESS)
		{
			write_lock(rel, t, next, v, mode);
			v = dbl_version(&t->store, next);
		}

		if (dbl_is_only_locked(v) || (v->flags & DBL_F_MOVED) || v->next == DBL_NO_SLOT)
			break;
		prior_xmax = dbl_update_xid(v);
		next = v->next;
		dbl_table_unlock(t);
	}
	dbl_table_unlock(t);
	return result;
}

/* Do we hold a lock of this strength on it already, as the sole holder? */
static bool
own_lock_suffices(uint32 flags, LockTupleMode mode)
{
	uint32		locks = flags & DBL_F_XMAX_LOCKS;

	switch (mode)
	{
		case LockTupleKeyShare:
			return true;
		case LockTupleShare:
			return locks == DBL_F_XMAX_SHR || locks == DBL_F_XMAX_EXCL;
		case LockTupleNoKeyExclusive:
			return locks == DBL_F_XMAX_EXCL;
		case LockTupleExclusive:
			return locks == DBL_F_XMAX_EXCL && (flags & DBL_F_KEYS_UPDATED);
	}
	return false;
}

/*
 * Lock the version in `slot`; on TM_Ok (and otherwise, if there is one) *copy is
 * what it is now.  As heap_lock_tuple().
 */
static TM_Result
lock_version(Relation rel, DblTable *t, DblSlot slot, CommandId cid, LockTupleMode mode,
			 LockWaitPolicy policy, bool follow_updates, TM_FailureData *tmfd, DblVersion *copy)
{
	ItemPointerData tid;
	DblVersion *v;
	TM_Result	result;
	bool		first_time = true;
	bool		skip_tuplock = false;
	bool		have_tuplock = false;

	DblSlotToTid(slot, &tid);

retry:
	dbl_table_lock(rel, t, LW_EXCLUSIVE);
	v = dbl_version_or_null(t, slot);
	if (v == NULL)
	{
		/* nobody who has a snapshot on it can see it vanish; a stale TID can */
		dbl_table_unlock(t);
		dbl_release_tuplock(rel, &tid, mode, have_tuplock);
		memset(copy, 0, sizeof(*copy));
		tmfd->ctid = tid;
		tmfd->xmax = InvalidTransactionId;
		tmfd->cmax = InvalidCommandId;
		return TM_Deleted;
	}
	result = dbl_satisfies_update(v, cid);

	if (result == TM_Invisible)
	{
		/* possible after an INSERT ... ON CONFLICT of our own command */
		*copy = *v;
		dbl_table_unlock(t);
		dbl_release_tuplock(rel, &tid, mode, have_tuplock);
		return result;
	}

	if (result == TM_BeingModified || result == TM_Updated || result == TM_Deleted)
	{
		TransactionId xwait = v->xmax;
		uint32		flags = v->flags;
		DblSlot		next = (flags & DBL_F_SPECULATIVE) ? DBL_NO_SLOT : v->next;
		bool		has_update = !DblXmaxIsLockedOnly(flags);
		bool		sleep = true;

		if (first_time)
		{
			first_time = false;
			if (flags & DBL_F_XMAX_MULTI)
			{
				MultiXactMember *members;
				int			nmembers = GetMultiXactIdMembers(xwait, &members, false, !has_update);
				bool		done = false;

				for (int i = 0; i < nmembers; i++)
				{
					if (!TransactionIdIsCurrentTransactionId(members[i].xid))
						continue;
					if (dbl_lock_of_status(members[i].status) >= mode)
						done = true;
					else

						/*
						 * We hold a weaker lock: queueing for a stronger one behind others
						 * who wait for us would deadlock.
						 */
						skip_tuplock = true;
				}
				if (nmembers > 0)
					pfree(members);
				if (done)
				{
					*copy = *v;
					dbl_table_unlock(t);
					return TM_Ok;
				}
			}
			else if (TransactionIdIsCurrentTransactionId(xwait) && own_lock_suffices(flags, mode))
			{
				*copy = *v;
				dbl_table_unlock(t);
				return TM_Ok;
			}
		}

		/* Cases in which nobody has to be waited for. */
		if (mode == LockTupleKeyShare)
		{
			if (!(flags & DBL_F_KEYS_UPDATED))
			{
				if (follow_updates && has_update && next != DBL_NO_SLOT)
				{
					TM_Result	res;

					dbl_table_unlock(t);
					res = lock_successors(rel, t, xwait, flags, next, mode);
					if (res != TM_Ok)
					{
						result = res;
						goto relock_failed;
					}
					dbl_table_lock(rel, t, LW_EXCLUSIVE);
					v = dbl_version_or_null(t, slot);

					/*
					 * A stronger lock, or an update that we did not follow, has come since?  Like heap,
					 * this lets a FOR UPDATE pass that somebody else took while we waited for a
					 * successor; a change of the row by him will wait for us.
					 */
					if (v == NULL ||
						(!DblXmaxIsLockedOnly(v->flags) &&
						 ((v->flags & DBL_F_KEYS_UPDATED) || !has_update)))
					{
						dbl_table_unlock(t);
						goto retry;
					}
				}
				sleep = false;
			}
		}
		else if (mode == LockTupleShare)
		{
			if (DblXmaxIsLockedOnly(flags) &&
				(flags & DBL_F_XMAX_LOCKS) != DBL_F_XMAX_EXCL)
				sleep = false;
		}
		else if (mode == LockTupleNoKeyExclusive)
		{
			if (flags & DBL_F_XMAX_MULTI)
				sleep = dbl_multi_conflicts(xwait, flags, mode, NULL);
			else if ((flags & DBL_F_XMAX_LOCKS) == DBL_F_XMAX_KEYSHR)
				sleep = false;
		}

		/* Our own weaker lock is not in the way either. */
		if (sleep && !(flags & DBL_F_XMAX_MULTI) && TransactionIdIsCurrentTransactionId(xwait))
		{
			Assert(DblXmaxIsLockedOnly(flags));
			sleep = false;
		}

		if (sleep && (result == TM_Updated || result == TM_Deleted))
			goto failed;

		if (sleep)
		{
			dbl_table_unlock(t);
			if (!skip_tuplock && !dbl_acquire_tuplock(rel, &tid, mode, policy, &have_tuplock))
			{
				result = TM_WouldBlock;
				goto relock_failed;
			}
			if (!((flags & DBL_F_XMAX_MULTI) ?
				  wait_for_multi(rel, &tid, xwait, flags, mode, policy) :
				  wait_for_xact(rel, &tid, xwait, policy, XLTW_Lock)))
			{
				result = TM_WouldBlock;
				goto relock_failed;
			}
			if (follow_updates && has_update && next != DBL_NO_SLOT)
			{
				TM_Result	res = lock_successors(rel, t, xwait, flags, next, mode);

				if (res != TM_Ok)
				{
					result = res;
					goto relock_failed;
				}
			}

			dbl_table_lock(rel, t, LW_EXCLUSIVE);
			v = dbl_version_or_null(t, slot);
			if (v == NULL || dbl_xmax_changed(v, xwait, flags))
			{
				dbl_table_unlock(t);
				goto retry;
			}
			if (!(flags & DBL_F_XMAX_MULTI))
				dbl_note_xmax_outcome(v, xwait);
		}

		Assert(dbl_table_held(t, LW_EXCLUSIVE));
		result = !sleep || dbl_is_only_locked(v) ? TM_Ok : dbl_gone(v);
	}

failed:
	if (result != TM_Ok)
	{
		dbl_fill_failure(t, slot, v, result, tmfd);
		*copy = *v;
		dbl_table_unlock(t);
		dbl_release_tuplock(rel, &tid, mode, have_tuplock);
		return result;
	}

	/*
	 * A transaction that has done nothing but wait so far gets its id now, as on heap: the members of a
	 * multixact are waited for in the order of their ids.  It may not be assigned under the store lock,
	 * for that may write WAL.
	 */
	if (!TransactionIdIsValid(GetCurrentTransactionIdIfAny()))
	{
		dbl_table_unlock(t);
		(void) GetCurrentTransactionId();
		goto retry;
	}

	MultiXactIdSetOldestMember();
	write_lock(rel, t, slot, v, mode);
	*copy = *dbl_version(&t->store, slot);
	dbl_table_unlock(t);
	dbl_release_tuplock(rel, &tid, mode, have_tuplock);
	return TM_Ok;

relock_failed:
	dbl_table_lock(rel, t, LW_EXCLUSIVE);
	v = dbl_version_or_null(t, slot);
	if (v == NULL)
	{
		dbl_table_unlock(t);
		goto retry;
	}
	goto failed;
}

/*
 * What became of a row whose version was updated: walk from *tid, the successor of a version with
 * update xid prior_xmax, to the one to be locked.  Returns TM_Ok with *tid set, or why there is none.
 * Waits as the policy says.  As the loop in heapam_tuple_lock().
 */
static TM_Result
find_last_version(Relation rel, DblTable *t, ItemPointer tid, TransactionId prior_xmax,
				  CommandId cid, LockWaitPolicy policy, TM_FailureData *tmfd)
{
	for (;;)
	{
		SnapshotData dirty;
		DblSlot		slot;
		DblVersion *v;
		DblVersion	copy;
		bool		live;

		if (ItemPointerIndicatesMovedPartitions(tid))
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("tuple to be locked was already moved to another partition due to concurrent update")));

		InitDirtySnapshot(dirty);
		slot = DblTidToSlot(tid);
		dbl_table_lock(rel, t, LW_SHARED);
		v = dbl_version_or_null(t, slot);
		live = v != NULL && dbl_visible(v, &dirty);
		if (v != NULL)
			copy = *v;
		dbl_table_unlock(t);

		/* Gone, or another row by now: the last version has been deleted. */
		if (v == NULL || !dbl_version_continues(&copy, prior_xmax))
			return TM_Deleted;

		if (!live)
		{
			/* deleted or updated by a committed transaction, or by us */
			if (copy.flags & DBL_F_MOVED)
				ItemPointerSetMovedPartitions(tid);
			else if (copy.next == DBL_NO_SLOT || (copy.flags & DBL_F_SPECULATIVE))
				return TM_Deleted;
			else
				DblSlotToTid(copy.next, tid);
			prior_xmax = dbl_update_xid(&copy);
			continue;
		}

		if (TransactionIdIsValid(dirty.xmin))
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg_internal("xmin %u is uncommitted in slot %u to be updated in table \"%s\"",
									 dirty.xmin, slot, RelationGetRelationName(rel))));

		if (TransactionIdIsValid(dirty.xmax))
		{
			if (!wait_for_xact(rel, tid, dirty.xmax, policy, XLTW_FetchUpdated))
				return TM_WouldBlock;
			continue;
		}

		/* A version that our own command has made is not for this command to see. */
		if (TransactionIdIsCurrentTransactionId(prior_xmax) && copy.cmin >= cid)
		{
			tmfd->xmax = prior_xmax;
			tmfd->cmax = copy.cmin;
			return TM_SelfModified;
		}
		return TM_Ok;
	}
}

TM_Result
dbl_tuple_lock(Relation rel, ItemPointer tid, Snapshot snapshot, TupleTableSlot *slot,
			   CommandId cid, LockTupleMode mode, LockWaitPolicy policy, uint8 flags,
			   TM_FailureData *tmfd)
{
	DblTable   *t = dbl_table_open(rel);
	bool		follow = (flags & TUPLE_LOCK_FLAG_LOCK_UPDATE_IN_PROGRESS) != 0;
	DblVersion	v;
	TM_Result	result;

	tmfd->traversed = false;

	for (;;)
	{
		result = lock_version(rel, t, DblTidToSlot(tid), cid, mode, policy, follow, tmfd, &v);
		if (result != TM_Updated || !(flags & TUPLE_LOCK_FLAG_FIND_LAST_VERSION))
			break;
		if (ItemPointerEquals(&tmfd->ctid, tid))
			return TM_Deleted;

		*tid = tmfd->ctid;
		tmfd->traversed = true;
		result = find_last_version(rel, t, tid, tmfd->xmax, cid, policy, tmfd);
		if (result != TM_Ok)
			return result;
	}

	if (v.flags & DBL_F_USED)
		dbl_slot_store(slot, rel, &v, DblTidToSlot(tid));
	return result;
}
