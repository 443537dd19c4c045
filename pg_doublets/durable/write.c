/*-------------------------------------------------------------------------
 *
 * write.c
 *	  Changes of a links table: page, WAL record and store in one step.
 *
 * Whatever can fail comes before the critical section.  The store lock, held
 * exclusively by the caller, also keeps others from extending the file.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xloginsert.h"
#include "catalog/catalog.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "durable/wal.h"
#include "durable/write.h"
#include "shared/inject.h"

/* --- buffers ---------------------------------------------------------------------- */

/* Pin a block, most often where it was the last time. */
static Buffer
pin_block(Relation rel, DblTable *t, BlockNumber blkno)
{
	Buffer	   *recent = dbl_table_recent_buffer(t, blkno);

	if (BufferIsValid(*recent) &&
		ReadRecentBuffer(rel->rd_node, MAIN_FORKNUM, blkno, *recent))
		return *recent;
	*recent = InvalidBuffer;
	*recent = ReadBuffer(rel, blkno);
	return *recent;
}

/* Make sure that the file has this block.  New blocks are zeroes until they are written to. */
static void
extend_to(Relation rel, DblTable *t, BlockNumber blkno)
{
	BlockNumber *nblocks = dbl_table_nblocks(t);

	if (likely(blkno < *nblocks))
		return;
	*nblocks = RelationGetNumberOfBlocks(rel);
	while (blkno >= *nblocks)
	{
		Buffer		buffer;
		BlockNumber got;

		DBL_INJECT("extend");
		buffer = ReadBuffer(rel, P_NEW);
		got = BufferGetBlockNumber(buffer);

		*dbl_table_recent_buffer(t, got) = buffer;
		ReleaseBuffer(buffer);
		*nblocks = got + 1;
	}
}

/* A page that records can be put on?  Raises if it is something else. */
static void
check_page(Relation rel, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);

	if (PageIsNew(page) || likely(DblPageIsValid(page)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("block %u of table \"%s\" is not a link page",
					BufferGetBlockNumber(buffer), RelationGetRelationName(rel))));
}

static Buffer
lock_block(Relation rel, DblTable *t, BlockNumber blkno)
{
	Buffer		buffer = pin_block(rel, t, blkno);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	check_page(rel, buffer);
	return buffer;
}

/* --- the store's side ------------------------------------------------------------------ */

static void
change_version(DblTable *t, DblSlot slot, const DblChange *change, uint32 next)
{
	DblVersion *v = dbl_version(&t->store, slot);

	v->xmax = change->xmax;
	v->cmax = change->cmax;
	v->next = next;
	v->flags = change->flags | DBL_F_USED;
}

static void
fill_change(xl_dbl_change *x, DblSlot slot, const DblChange *change, uint32 next, uint16 kind)
{
	memset(x, 0, sizeof(*x));
	x->xmax = change->xmax;
	x->next = next;
	x->flags = (change->flags | DBL_F_USED) & DBL_F_PERSISTENT;
	x->off = DblSlotOffset(slot);
	x->kind = kind;
}

/* An old version's replica identity, for a record that carries it. */
typedef struct OldColumns
{
	xl_dbl_old	head;
	int64		key[DBL_NCOLUMNS];
} OldColumns;

/*
 * Columns of a version for logical decoding, as they go into a record; the size of it.  Sets the flags of the change.
 */
static Size
fill_old(Relation rel, OldColumns *old, DblTable *t, DblSlot slot, uint32 identity, xl_dbl_change *x)
{
	DblVersion *v;
	int			n = 0;

	if (!RelationIsLogicallyLogged(rel))
		return 0;
	x->kind |= DBL_CHANGE_LOGICAL;
	if (identity == 0)
		return 0;
	x->kind |= DBL_CHANGE_OLD;
	v = dbl_version(&t->store, slot);
	memset(old, 0, sizeof(*old));
	for (int i = 0; i < DBL_NCOLUMNS; i++)
	{
		if ((identity & (1 << i)) && !DblVersionIsNull(v, i))
		{
			old->head.present |= 1 << i;
			old->key[n++] = v->key[i];
		}
	}
	return offsetof(xl_dbl_old, key) + n * sizeof(int64);
}

