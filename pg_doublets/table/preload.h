/*-------------------------------------------------------------------------
 *
 * preload.h
 *	  Loading tables when the server starts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_PRELOAD_H
#define DBL_PRELOAD_H

/* From _PG_init while preloading: the setting pg_doublets.preload, and the worker if it is set. */
extern void dbl_preload_init(void);

#endif							/* DBL_PRELOAD_H */
