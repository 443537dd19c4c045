/*-------------------------------------------------------------------------
 *
 * harness.c
 *	  Memory, random numbers and the naive model of the unit tests.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <time.h>

/* --- memory ------------------------------------------------------------- */

static bool
may_fail(Memory *m)
{
	if (m->fail_after < 0)
		return false;
	if (m->fail_after == 0)
	{
		m->failed = true;
		return true;
	}
	m->fail_after--;
	return false;
}

static DblRef
mem_alloc(void *ctx, size_t size)
{
	Memory	   *m = ctx;
	uint32_t	i;

	assert_true(size > 0);
	if (may_fail(m))
		return 0;
	if (m->nunused > 0)
		i = m->unused[--m->nunused];
	else
		i = m->npieces++;
	assert_true(i < MAX_PIECES);
	m->piece[i] = malloc(size);
	memset(m->piece[i], 0xA5, size);
	m->size[i] = size;
	m->bytes += size;
	m->nallocs++;
	return (DblRef) i + 1;
}

static void
mem_free(void *ctx, DblRef ref, size_t size)
{
	Memory	   *m = ctx;
	uint32_t	i = (uint32_t) ref - 1;

	assert_true(ref > 0 && ref <= m->npieces && m->piece[i] != NULL);
	assert_int_equal(m->size[i], size);
	memset(m->piece[i], 0x5A, size);
	free(m->piece[i]);
	m->piece[i] = NULL;
	m->unused[m->nunused++] = i;
	m->bytes -= size;
}

static void *
mem_resolve(void *ctx, DblRef ref)
{
	Memory	   *m = ctx;

	assert_true(ref > 0 && ref <= m->npieces && m->piece[ref - 1] != NULL);
	return may_fail(m) ? NULL : m->piece[ref - 1];
}

static void *
mem_scratch_alloc(void *ctx, size_t size)
{
	Memory	   *m = ctx;
	void	   *p;

	if (may_fail(m))
		return NULL;
	p = malloc(size ? size : 1);
	memset(p, 0xA5, size);
	m->nscratch++;
	return p;
}

static void
mem_scratch_free(void *ctx, void *p)
{
	assert_non_null(p);
	((Memory *) ctx)->nscratch--;
	free(p);
}

Memory *
memory_new(DblMem *mem)
{
	Memory	   *m = calloc(1, sizeof(Memory));

	m->fail_after = -1;
	*mem = (DblMem) {m, mem_alloc, mem_free, mem_resolve, mem_scratch_alloc, mem_scratch_free};
	return m;
}

void
memory_delete(Memory *m)
{
	assert_int_equal(m->bytes, 0);
	assert_int_equal(m->nscratch, 0);
	free(m);
}

/* --- random -------------------------------------------------------------- */

uint64_t	test_seed;
static uint64_t random_state;

void
random_start(void)
{
	const char *env = getenv("TEST_SEED");

	test_seed = env ? strtoull(env, NULL, 10) : (uint64_t) time(NULL);
	random_state = test_seed;
	printf("TEST_SEED=%llu\n", (unsigned long long) test_seed);
}

