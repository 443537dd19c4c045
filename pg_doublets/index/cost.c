/*-------------------------------------------------------------------------
 *
 * cost.c
 *	  What an index scan costs.
 *
 * Everything is in memory, so a scan pays for descending and for each version
 * that it looks at, and for no page.  How many versions that is the store knows
 * exactly where the conditions are known when the query is planned; elsewhere the
 * table's statistics have to do.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"

#include "index/index.h"

/* Values of the directory, and combinations of conditions, that are counted one by one. */
#define NODES_MAX			256
#define COMBINATIONS_MAX	500

/* What the memory of an entry costs, in units of cpu_index_tuple_cost. */
#define MISSES_AN_ENTRY		4

/* Versions that stand for one page, where the planner wants to know how large an index is. */
#define VERSIONS_A_PAGE		300

/* The known value of an expression, or NULL. */
static Const *
known_value(PlannerInfo *root, Node *node)
{
	if (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	node = estimate_expression_value(root, node);
	return IsA(node, Const) ? (Const *) node : NULL;
}

/* The type of a constant in a condition on a bigint column is one that dbl_key_value() knows. */
static bool
is_integer(Oid type)
{
	return type == INT8OID || type == INT4OID || type == INT2OID;
}

bool
dbl_apply_operator(PlannerInfo *root, Oid opno, Node *other, bool array, DblIntervals *iv)
{
	int			strategy = get_op_opfamily_strategy(opno, INTEGER_BTREE_FAM_OID);
	Const	   *value;
	Oid			elemtype;

	if (strategy == 0)
		return false;
	value = known_value(root, other);
	if (value == NULL)
		return false;
	if (value->constisnull)
	{
		dbl_intervals_none(iv);
		return true;
	}
	if (!array)
	{
		if (!is_integer(value->consttype))
			return false;
		dbl_intervals_compare(iv, strategy, dbl_key_value(value->constvalue, value->consttype));
		return true;
	}
	elemtype = get_element_type(value->consttype);
	if (!is_integer(elemtype))
		return false;
	dbl_intervals_any(iv, strategy, value->constvalue, elemtype);
	return true;
}

/* Narrow a set by an index condition; false if it can't be known yet. */
static bool
apply_condition(PlannerInfo *root, Expr *clause, DblIntervals *iv)
{
	if (IsA(clause, NullTest))
	{
		dbl_intervals_null(iv, ((NullTest *) clause)->nulltesttype == IS_NULL);
		return true;
	}
	if (IsA(clause, OpExpr))
		return dbl_apply_operator(root, ((OpExpr *) clause)->opno, get_rightop(clause), false, iv);
	if (IsA(clause, ScalarArrayOpExpr))
		return dbl_apply_operator(root, ((ScalarArrayOpExpr *) clause)->opno,
								  (Node *) lsecond(((ScalarArrayOpExpr *) clause)->args), true, iv);
	return false;
}

/* The conditions as sets of values; false if they aren't all known. */
static bool
known_conditions(PlannerInfo *root, IndexPath *path, DblIntervals *iv)
{
	ListCell   *lc;
	ListCell   *lc2;

	dbl_intervals_all(&iv[0]);
	dbl_intervals_all(&iv[1]);
	foreach(lc, path->indexclauses)
	{
		IndexClause *iclause = lfirst_node(IndexClause, lc);

		foreach(lc2, iclause->indexquals)
		{
			RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc2);

			if (iclause->indexcol > 1 ||
				!apply_condition(root, rinfo->clause, &iv[iclause->indexcol]))
				return false;
		}
	}
	return true;
}

double
dbl_count_versions(DblStore *store, DblAccess access, const DblIntervals *first,
				   const DblIntervals *second)
{
	int			n1 = dbl_intervals_nranges(first);
	int			n2 = second ? dbl_intervals_nranges(second) : 1;
	double		n = 0;
	double		all = (double) n1 * n2;
	int			counted = 0;

	for (int i = 0; i < n1; i++)
	{
		DblRange	r1 = dbl_intervals_range(first, i);

		for (int k = 0; k < n2; k++)
		{
			DblRange	r2;
			bool		exact;

			/* a long list: the rest is like its beginning */
			if (counted >= COMBINATIONS_MAX)
				return n * all / counted;
			if (second)
				r2 = dbl_intervals_range(second, k);
			n += dbl_count(store, access, &r1, second ? &r2 : NULL, NODES_MAX, &exact);
			if (!exact)
				return -1;
			counted++;
		}
	}
	return n;
}

