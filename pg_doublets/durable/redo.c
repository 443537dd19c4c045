/*-------------------------------------------------------------------------
 *
 * redo.c
 *	  Replay of our WAL records: the page first, then the store, where one is
 *	  loaded.
 *
 * The store lock is taken before the buffer lock, as everywhere.  A reader that loads the
 * store from the pages is waited for, so a loaded store has seen exactly the records
 * before this one.  Redo never fails for want of memory: it drops the store, and
 * the next reader loads it again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "access/xlogutils.h"
#include "storage/bufmgr.h"
#include "storage/standby.h"

#include "durable/wal.h"
#include "shared/registry.h"

/* Put a record's version into the store; NULL when there was no memory. */
static DblTable *
store_put(DblTable *t, BlockNumber blkno, OffsetNumber off, const DblRecord *r)
{
	ItemPointerData tid;
	DblSlot		slot;
	DblVersion	v;

	if (t == NULL)
		return NULL;
	ItemPointerSet(&tid, blkno, off);
	slot = DblTidToSlot(&tid);
	if (!dbl_reserve(&t->store, Max((uint64) slot + 1, dbl_nslots(&t->store)), 1))
	{
		dbl_redo_give_up(t);
		return NULL;
	}
	if (slot < dbl_nslots(&t->store) && (dbl_version(&t->store, slot)->flags & DBL_F_USED))
		dbl_remove(&t->store, slot);
	dbl_version_from_record(&v, r);
	dbl_insert(&t->store, slot, &v);
	return t;
}

/* The version in a slot of the loaded store, or NULL. */
static DblVersion *
store_get(DblTable *t, BlockNumber blkno, OffsetNumber off, DblSlot *slot)
{
	ItemPointerData tid;
	DblVersion *v;

	if (t == NULL)
		return NULL;
	ItemPointerSet(&tid, blkno, off);
	*slot = DblTidToSlot(&tid);
	if (*slot >= dbl_nslots(&t->store))
		return NULL;
	v = dbl_version(&t->store, *slot);
	return (v->flags & DBL_F_USED) ? v : NULL;
}

static void
store_change(DblTable *t, BlockNumber blkno, OffsetNumber off, const DblXlChanged *c)
{
	DblSlot		slot;
	DblVersion *v = store_get(t, blkno, off, &slot);

	if (v == NULL)
		return;
	v->xmax = c->xmax;
	v->next = c->next;
	/* what was known of xmin stays true, unless the insertion was taken back */
	v->flags = c->flags | DBL_F_ANNOUNCED_ALL |
		(v->flags & (DBL_F_XMIN_COMMITTED | DBL_F_XMIN_ABORTED));
}

static void
page_change(Page page, OffsetNumber off, const DblXlChanged *c)
{
	DblRecord  *r = DblPageGetRecord(page, off);

	r->xmax = c->xmax;
	r->next = c->next;
	r->flags = c->flags;
}

static void
page_put(Page page, OffsetNumber off, const char *record)
{
	memcpy(DblPageGetRecord(page, off), record, sizeof(DblRecord));
	DblPageNoteUsed(page, off);
}

/* Open block `id` of the record for a change; true if the change is still to be made. */
static bool
open_block(XLogReaderState *record, uint8 id, bool init, Buffer *buf)
{
	if (init)
	{
		*buf = XLogInitBufferForRedo(record, id);
		DblPageInit(BufferGetPage(*buf));
		return true;
	}
	return XLogReadBufferForRedo(record, id, buf) == BLK_NEEDS_REDO;
}

static void
close_block(XLogReaderState *record, Buffer buf, bool changed)
{
	if (changed)
	{
		PageSetLSN(BufferGetPage(buf), record->EndRecPtr);
		MarkBufferDirty(buf);
	}
	if (BufferIsValid(buf))
		UnlockReleaseBuffer(buf);
}

static void
redo_insert(XLogReaderState *record, bool init)
{
	char	   *data = XLogRecGetData(record);
	uint16		n = ((DblXlInsert *) data)->n;
	OffsetNumber *offs = (OffsetNumber *) (data + sizeof(DblXlInsert));
	char	   *records = (char *) (offs + n);
	RelFileNode node;
	BlockNumber blkno;
	DblTable   *t;
	Buffer		buf;
	bool		redo;

	XLogRecGetBlockTag(record, 0, &node, NULL, &blkno);
	t = dbl_redo_lock(node);
	redo = open_block(record, 0, init, &buf);
	if (redo)
		for (int i = 0; i < n; i++)
			page_put(BufferGetPage(buf), offs[i], records + i * sizeof(DblRecord));
	close_block(record, buf, redo);
	for (int i = 0; i < n && t != NULL; i++)
	{
		DblRecord	r;

		memcpy(&r, records + i * sizeof(DblRecord), sizeof(r));
		t = store_put(t, blkno, offs[i], &r);
	}
	dbl_redo_unlock(t);
}

