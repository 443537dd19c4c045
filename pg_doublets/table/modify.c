/*-------------------------------------------------------------------------
 *
 * modify.c
 *	  Insert, delete and update of rows.
 *
 * The protocol with other transactions is that of heap_delete() and
 * heap_update(), with the store lock in the place of the buffer lock: look at
 * the version under the exclusive lock; where somebody is in the way let go of
 * the lock, wait, and look again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/multixact.h"
#include "access/transam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"

#include "mvcc/rowlock.h"
#include "shared/inject.h"
#include "table/fetch.h"
#include "table/modify.h"

/* Versions of one multi-insert under one hold of the lock. */
#define MULTI_INSERT_BATCH	(4 * DBL_RECORDS_PER_PAGE)

/*
 * What this backend has updated last, in a serializable transaction, and which
 * columns the new version has in common with the old one (bit i: column i).
 */
static struct
{
	RelFileNode node;
	DblSlot		slot;
	TransactionId xid;
	uint32		kept;
}			last_update = {.slot = DBL_NO_SLOT};

/*
 * The columns in which the version in this slot is like the one that it replaced, if it comes from the last change
 * that this transaction has made; else none.
 */
uint32
dbl_update_kept(Relation rel, DblSlot slot)
{
	if (slot == last_update.slot && RelFileNodeEquals(rel->rd_node, last_update.node) &&
		TransactionIdEquals(last_update.xid, GetCurrentTransactionIdIfAny()))
		return last_update.kept;
	return 0;
}

static void
note_update(Relation rel, DblSlot slot, TransactionId xid, const DblVersion *oldv,
			const DblVersion *newv)
{
	last_update.node = rel->rd_node;
	last_update.slot = slot;
	last_update.xid = xid;
	last_update.kept = 0;
	for (int i = 0; i < DBL_NCOLUMNS; i++)
		if (!dbl_columns_differ(oldv, newv, 1 << i))
			last_update.kept |= 1 << i;
}

/* A new version with the values of the slot. */
static void
version_from_slot(Relation rel, TupleTableSlot *slot, TransactionId xid, CommandId cid,
				  DblVersion *v)
{
	int			natts = RelationGetNumberOfAttributes(rel);

	slot_getallattrs(slot);
	memset(v, 0, sizeof(*v));
	v->flags = DBL_F_USED;
	for (int i = 0; i < natts; i++)
	{
		if (slot->tts_isnull[i])
			v->flags |= DBL_F_NULL(i);
		else
			v->key[i] = DatumGetInt64(slot->tts_values[i]);
	}
	for (int i = natts; i < DBL_NCOLUMNS; i++)
		v->flags |= DBL_F_NULL(i);
	v->xmin = xid;
	v->xmax = InvalidTransactionId;
	v->cmin = v->cmax = cid;
	v->next = DBL_NO_SLOT;
}

/* Tell the slot which version it holds now. */
static void
slot_is_version(TupleTableSlot *slot, Relation rel, const DblVersion *v, DblSlot where)
{
	if (slot->tts_ops == &TTSOpsDoublets)
		((DblTupleTableSlot *) slot)->version = *v;
	slot->tts_tableOid = RelationGetRelid(rel);
	DblSlotToTid(where, &slot->tts_tid);
}

static void
insert_version(Relation rel, TupleTableSlot *slot, DblVersion *v, int options)
{
	DblTable   *t = dbl_table_open(rel);
	DblSlot		where;

	dbl_table_lock_for_insert(rel, t, 1);

	/*
	 * Conflicts are found by relation: a new version has no place yet that anybody could have read.  Under the
	 * lock, or a reader who has not marked the relation yet would not see the version either.
	 */
	CheckForSerializableConflictIn(rel, NULL, InvalidBlockNumber);
	dbl_write_insert(rel, t, v, 1, !(options & TABLE_INSERT_NO_LOGICAL), &where);
	dbl_table_unlock(t);

	last_update.slot = DBL_NO_SLOT;
	pgstat_count_heap_insert(rel, 1);
	slot_is_version(slot, rel, v, where);
}

