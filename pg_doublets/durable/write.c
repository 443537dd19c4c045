/*-------------------------------------------------------------------------
 *
 * write.c
 *	  Changes of a links table: page, WAL record and store in one step.
 *
 * Everything here runs under the exclusive store lock.  First whatever can fail:
 * memory of the store, the buffers, extending the file.  Then a critical section
 * changes page, WAL and store, none of which can fail any more.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "durable/wal.h"
#include "durable/write.h"

/* Insertions that are prepared at a time; bounds what dbl_reserve() sets aside. */
#define INSERT_GROUP	((int) DBL_RECORDS_PER_PAGE)

/* The metapage of a file that has no block yet. */
static void
make_metapage(Relation rel)
{
	Buffer		buf = ReadBufferExtended(rel, MAIN_FORKNUM, P_NEW, RBM_NORMAL, NULL);

	Assert(BufferGetBlockNumber(buf) == DBL_METAPAGE_BLKNO);
	LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	START_CRIT_SECTION();
	DblMetaPageInit(BufferGetPage(buf), RelationGetNumberOfAttributes(rel));
	MarkBufferDirty(buf);
	if (RelationNeedsWAL(rel))
		log_newpage_buffer(buf, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buf);
}

/*
 * Pin a link page, extending the file as far as need be.  The store's exclusive lock
 * keeps others from extending it.  Pages on the way stay zero, which is valid.
 */
static Buffer
get_page(Relation rel, DblTable *t, BlockNumber blkno)
{
	BlockNumber *nblocks = dbl_table_nblocks(t);
	Buffer	   *recent = dbl_table_recent_buffer(t, blkno);

	if (BufferIsValid(*recent) &&
		ReadRecentBuffer(rel->rd_node, MAIN_FORKNUM, blkno, *recent))
		return *recent;
	if (*nblocks <= blkno)
	{
		*nblocks = RelationGetNumberOfBlocks(rel);
		if (*nblocks == 0)
		{
			make_metapage(rel);
			*nblocks = 1;
		}
	}
	while (*nblocks <= blkno)
	{
		Buffer		buf = ReadBufferExtended(rel, MAIN_FORKNUM, P_NEW, RBM_NORMAL, NULL);

		*nblocks = BufferGetBlockNumber(buf) + 1;
		if (*nblocks > blkno)
		{
			*recent = buf;
			return buf;
		}
		ReleaseBuffer(buf);
	}
	*recent = ReadBuffer(rel, blkno);
	return *recent;
}

/* Lock a page for a change; true if it must be made first. */
static bool
lock_page(Relation rel, Buffer buf)
{
	Page		page = BufferGetPage(buf);

	LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	if (PageIsNew(page))
		return true;
	if (!DblPageIsValid(page))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("block %u of relation \"%s\" is not a link page",
						BufferGetBlockNumber(buf), RelationGetRelationName(rel))));
	return false;
}

static void
put_record(Page page, OffsetNumber off, const DblRecord *r)
{
	*DblPageGetRecord(page, off) = *r;
	DblPageNoteUsed(page, off);
}

static void
change_record(Page page, OffsetNumber off, const DblXlChanged *c)
{
	DblRecord  *r = DblPageGetRecord(page, off);

	r->xmax = c->xmax;
	r->next = c->next;
	r->flags = c->flags;
}

static void
changed_of(DblXlChanged *c, const DblChange *change)
{
	c->xmax = change->xmax;
	c->next = change->next;
	c->flags = change->flags & DBL_F_PERSISTENT;
}

static void
change_version(DblTable *t, DblSlot slot, const DblChange *change)
{
	DblVersion *v = dbl_version(&t->store, slot);

	v->xmax = change->xmax;
	v->cmax = change->cmax;
	v->next = change->next;
	v->flags = change->flags;
}

/* Insert versions into slots of one page. */
static void
insert_on_page(Relation rel, DblTable *t, const DblVersion *v, int n, const DblSlot *slots)
{
	Buffer		buf = get_page(rel, t, DblSlotBlock(slots[0]));
	Page		page = BufferGetPage(buf);
	bool		init = lock_page(rel, buf);
	DblRecord	records[DBL_RECORDS_PER_PAGE];
	OffsetNumber offs[DBL_RECORDS_PER_PAGE];
	DblXlInsert xl;
	XLogRecPtr	lsn;

	for (int i = 0; i < n; i++)
	{
		dbl_record_from_version(&records[i], &v[i]);
		offs[i] = DblSlotOffset(slots[i]);
	}

	START_CRIT_SECTION();
	if (init)
		DblPageInit(page);
	for (int i = 0; i < n; i++)
		put_record(page, offs[i], &records[i]);
	MarkBufferDirty(buf);
	if (RelationNeedsWAL(rel))
	{
		xl.n = n;
		XLogBeginInsert();
		XLogRegisterBuffer(0, buf, REGBUF_STANDARD | (init ? REGBUF_WILL_INIT : 0));
		XLogRegisterData((char *) &xl, sizeof(xl));
		XLogRegisterData((char *) offs, n * sizeof(OffsetNumber));
		XLogRegisterData((char *) records, n * sizeof(DblRecord));
		lsn = XLogInsert(DBL_RMGR_ID, XLOG_DBL_INSERT | (init ? XLOG_DBL_INIT_PAGE : 0));
		PageSetLSN(page, lsn);
	}
	for (int i = 0; i < n; i++)
		dbl_insert(&t->store, slots[i], &v[i]);
	END_CRIT_SECTION();

	UnlockReleaseBuffer(buf);
}

