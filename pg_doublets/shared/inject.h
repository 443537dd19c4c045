/*-------------------------------------------------------------------------
 *
 * inject.h
 *	  Injection points: places where a test can have the server fail, die or wait.
 *
 * Only in a library that was built with "make INJECTION=1"; in any other nothing is left of them.  Then
 *
 *	pg_doublets.inject		"point:action" or "point:action:n", for the n-th time that a process comes there
 *							(the first if not given), once; superusers only
 *	pg_doublets.inject_no_memory	the number of the allocation for a store that fails, counted from when it is
 *							set; once.  Shows how many are still to come, 0 once it has failed.
 *
 * Actions: error (an ERROR; in a critical section thus a PANIC), cancel (as from pg_cancel_backend), terminate,
 * kill (SIGKILL to itself), segv, timeout (sleep until the statement is cancelled, as statement_timeout does it),
 * wait (until the data directory has a file "pg_doublets.go", which is removed).
 *
 * The server log says of each fault that it has happened.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_INJECT_H
#define DBL_INJECT_H

#include "postgres.h"

#ifdef DBL_INJECTION

extern void dbl_inject_init(void);
extern void dbl_inject(const char *point);
extern bool dbl_inject_no_memory(void);

#define DBL_INJECT(point)			dbl_inject(point)
#define DBL_INJECT_NO_MEMORY()		dbl_inject_no_memory()

#else

#define dbl_inject_init()			((void) 0)
#define DBL_INJECT(point)			((void) 0)
#define DBL_INJECT_NO_MEMORY()		false

#endif

#endif							/* DBL_INJECT_H */
