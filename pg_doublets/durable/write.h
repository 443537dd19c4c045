/*-------------------------------------------------------------------------
 *
 * write.h
 *	  Changes of a links table: page, WAL record and store in one step.
 *
 * Every function here is called with the store lock held exclusively
 * (dbl_table_lock) and returns with it held.  Whatever can fail (memory, disk, buffers) comes first and
 * raises with nothing changed; then a critical section writes the page, the
 * WAL record and the store.  Where RelationNeedsWAL() is false no record is written.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_WRITE_H
#define DBL_WRITE_H

#include "postgres.h"

#include "access/htup.h"
#include "storage/off.h"
#include "utils/relcache.h"

#include "durable/page.h"
#include "shared/registry.h"

/* The part of a version that changes in place. */
typedef struct DblChange
{
	TransactionId xmax;
	CommandId	cmax;			/* store only */
	uint32		next;
	uint32		flags;			/* all flags of the version anew (USED, null bits, announcements, hints included) */
} DblChange;

/*
 * Insert n new versions (complete but for left/right; USED is set here), choosing the slots, which go to
 * slots[].  For n > 1 one record a page is written.  logical: logical decoding is to see them, where the relation's
 * changes are logged for it at all.
 */
extern void dbl_write_insert(Relation rel, DblTable *t, const DblVersion *v, int n, bool logical,
							 DblSlot *slots);

/*
 * UPDATE: change the old version and insert the new one, as one record.  The new slot is put
 * into the old version's next (change->next is ignored) and returned in *newslot.  identity: columns of the old
 * version (bit i: column i) that logical decoding needs, 0 if none.
 */
extern void dbl_write_update(Relation rel, DblTable *t, DblSlot oldslot, const DblChange *change,
							 const DblVersion *newv, uint32 identity, DblSlot *newslot);

/* What a change in place is for; names the WAL record. */
typedef enum DblChangeKind
{
	DBL_CHANGE_DELETE,
	DBL_CHANGE_LOCK,
	DBL_CHANGE_CONFIRM,			/* speculative insertion confirmed */
	DBL_CHANGE_ABORT			/* speculative insertion taken back */
} DblChangeKind;

/* identity: as for dbl_write_update(). */
extern void dbl_write_change(Relation rel, DblTable *t, DblSlot slot,
							 const DblChange *change, DblChangeKind kind, uint32 identity);

/*
 * Free the versions in these slots, all on one page: out of trees, record zeroed,
 * slot reusable.  The caller knows that they are dead to all and that no real index points at
 * them.  horizon: newest xmax (or xmin) removed, for recovery conflicts; InvalidTransactionId if none.
 */
extern void dbl_write_prune(Relation rel, DblTable *t, BlockNumber blkno,
							const DblSlot *slots, int n, TransactionId horizon);

/* Freeze: new xmin flags, xmax and flags for slots of one page. cutoff: for recovery conflicts (newest xid frozen, as heap's cutoff_xid). */
typedef struct DblFreeze
{
	DblSlot		slot;
	TransactionId xmax;
	uint32		flags;			/* all flags anew */
} DblFreeze;
extern void dbl_write_freeze(Relation rel, DblTable *t, BlockNumber blkno,
							 const DblFreeze *freeze, int n, TransactionId cutoff);

/*
 * Like dbl_write_insert(), but the versions keep their xmax, next and all flags: copies of a table that is
 * rewritten.  Logical decoding does not see them.
 */
extern void dbl_write_copy(Relation rel, DblTable *t, const DblVersion *v, int n, DblSlot *slots);

/* Set `next` of a copy whose successor was copied after it. */
extern void dbl_write_set_next(Relation rel, DblTable *t, DblSlot slot, DblSlot next);

/* --- storage.c: the relation's files -------------------------------------- */

/* Number of link blocks of the file (not counting the metapage). */
extern BlockNumber dbl_storage_nblocks(Relation rel);

/* Make the file(s) of a new file node: metapage, WAL, init fork for unlogged ones. */
extern void dbl_storage_create(Relation rel, const RelFileNode *newnode, char persistence, int ncolumns);

/*
 * Drop the stores of a database that is gone (spcid invalid), or those in a tablespace that it has
 * left, here and on standbys.
 */
extern void dbl_storage_forget_database(Oid dbid, Oid spcid);

/* Cut the file to so many blocks; drops the store, also on standbys.  AccessExclusiveLock is held. */
extern void dbl_storage_cut(Relation rel, BlockNumber nblocks);

/* Cut the relation back to an empty one in place (nontransactional truncate), WAL-logged, store emptied. */
extern void dbl_storage_truncate(Relation rel);

/* ALTER TABLE SET TABLESPACE: as heapam_relation_copy_data does. */
extern void dbl_storage_copy(Relation rel, const RelFileNode *newnode);

/* --- wal.c ------------------------------------------------------------------ */

#define DBL_RMGR_ID		161
/* Register the resource manager; from _PG_init while preloading. */
extern void dbl_wal_init(void);

/* --- load.c ------------------------------------------------------------------ */

/* Sets dbl_load_hook. */
extern void dbl_load_init(void);

/* Compare each page of the relation with the store (locks by itself, block by block); one call of fault a difference. */
extern uint64 dbl_compare_pages(Relation rel, DblTable *t, DblFaultFn fault, void *arg);

#endif							/* DBL_WRITE_H */
