/*-------------------------------------------------------------------------
 *
 * load.c
 *	  From pages to a store, and whether the two agree.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "durable/wal.h"
#include "durable/write.h"
#include "shared/inject.h"

#define PREFETCH_BLOCKS 64

/* What a slot takes in memory at least: its version, and its part of the trees. */
#define DBL_SLOT_BYTES	96

static void
corrupt(Relation rel, BlockNumber blkno, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("block %u of table \"%s\" %s", blkno, RelationGetRelationName(rel), what)));
}

/* Copy a block's records; returns how many to look at, 0 for a new page. */
static int
read_records(Relation rel, BlockNumber blkno, BufferAccessStrategy strategy, DblRecord *out)
{
	Buffer		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, blkno, RBM_NORMAL, strategy);
	Page		page;
	int			n = 0;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	if (!PageIsNew(page))
	{
		if (!DblPageIsValid(page))
			corrupt(rel, blkno, "is not a link page");
		n = (((PageHeader) page)->pd_lower - MAXALIGN(SizeOfPageHeaderData)) / sizeof(DblRecord);
		n = Min(n, (int) DBL_RECORDS_PER_PAGE);
		memcpy(out, PageGetContents(page), n * sizeof(DblRecord));
	}
	UnlockReleaseBuffer(buffer);
	return n;
}

static void
check_metapage(Relation rel)
{
	Buffer		buffer = ReadBuffer(rel, DBL_METAPAGE_BLKNO);
	DblMetaPage meta;
	bool		valid;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	valid = DblPageIsValid(BufferGetPage(buffer));
	if (valid)
		meta = *(DblMetaPage *) PageGetContents(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);

	if (!valid || meta.magic != DBL_META_MAGIC)
		corrupt(rel, DBL_METAPAGE_BLKNO, "is not the metapage of a doublets table");
	if (meta.version != DBL_FORMAT_VERSION || meta.records_per_page != DBL_RECORDS_PER_PAGE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" has links of format %u with %u a page, but this version of pg_doublets reads format %u with %u",
						RelationGetRelationName(rel), meta.version, meta.records_per_page,
						DBL_FORMAT_VERSION, (unsigned) DBL_RECORDS_PER_PAGE)));
}

/* Slots up to the last one in use. */
static uint64
count_slots(Relation rel, BlockNumber nblocks, BufferAccessStrategy strategy)
{
	DblRecord	records[DBL_RECORDS_PER_PAGE];

	for (BlockNumber blkno = nblocks - 1; blkno > DBL_METAPAGE_BLKNO; blkno--)
	{
		int			n;

		CHECK_FOR_INTERRUPTS();
		n = read_records(rel, blkno, strategy, records);
		while (n > 0 && !(records[n - 1].flags & DBL_F_USED))
			n--;
		if (n > 0)
			return (uint64) (blkno - 1) * DBL_RECORDS_PER_PAGE + n;
	}
	return 0;
}

/* Called by the store as it builds: note how far it is; stop for a cancel, which raises afterwards. */
static bool
build_step(void *arg, DblBuildStep step, uint32_t done)
{
	volatile DblLoadProgress *progress = arg;

	if (done == 0)
	{
		/* the store has memory in hand that nobody else knows of: nothing may be raised here */
		HOLD_INTERRUPTS();
		DBL_INJECT("load-build");
		RESUME_INTERRUPTS();
	}
	progress->phase = DBL_LOAD_BUILDING + (int) step;
	progress->links_indexed = done;
	return !QueryCancelPending && !ProcDiePending;
}

/*
 * Fill an empty store that nobody else can see.  Raises whatever reading pages may raise,
 * XX001 for pages that are not ours, and 53200.
 */
