/*-------------------------------------------------------------------------
 *
 * adopt.c
 *	  Adoption: which statements make native indexes.
 *
 * CREATE INDEX ... USING btree or hash, PRIMARY KEY and UNIQUE on a doublets
 * table make native indexes where the store has the order that they need.  Other
 * indexes stay what they are asked to be.
 *
 * Parse trees that come in may be cached by the caller: they are copied before
 * they are changed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "utils/lsyscache.h"

#include "ddl/ddl.h"
#include "index/index.h"

static bool
same_name(const char *a, const char *b)
{
	return a != NULL && strcmp(a, b) == 0;
}

/* Do these columns of the table, by name, make a key that the store serves? */
static bool
columns_are_key(Oid relid, List *names)
{
	AttrNumber	attnums[2];
	DblKeyKind	kind;
	int			n = 0;
	ListCell   *lc;

	if (list_length(names) < 1 || list_length(names) > 2)
		return false;
	foreach(lc, names)
		attnums[n++] = get_attnum(relid, strVal(lfirst(lc)));
	return dbl_key_kind(attnums, n, &kind);
}

/* An operator class that we may replace by ours: int8_ops of the system. */
static bool
is_int8_ops(List *opclass)
{
	if (opclass == NIL)
		return true;
	if (list_length(opclass) > 2 || !same_name(strVal(llast(opclass)), "int8_ops"))
		return false;
	return list_length(opclass) == 1 || same_name(strVal(linitial(opclass)), "pg_catalog");
}

static bool
index_can_be_native(IndexStmt *stmt, Oid relid)
{
	bool		hash = same_name(stmt->accessMethod, "hash");
	List	   *names = NIL;
	int			order = -1;
	ListCell   *lc;

	if (!hash && !same_name(stmt->accessMethod, "btree"))
		return false;
	if (stmt->whereClause || stmt->indexIncludingParams || stmt->excludeOpNames)
		return false;

	/* what hash can't do is hash's to refuse */
	if (hash && (stmt->unique || list_length(stmt->indexParams) != 1))
		return false;

	foreach(lc, stmt->indexParams)
	{
		IndexElem  *elem = lfirst_node(IndexElem, lc);
		bool		desc = elem->ordering == SORTBY_DESC;
		bool		nulls_first = elem->nulls_ordering == SORTBY_NULLS_DEFAULT ? desc :
			elem->nulls_ordering == SORTBY_NULLS_FIRST;

		if (elem->name == NULL || elem->expr || elem->collation || elem->opclassopts ||
			!is_int8_ops(elem->opclass))
			return false;
		if (hash && (elem->ordering != SORTBY_DEFAULT || elem->nulls_ordering != SORTBY_NULLS_DEFAULT))
			return false;
		if (desc != nulls_first || (order >= 0 && order != desc))
			return false;
		order = desc;
		names = lappend(names, makeString(elem->name));
	}
	return columns_are_key(relid, names);
}

static bool
has_exotic_options(List *options)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, "fillfactor") != 0 && strcmp(def->defname, "deduplicate_items") != 0)
			return true;
	}
	return false;
}

/*
 * Must an index of this relation be real?  ALTER INDEX ... ATTACH PARTITION, which pg_dump relies on, wants the
 * parent's method, and ON CONFLICT through a partitioned table wants btrees (upsert.c sees only the root).  REFRESH
 * MATERIALIZED VIEW CONCURRENTLY looks for a unique btree.
 */
bool
dbl_index_must_be_real(Oid relid, bool unique)
{
	return get_rel_relispartition(relid) ||
		(unique && get_rel_relkind(relid) == RELKIND_MATVIEW);
}

/*
 * CREATE INDEX, or the part of CREATE TABLE that makes an index.  Returns the statement to run.
 */
PlannedStmt *
dbl_adopt_index_stmt(PlannedStmt *pstmt, ProcessUtilityContext context)
{
	IndexStmt  *stmt = (IndexStmt *) pstmt->utilityStmt;
	Oid			relid;
	bool		ours;

	if (stmt->relation == NULL)
		return pstmt;
	relid = RangeVarGetRelid(stmt->relation, NoLock, true);
	if (!OidIsValid(relid))
		return pstmt;
	ours = dbl_relid_is_doublets(relid);

	if (ours && dbl_adopt_indexes && index_can_be_native(stmt, relid) &&
		!has_exotic_options(stmt->options) &&
		!dbl_index_must_be_real(relid, stmt->unique))
	{
		ListCell   *lc;

		pstmt = copyObject(pstmt);
		stmt = (IndexStmt *) pstmt->utilityStmt;
		stmt->accessMethod = pstrdup("doublets_tree");
		foreach(lc, stmt->indexParams)
			lfirst_node(IndexElem, lc)->opclass = NIL;
	}
	else if (same_name(stmt->accessMethod, "doublets_tree") &&
			 ((!ours && context == PROCESS_UTILITY_SUBCOMMAND) || (ours && dbl_index_must_be_real(relid, stmt->unique))))
	{
		/* such as CREATE TABLE (LIKE links INCLUDING INDEXES), made as another kind of table */
		pstmt = copyObject(pstmt);
		((IndexStmt *) pstmt->utilityStmt)->accessMethod = pstrdup("btree");
	}
	return pstmt;
}

/* PRIMARY KEY and UNIQUE that are to make an index of their own. */
static bool
makes_index(Constraint *con)
{
	return (con->contype == CONSTR_PRIMARY || con->contype == CONSTR_UNIQUE) &&
		con->indexname == NULL && con->access_method == NULL && con->including == NIL &&
		!has_exotic_options(con->options);
}

void
dbl_adopt_constraint(Oid relid, Constraint *con)
{
	if (makes_index(con) && columns_are_key(relid, con->keys) && !dbl_index_must_be_real(relid, true))
		con->access_method = pstrdup("doublets_tree");
}