/* --- insert ----------------------------------------------------------------------------- */

/* Put n versions into slots of one block. */
static void
insert_block(Relation rel, DblTable *t, const DblVersion *v, int n, bool logical,
			 const DblSlot *slots)
{
	xl_dbl_insert items[DBL_RECORDS_PER_PAGE];
	Buffer		buffer = lock_block(rel, t, DblSlotBlock(slots[0]));
	Page		page = BufferGetPage(buffer);
	bool		init = PageIsNew(page);

	for (int i = 0; i < n; i++)
	{
		dbl_record_of_version(&items[i].record, &v[i]);
		items[i].off = DblSlotOffset(slots[i]);
		memset(items[i].unused, 0, sizeof(items[i].unused));
	}

	DBL_INJECT("insert-before");
	START_CRIT_SECTION();
	if (init)
		DblPageInit(page);
	for (int i = 0; i < n; i++)
		dbl_page_put(page, items[i].off, &items[i].record);
	MarkBufferDirty(buffer);
	DBL_INJECT("insert-page");
	if (RelationNeedsWAL(rel))
	{
		char		data[DBL_PACKED_INSERT_SIZE];
		char		image[DBL_IMAGE_SIZE];
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterData(data, dbl_pack_insert(data, items, n, logical && RelationIsLogicallyLogged(rel)));
		dbl_register_page(0, buffer, init, image);
		XLogSetRecordFlags(XLOG_INCLUDE_ORIGIN);
		lsn = XLogInsert(DBL_RMGR_ID, XLOG_DBL_INSERT | (init ? XLOG_DBL_INIT_PAGE : 0));
		PageSetLSN(page, lsn);
	}
	DBL_INJECT("insert-wal");
	for (int i = 0; i < n; i++)
		dbl_insert(&t->store, slots[i], &v[i]);
	DBL_INJECT("insert-store");
	END_CRIT_SECTION();

	UnlockReleaseBuffer(buffer);
}

/* Find slots for n versions, with memory and file blocks for them. */
static void
choose_slots(Relation rel, DblTable *t, int n, DblSlot *slots)
{
	DblSlot		last = 0;

	Assert(dbl_table_held(t, LW_EXCLUSIVE));
	dbl_peek_free(&t->store, n, slots);
	for (int i = 0; i < n; i++)
		last = Max(last, slots[i]);
	if (last >= DBL_MAX_SLOTS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("table \"%s\" is full", RelationGetRelationName(rel))));
	dbl_table_reserve(t, Max((uint64) last + 1, dbl_nslots(&t->store)), n);
	extend_to(rel, t, DblSlotBlock(last));
}

void
dbl_write_insert(Relation rel, DblTable *t, const DblVersion *v, int n, bool logical, DblSlot *slots)
{
	if (n <= 0)
		return;
	choose_slots(rel, t, n, slots);
	for (int i = 0; i < n;)
	{
		int			end = i + 1;

		while (end < n && end - i < DBL_RECORDS_PER_PAGE &&
			   DblSlotBlock(slots[end]) == DblSlotBlock(slots[i]))
			end++;
		insert_block(rel, t, v + i, end - i, logical, slots + i);
		i = end;
	}
}

/* Nothing of a version is made anew by an insertion, so a copy is one. */
void
dbl_write_copy(Relation rel, DblTable *t, const DblVersion *v, int n, DblSlot *slots)
{
	dbl_write_insert(rel, t, v, n, false, slots);
}

/* --- update ------------------------------------------------------------------------------- */

