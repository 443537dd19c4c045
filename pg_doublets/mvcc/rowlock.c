/*-------------------------------------------------------------------------
 *
 * rowlock.c
 *	  Row locks: their strengths, conflicts and waits, and the xmax that records
 *	  them.
 *
 * The protocol is heap's (access/heap/README.tuplock): a lock is recorded in
 * xmax, several at a time as a MultiXactId; who has to wait first takes the
 * heavyweight tuple lock of the strength it wants, so that waiters queue.
 *
 * Nothing that waits here may be called with the store lock held.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "storage/procarray.h"
#include "utils/rel.h"

#include "mvcc/rowlock.h"

/* Heavyweight lock for each tuple lock mode; conflicts follow from it. */
static const LOCKMODE heavy_lock[] = {
	[LockTupleKeyShare] = AccessShareLock,
	[LockTupleShare] = RowShareLock,
	[LockTupleNoKeyExclusive] = ExclusiveLock,
	[LockTupleExclusive] = AccessExclusiveLock
};

LOCKMODE
dbl_heavy_lock(LockTupleMode mode)
{
	return heavy_lock[mode];
}

LockTupleMode
dbl_lock_of_status(MultiXactStatus status)
{
	switch (status)
	{
		case MultiXactStatusForKeyShare:
			return LockTupleKeyShare;
		case MultiXactStatusForShare:
			return LockTupleShare;
		case MultiXactStatusForNoKeyUpdate:
		case MultiXactStatusNoKeyUpdate:
			return LockTupleNoKeyExclusive;
		case MultiXactStatusForUpdate:
		case MultiXactStatusUpdate:
			break;
	}
	return LockTupleExclusive;
}

MultiXactStatus
dbl_status_for_lock(LockTupleMode mode, bool is_update)
{
	switch (mode)
	{
		case LockTupleKeyShare:
			Assert(!is_update);
			return MultiXactStatusForKeyShare;
		case LockTupleShare:
			Assert(!is_update);
			return MultiXactStatusForShare;
		case LockTupleNoKeyExclusive:
			return is_update ? MultiXactStatusNoKeyUpdate : MultiXactStatusForNoKeyUpdate;
		case LockTupleExclusive:
			break;
	}
	return is_update ? MultiXactStatusUpdate : MultiXactStatusForUpdate;
}

/* What a plain (not multi) xmax holds or does, by its flags. */
MultiXactStatus
dbl_status_of_xmax(uint32 flags)
{
	Assert(!(flags & DBL_F_XMAX_MULTI));

	if (!(flags & DBL_F_XMAX_LOCK_ONLY))
		return (flags & DBL_F_KEYS_UPDATED) ?
			MultiXactStatusUpdate : MultiXactStatusNoKeyUpdate;
	switch (flags & DBL_F_XMAX_LOCKS)
	{
		case DBL_F_XMAX_KEYSHR:
			return MultiXactStatusForKeyShare;
		case DBL_F_XMAX_SHR:
			return MultiXactStatusForShare;
		default:
			return (flags & DBL_F_KEYS_UPDATED) ?
				MultiXactStatusForUpdate : MultiXactStatusForNoKeyUpdate;
	}
}

bool
dbl_statuses_conflict(MultiXactStatus a, MultiXactStatus b)
{
	return DoLockModesConflict(heavy_lock[dbl_lock_of_status(a)],
							   heavy_lock[dbl_lock_of_status(b)]);
}

/* Flags that go with a multixact as xmax, from its members. */
uint32
dbl_multi_flags(MultiXactId multi)
{
	MultiXactMember *members;
	int			nmembers = GetMultiXactIdMembers(multi, &members, false, false);
	LockTupleMode strongest = LockTupleKeyShare;
	bool		has_update = false;
	uint32		flags = DBL_F_XMAX_MULTI;

	for (int i = 0; i < nmembers; i++)
	{
		MultiXactStatus status = members[i].status;

		strongest = Max(strongest, dbl_lock_of_status(status));
		if (status == MultiXactStatusForUpdate || status == MultiXactStatusUpdate)
			flags |= DBL_F_KEYS_UPDATED;
		if (ISUPDATE_from_mxstatus(status))
			has_update = true;
	}
	if (nmembers > 0)
		pfree(members);

	if (strongest >= LockTupleNoKeyExclusive)
		flags |= DBL_F_XMAX_EXCL;
	else if (strongest == LockTupleShare)
		flags |= DBL_F_XMAX_SHR;
	else
		flags |= DBL_F_XMAX_KEYSHR;
	if (!has_update)
		flags |= DBL_F_XMAX_LOCK_ONLY;
	return flags;
}

