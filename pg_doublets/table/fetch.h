/*-------------------------------------------------------------------------
 *
 * fetch.h
 *	  Versions by slot, and along chains of updates.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_FETCH_H
#define DBL_FETCH_H

#include "table/table.h"

extern DblVersion *dbl_version_or_null(DblTable *t, DblSlot slot);

/*
 * Is v the successor of a version whose updater was prior_xmax?  If not, the
 * slot has been used again in the meantime.
 */
static inline bool
dbl_version_continues(const DblVersion *v, TransactionId prior_xmax)
{
	return !(v->flags & (DBL_F_XMIN_FROZEN | DBL_F_XMIN_DEAD)) && v->xmin == prior_xmax;
}

extern DblSlot dbl_settled_successor(DblTable *t, const DblVersion *v);
extern DblSlot dbl_doubted_version(DblTable *t, DblSlot slot);

#endif							/* DBL_FETCH_H */
