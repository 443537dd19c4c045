/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  Every difference between the major versions of PostgreSQL that concerns
 *	  us, and nowhere else.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_COMPAT_H
#define DBL_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 160000
#error "pg_doublets needs PostgreSQL 15"
#endif

#endif							/* DBL_COMPAT_H */
