/*-------------------------------------------------------------------------
 *
 * test_memory.c
 *	  What happens when memory is short, at every single call.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

/* Contents and invariants are those of the model. */
static void
same_as_model(Model *m)
{
	DblSlot		want[m->room];
	DblSlot		got[m->room];
	DblRange	all = DBL_RANGE_ALL;

	for (int a = 0; a < 4; a++)
	{
		DblCursor	cur;
		uint32_t	n = model_scan(m, (DblAccess) a, &all, NULL, false, want);

		memset(&cur, 0, sizeof(cur));
		assert_int_equal(dbl_scan(&m->store, (DblAccess) a, &all, NULL, false, &cur, got, m->room), n);
		assert_memory_equal(got, want, n * sizeof(DblSlot));
	}
	check_store(&m->store);
}

/* dbl_reserve() fails at each of its calls in turn, then succeeds. */
static void
reserve_fails(void **state)
{
	Model	   *m = model_new(true, 6000);

	(void) state;
	m->spread = 4;
	for (int i = 0; i < 150; i++)
	{
		uint32_t	inserts = 1 + random_below(i < 100 ? 30 : 300);
		uint32_t	nfailed = 0;

		for (int64_t after = 0;; after++)
		{
			bool		done;

			m->memory->fail_after = after;
			m->memory->failed = false;
			done = dbl_reserve(&m->store, m->nslots + inserts, inserts);
			m->memory->fail_after = -1;
			if (done)
				break;
			assert_true(m->memory->failed);
			if (nfailed++ < 40)
				same_as_model(m);
			assert_true(nfailed < 1000);
		}
		/* the promise holds without any memory at all */
		m->memory->fail_after = 0;
		for (uint32_t k = 0; k < inserts && m->nused < m->room - 600; k++)
		{
			DblVersion	v = model_random_version(m);
			DblSlot		slot;

			dbl_peek_free(&m->store, 1, &slot);
			dbl_insert(&m->store, slot, &v);
			m->v[slot] = v;
			m->v[slot].flags |= DBL_F_USED;
			m->serial[slot] = ++m->next_serial;
			m->nslots = dbl_nslots(&m->store);
			m->nused++;
			while (m->nused > 0 && random_below(3) == 0)
				model_remove(m, model_random_used(m));
		}
		m->memory->fail_after = -1;
		same_as_model(m);
	}
	model_delete(m);
}

/*
 * The worst that a promise must stand: blocks filled to the brim of each size of array,
 * then one new node in each of them.
 */
static void
promise_of_full_blocks(void **state)
{
	(void) state;
	for (unsigned class = 0; class < 7; class++)
	{
		for (int sparse = 0; sparse < 2; sparse++)
		{
			Model	   *m = model_new(true, 64 * 64 + 600);
			uint32_t	nblocks = 60;
			uint32_t	n = 0;
			int64_t		apart = sparse ? 1000000 * 64 : 64;

			for (uint32_t b = 0; b < nblocks; b++)
			{
				for (uint32_t i = 0; i < 1u << class; i++)
				{
					DblVersion	v = version_of(b * apart + i, b * apart + i, b * apart + i, b * apart + i);

					assert_true(dbl_reserve(&m->store, n + 1, 1));
					dbl_insert(&m->store, n++, &v);
				}
			}
			assert_true(dbl_reserve(&m->store, n + 40, 40));
			m->memory->fail_after = 0;
			for (uint32_t k = 0; k < 40; k++)
			{
				int64_t		id = (k % nblocks) * apart + 63;
				DblVersion	v = version_of(id, (k + 20) % nblocks * apart + 62,
										   (k + 40) % nblocks * apart + 61, (k + 50) % nblocks * apart + 60);

				dbl_insert(&m->store, n++, &v);
			}
			m->memory->fail_after = -1;
			check_store(&m->store);
			model_delete(m);
		}
	}
}

