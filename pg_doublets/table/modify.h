/*-------------------------------------------------------------------------
 *
 * modify.h
 *	  Callbacks that change rows or lock them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_MODIFY_H
#define DBL_MODIFY_H

#include "table/table.h"

/* modify.c */
extern void dbl_tuple_insert(Relation rel, TupleTableSlot *slot, CommandId cid, int options,
							 struct BulkInsertStateData *bistate);
extern void dbl_tuple_insert_speculative(Relation rel, TupleTableSlot *slot, CommandId cid,
										 int options, struct BulkInsertStateData *bistate,
										 uint32 token);
extern void dbl_tuple_complete_speculative(Relation rel, TupleTableSlot *slot, uint32 token,
										   bool succeeded);
extern void dbl_multi_insert(Relation rel, TupleTableSlot **slots, int nslots, CommandId cid,
							 int options, struct BulkInsertStateData *bistate);
extern TM_Result dbl_tuple_delete(Relation rel, ItemPointer tid, CommandId cid, Snapshot snapshot,
								  Snapshot crosscheck, bool wait, TM_FailureData *tmfd,
								  bool changing_part);
extern TM_Result dbl_tuple_update(Relation rel, ItemPointer otid, TupleTableSlot *slot,
								  CommandId cid, Snapshot snapshot, Snapshot crosscheck, bool wait,
								  TM_FailureData *tmfd, LockTupleMode *lockmode,
								  bool *update_indexes);
extern uint32 dbl_update_kept(Relation rel, DblSlot slot);
extern void dbl_fill_failure(DblTable *t, DblSlot slot, DblVersion *v, TM_Result result,
							 TM_FailureData *tmfd);

/* columns.c */

/* Sets of columns; bit i: column i. */
typedef struct DblColumns
{
	uint32		referenced;		/* a foreign key may refer to them: an update that
								 * leaves them alone needs not exclude FOR KEY SHARE */
	uint32		indexed;		/* in any index: an update that leaves them alone is
								 * what heap calls HOT */
	uint32		identity;		/* of the index that is the replica identity */
	uint32		unique;			/* of unique indexes of ours */
	uint32		announced;		/* DBL_F_ANNOUNCED of those indexes */
	bool		passive;		/* all indexes are ours, and unique ones are valid and
								 * checked at once */
	bool		real_deferrable;	/* a real index is a deferrable constraint */
} DblColumns;

typedef struct DblIdentity
{
	uint32		columns;		/* bit i: column i */
	bool		always;			/* needed even by an update that leaves them alone */
} DblIdentity;

extern DblColumns dbl_columns(Relation rel);
extern DblIdentity dbl_replica_identity(Relation rel, const DblColumns *columns);
extern bool dbl_columns_differ(const DblVersion *a, const DblVersion *b, uint32 cols);

/* lock.c */
extern TM_Result dbl_tuple_lock(Relation rel, ItemPointer tid, Snapshot snapshot,
								TupleTableSlot *slot, CommandId cid, LockTupleMode mode,
								LockWaitPolicy policy, uint8 flags, TM_FailureData *tmfd);

#endif							/* DBL_MODIFY_H */
