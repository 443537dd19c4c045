/*-------------------------------------------------------------------------
 *
 * rowlock.h
 *	  Row locks and the xmax that records them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_ROWLOCK_H
#define DBL_ROWLOCK_H

#include "postgres.h"

#include "access/multixact.h"
#include "access/tableam.h"
#include "nodes/lockoptions.h"
#include "storage/lmgr.h"

#include "mvcc/mvcc.h"

/* Every flag that qualifies xmax. */
#define DBL_F_XMAX_BITS \
	(DBL_F_XMAX_MULTI | DBL_F_XMAX_LOCK_ONLY | DBL_F_XMAX_LOCKS | \
	 DBL_F_KEYS_UPDATED | DBL_F_XMAX_HINTS | DBL_F_MOVED)

/* Is xmax another one than when `xmax` and `flags` were read? */
static inline bool
dbl_xmax_changed(const DblVersion *v, TransactionId xmax, uint32 flags)
{
	const uint32 bits = DBL_F_XMAX_MULTI | DBL_F_XMAX_LOCK_ONLY | DBL_F_XMAX_LOCKS;

	return v->xmax != xmax || (v->flags & bits) != (flags & bits);
}

extern MultiXactStatus dbl_status_for_lock(LockTupleMode mode, bool is_update);
extern LockTupleMode dbl_lock_of_status(MultiXactStatus status);
extern MultiXactStatus dbl_status_of_xmax(uint32 flags);
extern bool dbl_statuses_conflict(MultiXactStatus a, MultiXactStatus b);
extern LOCKMODE dbl_heavy_lock(LockTupleMode mode);

extern uint32 dbl_multi_flags(MultiXactId multi);
extern void dbl_compute_xmax(TransactionId xmax, uint32 flags, TransactionId add,
							 LockTupleMode mode, bool is_update,
							 TransactionId *new_xmax, uint32 *new_flags);
extern void dbl_note_xmax_outcome(DblVersion *v, TransactionId xwait);

extern bool dbl_multi_conflicts(MultiXactId multi, uint32 flags, LockTupleMode mode,
								bool *current_is_member);
extern bool dbl_multi_wait(MultiXactId multi, MultiXactStatus status, uint32 flags, bool nowait,
						   Relation rel, ItemPointer tid, XLTW_Oper oper, int *remaining);
extern bool dbl_acquire_tuplock(Relation rel, ItemPointer tid, LockTupleMode mode,
								LockWaitPolicy policy, bool *have);
extern void dbl_release_tuplock(Relation rel, ItemPointer tid, LockTupleMode mode, bool have);

#endif							/* DBL_ROWLOCK_H */
