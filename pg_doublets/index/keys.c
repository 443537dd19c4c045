/*-------------------------------------------------------------------------
 *
 * keys.c
 *	  Scan keys as sets of values, and their predicate locks.
 *
 * Whatever an index condition says about a bigint column, comparisons, = ANY,
 * IS NULL and several of them together, comes to a set of disjoint closed
 * intervals and perhaps NULL.  That is all the rest of the scan knows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/skey.h"
#include "access/stratnum.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "lib/qunique.h"
#include "storage/predicate.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "index/index.h"

void
dbl_intervals_all(DblIntervals *iv)
{
	iv->null = true;
	iv->n = 1;
	iv->r = iv->few;
	iv->few[0].lo = PG_INT64_MIN;
	iv->few[0].hi = PG_INT64_MAX;
	iv->few[0].with_null = false;
}

void
dbl_intervals_none(DblIntervals *iv)
{
	iv->null = false;
	iv->n = 0;
	iv->r = iv->few;
}

/* Only NULL, or all but NULL, of what was there. */
void
dbl_intervals_null(DblIntervals *iv, bool isnull)
{
	if (isnull)
		iv->n = 0;
	else
		iv->null = false;
}

bool
dbl_intervals_empty(const DblIntervals *iv)
{
	return iv->n == 0 && !iv->null;
}

bool
dbl_intervals_is_all(const DblIntervals *iv)
{
	return iv->null && iv->n == 1 &&
		iv->r[0].lo == PG_INT64_MIN && iv->r[0].hi == PG_INT64_MAX;
}

/* Is it a list of single values (NULL counts as one)? */
bool
dbl_intervals_points(const DblIntervals *iv)
{
	for (int i = 0; i < iv->n; i++)
		if (iv->r[i].lo != iv->r[i].hi)
			return false;
	return true;
}

bool
dbl_intervals_has(const DblIntervals *iv, const DblVersion *v, int col)
{
	int64		value = v->key[col];
	int			lo = 0,
				hi = iv->n;

	if (DblVersionIsNull(v, col))
		return iv->null;
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (value > iv->r[mid].hi)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < iv->n && value >= iv->r[lo].lo;
}

/* The smallest range that covers the set, which must not be empty. */
DblRange
dbl_intervals_envelope(const DblIntervals *iv)
{
	DblRange	r = {1, 0, iv->null};

	if (iv->n > 0)
	{
		r.lo = iv->r[0].lo;
		r.hi = iv->r[iv->n - 1].hi;
	}
	return r;
}

/* NULL is a range of its own, the last, unless it continues the last interval. */
static bool
null_joins(const DblIntervals *iv)
{
	return iv->null && iv->n > 0 && iv->r[iv->n - 1].hi == PG_INT64_MAX;
}

int
dbl_intervals_nranges(const DblIntervals *iv)
{
	return iv->n + (iv->null && !null_joins(iv) ? 1 : 0);
}

DblRange
dbl_intervals_range(const DblIntervals *iv, int i)
{
	DblRange	r = {1, 0, true};

	if (i < iv->n)
	{
		r = iv->r[i];
		r.with_null = i == iv->n - 1 && null_joins(iv);
	}
	return r;
}

/* Keep what is in both.  other: ascending, disjoint. */
static void
intersect(DblIntervals *iv, const DblRange *other, int n)
{
	DblRange	tmp[2];
	DblRange   *out = tmp;
	int			nout = 0,
				i = 0,
				j = 0;

	/* each step of the walk below finishes one interval of either side */
	if (iv->n + n > 2)
		out = palloc(sizeof(DblRange) * (iv->n + n));
	while (i < iv->n && j < n)
	{
		int64		lo = Max(iv->r[i].lo, other[j].lo);
		int64		hi = Min(iv->r[i].hi, other[j].hi);

		if (lo <= hi)
		{
			out[nout].lo = lo;
			out[nout].hi = hi;
			out[nout].with_null = false;
			nout++;
		}
		if (iv->r[i].hi < other[j].hi)
			i++;
		else
			j++;
	}
	iv->n = nout;
	iv->null = false;
	if (nout <= 2)
	{
		memcpy(iv->few, out, sizeof(DblRange) * nout);
		iv->r = iv->few;
	}
	else
		iv->r = out;
}

