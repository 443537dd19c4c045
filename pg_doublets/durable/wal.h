/*-------------------------------------------------------------------------
 *
 * wal.h
 *	  WAL records of links tables.
 *
 * A record's data is always complete in itself, never only in a page image, because
 * redo has to bring a loaded store up to date as well as the page.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_WAL_H
#define DBL_WAL_H

#include "postgres.h"

#include "access/xlogreader.h"
#include "lib/stringinfo.h"

#include "durable/page.h"
#include "durable/write.h"

#define XLOG_DBL_INSERT		0x00	/* block 0; DblXlInsert, offsets, records */
#define XLOG_DBL_UPDATE		0x10	/* block 0: new version, block 1: old one, if elsewhere */
#define XLOG_DBL_CHANGE		0x20	/* block 0; DblXlChange */
#define XLOG_DBL_PRUNE		0x30	/* block 0; DblXlPrune, offsets */
#define XLOG_DBL_FREEZE		0x40	/* block 0; DblXlFreeze, DblXlFrozen each */
#define XLOG_DBL_RESET		0x50	/* no block: the file is new or emptied; RelFileNode */
#define XLOG_DBL_OPMASK		0x70
#define XLOG_DBL_INIT_PAGE	0x80	/* with INSERT, UPDATE: block 0 is made anew */

typedef struct DblXlInsert
{
	uint16		n;
	/* n offsets (uint16), then n DblRecord, unaligned */
} DblXlInsert;

/* What DblChange leaves on the page. */
typedef struct DblXlChanged
{
	TransactionId xmax;
	uint32		next;
	uint32		flags;
} DblXlChanged;

typedef struct DblXlUpdate
{
	DblXlChanged old;
	OffsetNumber old_off;
	OffsetNumber new_off;
	/* DblRecord, unaligned */
} DblXlUpdate;

typedef struct DblXlChange
{
	DblXlChanged changed;
	OffsetNumber off;
	uint16		kind;			/* DblChangeKind */
} DblXlChange;

typedef struct DblXlPrune
{
	TransactionId horizon;
	uint16		n;
	/* n offsets */
} DblXlPrune;

typedef struct DblXlFrozen
{
	TransactionId xmax;
	uint32		flags;
	OffsetNumber off;
	uint16		pad;
} DblXlFrozen;

typedef struct DblXlFreeze
{
	TransactionId cutoff;
	uint16		n;
	uint16		pad;
	/* n DblXlFrozen */
} DblXlFreeze;

/* redo.c */
extern void dbl_redo(XLogReaderState *record);

/* desc.c */
extern void dbl_desc(StringInfo buf, XLogReaderState *record);
extern const char *dbl_identify(uint8 info);

/* page.c */
extern void dbl_page_mask(char *page, BlockNumber blkno);
extern void DblPageNoteUsed(Page page, OffsetNumber off);
extern void dbl_record_from_version(DblRecord *r, const DblVersion *v);
extern void dbl_version_from_record(DblVersion *v, const DblRecord *r);

#endif							/* DBL_WAL_H */
