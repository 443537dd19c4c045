/*-------------------------------------------------------------------------
 *
 * test_store.c
 *	  Each function of the store, by example.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

static uint32_t
scan_all(Model *m, DblAccess access, DblRange first, const DblRange *second, bool backward,
		 DblSlot *out, uint32_t max)
{
	DblCursor	cur;

	memset(&cur, 0, sizeof(cur));
	return dbl_scan(&m->store, access, &first, second, backward, &cur, out, max);
}

static DblSlot
add(Model *m, int64_t id, int64_t source, int64_t target, int64_t type)
{
	DblVersion	v = version_of(id, source, target, type);
	DblSlot		slot;

	dbl_peek_free(&m->store, 1, &slot);
	assert_true(dbl_reserve(&m->store, (uint64_t) slot + 1, 1));
	dbl_insert(&m->store, slot, &v);
	return slot;
}

static void
empty_store(void **state)
{
	Model	   *m = model_new(true, 8);
	DblStoreStats st;
	DblSlot		out[4];
	bool		exact;
	DblRange	all = DBL_RANGE_ALL;

	(void) state;
	assert_int_equal(m->memory->bytes, 0);
	assert_int_equal(dbl_nslots(&m->store), 0);
	for (int a = 0; a < 4; a++)
	{
		assert_int_equal(scan_all(m, (DblAccess) a, all, NULL, false, out, 4), 0);
		assert_int_equal(scan_all(m, (DblAccess) a, all, &all, true, out, 4), 0);
		assert_true(dbl_count(&m->store, (DblAccess) a, &all, NULL, 10, &exact) == 0);
		assert_true(exact);
	}
	dbl_peek_free(&m->store, 3, out);
	assert_int_equal(out[0], 0);
	assert_int_equal(out[2], 2);
	dbl_store_stats(&m->store, &st);
	assert_int_equal(st.slots + st.used + st.free + st.nodes + st.bytes_slots, 0);
	check_store(&m->store);
	assert_true(dbl_build_begin(&m->store, 0));
	assert_true(dbl_build_finish(&m->store, NULL, NULL));
	check_store(&m->store);
	model_delete(m);
}

static void
one_link(void **state)
{
	Model	   *m = model_new(true, 8);
	DblSlot		out[4];
	DblStoreStats st;

	(void) state;
	assert_int_equal(add(m, 7, 7, 7, 7), 0);	/* refers to itself in every way */
	check_store(&m->store);
	for (int a = 0; a < 4; a++)
	{
		assert_int_equal(scan_all(m, (DblAccess) a, range_of(7, 7, false), NULL, false, out, 4), 1);
		assert_int_equal(out[0], 0);
		assert_int_equal(scan_all(m, (DblAccess) a, range_of(8, 8, true), NULL, false, out, 4), 0);
	}
	dbl_store_stats(&m->store, &st);
	assert_int_equal(st.nodes, 1);
	assert_int_equal(st.used, 1);
	assert_true(m->memory->bytes <= 30000);
	assert_int_equal(st.bytes_slots + st.bytes_trees + st.bytes_directory + st.bytes_postings,
					 m->memory->bytes);
	dbl_remove(&m->store, 0);
	check_store(&m->store);
	dbl_store_stats(&m->store, &st);
	assert_int_equal(st.nodes, 0);
	assert_int_equal(st.free, 1);
	assert_int_equal(add(m, 1, 2, 3, 4), 0);	/* the slot is used again */
	model_delete(m);
}

static void
repeated_pairs(void **state)
{
	Model	   *m = model_new(true, 64);
	DblSlot		out[64];
	DblRange	two = range_of(2, 2, false);
	bool		exact;

	(void) state;
	for (int i = 0; i < 50; i++)
		add(m, i, 1, 2, 0);
	assert_int_equal(scan_all(m, DBL_BY_SOURCE, range_of(1, 1, false), &two, false, out, 64), 50);
	for (uint32_t i = 0; i < 50; i++)
		assert_int_equal(out[i], i);	/* slot breaks ties */
	assert_true(dbl_count(&m->store, DBL_BY_SOURCE, &(DblRange) {1, 1, false}, &two, 1, &exact) == 50);
	assert_true(exact);
	assert_int_equal(scan_all(m, DBL_BY_TARGET, range_of(2, 2, false), NULL, true, out, 64), 50);
	assert_int_equal(out[0], 49);
	check_store(&m->store);
	for (DblSlot i = 0; i < 50; i += 2)
		dbl_remove(&m->store, i);
	assert_int_equal(scan_all(m, DBL_BY_SOURCE, range_of(1, 1, false), &two, false, out, 64), 25);
	check_store(&m->store);
	model_delete(m);
}

