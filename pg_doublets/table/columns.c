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

#include "access/sysattr.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "utils/rel.h"
#include "utils/relcache.h"

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

/*
 * Columns that a foreign key may refer to.  An update that leaves them alone needs not exclude FOR KEY SHARE.
 */
uint32
dbl_referenced_columns(Relation rel)
{
	return attribute_bits(rel, INDEX_ATTR_BITMAP_KEY);
}

/* Columns that are in any index.  An update that leaves them alone is what heap calls HOT. */
uint32
dbl_indexed_columns(Relation rel)
{
	return attribute_bits(rel, INDEX_ATTR_BITMAP_ALL);
}

/*
 * What of an old version logical decoding needs (ExtractReplicaIdentity() of heap).
 */
DblIdentity
dbl_replica_identity(Relation rel)
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
		identity.columns = attribute_bits(rel, INDEX_ATTR_BITMAP_IDENTITY_KEY);
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