void
dbl_tuple_insert(Relation rel, TupleTableSlot *slot, CommandId cid, int options,
				 BulkInsertState bistate)
{
	DblVersion	v;

	version_from_slot(rel, slot, GetCurrentTransactionId(), cid, &v);
	if (options & TABLE_INSERT_FROZEN)
		v.flags |= DBL_F_XMIN_FROZEN;
	insert_version(rel, slot, &v, options);
}

/* The version carries the token until dbl_tuple_complete_speculative(). */
void
dbl_tuple_insert_speculative(Relation rel, TupleTableSlot *slot, CommandId cid, int options,
							 BulkInsertState bistate, uint32 token)
{
	DblVersion	v;

	version_from_slot(rel, slot, GetCurrentTransactionId(), cid, &v);
	v.flags |= DBL_F_SPECULATIVE;
	v.next = token;
	insert_version(rel, slot, &v, options);
}

void
dbl_tuple_complete_speculative(Relation rel, TupleTableSlot *slot, uint32 token, bool succeeded)
{
	DblTable   *t = dbl_table_open(rel);
	DblSlot		where = DblTidToSlot(&slot->tts_tid);
	DblVersion *v;
	DblChange	change;

	DBL_INJECT("speculative");
	dbl_table_lock(rel, t, LW_EXCLUSIVE);
	v = dbl_version_or_null(t, where);
	if (v == NULL || !(v->flags & DBL_F_SPECULATIVE) || v->next != token)
		elog(ERROR, "speculative insertion %u is not in slot %u", token, where);

	change.xmax = v->xmax;
	change.cmax = v->cmax;
	change.next = DBL_NO_SLOT;
	change.flags = v->flags & ~DBL_F_SPECULATIVE;
	if (!succeeded)
		change.flags |= DBL_F_XMIN_DEAD;
	dbl_write_change(rel, t, where, &change, succeeded ? DBL_CHANGE_CONFIRM : DBL_CHANGE_ABORT, 0);
	v = dbl_version(&t->store, where);
	slot_is_version(slot, rel, v, where);
	dbl_table_unlock(t);

	if (!succeeded)
		pgstat_count_heap_delete(rel);
}

void
dbl_multi_insert(Relation rel, TupleTableSlot **slots, int nslots, CommandId cid, int options,
				 BulkInsertState bistate)
{
	DblTable   *t = dbl_table_open(rel);
	TransactionId xid = GetCurrentTransactionId();
	DblVersion *v;
	DblSlot    *where;
	int			max = Min(nslots, MULTI_INSERT_BATCH);

	CheckForSerializableConflictIn(rel, NULL, InvalidBlockNumber);

	v = palloc(max * sizeof(DblVersion));
	where = palloc(max * sizeof(DblSlot));
	for (int done = 0; done < nslots; done += max)
	{
		int			n = Min(max, nslots - done);

		for (int i = 0; i < n; i++)
		{
			version_from_slot(rel, slots[done + i], xid, cid, &v[i]);
			if (options & TABLE_INSERT_FROZEN)
				v[i].flags |= DBL_F_XMIN_FROZEN;
		}

		DBL_INJECT("multi-insert");
		dbl_table_lock_for_insert(rel, t, n);
		dbl_write_insert(rel, t, v, n, !(options & TABLE_INSERT_NO_LOGICAL), where);
		dbl_table_unlock(t);

		for (int i = 0; i < n; i++)
			slot_is_version(slots[done + i], rel, &v[i], where[i]);
		CHECK_FOR_INTERRUPTS();
	}
	pfree(v);
	pfree(where);
	last_update.slot = DBL_NO_SLOT;

	/* somebody may have read in between */
	CheckForSerializableConflictIn(rel, NULL, InvalidBlockNumber);
	pgstat_count_heap_insert(rel, nslots);
}