static void
load_store(Relation rel, DblTable *t)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	BlockNumber last;
	BufferAccessStrategy strategy;
	uint64		nslots;
	DblRecord	records[DBL_RECORDS_PER_PAGE];
	volatile DblLoadProgress *progress = dbl_table_progress(t);

	DBL_INJECT("load-before");
	*dbl_table_nblocks(t) = nblocks;
	if (nblocks == 0)
		return;
	check_metapage(rel);
	if (nblocks == DBL_METAPAGE_BLKNO + 1)
		return;

	strategy = GetAccessStrategy(BAS_BULKREAD);
	nslots = count_slots(rel, nblocks, strategy);
	if (nslots > DBL_MAX_SLOTS)
		corrupt(rel, nblocks - 1, "is beyond the largest slot");
	if (nslots > 0)
	{
		last = DblSlotBlock((DblSlot) (nslots - 1));
		progress->blocks_total = last;
		progress->phase = DBL_LOAD_READING;

		/* what can't fit even alone shall not push others out of memory */
		dbl_memory_check_limit(nslots * DBL_SLOT_BYTES);
		if (!dbl_build_begin(&t->store, nslots))
		{
			/* a cancel may be why the segment could not be made */
			CHECK_FOR_INTERRUPTS();
			dbl_memory_error();
		}
		for (BlockNumber blkno = DBL_METAPAGE_BLKNO + 1; blkno <= last; blkno++)
		{
			DblSlot		slot = (DblSlot) (blkno - 1) * DBL_RECORDS_PER_PAGE;
			int			n;

			CHECK_FOR_INTERRUPTS();
			DBL_INJECT("load-page");
			if (blkno % PREFETCH_BLOCKS == 1 && !RelationUsesLocalBuffers(rel))
			{
				for (BlockNumber b = blkno; b < blkno + PREFETCH_BLOCKS && b <= last; b++)
					(void) PrefetchBuffer(rel, MAIN_FORKNUM, b);
			}
			n = read_records(rel, blkno, strategy, records);
			for (int i = 0; i < n; i++)
			{
				DblVersion	v;

				if (!(records[i].flags & DBL_F_USED))
					continue;
				dbl_version_of_record(&v, &records[i]);
				dbl_build_put(&t->store, slot + i, &v);
				progress->links++;
			}
			progress->blocks_done = blkno;
		}
		CHECK_FOR_INTERRUPTS();
		if (!dbl_build_finish(&t->store, build_step, unvolatize(DblLoadProgress *, progress)))
		{
			CHECK_FOR_INTERRUPTS();
			dbl_memory_error();
		}
	}
	FreeAccessStrategy(strategy);
	DBL_INJECT("load-done");
}

void
dbl_load_init(void)
{
	dbl_load_hook = load_store;
}

/* --- comparison ------------------------------------------------------------------------- */

/* What differs, or NULL. */
static const char *
compare_record(const DblRecord *r, const DblVersion *v)
{
	bool		on_page = (r->flags & DBL_F_USED) != 0;
	bool		in_store = v != NULL && (v->flags & DBL_F_USED) != 0;

	if (!on_page && !in_store)
		return NULL;
	if (!on_page)
		return "version in memory is not on its page";
	if (!in_store)
		return "version on a page is not in memory";
	if (memcmp(r->key, v->key, sizeof(r->key)) != 0)
		return "page and memory differ: values";
	if ((r->flags & DBL_F_PERSISTENT) != (v->flags & DBL_F_PERSISTENT))
		return "page and memory differ: flags";
	if (r->xmin != v->xmin)
		return "page and memory differ: xmin";
	if (r->xmax != v->xmax)
		return "page and memory differ: xmax";
	if (r->next != v->next)
		return "page and memory differ: next version";
	return NULL;
}

uint64
dbl_compare_pages(Relation rel, DblTable *t, DblFaultFn fault, void *arg)
{
	static const DblRecord none;
	DblRecord	records[DBL_RECORDS_PER_PAGE];
	uint64		faults = 0;
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	uint64		limit;

	/* blocks of the file, and those that the store believes there are */
	dbl_table_lock(rel, t, LW_SHARED);
	limit = dbl_nslots(&t->store);
	dbl_table_unlock(t);

	for (BlockNumber blkno = DBL_METAPAGE_BLKNO + 1;
		 blkno < nblocks || (uint64) (blkno - 1) * DBL_RECORDS_PER_PAGE < limit;
		 blkno++)
	{
		uint64		slot = (uint64) (blkno - 1) * DBL_RECORDS_PER_PAGE;
		const char *found[DBL_RECORDS_PER_PAGE];
		int			n = 0;

		CHECK_FOR_INTERRUPTS();
		dbl_table_lock(rel, t, LW_SHARED);
		if (blkno < nblocks)
			n = read_records(rel, blkno, NULL, records);
		for (int i = 0; i < DBL_RECORDS_PER_PAGE; i++)
		{
			const DblVersion *v = slot + i < dbl_nslots(&t->store) ?
				dbl_version(&t->store, (DblSlot) (slot + i)) : NULL;

			found[i] = compare_record(i < n ? &records[i] : &none, v);
		}
		dbl_table_unlock(t);

		for (int i = 0; i < DBL_RECORDS_PER_PAGE; i++)
		{
			if (found[i] == NULL)
				continue;
			faults++;
			if (!fault(arg, (DblSlot) (slot + i), found[i]))
				return faults;
		}
	}
	return faults;
}
