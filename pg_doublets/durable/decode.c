/*-------------------------------------------------------------------------
 *
 * decode.c
 *	  Logical decoding of the records of link pages.
 *
 * The counterpart of heap_decode() and what it calls.  TRUNCATE needs nothing here: the command logs
 * it by itself, whatever the access method.  Records that move no rows as the user sees them
 * (locks, pruning, freezing, copies of a table that is rewritten) are passed by.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xlogreader.h"
#include "replication/decode.h"
#include "replication/logical.h"
#include "replication/reorderbuffer.h"
#include "replication/snapbuild.h"

#include "durable/wal.h"
#include "durable/write.h"

/*
 * A heap tuple of four columns, with the values of those in "present".  Whoever reads it
 * by the description of a relation with three stops there.
 */
static ReorderBufferTupleBuf *
form_tuple(ReorderBuffer *rb, const int64 *key, uint32 present)
{
	bool		hasnull = present != (1 << DBL_NCOLUMNS) - 1;
	Size		hoff = MAXALIGN(SizeofHeapTupleHeader + (hasnull ? BITMAPLEN(DBL_NCOLUMNS) : 0));
	ReorderBufferTupleBuf *buf;
	HeapTupleHeader header;
	int64	   *to;
	Size		len = hoff;

	for (int i = 0; i < DBL_NCOLUMNS; i++)
		if (present & (1 << i))
			len += sizeof(int64);
	buf = ReorderBufferGetTupleBuf(rb, len - SizeofHeapTupleHeader);
	header = buf->tuple.t_data;
	buf->tuple.t_len = len;
	ItemPointerSetInvalid(&buf->tuple.t_self);
	buf->tuple.t_tableOid = InvalidOid;

	memset(header, 0, hoff);
	header->t_hoff = hoff;
	HeapTupleHeaderSetNatts(header, DBL_NCOLUMNS);
	if (hasnull)
	{
		header->t_infomask |= HEAP_HASNULL;
		header->t_bits[0] = present;
	}
	to = (int64 *) ((char *) header + hoff);
	for (int i = 0; i < DBL_NCOLUMNS; i++)
		if (present & (1 << i))
			*to++ = key[i];
	return buf;
}

static ReorderBufferTupleBuf *
new_tuple(ReorderBuffer *rb, const DblRecord *record)
{
	uint32		present = 0;

	for (int i = 0; i < DBL_NCOLUMNS; i++)
		if (!DblVersionIsNull(record, i))
			present |= 1 << i;
	return form_tuple(rb, record->key, present);
}

/* The replica identity behind a change; NULL where the record has none. */
static ReorderBufferTupleBuf *
old_tuple(ReorderBuffer *rb, const xl_dbl_change *x, const char *behind)
{
	xl_dbl_old	old;
	int64		key[DBL_NCOLUMNS] = {0};

	if (!(x->kind & DBL_CHANGE_OLD))
		return NULL;
	memcpy(&old, behind, offsetof(xl_dbl_old, key));
	behind += offsetof(xl_dbl_old, key);
	for (int i = 0; i < DBL_NCOLUMNS; i++)
		if (old.present & (1 << i))
		{
			memcpy(&key[i], behind, sizeof(int64));
			behind += sizeof(int64);
		}
	return form_tuple(rb, key, old.present);
}

static void
queue(LogicalDecodingContext *ctx, XLogRecordBuffer *buf, const RelFileNode *node,
	  ReorderBufferChangeType action, ReorderBufferTupleBuf *oldtuple,
	  ReorderBufferTupleBuf *newtuple)
{
	ReorderBufferChange *change = ReorderBufferGetChange(ctx->reorder);

	change->action = action;
	change->origin_id = XLogRecGetOrigin(buf->record);
	change->data.tp.relnode = *node;
	change->data.tp.oldtuple = oldtuple;
	change->data.tp.newtuple = newtuple;
	change->data.tp.clear_toast_afterwards = true;
	ReorderBufferQueueChange(ctx->reorder, XLogRecGetXid(buf->record), buf->origptr, change, false);
}

