/*-------------------------------------------------------------------------
 *
 * rowcompare.c
 *	  Row comparisons as index conditions.
 *
 * The planner matches (a, b) > (1, 2) to btree indexes only.  For an index of ours it is
 * offered what follows from that: a >= 1.  The row comparison stays as a filter.  So
 * keyset pagination starts where it should, in the index's order.
 *
 * What follows is known to the index alone, not to the relation, whose row estimate
 * thus doesn't count the condition twice.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_opfamily.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"

#include "index/index.h"

/* "a >= x" of "(a, ...) > (x, ...)", and so on, where a is the first column of the index; NULL if not. */
static RestrictInfo *
first_columns(PlannerInfo *root, RestrictInfo *rinfo, IndexOptInfo *index)
{
	RowCompareExpr *row = (RowCompareExpr *) rinfo->clause;
	Node	   *left = linitial(row->largs);
	Node	   *right = linitial(row->rargs);
	Oid			opno = linitial_oid(row->opnos);
	StrategyNumber strategy;

	if (match_index_to_operand(right, 0, index))
	{
		Node	   *swap = left;

		left = right;
		right = swap;
		opno = get_commutator(opno);
	}
	if (!OidIsValid(opno) || !match_index_to_operand(left, 0, index) ||
		bms_is_member(index->rel->relid, pull_varnos(root, right)) ||
		contain_volatile_functions(right))
		return NULL;

	strategy = get_op_opfamily_strategy(opno, INTEGER_BTREE_FAM_OID);
	if (strategy == BTLessStrategyNumber || strategy == BTLessEqualStrategyNumber)
		strategy = BTLessEqualStrategyNumber;
	else if (strategy == BTGreaterStrategyNumber || strategy == BTGreaterEqualStrategyNumber)
		strategy = BTGreaterEqualStrategyNumber;
	else
		return NULL;
	opno = get_opfamily_member(INTEGER_BTREE_FAM_OID, exprType(left), exprType(right), strategy);
	if (!OidIsValid(opno))
		return NULL;

	return make_restrictinfo(root,
							 make_opclause(opno, BOOLOID, false, (Expr *) left, (Expr *) right,
										   InvalidOid, InvalidOid),
							 rinfo->is_pushed_down, rinfo->outerjoin_delayed, false,
							 rinfo->security_level, rinfo->required_relids,
							 rinfo->outer_relids, rinfo->nullable_relids);
}

/*
 * Add paths over native indexes for the row comparisons among the relation's conditions.  Called when
 * the relation's other paths have been made and its size was estimated.
 */
void
dbl_add_row_comparison_paths(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *all = rel->indexlist;
	List	   *ours = NIL;
	Oid			am = InvalidOid;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (!IsA(rinfo->clause, RowCompareExpr))
			continue;
		if (!OidIsValid(am))
			am = dbl_index_am_oid();
		foreach(lc2, all)
		{
			IndexOptInfo *index = lfirst_node(IndexOptInfo, lc2);
			RestrictInfo *derived;

			if (index->relam != am || (derived = first_columns(root, rinfo, index)) == NULL)
				continue;
			if (list_member_ptr(ours, index))
				index->indrestrictinfo = lappend(index->indrestrictinfo, derived);
			else
			{
				/* it is the relation's own list so far */
				index->indrestrictinfo = lappend(list_copy(index->indrestrictinfo), derived);
				ours = lappend(ours, index);
			}
		}
	}
	if (ours == NIL)
		return;

	rel->indexlist = ours;
	create_index_paths(root, rel);
	rel->indexlist = all;
}
