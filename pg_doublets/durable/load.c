/*-------------------------------------------------------------------------
 *
 * load.c
 *	  From pages to store, and the comparison of the two.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "durable/wal.h"
#include "durable/write.h"

static void
check_page(Relation rel, Page page, BlockNumber blkno)
{
	if (!DblPageIsValid(page))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("block %u of relation \"%s\" is not a link page",
						blkno, RelationGetRelationName(rel))));
}

static void
check_metapage(Relation rel)
{
	Buffer		buf = ReadBuffer(rel, DBL_METAPAGE_BLKNO);
	Page		page = BufferGetPage(buf);
	DblMetaPage *meta = (DblMetaPage *) PageGetContents(page);

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	/* zero if the server crashed between the extension and the first WAL record */
	if (!PageIsNew(page))
	{
		check_page(rel, page, DBL_METAPAGE_BLKNO);
		if (meta->magic != DBL_META_MAGIC || meta->version != DBL_FORMAT_VERSION ||
			meta->records_per_page != DBL_RECORDS_PER_PAGE)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("relation \"%s\" has format version %u of link pages, but this library reads version %d",
							RelationGetRelationName(rel), meta->version, DBL_FORMAT_VERSION)));
	}
	UnlockReleaseBuffer(buf);
}

/* Copy a page into *copy; false if it is new. */
static bool
read_page(Relation rel, BlockNumber blkno, BufferAccessStrategy strategy, PGAlignedBlock *copy)
{
	Buffer		buf = ReadBufferExtended(rel, MAIN_FORKNUM, blkno, RBM_NORMAL, strategy);
	Page		page = BufferGetPage(buf);
	bool		result = false;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	if (!PageIsNew(page))
	{
		check_page(rel, page, blkno);
		memcpy(copy->data, page, BLCKSZ);
		result = true;
	}
	UnlockReleaseBuffer(buf);
	return result;
}

/* Number of slots up to the last one in use. */
static uint64
count_slots(Relation rel, BlockNumber nblocks)
{
	PGAlignedBlock page;

	while (nblocks > DBL_METAPAGE_BLKNO + 1)
	{
		BlockNumber blkno = nblocks - 1;

		if (read_page(rel, blkno, NULL, &page))
			for (OffsetNumber off = DBL_RECORDS_PER_PAGE; off >= 1; off--)
				if (DblPageGetRecord(page.data, off)->flags & DBL_F_USED)
					return (uint64) (blkno - 1) * DBL_RECORDS_PER_PAGE + off;
		nblocks--;
	}
	return 0;
}

/* dbl_load_hook: fill the empty store of t, which nobody else uses, from the pages. */
static void
load(Relation rel, DblTable *t)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	BufferAccessStrategy strategy;
	uint64		nslots;
	PGAlignedBlock page;

	if (nblocks == 0)
		return;
	check_metapage(rel);
	nslots = count_slots(rel, nblocks);
	if (nslots == 0)
		return;
	if (nslots > DBL_MAX_SLOTS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("relation \"%s\" has too many rows for a doublets table",
						RelationGetRelationName(rel))));

	if (!dbl_build_begin(&t->store, nslots))
		dbl_memory_error();
	nblocks = DblSlotBlock(nslots - 1) + 1;
	strategy = GetAccessStrategy(BAS_BULKREAD);
	for (BlockNumber blkno = DBL_METAPAGE_BLKNO + 1; blkno < nblocks; blkno++)
	{
		DblSlot		first = (blkno - 1) * DBL_RECORDS_PER_PAGE;

		CHECK_FOR_INTERRUPTS();
		if (blkno + 32 < nblocks && blkno % 8 == 0)
			for (int i = 0; i < 8; i++)
				PrefetchBuffer(rel, MAIN_FORKNUM, Min(blkno + 32 + i, nblocks - 1));
		if (!read_page(rel, blkno, strategy, &page))
			continue;
		for (OffsetNumber off = 1; off <= DBL_RECORDS_PER_PAGE; off++)
		{
			DblRecord  *r = DblPageGetRecord(page.data, off);
			DblVersion	v;

			if (!(r->flags & DBL_F_USED))
				continue;
			dbl_version_from_record(&v, r);
			dbl_build_put(&t->store, first + off - 1, &v);
		}
	}
	FreeAccessStrategy(strategy);
	if (!dbl_build_finish(&t->store))
		dbl_memory_error();
}

void
dbl_load_init(void)
{
	dbl_load_hook = load;
}

/* What differs between a record and the version in its slot; NULL: nothing. */
static const char *
difference(const DblRecord *r, const DblVersion *v)
{
	if (memcmp(r->key, v->key, sizeof(r->key)) != 0)
		return "page and memory differ in a value";
	if (r->xmin != v->xmin)
		return "page and memory differ in xmin";
	if (r->xmax != v->xmax)
		return "page and memory differ in xmax";
	if (r->next != v->next)
		return "page and memory differ in the next version";
	if (r->flags != (v->flags & DBL_F_PERSISTENT))
		return "page and memory differ in flags";
	return NULL;
}

uint64
dbl_compare_pages(Relation rel, DblTable *t, DblFaultFn fault, void *arg)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	uint64		nfaults = 0;
	bool		more = true;

	for (BlockNumber blkno = DBL_METAPAGE_BLKNO + 1; more; blkno++)
	{
		PGAlignedBlock page;
		bool		on_disk = false;
		DblSlot		first = (blkno - 1) * DBL_RECORDS_PER_PAGE;
		struct
		{
			DblSlot		slot;
			const char *what;
		}			found[DBL_RECORDS_PER_PAGE];
		int			n = 0;

		CHECK_FOR_INTERRUPTS();

		/* the lock keeps writers off page and store alike */
		dbl_table_lock(rel, t, LW_SHARED);
		if (blkno >= nblocks)
			nblocks = RelationGetNumberOfBlocks(rel);
		if (blkno >= nblocks && first >= dbl_nslots(&t->store))
		{
			dbl_table_unlock(t);
			break;
		}
		if (blkno < nblocks)
			on_disk = read_page(rel, blkno, NULL, &page);
		for (OffsetNumber off = 1; off <= DBL_RECORDS_PER_PAGE; off++)
		{
			DblSlot		slot = first + off - 1;
			DblRecord  *r = on_disk ? DblPageGetRecord(page.data, off) : NULL;
			DblVersion *v = slot < dbl_nslots(&t->store) ? dbl_version(&t->store, slot) : NULL;
			const char *what = NULL;

			if (r && !(r->flags & DBL_F_USED))
				r = NULL;
			if (v && !(v->flags & DBL_F_USED))
				v = NULL;
			if (r && v)
				what = difference(r, v);
			else if (r)
				what = "version on the page is missing in memory";
			else if (v)
				what = "version in memory is missing on the page";
			if (what)
			{
				found[n].slot = slot;
				found[n++].what = what;
			}
		}
		dbl_table_unlock(t);

		for (int i = 0; i < n && more; i++)
		{
			nfaults++;
			more = fault(arg, found[i].slot, found[i].what);
		}
	}
	return nfaults;
}
