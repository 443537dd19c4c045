/*-------------------------------------------------------------------------
 *
 * test_model.c
 *	  Random runs of a store against a naive model.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

static uint64_t noperations;	/* done so far */
static uint32_t scale = 100;	/* per cent of the usual length: TEST_SCALE */

/* Reads agree: a whole scan in random batches. */
static void
compare_scan(Model *m)
{
	DblAccess	access = (DblAccess) random_below(4);
	DblRange	first = model_random_range(m);
	DblRange	second = model_random_range(m);
	const DblRange *s = random_below(2) ? &second : NULL;
	bool		backward = random_below(2);
	DblSlot		want[m->room];
	DblSlot		got[m->room];
	uint32_t	nwant = model_scan(m, access, &first, s, backward, want);
	uint32_t	n = 0;
	DblCursor	cur;
	bool		exact;
	double		count;

	memset(&cur, 0, sizeof(cur));
	for (;;)
	{
		uint32_t	k = dbl_scan(&m->store, access, &first, s, backward, &cur, got,
								 1 + random_below(random_below(2) ? 3 : 40));

		if (k == 0)
			break;
		assert_true(n + k <= nwant);
		assert_memory_equal(got, want + n, k * sizeof(DblSlot));
		n += k;
	}
	assert_int_equal(n, nwant);

	count = dbl_count(&m->store, access, &first, s, random_below(2) ? 1000000 : 4, &exact);
	if (exact)
		assert_true(count == nwant);
	else
		assert_true(count >= 0 && count <= m->nused);
	if (first.lo >= first.hi)
		assert_true(exact);
}

/* A cursor that goes to and fro, now and then begins elsewhere. */
static void
compare_turns(Model *m)
{
	DblAccess	access = (DblAccess) random_below(4);
	DblRange	first = model_random_range(m);
	DblRange	second = model_random_range(m);
	const DblRange *s = random_below(3) == 0 ? &second : NULL;
	DblSlot		want[m->room];
	DblSlot		got[m->room];
	int			n = (int) model_scan(m, access, &first, s, false, want);
	int			at = -1;		/* last one given out */
	bool		started = false;
	DblCursor	cur;

	memset(&cur, 0, sizeof(cur));
	if (n > 0 && random_below(2))
	{
		at = (int) random_below((uint32_t) n);
		dbl_cursor_at(&m->store, access, want[at], &cur);
		started = true;
	}
	for (int i = 0; i < 12; i++)
	{
		bool		backward = random_below(2);
		uint32_t	max = 1 + random_below(5);
		uint32_t	k = dbl_scan(&m->store, access, &first, s, backward, &cur, got, max);

		if (backward && !started)
			at = n;
		for (uint32_t j = 0; j < k; j++)
		{
			at += backward ? -1 : 1;
			assert_true(at >= 0 && at < n);
			assert_int_equal(got[j], want[at]);
		}
		if (k > 0)
			started = true;
		else if (!started)
			at = -1;
		if (k < max && started)
			assert_int_equal(at, backward ? 0 : n - 1);
		else if (k < max)
			assert_int_equal(n, 0);
	}
}

static void
change(Model *m, uint32_t most)
{
	uint32_t	what = random_below(100);

	if (m->nused == 0 || (what < 52 && m->nused < most))
	{
		DblVersion	v = model_random_version(m);

		model_insert(m, &v);
	}
	else if (what < 60)
	{
		/* an update: the same link, one end changed */
		DblVersion	v = m->v[model_random_used(m)];
		DblVersion	w = model_random_version(m);
		int			c = 1 + (int) random_below(3);

		if (m->nused >= most)
			model_remove(m, model_random_used(m));
		v.flags &= ~(uint32_t) DBL_F_USED;
		v.key[c] = w.key[c];
		v.flags = (v.flags & ~DBL_F_NULL(c)) | (w.flags & DBL_F_NULL(c));
		if (c == DBL_TYPE && !m->has_type)
		{
			v.key[c] = 0;
			v.flags |= DBL_F_NULL(c);
		}
		model_insert(m, &v);
	}
	else
		model_remove(m, model_random_used(m));
	noperations++;
}

/*
 * A cursor open while the store changes: every entry that stays is met once, in order, and nothing
 * that was not there.
 */