/*
 * The xmax and its flags (of DBL_F_XMAX_BITS) for a version that transaction
 * `add` is about to lock in `mode`, or to update or delete (is_update), given
 * the xmax and flags it has.  Whoever else still holds something is kept, in a
 * new multixact.  As compute_new_xmax_infomask().
 *
 * The caller has called MultiXactIdSetOldestMember().  May raise, and may write
 * WAL of its own (a new multixact), so call it before the critical section.
 */
void
dbl_compute_xmax(TransactionId xmax, uint32 flags, TransactionId add,
				 LockTupleMode mode, bool is_update,
				 TransactionId *new_xmax, uint32 *new_flags)
{
	MultiXactStatus old_status;

	/* does the old xmax still count? */
	if (xmax == InvalidTransactionId || (flags & DBL_F_XMAX_ABORTED))
		xmax = InvalidTransactionId;
	else if (flags & DBL_F_XMAX_MULTI)
	{
		bool		lock_only = DblXmaxIsLockedOnly(flags);

		if (!MultiXactIdIsRunning(xmax, lock_only))
		{
			DblVersion	v = {.xmax = xmax,.flags = flags};

			/* no locker is left; an update counts if it has committed */
			if (lock_only || !TransactionIdDidCommit(dbl_update_xid(&v)))
				xmax = InvalidTransactionId;
		}
		if (xmax != InvalidTransactionId)
		{
			*new_xmax = MultiXactIdExpand(xmax, add, dbl_status_for_lock(mode, is_update));
			*new_flags = dbl_multi_flags(*new_xmax);
			return;
		}
	}
	else if (!(flags & DBL_F_XMAX_COMMITTED))
	{
		if (TransactionIdIsInProgress(xmax))
		{
			if (xmax == add)
			{
				/*
				 * Our own (sub)transaction has locked it before; the stronger lock
				 * stands.
				 */
				Assert(DblXmaxIsLockedOnly(flags));
				mode = Max(mode, dbl_lock_of_status(dbl_status_of_xmax(flags)));
				xmax = InvalidTransactionId;
			}
		}
		else if (DblXmaxIsLockedOnly(flags) || !TransactionIdDidCommit(xmax))
			xmax = InvalidTransactionId;
	}

	if (xmax != InvalidTransactionId)
	{
		old_status = dbl_status_of_xmax(flags);
		*new_xmax = MultiXactIdCreate(xmax, old_status, add,
									  dbl_status_for_lock(mode, is_update));
		*new_flags = dbl_multi_flags(*new_xmax);
		return;
	}

	*new_xmax = add;
	if (is_update)
		*new_flags = (mode == LockTupleExclusive) ? DBL_F_KEYS_UPDATED : 0;
	else
	{
		*new_flags = DBL_F_XMAX_LOCK_ONLY;
		switch (mode)
		{
			case LockTupleKeyShare:
				*new_flags |= DBL_F_XMAX_KEYSHR;
				break;
			case LockTupleShare:
				*new_flags |= DBL_F_XMAX_SHR;
				break;
			case LockTupleNoKeyExclusive:
				*new_flags |= DBL_F_XMAX_EXCL;
				break;
			case LockTupleExclusive:
				*new_flags |= DBL_F_XMAX_EXCL | DBL_F_KEYS_UPDATED;
				break;
		}
	}
}

/*
 * After xwait, which was the version's plain xmax, has ended: keep its outcome as a hint. Store
 * lock held.
 */
