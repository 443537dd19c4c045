/*-------------------------------------------------------------------------
 *
 * page.c
 *	  Link pages.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "durable/page.h"

StaticAssertDecl(sizeof(DblRecord) == 48, "a record is 48 bytes on disk");

static inline DblPageOpaque *
page_opaque(Page page)
{
	return (DblPageOpaque *) PageGetSpecialPointer(page);
}

/* Make an empty link page. */
void
DblPageInit(Page page)
{
	PageInit(page, BLCKSZ, sizeof(DblPageOpaque));
	page_opaque(page)->magic = DBL_PAGE_MAGIC;
}

/* Make the metapage of a relation with so many columns. */
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
	((PageHeader) page)->pd_lower = ((char *) meta + sizeof(*meta)) - (char *) page;
}

/* Is it one of our pages (and not a new one)? */
bool
DblPageIsValid(Page page)
{
	return !PageIsNew(page) &&
		PageGetSpecialSize(page) == MAXALIGN(sizeof(DblPageOpaque)) &&
		page_opaque(page)->magic == DBL_PAGE_MAGIC;
}

/* The record at an offset from 1; the page is ours. */
DblRecord *
DblPageGetRecord(Page page, OffsetNumber off)
{
	Assert(off >= 1 && off <= DBL_RECORDS_PER_PAGE);
	return (DblRecord *) PageGetContents(page) + (off - 1);
}