/* References to an id that comes later are found before and after. */
static void
absent_endpoints(void **state)
{
	Model	   *m = model_new(true, 64);
	DblSlot		out[8];

	(void) state;
	add(m, 1, 500, 600, 700);
	assert_int_equal(scan_all(m, DBL_BY_SOURCE, range_of(500, 500, false), NULL, false, out, 8), 1);
	assert_int_equal(scan_all(m, DBL_BY_ID, range_of(500, 500, false), NULL, false, out, 8), 0);
	add(m, 500, 1, 1, 1);
	assert_int_equal(scan_all(m, DBL_BY_SOURCE, range_of(500, 500, false), NULL, false, out, 8), 1);
	assert_int_equal(scan_all(m, DBL_BY_ID, range_of(500, 500, false), NULL, false, out, 8), 1);
	dbl_remove(&m->store, 1);
	assert_int_equal(scan_all(m, DBL_BY_SOURCE, range_of(500, 500, false), NULL, false, out, 8), 1);
	check_store(&m->store);
	model_delete(m);
}

static void
extreme_values(void **state)
{
	static const int64_t value[] = {INT64_MIN, INT64_MIN + 63, INT64_MIN + 64, -65, -64, -1, 0, 1, 63,
		64, 1000000, INT64_MAX - 64, INT64_MAX - 63, INT64_MAX - 1, INT64_MAX};
	const uint32_t n = sizeof(value) / sizeof(value[0]);
	Model	   *m = model_new(true, 64);
	DblSlot		out[64];
	DblVersion	null = version_of(0, 0, 0, 0);

	(void) state;
	for (uint32_t i = 0; i < n; i++)
		add(m, value[(i * 7) % n], value[(i * 7) % n], value[n - 1 - (i * 7) % n], value[(i * 7) % n]);
	null.flags = DBL_F_NULLS;
	assert_true(dbl_reserve(&m->store, n + 1, 1));
	dbl_insert(&m->store, n, &null);
	check_store(&m->store);
	for (int a = 0; a < 4; a++)
	{
		int			col = model_column((DblAccess) a);

		for (int backward = 0; backward < 2; backward++)
		{
			assert_int_equal(scan_all(m, (DblAccess) a, DBL_RANGE_ALL, NULL, backward, out, 64), n + 1);
			assert_int_equal(out[backward ? 0 : n], n);		/* NULL is last */
			for (uint32_t i = 0; i < n; i++)
				assert_true(dbl_version(&m->store, out[backward ? n - i : i])->key[col] == value[i]);
			assert_int_equal(scan_all(m, (DblAccess) a, range_of(INT64_MIN, INT64_MAX, false), NULL,
									  backward, out, 64), n);
			assert_int_equal(scan_all(m, (DblAccess) a, range_of(INT64_MAX, INT64_MAX, false), NULL,
									  backward, out, 64), 1);
			assert_int_equal(scan_all(m, (DblAccess) a, range_of(INT64_MIN, INT64_MIN, false), NULL,
									  backward, out, 64), 1);
			assert_int_equal(scan_all(m, (DblAccess) a, range_of(1, 0, true), NULL, backward, out, 64), 1);
			assert_int_equal(scan_all(m, (DblAccess) a, range_of(-1, 1, true), NULL, backward, out, 64), 4);
		}
	}
	model_delete(m);
}

