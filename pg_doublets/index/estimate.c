/*-------------------------------------------------------------------------
 *
 * estimate.c
 *	  Row estimates from the store.
 *
 * The planner estimates the rows of a table from its statistics, which may be
 * old or missing.  Where a table has native indexes and the values in its
 * conditions are known, its store has the number; the estimate of the table
 * is replaced before joins are planned.  Not under row-level security: EXPLAIN would tell
 * exactly how many rows there are that the user must not see.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "index/index.h"

static set_rel_pathlist_hook_type prev_set_rel_pathlist_hook = NULL;

/* What the conditions say about the columns. */
typedef struct Conditions
{
	DblIntervals iv[DBL_NCOLUMNS];
	List	   *clauses[DBL_NCOLUMNS];	/* the RestrictInfos behind iv */
	List	   *others;			/* those that the store can't answer */
} Conditions;

/* Column of the relation that an expression is; -1 if none. */
static int
column_of(Node *node, Index rti)
{
	Var		   *var;

	if (node && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	if (node == NULL || !IsA(node, Var))
		return -1;
	var = (Var *) node;
	if (var->varno != rti || var->varlevelsup != 0 || var->varattno < 1 ||
		var->varattno > DBL_NCOLUMNS)
		return -1;
	return var->varattno - 1;
}

/* Which column the condition is about, after its set was narrowed; -1 if it can't be told. */
static int
digest(PlannerInfo *root, Index rti, Expr *clause, Conditions *c)
{
	int			col;

	if (IsA(clause, NullTest))
	{
		col = column_of((Node *) ((NullTest *) clause)->arg, rti);
		if (col >= 0)
			dbl_intervals_null(&c->iv[col], ((NullTest *) clause)->nulltesttype == IS_NULL);
		return col;
	}
	if (IsA(clause, OpExpr) && list_length(((OpExpr *) clause)->args) == 2)
	{
		Oid			opno = ((OpExpr *) clause)->opno;
		Node	   *other = get_rightop(clause);

		col = column_of(get_leftop(clause), rti);
		if (col < 0)
		{
			col = column_of(get_rightop(clause), rti);
			other = get_leftop(clause);
			opno = get_commutator(opno);
		}
		if (col >= 0 && OidIsValid(opno) &&
			dbl_apply_operator(root, opno, other, false, &c->iv[col]))
			return col;
	}
	else if (IsA(clause, ScalarArrayOpExpr) && ((ScalarArrayOpExpr *) clause)->useOr)
	{
		ScalarArrayOpExpr *any = (ScalarArrayOpExpr *) clause;

		col = column_of(linitial(any->args), rti);
		if (col >= 0 && dbl_apply_operator(root, any->opno, lsecond(any->args), true, &c->iv[col]))
			return col;
	}
	return -1;
}

/*
 * Share of the versions that the best answerable conditions select; *used are the columns whose conditions it
 * accounts for.  -1: not known.
 */
static double
selected(Relation rel, const Conditions *c, uint32 *used)
{
	static const DblAccess access[DBL_NCOLUMNS] = {DBL_BY_ID, DBL_BY_SOURCE, DBL_BY_TARGET, DBL_BY_TYPE};
	DblTable   *t = dbl_table_open(rel);
	double		best = -1;
	double		total;
	int			natts = RelationGetNumberOfAttributes(rel);

	dbl_table_lock(rel, t, LW_SHARED);
	total = t->store.shared->nused;
	for (int col = 0; col < natts && total > 0; col++)
	{
		double		n;

		if (c->clauses[col] == NIL)
			continue;
		n = dbl_count_versions(&t->store, access[col], &c->iv[col], NULL);
		if (n >= 0 && (best < 0 || n < best))
		{
			best = n;
			*used = 1 << col;
		}
	}

	/* both ends: the pair's number is exact where one end is a list of values */
	if (total > 0 && c->clauses[DBL_SOURCE] != NIL && c->clauses[DBL_TARGET] != NIL)
	{
		double		n = -1;

		if (dbl_intervals_points(&c->iv[DBL_SOURCE]))
			n = dbl_count_versions(&t->store, DBL_BY_SOURCE, &c->iv[DBL_SOURCE], &c->iv[DBL_TARGET]);
		else if (dbl_intervals_points(&c->iv[DBL_TARGET]))
			n = dbl_count_versions(&t->store, DBL_BY_TARGET, &c->iv[DBL_TARGET], &c->iv[DBL_SOURCE]);
		if (n >= 0 && (best < 0 || n <= best))
		{
			best = n;
			*used = 1 << DBL_SOURCE | 1 << DBL_TARGET;
		}
	}
	dbl_table_unlock(t);
	return best < 0 ? -1 : Min(best / total, 1.0);
}

static void
scale_paths(List *paths, double factor)
{
	ListCell   *lc;

	foreach(lc, paths)
	{
		Path	   *path = (Path *) lfirst(lc);

		if (path->param_info == NULL)
			path->rows = clamp_row_est(path->rows * factor);
	}
}

static bool
has_native_index(RelOptInfo *rel)
{
	Oid			am;
	ListCell   *lc;

	if (rel->indexlist == NIL)
		return false;
	am = dbl_index_am_oid();
	foreach(lc, rel->indexlist)
		if (lfirst_node(IndexOptInfo, lc)->relam == am)
			return true;
	return false;
}

static void
rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	Conditions	c;
	Relation	table;
	double		share = -1;
	double		rows;
	uint32		used = 0;
	ListCell   *lc;

	if (prev_set_rel_pathlist_hook)
		prev_set_rel_pathlist_hook(root, rel, rti, rte);

	if (rte->rtekind == RTE_RELATION && !rte->inh && !IS_DUMMY_REL(rel) && rel->indexlist != NIL)
		dbl_add_row_comparison_paths(root, rel);

	if (rel->reloptkind != RELOPT_BASEREL || rte->rtekind != RTE_RELATION || rte->inh ||
		rte->securityQuals != NIL || rte->tablesample != NULL || rel->baserestrictinfo == NIL || rel->rows <= 1 ||
		IS_DUMMY_REL(rel) || !has_native_index(rel))
		return;

	memset(&c, 0, sizeof(c));
	for (int i = 0; i < DBL_NCOLUMNS; i++)
		dbl_intervals_all(&c.iv[i]);
	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		int			col = rinfo->pseudoconstant ? -1 : digest(root, rti, rinfo->clause, &c);

		if (col >= 0)
			c.clauses[col] = lappend(c.clauses[col], rinfo);
		else
			c.others = lappend(c.others, rinfo);
	}

	table = table_open(rte->relid, NoLock);
	if (RelationIsDoublets(table) && !RELATION_IS_OTHER_TEMP(table))
		share = selected(table, &c, &used);
	table_close(table, NoLock);
	if (share < 0)
		return;

	for (int i = 0; i < DBL_NCOLUMNS; i++)
		if (!(used & 1 << i))
			c.others = list_concat(c.others, c.clauses[i]);
	rows = clamp_row_est(rel->tuples * share *
						 clauselist_selectivity(root, c.others, 0, JOIN_INNER, NULL));
	scale_paths(rel->pathlist, rows / rel->rows);
	scale_paths(rel->partial_pathlist, rows / rel->rows);
	rel->rows = rows;
}

void
dbl_estimate_init(void)
{
	prev_set_rel_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = rel_pathlist;
}
