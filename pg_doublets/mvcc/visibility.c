/*-------------------------------------------------------------------------
 *
 * visibility.c
 *	  Which versions a snapshot sees.
 *
 * The rules are those of access/heap/heapam_visibility.c, told over
 * DblVersion.  They differ in what is around them: cmin and cmax are kept
 * apart, so there are no combo command ids, and hints live in shared memory
 * only, so they may be set as soon as they are true: no page is dirtied and no
 * commit record has to be flushed first.
 *
 * As there: ask whether a transaction is in progress before asking whether it
 * has committed, or one that commits in between is taken for crashed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/subtrans.h"
#include "access/transam.h"
#include "access/xact.h"
#include "port/atomics.h"
#include "storage/procarray.h"
#include "utils/snapmgr.h"

#include "mvcc/mvcc.h"

/* Several readers may set hints of one version at a time. */
static inline void
set_hint(DblVersion *v, uint32 hint)
{
	pg_atomic_fetch_or_u32((pg_atomic_uint32 *) &v->flags, hint);
}

static inline bool
xmin_known_committed(uint32 flags)
{
	return (flags & (DBL_F_XMIN_COMMITTED | DBL_F_XMIN_FROZEN)) != 0;
}

static inline bool
xmin_known_aborted(uint32 flags)
{
	return (flags & (DBL_F_XMIN_ABORTED | DBL_F_XMIN_DEAD)) != 0;
}

static inline bool
xmax_is_void(const DblVersion *v, uint32 flags)
{
	return v->xmax == InvalidTransactionId || (flags & DBL_F_XMAX_ABORTED);
}

/*
 * Updater among the members of a multixact; InvalidTransactionId when all only
 * lock.
 */
static TransactionId
multi_update_xid(MultiXactId multi)
{
	MultiXactMember *members;
	TransactionId xid = InvalidTransactionId;
	int			nmembers = GetMultiXactIdMembers(multi, &members, false, false);

	for (int i = 0; i < nmembers; i++)
		if (ISUPDATE_from_mxstatus(members[i].status))
		{
			xid = members[i].xid;
			break;
		}
	if (nmembers > 0)
		pfree(members);
	return xid;
}

TransactionId
dbl_update_xid(const DblVersion *v)
{
	if (v->xmax == InvalidTransactionId || DblXmaxIsLockedOnly(v->flags))
		return InvalidTransactionId;
	if (v->flags & DBL_F_XMAX_MULTI)
		return multi_update_xid(v->xmax);
	return v->xmax;
}

/* As HeapTupleHeaderIsOnlyLocked(). */
bool
dbl_is_only_locked(DblVersion *v)
{
	TransactionId xid;

	if (xmax_is_void(v, v->flags) || DblXmaxIsLockedOnly(v->flags))
		return true;
	if (!(v->flags & DBL_F_XMAX_MULTI))
		return false;
	xid = multi_update_xid(v->xmax);
	if (!TransactionIdIsValid(xid))
		return true;
	if (TransactionIdIsCurrentTransactionId(xid) || TransactionIdIsInProgress(xid) ||
		TransactionIdDidCommit(xid))
		return false;
	return true;
}