/* A second process's view, brought up to date now and then. */
static void
another_view(void **state)
{
	Model	   *m = model_new(true, 8);
	DblStore	other;
	DblCursor	cur;
	DblSlot		out[16];
	DblRange	all = DBL_RANGE_ALL;

	(void) state;
	dbl_store_attach(&other, &m->shared, &m->mem);
	assert_true(dbl_store_refresh(&other));
	for (int i = 0; i < 30000; i++)
	{
		add(m, i, i / 100, -i, i % 7);
		if (i % 97 == 0 || (i < 300 && i % 5 == 0))
		{
			assert_true(dbl_store_refresh(&other));
			memset(&cur, 0, sizeof(cur));
			assert_int_equal(dbl_scan(&other, DBL_BY_TARGET, &(DblRange) {-i, -i, false}, NULL, false,
									  &cur, out, 16), 1);
			assert_int_equal(out[0], i);
			assert_int_equal(dbl_version(&other, 0)->key[DBL_ID], 0);
		}
	}
	assert_true(dbl_store_refresh(&other));
	check_store(&other);

	/* the store is made anew underneath */
	dbl_store_destroy(&m->store);
	assert_int_equal(m->memory->bytes, 0);
	assert_true(dbl_store_refresh(&m->store));
	for (int i = 0; i < 10000; i++)
		add(m, 5, 6, 7, 8);
	assert_true(dbl_store_refresh(&other));
	memset(&cur, 0, sizeof(cur));
	assert_int_equal(dbl_scan(&other, DBL_BY_ID, &all, NULL, true, &cur, out, 1), 1);
	assert_int_equal(out[0], 9999);
	check_store(&other);
	dbl_store_detach(&other);
	model_delete(m);
}

static void
free_slots(void **state)
{
	Model	   *m = model_new(true, 8);
	DblVersion	v = version_of(1, 2, 3, 4);
	DblSlot		out[8];

	(void) state;
	assert_true(dbl_reserve(&m->store, 6, 2));
	dbl_insert(&m->store, 5, &v);	/* 0 .. 4 become free */
	assert_int_equal(dbl_nslots(&m->store), 6);
	check_store(&m->store);
	for (DblSlot i = 0; i < 5; i++)
		assert_int_equal(dbl_version(&m->store, i)->flags, 0);
	dbl_peek_free(&m->store, 8, out);
	for (int i = 0; i < 8; i++)
	{
		assert_true(i < 5 ? out[i] < 5 : out[i] == (DblSlot) i + 1);
		for (int j = 0; j < i; j++)
			assert_true(out[i] != out[j]);
	}
	dbl_insert(&m->store, 2, &v);	/* from the middle of the list */
	check_store(&m->store);
	dbl_peek_free(&m->store, 5, out);
	for (int i = 0; i < 5; i++)
		assert_true(out[i] != 2);
	model_delete(m);
}

static void
without_type(void **state)
{
	Model	   *m = model_new(false, 8);
	DblSlot		out[8];
	bool		exact;
	DblRange	all = DBL_RANGE_ALL;
	DblStoreStats st;

	(void) state;
	add(m, 1, 2, 3, 0);
	assert_int_equal(scan_all(m, DBL_BY_TYPE, all, NULL, false, out, 8), 0);
	assert_true(dbl_count(&m->store, DBL_BY_TYPE, &all, NULL, 8, &exact) == 0);
	dbl_store_stats(&m->store, &st);
	assert_int_equal(st.bytes_postings, 0);
	check_store(&m->store);
	dbl_remove(&m->store, 0);
	check_store(&m->store);
	model_delete(m);
}