/* splitmix64 */
uint64_t
random_bits(void)
{
	uint64_t	z = (random_state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

uint32_t
random_below(uint32_t n)
{
	return (uint32_t) ((random_bits() >> 32) * n >> 32);
}

/* --- model ----------------------------------------------------------------- */

Model *
model_new(bool has_type, uint32_t room)
{
	Model	   *m = calloc(1, sizeof(Model));

	m->memory = memory_new(&m->mem);
	m->has_type = has_type;
	m->room = room;
	m->v = calloc(room, sizeof(DblVersion));
	m->serial = calloc(room, sizeof(uint64_t));
	dbl_store_init(&m->shared, has_type);
	dbl_store_attach(&m->store, &m->shared, &m->mem);
	assert_true(dbl_store_refresh(&m->store));
	return m;
}

void
model_delete(Model *m)
{
	dbl_store_destroy(&m->store);
	memory_delete(m->memory);
	free(m->v);
	free(m->serial);
	free(m);
}

static int64_t
random_value(Model *m)
{
	static const int64_t odd[] = {
		INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1, -1, 0, 1, -63, -64, -65, 62, 63, 64,
		65, 127, 128, INT64_C(1) << 40, -(INT64_C(1) << 40), INT32_MAX, INT32_MIN
	};

	switch (m->spread)
	{
		case 0:
			return random_below(8);
		case 1:
			return (int64_t) random_below(m->room + 8);
		case 2:
			return odd[random_below(sizeof(odd) / sizeof(odd[0]))];
		case 3:
			return (int64_t) random_below(400) - 200;
		default:
			return random_below(4) == 0 ? (int64_t) random_below(10) : (int64_t) random_bits();
	}
}

DblVersion
model_random_version(Model *m)
{
	DblVersion	v;

	memset(&v, 0, sizeof(v));
	for (int c = 0; c < DBL_NCOLUMNS; c++)
	{
		if (random_below(12) == 0 || (c == DBL_TYPE && !m->has_type))
			v.flags |= DBL_F_NULL(c);
		else
			v.key[c] = c == DBL_TYPE && random_below(3) ? (int64_t) random_below(3) : random_value(m);
	}
	if (random_below(10) == 0 && !DblVersionIsNull(&v, DBL_SOURCE))
	{
		/* both ends the same, now and then the link itself */
		v.flags &= ~DBL_F_NULL(DBL_TARGET);
		v.key[DBL_TARGET] = v.key[DBL_SOURCE];
		if (random_below(2) == 0)
		{
			v.flags &= ~DBL_F_NULL(DBL_ID);
			v.key[DBL_ID] = v.key[DBL_SOURCE];
		}
	}
	else if (random_below(4) == 0 && m->nused > 0)
	{
		/* another version of a link that there is */
		DblVersion *w = &m->v[model_random_used(m)];

		for (int c = 0; c < DBL_NCOLUMNS; c++)
		{
			if (c == DBL_ID || random_below(2))
			{
				v.key[c] = w->key[c];
				v.flags = (v.flags & ~DBL_F_NULL(c)) | (w->flags & DBL_F_NULL(c));
			}
		}
	}
	v.xmin = (uint32_t) random_bits();
	v.xmax = (uint32_t) random_bits();
	v.cmin = (uint32_t) random_bits();
	v.cmax = (uint32_t) random_bits();
	v.next = (uint32_t) random_bits();
	v.flags |= (uint32_t) random_bits() & ~(uint32_t) (DBL_F_NULLS | DBL_F_USED);
	v.flags &= ~(uint32_t) DBL_F_USED;
	return v;
}

DblRange
model_random_range(Model *m)
{
	DblRange	r;

	switch (random_below(6))
	{
		case 0:
			return DBL_RANGE_ALL;
		case 1:
			return range_of(1, 0, true);
		case 2:
			r.lo = r.hi = random_value(m);
			r.with_null = random_below(4) == 0;
			return r;
		default:
			r.lo = random_value(m);
			r.hi = random_value(m);
			if (r.lo > r.hi && random_below(8))
			{
				int64_t		lo = r.hi;

				r.hi = r.lo;
				r.lo = lo;
			}
			r.with_null = random_below(2) == 0;
			return r;
	}
}

/* Insert into both; the caller has seen to memory, or it is plenty. */
DblSlot
model_insert(Model *m, const DblVersion *v)
{
	DblSlot		slot;

	dbl_peek_free(&m->store, 1, &slot);
	if (random_below(16) == 0)
	{
		/* any free slot will do, also one further on */
		DblSlot		other = random_below(m->nslots + 3);

		if (other < m->room && (other >= m->nslots || !(m->v[other].flags & DBL_F_USED)))
			slot = other;
	}
	assert_true(slot < m->room);
	assert_false(m->v[slot].flags & DBL_F_USED);
	assert_true(dbl_reserve(&m->store, (uint64_t) slot + 1, 1));
	dbl_insert(&m->store, slot, v);
	m->v[slot] = *v;
	m->v[slot].flags |= DBL_F_USED;
	m->serial[slot] = ++m->next_serial;
	if (slot >= m->nslots)
		m->nslots = slot + 1;
	m->nused++;
	assert_int_equal(dbl_nslots(&m->store), m->nslots);
	assert_memory_equal(dbl_version(&m->store, slot), &m->v[slot], offsetof(DblVersion, left));
	return slot;
}

void
model_remove(Model *m, DblSlot slot)
{
	assert_true(m->v[slot].flags & DBL_F_USED);
	assert_memory_equal(dbl_version(&m->store, slot), &m->v[slot], offsetof(DblVersion, left));
	dbl_remove(&m->store, slot);
	memset(&m->v[slot], 0, sizeof(DblVersion));
	m->nused--;
	assert_false(dbl_version(&m->store, slot)->flags & DBL_F_USED);
}

DblSlot
model_random_used(Model *m)
{
	DblSlot		slot;

	assert_true(m->nused > 0);
	do
		slot = random_below(m->nslots);
	while (!(m->v[slot].flags & DBL_F_USED));
	return slot;
}

int
model_column(DblAccess access)
{
	static const int column[] = {DBL_ID, DBL_SOURCE, DBL_TARGET, DBL_TYPE};

	return column[access];
}

int
model_second(DblAccess access)
{
	return access == DBL_BY_SOURCE ? DBL_TARGET : access == DBL_BY_TARGET ? DBL_SOURCE : -1;
}

static bool
in_range(const DblVersion *v, int col, const DblRange *r)
{
	if (DblVersionIsNull(v, col))
		return r->with_null;
	return v->key[col] >= r->lo && v->key[col] <= r->hi;
}

bool
model_matches(Model *m, DblSlot slot, DblAccess access, const DblRange *first,
			  const DblRange *second)
{
	const DblVersion *v = &m->v[slot];

	return (v->flags & DBL_F_USED) && in_range(v, model_column(access), first) &&
		(second == NULL || model_second(access) < 0 || in_range(v, model_second(access), second));
}

static int
compare_column(const DblVersion *a, const DblVersion *b, int col)
{
	bool		anull = DblVersionIsNull(a, col);
	bool		bnull = DblVersionIsNull(b, col);

	if (anull || bnull)
		return anull - bnull;
	return a->key[col] < b->key[col] ? -1 : a->key[col] > b->key[col];
}

int
model_compare(Model *m, DblAccess access, DblSlot a, DblSlot b)
{
	int			c = compare_column(&m->v[a], &m->v[b], model_column(access));

	if (c == 0 && model_second(access) >= 0)
		c = compare_column(&m->v[a], &m->v[b], model_second(access));
	if (c == 0 && access == DBL_BY_TYPE)
		return m->serial[a] < m->serial[b] ? -1 : m->serial[a] > m->serial[b];
	if (c == 0)
		return a < b ? -1 : a > b;
	return c;
}

static Model *sort_model;
static DblAccess sort_access;

static int
sort_compare(const void *a, const void *b)
{
	return model_compare(sort_model, sort_access, *(const DblSlot *) a, *(const DblSlot *) b);
}

uint32_t
model_scan(Model *m, DblAccess access, const DblRange *first, const DblRange *second,
		   bool backward, DblSlot *out)
{
	uint32_t	n = 0;

	if (access == DBL_BY_TYPE && !m->has_type)
		return 0;
	for (DblSlot slot = 0; slot < m->nslots; slot++)
	{
		if (model_matches(m, slot, access, first, second))
			out[n++] = slot;
	}
	sort_model = m;
	sort_access = access;
	qsort(out, n, sizeof(DblSlot), sort_compare);
	if (backward)
	{
		for (uint32_t i = 0; i < n / 2; i++)
		{
			DblSlot		t = out[i];

			out[i] = out[n - 1 - i];
			out[n - 1 - i] = t;
		}
	}
	return n;
}

DblVersion
version_of(int64_t id, int64_t source, int64_t target, int64_t type)
{
	DblVersion	v;

	memset(&v, 0, sizeof(v));
	v.key[DBL_ID] = id;
	v.key[DBL_SOURCE] = source;
	v.key[DBL_TARGET] = target;
	v.key[DBL_TYPE] = type;
	return v;
}

DblRange
range_of(int64_t lo, int64_t hi, bool with_null)
{
	return (DblRange) {lo, hi, with_null};
}

bool
print_fault(void *arg, DblSlot slot, const char *fault)
{
	(void) arg;
	print_error("slot %lld: %s\n", slot == DBL_NO_SLOT ? -1LL : (long long) slot, fault);
	return true;
}