static void
redo_update(XLogReaderState *record, bool init)
{
	DblXlUpdate *xl = (DblXlUpdate *) XLogRecGetData(record);
	char	   *data = (char *) (xl + 1);
	bool		two = XLogRecHasBlockRef(record, 1);
	RelFileNode node;
	BlockNumber newblk;
	BlockNumber oldblk;
	DblRecord	r;
	DblTable   *t;
	Buffer		newbuf;
	Buffer		oldbuf = InvalidBuffer;
	bool		redo_new;
	bool		redo_old = false;

	memcpy(&r, data, sizeof(r));
	XLogRecGetBlockTag(record, 0, &node, NULL, &newblk);
	oldblk = newblk;
	if (two)
		XLogRecGetBlockTag(record, 1, NULL, NULL, &oldblk);

	t = dbl_redo_lock(node);
	if (two)
	{
		redo_old = open_block(record, 1, false, &oldbuf);
		if (redo_old)
			page_change(BufferGetPage(oldbuf), xl->old_off, &xl->old);
	}
	redo_new = open_block(record, 0, init, &newbuf);
	if (redo_new)
	{
		page_put(BufferGetPage(newbuf), xl->new_off, data);
		if (!two)
			page_change(BufferGetPage(newbuf), xl->old_off, &xl->old);
	}
	close_block(record, newbuf, redo_new);
	close_block(record, oldbuf, redo_old);

	t = store_put(t, newblk, xl->new_off, &r);
	store_change(t, oldblk, xl->old_off, &xl->old);
	dbl_redo_unlock(t);
}

static void
redo_change(XLogReaderState *record)
{
	DblXlChange *xl = (DblXlChange *) XLogRecGetData(record);
	RelFileNode node;
	BlockNumber blkno;
	DblTable   *t;
	Buffer		buf;
	bool		redo;

	XLogRecGetBlockTag(record, 0, &node, NULL, &blkno);
	t = dbl_redo_lock(node);
	redo = open_block(record, 0, false, &buf);
	if (redo)
		page_change(BufferGetPage(buf), xl->off, &xl->changed);
	close_block(record, buf, redo);
	store_change(t, blkno, xl->off, &xl->changed);
	dbl_redo_unlock(t);
}

static void
redo_prune(XLogReaderState *record)
{
	DblXlPrune *xl = (DblXlPrune *) XLogRecGetData(record);
	OffsetNumber *offs = (OffsetNumber *) (xl + 1);
	RelFileNode node;
	BlockNumber blkno;
	DblTable   *t;
	Buffer		buf;
	bool		redo;

	XLogRecGetBlockTag(record, 0, &node, NULL, &blkno);

	/* Whoever could still see what is being removed has to go first. */
	if (InHotStandby)
		ResolveRecoveryConflictWithSnapshot(xl->horizon, node);

	t = dbl_redo_lock(node);
	redo = open_block(record, 0, false, &buf);
	if (redo)
		for (int i = 0; i < xl->n; i++)
			memset(DblPageGetRecord(BufferGetPage(buf), offs[i]), 0, sizeof(DblRecord));
	close_block(record, buf, redo);
	for (int i = 0; i < xl->n; i++)
	{
		DblSlot		slot;

		if (store_get(t, blkno, offs[i], &slot))
			dbl_remove(&t->store, slot);
	}
	dbl_redo_unlock(t);
}

static void
redo_freeze(XLogReaderState *record)
{
	DblXlFreeze *xl = (DblXlFreeze *) XLogRecGetData(record);
	DblXlFrozen *f = (DblXlFrozen *) (xl + 1);
	RelFileNode node;
	BlockNumber blkno;
	DblTable   *t;
	Buffer		buf;
	bool		redo;

	XLogRecGetBlockTag(record, 0, &node, NULL, &blkno);
	if (InHotStandby)
	{
		/* the cutoff itself is not frozen; as heap does for its own record */
		TransactionId latest = xl->cutoff;

		if (TransactionIdIsNormal(latest))
			TransactionIdRetreat(latest);
		ResolveRecoveryConflictWithSnapshot(latest, node);
	}

	t = dbl_redo_lock(node);
	redo = open_block(record, 0, false, &buf);
	if (redo)
		for (int i = 0; i < xl->n; i++)
		{
			DblRecord  *r = DblPageGetRecord(BufferGetPage(buf), f[i].off);

			r->xmax = f[i].xmax;
			r->flags = f[i].flags;
		}
	close_block(record, buf, redo);
	for (int i = 0; i < xl->n; i++)
	{
		DblSlot		slot;
		DblVersion *v = store_get(t, blkno, f[i].off, &slot);

		if (v == NULL)
			continue;
		v->xmax = f[i].xmax;
		v->flags = f[i].flags | DBL_F_ANNOUNCED_ALL;
	}
	dbl_redo_unlock(t);
}

void
dbl_redo(XLogReaderState *record)
{
	uint8		info = XLogRecGetInfo(record) & ~XLR_INFO_MASK;
	bool		init = (info & XLOG_DBL_INIT_PAGE) != 0;

	switch (info & XLOG_DBL_OPMASK)
	{
		case XLOG_DBL_INSERT:
			redo_insert(record, init);
			break;
		case XLOG_DBL_UPDATE:
			redo_update(record, init);
			break;
		case XLOG_DBL_CHANGE:
			redo_change(record);
			break;
		case XLOG_DBL_PRUNE:
			redo_prune(record);
			break;
		case XLOG_DBL_FREEZE:
			redo_freeze(record);
			break;
		case XLOG_DBL_RESET:
			dbl_store_drop(*(RelFileNode *) XLogRecGetData(record), false);
			break;
		default:
			elog(PANIC, "unknown pg_doublets WAL record %u", info);
	}
}
