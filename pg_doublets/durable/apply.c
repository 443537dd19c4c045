/*-------------------------------------------------------------------------
 *
 * apply.c
 *	  Changes of link pages, as the primary and redo make them alike.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"

#include "durable/wal.h"

/* Put a record where there is none; pd_lower moves behind it. */
void
dbl_page_put(Page page, OffsetNumber off, const DblRecord *record)
{
	DblRecord  *to = DblPageGetRecord(page, off);
	PageHeader	header = (PageHeader) page;
	LocationIndex end = (char *) (to + 1) - (char *) page;

	*to = *record;
	if (header->pd_lower < end)
		header->pd_lower = end;
}

void
dbl_page_change(Page page, const xl_dbl_change *change)
{
	DblRecord  *r = DblPageGetRecord(page, change->off);

	r->xmax = change->xmax;
	r->next = change->next;
	r->flags = change->flags;
}

void
dbl_page_prune(Page page, const OffsetNumber *offs, int n)
{
	for (int i = 0; i < n; i++)
		memset(DblPageGetRecord(page, offs[i]), 0, sizeof(DblRecord));
}

void
dbl_page_freeze(Page page, const xl_dbl_freeze *freeze, int n)
{
	for (int i = 0; i < n; i++)
	{
		DblRecord  *r = DblPageGetRecord(page, freeze[i].off);

		r->xmax = freeze[i].xmax;
		r->flags = freeze[i].flags;
	}
}

void
dbl_record_of_version(DblRecord *record, const DblVersion *v)
{
	memcpy(record->key, v->key, sizeof(record->key));
	record->xmin = v->xmin;
	record->xmax = v->xmax;
	record->next = v->next;
	record->flags = (v->flags | DBL_F_USED) & DBL_F_PERSISTENT;
}

/*
 * What is only in memory: such a version has been through the unique checks, and
 * whose command ids mattered is either gone or looks at it as at a change of an earlier command.
 */
void
dbl_version_of_record(DblVersion *v, const DblRecord *record)
{
	memset(v, 0, sizeof(*v));
	memcpy(v->key, record->key, sizeof(v->key));
	v->xmin = record->xmin;
	v->xmax = record->xmax;
	v->next = record->next;
	v->flags = (record->flags & DBL_F_PERSISTENT) | DBL_F_ANNOUNCED_ALL;
	v->cmin = FirstCommandId;
	v->cmax = FirstCommandId;
}
