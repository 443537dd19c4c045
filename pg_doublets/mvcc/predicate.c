/*-------------------------------------------------------------------------
 *
 * predicate.c
 *	  Serializable: what a read leaves behind.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/subtrans.h"
#include "access/transam.h"
#include "access/xact.h"
#include "storage/predicate.h"
#include "utils/snapmgr.h"

#include "durable/page.h"
#include "mvcc/mvcc.h"

/*
 * A read of a version by a serializable transaction: a lock on its TID if it is
 * visible, and a conflict out to whoever wrote what the snapshot does not see. As
 * HeapCheckForSerializableConflictOut().  Store lock held, which keeps a
 * writer from slipping in between the look at the version and the lock.
 */
void
dbl_predicate_read(Relation rel, DblVersion *v, DblSlot slot, bool visible, Snapshot snapshot)
{
	TransactionId xid = InvalidTransactionId;

	if (visible && IsMVCCSnapshot(snapshot))
	{
		ItemPointerData tid;

		DblSlotToTid(slot, &tid);
		PredicateLockTID(rel, &tid, snapshot, v->xmin);
	}

	if (!CheckForSerializableConflictOutNeeded(rel, snapshot))
		return;

	switch (dbl_satisfies_vacuum(v, TransactionXmin))
	{
		case HEAPTUPLE_LIVE:
			if (visible)
				return;
			xid = v->xmin;
			break;
		case HEAPTUPLE_RECENTLY_DEAD:
		case HEAPTUPLE_DELETE_IN_PROGRESS:
			xid = visible ? dbl_update_xid(v) : v->xmin;
			if (TransactionIdPrecedes(xid, TransactionXmin))
				return;
			break;
		case HEAPTUPLE_INSERT_IN_PROGRESS:
			xid = v->xmin;
			break;
		case HEAPTUPLE_DEAD:
			return;
	}

	if (TransactionIdEquals(xid, GetTopTransactionIdIfAny()))
		return;
	xid = SubTransGetTopmostTransaction(xid);
	if (TransactionIdPrecedes(xid, TransactionXmin))
		return;
	if (TransactionIdEquals(xid, GetTopTransactionIdIfAny()))
		return;
	CheckForSerializableConflictOut(rel, xid, snapshot);
}