static bool
visible_mvcc(DblVersion *v, Snapshot snapshot)
{
	uint32		flags = v->flags;
	TransactionId xmax;

	if (!xmin_known_committed(flags))
	{
		if (xmin_known_aborted(flags))
			return false;
		if (TransactionIdIsCurrentTransactionId(v->xmin))
		{
			if (v->cmin >= snapshot->curcid)
				return false;	/* inserted after the scan began */
			if (xmax_is_void(v, flags) || DblXmaxIsLockedOnly(flags))
				return true;
			xmax = (flags & DBL_F_XMAX_MULTI) ? multi_update_xid(v->xmax) : v->xmax;
			if (!TransactionIdIsCurrentTransactionId(xmax))
			{
				/* the deleting subtransaction must have aborted */
				if (!(flags & DBL_F_XMAX_MULTI))
					set_hint(v, DBL_F_XMAX_ABORTED);
				return true;
			}
			return v->cmax >= snapshot->curcid;
		}
		if (XidInMVCCSnapshot(v->xmin, snapshot))
			return false;
		if (TransactionIdDidCommit(v->xmin))
			set_hint(v, DBL_F_XMIN_COMMITTED);
		else
		{
			set_hint(v, DBL_F_XMIN_ABORTED);
			return false;
		}
	}
	else if (!(flags & DBL_F_XMIN_FROZEN) && XidInMVCCSnapshot(v->xmin, snapshot))
		return false;

	/* the inserter is in the past of the snapshot; and the deleter? */
	if (xmax_is_void(v, flags) || DblXmaxIsLockedOnly(flags))
		return true;

	if (flags & DBL_F_XMAX_MULTI)
	{
		xmax = multi_update_xid(v->xmax);
		if (!TransactionIdIsValid(xmax))
			return true;
		if (TransactionIdIsCurrentTransactionId(xmax))
			return v->cmax >= snapshot->curcid;
		if (XidInMVCCSnapshot(xmax, snapshot))
			return true;
		return !TransactionIdDidCommit(xmax);
	}

	if (!(flags & DBL_F_XMAX_COMMITTED))
	{
		if (TransactionIdIsCurrentTransactionId(v->xmax))
			return v->cmax >= snapshot->curcid;
		if (XidInMVCCSnapshot(v->xmax, snapshot))
			return true;
		if (!TransactionIdDidCommit(v->xmax))
		{
			set_hint(v, DBL_F_XMAX_ABORTED);
			return true;
		}
		set_hint(v, DBL_F_XMAX_COMMITTED);
		return false;
	}
	return XidInMVCCSnapshot(v->xmax, snapshot);
}

/*
 * SnapshotSelf (dirty NULL) and SnapshotDirty.  The latter also sees what others
 * have in progress, and says in *dirty whose it is.
 */
static bool
visible_now(DblVersion *v, Snapshot dirty)
{
	uint32		flags = v->flags;
	TransactionId xmax;

	if (dirty)
	{
		dirty->xmin = dirty->xmax = InvalidTransactionId;
		dirty->speculativeToken = 0;
	}

	if (!xmin_known_committed(flags))
	{
		if (xmin_known_aborted(flags))
			return false;
		if (TransactionIdIsCurrentTransactionId(v->xmin))
		{
			if (xmax_is_void(v, flags) || DblXmaxIsLockedOnly(flags))
				return true;
			xmax = (flags & DBL_F_XMAX_MULTI) ? multi_update_xid(v->xmax) : v->xmax;
			if (!TransactionIdIsCurrentTransactionId(xmax))
			{
				if (!(flags & DBL_F_XMAX_MULTI))
					set_hint(v, DBL_F_XMAX_ABORTED);
				return true;
			}
			return false;
		}
		if (TransactionIdIsInProgress(v->xmin))
		{
			if (!dirty)
				return false;
			if (flags & DBL_F_SPECULATIVE)
				dirty->speculativeToken = v->next;
			dirty->xmin = v->xmin;
			return true;
		}
		if (TransactionIdDidCommit(v->xmin))
			set_hint(v, DBL_F_XMIN_COMMITTED);
		else
		{
			set_hint(v, DBL_F_XMIN_ABORTED);
			return false;
		}
	}

	if (xmax_is_void(v, flags) || DblXmaxIsLockedOnly(flags))
		return true;
	if (flags & DBL_F_XMAX_COMMITTED)
		return false;

	if (flags & DBL_F_XMAX_MULTI)
	{
		xmax = multi_update_xid(v->xmax);
		if (!TransactionIdIsValid(xmax))
			return true;
		if (TransactionIdIsCurrentTransactionId(xmax))
			return false;
		if (TransactionIdIsInProgress(xmax))
		{
			if (dirty)
				dirty->xmax = xmax;
			return true;
		}
		return !TransactionIdDidCommit(xmax);
	}

	if (TransactionIdIsCurrentTransactionId(v->xmax))
		return false;
	if (TransactionIdIsInProgress(v->xmax))
	{
		if (dirty)
			dirty->xmax = v->xmax;
		return true;
	}
	if (!TransactionIdDidCommit(v->xmax))
	{
		set_hint(v, DBL_F_XMAX_ABORTED);
		return true;
	}
	set_hint(v, DBL_F_XMAX_COMMITTED);
	return false;
}