/* Keep the values v for which "v <strategy> value" holds. */
void
dbl_intervals_compare(DblIntervals *iv, StrategyNumber strategy, int64 value)
{
	DblRange	r = {PG_INT64_MIN, PG_INT64_MAX, false};
	bool		none = false;

	switch (strategy)
	{
		case BTLessStrategyNumber:
			none = value == PG_INT64_MIN;
			r.hi = none ? value : value - 1;
			break;
		case BTLessEqualStrategyNumber:
			r.hi = value;
			break;
		case BTEqualStrategyNumber:
			r.lo = r.hi = value;
			break;
		case BTGreaterEqualStrategyNumber:
			r.lo = value;
			break;
		case BTGreaterStrategyNumber:
			none = value == PG_INT64_MAX;
			r.lo = none ? value : value + 1;
			break;
		default:
			elog(ERROR, "unrecognized strategy number: %d", strategy);
	}
	if (none)
		dbl_intervals_none(iv);
	else
		intersect(iv, &r, 1);
}

static int
cmp_int64(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return x < y ? -1 : x > y;
}

/* Keep the values v for which "v <strategy> ANY (array)" holds. */
void
dbl_intervals_any(DblIntervals *iv, StrategyNumber strategy, Datum array, Oid elemtype)
{
	ArrayType  *arr = DatumGetArrayTypeP(array);
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *elems;
	bool	   *nulls;
	int			nelems;
	int64	   *values;
	int			n = 0;

	if (!OidIsValid(elemtype) || elemtype != ARR_ELEMTYPE(arr))
		elemtype = ARR_ELEMTYPE(arr);
	get_typlenbyvalalign(elemtype, &typlen, &typbyval, &typalign);
	deconstruct_array(arr, elemtype, typlen, typbyval, typalign, &elems, &nulls, &nelems);

	values = palloc(sizeof(int64) * Max(nelems, 1));
	for (int i = 0; i < nelems; i++)
		if (!nulls[i])
			values[n++] = dbl_key_value(elems[i], elemtype);

	/* a comparison with NULL is never true, and neither is any of none */
	if (n == 0)
	{
		dbl_intervals_none(iv);
		return;
	}
	qsort(values, n, sizeof(int64), cmp_int64);

	switch (strategy)
	{
		case BTLessStrategyNumber:
		case BTLessEqualStrategyNumber:
			/* less than any of them: less than the greatest */
			dbl_intervals_compare(iv, strategy, values[n - 1]);
			break;
		case BTGreaterStrategyNumber:
		case BTGreaterEqualStrategyNumber:
			dbl_intervals_compare(iv, strategy, values[0]);
			break;
		default:
			{
				DblRange   *points;

				n = qunique(values, n, sizeof(int64), cmp_int64);
				points = palloc(sizeof(DblRange) * n);
				for (int i = 0; i < n; i++)
				{
					points[i].lo = points[i].hi = values[i];
					points[i].with_null = false;
				}
				intersect(iv, points, n);
			}
	}
}

/* An argument of a comparison with bigint: the operator family has three types. */
int64
dbl_key_value(Datum value, Oid type)
{
	switch (type)
	{
		case InvalidOid:
		case INT8OID:
			return DatumGetInt64(value);
		case INT4OID:
			return DatumGetInt32(value);
		case INT2OID:
			return DatumGetInt16(value);
		default:
			elog(ERROR, "unexpected type %u in a condition on a bigint column", type);
	}
	return 0;					/* keep compiler quiet */
}

/* All scan keys of an index, as a set for each of its columns (iv[0], iv[1]). */
void
dbl_keys_parse(const DblIndexShape *shape, ScanKey keys, int nkeys, DblIntervals *iv)
{
	dbl_intervals_all(&iv[0]);
	dbl_intervals_all(&iv[1]);

	for (int i = 0; i < nkeys; i++)
	{
		ScanKey		key = &keys[i];
		DblIntervals *set;

		/* core builds row comparisons for btree alone */
		if (key->sk_flags & SK_ROW_HEADER || key->sk_attno < 1 || key->sk_attno > shape->ncols)
			elog(ERROR, "unexpected scan key for access method \"doublets_tree\"");
		set = &iv[key->sk_attno - 1];

		if (key->sk_flags & SK_SEARCHNULL)
			dbl_intervals_null(set, true);
		else if (key->sk_flags & SK_SEARCHNOTNULL)
			dbl_intervals_null(set, false);
		else if (key->sk_flags & SK_ISNULL)
			dbl_intervals_none(set);
		else if (key->sk_flags & SK_SEARCHARRAY)
			dbl_intervals_any(set, key->sk_strategy, key->sk_argument, key->sk_subtype);
		else
			dbl_intervals_compare(set, key->sk_strategy,
								  dbl_key_value(key->sk_argument, key->sk_subtype));
	}
}