/* Versions that a scan with these conditions reads; -1 when that isn't known. */
static double
versions_read(PlannerInfo *root, IndexPath *path, double *total)
{
	RangeTblEntry *rte = planner_rt_fetch(path->indexinfo->rel->relid, root);
	DblIntervals iv[2];
	DblKeyKind	kind;
	AttrNumber	attnums[2];
	Relation	rel;
	DblTable   *t;
	double		n = -1;

	/* an exact number would tell of rows that row-level security hides */
	if (rte->rtekind != RTE_RELATION || rte->securityQuals != NIL ||
		path->indexinfo->ncolumns > 2)
		return -1;
	for (int i = 0; i < path->indexinfo->ncolumns; i++)
		attnums[i] = path->indexinfo->indexkeys[i];
	if (!dbl_key_kind(attnums, path->indexinfo->ncolumns, &kind))
		return -1;
	if (!known_conditions(root, path, iv))
		return -1;

	rel = table_open(rte->relid, NoLock);
	if (RelationIsDoublets(rel) && !RELATION_IS_OTHER_TEMP(rel))
	{
		t = dbl_table_open(rel);
		dbl_table_lock(rel, t, LW_SHARED);
		*total = t->store.shared->nused;
		if (dbl_intervals_empty(&iv[0]) || dbl_intervals_empty(&iv[1]))
			n = 0;
		else if (kind == DBL_KEY_TYPE_ID)
		{
			double		by_id = dbl_count_versions(&t->store, DBL_BY_ID, &iv[1], NULL);

			n = dbl_count_versions(&t->store, DBL_BY_TYPE, &iv[0], NULL);
			if (n < 0 || (by_id >= 0 && by_id < n))
				n = by_id;
		}
		else
			n = dbl_count_versions(&t->store, dbl_key_access(kind), &iv[0],
							   path->indexinfo->ncolumns == 2 && !dbl_intervals_is_all(&iv[1]) ?
							   &iv[1] : NULL);
		dbl_table_unlock(t);
	}
	table_close(rel, NoLock);
	return n;
}

/*
 * Versions that a scan passes on its way.  An index is ordered by its first column, so a condition on the second
 * alone, or beside a range of the first, has the scan look at every value of the first that is in the range; at most as
 * many as there are versions with those.  (type, id) is no such index: it is read by whichever column has fewer.
 */
static double
versions_passed(PlannerInfo *root, IndexPath *path, double tuples)
{
	IndexOptInfo *index = path->indexinfo;
	List	   *first = NIL;
	bool		second = false;
	ListCell   *lc;
	ListCell   *lc2;

	if (index->ncolumns != 2 || index->indexkeys[0] == DBL_TYPE + 1)
		return tuples;
	foreach(lc, path->indexclauses)
	{
		IndexClause *iclause = lfirst_node(IndexClause, lc);

		if (iclause->indexcol != 0)
		{
			second = true;
			continue;
		}
		foreach(lc2, iclause->indexquals)
		{
			RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc2);
			Expr	   *clause = rinfo->clause;
			Oid			opno = InvalidOid;

			if (IsA(clause, NullTest) && ((NullTest *) clause)->nulltesttype == IS_NULL)
				return tuples;
			if (IsA(clause, OpExpr))
				opno = ((OpExpr *) clause)->opno;
			else if (IsA(clause, ScalarArrayOpExpr))
				opno = ((ScalarArrayOpExpr *) clause)->opno;
			if (OidIsValid(opno) &&
				get_op_opfamily_strategy(opno, INTEGER_BTREE_FAM_OID) == BTEqualStrategyNumber)
				return tuples;
			first = lappend(first, rinfo);
		}
	}
	if (!second)
		return tuples;
	return Max(tuples, index->tuples *
			   clauselist_selectivity(root, first, index->rel->relid, JOIN_INNER, NULL));
}

void
dbl_amcostestimate(struct PlannerInfo *root, struct IndexPath *path, double loop_count,
				   Cost *startup, Cost *total, Selectivity *selectivity,
				   double *correlation, double *pages)
{
	GenericCosts costs;
	double		versions = 0;
	double		read;
	double		tuples;
	double		passed;
	double		descents;

	memset(&costs, 0, sizeof(costs));
	genericcostestimate(root, path, loop_count, &costs);

	read = versions_read(root, path, &versions);
	if (read >= 0 && versions > 0)
	{
		costs.indexSelectivity = Min(read / versions, 1.0);
		tuples = Min(rint(costs.indexSelectivity * path->indexinfo->tuples), read);
	}
	else
		tuples = costs.numIndexTuples;
	tuples = clamp_row_est(tuples);
	passed = versions_passed(root, path, tuples);

	/*
	 * A descent touches some nodes.  The conditions are not evaluated again for each entry, as they are
	 * ranges; but neighbours in a tree are no neighbours in memory, so each entry costs a
	 * cache miss or two, where a sequential scan has none.
	 */
	descents = Max(costs.num_sa_scans, 1.0);
	*startup = 10.0 * cpu_operator_cost;
	*total = *startup + descents * 10.0 * cpu_operator_cost + passed * (1 + MISSES_AN_ENTRY) * cpu_index_tuple_cost;

	/* (type, id) in order may have to be sorted */
	if (path->indexinfo->ncolumns == 2 && path->indexinfo->indexkeys[0] == DBL_TYPE + 1)
	{
		Cost		sort = tuples * cpu_operator_cost * log2(Max(tuples, 2.0));

		*startup += sort;
		*total += sort;
	}

	*selectivity = costs.indexSelectivity;

	/*
	 * No version is farther away than another, which the planner knows as perfect correlation: it
	 * then charges the table's part of the scan by the pages' worth of it.
	 */
	*correlation = 1.0;
	*pages = ceil(tuples / VERSIONS_A_PAGE);
}
