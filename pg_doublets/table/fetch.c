/*-------------------------------------------------------------------------
 *
 * fetch.c
 *	  Versions by TID.
 *
 * A TID names a slot, so a fetch is an array access under a shared lock.  A
 * slot is not used again before every index that could hold its TID has been
 * cleaned, and not while a snapshot may see its version (MAINTENANCE.md).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/transam.h"
#include "storage/procarray.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "table/fetch.h"
#include "table/scan.h"

/* The version in a slot, or NULL if it holds none.  Store lock held. */
DblVersion *
dbl_version_or_null(DblTable *t, DblSlot slot)
{
	DblVersion *v;

	if (slot >= dbl_nslots(&t->store))
		return NULL;
	v = dbl_version(&t->store, slot);
	return (v->flags & DBL_F_USED) ? v : NULL;
}

/*
 * The slot of the version that has settled in the place of v, with v's announcements (DBL_F_SETTLED), or
 * DBL_NO_SLOT: what heap would find by following a HOT chain.  Store lock held.
 */
DblSlot
dbl_settled_successor(DblTable *t, const DblVersion *v)
{
	DblVersion *next;

	if (v->next == DBL_NO_SLOT || (v->flags & (DBL_F_MOVED | DBL_F_SPECULATIVE)))
		return DBL_NO_SLOT;
	next = dbl_version_or_null(t, v->next);
	if (next == NULL || !(next->flags & DBL_F_SETTLED) ||
		!dbl_version_continues(next, dbl_update_xid(v)))
		return DBL_NO_SLOT;
	return v->next;
}

/*
 * The slot of the version that a check of uniqueness is about which was put off when the version in this slot
 * was inserted: itself, or the one in its place by now if that shares its doubt.  Store lock held.
 */
DblSlot
dbl_doubted_version(DblTable *t, DblSlot slot)
{
	DblSlot		at = slot;

	for (;;)
	{
		DblVersion *v = dbl_version_or_null(t, at);

		if (v == NULL || !(v->flags & DBL_F_DOUBT_PASSES))
			return slot;
		if (dbl_visible(v, SnapshotSelf))
			return at;
		at = dbl_settled_successor(t, v);
		if (at == DBL_NO_SLOT)
			return slot;
	}
}

IndexFetchTableData *
dbl_index_fetch_begin(Relation rel)
{
	DblIndexFetch *f = palloc(sizeof(DblIndexFetch));

	f->base.rel = rel;
	f->table = dbl_table_open(rel);
	f->has_version = false;
	f->where = DBL_NO_SLOT;
	return &f->base;
}

void
dbl_index_fetch_reset(IndexFetchTableData *data)
{
	((DblIndexFetch *) data)->has_version = false;
}

void
dbl_index_fetch_end(IndexFetchTableData *data)
{
	pfree(data);
}

/*
 * Fetch what a TID from an index names, if the snapshot sees it.  Every version has index entries of
 * its own, so there is never a second candidate.  Only the check of a deferrable constraint, which asks with
 * SnapshotSelf and no index, means whoever is in the place of the version by now.
 */
bool
dbl_index_fetch_tuple(IndexFetchTableData *data, ItemPointer tid, Snapshot snapshot,
					  TupleTableSlot *slot, bool *call_again, bool *all_dead)
{
	DblIndexFetch *f = (DblIndexFetch *) data;
	Relation	rel = f->base.rel;
	DblTable   *t = f->table;
	DblSlot		where = DblTidToSlot(tid);
	DblVersion *v;
	bool		visible = false;

	*call_again = false;
	if (all_dead)
		*all_dead = false;

	/* the index scan has looked at it already */
	if (f->has_version && f->where == where)
	{
		f->has_version = false;
		dbl_slot_store(slot, rel, &f->version, where);
		return true;
	}

	dbl_table_lock(rel, t, LW_SHARED);
	if (snapshot->snapshot_type == SNAPSHOT_SELF)
		where = dbl_doubted_version(t, where);
	v = dbl_version_or_null(t, where);
	if (v != NULL)
	{
		visible = dbl_visible(v, snapshot);
		dbl_predicate_read(rel, v, where, visible, snapshot);
		if (visible)
			f->version = *v;
		else if (all_dead)
			*all_dead = dbl_is_dead(v, GlobalVisTestFor(rel));
	}
	dbl_table_unlock(t);

	if (visible)
		dbl_slot_store(slot, rel, &f->version, where);
	return visible;
}