/*
 * Predicate locks.  The index has no pages, so they use page numbers made from what a
 * scan asks for in the first column: one for each value, and one for each block of
 * neighbouring values, about as many as a leaf page of a btree holds.  Who inserts looks at
 * both.  Two that share a number only cost a needless serialization failure.
 */
#define PREDICATE_BLOCK_BITS	8
#define PREDICATE_PAGES_MAX		32	/* core makes more than that one lock on the relation, by default */

#define SALT_VALUE	UINT64CONST(0x2545F4914F6CDD1D)
#define SALT_BLOCK	UINT64CONST(0x9E3779B97F4A7C15)
#define SALT_NULL	UINT64CONST(0xD1B54A32D192ED03)

static BlockNumber
predicate_page(int64 what, uint64 salt)
{
	uint64		h = hash_combine64(murmurhash32((uint32) what), murmurhash32((uint32) (what >> 32)));

	return (BlockNumber) (hash_combine64(h, salt) % MaxBlockNumber);
}

/* How many blocks of values the intervals touch; no more than a few are counted. */
static int
count_blocks(const DblIntervals *iv)
{
	uint64		n = 0;

	for (int i = 0; i < iv->n && n <= PREDICATE_PAGES_MAX; i++)
	{
		uint64		more = (uint64) (iv->r[i].hi >> PREDICATE_BLOCK_BITS) -
		(uint64) (iv->r[i].lo >> PREDICATE_BLOCK_BITS);

		/* the first may be the last one's last */
		if (i == 0 || iv->r[i].lo >> PREDICATE_BLOCK_BITS != iv->r[i - 1].hi >> PREDICATE_BLOCK_BITS)
			n++;
		n += Min(more, PREDICATE_PAGES_MAX + 1);
	}
	return (int) n;
}

/*
 * What a serializable scan is about to read: a few values one by one, short ranges and
 * longer lists by blocks, anything wider as the whole index.  Before the store is
 * read: an insertion that comes later finds the lock, one that came earlier is seen
 * by the scan.
 */
void
dbl_predicate_lock(Relation index, const DblIntervals *first, Snapshot snapshot)
{
	if (first->n <= PREDICATE_PAGES_MAX && dbl_intervals_points(first))
	{
		for (int i = 0; i < first->n; i++)
			PredicateLockPage(index, predicate_page(first->r[i].lo, SALT_VALUE), snapshot);
	}
	else if (count_blocks(first) <= PREDICATE_PAGES_MAX)
	{
		for (int i = 0; i < first->n; i++)
		{
			int64		last = first->r[i].hi >> PREDICATE_BLOCK_BITS;

			for (int64 b = first->r[i].lo >> PREDICATE_BLOCK_BITS; b <= last; b++)
				PredicateLockPage(index, predicate_page(b, SALT_BLOCK), snapshot);
		}
	}
	else
	{
		PredicateLockRelation(index, snapshot);
		return;
	}
	if (first->null)
		PredicateLockPage(index, predicate_page(0, SALT_NULL), snapshot);
}

/*
 * Has a serializable transaction read what is inserted now?  May raise 40001.
 */
void
dbl_predicate_check(Relation index, int64 value, bool isnull)
{
	if (!IsolationIsSerializable())
		return;
	if (isnull)
	{
		CheckForSerializableConflictIn(index, NULL, predicate_page(0, SALT_NULL));
		return;
	}
	CheckForSerializableConflictIn(index, NULL, predicate_page(value, SALT_VALUE));
	CheckForSerializableConflictIn(index, NULL,
								   predicate_page(value >> PREDICATE_BLOCK_BITS, SALT_BLOCK));
}
