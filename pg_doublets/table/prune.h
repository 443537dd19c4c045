/*-------------------------------------------------------------------------
 *
 * prune.h
 *	  Freeing the slots of dead versions on the way, without VACUUM.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_PRUNE_H
#define DBL_PRUNE_H

#include "table/table.h"
#include "utils/snapshot.h"

/* Most slots that are noted before they are freed. */
#define DBL_NOTED_MAX	64

/* pg_doublets.prune_dead */
extern int	dbl_prune_dead;

extern void dbl_prune_init(void);
extern bool dbl_prune_wanted(Snapshot snapshot);
extern bool dbl_prune_noted(Relation rel, DblTable *t, DblSlot *slots, int n);

/* Is this version, which the scan's MVCC snapshot does not see, perhaps dead to everybody?  Quick; hints must be set. */
static inline bool
dbl_perhaps_dead(const DblVersion *v)
{
	return (v->flags & (DBL_F_XMAX_COMMITTED | DBL_F_XMIN_ABORTED | DBL_F_XMIN_DEAD | DBL_F_XMAX_MULTI)) != 0;
}

#endif							/* DBL_PRUNE_H */
