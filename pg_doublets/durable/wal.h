/*-------------------------------------------------------------------------
 *
 * wal.h
 *	  WAL records of link pages.
 *
 * Main data tells everything, page images or not, since the store on a standby
 * is changed from it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_WAL_H
#define DBL_WAL_H

#include "postgres.h"

#include "access/xlogreader.h"
#include "access/xlogutils.h"
#include "durable/page.h"
#include "lib/stringinfo.h"
#include "port/pg_bitutils.h"
#include "storage/buf.h"
#include "storage/off.h"
#include "storage/relfilenode.h"

struct LogicalDecodingContext;
struct XLogRecordBuffer;

#define XLOG_DBL_INSERT		0x00	/* block 0; n xl_dbl_insert, packed (pack.c) */
#define XLOG_DBL_UPDATE		0x10	/* block 0: new version's; 1: old one's if another;
									 * xl_dbl_update, packed */
#define XLOG_DBL_CHANGE		0x20	/* block 0; xl_dbl_change */
#define XLOG_DBL_PRUNE		0x30	/* block 0; xl_dbl_multi, n offsets */
#define XLOG_DBL_FREEZE		0x40	/* block 0; xl_dbl_multi, n xl_dbl_freeze */
#define XLOG_DBL_CREATE		0x50	/* block 0: metapage; xl_dbl_create */
#define XLOG_DBL_FORGET		0x60	/* no block: drop the store; RelFileNode, its relNode 0: a database */
#define XLOG_DBL_OPMASK		0x70
#define XLOG_DBL_INIT_PAGE	0x80	/* block 0 is initialised anew */

typedef struct xl_dbl_multi
{
	uint16		n;
	uint16		unused;
	TransactionId horizon;		/* prune and freeze: for recovery conflicts */
} xl_dbl_multi;

typedef struct xl_dbl_insert
{
	DblRecord	record;
	OffsetNumber off;
	uint16		unused[3];
} xl_dbl_insert;

#define DBL_CHANGE_SET_NEXT		0x80	/* besides DblChangeKind */
#define DBL_CHANGE_KIND_MASK	0xFF
#define DBL_CHANGE_LOGICAL		0x100	/* for logical decoding too */
#define DBL_CHANGE_OLD			0x200	/* the record ends with an xl_dbl_old */

/* A version's changeable fields, anew. */
typedef struct xl_dbl_change
{
	TransactionId xmax;
	uint32		next;
	uint32		flags;			/* persistent ones */
	OffsetNumber off;
	uint16		kind;			/* with DBL_CHANGE_LOGICAL and DBL_CHANGE_OLD */
} xl_dbl_change;

/*
 * The old version's replica identity, behind an xl_dbl_update or xl_dbl_change: the values of its columns that belong
 * to it and are not NULL follow in order.  Not aligned behind an update.  Logical decoding alone reads it.
 */
typedef struct xl_dbl_old
{
	uint32		present;		/* bit i: column i */
	uint32		unused;
	int64		key[FLEXIBLE_ARRAY_MEMBER];
} xl_dbl_old;

typedef struct xl_dbl_update
{
	xl_dbl_change old;
	xl_dbl_insert new;
} xl_dbl_update;

typedef struct xl_dbl_freeze
{
	TransactionId xmax;
	uint32		flags;
	OffsetNumber off;
	uint16		unused;
} xl_dbl_freeze;

typedef struct xl_dbl_create
{
	RelFileNode node;
	int32		ncolumns;
} xl_dbl_create;

/* Numbers as they are written: small ones of either sign take few bytes. */
static inline uint64
dbl_zigzag(uint64 x)
{
	return (x << 1) ^ (uint64) -(int64) (x >> 63);
}

static inline uint64
dbl_unzigzag(uint64 bits)
{
	return (bits >> 1) ^ (uint64) -(int64) (bits & 1);
}

static inline int
dbl_bytes_needed(uint64 bits)
{
	return bits == 0 ? 0 : pg_leftmost_one_pos64(bits) / 8 + 1;
}

/* The lowest len bytes, lowest first; what follows them. */
static inline char *
dbl_put_bytes(char *to, uint64 bits, int len)
{
	for (; len > 0; len--, bits >>= 8)
		*to++ = (char) (bits & 0xFF);
	return to;
}

static inline const char *
dbl_get_bytes(const char *from, uint64 *bits, int len)
{
	*bits = 0;
	for (int b = 0; b < len; b++)
		*bits |= (uint64) (uint8) *from++ << (8 * b);
	return from;
}

/* Images of pages (image.c). */
#define DBL_IMAGE_SIZE	(BLCKSZ / 2)

extern void dbl_register_page(uint8 block_id, Buffer buffer, bool init, char *image);
extern XLogRedoAction dbl_read_page_for_redo(XLogReaderState *record, uint8 block_id, bool init, Buffer *buffer);

/* Insertions and updates as they are written (pack.c). */
#define DBL_PACKED_INSERT_SIZE	(sizeof(uint16) + DBL_RECORDS_PER_PAGE * sizeof(xl_dbl_insert))
#define DBL_PACKED_UPDATE_SIZE	(sizeof(uint32) + sizeof(xl_dbl_update))

extern Size dbl_pack_insert(char *to, const xl_dbl_insert *items, int n, bool logical);
extern int	dbl_unpack_insert(XLogReaderState *record, xl_dbl_insert *items);
extern bool dbl_packed_insert_is_logical(XLogReaderState *record);
extern Size dbl_pack_update(char *to, const xl_dbl_update *x, DblSlot newslot);
extern const char *dbl_unpack_update(XLogReaderState *record, xl_dbl_update *x);
extern bool dbl_packed_update_is_logical(XLogReaderState *record);

/* What redo and the primary do to a page alike (apply.c). */
extern void dbl_page_put(Page page, OffsetNumber off, const DblRecord *record);
extern void dbl_page_change(Page page, const xl_dbl_change *change);
extern void dbl_page_prune(Page page, const OffsetNumber *offs, int n);
extern void dbl_page_freeze(Page page, const xl_dbl_freeze *freeze, int n);
extern void dbl_record_of_version(DblRecord *record, const DblVersion *v);
extern void dbl_version_of_record(DblVersion *v, const DblRecord *record);

extern void dbl_redo(XLogReaderState *record);
extern void dbl_decode(struct LogicalDecodingContext *ctx, struct XLogRecordBuffer *buf);
extern void dbl_desc(StringInfo buf, XLogReaderState *record);
extern const char *dbl_identify(uint8 info);
extern void dbl_mask(char *pagedata, BlockNumber blkno);

#endif							/* DBL_WAL_H */
