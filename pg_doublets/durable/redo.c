/*-------------------------------------------------------------------------
 *
 * redo.c
 *	  Replay: the page, and the store where it is loaded.
 *
 * The store is locked before the page, as on the primary.  A store that finds no memory
 * is thrown away: the next reader loads it again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlogutils.h"
#include "storage/bufmgr.h"
#include "storage/standby.h"

#include "durable/wal.h"
#include "durable/write.h"
#include "shared/inject.h"

/* --- the store ---------------------------------------------------------------------- */

static bool
slot_used(DblTable *t, DblSlot slot)
{
	return slot < dbl_nslots(&t->store) && (dbl_version(&t->store, slot)->flags & DBL_F_USED);
}

static DblSlot
slot_of(BlockNumber blkno, OffsetNumber off)
{
	ItemPointerData tid;

	ItemPointerSet(&tid, blkno, off);
	return DblTidToSlot(&tid);
}

/* False: no memory. */
static bool
store_insert(DblTable *t, BlockNumber blkno, const xl_dbl_insert *items, uint32 n)
{
	DblSlot		last = 0;

	for (uint32 i = 0; i < n; i++)
		last = Max(last, slot_of(blkno, items[i].off));
	if (!dbl_reserve(&t->store, Max((uint64) last + 1, dbl_nslots(&t->store)), n))
		return false;
	for (uint32 i = 0; i < n; i++)
	{
		DblSlot		slot = slot_of(blkno, items[i].off);
		DblVersion	v;

		if (slot_used(t, slot))
			dbl_remove(&t->store, slot);
		dbl_version_of_record(&v, &items[i].record);
		dbl_insert(&t->store, slot, &v);
	}
	return true;
}

/* Hints about another xmax don't hold any more. */
static void
store_change(DblTable *t, BlockNumber blkno, const xl_dbl_change *x)
{
	DblSlot		slot = slot_of(blkno, x->off);
	DblVersion *v;

	if (!slot_used(t, slot))
		return;
	v = dbl_version(&t->store, slot);
	v->xmax = x->xmax;
	v->next = x->next;
	v->flags = (v->flags & ~(DBL_F_PERSISTENT | DBL_F_XMAX_HINTS)) | x->flags;
}

static void
store_freeze(DblTable *t, BlockNumber blkno, const xl_dbl_freeze *x, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
	{
		DblSlot		slot = slot_of(blkno, x[i].off);
		DblVersion *v;

		if (!slot_used(t, slot))
			continue;
		v = dbl_version(&t->store, slot);
		v->xmax = x[i].xmax;
		v->flags = (v->flags & ~(DBL_F_PERSISTENT | DBL_F_XMAX_HINTS)) | x[i].flags;
	}
}

/* --- records -------------------------------------------------------------------------- */

/* Read block 0, made anew where the record says so. */
static XLogRedoAction
read_block(XLogReaderState *record, Buffer *buffer)
{
	return dbl_read_page_for_redo(record, 0, (XLogRecGetInfo(record) & XLOG_DBL_INIT_PAGE) != 0, buffer);
}

static void
finish_block(XLogReaderState *record, XLogRedoAction action, Buffer buffer)
{
	if (action == BLK_NEEDS_REDO)
	{
		PageSetLSN(BufferGetPage(buffer), record->EndRecPtr);
		MarkBufferDirty(buffer);
	}
	if (BufferIsValid(buffer))
		UnlockReleaseBuffer(buffer);
	DBL_INJECT("redo-page");
}

static void
redo_insert(XLogReaderState *record, DblTable **t, BlockNumber blkno)
{
	xl_dbl_insert items[DBL_RECORDS_PER_PAGE];
	int			n = dbl_unpack_insert(record, items);
	Buffer		buffer;
	XLogRedoAction action = read_block(record, &buffer);

	if (action == BLK_NEEDS_REDO)
	{
		for (int i = 0; i < n; i++)
			dbl_page_put(BufferGetPage(buffer), items[i].off, &items[i].record);
	}
	finish_block(record, action, buffer);
	if (*t != NULL && action != BLK_NOTFOUND && !store_insert(*t, blkno, items, n))
	{
		dbl_redo_give_up(*t);
		*t = NULL;
	}
}

