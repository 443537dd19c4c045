/*-------------------------------------------------------------------------
 *
 * freeze.c
 *	  Freezing: what becomes of a version's old transaction ids.
 *
 * Works on copies of versions; who calls writes what has changed.  The rules
 * are those of heap_prepare_freeze_tuple(): xids older than the limit go, and
 * multixacts older than theirs are replaced by what is left of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/multixact.h"
#include "access/transam.h"
#include "access/xact.h"
#include "storage/procarray.h"
#include "utils/snapmgr.h"

#include "mvcc/rowlock.h"
#include "table/maintain.h"

/*
 * Under old_snapshot_threshold core's limits (vacuum_set_xid_limits()) let go of what snapshots that are too old could
 * still see.  Heap's pages tell such a snapshot so by their LSN; in memory there is no such thing, and the
 * rows would be missing without a word.  So they stay as long as any snapshot does.
 */
void
dbl_spare_old_snapshots(Relation rel, TransactionId *oldest_xmin, TransactionId *freeze_limit)
{
	if (!OldSnapshotThresholdActive())
		return;
	*oldest_xmin = GetOldestNonRemovableTransactionId(rel);
	if (TransactionIdPrecedes(*oldest_xmin, *freeze_limit))
		*freeze_limit = *oldest_xmin;
}

/* An xid stays: the table's new relfrozenxid can't be younger. */
static inline void
keep_xid(TransactionId xid, DblOldest *oldest)
{
	if (TransactionIdIsNormal(xid) && TransactionIdPrecedes(xid, oldest->xid))
		oldest->xid = xid;
}

static void
check_xid(TransactionId xid, const DblFreezeCutoffs *cutoffs, const char *what)
{
	if (TransactionIdPrecedes(xid, cutoffs->relfrozenxid))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg_internal("found %s %u from before relfrozenxid %u",
								 what, xid, cutoffs->relfrozenxid)));
}

static void
check_multi(MultiXactId multi, const DblFreezeCutoffs *cutoffs)
{
	if (MultiXactIdPrecedes(multi, cutoffs->relminmxid))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg_internal("found multixact %u from before relminmxid %u",
								 multi, cutoffs->relminmxid)));
}

/* xmax is void for good. */
static void
clear_xmax(DblVersion *v)
{
	v->xmax = InvalidTransactionId;
	v->flags &= ~DBL_F_XMAX_BITS;
}

/* What becomes of xmax, which was a multixact: the updater alone. */
static void
set_updater(DblVersion *v, TransactionId xid, bool committed, DblOldest *oldest)
{
	v->xmax = xid;
	v->flags &= ~(DBL_F_XMAX_BITS & ~(DBL_F_KEYS_UPDATED | DBL_F_MOVED));
	if (committed)
		v->flags |= DBL_F_XMAX_COMMITTED;
	keep_xid(xid, oldest);
}

/*
 * xmax is a multixact from before the cutoff: none of its members can still be running.
 * An updater that matters is kept.
 */
static void
freeze_old_multi(DblVersion *v, const DblFreezeCutoffs *cutoffs, DblOldest *oldest)
{
	MultiXactId multi = v->xmax;
	bool		lock_only = DblXmaxIsLockedOnly(v->flags);
	TransactionId xid;

	if (MultiXactIdIsRunning(multi, lock_only))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg_internal("multixact %u from before cutoff %u found to be still running",
								 multi, cutoffs->multi_cutoff)));
	xid = lock_only ? InvalidTransactionId : dbl_update_xid(v);
	if (!TransactionIdIsValid(xid))
	{
		clear_xmax(v);
		return;
	}
	check_xid(xid, cutoffs, "update xid");
	if (!TransactionIdPrecedes(xid, cutoffs->freeze_limit))
		set_updater(v, xid, false, oldest);
	else if (TransactionIdDidCommit(xid))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg_internal("cannot freeze committed update xid %u", xid)));
	else
		clear_xmax(v);
}

/*
 * xmax is a multixact: see what of it must go.  Returns whether v has changed.
 * May make a new multixact.
 */
