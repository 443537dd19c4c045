/*-------------------------------------------------------------------------
 *
 * page.c
 *	  Link pages and the records on them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/bufmask.h"

#include "durable/wal.h"

StaticAssertDecl(sizeof(DblRecord) == 48, "records on link pages are 48 bytes");

/* Records that page->pd_lower covers; those behind it have never been used. */
static inline int
page_nrecords(Page page)
{
	return (((PageHeader) page)->pd_lower - SizeOfPageHeaderData) / sizeof(DblRecord);
}

void
DblPageInit(Page page)
{
	DblPageOpaque *opaque;

	PageInit(page, BLCKSZ, sizeof(DblPageOpaque));
	opaque = (DblPageOpaque *) PageGetSpecialPointer(page);
	opaque->magic = DBL_PAGE_MAGIC;
}

void
DblMetaPageInit(Page page, int ncolumns)
{
	DblMetaPage *meta;

	DblPageInit(page);
	meta = (DblMetaPage *) PageGetContents(page);
	meta->magic = DBL_META_MAGIC;
	meta->version = DBL_FORMAT_VERSION;
	meta->records_per_page = DBL_RECORDS_PER_PAGE;
	meta->ncolumns = ncolumns;
	((PageHeader) page)->pd_lower = ((char *) meta + sizeof(DblMetaPage)) - (char *) page;
}

/* Is it a page of ours (and not a new one)? */
bool
DblPageIsValid(Page page)
{
	return !PageIsNew(page) &&
		PageGetSpecialSize(page) == MAXALIGN(sizeof(DblPageOpaque)) &&
		((DblPageOpaque *) PageGetSpecialPointer(page))->magic == DBL_PAGE_MAGIC;
}

/* The record at an offset, whether it was ever used or not. */
DblRecord *
DblPageGetRecord(Page page, OffsetNumber off)
{
	Assert(off >= 1 && off <= DBL_RECORDS_PER_PAGE);

	return (DblRecord *) ((char *) page + SizeOfPageHeaderData) + (off - 1);
}

/* The record at this offset is in use: the page's hole begins behind it. */
void
DblPageNoteUsed(Page page, OffsetNumber off)
{
	if (page_nrecords(page) < off)
		((PageHeader) page)->pd_lower = SizeOfPageHeaderData + off * sizeof(DblRecord);
}

void
dbl_record_from_version(DblRecord *r, const DblVersion *v)
{
	memcpy(r->key, v->key, sizeof(r->key));
	r->xmin = v->xmin;
	r->xmax = v->xmax;
	r->next = v->next;
	r->flags = (v->flags & DBL_F_PERSISTENT) | DBL_F_USED;
}

/*
 * The version that a record on a page stands for.  It has been announced to
 * every unique index: whoever did not finish that has not survived.
 */
void
dbl_version_from_record(DblVersion *v, const DblRecord *r)
{
	memset(v, 0, sizeof(*v));
	memcpy(v->key, r->key, sizeof(v->key));
	v->xmin = r->xmin;
	v->xmax = r->xmax;
	v->next = r->next;
	v->flags = r->flags | DBL_F_ANNOUNCED_ALL;
}

/* For wal_consistency_checking: what may differ between primary and standby. */
void
dbl_page_mask(char *page, BlockNumber blkno)
{
	mask_page_lsn_and_checksum(page);
	mask_page_hint_bits(page);
	mask_unused_space(page);
}
