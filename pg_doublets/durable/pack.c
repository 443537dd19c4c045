/*-------------------------------------------------------------------------
 *
 * pack.c
 *	  How insertions and updates are written in WAL records, and read back.
 *
 * Most versions have xmin = the record's own transaction, no xmax and no
 * successor, and most updates leave that transaction in xmax and the new
 * version as successor.  Such are written in a short form without them;
 * whoever reads gets one and the same form.
 *
 * Items of a record are not aligned.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"

#include "durable/wal.h"

/* A version of the record's transaction. */
typedef struct xl_dbl_short
{
	int64		key[DBL_NCOLUMNS];
	uint16		flags;
	OffsetNumber off;
} xl_dbl_short;

#define SizeOfDblShort	(offsetof(xl_dbl_short, off) + sizeof(OffsetNumber))

typedef struct xl_dbl_insert_head
{
	uint16		n;
	uint16		flags;
} xl_dbl_insert_head;

#define INSERT_LOGICAL	0x0001	/* for logical decoding too */
#define INSERT_SHORT	0x0002	/* n xl_dbl_short follow, else xl_dbl_insert */

/* What precedes the new version's xl_dbl_short; the beginning is that of an xl_dbl_change. */
typedef struct xl_dbl_update_head
{
	uint16		kind;
	OffsetNumber off;
	uint16		flags;
} xl_dbl_update_head;

StaticAssertDecl(DBL_F_PERSISTENT <= PG_UINT16_MAX, "persistent flags have 16 bits in WAL");
StaticAssertDecl(sizeof(xl_dbl_insert_head) + DBL_RECORDS_PER_PAGE * sizeof(xl_dbl_insert) <= DBL_PACKED_INSERT_SIZE,
				 "the versions of a page fit a packed record");
StaticAssertDecl(sizeof(xl_dbl_update_head) + SizeOfDblShort <= sizeof(xl_dbl_update),
				 "a short update fits a packed record");

static bool
can_be_short(const DblRecord *record, TransactionId xid)
{
	return record->xmin == xid && record->xmax == InvalidTransactionId &&
		record->next == DBL_NO_SLOT;
}

static char *
put_short(char *to, const xl_dbl_insert *item)
{
	xl_dbl_short s;

	memcpy(s.key, item->record.key, sizeof(s.key));
	s.flags = item->record.flags;
	s.off = item->off;
	memcpy(to, &s, SizeOfDblShort);
	return to + SizeOfDblShort;
}

static const char *
get_short(const char *from, TransactionId xid, xl_dbl_insert *item)
{
	xl_dbl_short s;

	memcpy(&s, from, SizeOfDblShort);
	memset(item, 0, sizeof(*item));
	memcpy(item->record.key, s.key, sizeof(s.key));
	item->record.xmin = xid;
	item->record.xmax = InvalidTransactionId;
	item->record.next = DBL_NO_SLOT;
	item->record.flags = s.flags;
	item->off = s.off;
	return from + SizeOfDblShort;
}

/*
 * Write the data of an XLOG_DBL_INSERT of the current transaction to `to`, which has
 * DBL_PACKED_INSERT_SIZE bytes; their number.
 */
Size
dbl_pack_insert(char *to, const xl_dbl_insert *items, int n, bool logical)
{
	TransactionId xid = GetCurrentTransactionIdIfAny();
	xl_dbl_insert_head head = {n, (logical ? INSERT_LOGICAL : 0) | INSERT_SHORT};
	char	   *end = to + sizeof(head);

	for (int i = 0; i < n && (head.flags & INSERT_SHORT); i++)
		if (!can_be_short(&items[i].record, xid))
			head.flags &= ~INSERT_SHORT;
	memcpy(to, &head, sizeof(head));
	if (!(head.flags & INSERT_SHORT))
	{
		memcpy(end, items, n * sizeof(*items));
		return end + n * sizeof(*items) - to;
	}
	for (int i = 0; i < n; i++)
		end = put_short(end, &items[i]);
	return end - to;
}

/* Read the data of an XLOG_DBL_INSERT; the number of items, DBL_RECORDS_PER_PAGE at most. */
int
dbl_unpack_insert(XLogReaderState *record, xl_dbl_insert *items)
{
	const char *from = XLogRecGetData(record);
	TransactionId xid = XLogRecGetXid(record);
	xl_dbl_insert_head head;

	memcpy(&head, from, sizeof(head));
	from += sizeof(head);
	Assert(head.n <= DBL_RECORDS_PER_PAGE);
	if (!(head.flags & INSERT_SHORT))
		memcpy(items, from, head.n * sizeof(*items));
	else
		for (int i = 0; i < head.n; i++)
			from = get_short(from, xid, &items[i]);
	return head.n;
}

bool
dbl_packed_insert_is_logical(XLogReaderState *record)
{
	xl_dbl_insert_head head;

	memcpy(&head, XLogRecGetData(record), sizeof(head));
	return (head.flags & INSERT_LOGICAL) != 0;
}

/*
 * Write the data of an XLOG_DBL_UPDATE of the current transaction to `to`, which has
 * sizeof(xl_dbl_update) bytes; their number.  newslot is the new version's, and x->old.next.
 */
Size
dbl_pack_update(char *to, const xl_dbl_update *x, DblSlot newslot)
{
	TransactionId xid = GetCurrentTransactionIdIfAny();
	xl_dbl_update_head head = {x->old.kind | DBL_CHANGE_SHORT, x->old.off, x->old.flags};

	if (x->old.xmax != xid || x->old.next != newslot || !can_be_short(&x->new.record, xid))
	{
		memcpy(to, x, sizeof(*x));
		return sizeof(*x);
	}
	memcpy(to, &head, sizeof(head));
	return put_short(to + sizeof(head), &x->new) - to;
}

/* Read the data of an XLOG_DBL_UPDATE; what follows it. */
const char *
dbl_unpack_update(XLogReaderState *record, xl_dbl_update *x)
{
	const char *from = XLogRecGetData(record);
	TransactionId xid = XLogRecGetXid(record);
	xl_dbl_update_head head;
	ItemPointerData tid;
	BlockNumber blkno;

	memcpy(&head, from, sizeof(head));
	if (!(head.kind & DBL_CHANGE_SHORT))
	{
		memcpy(x, from, sizeof(*x));
		return from + sizeof(*x);
	}
	from = get_short(from + sizeof(head), xid, &x->new);
	XLogRecGetBlockTag(record, 0, NULL, NULL, &blkno);
	ItemPointerSet(&tid, blkno, x->new.off);
	x->old.kind = head.kind;
	x->old.off = head.off;
	x->old.flags = head.flags;
	x->old.xmax = xid;
	x->old.next = DblTidToSlot(&tid);
	return from;
}
