/*-------------------------------------------------------------------------
 *
 * mvcc.h
 *	  Which versions a snapshot sees, and who may change or lock one.
 *
 * The rules are heap's (access/heap/heapam_visibility.c, README.tuplock), told over DblVersion.
 * Every function here wants the store lock held, shared at least; hints are
 * set with atomic ors, so shared is enough.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_MVCC_H
#define DBL_MVCC_H

#include "postgres.h"

#include "access/heapam.h"
#include "access/multixact.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "nodes/lockoptions.h"
#include "utils/snapshot.h"

#include "shared/registry.h"

/*
 * Does the snapshot see the version?  All snapshot types.  DIRTY fills snapshot->xmin, xmax,
 * speculativeToken as HeapTupleSatisfiesDirty does.
 */
extern bool dbl_visible(DblVersion *v, Snapshot snapshot);

/*
 * Does an MVCC snapshot see it without a closer look?  So it is with most versions of a table:
 * nobody in xmax, and xmin is known to have committed before whatever ran when the snapshot was
 * taken.  False: ask dbl_visible().
 */
static inline bool
dbl_visible_plainly(const DblVersion *v, Snapshot snapshot)
{
	return v->xmax == InvalidTransactionId && snapshot->snapshot_type == SNAPSHOT_MVCC &&
		((v->flags & DBL_F_XMIN_FROZEN) ||
		 ((v->flags & DBL_F_XMIN_COMMITTED) && TransactionIdIsNormal(v->xmin) &&
		  (int32) (v->xmin - snapshot->xmin) < 0));
}

/* May the current command change it?  As HeapTupleSatisfiesUpdate. `self` is the version's slot. */
extern TM_Result dbl_satisfies_update(DblVersion *v, CommandId curcid);

/* As HeapTupleSatisfiesVacuumHorizon: *dead_after is set for RECENTLY_DEAD (invalid otherwise). */
extern HTSV_Result dbl_satisfies_vacuum_horizon(DblVersion *v, TransactionId *dead_after);
extern HTSV_Result dbl_satisfies_vacuum(DblVersion *v, TransactionId oldest_xmin);

/* Dead to everybody under this horizon test? */
extern bool dbl_is_dead(DblVersion *v, struct GlobalVisState *vistest);

/* The updating/deleting transaction in xmax (members of a multi searched), or InvalidTransactionId. */
extern TransactionId dbl_update_xid(const DblVersion *v);

/* xmax only locks, or its updater has aborted. */
extern bool dbl_is_only_locked(DblVersion *v);

/* A version is about to be removed: move *horizon on to its last transaction. */
extern void dbl_advance_horizon(const DblVersion *v, TransactionId *horizon);

/* Serializable: read and write conflicts, placed as heap places them. */
extern void dbl_predicate_read(Relation rel, DblVersion *v, DblSlot slot, bool visible, Snapshot snapshot);

static inline bool
DblXmaxIsLockedOnly(uint32 flags)
{
	return (flags & DBL_F_XMAX_LOCK_ONLY) ||
		(flags & (DBL_F_XMAX_MULTI | DBL_F_XMAX_LOCKS)) == DBL_F_XMAX_EXCL;
}

/* What a version is called when somebody else's change of it has committed. */
static inline TM_Result
dbl_gone(const DblVersion *v)
{
	return (v->next != DBL_NO_SLOT && !(v->flags & DBL_F_SPECULATIVE)) ||
		(v->flags & DBL_F_MOVED) ? TM_Updated : TM_Deleted;
}

#endif							/* DBL_MVCC_H */
