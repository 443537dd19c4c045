/*-------------------------------------------------------------------------
 *
 * image.c
 *	  Images of link pages in WAL, several times smaller than the page.
 *
 * The first change of a page after a checkpoint has to bring the whole page,
 * lest a torn one remain.  Neighbours on a link page resemble each other:
 * the ids are near, xmin is mostly the same, xmax and successor mostly none.
 * So a record is written as what differs from the one before it.  Redo makes
 * the page anew from that, without a look at what is on disk.
 *
 * The image is what XLogInsert() would take, the page after the change, and is
 * used where XLogInsert() would take one.  Should a checkpoint begin between
 * the decision and the insertion, XLogInsert() adds its own.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xloginsert.h"
#include "access/xlogutils.h"

#include "durable/wal.h"

/* What a record begins with. */
#define REC_FREE		0x00
#define REC_USED		0x01
#define REC_XMIN		0x02	/* xmin follows; else that of the one before */
#define REC_XMAX		0x04	/* xmax and next follow; else none */
#define REC_FLAGS		0x08	/* flags follow; else those of the one before */

/* Then 16 bits with the number of bytes of each column's difference, as a number of four digits. */
#define COLUMN_BASE		9

/* More than any record takes. */
#define RECORD_MOST		(sizeof(uint8) + sizeof(uint16) + sizeof(DblRecord))

static char *
put(char *to, const void *from, Size size)
{
	memcpy(to, from, size);
	return to + size;
}

static const char *
get(void *to, const char *from, Size size)
{
	memcpy(to, from, size);
	return from + size;
}

/* A record by what differs from `last`, which it becomes. */
static char *
put_record(char *to, const DblRecord *r, DblRecord *last)
{
	char	   *head = to;
	char	   *columns_at;
	uint16		columns = 0;
	uint8		what = REC_USED;

	to += sizeof(what);
	if (r->xmin != last->xmin)
	{
		what |= REC_XMIN;
		to = put(to, &r->xmin, sizeof(r->xmin));
	}
	if (r->xmax != InvalidTransactionId || r->next != DBL_NO_SLOT)
	{
		what |= REC_XMAX;
		to = put(to, &r->xmax, sizeof(r->xmax));
		to = put(to, &r->next, sizeof(r->next));
	}
	if (r->flags != last->flags)
	{
		what |= REC_FLAGS;
		to = put(to, &r->flags, sizeof(r->flags));
	}
	columns_at = to;
	to += sizeof(columns);
	for (int i = 0; i < DBL_NCOLUMNS; i++)
	{
		uint64		bits = dbl_zigzag((uint64) r->key[i] - (uint64) last->key[i]);
		int			len = dbl_bytes_needed(bits);

		columns = columns * COLUMN_BASE + len;
		to = dbl_put_bytes(to, bits, len);
	}
	memcpy(head, &what, sizeof(what));
	memcpy(columns_at, &columns, sizeof(columns));
	*last = *r;
	return to;
}

static const char *
get_record(const char *from, uint8 what, DblRecord *r, DblRecord *last)
{
	uint16		columns;
	int			digits = COLUMN_BASE * COLUMN_BASE * COLUMN_BASE;

	*r = *last;
	r->xmax = InvalidTransactionId;
	r->next = DBL_NO_SLOT;
	if (what & REC_XMIN)
		from = get(&r->xmin, from, sizeof(r->xmin));
	if (what & REC_XMAX)
	{
		from = get(&r->xmax, from, sizeof(r->xmax));
		from = get(&r->next, from, sizeof(r->next));
	}
	if (what & REC_FLAGS)
		from = get(&r->flags, from, sizeof(r->flags));
	from = get(&columns, from, sizeof(columns));
	for (int i = 0; i < DBL_NCOLUMNS; i++, digits /= COLUMN_BASE)
	{
		int			len = columns / digits % COLUMN_BASE;
		uint64		bits;

		from = dbl_get_bytes(from, &bits, len);
		r->key[i] = (int64) ((uint64) last->key[i] + dbl_unzigzag(bits));
	}
	*last = *r;
	return from;
}

