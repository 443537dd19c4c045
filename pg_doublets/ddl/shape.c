/*-------------------------------------------------------------------------
 *
 * shape.c
 *	  What a links relation must look like.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#include "ddl/ddl.h"
#include "table/table.h"

#define SHAPE_HINT \
	errhint("A links table has three or four columns of type bigint, in this order: " \
			"id, source, target and, optionally, type.")

void
dbl_check_shape(TupleDesc desc, const char *relname)
{
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (att->attisdropped)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("access method \"doublets\" does not support the columns of table \"%s\"", relname),
					 errdetail("A column of the table has been dropped; it still takes a place."),
					 errhint("Copy the rows into a new table that never had the column.")));
	}
	if (desc->natts < 3 || desc->natts > DBL_NCOLUMNS)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("access method \"doublets\" does not support the columns of table \"%s\"", relname),
				 errdetail_plural("The table has %d column.", "The table has %d columns.",
								  desc->natts, desc->natts),
				 SHAPE_HINT));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (att->atttypid != INT8OID)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("access method \"doublets\" does not support the columns of table \"%s\"", relname),
					 errdetail("Column \"%s\" has type %s.",
							   NameStr(att->attname), format_type_be(att->atttypid)),
					 SHAPE_HINT));
		if (att->attgenerated)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("access method \"doublets\" does not support the columns of table \"%s\"", relname),
					 errdetail("Column \"%s\" is generated.", NameStr(att->attname)),
					 SHAPE_HINT));
	}
}

Oid
dbl_table_am_oid(void)
{
	return get_am_oid("doublets", true);
}

bool
dbl_relid_is_doublets(Oid relid)
{
	HeapTuple	tuple;
	Oid			relam;

	if (!OidIsValid(relid))
		return false;
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	if (!HeapTupleIsValid(tuple))
		return false;
	relam = ((Form_pg_class) GETSTRUCT(tuple))->relam;
	ReleaseSysCache(tuple);
	return OidIsValid(relam) && relam == dbl_table_am_oid();
}