bool
dbl_visible(DblVersion *v, Snapshot snapshot)
{
	if (!(v->flags & DBL_F_USED))
		return false;

	switch (snapshot->snapshot_type)
	{
		case SNAPSHOT_MVCC:
			return visible_mvcc(v, snapshot);
		case SNAPSHOT_SELF:
			return visible_now(v, NULL);
		case SNAPSHOT_DIRTY:
			return visible_now(v, snapshot);
		case SNAPSHOT_ANY:
			return true;
		case SNAPSHOT_NON_VACUUMABLE:
			return !dbl_is_dead(v, snapshot->vistest);
		case SNAPSHOT_HISTORIC_MVCC:
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("logical decoding cannot read a doublets table as a catalog"),
					 errhint("Keep what an output plugin reads in a heap table.")));
			break;
		case SNAPSHOT_TOAST:
			/* there are no toast tables of this kind */
			break;
	}
	elog(ERROR, "unexpected snapshot type %d for a doublets table",
		 (int) snapshot->snapshot_type);
	return false;				/* keep compiler quiet */
}

TM_Result
dbl_satisfies_update(DblVersion *v, CommandId curcid)
{
	uint32		flags = v->flags;
	TransactionId xmax;

	if (!(flags & DBL_F_USED))
		return TM_Invisible;

	if (!xmin_known_committed(flags))
	{
		if (xmin_known_aborted(flags))
			return TM_Invisible;
		if (TransactionIdIsCurrentTransactionId(v->xmin))
		{
			if (v->cmin >= curcid)
				return TM_Invisible;
			if (xmax_is_void(v, flags))
				return TM_Ok;
			if (DblXmaxIsLockedOnly(flags))
			{
				if (flags & DBL_F_XMAX_MULTI)
					return MultiXactIdIsRunning(v->xmax, true) ? TM_BeingModified : TM_Ok;
				return TransactionIdIsInProgress(v->xmax) ? TM_BeingModified : TM_Ok;
			}
			if (flags & DBL_F_XMAX_MULTI)
			{
				xmax = multi_update_xid(v->xmax);
				if (!TransactionIdIsCurrentTransactionId(xmax))
					return MultiXactIdIsRunning(v->xmax, false) ? TM_BeingModified : TM_Ok;
			}
			else if (!TransactionIdIsCurrentTransactionId(v->xmax))
			{
				set_hint(v, DBL_F_XMAX_ABORTED);
				return TM_Ok;
			}
			return v->cmax >= curcid ? TM_SelfModified : TM_Invisible;
		}
		if (TransactionIdIsInProgress(v->xmin))
			return TM_Invisible;
		if (TransactionIdDidCommit(v->xmin))
			set_hint(v, DBL_F_XMIN_COMMITTED);
		else
		{
			set_hint(v, DBL_F_XMIN_ABORTED);
			return TM_Invisible;
		}
	}

	if (xmax_is_void(v, flags))
		return TM_Ok;
	if ((flags & DBL_F_XMAX_COMMITTED) && !(flags & DBL_F_XMAX_MULTI))
		return DblXmaxIsLockedOnly(flags) ? TM_Ok : dbl_gone(v);

	if (flags & DBL_F_XMAX_MULTI)
	{
		if (DblXmaxIsLockedOnly(flags))
		{
			if (MultiXactIdIsRunning(v->xmax, true))
				return TM_BeingModified;
			set_hint(v, DBL_F_XMAX_ABORTED);
			return TM_Ok;
		}
		xmax = multi_update_xid(v->xmax);
		if (TransactionIdIsValid(xmax) && TransactionIdIsCurrentTransactionId(xmax))
			return v->cmax >= curcid ? TM_SelfModified : TM_Invisible;
		if (MultiXactIdIsRunning(v->xmax, false))
			return TM_BeingModified;
		if (TransactionIdIsValid(xmax) && TransactionIdDidCommit(xmax))
			return dbl_gone(v);
		set_hint(v, DBL_F_XMAX_ABORTED);
		return TM_Ok;
	}

	if (TransactionIdIsCurrentTransactionId(v->xmax))
	{
		if (DblXmaxIsLockedOnly(flags))
			return TM_BeingModified;
		return v->cmax >= curcid ? TM_SelfModified : TM_Invisible;
	}
	if (TransactionIdIsInProgress(v->xmax))
		return TM_BeingModified;
	if (DblXmaxIsLockedOnly(flags) || !TransactionIdDidCommit(v->xmax))
	{
		set_hint(v, DBL_F_XMAX_ABORTED);
		return TM_Ok;
	}
	set_hint(v, DBL_F_XMAX_COMMITTED);
	return dbl_gone(v);
}

