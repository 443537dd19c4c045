/*-------------------------------------------------------------------------
 *
 * table.h
 *	  The table access method "doublets": what its files and its callers share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_TABLE_H
#define DBL_TABLE_H

#include "postgres.h"

#include "access/relscan.h"
#include "access/tableam.h"
#include "executor/tuptable.h"

#include "durable/write.h"
#include "mvcc/mvcc.h"
#include "shared/registry.h"

extern const TableAmRoutine dbl_table_methods;
extern const TupleTableSlotOps TTSOpsDoublets;

/* A slot that holds a version: values, and what its system columns need. */
typedef struct DblTupleTableSlot
{
	TupleTableSlot base;
	DblVersion	version;		/* a copy; left/right mean nothing */
} DblTupleTableSlot;

#define RelationIsDoublets(rel)  ((rel)->rd_tableam == &dbl_table_methods)

/* Put a version into a slot of TTSOpsDoublets; tid and tableOid are set too. */
extern void dbl_slot_store(TupleTableSlot *slot, Relation rel, const DblVersion *v, DblSlot where);

/*
 * An index scan's side of the table.  An index scan over doublets_tree checks visibility itself, under
 * one lock for a batch, and leaves here the version that it is about to return
 * so that index_fetch_tuple need not lock again.
 */
typedef struct DblIndexFetch
{
	IndexFetchTableData base;
	DblTable   *table;
	bool		has_version;	/* `version` is what slot `where` holds, and the
								 * scan's snapshot sees it */
	DblSlot		where;
	DblVersion	version;
} DblIndexFetch;

/* Shape of a links relation: three or four int8 columns.  Raises 0A000 with a hint otherwise. */
extern void dbl_check_shape(TupleDesc desc, const char *relname);

#endif							/* DBL_TABLE_H */
