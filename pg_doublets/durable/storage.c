/*-------------------------------------------------------------------------
 *
 * storage.c
 *	  The files of a links table.
 *
 * A new file has no blocks; the metapage comes with the first row.  So an empty
 * init fork is all that an unlogged table needs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/pg_class.h"
#include "catalog/storage.h"
#include "catalog/storage_xlog.h"
#include "storage/bufmgr.h"
#include "storage/smgr.h"
#include "utils/rel.h"

#include "durable/wal.h"
#include "durable/write.h"

BlockNumber
dbl_storage_nblocks(Relation rel)
{
	BlockNumber n = RelationGetNumberOfBlocks(rel);

	return n > DBL_METAPAGE_BLKNO ? n - 1 : 0;
}

/* Tell a standby that what it may have loaded of this file is gone. */
static void
log_reset(const RelFileNode *node)
{
	XLogBeginInsert();
	XLogRegisterData((char *) node, sizeof(RelFileNode));
	XLogInsert(DBL_RMGR_ID, XLOG_DBL_RESET);
}

void
dbl_storage_create(Relation rel, const RelFileNode *newnode, char persistence, int ncolumns)
{
	SMgrRelation srel = RelationCreateStorage(*newnode, persistence, true);

	if (persistence == RELPERSISTENCE_PERMANENT && XLogIsNeeded())
		log_reset(newnode);
	if (persistence == RELPERSISTENCE_UNLOGGED)
	{
		/* as heap: the init fork must be there after a crash whatever happens */
		smgrcreate(srel, INIT_FORKNUM, false);
		log_smgrcreate(newnode, INIT_FORKNUM);
		smgrimmedsync(srel, INIT_FORKNUM);
	}
	smgrclose(srel);

	/* a file of the same number may have been here before */
	dbl_store_drop(*newnode, persistence == RELPERSISTENCE_TEMP);
}

void
dbl_storage_truncate(Relation rel)
{
	if (RelationNeedsWAL(rel))
		log_reset(&rel->rd_node);
	RelationTruncate(rel, 0);
	dbl_store_drop(rel->rd_node, rel->rd_rel->relpersistence == RELPERSISTENCE_TEMP);
}

void
dbl_storage_copy(Relation rel, const RelFileNode *newnode)
{
	char		persistence = rel->rd_rel->relpersistence;
	SMgrRelation dst;

	/* the copy is made file by file, so what is in buffers has to be written first */
	FlushRelationBuffers(rel);
	dst = RelationCreateStorage(*newnode, persistence, true);
	RelationCopyStorage(RelationGetSmgr(rel), dst, MAIN_FORKNUM, persistence);
	for (ForkNumber fork = MAIN_FORKNUM + 1; fork <= MAX_FORKNUM; fork++)
	{
		if (!smgrexists(RelationGetSmgr(rel), fork))
			continue;
		smgrcreate(dst, fork, false);
		if (RelationIsPermanent(rel) ||
			(persistence == RELPERSISTENCE_UNLOGGED && fork == INIT_FORKNUM))
			log_smgrcreate(newnode, fork);
		RelationCopyStorage(RelationGetSmgr(rel), dst, fork, persistence);
	}
	RelationDropStorage(rel);
	smgrclose(dst);
	dbl_store_drop(*newnode, persistence == RELPERSISTENCE_TEMP);
}
