/*-------------------------------------------------------------------------
 *
 * inspect.h
 *	  What the SQL functions that look at a table share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_INSPECT_H
#define DBL_INSPECT_H

#include "postgres.h"

#include "utils/relcache.h"

/*
 * Open a table of ours with AccessShareLock.  Raises 42809 for any other relation, 0A000 for
 * another session's temporary one.
 */
extern Relation dbl_inspect_open(Oid relid);

#endif							/* DBL_INSPECT_H */