static bool
freeze_multi(DblVersion *v, const DblFreezeCutoffs *cutoffs, DblOldest *oldest)
{
	MultiXactId multi = v->xmax;
	MultiXactMember *members;
	int			nmembers;
	int			nkept = 0;
	bool		replace = false;
	bool		has_lockers = false;
	bool		committed = false;
	TransactionId update_xid = InvalidTransactionId;

	if (!MultiXactIdIsValid(multi))
	{
		clear_xmax(v);
		return true;
	}
	check_multi(multi, cutoffs);
	if (MultiXactIdPrecedes(multi, cutoffs->multi_cutoff))
	{
		freeze_old_multi(v, cutoffs, oldest);
		return true;
	}

	nmembers = GetMultiXactIdMembers(multi, &members, false, DblXmaxIsLockedOnly(v->flags));
	if (nmembers <= 0)
	{
		clear_xmax(v);
		return true;
	}
	for (int i = 0; i < nmembers; i++)
		if (TransactionIdPrecedes(members[i].xid, cutoffs->freeze_limit))
			replace = true;
	if (!replace)
	{
		for (int i = 0; i < nmembers; i++)
			keep_xid(members[i].xid, oldest);
		if (MultiXactIdPrecedes(multi, oldest->multi))
			oldest->multi = multi;
		pfree(members);
		return false;
	}

	/* Keep the updater unless it has aborted, and the lockers that still run. */
	for (int i = 0; i < nmembers; i++)
	{
		TransactionId xid = members[i].xid;
		bool		running = TransactionIdIsCurrentTransactionId(xid) ||
			TransactionIdIsInProgress(xid);

		if (ISUPDATE_from_mxstatus(members[i].status))
		{
			check_xid(xid, cutoffs, "update xid");
			if (!running)
			{
				committed = TransactionIdDidCommit(xid);
				if (!committed)
					continue;
			}
			/* a version that such an updater has ended would be dead */
			if (TransactionIdPrecedes(xid, cutoffs->freeze_limit))
				ereport(ERROR,
						(errcode(ERRCODE_DATA_CORRUPTED),
						 errmsg_internal("found update xid %u from before xid cutoff %u",
										 xid, cutoffs->freeze_limit)));
			update_xid = xid;
		}
		else if (running)
			has_lockers = true;
		else
			continue;
		members[nkept++] = members[i];
	}

	if (nkept == 0)
		clear_xmax(v);
	else if (!has_lockers)
		set_updater(v, update_xid, committed, oldest);
	else
	{
		for (int i = 0; i < nkept; i++)
			keep_xid(members[i].xid, oldest);
		v->xmax = MultiXactIdCreateFromMembers(nkept, members);
		v->flags &= ~(DBL_F_XMAX_BITS & ~DBL_F_MOVED);
		v->flags |= dbl_multi_flags(v->xmax);
	}
	pfree(members);
	return true;
}

/*
 * Freeze a version that is not dead: take out of it every xid and multixact
 * that is older than the cutoffs.  v is a copy; returns whether it has changed
 * and must be written.  What stays moves *oldest back.
 *
 * Call it under the lock under which the version was found not to be dead.
 * Raises XX001 when an xid can't be what it is.
 */
bool
dbl_freeze_version(DblVersion *v, const DblFreezeCutoffs *cutoffs, DblOldest *oldest)
{
	bool		changed = false;

	/* xmin */
	if (!(v->flags & DBL_F_XMIN_FROZEN) && TransactionIdIsNormal(v->xmin))
	{
		check_xid(v->xmin, cutoffs, "xmin");
		if (TransactionIdPrecedes(v->xmin, cutoffs->freeze_limit))
		{
			if (!TransactionIdDidCommit(v->xmin))
				ereport(ERROR,
						(errcode(ERRCODE_DATA_CORRUPTED),
						 errmsg_internal("uncommitted xmin %u from before xid cutoff %u needs to be frozen",
										 v->xmin, cutoffs->freeze_limit)));
			v->flags |= DBL_F_XMIN_FROZEN;
			changed = true;
		}
		else
			keep_xid(v->xmin, oldest);
	}

	/* xmax */
	if (v->flags & DBL_F_XMAX_MULTI)
		changed |= freeze_multi(v, cutoffs, oldest);
	else if (TransactionIdIsNormal(v->xmax))
	{
		check_xid(v->xmax, cutoffs, "xmax");
		if (TransactionIdPrecedes(v->xmax, cutoffs->freeze_limit))
		{
			/* a lock that old is void, whatever became of its holder */
			if (!DblXmaxIsLockedOnly(v->flags) && TransactionIdDidCommit(v->xmax))
				ereport(ERROR,
						(errcode(ERRCODE_DATA_CORRUPTED),
						 errmsg_internal("cannot freeze committed xmax %u", v->xmax)));
			clear_xmax(v);
			changed = true;
		}
		else
			keep_xid(v->xmax, oldest);
	}
	else if (v->xmax != InvalidTransactionId)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg_internal("found xmax %u (flags 0x%08x) not frozen, not multi, not normal",
								 v->xmax, v->flags)));
	return changed;
}

/*
 * A version is dead, but must stay where it is because a real index may point
 * at it.  If it holds an xid or multixact older than the cutoffs, make it dead
 * by itself, so that nobody asks about them any more: the counterpart of
 * heap's dead line pointers.  Otherwise what it holds moves *oldest back.
 * v is a copy; returns whether it has changed and must be written.
 */
bool
dbl_bury_version(DblVersion *v, const DblFreezeCutoffs *cutoffs, DblOldest *oldest)
{
	bool		multi = (v->flags & DBL_F_XMAX_MULTI) != 0;
	bool		old = false;

	/* buried before? */
	if ((v->flags & DBL_F_XMIN_DEAD) && v->xmax == InvalidTransactionId)
		return false;

	if (!(v->flags & (DBL_F_XMIN_FROZEN | DBL_F_XMIN_DEAD)))
		old = TransactionIdPrecedes(v->xmin, cutoffs->freeze_limit);
	/* a multixact has members of which any may be old */
	if (multi || TransactionIdPrecedes(v->xmax, cutoffs->freeze_limit))
		old |= v->xmax != InvalidTransactionId;

	if (old)
	{
		clear_xmax(v);
		v->flags &= ~(DBL_F_XMIN_FROZEN | DBL_F_XMIN_COMMITTED);
		v->flags |= DBL_F_XMIN_DEAD;
		return true;
	}

	if (!(v->flags & (DBL_F_XMIN_FROZEN | DBL_F_XMIN_DEAD)))
		keep_xid(v->xmin, oldest);
	keep_xid(v->xmax, oldest);
	return false;
}
