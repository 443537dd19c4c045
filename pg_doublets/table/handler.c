/*-------------------------------------------------------------------------
 *
 * handler.c
 *	  The table access method "doublets": its table of callbacks, and those that
 *	  concern the relation as a whole.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/multixact.h"
#include "access/tableam.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "table/maintain.h"
#include "table/modify.h"
#include "table/scan.h"
#include "table/table.h"

PG_FUNCTION_INFO_V1(doublets_handler);

static const TupleTableSlotOps *
slot_callbacks(Relation rel)
{
	return &TTSOpsDoublets;
}

/*
 * A new file for the relation: at CREATE, TRUNCATE, and whenever it is
 * rewritten. Its store goes if the transaction fails; the old file's store goes if it commits.
 */
static void
relation_set_new_filenode(Relation rel, const RelFileNode *newnode, char persistence,
						  TransactionId *freeze_xid, MultiXactId *min_multi)
{
	bool		local = persistence == RELPERSISTENCE_TEMP;

	dbl_require_preload();
	dbl_check_shape(RelationGetDescr(rel), RelationGetRelationName(rel));

	/* As heap: no version can be older than this. */
	*freeze_xid = RecentXmin;
	*min_multi = GetOldestMultiXactId();

	if (!RelFileNodeEquals(rel->rd_node, *newnode))
		dbl_store_drop_at_commit(rel->rd_node, local);
	dbl_store_drop_at_abort(*newnode, local);
	dbl_storage_create(rel, newnode, persistence, RelationGetNumberOfAttributes(rel));
}

static void
relation_nontransactional_truncate(Relation rel)
{
	dbl_storage_truncate(rel);
}

/* ALTER TABLE ... SET TABLESPACE: the pages move, the store is loaded anew from them. */
static void
relation_copy_data(Relation rel, const RelFileNode *newnode)
{
	bool		local = rel->rd_rel->relpersistence == RELPERSISTENCE_TEMP;

	dbl_store_drop_at_commit(rel->rd_node, local);
	dbl_store_drop_at_abort(*newnode, local);
	dbl_storage_copy(rel, newnode);
}

/* Four bigints are never toasted. */
static bool
relation_needs_toast_table(Relation rel)
{
	return false;
}

const TableAmRoutine dbl_table_methods = {
	.type = T_TableAmRoutine,

	.slot_callbacks = slot_callbacks,

	.scan_begin = dbl_scan_begin,
	.scan_end = dbl_scan_end,
	.scan_rescan = dbl_scan_rescan,
	.scan_getnextslot = dbl_scan_getnextslot,
	.scan_set_tidrange = dbl_scan_set_tidrange,
	.scan_getnextslot_tidrange = dbl_scan_getnextslot_tidrange,

	.parallelscan_estimate = table_block_parallelscan_estimate,
	.parallelscan_initialize = table_block_parallelscan_initialize,
	.parallelscan_reinitialize = table_block_parallelscan_reinitialize,

	.index_fetch_begin = dbl_index_fetch_begin,
	.index_fetch_reset = dbl_index_fetch_reset,
	.index_fetch_end = dbl_index_fetch_end,
	.index_fetch_tuple = dbl_index_fetch_tuple,

	.tuple_fetch_row_version = dbl_fetch_row_version,
	.tuple_tid_valid = dbl_tid_valid,
	.tuple_get_latest_tid = dbl_get_latest_tid,
	.tuple_satisfies_snapshot = dbl_satisfies_snapshot,
	.index_delete_tuples = dbl_index_delete_tuples,

	.tuple_insert = dbl_tuple_insert,
	.tuple_insert_speculative = dbl_tuple_insert_speculative,
	.tuple_complete_speculative = dbl_tuple_complete_speculative,
	.multi_insert = dbl_multi_insert,
	.tuple_delete = dbl_tuple_delete,
	.tuple_update = dbl_tuple_update,
	.tuple_lock = dbl_tuple_lock,

	.relation_set_new_filenode = relation_set_new_filenode,
	.relation_nontransactional_truncate = relation_nontransactional_truncate,
	.relation_copy_data = relation_copy_data,
	.relation_copy_for_cluster = dbl_relation_copy_for_cluster,
	.relation_vacuum = dbl_relation_vacuum,
	.scan_analyze_next_block = dbl_scan_analyze_next_block,
	.scan_analyze_next_tuple = dbl_scan_analyze_next_tuple,
	.index_build_range_scan = dbl_index_build_range_scan,
	.index_validate_scan = dbl_index_validate_scan,

	.relation_size = table_block_relation_size,
	.relation_needs_toast_table = relation_needs_toast_table,
	.relation_estimate_size = dbl_relation_estimate_size,

	.scan_bitmap_next_block = dbl_scan_bitmap_next_block,
	.scan_bitmap_next_tuple = dbl_scan_bitmap_next_tuple,
	.scan_sample_next_block = dbl_scan_sample_next_block,
	.scan_sample_next_tuple = dbl_scan_sample_next_tuple,
};

Datum
doublets_handler(PG_FUNCTION_ARGS)
{
	dbl_require_preload();
	PG_RETURN_POINTER(&dbl_table_methods);
}