static void
redo_update(XLogReaderState *record, DblTable **t, BlockNumber blkno)
{
	xl_dbl_update x;
	bool		two = XLogRecHasBlockRef(record, 1);
	BlockNumber oldblk = blkno;
	Buffer		buffer;
	Buffer		oldbuf = InvalidBuffer;
	XLogRedoAction action;
	XLogRedoAction oldaction = BLK_NOTFOUND;

	(void) dbl_unpack_update(record, &x);
	if (two)
		XLogRecGetBlockTag(record, 1, NULL, NULL, &oldblk);
	action = read_block(record, &buffer);
	if (action == BLK_NEEDS_REDO)
	{
		if (!two)
			dbl_page_change(BufferGetPage(buffer), &x.old);
		dbl_page_put(BufferGetPage(buffer), x.new.off, &x.new.record);
	}
	if (two)
	{
		oldaction = dbl_read_page_for_redo(record, 1, false, &oldbuf);
		if (oldaction == BLK_NEEDS_REDO)
			dbl_page_change(BufferGetPage(oldbuf), &x.old);
		finish_block(record, oldaction, oldbuf);
	}
	finish_block(record, action, buffer);

	if (*t != NULL && action != BLK_NOTFOUND)
	{
		store_change(*t, oldblk, &x.old);
		if (!store_insert(*t, blkno, &x.new, 1))
		{
			dbl_redo_give_up(*t);
			*t = NULL;
		}
	}
}

static void
redo_change(XLogReaderState *record, DblTable *t, BlockNumber blkno)
{
	xl_dbl_change *x = (xl_dbl_change *) XLogRecGetData(record);
	Buffer		buffer;
	XLogRedoAction action = read_block(record, &buffer);

	if (action == BLK_NEEDS_REDO)
		dbl_page_change(BufferGetPage(buffer), x);
	finish_block(record, action, buffer);
	if (t != NULL)
		store_change(t, blkno, x);
}

static void
redo_prune(XLogReaderState *record, DblTable *t, BlockNumber blkno)
{
	xl_dbl_multi *multi = (xl_dbl_multi *) XLogRecGetData(record);
	OffsetNumber *offs = (OffsetNumber *) (multi + 1);
	Buffer		buffer;
	XLogRedoAction action = read_block(record, &buffer);

	if (action == BLK_NEEDS_REDO)
		dbl_page_prune(BufferGetPage(buffer), offs, multi->n);
	finish_block(record, action, buffer);
	for (uint32 i = 0; t != NULL && i < multi->n; i++)
	{
		DblSlot		slot = slot_of(blkno, offs[i]);

		if (slot_used(t, slot))
			dbl_remove(&t->store, slot);
	}
}

static void
redo_freeze(XLogReaderState *record, DblTable *t, BlockNumber blkno)
{
	xl_dbl_multi *multi = (xl_dbl_multi *) XLogRecGetData(record);
	xl_dbl_freeze *items = (xl_dbl_freeze *) (multi + 1);
	Buffer		buffer;
	XLogRedoAction action = read_block(record, &buffer);

	if (action == BLK_NEEDS_REDO)
		dbl_page_freeze(BufferGetPage(buffer), items, multi->n);
	finish_block(record, action, buffer);
	if (t != NULL)
		store_freeze(t, blkno, items, multi->n);
}

static void
redo_create(XLogReaderState *record)
{
	xl_dbl_create *x = (xl_dbl_create *) XLogRecGetData(record);
	Buffer		buffer = XLogInitBufferForRedo(record, 0);

	DblMetaPageInit(BufferGetPage(buffer), x->ncolumns);
	finish_block(record, BLK_NEEDS_REDO, buffer);
}

void
dbl_redo(XLogReaderState *record)
{
	uint8		op = XLogRecGetInfo(record) & XLOG_DBL_OPMASK;
	RelFileNode node;
	BlockNumber blkno;
	DblTable   *t;

	DBL_INJECT("redo-before");
	if (op == XLOG_DBL_FORGET)
	{
		memcpy(&node, XLogRecGetData(record), sizeof(node));
		if (OidIsValid(node.relNode))
			dbl_store_drop(node, false);
		else
			dbl_store_drop_database(node.dbNode, node.spcNode);
		return;
	}
	XLogRecGetBlockTag(record, 0, &node, NULL, &blkno);
	if (op == XLOG_DBL_CREATE)
	{
		/* whatever is loaded under this number is of a file that is gone */
		dbl_store_drop(node, false);
		redo_create(record);
		return;
	}

	if ((op == XLOG_DBL_PRUNE || op == XLOG_DBL_FREEZE) && InHotStandby)
	{
		TransactionId horizon = ((xl_dbl_multi *) XLogRecGetData(record))->horizon;

		/* before any lock: it waits */
		if (TransactionIdIsValid(horizon))
			ResolveRecoveryConflictWithSnapshot(horizon, node);
	}

	t = dbl_redo_lock(node);
	switch (op)
	{
		case XLOG_DBL_INSERT:
			redo_insert(record, &t, blkno);
			break;
		case XLOG_DBL_UPDATE:
			redo_update(record, &t, blkno);
			break;
		case XLOG_DBL_CHANGE:
			redo_change(record, t, blkno);
			break;
		case XLOG_DBL_PRUNE:
			redo_prune(record, t, blkno);
			break;
		case XLOG_DBL_FREEZE:
			redo_freeze(record, t, blkno);
			break;
		default:
			elog(PANIC, "unknown operation of a doublets record: %u", op);
	}
	DBL_INJECT("redo-done");
	dbl_redo_unlock(t);
}
