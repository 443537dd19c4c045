/*-------------------------------------------------------------------------
 *
 * columns.c
 *	  Which columns of a links relation matter to a change of a row: those that
 *	  are indexed, keys that foreign keys may refer to, and the replica identity.
 *
 * The answers come from the relation cache, which may have to read catalogs: ask
 * before the store lock is taken.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/sysattr.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "index/index.h"
#include "table/modify.h"

#define ALL_COLUMNS		((1 << DBL_NCOLUMNS) - 1)

/* A set of attributes as bits: bit i for column i. */
static uint32
attribute_bits(Relation rel, IndexAttrBitmapKind kind)
{
	Bitmapset  *attrs = RelationGetIndexAttrBitmap(rel, kind);
	uint32		cols = 0;

	for (int i = 0; i < RelationGetNumberOfAttributes(rel); i++)
		if (bms_is_member(i + 1 - FirstLowInvalidHeapAttributeNumber, attrs))
			cols |= 1 << i;
	bms_free(attrs);
	return cols;
}

/* What the indexes ask of an update; see DblColumns. */
static void
look_at_indexes(Relation rel, List *indexes, DblColumns *columns)
{
	ListCell   *lc;

	columns->passive = true;
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		Form_pg_index form = index->rd_index;

		if (index->rd_indam->aminsert != dbl_aminsert)
		{
			columns->passive = false;
			if (form->indisunique && !form->indimmediate)
				columns->real_deferrable = true;
		}
		else if (form->indisunique)
		{
			DblKeyKind	kind = dbl_index_kind(index);
			int			col[2];
			int			n = dbl_key_columns(kind, col);

			for (int i = 0; i < n; i++)
				columns->unique |= 1 << col[i];
			columns->announced |= DBL_F_ANNOUNCED(kind);
			if (!form->indimmediate || !form->indisvalid)
				columns->passive = false;
		}
		index_close(index, AccessShareLock);
	}
}

/*
 * The columns that matter, from the relation's cache entry: any invalidation of it, as by a change of its indexes, has
 * them found anew.
 */
DblColumns
dbl_columns(Relation rel)
{
	DblColumns	columns;

	if (rel->rd_amcache != NULL)
		return *(const DblColumns *) rel->rd_amcache;

	for (;;)
	{
		List	   *indexes = RelationGetIndexList(rel);
		List	   *now;
		bool		same;

		memset(&columns, 0, sizeof(columns));
		columns.referenced = attribute_bits(rel, INDEX_ATTR_BITMAP_KEY);
		columns.indexed = attribute_bits(rel, INDEX_ATTR_BITMAP_ALL);
		columns.identity = attribute_bits(rel, INDEX_ATTR_BITMAP_IDENTITY_KEY);
		look_at_indexes(rel, indexes, &columns);

		/* opening them may have let in news about the table */
		now = RelationGetIndexList(rel);
		same = equal(indexes, now);
		list_free(indexes);
		list_free(now);
		if (same)
			break;
	}
	rel->rd_amcache = MemoryContextAlloc(CacheMemoryContext, sizeof(columns));
	memcpy(rel->rd_amcache, &columns, sizeof(columns));
	return columns;
}

/*
 * What of an old version logical decoding needs (ExtractReplicaIdentity() of heap).
 */
DblIdentity
dbl_replica_identity(Relation rel, const DblColumns *columns)
{
	DblIdentity identity = {0, false};

	if (!RelationIsLogicallyLogged(rel) ||
		rel->rd_rel->relreplident == REPLICA_IDENTITY_NOTHING)
		return identity;
	if (rel->rd_rel->relreplident == REPLICA_IDENTITY_FULL)
	{
		identity.columns = ALL_COLUMNS;
		identity.always = true;
	}
	else
		identity.columns = columns->identity;
	return identity;
}

/* Does one of these columns have another value? */
bool
dbl_columns_differ(const DblVersion *a, const DblVersion *b, uint32 cols)
{
	for (int i = 0; i < DBL_NCOLUMNS; i++)
		if ((cols & (1 << i)) &&
			(a->key[i] != b->key[i] || DblVersionIsNull(a, i) != DblVersionIsNull(b, i)))
			return true;
	return false;
}