/* One type for all: order of arrival, holes, a cursor whose posting goes. */
static void
postings(void **state)
{
	Model	   *m = model_new(true, 8);
	DblSlot		out[1000];
	DblCursor	cur;
	DblRange	zero = range_of(0, 0, false);
	bool		exact;

	(void) state;
	for (int i = 0; i < 1000; i++)
		add(m, i, 0, 0, 0);
	memset(&cur, 0, sizeof(cur));
	assert_int_equal(dbl_scan(&m->store, DBL_BY_TYPE, &zero, NULL, false, &cur, out, 500), 500);
	for (DblSlot i = 300; i < 700; i++)
		dbl_remove(&m->store, i);
	check_store(&m->store);
	for (int i = 0; i < 100; i++)
		add(m, i, 0, 0, 5);		/* takes the memory of the postings that went */
	assert_int_equal(dbl_scan(&m->store, DBL_BY_TYPE, &zero, NULL, false, &cur, out, 1), 1);
	assert_int_equal(out[0], 700);
	assert_int_equal(dbl_scan(&m->store, DBL_BY_TYPE, &zero, NULL, true, &cur, out, 1), 1);
	assert_int_equal(out[0], 299);
	assert_true(dbl_count(&m->store, DBL_BY_TYPE, &zero, NULL, 1, &exact) == 600 && exact);
	dbl_cursor_at(&m->store, DBL_BY_TYPE, 999, &cur);
	assert_int_equal(dbl_scan(&m->store, DBL_BY_TYPE, &zero, NULL, false, &cur, out, 1), 0);
	assert_int_equal(dbl_scan(&m->store, DBL_BY_TYPE, &zero, NULL, true, &cur, out, 1000), 599);
	model_delete(m);
}

/* Estimates over many nodes are of the right size; memory a link is within the bar. */
static void
a_million(void **state)
{
	const int	n = getenv("TEST_SCALE") ? 100000 : 1000000;
	Model	   *m = model_new(true, 8);
	DblStoreStats st;
	double		count;
	bool		exact;
	DblRange	r = range_of(n / 4, n / 2, false);

	(void) state;
	for (int i = 0; i < n; i++)
		add(m, i, i, i + 1, i % 10);
	dbl_store_stats(&m->store, &st);
	assert_int_equal(st.bytes_slots + st.bytes_trees + st.bytes_directory + st.bytes_postings,
					 m->memory->bytes);
	printf("%.1f bytes a link: slots %.1f, trees %.1f, directory %.1f, postings %.1f; %u allocations\n",
		   (double) m->memory->bytes / n, (double) st.bytes_slots / n, (double) st.bytes_trees / n,
		   (double) st.bytes_directory / n, (double) st.bytes_postings / n, m->memory->nallocs);
	assert_true((double) m->memory->bytes / n < (n < 1000000 ? 150 : 130));
	assert_true(m->memory->nallocs < n / 50);
	count = dbl_count(&m->store, DBL_BY_SOURCE, &r, NULL, 100, &exact);
	assert_false(exact);
	assert_true(count > n / 4 * 0.8 && count < n / 4 * 1.2);
	count = dbl_count(&m->store, DBL_BY_SOURCE, &r, NULL, (uint32_t) n, &exact);
	assert_true(exact && count == n / 4 + 1);
	check_store(&m->store);

	/* and none of it is lost when all is taken out and put back */
	for (int i = 0; i < n; i++)
		dbl_remove(&m->store, (DblSlot) i);
	assert_int_equal(m->shared.nnodes, 0);
	{
		size_t		bytes = m->memory->bytes;

		for (int i = 0; i < n; i++)
			add(m, i, i, i + 1, i % 10);
		assert_true(m->memory->bytes <= bytes + bytes / 50);
	}
	check_store(&m->store);
	model_delete(m);
}

/* Values far apart must not cost much more than values side by side. */
static void
sparse_values(void **state)
{
	const int	n = getenv("TEST_SCALE") ? 20000 : 200000;
	Model	   *m = model_new(true, 8);

	(void) state;
	for (int i = 0; i < n; i++)
	{
		int64_t		id = (int64_t) random_bits();

		add(m, id, id, id, 0);
	}
	printf("%.1f bytes a link with random ids\n", (double) m->memory->bytes / n);
	assert_true((double) m->memory->bytes / n < 250);
	check_store(&m->store);
	model_delete(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_store),
		cmocka_unit_test(one_link),
		cmocka_unit_test(repeated_pairs),
		cmocka_unit_test(absent_endpoints),
		cmocka_unit_test(extreme_values),
		cmocka_unit_test(another_view),
		cmocka_unit_test(free_slots),
		cmocka_unit_test(without_type),
		cmocka_unit_test(postings),
		cmocka_unit_test(a_million),
		cmocka_unit_test(sparse_values),
	};

	random_start();
	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