HTSV_Result
dbl_satisfies_vacuum_horizon(DblVersion *v, TransactionId *dead_after)
{
	uint32		flags = v->flags;
	TransactionId xmax;

	*dead_after = InvalidTransactionId;

	if (!xmin_known_committed(flags))
	{
		if (xmin_known_aborted(flags))
			return HEAPTUPLE_DEAD;
		if (TransactionIdIsCurrentTransactionId(v->xmin))
		{
			if (xmax_is_void(v, flags) || DblXmaxIsLockedOnly(flags))
				return HEAPTUPLE_INSERT_IN_PROGRESS;
			if (TransactionIdIsCurrentTransactionId(dbl_update_xid(v)))
				return HEAPTUPLE_DELETE_IN_PROGRESS;
			return HEAPTUPLE_INSERT_IN_PROGRESS;	/* deleter has aborted */
		}
		if (TransactionIdIsInProgress(v->xmin))
			return HEAPTUPLE_INSERT_IN_PROGRESS;
		if (TransactionIdDidCommit(v->xmin))
			set_hint(v, DBL_F_XMIN_COMMITTED);
		else
		{
			set_hint(v, DBL_F_XMIN_ABORTED);
			return HEAPTUPLE_DEAD;
		}
	}

	if (xmax_is_void(v, flags))
		return HEAPTUPLE_LIVE;

	if (DblXmaxIsLockedOnly(flags))
	{
		bool		running = (flags & DBL_F_XMAX_MULTI) ?
			MultiXactIdIsRunning(v->xmax, true) : TransactionIdIsInProgress(v->xmax);

		if (!running)
			set_hint(v, DBL_F_XMAX_ABORTED);
		return HEAPTUPLE_LIVE;
	}

	if (flags & DBL_F_XMAX_MULTI)
	{
		xmax = multi_update_xid(v->xmax);
		if (TransactionIdIsValid(xmax))
		{
			if (TransactionIdIsInProgress(xmax))
				return HEAPTUPLE_DELETE_IN_PROGRESS;
			if (TransactionIdDidCommit(xmax))
			{
				*dead_after = xmax;
				return HEAPTUPLE_RECENTLY_DEAD;
			}
		}
		if (!MultiXactIdIsRunning(v->xmax, false))
			set_hint(v, DBL_F_XMAX_ABORTED);
		return HEAPTUPLE_LIVE;
	}

	if (!(flags & DBL_F_XMAX_COMMITTED))
	{
		if (TransactionIdIsInProgress(v->xmax))
			return HEAPTUPLE_DELETE_IN_PROGRESS;
		if (!TransactionIdDidCommit(v->xmax))
		{
			set_hint(v, DBL_F_XMAX_ABORTED);
			return HEAPTUPLE_LIVE;
		}
		set_hint(v, DBL_F_XMAX_COMMITTED);
	}
	*dead_after = v->xmax;
	return HEAPTUPLE_RECENTLY_DEAD;
}

HTSV_Result
dbl_satisfies_vacuum(DblVersion *v, TransactionId oldest_xmin)
{
	TransactionId dead_after;
	HTSV_Result res = dbl_satisfies_vacuum_horizon(v, &dead_after);

	if (res == HEAPTUPLE_RECENTLY_DEAD && TransactionIdPrecedes(dead_after, oldest_xmin))
		res = HEAPTUPLE_DEAD;
	return res;
}

bool
dbl_is_dead(DblVersion *v, struct GlobalVisState *vistest)
{
	TransactionId dead_after;
	HTSV_Result res = dbl_satisfies_vacuum_horizon(v, &dead_after);

	if (res == HEAPTUPLE_RECENTLY_DEAD)
		return GlobalVisTestIsRemovableXid(vistest, dead_after);
	return res == HEAPTUPLE_DEAD;
}

/*
 * Move *horizon on to the newest transaction whose snapshot could tell that
 * this version, which is dead, has been removed.  For recovery conflicts; as
 * HeapTupleHeaderAdvanceLatestRemovedXid().  A version whose inserter aborted was never
 * visible to anybody.
 */
void
dbl_advance_horizon(const DblVersion *v, TransactionId *horizon)
{
	TransactionId xmax = dbl_update_xid(v);

	if (xmin_known_aborted(v->flags) || !TransactionIdIsValid(xmax) || xmax == v->xmin)
		return;
	if (!xmin_known_committed(v->flags) && !TransactionIdDidCommit(v->xmin))
		return;
	if (!TransactionIdIsValid(*horizon) || TransactionIdFollows(xmax, *horizon))
		*horizon = xmax;
}