void
dbl_write_insert(Relation rel, DblTable *t, const DblVersion *v, int n, DblSlot *slots)
{
	Assert(dbl_table_held(t, LW_EXCLUSIVE));

	for (int done = 0; done < n;)
	{
		int			group = Min(n - done, INSERT_GROUP);
		DblSlot    *s = &slots[done];

		dbl_table_reserve(t, (uint64) dbl_nslots(&t->store) + group, group);
		dbl_peek_free(&t->store, group, s);
		for (int i = 0; i < group;)
		{
			int			run = 1;

			while (i + run < group && DblSlotBlock(s[i + run]) == DblSlotBlock(s[i]))
				run++;
			insert_on_page(rel, t, &v[done + i], run, &s[i]);
			i += run;
		}
		done += group;
	}
}

void
dbl_write_copy(Relation rel, DblTable *t, const DblVersion *v, int n, DblSlot *slots)
{
	/* a record carries every field, so a copy is an insertion like another */
	dbl_write_insert(rel, t, v, n, slots);
}

void
dbl_write_update(Relation rel, DblTable *t, DblSlot oldslot, const DblChange *change,
				 const DblVersion *newv, DblSlot *newslot)
{
	BlockNumber oldblk = DblSlotBlock(oldslot);
	BlockNumber newblk;
	Buffer		oldbuf;
	Buffer		newbuf;
	bool		init;
	DblChange	c = *change;
	DblRecord	record;
	DblXlUpdate xl;

	Assert(dbl_table_held(t, LW_EXCLUSIVE));

	dbl_table_reserve(t, (uint64) dbl_nslots(&t->store) + 1, 1);
	dbl_peek_free(&t->store, 1, newslot);
	newblk = DblSlotBlock(*newslot);
	newbuf = get_page(rel, t, newblk);
	oldbuf = newbuf;
	if (oldblk != newblk)
	{
		oldbuf = get_page(rel, t, oldblk);
		/* only writers of this table lock two of its pages, and there is one at a time */
		(void) lock_page(rel, oldbuf);
	}
	init = lock_page(rel, newbuf);

	c.next = *newslot;
	changed_of(&xl.old, &c);
	xl.old_off = DblSlotOffset(oldslot);
	xl.new_off = DblSlotOffset(*newslot);
	dbl_record_from_version(&record, newv);

	START_CRIT_SECTION();
	if (init)
		DblPageInit(BufferGetPage(newbuf));
	put_record(BufferGetPage(newbuf), xl.new_off, &record);
	change_record(BufferGetPage(oldbuf), xl.old_off, &xl.old);
	MarkBufferDirty(newbuf);
	if (oldbuf != newbuf)
		MarkBufferDirty(oldbuf);
	if (RelationNeedsWAL(rel))
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterBuffer(0, newbuf, REGBUF_STANDARD | (init ? REGBUF_WILL_INIT : 0));
		if (oldbuf != newbuf)
			XLogRegisterBuffer(1, oldbuf, REGBUF_STANDARD);
		XLogRegisterData((char *) &xl, sizeof(xl));
		XLogRegisterData((char *) &record, sizeof(record));
		lsn = XLogInsert(DBL_RMGR_ID, XLOG_DBL_UPDATE | (init ? XLOG_DBL_INIT_PAGE : 0));
		PageSetLSN(BufferGetPage(newbuf), lsn);
		if (oldbuf != newbuf)
			PageSetLSN(BufferGetPage(oldbuf), lsn);
	}
	dbl_insert(&t->store, *newslot, newv);
	change_version(t, oldslot, &c);
	END_CRIT_SECTION();

	UnlockReleaseBuffer(newbuf);
	if (oldbuf != newbuf)
		UnlockReleaseBuffer(oldbuf);
}

