/*-------------------------------------------------------------------------
 *
 * typeid.c
 *	  Scans over (type, id): the one key whose order the store does not keep.
 *
 * The links of a type are enumerated in no order.  So either the directory of
 * ids is walked and links of other types are passed over, which gives the order
 * where there is a single type; or the links of the types are
 * collected and sorted first.  Whichever looks at less is chosen.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "index/index.h"

#define NODES_MAX	64			/* of the directory, to estimate a range */
#define READ_MAX	1024		/* slots under one hold of the lock */

static int
compare_candidates(const void *a, const void *b)
{
	const DblCandidate *x = a;
	const DblCandidate *y = b;

	if (x->type_null != y->type_null)
		return x->type_null ? 1 : -1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->id_null != y->id_null)
		return x->id_null ? 1 : -1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

static double
count_ranges(DblStore *store, DblAccess access, const DblIntervals *iv)
{
	int			n = dbl_intervals_nranges(iv);
	double		sum = 0;

	for (int i = 0; i < n; i++)
	{
		DblRange	r = dbl_intervals_range(iv, i);
		bool		exact;

		sum += dbl_count(store, access, &r, NULL, NODES_MAX, &exact);
	}
	return sum;
}

static bool
is_single_type(const DblIntervals *types)
{
	DblRange	r;

	if (dbl_intervals_nranges(types) != 1)
		return false;
	r = dbl_intervals_range(types, 0);
	return dbl_range_is_point(&r);
}

/*
 * All versions in question, whatever their visibility, sorted.  `access` is what they are
 * found by, *filter a condition on filter_col that remains.
 */
static void
sort_candidates(DblIndexScan *s, Relation rel, DblTable *t, DblAccess access,
				const DblIntervals *ranges, const DblIntervals *filter, int filter_col)
{
	MemoryContext cxt = dbl_scan_context(s);
	DblSlot    *slots = MemoryContextAlloc(cxt, sizeof(DblSlot) * READ_MAX);
	int			nranges = dbl_intervals_nranges(ranges);
	int			room = READ_MAX;
	int			n = 0;
	DblCandidate *c = MemoryContextAlloc(cxt, sizeof(DblCandidate) * room);

	for (int i = 0; i < nranges; i++)
	{
		DblRange	r = dbl_intervals_range(ranges, i);
		DblCursor	cursor;
		uint32		got;

		memset(&cursor, 0, sizeof(cursor));
		do
		{
			if (room - n < READ_MAX)
			{
				room *= 2;
				c = repalloc_huge(c, sizeof(DblCandidate) * room);
			}
			dbl_table_lock(rel, t, LW_SHARED);
			got = dbl_scan(&t->store, access, &r, NULL, false, &cursor, slots, READ_MAX);
			for (uint32 k = 0; k < got; k++)
			{
				DblVersion *v = dbl_version(&t->store, slots[k]);

				if (!dbl_intervals_has(filter, v, filter_col))
					continue;
				c[n].type = v->key[DBL_TYPE];
				c[n].id = v->key[DBL_ID];
				c[n].type_null = DblVersionIsNull(v, DBL_TYPE);
				c[n].id_null = DblVersionIsNull(v, DBL_ID);
				c[n].slot = slots[k];
				n++;
			}
			dbl_table_unlock(t);
			CHECK_FOR_INTERRUPTS();
		} while (got == READ_MAX);
	}
	qsort(c, n, sizeof(DblCandidate), compare_candidates);
	s->candidates = c;
	s->nitems = n;
}

/* Choose how to serve s->iv.  Takes and releases the store lock. */
void
dbl_typeid_prepare(DblIndexScan *s, Relation table, DblTable *t)
{
	const DblIntervals *types = &s->iv[0];
	const DblIntervals *ids = &s->iv[1];
	double		by_type;
	double		by_id;

	dbl_table_lock(table, t, LW_SHARED);
	by_type = count_ranges(&t->store, DBL_BY_TYPE, types);
	by_id = count_ranges(&t->store, DBL_BY_ID, ids);
	dbl_table_unlock(t);

	s->filter_col = -1;
	if (s->unordered)
	{
		if (by_type <= by_id)
		{
			s->access = DBL_BY_TYPE;
			s->filter = ids;
			s->filter_col = DBL_ID;
			dbl_scan_items_of(s, types);
		}
		else
		{
			s->access = DBL_BY_ID;
			s->filter = types;
			s->filter_col = DBL_TYPE;
			dbl_scan_items_of(s, ids);
		}
	}
	else if (is_single_type(types) && by_id <= 8 * by_type + 64)
	{
		/* passing over a link of another type costs about an eighth of sorting one */
		s->access = DBL_BY_ID;
		s->filter = types;
		s->filter_col = DBL_TYPE;
		dbl_scan_items_of(s, ids);
	}
	else if (by_type <= by_id)
		sort_candidates(s, table, t, DBL_BY_TYPE, types, ids, DBL_ID);
	else
		sort_candidates(s, table, t, DBL_BY_ID, ids, types, DBL_TYPE);
}