bool
dbl_fetch_row_version(Relation rel, ItemPointer tid, Snapshot snapshot, TupleTableSlot *slot)
{
	DblTable   *t = dbl_table_open(rel);
	DblSlot		where = DblTidToSlot(tid);
	DblVersion *v;
	DblVersion	copy;
	bool		visible = false;

	dbl_table_lock(rel, t, LW_SHARED);
	v = dbl_version_or_null(t, where);
	if (v != NULL)
	{
		visible = dbl_visible(v, snapshot);
		dbl_predicate_read(rel, v, where, visible, snapshot);
		if (visible)
			copy = *v;
	}
	dbl_table_unlock(t);

	if (visible)
		dbl_slot_store(slot, rel, &copy, where);
	return visible;
}

bool
dbl_tid_valid(TableScanDesc sscan, ItemPointer tid)
{
	DblScanDesc scan = (DblScanDesc) sscan;

	return ItemPointerIsValid(tid) &&
		ItemPointerGetBlockNumber(tid) < scan->nblocks;
}

/* Follow the chain of updates from *tid to the last version that the snapshot sees. */
void
dbl_get_latest_tid(TableScanDesc sscan, ItemPointer tid)
{
	Relation	rel = sscan->rs_rd;
	DblTable   *t = ((DblScanDesc) sscan)->table;
	DblSlot		slot = DblTidToSlot(tid);
	TransactionId prior_xmax = InvalidTransactionId;

	dbl_table_lock(rel, t, LW_SHARED);
	for (;;)
	{
		DblVersion *v = dbl_version_or_null(t, slot);
		bool		visible;

		if (v == NULL)
			break;
		if (TransactionIdIsValid(prior_xmax) && !dbl_version_continues(v, prior_xmax))
			break;
		visible = dbl_visible(v, sscan->rs_snapshot);
		dbl_predicate_read(rel, v, slot, visible, sscan->rs_snapshot);
		if (visible)
			DblSlotToTid(slot, tid);
		if (dbl_is_only_locked(v) || (v->flags & (DBL_F_MOVED | DBL_F_SPECULATIVE)) ||
			v->next == DBL_NO_SLOT)
			break;
		prior_xmax = dbl_update_xid(v);
		slot = v->next;
	}
	dbl_table_unlock(t);
}

/* Does the snapshot see the version that is in the slot? */
bool
dbl_satisfies_snapshot(Relation rel, TupleTableSlot *slot, Snapshot snapshot)
{
	DblTable   *t = dbl_table_open(rel);
	DblVersion *mine = &((DblTupleTableSlot *) slot)->version;
	DblVersion *v;
	bool		visible;

	Assert(slot->tts_ops == &TTSOpsDoublets);

	dbl_table_lock(rel, t, LW_SHARED);
	v = dbl_version_or_null(t, DblTidToSlot(&slot->tts_tid));
	if (v == NULL || v->xmin != mine->xmin)
		v = mine;
	visible = dbl_visible(v, snapshot);
	dbl_table_unlock(t);
	return visible;
}

/*
 * A btree wants to delete entries: which of them name versions that are dead to
 * everybody?  Returns the conflict horizon of those.
 */
TransactionId
dbl_index_delete_tuples(Relation rel, TM_IndexDeleteOp *delstate)
{
	DblTable   *t = dbl_table_open(rel);
	GlobalVisState *vistest = GlobalVisTestFor(rel);
	TransactionId horizon = InvalidTransactionId;
	int			last = 0;

	dbl_table_lock(rel, t, LW_SHARED);
	for (int i = 0; i < delstate->ndeltids; i++)
	{
		TM_IndexDelete *del = &delstate->deltids[i];
		TM_IndexStatus *status = &delstate->status[del->id];
		DblVersion *v = dbl_version_or_null(t, DblTidToSlot(&del->tid));

		/* a slot in an index is in use until the index has been cleaned */
		if (v == NULL)
			continue;
		if (!status->knowndeletable && !dbl_is_dead(v, vistest))
			continue;
		status->knowndeletable = true;
		dbl_advance_horizon(v, &horizon);
		last = i + 1;
	}
	dbl_table_unlock(t);

	delstate->ndeltids = last;
	return horizon;
}