static void
compare_open_cursor(Model *m, uint32_t most)
{
	DblAccess	access = (DblAccess) random_below(4);
	DblRange	first = random_below(2) ? DBL_RANGE_ALL : model_random_range(m);
	DblRange	second = model_random_range(m);
	const DblRange *s = random_below(4) == 0 ? &second : NULL;
	bool		backward = random_below(2);
	uint64_t   *before = malloc(m->room * sizeof(uint64_t));
	uint64_t   *met = calloc(m->room, sizeof(uint64_t));
	DblSlot		got[64];
	DblCursor	cur;
	uint32_t	k;
	uint32_t	turns = 0;

	memset(&cur, 0, sizeof(cur));
	for (uint32_t i = 0; i < m->room; i++)
		before[i] = i < m->nslots && (m->v[i].flags & DBL_F_USED) ? m->serial[i] : 0;
	while ((k = dbl_scan(&m->store, access, &first, s, backward, &cur, got,
						 1 + random_below(12))) > 0)
	{
		for (uint32_t i = 0; i < k; i++)
		{
			assert_true(model_matches(m, got[i], access, &first, s));
			assert_true(met[got[i]] != m->serial[got[i]]);
			met[got[i]] = m->serial[got[i]];
			if (i > 0)
				assert_true((model_compare(m, access, got[i - 1], got[i]) < 0) == !backward);
		}
		for (uint32_t i = random_below(6); i > 0; i--)
			change(m, most);
		if (random_below(8) == 0 && m->nused > 0)
		{
			/* the very entry that the cursor stands on */
			DblSlot		last = got[k - 1];

			if (m->v[last].flags & DBL_F_USED)
				model_remove(m, last);
		}
		assert_true(++turns < 100000);
	}
	for (uint32_t i = 0; i < m->nslots; i++)
	{
		if (before[i] && (m->v[i].flags & DBL_F_USED) && m->serial[i] == before[i] &&
			(m->has_type || access != DBL_BY_TYPE) &&
			model_matches(m, i, access, &first, s))
			assert_true(met[i] == before[i]);
	}
	free(before);
	free(met);
}

/* Small stores, looked through after each step. */
static void
small_stores(void **state)
{
	uint64_t	until = noperations + 450000ull * scale / 100;

	(void) state;
	while (noperations < until)
	{
		uint32_t	most = 4 + random_below(random_below(4) ? 40 : 150);
		Model	   *m = model_new(random_below(5) != 0, most * 2 + 16);
		uint32_t	steps = 200 + random_below(1500);

		m->spread = random_below(5);
		for (uint32_t i = 0; i < steps; i++)
		{
			if (random_below(64) == 0)
				m->spread = random_below(5);
			change(m, most);
			check_store(&m->store);
			if (random_below(8) == 0)
			{
				compare_scan(m);
				noperations++;
			}
			if (random_below(16) == 0)
			{
				compare_turns(m);
				noperations++;
			}
			if (random_below(200) == 0)
			{
				compare_open_cursor(m, most);
				check_store(&m->store);
			}
		}
		while (m->nused > 0)
			model_remove(m, model_random_used(m));
		check_store(&m->store);
		assert_int_equal(m->shared.nnodes, 0);
		model_delete(m);
	}
}

/* Larger ones: deep trees, many blocks, chunks that grow; looked through less often. */
static void
larger_stores(void **state)
{
	uint64_t	until = noperations + 600000ull * scale / 100;

	(void) state;
	while (noperations < until)
	{
		uint32_t	most = 500 + random_below(12000);
		Model	   *m = model_new(random_below(5) != 0, most + most / 2 + 64);
		uint32_t	steps = most * 3;

		m->spread = random_below(5);
		for (uint32_t i = 0; i < steps; i++)
		{
			change(m, most);
			if (random_below(500) == 0)
			{
				m->spread = random_below(5);
				compare_scan(m);
				compare_turns(m);
				noperations += 2;
			}
			if (random_below(4000) == 0)
				compare_open_cursor(m, most);
			if (random_below(2000) == 0)
				check_store(&m->store);
		}
		check_store(&m->store);
		model_delete(m);
	}
}

/* Bulk build gives the same store as single insertions, and one that can be changed. */
static void
bulk_builds(void **state)
{
	uint32_t	rounds = 600 * scale / 100;

	(void) state;
	for (uint32_t round = 0; round < rounds; round++)
	{
		uint32_t	most = random_below(random_below(3) ? 120 : 3000);
		Model	   *m = model_new(random_below(5) != 0, most * 2 + 64);
		uint32_t	nslots = most + random_below(30);

		m->spread = random_below(5);
		assert_true(dbl_build_begin(&m->store, nslots));
		m->nslots = nslots;
		for (uint32_t i = 0; i < most; i++)
		{
			DblSlot		slot = random_below(nslots ? nslots : 1);
			DblVersion	v = model_random_version(m);

			if (m->v[slot].flags & DBL_F_USED)
				continue;
			dbl_build_put(&m->store, slot, &v);
			m->v[slot] = v;
			m->v[slot].flags |= DBL_F_USED;
			m->nused++;
		}
		for (uint32_t i = 0; i < nslots; i++)
			m->serial[i] = i;
		m->next_serial = nslots;
		assert_true(dbl_build_finish(&m->store, NULL, NULL));
		check_store(&m->store);
		noperations += m->nused;
		for (int i = 0; i < 10; i++)
		{
			compare_scan(m);
			compare_turns(m);
		}
		for (int i = 0; i < 100; i++)
			change(m, most + 4);
		check_store(&m->store);
		compare_scan(m);
		while (m->nused > 0 && random_below(1000))
			model_remove(m, model_random_used(m));
		check_store(&m->store);
		model_delete(m);
	}
}

static void
enough_operations(void **state)
{
	(void) state;
	printf("%llu operations against the model\n", (unsigned long long) noperations);
	assert_true(noperations >= 10000ull * scale);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_stores),
		cmocka_unit_test(larger_stores),
		cmocka_unit_test(bulk_builds),
		cmocka_unit_test(enough_operations),
	};

	if (getenv("TEST_SCALE"))
		scale = (uint32_t) atoi(getenv("TEST_SCALE"));
	random_start();
	return cmocka_run_group_tests_name("store against a model", tests, NULL, NULL);
}
