/*-------------------------------------------------------------------------
 *
 * pack.c
 *	  How insertions and updates are written in WAL records, and read back.
 *
 * Most versions have xmin = the record's own transaction, no xmax, no
 * successor and no flags but those that go without saying, and most updates
 * leave that transaction in xmax and the new version as successor.  Such are
 * written in a short form, which has the columns, each with no more bytes
 * than it needs, and the place.  Whoever reads gets one and the same form.
 *
 * Nothing in these records is aligned.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"

#include "durable/wal.h"
#include "durable/write.h"

/* An insertion begins with 16 bits, the number of versions and these: */
#define INSERT_COUNT	0x3FFF
#define INSERT_LOGICAL	0x4000	/* for logical decoding too */
#define INSERT_SHORT	0x8000	/* short items follow, else xl_dbl_insert */

/* An update with 32, the old version's offset and flags and these: */
#define UPDATE_OFFSET	0x00001FFF
#define UPDATE_FLAGS	13		/* shift of 15 bits */
#define UPDATE_LOGICAL	0x10000000
#define UPDATE_OLD		0x20000000	/* as DBL_CHANGE_OLD */
#define UPDATE_SHORT	0x40000000	/* a short item follows, else xl_dbl_update */

/*
 * A short item: 16 bits of offset, 16 bits that say of each column how many bytes it
 * has (0 to 8) or that it is NULL, as a number of four digits, and those bytes.
 */
#define COLUMN_NULL		9
#define COLUMN_BASE		10
#define SHORT_SIZE		(2 * sizeof(uint16) + DBL_NCOLUMNS * sizeof(int64))

StaticAssertDecl(DBL_F_PERSISTENT < (1 << 15), "an update has 15 bits for flags");
StaticAssertDecl(DBL_RECORDS_PER_PAGE <= UPDATE_OFFSET, "an update has 13 bits for an offset");
StaticAssertDecl(SHORT_SIZE <= sizeof(xl_dbl_insert), "a short item is not longer than another");

static bool
can_be_short(const DblRecord *record, TransactionId xid, uint32 flags)
{
	return record->xmin == xid && record->xmax == InvalidTransactionId &&
		record->next == DBL_NO_SLOT && (record->flags & ~DBL_F_NULLS) == flags;
}

static char *
put_short(char *to, const xl_dbl_insert *item)
{
	uint16		columns = 0;
	char	   *next = to + 2 * sizeof(uint16);

	for (int i = 0; i < DBL_NCOLUMNS; i++)
	{
		uint64		bits = dbl_zigzag(item->record.key[i]);
		int			len = dbl_bytes_needed(bits);

		if (DblVersionIsNull(&item->record, i))
		{
			columns = columns * COLUMN_BASE + COLUMN_NULL;
			continue;
		}
		columns = columns * COLUMN_BASE + len;
		next = dbl_put_bytes(next, bits, len);
	}
	memcpy(to, &item->off, sizeof(uint16));
	memcpy(to + sizeof(uint16), &columns, sizeof(uint16));
	return next;
}

static const char *
get_short(const char *from, TransactionId xid, uint32 flags, xl_dbl_insert *item)
{
	uint16		columns;
	int			digits = COLUMN_BASE * COLUMN_BASE * COLUMN_BASE;

	memset(item, 0, sizeof(*item));
	memcpy(&item->off, from, sizeof(uint16));
	memcpy(&columns, from + sizeof(uint16), sizeof(uint16));
	from += 2 * sizeof(uint16);
	item->record.xmin = xid;
	item->record.xmax = InvalidTransactionId;
	item->record.next = DBL_NO_SLOT;
	item->record.flags = flags;
	for (int i = 0; i < DBL_NCOLUMNS; i++, digits /= COLUMN_BASE)
	{
		int			len = columns / digits % COLUMN_BASE;
		uint64		bits;

		if (len == COLUMN_NULL)
		{
			item->record.flags |= DBL_F_NULL(i);
			continue;
		}
		from = dbl_get_bytes(from, &bits, len);
		item->record.key[i] = (int64) dbl_unzigzag(bits);
	}
	return from;
}

StaticAssertDecl(DBL_NCOLUMNS == 4, "as many digits as columns");

