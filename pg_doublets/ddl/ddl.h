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

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "tcop/utility.h"
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

/* Must an index of this relation be real? */
extern bool dbl_index_must_be_real(Oid relid, bool unique);

/* CREATE INDEX: the statement to run, a copy if it is changed. */
extern PlannedStmt *dbl_adopt_index_stmt(PlannedStmt *pstmt, ProcessUtilityContext context);

/* PRIMARY KEY or UNIQUE of an ALTER TABLE, whose parse tree may be changed. */
extern void dbl_adopt_constraint(Oid relid, Constraint *con);

/*
 * Before an ALTER TABLE: the statement to run, a copy if it is changed.  Locks the table as the statement is going to, and raises what it
 * raises for want of rights.  *promoted is an index that is native again afterwards.
 */
extern PlannedStmt *dbl_before_alter_table(PlannedStmt *pstmt, Oid *promoted);

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