void
dbl_write_update(Relation rel, DblTable *t, DblSlot oldslot, const DblChange *change,
				 const DblVersion *newv, uint32 identity, DblSlot *newslot)
{
	xl_dbl_update x;
	OldColumns	old;
	Size		oldsize;
	BlockNumber oldblk = DblSlotBlock(oldslot);
	BlockNumber newblk;
	Buffer		oldbuf;
	Buffer		newbuf;
	Page		newpage;
	bool		init;

	choose_slots(rel, t, 1, newslot);
	newblk = DblSlotBlock(*newslot);
	oldbuf = pin_block(rel, t, oldblk);
	newbuf = newblk == oldblk ? oldbuf : pin_block(rel, t, newblk);
	LockBuffer(newblk < oldblk ? newbuf : oldbuf, BUFFER_LOCK_EXCLUSIVE);
	if (newblk != oldblk)
		LockBuffer(newblk < oldblk ? oldbuf : newbuf, BUFFER_LOCK_EXCLUSIVE);
	check_page(rel, oldbuf);
	check_page(rel, newbuf);
	newpage = BufferGetPage(newbuf);
	init = PageIsNew(newpage);

	memset(&x, 0, sizeof(x));
	fill_change(&x.old, oldslot, change, *newslot, DBL_CHANGE_DELETE);
	dbl_record_of_version(&x.new.record, newv);
	x.new.off = DblSlotOffset(*newslot);
	oldsize = fill_old(rel, &old, t, oldslot, identity, &x.old);

	DBL_INJECT("update-before");
	START_CRIT_SECTION();
	if (init)
		DblPageInit(newpage);
	dbl_page_change(BufferGetPage(oldbuf), &x.old);
	dbl_page_put(newpage, x.new.off, &x.new.record);
	MarkBufferDirty(newbuf);
	if (newbuf != oldbuf)
		MarkBufferDirty(oldbuf);
	DBL_INJECT("update-page");
	if (RelationNeedsWAL(rel))
	{
		char		data[DBL_PACKED_UPDATE_SIZE];
		char		image[DBL_IMAGE_SIZE];
		char		oldimage[DBL_IMAGE_SIZE];
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterData(data, dbl_pack_update(data, &x, *newslot));
		if (oldsize > 0)
			XLogRegisterData((char *) &old, oldsize);
		dbl_register_page(0, newbuf, init, image);
		if (newbuf != oldbuf)
			dbl_register_page(1, oldbuf, false, oldimage);
		XLogSetRecordFlags(XLOG_INCLUDE_ORIGIN);
		lsn = XLogInsert(DBL_RMGR_ID, XLOG_DBL_UPDATE | (init ? XLOG_DBL_INIT_PAGE : 0));
		PageSetLSN(newpage, lsn);
		PageSetLSN(BufferGetPage(oldbuf), lsn);
	}
	DBL_INJECT("update-wal");
	change_version(t, oldslot, change, *newslot);
	dbl_insert(&t->store, *newslot, newv);
	DBL_INJECT("update-store");
	END_CRIT_SECTION();

	UnlockReleaseBuffer(newbuf);
	if (newbuf != oldbuf)
		UnlockReleaseBuffer(oldbuf);
}

/* --- changes in place --------------------------------------------------------------------- */

static void
write_change(Relation rel, DblTable *t, DblSlot slot, const DblChange *change, uint16 kind,
			 uint32 identity)
{
	xl_dbl_change x;
	OldColumns	old;
	Size		oldsize = 0;
	Buffer		buffer;

	Assert(dbl_table_held(t, LW_EXCLUSIVE));
	buffer = lock_block(rel, t, DblSlotBlock(slot));
	fill_change(&x, slot, change, change->next, kind);
	if (kind != DBL_CHANGE_LOCK && kind != DBL_CHANGE_SET_NEXT)
		oldsize = fill_old(rel, &old, t, slot, identity, &x);

	DBL_INJECT("change-before");
	START_CRIT_SECTION();
	dbl_page_change(BufferGetPage(buffer), &x);
	MarkBufferDirty(buffer);
	DBL_INJECT("change-page");
	if (RelationNeedsWAL(rel))
	{
		char		image[DBL_IMAGE_SIZE];
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterData((char *) &x, sizeof(x));
		if (oldsize > 0)
			XLogRegisterData((char *) &old, oldsize);
		dbl_register_page(0, buffer, false, image);
		XLogSetRecordFlags(XLOG_INCLUDE_ORIGIN);
		lsn = XLogInsert(DBL_RMGR_ID, XLOG_DBL_CHANGE);
		PageSetLSN(BufferGetPage(buffer), lsn);
	}
	DBL_INJECT("change-wal");
	change_version(t, slot, change, change->next);
	DBL_INJECT("change-store");
	END_CRIT_SECTION();

	UnlockReleaseBuffer(buffer);
}

