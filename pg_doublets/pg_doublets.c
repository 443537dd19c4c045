/*-------------------------------------------------------------------------
 *
 * pg_doublets.c
 *	  Entry of the library: each layer registers its settings and hooks.
 *
 * Layers, each using only those below:  index, table, ddl, inspect; durable and
 * mvcc; shared; store.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/guc.h"

#include "compat.h"
#include "ddl/ddl.h"
#include "durable/write.h"
#include "shared/registry.h"
#include "table/preload.h"
#include "table/prune.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

void
_PG_init(void)
{
	/*
	 * Shared memory and WAL records need the library from the start.  Loaded later, by CREATE EXTENSION
	 * or the first access, every entry point raises the error that says so:
	 * dbl_require_preload().
	 */
	if (!process_shared_preload_libraries_in_progress)
		return;

	dbl_shared_init();
	dbl_wal_init();
	dbl_load_init();
	dbl_ddl_init();
	dbl_preload_init();
	dbl_prune_init();
	MarkGUCPrefixReserved("pg_doublets");
}
