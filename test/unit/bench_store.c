/*-------------------------------------------------------------------------
 *
 * bench_store.c
 *	  Nanoseconds an operation of the store alone.  Not a test.
 *
 * Usage: bench_store [links [types]].  Links are i: (i, i + 1).
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/store.h"

static size_t bytes;

static DblRef
mem_alloc(void *ctx, size_t size)
{
	bytes += size;
	return (DblRef) (uintptr_t) malloc(size);
}

static void
mem_free(void *ctx, DblRef ref, size_t size)
{
	bytes -= size;
	free((void *) (uintptr_t) ref);
}

static void *
mem_resolve(void *ctx, DblRef ref)
{
	return (void *) (uintptr_t) ref;
}

static void *
scratch_alloc(void *ctx, size_t size)
{
	return malloc(size);
}

static void
scratch_free(void *ctx, void *p)
{
	free(p);
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static double started;

static void
report(const char *what, uint32_t n)
{
	printf("%-28s %9.1f\n", what, (now() - started) / n);
	fflush(stdout);
}

static DblVersion
version(uint32_t i, uint32_t types)
{
	DblVersion	v;

	memset(&v, 0, sizeof(v));
	v.key[DBL_ID] = (int64_t) i + 1;
	v.key[DBL_SOURCE] = (int64_t) i + 1;
	v.key[DBL_TARGET] = (int64_t) i + 2;
	v.key[DBL_TYPE] = i % types;
	return v;
}

int
main(int argc, char **argv)
{
	uint32_t	n = argc > 1 ? (uint32_t) atoi(argv[1]) : 1000000;
	uint32_t	types = argc > 2 ? (uint32_t) atoi(argv[2]) : 10;
	DblMem		mem = {NULL, mem_alloc, mem_free, mem_resolve, scratch_alloc, scratch_free};
	DblStoreShared shared;
	DblStore	s;
	DblCursor	cur;
	DblSlot		out[256];
	uint32_t   *order = malloc(n * sizeof(uint32_t));
	uint64_t	sum = 0;
	uint64_t	found = 0;
	uint32_t	k;

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	srandom(1);
	for (uint32_t i = n; i-- > 1;)
	{
		uint32_t	j = (uint32_t) random() % (i + 1);
		uint32_t	t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
	memset(&shared, 0, sizeof(shared));
	dbl_store_init(&shared, true);
	dbl_store_attach(&s, &shared, &mem);
	if (!dbl_store_refresh(&s))
		return 1;

	printf("%u links, %u types: ns an operation\n", n, types);
	started = now();
	for (uint32_t i = 0; i < n; i++)
	{
		DblVersion	v = version(i, types);
		DblSlot		slot;

		dbl_peek_free(&s, 1, &slot);
		if (!dbl_reserve(&s, (uint64_t) slot + 1, 1))
			return 1;
		dbl_insert(&s, slot, &v);
	}
	report("create", n);
	printf("%-28s %9.1f\n", "bytes a link", (double) bytes / n);

	started = now();
	for (uint32_t i = 0; i < n; i++)
		sum += (uint64_t) dbl_version(&s, i)->key[DBL_TARGET];
	report("read all (slots)", n);
	for (int a = 0; a < 4; a++)
	{
		static const char *const name[] = {"read all by id", "read all by source",
			"read all by target", "read all by type"};
		DblRange	all = DBL_RANGE_ALL;

		started = now();
		memset(&cur, 0, sizeof(cur));
		while ((k = dbl_scan(&s, (DblAccess) a, &all, NULL, false, &cur, out, 170)) > 0)
			found += k;
		report(name[a], n);
	}
	for (int a = 0; a < 6; a++)
	{
		static const char *const name[] = {"by id", "by source", "by target",
			"by id, at random", "by source, at random", "by target, at random"};

		started = now();
		for (uint32_t i = 0; i < n; i++)
		{
			int64_t		value = (int64_t) (a < 3 ? i : order[i]) + (a % 3 == 2 ? 2 : 1);
			DblRange	r = {value, value, false};

			cur.started = 0;
			k = dbl_scan(&s, (DblAccess) (a % 3), &r, NULL, false, &cur, out, 1);
			found += k;
			sum += (uint64_t) dbl_version(&s, out[0])->key[0];
		}
		report(name[a], n);
	}
	started = now();
	for (uint32_t i = 0; i < n; i++)
	{
		DblRange	r = {(int64_t) i + 1, (int64_t) i + 1, false};
		DblRange	t = {(int64_t) i + 2, (int64_t) i + 2, false};

		cur.started = 0;
		found += dbl_scan(&s, DBL_BY_SOURCE, &r, &t, false, &cur, out, 1);
	}
	report("by (source, target)", n);

	started = now();
	for (uint32_t i = 0; i < n; i++)
	{
		DblRange	r = {(int64_t) order[i] + 1, (int64_t) order[i] + 1, false};
		DblRange	t = {(int64_t) order[i] + 2, (int64_t) order[i] + 2, false};

		cur.started = 0;
		found += dbl_scan(&s, DBL_BY_SOURCE, &r, &t, false, &cur, out, 1);
	}
	report("by (source, target), at random", n);

	/* update: a new version beside the old, which goes then */
	started = now();
	for (uint32_t i = 0; i < n; i++)
	{
		DblVersion	v = version(i, types);
		DblSlot		slot;

		v.key[DBL_TARGET] = (int64_t) order[n - 1 - i] + 1;
		dbl_peek_free(&s, 1, &slot);
		if (!dbl_reserve(&s, (uint64_t) slot + 1, 1))
			return 1;
		dbl_insert(&s, slot, &v);
		cur.started = 0;
		if (dbl_scan(&s, DBL_BY_ID, &(DblRange) {v.key[0], v.key[0], false}, NULL, false, &cur, out, 2) != 2)
			return 1;
		dbl_remove(&s, out[0] == slot ? out[1] : out[0]);
	}
	report("update", n);
	/* update: a new version beside the old, which goes then */
	started = now();
	for (uint32_t i = 0; i < n; i++)
	{
		DblVersion	v = version(order[i], types);
		DblSlot		slot;

		v.key[DBL_TARGET] = (int64_t) order[n - 1 - i] + 1;
		dbl_peek_free(&s, 1, &slot);
		if (!dbl_reserve(&s, (uint64_t) slot + 1, 1))
			return 1;
		dbl_insert(&s, slot, &v);
		cur.started = 0;
		if (dbl_scan(&s, DBL_BY_ID, &(DblRange) {v.key[0], v.key[0], false}, NULL, false, &cur, out, 2) != 2)
			return 1;
		dbl_remove(&s, out[0] == slot ? out[1] : out[0]);
	}
	report("update, at random", n);
	started = now();
	for (uint32_t i = 0; i < n; i++)
	{
		DblRange	r = {(int64_t) order[i] + 1, (int64_t) order[i] + 1, false};

		cur.started = 0;
		if (dbl_scan(&s, DBL_BY_ID, &r, NULL, false, &cur, out, 1) != 1)
			return 1;
		dbl_remove(&s, out[0]);
	}
	report("delete, at random", n);
	printf("%-28s %9.1f\n", "bytes a link", (double) bytes / n);

	/* hubs: all links out of 1 and into random ones */
	started = now();
	for (uint32_t i = 0; i < n; i++)
	{
		DblVersion	v = version(i, types);
		DblSlot		slot;

		v.key[DBL_SOURCE] = 1;
		v.key[DBL_TARGET] = (int64_t) order[i] + 1;
		dbl_peek_free(&s, 1, &slot);
		if (!dbl_reserve(&s, (uint64_t) slot + 1, 1))
			return 1;
		dbl_insert(&s, slot, &v);
	}
	report("create in a hub", n);
	started = now();
	for (uint32_t i = 0; i < n; i++)
	{
		DblRange	r = {1, 1, false};
		DblRange	t = {(int64_t) i + 1, (int64_t) i + 1, false};

		cur.started = 0;
		found += dbl_scan(&s, DBL_BY_SOURCE, &r, &t, false, &cur, out, 1);
	}
	report("by (source, target) in a hub", n);
	dbl_store_destroy(&s);

	/* all links (0, 0) */
	if (!dbl_store_refresh(&s))
		return 1;
	started = now();
	for (uint32_t i = 0; i < n; i++)
	{
		DblVersion	v = version(i, types);
		DblSlot		slot;

		v.key[DBL_SOURCE] = v.key[DBL_TARGET] = 0;
		dbl_peek_free(&s, 1, &slot);
		if (!dbl_reserve(&s, (uint64_t) slot + 1, 1))
			return 1;
		dbl_insert(&s, slot, &v);
	}
	report("create (0, 0)", n);
	started = now();
	for (uint32_t i = 0; i < n / 2; i++)
		dbl_remove(&s, order[i]);
	report("delete (0, 0), at random", n / 2);
	dbl_store_destroy(&s);

	if (!dbl_store_refresh(&s))
		return 1;
	started = now();
	if (!dbl_build_begin(&s, n))
		return 1;
	for (uint32_t i = 0; i < n; i++)
	{
		DblVersion	v = version(i, types);

		dbl_build_put(&s, i, &v);
	}
	if (!dbl_build_finish(&s))
		return 1;
	report("bulk build", n);
	printf("%-28s %9.1f\n", "bytes a link", (double) bytes / n);
	dbl_store_destroy(&s);

	/* the same with ends in random order */
	if (!dbl_store_refresh(&s))
		return 1;
	started = now();
	if (!dbl_build_begin(&s, n))
		return 1;
	for (uint32_t i = 0; i < n; i++)
	{
		DblVersion	v = version(i, types);

		v.key[DBL_SOURCE] = (int64_t) order[i] + 1;
		v.key[DBL_TARGET] = (int64_t) order[n - 1 - i] + 1;
		dbl_build_put(&s, i, &v);
	}
	if (!dbl_build_finish(&s))
		return 1;
	report("bulk build, random ends", n);
	dbl_store_destroy(&s);
	free(order);
	return sum + found == 0;
}