/*
 * Write the data of an XLOG_DBL_INSERT of the current transaction to `to`, which has
 * DBL_PACKED_INSERT_SIZE bytes; their number.
 */
Size
dbl_pack_insert(char *to, const xl_dbl_insert *items, int n, bool logical)
{
	TransactionId xid = GetCurrentTransactionIdIfAny();
	uint16		head = n | INSERT_SHORT | (logical ? INSERT_LOGICAL : 0);
	char	   *end = to + sizeof(head);

	for (int i = 0; i < n && (head & INSERT_SHORT); i++)
		if (!can_be_short(&items[i].record, xid, DBL_F_USED))
			head &= ~INSERT_SHORT;
	memcpy(to, &head, sizeof(head));
	if (!(head & INSERT_SHORT))
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
	uint16		head;
	int			n;

	memcpy(&head, from, sizeof(head));
	from += sizeof(head);
	n = head & INSERT_COUNT;
	Assert(n <= DBL_RECORDS_PER_PAGE);
	if (!(head & INSERT_SHORT))
		memcpy(items, from, n * sizeof(*items));
	else
		for (int i = 0; i < n; i++)
			from = get_short(from, xid, DBL_F_USED, &items[i]);
	return n;
}

bool
dbl_packed_insert_is_logical(XLogReaderState *record)
{
	uint16		head;

	memcpy(&head, XLogRecGetData(record), sizeof(head));
	return (head & INSERT_LOGICAL) != 0;
}

/*
 * Write the data of an XLOG_DBL_UPDATE of the current transaction to `to`, which has
 * DBL_PACKED_UPDATE_SIZE bytes; their number.  newslot is the new version's.
 */
Size
dbl_pack_update(char *to, const xl_dbl_update *x, DblSlot newslot)
{
	TransactionId xid = GetCurrentTransactionIdIfAny();
	uint32		head = x->old.off | x->old.flags << UPDATE_FLAGS;
	char	   *end = to + sizeof(head);

	if (x->old.kind & DBL_CHANGE_LOGICAL)
		head |= UPDATE_LOGICAL;
	if (x->old.kind & DBL_CHANGE_OLD)
		head |= UPDATE_OLD;
	if (x->old.xmax == xid && x->old.next == newslot &&
		can_be_short(&x->new.record, xid, DBL_F_USED | DBL_F_UPDATED))
		head |= UPDATE_SHORT;
	memcpy(to, &head, sizeof(head));
	if (head & UPDATE_SHORT)
		return put_short(end, &x->new) - to;
	memcpy(end, x, sizeof(*x));
	return end + sizeof(*x) - to;
}

/* Read the data of an XLOG_DBL_UPDATE; what follows it. */
const char *
dbl_unpack_update(XLogReaderState *record, xl_dbl_update *x)
{
	const char *from = XLogRecGetData(record);
	TransactionId xid = XLogRecGetXid(record);
	uint32		head;
	ItemPointerData tid;
	BlockNumber blkno;

	memcpy(&head, from, sizeof(head));
	from += sizeof(head);
	if (!(head & UPDATE_SHORT))
	{
		memcpy(x, from, sizeof(*x));
		return from + sizeof(*x);
	}
	from = get_short(from, xid, DBL_F_USED | DBL_F_UPDATED, &x->new);
	XLogRecGetBlockTag(record, 0, NULL, NULL, &blkno);
	ItemPointerSet(&tid, blkno, x->new.off);
	x->old.kind = DBL_CHANGE_DELETE |
		((head & UPDATE_LOGICAL) ? DBL_CHANGE_LOGICAL : 0) |
		((head & UPDATE_OLD) ? DBL_CHANGE_OLD : 0);
	x->old.off = head & UPDATE_OFFSET;
	x->old.flags = (head >> UPDATE_FLAGS) & DBL_F_PERSISTENT;
	x->old.xmax = xid;
	x->old.next = DblTidToSlot(&tid);
	return from;
}

bool
dbl_packed_update_is_logical(XLogReaderState *record)
{
	uint32		head;

	memcpy(&head, XLogRecGetData(record), sizeof(head));
	return (head & UPDATE_LOGICAL) != 0;
}