/* Random rounds: reserve some, remove and insert within the promise, with values that fill and empty blocks. */
static void
promise_with_removals(void **state)
{
	uint32_t	rounds = getenv("TEST_SCALE") ? 300 : 3000;
	Model	   *m = model_new(true, 4000);

	(void) state;
	for (uint32_t round = 0; round < rounds; round++)
	{
		uint32_t	inserts = 1 + random_below(60);

		if (random_below(20) == 0)
			m->spread = random_below(5);
		assert_true(dbl_reserve(&m->store, m->nslots + inserts, inserts));
		m->memory->fail_after = 0;
		for (uint32_t k = 0; k < inserts; k++)
		{
			DblVersion	v = model_random_version(m);
			DblSlot		slot;

			dbl_peek_free(&m->store, 1, &slot);
			dbl_insert(&m->store, slot, &v);
			m->v[slot] = v;
			m->v[slot].flags |= DBL_F_USED;
			m->serial[slot] = ++m->next_serial;
			m->nslots = dbl_nslots(&m->store);
			m->nused++;
			while (m->nused > 0 && (m->nused > 3800 || random_below(5) < 2))
				model_remove(m, model_random_used(m));
		}
		m->memory->fail_after = -1;
		if (round % 50 == 0)
		{
			check_store(&m->store);
			while (m->nused > 0 && round % 500 == 0)
				model_remove(m, model_random_used(m));
		}
	}
	model_delete(m);
}

/* A bulk build that fails leaves what dbl_store_destroy() can free. */
static void
build_fails(void **state)
{
	bool		done = false;

	(void) state;
	for (int64_t after = 0; !done; after++)
	{
		Model	   *m = model_new(true, 6000);

		m->spread = 4;
		m->memory->fail_after = after;
		if (dbl_build_begin(&m->store, 5000))
		{
			for (DblSlot slot = 0; slot < 5000; slot += 1 + random_below(2))
			{
				DblVersion	v = model_random_version(m);

				dbl_build_put(&m->store, slot, &v);
			}
			done = dbl_build_finish(&m->store, NULL, NULL);
		}
		assert_true(done || m->memory->failed);
		m->memory->fail_after = -1;
		if (done)
			check_store(&m->store);
		model_delete(m);
	}
}

/* A view that can't be brought up to date says so, and can be later. */
static void
view_fails(void **state)
{
	Model	   *m = model_new(true, 20000);
	DblStore	other;
	bool		done = false;

	(void) state;
	m->spread = 1;
	while (m->nused < 10000)
	{
		DblVersion	v = model_random_version(m);

		model_insert(m, &v);
	}
	dbl_store_attach(&other, &m->shared, &m->mem);
	for (int64_t after = 0; !done; after++)
	{
		m->memory->fail_after = after;
		done = dbl_store_refresh(&other);
		assert_true(after < 1000);
	}
	m->memory->fail_after = -1;
	check_store(&other);
	dbl_store_detach(&other);

	/* the check itself needs some memory, and says so too */
	m->memory->fail_after = 0;
	assert_int_equal(dbl_store_check(&m->store, NULL, NULL), 1);
	m->memory->fail_after = -1;
	model_delete(m);
}

static void
too_many_slots(void **state)
{
	Model	   *m = model_new(true, 8);

	(void) state;
	m->memory->fail_after = 50;
	assert_false(dbl_reserve(&m->store, UINT64_C(1) << 33, 1));
	assert_false(dbl_reserve(&m->store, UINT32_MAX, 1));
	m->memory->fail_after = -1;
	assert_true(dbl_reserve(&m->store, 1, 1));
	check_store(&m->store);
	model_delete(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reserve_fails),
		cmocka_unit_test(promise_of_full_blocks),
		cmocka_unit_test(promise_with_removals),
		cmocka_unit_test(build_fails),
		cmocka_unit_test(view_fails),
		cmocka_unit_test(too_many_slots),
	};

	random_start();
	return cmocka_run_group_tests_name("store short of memory", tests, NULL, NULL);
}