/* Does the record tell of rows that come, change or go? */
static bool
is_logical(XLogReaderState *record)
{
	char	   *data = XLogRecGetData(record);

	switch (XLogRecGetInfo(record) & XLOG_DBL_OPMASK)
	{
		case XLOG_DBL_INSERT:
			return dbl_packed_insert_is_logical(record);
		case XLOG_DBL_UPDATE:
			return dbl_packed_update_is_logical(record);
		case XLOG_DBL_CHANGE:
			return (((xl_dbl_change *) data)->kind & DBL_CHANGE_LOGICAL) != 0;
	}
	return false;
}

static void
decode_insert(LogicalDecodingContext *ctx, XLogRecordBuffer *buf, const RelFileNode *node)
{
	xl_dbl_insert items[DBL_RECORDS_PER_PAGE];
	int			n = dbl_unpack_insert(buf->record, items);

	for (int i = 0; i < n; i++)
		queue(ctx, buf, node,
			  (items[i].record.flags & DBL_F_SPECULATIVE) ?
			  REORDER_BUFFER_CHANGE_INTERNAL_SPEC_INSERT : REORDER_BUFFER_CHANGE_INSERT,
			  NULL, new_tuple(ctx->reorder, &items[i].record));
}

static void
decode_update(LogicalDecodingContext *ctx, XLogRecordBuffer *buf, const RelFileNode *node)
{
	xl_dbl_update x;
	const char *behind = dbl_unpack_update(buf->record, &x);

	queue(ctx, buf, node, REORDER_BUFFER_CHANGE_UPDATE,
		  old_tuple(ctx->reorder, &x.old, behind),
		  new_tuple(ctx->reorder, &x.new.record));
}

static void
decode_change(LogicalDecodingContext *ctx, XLogRecordBuffer *buf, const RelFileNode *node)
{
	xl_dbl_change *x = (xl_dbl_change *) XLogRecGetData(buf->record);

	switch (x->kind & DBL_CHANGE_KIND_MASK)
	{
		case DBL_CHANGE_DELETE:
			queue(ctx, buf, node, REORDER_BUFFER_CHANGE_DELETE,
				  old_tuple(ctx->reorder, x, (char *) (x + 1)), NULL);
			break;
		case DBL_CHANGE_CONFIRM:
			queue(ctx, buf, node, REORDER_BUFFER_CHANGE_INTERNAL_SPEC_CONFIRM, NULL, NULL);
			break;
		case DBL_CHANGE_ABORT:
			queue(ctx, buf, node, REORDER_BUFFER_CHANGE_INTERNAL_SPEC_ABORT, NULL, NULL);
			break;
		default:
			break;
	}
}

/*
 * rm_decode: turn a record into changes for the reorder buffer.
 */
void
dbl_decode(struct LogicalDecodingContext *ctx, struct XLogRecordBuffer *buf)
{
	TransactionId xid = XLogRecGetXid(buf->record);
	RelFileNode node;

	ReorderBufferProcessXid(ctx->reorder, xid, buf->origptr);
	if (!is_logical(buf->record))
		return;

	/* The base snapshot is wanted even where somebody only moves the slot ahead, and for other databases. */
	if (SnapBuildCurrentState(ctx->snapshot_builder) < SNAPBUILD_FULL_SNAPSHOT ||
		!SnapBuildProcessChange(ctx->snapshot_builder, xid, buf->origptr) ||
		ctx->fast_forward)
		return;
	XLogRecGetBlockTag(buf->record, 0, &node, NULL, NULL);
	if (node.dbNode != ctx->slot->data.database ||
		(ctx->callbacks.filter_by_origin_cb != NULL &&
		 filter_by_origin_cb_wrapper(ctx, XLogRecGetOrigin(buf->record))))
		return;

	switch (XLogRecGetInfo(buf->record) & XLOG_DBL_OPMASK)
	{
		case XLOG_DBL_INSERT:
			decode_insert(ctx, buf, &node);
			break;
		case XLOG_DBL_UPDATE:
			decode_update(ctx, buf, &node);
			break;
		case XLOG_DBL_CHANGE:
			decode_change(ctx, buf, &node);
			break;
	}
}
