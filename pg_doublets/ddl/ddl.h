/*-------------------------------------------------------------------------
 *
 * ddl.h
 *	  What the catalogs and the executor must be told about doublets tables.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_DDL_H
#define DBL_DDL_H

#include "postgres.h"

#include "utils/relcache.h"

/* Setting pg_doublets.adopt_indexes: make new btree and hash indexes native where they can be. */
extern bool dbl_adopt_indexes;

/* From _PG_init while preloading: settings and hooks of ddl/, and dbl_index_init(). */
extern void dbl_ddl_init(void);

/* Each installs its hooks behind those that are there. */
extern void dbl_utility_init(void);
extern void dbl_access_init(void);
extern void dbl_index_am_init(void);
extern void dbl_upsert_init(void);

/* Oid of the table access method in this database, or InvalidOid. */
extern Oid	dbl_table_am_oid(void);

/* By the catalog, without opening it: does this relation store links? */
extern bool dbl_relid_is_doublets(Oid relid);

/*
 * Change the access method of an index in pg_class, and make its operator
 * classes btree's.  The caller holds AccessExclusiveLock on the index and sees to its being rebuilt.
 */
extern void dbl_index_set_am(Oid indexid, Oid am);

/* Put btree's operator class for bigint in the place of whatever an index has.  The caller has it locked. */
extern void dbl_index_set_opclass(Oid indexid);

/*
 * Before a statement uses indexes: does the relation cache still know them as they are?  After the
 * failure of a subtransaction it may not.
 */
extern void dbl_index_recheck(void);

#endif							/* DBL_DDL_H */
