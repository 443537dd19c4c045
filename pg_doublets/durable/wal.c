/*-------------------------------------------------------------------------
 *
 * wal.c
 *	  Our WAL resource manager, and how its records read in a dump.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog_internal.h"

#include "durable/wal.h"

void
dbl_desc(StringInfo buf, XLogReaderState *record)
{
	char	   *data = XLogRecGetData(record);

	switch (XLogRecGetInfo(record) & XLOG_DBL_OPMASK)
	{
		case XLOG_DBL_INSERT:
			appendStringInfo(buf, "n %u", ((DblXlInsert *) data)->n);
			break;
		case XLOG_DBL_UPDATE:
			{
				DblXlUpdate *xl = (DblXlUpdate *) data;

				appendStringInfo(buf, "old off %u xmax %u flags 0x%04X; new off %u",
								 xl->old_off, xl->old.xmax, xl->old.flags, xl->new_off);
				break;
			}
		case XLOG_DBL_CHANGE:
			{
				static const char *const kinds[] = {"delete", "lock", "confirm", "abort"};
				DblXlChange *xl = (DblXlChange *) data;

				appendStringInfo(buf, "%s off %u xmax %u flags 0x%04X",
								 xl->kind < lengthof(kinds) ? kinds[xl->kind] : "?",
								 xl->off, xl->changed.xmax, xl->changed.flags);
				break;
			}
		case XLOG_DBL_PRUNE:
			appendStringInfo(buf, "horizon %u n %u",
							 ((DblXlPrune *) data)->horizon, ((DblXlPrune *) data)->n);
			break;
		case XLOG_DBL_FREEZE:
			appendStringInfo(buf, "cutoff %u n %u",
							 ((DblXlFreeze *) data)->cutoff, ((DblXlFreeze *) data)->n);
			break;
		case XLOG_DBL_RESET:
			{
				RelFileNode *node = (RelFileNode *) data;

				appendStringInfo(buf, "rel %u/%u/%u", node->spcNode, node->dbNode, node->relNode);
				break;
			}
	}
}

const char *
dbl_identify(uint8 info)
{
	bool		init = (info & XLOG_DBL_INIT_PAGE) != 0;

	switch (info & XLOG_DBL_OPMASK)
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
		case XLOG_DBL_RESET:
			return "RESET";
	}
	return NULL;
}

static const RmgrData rmgr = {
	.rm_name = "pg_doublets",
	.rm_redo = dbl_redo,
	.rm_desc = dbl_desc,
	.rm_identify = dbl_identify,
	.rm_mask = dbl_page_mask,
};

void
dbl_wal_init(void)
{
	RegisterCustomRmgr(DBL_RMGR_ID, (RmgrData *) &rmgr);
}