StaticAssertDecl(DBL_NCOLUMNS == 4, "as many digits as columns");

/*
 * The image of a link page, written to `to`, which has DBL_IMAGE_SIZE bytes; the number of bytes.
 * 0: it would take more.
 */
static Size
pack_page(char *to, Page page)
{
	DblRecord	last = {{0}};
	char	   *end = to;
	uint16		n = (((PageHeader) page)->pd_lower - ((char *) PageGetContents(page) - (char *) page)) / sizeof(DblRecord);

	Assert(n <= DBL_RECORDS_PER_PAGE);
	end = put(end, &n, sizeof(n));
	for (int i = 0; i < n; i++)
	{
		DblRecord  *r = DblPageGetRecord(page, i + 1);

		if (end - to > DBL_IMAGE_SIZE - RECORD_MOST)
			return 0;
		if (r->flags == 0)
			*end++ = REC_FREE;
		else
			end = put_record(end, r, &last);
	}
	return end - to;
}

static void
unpack_page(Page page, const char *from, Size size)
{
	DblRecord	last = {{0}};
	const char *end = from + size;
	uint16		n;

	DblPageInit(page);
	from = get(&n, from, sizeof(n));
	for (int i = 0; i < n; i++)
	{
		uint8		what = (uint8) *from++;

		/* DblPageInit() has left zeroes, which is what a free record is */
		if (what != REC_FREE)
			from = get_record(from, what, DblPageGetRecord(page, i + 1), &last);
	}
	((PageHeader) page)->pd_lower = (char *) PageGetContents(page) + n * sizeof(DblRecord) - (char *) page;
	if (from != end)
		elog(PANIC, "image of a link page has %zu bytes, %zu were read",
			 size, size - (end - from));
}

#ifdef USE_ASSERT_CHECKING
static bool
is_image_of(const char *image, Size size, Page page)
{
	PGAlignedBlock copy;

	unpack_page((Page) copy.data, image, size);
	return ((PageHeader) copy.data)->pd_lower == ((PageHeader) page)->pd_lower &&
		memcmp(PageGetContents(copy.data), PageGetContents(page), BLCKSZ - MAXALIGN(SizeOfPageHeaderData)) == 0;
}
#endif

/*
 * XLogRegisterBuffer() for a link page that has been changed, with an image if one is due.
 * image: room of DBL_IMAGE_SIZE bytes until the record has been inserted.  init: redo makes the page
 * anew without one.  Can't fail; may be called in a critical section.
 */
void
dbl_register_page(uint8 block_id, Buffer buffer, bool init, char *image)
{
	Size		size = 0;

	if (!init && XLogCheckBufferNeedsBackup(buffer))
		size = pack_page(image, BufferGetPage(buffer));
	Assert(size == 0 || is_image_of(image, size, BufferGetPage(buffer)));
	XLogRegisterBuffer(block_id, buffer, REGBUF_STANDARD | (init || size > 0 ? REGBUF_WILL_INIT : 0));
	if (size > 0)
		XLogRegisterBufData(block_id, image, size);
}

/* XLogReadBufferForRedo() for a page that was registered so. */
XLogRedoAction
dbl_read_page_for_redo(XLogReaderState *record, uint8 block_id, bool init, Buffer *buffer)
{
	Size		size;
	char	   *image = XLogRecGetBlockData(record, block_id, &size);

	if (image == NULL && !init)
		return XLogReadBufferForRedo(record, block_id, buffer);
	*buffer = XLogInitBufferForRedo(record, block_id);
	if (image == NULL)
	{
		DblPageInit(BufferGetPage(*buffer));
		return BLK_NEEDS_REDO;
	}
	unpack_page(BufferGetPage(*buffer), image, size);
	PageSetLSN(BufferGetPage(*buffer), record->EndRecPtr);
	MarkBufferDirty(*buffer);
	return BLK_RESTORED;
}
