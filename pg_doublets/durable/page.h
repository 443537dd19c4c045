/*-------------------------------------------------------------------------
 *
 * page.h
 *	  Link pages: layout, and the arithmetic between slots and TIDs.
 *
 * Block 0 is the metapage.  Every other block is a standard page with room for
 * DBL_RECORDS_PER_PAGE fixed records; slot s lies in block s / n + 1 at offset
 * s % n + 1, and that pair is the version's TID.  pd_lower ends behind the last record ever
 * used, so that full-page images leave the rest out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_PAGE_H
#define DBL_PAGE_H

#include "postgres.h"

#include "storage/bufpage.h"
#include "storage/itemptr.h"

#include "store/version.h"

#define DBL_PAGE_MAGIC		0x4C42	/* in the special space of each page */
#define DBL_META_MAGIC		0x44424C54
#define DBL_FORMAT_VERSION	1
#define DBL_METAPAGE_BLKNO	0

typedef struct DblRecord
{
	int64		key[DBL_NCOLUMNS];
	TransactionId xmin;
	TransactionId xmax;
	uint32		next;
	uint32		flags;			/* DBL_F_PERSISTENT part; 0: free */
} DblRecord;

typedef struct DblPageOpaque
{
	uint16		magic;
	uint16		unused[3];
} DblPageOpaque;

typedef struct DblMetaPage
{
	uint32		magic;
	uint32		version;
	uint32		records_per_page;
	uint32		ncolumns;
} DblMetaPage;

#define DBL_RECORDS_PER_PAGE \
	((BLCKSZ - MAXALIGN(SizeOfPageHeaderData) - MAXALIGN(sizeof(DblPageOpaque))) / sizeof(DblRecord))

static inline BlockNumber
DblSlotBlock(DblSlot slot)
{
	return (BlockNumber) (slot / DBL_RECORDS_PER_PAGE) + 1;
}

static inline OffsetNumber
DblSlotOffset(DblSlot slot)
{
	return (OffsetNumber) (slot % DBL_RECORDS_PER_PAGE) + 1;
}

static inline void
DblSlotToTid(DblSlot slot, ItemPointer tid)
{
	ItemPointerSet(tid, DblSlotBlock(slot), DblSlotOffset(slot));
}

/* DBL_NO_SLOT for a TID that can't name a slot. */
static inline DblSlot
DblTidToSlot(ItemPointer tid)
{
	BlockNumber blk = ItemPointerGetBlockNumberNoCheck(tid);
	OffsetNumber off = ItemPointerGetOffsetNumberNoCheck(tid);
	uint64		slot;

	if (blk == DBL_METAPAGE_BLKNO || blk == InvalidBlockNumber ||
		off == InvalidOffsetNumber || off > DBL_RECORDS_PER_PAGE)
		return DBL_NO_SLOT;
	slot = (uint64) (blk - 1) * DBL_RECORDS_PER_PAGE + (off - 1);
	return slot >= DBL_MAX_SLOTS ? DBL_NO_SLOT : (DblSlot) slot;
}

extern void DblPageInit(Page page);
extern void DblMetaPageInit(Page page, int ncolumns);
extern bool DblPageIsValid(Page page);
extern DblRecord *DblPageGetRecord(Page page, OffsetNumber off);

#endif							/* DBL_PAGE_H */
