/*-------------------------------------------------------------------------
 *
 * wal.c
 *	  The resource manager: registration, description, masks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/bufmask.h"
#include "access/xlog_internal.h"

#include "durable/wal.h"
#include "durable/write.h"

const char *
dbl_identify(uint8 info)
{
	bool		init = (info & XLOG_DBL_INIT_PAGE) != 0;

	switch (info & ~XLR_INFO_MASK & XLOG_DBL_OPMASK)
	{
		case XLOG_DBL_INSERT:
			return init ? "INSERT+INIT" : "INSERT";
		case XLOG_DBL_UPDATE:
			return init ? "UPDATE+INIT" : "UPDATE";
		case XLOG_DBL_CHANGE:
			return "CHANGE";
		case XLOG_DBL_PRUNE:
			return "PRUNE";
		case XLOG_DBL_FREEZE:
			return "FREEZE";
		case XLOG_DBL_CREATE:
			return "CREATE";
		case XLOG_DBL_FORGET:
			return "FORGET";
	}
	return NULL;
}

static const char *
change_name(uint16 kind)
{
	switch (kind & DBL_CHANGE_KIND_MASK)
	{
		case DBL_CHANGE_DELETE:
			return "delete";
		case DBL_CHANGE_LOCK:
			return "lock";
		case DBL_CHANGE_CONFIRM:
			return "confirm";
		case DBL_CHANGE_ABORT:
			return "abort";
		case DBL_CHANGE_SET_NEXT:
			return "set next";
	}
	return "?";
}

void
dbl_desc(StringInfo buf, XLogReaderState *record)
{
	char	   *data = XLogRecGetData(record);

	switch (XLogRecGetInfo(record) & XLOG_DBL_OPMASK)
	{
		case XLOG_DBL_INSERT:
			{
				xl_dbl_insert items[DBL_RECORDS_PER_PAGE];
				int			n = dbl_unpack_insert(record, items);

				appendStringInfo(buf, "versions %d, off %u", n, items[0].off);
				break;
			}
		case XLOG_DBL_UPDATE:
			{
				xl_dbl_update x;

				(void) dbl_unpack_update(record, &x);
				appendStringInfo(buf, "off %u xmax %u flags 0x%04X, new off %u",
								 x.old.off, x.old.xmax, x.old.flags, x.new.off);
				break;
			}
		case XLOG_DBL_CHANGE:
			{
				xl_dbl_change *x = (xl_dbl_change *) data;

				appendStringInfo(buf, "%s: off %u xmax %u flags 0x%04X",
								 change_name(x->kind), x->off, x->xmax, x->flags);
				break;
			}
		case XLOG_DBL_PRUNE:
		case XLOG_DBL_FREEZE:
			appendStringInfo(buf, "versions %u, horizon %u", ((xl_dbl_multi *) data)->n,
							 ((xl_dbl_multi *) data)->horizon);
			break;
		case XLOG_DBL_CREATE:
			appendStringInfo(buf, "columns %d", ((xl_dbl_create *) data)->ncolumns);
			break;
		case XLOG_DBL_FORGET:
			{
				RelFileNode *node = (RelFileNode *) data;

				appendStringInfo(buf, "rel %u/%u/%u", node->spcNode, node->dbNode, node->relNode);
				break;
			}
	}
}

/* Nothing that is ours may differ between the primary and a standby. */
void
dbl_mask(char *pagedata, BlockNumber blkno)
{
	mask_page_lsn_and_checksum(pagedata);
	mask_page_hint_bits(pagedata);
	mask_unused_space(pagedata);
}

static const RmgrData dbl_rmgr = {
	.rm_name = "pg_doublets",
	.rm_redo = dbl_redo,
	.rm_desc = dbl_desc,
	.rm_identify = dbl_identify,
	.rm_startup = NULL,
	.rm_cleanup = NULL,
	.rm_mask = dbl_mask,
	.rm_decode = dbl_decode
};

void
dbl_wal_init(void)
{
	RegisterCustomRmgr(DBL_RMGR_ID, (RmgrData *) &dbl_rmgr);
}