void
dbl_note_xmax_outcome(DblVersion *v, TransactionId xwait)
{
	Assert(v->xmax == xwait && !(v->flags & DBL_F_XMAX_MULTI));

	if (!(v->flags & DBL_F_XMAX_HINTS))
	{
		if (!DblXmaxIsLockedOnly(v->flags) && TransactionIdDidCommit(xwait))
			v->flags |= DBL_F_XMAX_COMMITTED;
		else
			v->flags |= DBL_F_XMAX_ABORTED;
	}
}

/*
 * Does a member of the multixact other than ourselves stand in the way of a lock
 * of this mode?  *current_is_member (may be NULL) tells whether we are in it
 * too.  As DoesMultiXactIdConflict().
 */
bool
dbl_multi_conflicts(MultiXactId multi, uint32 flags, LockTupleMode mode,
					bool *current_is_member)
{
	MultiXactMember *members;
	int			nmembers = GetMultiXactIdMembers(multi, &members, false,
												 DblXmaxIsLockedOnly(flags));
	bool		result = false;

	for (int i = 0; i < nmembers; i++)
	{
		TransactionId xid = members[i].xid;
		MultiXactStatus status = members[i].status;

		if (result && (current_is_member == NULL || *current_is_member))
			break;
		if (TransactionIdIsCurrentTransactionId(xid))
		{
			if (current_is_member != NULL)
				*current_is_member = true;
			continue;
		}
		if (result ||
			!DoLockModesConflict(heavy_lock[dbl_lock_of_status(status)], heavy_lock[mode]))
			continue;
		if (ISUPDATE_from_mxstatus(status))
		{
			if (TransactionIdDidAbort(xid))
				continue;
		}
		else if (!TransactionIdIsInProgress(xid))
			continue;
		result = true;
	}
	if (nmembers > 0)
		pfree(members);
	return result;
}

/*
 * Wait for each member that conflicts with `status`; false when nowait and one is in the way.
 * *remaining (may be NULL) counts members that still run when we are done, ourselves included.  As
 * Do_MultiXactIdWait().
 */
bool
dbl_multi_wait(MultiXactId multi, MultiXactStatus status, uint32 flags, bool nowait,
			   Relation rel, ItemPointer tid, XLTW_Oper oper, int *remaining)
{
	MultiXactMember *members;
	int			nmembers = GetMultiXactIdMembers(multi, &members, false,
												 DblXmaxIsLockedOnly(flags));
	bool		result = true;
	int			remain = 0;

	for (int i = 0; i < nmembers; i++)
	{
		TransactionId xid = members[i].xid;

		if (TransactionIdIsCurrentTransactionId(xid))
		{
			remain++;
			continue;
		}
		if (!dbl_statuses_conflict(members[i].status, status))
		{
			if (remaining && TransactionIdIsInProgress(xid))
				remain++;
			continue;
		}
		if (nowait)
		{
			result = ConditionalXactLockTableWait(xid);
			if (!result)
				break;
		}
		else
			XactLockTableWait(xid, rel, tid, oper);
	}
	if (nmembers > 0)
		pfree(members);
	if (remaining)
		*remaining = remain;
	return result;
}

/*
 * Take the heavyweight tuple lock unless *have is set, and set it.  False when the policy is to
 * skip and somebody holds it; with LockWaitError raises 55P03.
 */
bool
dbl_acquire_tuplock(Relation rel, ItemPointer tid, LockTupleMode mode,
					LockWaitPolicy policy, bool *have)
{
	if (*have)
		return true;

	switch (policy)
	{
		case LockWaitBlock:
			LockTuple(rel, tid, heavy_lock[mode]);
			break;
		case LockWaitSkip:
			if (!ConditionalLockTuple(rel, tid, heavy_lock[mode]))
				return false;
			break;
		case LockWaitError:
			if (!ConditionalLockTuple(rel, tid, heavy_lock[mode]))
				ereport(ERROR,
						(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
						 errmsg("could not obtain lock on row in relation \"%s\"",
								RelationGetRelationName(rel))));
			break;
	}
	*have = true;
	return true;
}

void
dbl_release_tuplock(Relation rel, ItemPointer tid, LockTupleMode mode, bool have)
{
	if (have)
		UnlockTuple(rel, tid, heavy_lock[mode]);
}