void
dbl_write_change(Relation rel, DblTable *t, DblSlot slot, const DblChange *change,
				 DblChangeKind kind, uint32 identity)
{
	write_change(rel, t, slot, change, kind, identity);
}

void
dbl_write_set_next(Relation rel, DblTable *t, DblSlot slot, DblSlot next)
{
	DblVersion *v = dbl_version(&t->store, slot);
	DblChange	change = {v->xmax, v->cmax, next, v->flags};

	write_change(rel, t, slot, &change, DBL_CHANGE_SET_NEXT, 0);
}

/* --- prune and freeze ----------------------------------------------------------------------- */

/* Log a change of several records of a locked page. */
static void
log_multi(Relation rel, Buffer buffer, uint8 info, int n, TransactionId horizon,
		  void *items, Size size)
{
	xl_dbl_multi multi = {n, 0, horizon};
	char		image[DBL_IMAGE_SIZE];
	XLogRecPtr	lsn;

	if (!RelationNeedsWAL(rel))
		return;
	XLogBeginInsert();
	XLogRegisterData((char *) &multi, sizeof(multi));
	XLogRegisterData(items, size);
	dbl_register_page(0, buffer, false, image);
	lsn = XLogInsert(DBL_RMGR_ID, info);
	PageSetLSN(BufferGetPage(buffer), lsn);
}

void
dbl_write_prune(Relation rel, DblTable *t, BlockNumber blkno, const DblSlot *slots, int n,
				TransactionId horizon)
{
	OffsetNumber offs[DBL_RECORDS_PER_PAGE];
	Buffer		buffer;

	Assert(dbl_table_held(t, LW_EXCLUSIVE));
	Assert(n <= DBL_RECORDS_PER_PAGE);
	if (n <= 0)
		return;
	for (int i = 0; i < n; i++)
	{
		Assert(DblSlotBlock(slots[i]) == blkno);
		offs[i] = DblSlotOffset(slots[i]);
	}
	buffer = lock_block(rel, t, blkno);

	DBL_INJECT("prune-before");
	START_CRIT_SECTION();
	dbl_page_prune(BufferGetPage(buffer), offs, n);
	MarkBufferDirty(buffer);
	DBL_INJECT("prune-page");
	log_multi(rel, buffer, XLOG_DBL_PRUNE, n, horizon, offs, n * sizeof(offs[0]));
	DBL_INJECT("prune-wal");
	for (int i = 0; i < n; i++)
		dbl_remove(&t->store, slots[i]);
	DBL_INJECT("prune-store");
	END_CRIT_SECTION();

	UnlockReleaseBuffer(buffer);
}

void
dbl_write_freeze(Relation rel, DblTable *t, BlockNumber blkno, const DblFreeze *freeze, int n,
				 TransactionId cutoff)
{
	xl_dbl_freeze items[DBL_RECORDS_PER_PAGE];
	Buffer		buffer;

	Assert(dbl_table_held(t, LW_EXCLUSIVE));
	Assert(n <= DBL_RECORDS_PER_PAGE);
	if (n <= 0)
		return;
	for (int i = 0; i < n; i++)
	{
		Assert(DblSlotBlock(freeze[i].slot) == blkno);
		items[i].xmax = freeze[i].xmax;
		items[i].flags = (freeze[i].flags | DBL_F_USED) & DBL_F_PERSISTENT;
		items[i].off = DblSlotOffset(freeze[i].slot);
		items[i].unused = 0;
	}
	buffer = lock_block(rel, t, blkno);

	DBL_INJECT("freeze-before");
	START_CRIT_SECTION();
	dbl_page_freeze(BufferGetPage(buffer), items, n);
	MarkBufferDirty(buffer);
	DBL_INJECT("freeze-page");
	log_multi(rel, buffer, XLOG_DBL_FREEZE, n, cutoff, items, n * sizeof(items[0]));
	DBL_INJECT("freeze-wal");
	for (int i = 0; i < n; i++)
	{
		DblVersion *v = dbl_version(&t->store, freeze[i].slot);

		v->xmax = freeze[i].xmax;
		v->flags = freeze[i].flags | DBL_F_USED;
	}
	DBL_INJECT("freeze-store");
	END_CRIT_SECTION();

	UnlockReleaseBuffer(buffer);
}