/* Why the version could not be changed, for the caller. */
void
dbl_fill_failure(DblTable *t, DblSlot slot, DblVersion *v, TM_Result result, TM_FailureData *tmfd)
{
	if (v->flags & DBL_F_MOVED)
		ItemPointerSetMovedPartitions(&tmfd->ctid);
	else if (v->next == DBL_NO_SLOT || (v->flags & DBL_F_SPECULATIVE))
		DblSlotToTid(slot, &tmfd->ctid);
	else
		DblSlotToTid(v->next, &tmfd->ctid);
	tmfd->xmax = dbl_update_xid(v);
	tmfd->cmax = (result == TM_SelfModified) ? v->cmax : InvalidCommandId;
}

/* Bound to be there, since the caller's snapshot has seen it. */
static DblVersion *
version_to_change(Relation rel, DblTable *t, DblSlot slot, const char *what)
{
	DblVersion *v = dbl_version_or_null(t, slot);

	if (v == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("attempted to %s invisible tuple", what)));
	return v;
}

TM_Result
dbl_tuple_delete(Relation rel, ItemPointer tid, CommandId cid, Snapshot snapshot,
				 Snapshot crosscheck, bool wait, TM_FailureData *tmfd, bool changing_part)
{
	DblTable   *t = dbl_table_open(rel);
	TransactionId xid = GetCurrentTransactionId();
	DblSlot		slot = DblTidToSlot(tid);
	DblColumns	columns = dbl_columns(rel);
	DblIdentity identity = dbl_replica_identity(rel, &columns);
	bool		have_tuplock = false;
	DblVersion *v;
	DblChange	change;
	TM_Result	result;

	for (;;)
	{
		TransactionId xwait;
		uint32		flags;

		dbl_table_lock(rel, t, LW_EXCLUSIVE);
		v = version_to_change(rel, t, slot, "delete");
		result = dbl_satisfies_update(v, cid);

		if (result == TM_Invisible)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("attempted to delete invisible tuple")));
		if (result != TM_BeingModified || !wait)
			break;

		xwait = v->xmax;
		flags = v->flags;
		if (flags & DBL_F_XMAX_MULTI)
		{
			bool		current_is_member = false;

			if (dbl_multi_conflicts(xwait, flags, LockTupleExclusive, &current_is_member))
			{
				dbl_table_unlock(t);
				/* who is a member already must not queue, or two upgraders deadlock */
				if (!current_is_member)
					dbl_acquire_tuplock(rel, tid, LockTupleExclusive, LockWaitBlock, &have_tuplock);
				dbl_multi_wait(xwait, MultiXactStatusUpdate, flags, false, rel, tid,
							   XLTW_Delete, NULL);
				dbl_table_lock(rel, t, LW_EXCLUSIVE);
				v = version_to_change(rel, t, slot, "delete");
				if (dbl_xmax_changed(v, xwait, flags))
				{
					dbl_table_unlock(t);
					continue;
				}
			}
		}
		else if (!TransactionIdIsCurrentTransactionId(xwait))
		{
			dbl_table_unlock(t);
			dbl_acquire_tuplock(rel, tid, LockTupleExclusive, LockWaitBlock, &have_tuplock);
			XactLockTableWait(xwait, rel, tid, XLTW_Delete);
			dbl_table_lock(rel, t, LW_EXCLUSIVE);
			v = version_to_change(rel, t, slot, "delete");
			if (dbl_xmax_changed(v, xwait, flags))
			{
				dbl_table_unlock(t);
				continue;
			}
			dbl_note_xmax_outcome(v, xwait);
		}

		/* It is ours if the other one has aborted, or had only locked it. */
		result = dbl_is_only_locked(v) ? TM_Ok : dbl_gone(v);
		break;
	}

	if (crosscheck != InvalidSnapshot && result == TM_Ok && !dbl_visible(v, crosscheck))
		result = TM_Updated;

	if (result != TM_Ok)
	{
		dbl_fill_failure(t, slot, v, result, tmfd);
		dbl_table_unlock(t);
		dbl_release_tuplock(rel, tid, LockTupleExclusive, have_tuplock);
		return result;
	}

	/* Under the lock, so that no reader slips in between. */
	CheckForSerializableConflictIn(rel, tid, ItemPointerGetBlockNumber(tid));

	MultiXactIdSetOldestMember();
	dbl_compute_xmax(v->xmax, v->flags, xid, LockTupleExclusive, true,
					 &change.xmax, &change.flags);
	change.flags |= v->flags & ~DBL_F_XMAX_BITS;
	if (changing_part)
		change.flags |= DBL_F_MOVED;
	change.cmax = cid;
	change.next = DBL_NO_SLOT;
	dbl_write_change(rel, t, slot, &change, DBL_CHANGE_DELETE, identity.columns);
	dbl_table_unlock(t);

	dbl_release_tuplock(rel, tid, LockTupleExclusive, have_tuplock);
	pgstat_count_heap_delete(rel);
	return TM_Ok;
}

