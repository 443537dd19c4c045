/*-------------------------------------------------------------------------
 *
 * truncate.c
 *	  Give blocks at the end of the file, which hold no version any more, back to
 *	  the system.
 *
 * As VACUUM of a heap does it: only for a good number of blocks, with an
 * AccessExclusiveLock that is asked for politely and given up for anybody who
 * waits for it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/wait_event.h"

#include "durable/write.h"
#include "table/maintain.h"

/* Cut the file only if that much of it would go: blocks, or a fraction. */
#define TRUNCATE_MINIMUM		1000
#define TRUNCATE_FRACTION		16

#define LOCK_WAIT_INTERVAL		50		/* ms */
#define LOCK_TIMEOUT			5000	/* ms */

/* Is it worth the trouble? nonempty: number of blocks that must stay. */
bool
dbl_tail_worth_truncating(BlockNumber nblocks, BlockNumber nonempty)
{
	BlockNumber freeable = nblocks > nonempty ? nblocks - nonempty : 0;

	return freeable > 0 &&
		(freeable >= TRUNCATE_MINIMUM || freeable >= nblocks / TRUNCATE_FRACTION);
}

/* Number of blocks up to the last one with a version. */
static BlockNumber
last_used_block(Relation rel, DblTable *t, BlockNumber nblocks, BlockNumber nonempty)
{
	BlockNumber result = nonempty;
	DblSlot		slot;

	dbl_table_lock(rel, t, LW_SHARED);
	slot = dbl_nslots(&t->store);
	while (slot > 0 && DblSlotBlock(slot - 1) >= nonempty)
	{
		slot--;
		if (dbl_version(&t->store, slot)->flags & DBL_F_USED)
		{
			result = DblSlotBlock(slot) + 1;
			break;
		}
	}
	dbl_table_unlock(t);
	return Min(result, nblocks);
}

/*
 * Cut off the blocks from `nonempty` on, if they still are empty.  nblocks is
 * the size of the file as the caller has seen it.  Returns its size afterwards.
 *
 * The store is dropped, and loaded again from what is left.  Nobody can be using it, given the lock.
 */
BlockNumber
dbl_truncate_tail(Relation rel, BlockNumber nblocks, BlockNumber nonempty, int elevel)
{
	BlockNumber new_blocks;
	int			waited = 0;

	nonempty = Max(nonempty, DBL_METAPAGE_BLKNO + 1);

	while (!ConditionalLockRelation(rel, AccessExclusiveLock))
	{
		CHECK_FOR_INTERRUPTS();
		if (waited >= LOCK_TIMEOUT)
		{
			ereport(elevel,
					(errmsg("\"%s\": stopping truncate due to conflicting lock request",
							RelationGetRelationName(rel))));
			return nblocks;
		}
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 LOCK_WAIT_INTERVAL, WAIT_EVENT_VACUUM_TRUNCATE);
		ResetLatch(MyLatch);
		waited += LOCK_WAIT_INTERVAL;
	}

	/* with the lock nobody adds blocks or versions any more; has anybody before? */
	if (RelationGetNumberOfBlocks(rel) != nblocks)
	{
		UnlockRelation(rel, AccessExclusiveLock);
		return nblocks;
	}
	new_blocks = last_used_block(rel, dbl_table_open(rel), nblocks, nonempty);
	if (new_blocks >= nblocks)
	{
		UnlockRelation(rel, AccessExclusiveLock);
		return nblocks;
	}

	dbl_storage_cut(rel, new_blocks);
	UnlockRelation(rel, AccessExclusiveLock);

	ereport(elevel,
			(errmsg("table \"%s\": truncated %u to %u pages",
					RelationGetRelationName(rel), nblocks, new_blocks)));
	return new_blocks;
}
