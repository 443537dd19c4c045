/*-------------------------------------------------------------------------
 *
 * storage.c
 *	  The files of a links table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/pg_class.h"
#include "catalog/storage.h"
#include "catalog/storage_xlog.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/smgr.h"
#include "utils/rel.h"

#include "durable/wal.h"
#include "durable/write.h"
#include "shared/inject.h"

BlockNumber
dbl_storage_nblocks(Relation rel)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);

	return nblocks > 0 ? nblocks - 1 : 0;
}

/* Standbys: whatever is loaded under this number is not what the file will hold. */
static void
log_forget(const RelFileNode *node)
{
	RelFileNode copy = *node;

	XLogBeginInsert();
	XLogRegisterData((char *) &copy, sizeof(copy));
	(void) XLogInsert(DBL_RMGR_ID, XLOG_DBL_FORGET);
}

/* Stores of a database that is gone, or has left a tablespace; here and on standbys. */
void
dbl_storage_forget_database(Oid dbid, Oid spcid)
{
	RelFileNode node = {spcid, dbid, InvalidOid};

	dbl_store_drop_database(dbid, spcid);
	if (dbl_is_preloaded())
		log_forget(&node);
}

/* Append a metapage to an empty fork past the buffers. */
static void
write_metapage(SMgrRelation reln, ForkNumber fork, int ncolumns, bool wal)
{
	PGAlignedBlock block;
	Page		page = (Page) block.data;

	DblMetaPageInit(page, ncolumns);
	if (wal)
		log_newpage(&reln->smgr_rnode.node, fork, DBL_METAPAGE_BLKNO, page, true);
	PageSetChecksumInplace(page, DBL_METAPAGE_BLKNO);
	smgrextend(reln, fork, DBL_METAPAGE_BLKNO, block.data, true);
}

/* The metapage of the main fork, through the buffers, so that no fsync is needed here. */
static void
buffer_metapage(const RelFileNode *node, int ncolumns, bool permanent)
{
	Buffer		buffer;
	xl_dbl_create x;

	x.node = *node;
	x.ncolumns = ncolumns;
	buffer = ReadBufferWithoutRelcache(*node, MAIN_FORKNUM, P_NEW, RBM_ZERO_AND_LOCK, NULL,
									   permanent);
	if (BufferGetBlockNumber(buffer) != DBL_METAPAGE_BLKNO)
		elog(ERROR, "new file of a doublets table is not empty");

	DBL_INJECT("create-before");
	START_CRIT_SECTION();
	DblMetaPageInit(BufferGetPage(buffer), ncolumns);
	MarkBufferDirty(buffer);
	DBL_INJECT("create-page");
	/* with wal_level = minimal, core syncs or logs the whole file at commit */
	if (permanent && XLogIsNeeded())
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterData((char *) &x, sizeof(x));
		XLogRegisterBuffer(0, buffer, REGBUF_STANDARD | REGBUF_WILL_INIT);
		lsn = XLogInsert(DBL_RMGR_ID, XLOG_DBL_CREATE);
		PageSetLSN(BufferGetPage(buffer), lsn);
	}
	DBL_INJECT("create-wal");
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

void
dbl_storage_create(Relation rel, const RelFileNode *newnode, char persistence, int ncolumns)
{
	SMgrRelation reln = RelationCreateStorage(*newnode, persistence, true);

	if (persistence == RELPERSISTENCE_TEMP)
		write_metapage(reln, MAIN_FORKNUM, ncolumns, false);
	else
		buffer_metapage(newnode, ncolumns, persistence == RELPERSISTENCE_PERMANENT);

	if (persistence == RELPERSISTENCE_UNLOGGED)
	{
		reln = smgropen(*newnode, InvalidBackendId);
		smgrcreate(reln, INIT_FORKNUM, false);
		log_smgrcreate(newnode, INIT_FORKNUM);
		write_metapage(reln, INIT_FORKNUM, ncolumns, true);

		/* A checkpoint may have passed the record by before the file was written. */
		smgrimmedsync(reln, INIT_FORKNUM);
	}
	smgrclose(reln);
}

/*
 * Cut the file to so many blocks, metapage included.  How many blocks and slots the store knows of
 * must agree with the file, here and on standbys: so it is dropped, first of all, as cutting may
 * fail halfway.  AccessExclusiveLock is held, so nobody loads it in between.
 */
void
dbl_storage_cut(Relation rel, BlockNumber nblocks)
{
	Assert(nblocks > DBL_METAPAGE_BLKNO);
	DBL_INJECT("cut-before");
	if (RelationNeedsWAL(rel))
		log_forget(&rel->rd_node);
	dbl_store_drop(rel->rd_node, RelationUsesLocalBuffers(rel));
	DBL_INJECT("cut-forgotten");
	RelationTruncate(rel, nblocks);
	DBL_INJECT("cut-done");
}

void
dbl_storage_truncate(Relation rel)
{
	if (RelationGetNumberOfBlocks(rel) > DBL_METAPAGE_BLKNO + 1)
		dbl_storage_cut(rel, DBL_METAPAGE_BLKNO + 1);
	else
		dbl_store_drop(rel->rd_node, RelationUsesLocalBuffers(rel));
}

/* Copy all forks to a new file node, as heap does for SET TABLESPACE. */
void
dbl_storage_copy(Relation rel, const RelFileNode *newnode)
{
	char		persistence = rel->rd_rel->relpersistence;
	SMgrRelation dst;

	DBL_INJECT("copy-before");

	/* what is read below goes past the buffers; the lock keeps others from dirtying them again */
	FlushRelationBuffers(rel);

	dst = RelationCreateStorage(*newnode, persistence, true);
	if (persistence == RELPERSISTENCE_PERMANENT && XLogIsNeeded())
		log_forget(newnode);
	for (ForkNumber fork = MAIN_FORKNUM; fork <= MAX_FORKNUM; fork++)
	{
		if (fork != MAIN_FORKNUM)
		{
			if (!smgrexists(RelationGetSmgr(rel), fork))
				continue;
			smgrcreate(dst, fork, false);
			if (persistence == RELPERSISTENCE_PERMANENT ||
				(persistence == RELPERSISTENCE_UNLOGGED && fork == INIT_FORKNUM))
				log_smgrcreate(newnode, fork);
		}
		RelationCopyStorage(RelationGetSmgr(rel), dst, fork, persistence);
	}
	DBL_INJECT("copy-done");
	RelationDropStorage(rel);
	smgrclose(dst);
}