TM_Result
dbl_tuple_update(Relation rel, ItemPointer otid, TupleTableSlot *slot, CommandId cid,
				 Snapshot snapshot, Snapshot crosscheck, bool wait, TM_FailureData *tmfd,
				 LockTupleMode *lockmode, bool *update_indexes)
{
	DblTable   *t = dbl_table_open(rel);
	TransactionId xid = GetCurrentTransactionId();
	DblSlot		oldslot = DblTidToSlot(otid);
	DblSlot		newslot;
	DblColumns	columns = dbl_columns(rel);
	DblIdentity identity = dbl_replica_identity(rel, &columns);
	bool		have_tuplock = false;
	bool		same;
	bool		done = false;
	bool		checked_lockers;
	bool		locker_remains;
	MultiXactStatus status;
	DblVersion *v;
	DblVersion	newv;
	DblChange	change;
	TM_Result	result;

	*update_indexes = false;
	version_from_slot(rel, slot, xid, cid, &newv);
	newv.flags |= DBL_F_UPDATED;

	dbl_table_lock_for_insert(rel, t, 1);
	v = version_to_change(rel, t, oldslot, "update");
	if (dbl_columns_differ(v, &newv, columns.referenced))
		*lockmode = LockTupleExclusive;
	else
	{
		*lockmode = LockTupleNoKeyExclusive;

		/*
		 * The new version may inherit lockers as a multixact of which we are a
		 * member; see heap_update().
		 */
		MultiXactIdSetOldestMember();
	}
	status = dbl_status_for_lock(*lockmode, true);

	for (;;)
	{
		TransactionId xwait;
		uint32		flags;
		bool		can_continue = false;

		checked_lockers = false;
		locker_remains = false;
		result = dbl_satisfies_update(v, cid);
		if (result == TM_Invisible)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("attempted to update invisible tuple")));
		if (result != TM_BeingModified || !wait)
			break;

		xwait = v->xmax;
		flags = v->flags;
		if (flags & DBL_F_XMAX_MULTI)
		{
			bool		current_is_member = false;
			TransactionId updater = InvalidTransactionId;

			if (dbl_multi_conflicts(xwait, flags, *lockmode, &current_is_member))
			{
				int			remain;

				dbl_table_unlock(t);
				if (!current_is_member)
					dbl_acquire_tuplock(rel, otid, *lockmode, LockWaitBlock, &have_tuplock);
				dbl_multi_wait(xwait, status, flags, false, rel, otid, XLTW_Update, &remain);
				checked_lockers = true;
				locker_remains = remain != 0;
				dbl_table_lock_for_insert(rel, t, 1);
				v = version_to_change(rel, t, oldslot, "update");
				if (dbl_xmax_changed(v, xwait, flags))
					continue;
			}

			/*
			 * Lockers of lesser strength may go on holding it.  An updater among the
			 * members must not have committed.
			 */
			updater = dbl_update_xid(v);
			if (!TransactionIdIsValid(updater) || TransactionIdDidAbort(updater))
				can_continue = true;
		}
		else if (TransactionIdIsCurrentTransactionId(xwait))
		{
			/* only we hold it, and our lock goes on */
			checked_lockers = true;
			locker_remains = true;
			can_continue = true;
		}
		else if ((flags & DBL_F_XMAX_LOCK_ONLY) &&
				 (flags & DBL_F_XMAX_LOCKS) == DBL_F_XMAX_KEYSHR &&
				 *lockmode == LockTupleNoKeyExclusive)
		{
			/* a key share lock, and the key stays as it is */
			checked_lockers = true;
			locker_remains = true;
			can_continue = true;
		}
		else
		{
			dbl_table_unlock(t);
			dbl_acquire_tuplock(rel, otid, *lockmode, LockWaitBlock, &have_tuplock);
			XactLockTableWait(xwait, rel, otid, XLTW_Update);
			checked_lockers = true;
			dbl_table_lock_for_insert(rel, t, 1);
			v = version_to_change(rel, t, oldslot, "update");
			if (dbl_xmax_changed(v, xwait, flags))
				continue;
			dbl_note_xmax_outcome(v, xwait);
			if (v->flags & DBL_F_XMAX_ABORTED)
				can_continue = true;
		}

		result = can_continue ? TM_Ok : dbl_gone(v);
		break;
	}

	if (crosscheck != InvalidSnapshot && result == TM_Ok && !dbl_visible(v, crosscheck))
		result = TM_Updated;

	if (result != TM_Ok)
	{
		dbl_fill_failure(t, oldslot, v, result, tmfd);
		dbl_table_unlock(t);
		dbl_release_tuplock(rel, otid, *lockmode, have_tuplock);
		return result;
	}

	CheckForSerializableConflictIn(rel, otid, ItemPointerGetBlockNumber(otid));

	dbl_compute_xmax(v->xmax, v->flags, xid, *lockmode, true, &change.xmax, &change.flags);
	change.flags |= v->flags & ~DBL_F_XMAX_BITS;
	change.cmax = cid;
	change.next = DBL_NO_SLOT;	/* set when the slot is known */

	/* Those who keep a lock on the row keep it on the new version too. */
	if (v->xmax != InvalidTransactionId && !(v->flags & DBL_F_XMAX_ABORTED) &&
		!(checked_lockers && !locker_remains))
	{
		newv.xmax = v->xmax;
		if (v->flags & DBL_F_XMAX_MULTI)
			newv.flags |= dbl_multi_flags(v->xmax);
		else
			newv.flags |= DBL_F_XMAX_KEYSHR | DBL_F_XMAX_LOCK_ONLY;
	}

	/*
	 * An update that leaves all indexed columns alone makes no index entries on heap, and so checks no
	 * uniqueness: whoever waits for us in a deferrable constraint would be waited for.  A check that is due
	 * is then that of the row as it was inserted, and finds the version that is in its place (HOT).
	 */
	same = !dbl_columns_differ(v, &newv, columns.indexed);
	if (!(v->flags & DBL_F_DOUBTFUL) && same)
		newv.flags |= (v->flags & (DBL_F_ANNOUNCED_ALL | DBL_F_DOUBT_PASSES)) | DBL_F_SETTLED;

	/*
	 * Indexes of ours have no entries to make.  What they would do is see to unique keys, and those of this version are
	 * its predecessor's, who was alone with them when it was announced and lives up to now: whoever wants
	 * one of them waits for us.  And look for serializable readers of keys that are new.
	 */
	if (columns.passive && !(v->flags & (DBL_F_DOUBTFUL | DBL_F_DOUBT_PASSES)) &&
		(same || !IsolationIsSerializable()) &&
		(v->flags & columns.announced) == columns.announced &&
		!dbl_columns_differ(v, &newv, columns.unique))
	{
		newv.flags |= columns.announced;
		done = true;
	}

	if (!identity.always && !dbl_columns_differ(v, &newv, identity.columns))
		identity.columns = 0;
	dbl_write_update(rel, t, oldslot, &change, &newv, identity.columns, &newslot);
	if (IsolationIsSerializable())
		note_update(rel, newslot, xid, dbl_version(&t->store, oldslot), &newv);
	else
		last_update.slot = DBL_NO_SLOT;
	dbl_table_unlock(t);

	dbl_release_tuplock(rel, otid, *lockmode, have_tuplock);
	pgstat_count_heap_update(rel, false);
	slot_is_version(slot, rel, &newv, newslot);
	*update_indexes = !done;
	return TM_Ok;
}