void
dbl_write_change(Relation rel, DblTable *t, DblSlot slot, const DblChange *change,
				 DblChangeKind kind)
{
	Buffer		buf;
	Page		page;
	DblXlChange xl;

	Assert(dbl_table_held(t, LW_EXCLUSIVE));

	buf = get_page(rel, t, DblSlotBlock(slot));
	page = BufferGetPage(buf);
	(void) lock_page(rel, buf);
	changed_of(&xl.changed, change);
	xl.off = DblSlotOffset(slot);
	xl.kind = kind;

	START_CRIT_SECTION();
	change_record(page, xl.off, &xl.changed);
	MarkBufferDirty(buf);
	if (RelationNeedsWAL(rel))
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterBuffer(0, buf, REGBUF_STANDARD);
		XLogRegisterData((char *) &xl, sizeof(xl));
		lsn = XLogInsert(DBL_RMGR_ID, XLOG_DBL_CHANGE);
		PageSetLSN(page, lsn);
	}
	change_version(t, slot, change);
	END_CRIT_SECTION();

	UnlockReleaseBuffer(buf);
}

void
dbl_write_set_next(Relation rel, DblTable *t, DblSlot slot, DblSlot next)
{
	DblVersion *v = dbl_version(&t->store, slot);
	DblChange	change = {.xmax = v->xmax,.cmax = v->cmax,.next = next,.flags = v->flags};

	dbl_write_change(rel, t, slot, &change, DBL_CHANGE_LOCK);
}

void
dbl_write_prune(Relation rel, DblTable *t, BlockNumber blkno, const DblSlot *slots, int n,
				TransactionId horizon)
{
	Buffer		buf;
	Page		page;
	OffsetNumber offs[DBL_RECORDS_PER_PAGE];
	DblXlPrune	xl = {.horizon = horizon,.n = n};

	Assert(dbl_table_held(t, LW_EXCLUSIVE));

	buf = get_page(rel, t, blkno);
	page = BufferGetPage(buf);
	(void) lock_page(rel, buf);
	for (int i = 0; i < n; i++)
	{
		Assert(DblSlotBlock(slots[i]) == blkno);
		offs[i] = DblSlotOffset(slots[i]);
	}

	START_CRIT_SECTION();
	for (int i = 0; i < n; i++)
		memset(DblPageGetRecord(page, offs[i]), 0, sizeof(DblRecord));
	MarkBufferDirty(buf);
	if (RelationNeedsWAL(rel))
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterBuffer(0, buf, REGBUF_STANDARD);
		XLogRegisterData((char *) &xl, sizeof(xl));
		XLogRegisterData((char *) offs, n * sizeof(OffsetNumber));
		lsn = XLogInsert(DBL_RMGR_ID, XLOG_DBL_PRUNE);
		PageSetLSN(page, lsn);
	}
	for (int i = 0; i < n; i++)
		dbl_remove(&t->store, slots[i]);
	END_CRIT_SECTION();

	UnlockReleaseBuffer(buf);
}

void
dbl_write_freeze(Relation rel, DblTable *t, BlockNumber blkno, const DblFreeze *freeze, int n,
				 TransactionId cutoff)
{
	Buffer		buf;
	Page		page;
	DblXlFrozen frozen[DBL_RECORDS_PER_PAGE];
	DblXlFreeze xl = {.cutoff = cutoff,.n = n};

	Assert(dbl_table_held(t, LW_EXCLUSIVE));

	buf = get_page(rel, t, blkno);
	page = BufferGetPage(buf);
	(void) lock_page(rel, buf);
	for (int i = 0; i < n; i++)
	{
		Assert(DblSlotBlock(freeze[i].slot) == blkno);
		frozen[i].off = DblSlotOffset(freeze[i].slot);
		frozen[i].xmax = freeze[i].xmax;
		frozen[i].flags = freeze[i].flags & DBL_F_PERSISTENT;
		frozen[i].pad = 0;
	}

	START_CRIT_SECTION();
	for (int i = 0; i < n; i++)
	{
		DblRecord  *r = DblPageGetRecord(page, frozen[i].off);

		r->xmax = frozen[i].xmax;
		r->flags = frozen[i].flags;
	}
	MarkBufferDirty(buf);
	if (RelationNeedsWAL(rel))
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterBuffer(0, buf, REGBUF_STANDARD);
		XLogRegisterData((char *) &xl, sizeof(xl));
		XLogRegisterData((char *) frozen, n * sizeof(DblXlFrozen));
		lsn = XLogInsert(DBL_RMGR_ID, XLOG_DBL_FREEZE);
		PageSetLSN(page, lsn);
	}
	for (int i = 0; i < n; i++)
	{
		DblVersion *v = dbl_version(&t->store, freeze[i].slot);

		v->xmax = freeze[i].xmax;
		v->flags = freeze[i].flags;
	}
	END_CRIT_SECTION();

	UnlockReleaseBuffer(buf);
}
