/*-------------------------------------------------------------------------
 *
 * build.c
 *	  Bulk load: fill slots, then make every structure in one go.
 *
 * For each structure the versions are sorted by its order (radix sort, stable,
 * so that slots break ties), and trees are built balanced from the runs.
 *
 *-------------------------------------------------------------------------
 */
#include "store/internal.h"

typedef struct SortItem
{
	uint64_t	key;
	DblSlot		slot;
} SortItem;

/* Values of one column: how to make sort keys of them. */
typedef struct Column
{
	int			col;
	bool		any_null;
	bool		any_value;
	int64_t		min;
	int64_t		max;
	uint64_t	last;			/* greatest key, that of NULL included */
	bool		too_wide;		/* no key is left for NULL */
	int			bits;			/* of `last` */
} Column;

typedef struct Build
{
	DblStore   *s;
	uint32_t	n;
	SortItem   *items;
	SortItem   *other;
	DblSlot    *slots;			/* sorted; same memory as `other` */
	Column		column[DBL_NCOLUMNS];
	DblBuildStepFn step;
	void	   *step_arg;
	DblBuildStep at;
	bool		given_up;
} Build;

/* Versions between two calls of the step function. */
#define STEP_VERSIONS	(1 << 16)

static bool
go_on(Build *b, uint32_t done)
{
	if (b->step != NULL && !b->given_up && !b->step(b->step_arg, b->at, done))
		b->given_up = true;
	return !b->given_up;
}

bool
dbl_build_begin(DblStore *s, uint64_t nslots)
{
	if (!dbl_reserve(s, nslots, 0))
		return false;
	s->shared->nslots = (uint32_t) nslots;
	s->shared->building = true;
	return true;
}

void
dbl_build_put(DblStore *s, DblSlot slot, const DblVersion *v)
{
	DblVersion *to = dbl_version(s, slot);

	assert(slot < s->shared->nslots);
	*to = *v;
	to->flags |= DBL_F_USED;
}

/* --- sorting -------------------------------------------------------------------- */

static int
bit_length(uint64_t x)
{
	return x == 0 ? 0 : 64 - __builtin_clzll(x);
}

static uint64_t
sort_key(const Column *c, const DblVersion *v)
{
	if (DblVersionIsNull(v, c->col))
		return c->too_wide ? 0 : c->last;
	return (uint64_t) v->key[c->col] - (uint64_t) c->min;
}

/* Sort b->items by key, keeping the order of equals.  Keys are below 2^bits. */
static void
radix_sort(Build *b, int bits)
{
	bool		sorted = true;

	for (uint32_t i = 1; i < b->n && sorted; i++)
		sorted = b->items[i - 1].key <= b->items[i].key;
	if (sorted)
		return;
	for (int shift = 0; shift < bits; shift += 8)
	{
		uint32_t	at[256] = {0};
		uint32_t	sum = 0;
		SortItem   *swap;

		if (!go_on(b, 0))
			return;
		for (uint32_t i = 0; i < b->n; i++)
			at[b->items[i].key >> shift & 255]++;
		if (at[b->items[0].key >> shift & 255] == b->n)
			continue;
		for (int d = 0; d < 256; d++)
		{
			uint32_t	n = at[d];

			at[d] = sum;
			sum += n;
		}
		for (uint32_t i = 0; i < b->n; i++)
			b->other[at[b->items[i].key >> shift & 255]++] = b->items[i];
		swap = b->items;
		b->items = b->other;
		b->other = swap;
	}
}

/* Stable sort of the items by one column, NULL last. */
static void
sort_by_column(Build *b, const Column *c)
{
	for (uint32_t i = 0; i < b->n; i++)
		b->items[i].key = sort_key(c, dbl_version(b->s, b->items[i].slot));
	radix_sort(b, c->bits);
	if (c->too_wide && c->any_null)
	{
		/* NULLs are among the lowest values; put them behind all others */
		uint32_t	n = 0;

		for (int null = 0; null < 2; null++)
		{
			for (uint32_t i = 0; i < b->n; i++)
			{
				if (DblVersionIsNull(dbl_version(b->s, b->items[i].slot), c->col) == null)
					b->other[n++] = b->items[i];
			}
		}
		memcpy(b->items, b->other, b->n * sizeof(SortItem));
	}
}

/* All used slots, sorted by one column or two and then by slot, into b->slots. */
static void
sort_slots(Build *b, int first, int second)
{
	DblStore   *s = b->s;
	uint32_t	nslots = s->shared->nslots;
	const Column *c1 = &b->column[first];
	const Column *c2 = second < 0 ? NULL : &b->column[second];
	int			bits2 = c2 ? c2->bits : 0;
	uint32_t	n = 0;

	if (c1->bits + bits2 <= 64 && !c1->too_wide && !(c2 && c2->too_wide))
	{
		for (DblSlot slot = 0; slot < nslots; slot++)
		{
			const DblVersion *v = dbl_version(s, slot);
			uint64_t	key;

			if (!(v->flags & DBL_F_USED))
				continue;
			key = sort_key(c1, v);
			if (c2)
				key = bits2 == 64 ? sort_key(c2, v) : key << bits2 | sort_key(c2, v);
			b->items[n++] = (SortItem) {key, slot};
		}
		radix_sort(b, c1->bits + bits2);
	}
	else
	{
		for (DblSlot slot = 0; slot < nslots; slot++)
		{
			if (dbl_version(s, slot)->flags & DBL_F_USED)
				b->items[n++] = (SortItem) {0, slot};
		}
		if (c2)
			sort_by_column(b, c2);
		sort_by_column(b, c1);
	}
	b->slots = (DblSlot *) b->other;
	for (uint32_t i = 0; i < b->n; i++)
		b->slots[i] = b->items[i].slot;
}

/* --- structures ------------------------------------------------------------------- */

/* What is made of the versions with one value of the column, n slots in order. */
static bool
make_run(Build *b, int what, DblNode *node, const DblSlot *slots, uint32_t n)
{
	DblStore   *s = b->s;

	if (what <= TREE_IN)
	{
		node->root[what] = dbl_tree_build(s, what, slots, n);
		return true;
	}
	if (!pool_reserve(s, DBL_POOL_TYPES, 1) ||
		!pool_reserve(s, DBL_POOL_POSTINGS, n / DBL_POSTING_SLOTS + 1))
		return false;
	for (uint32_t i = 0; i < n; i++)
		dbl_posting_add(s, node, slots[i]);
	return true;
}

static uint32_t
run_end(Build *b, uint32_t i, int col)
{
	int64_t		value = dbl_version(b->s, b->slots[i])->key[col];

	for (i++; i < b->n; i++)
	{
		const DblVersion *v = dbl_version(b->s, b->slots[i]);

		if (v->key[col] != value || DblVersionIsNull(v, col))
			break;
	}
	return i;
}

/* One structure: the trees of a kind, or (what > TREE_IN) the postings. */
static bool
make_structure(Build *b, int what, int col, int second)
{
	DblStore   *s = b->s;
	uint32_t	i = 0;
	uint32_t	told = 0;

	b->at = (DblBuildStep) what;
	if (!go_on(b, 0))
		return false;
	sort_slots(b, col, second);
	while (i < b->n && !b->given_up)
	{
		const DblVersion *v = dbl_version(s, b->slots[i]);
		int64_t		number = block_number(v->key[col]);
		uint64_t	mask = 0;
		uint32_t	j;

		if (DblVersionIsNull(v, col))
			return make_run(b, what, null_node(s), b->slots + i, b->n - i);

		/* all runs of one block of the directory */
		for (j = i; j < b->n; j++)
		{
			v = dbl_version(s, b->slots[j]);
			if (j + 8 < b->n)
				__builtin_prefetch(dbl_version(s, b->slots[j + 8]));
			if (DblVersionIsNull(v, col) || block_number(v->key[col]) != number)
				break;
			mask |= UINT64_C(1) << ((uint64_t) v->key[col] & 63);
		}
		if (!dbl_dir_prepare_block(s, number, mask))
			return false;
		while (i < j)
		{
			uint32_t	end = run_end(b, i, col);
			DblNode    *node = dbl_dir_find(s, dbl_version(s, b->slots[i])->key[col], false);

			if (!make_run(b, what, node, b->slots + i, end - i))
				return false;
			i = end;
		}
		if (i - told >= STEP_VERSIONS)
		{
			told = i;
			(void) go_on(b, i);
		}
	}
	return !b->given_up;
}

/* Count versions, learn the ranges of columns, make the free list. */
static void
survey(Build *b)
{
	DblStore   *s = b->s;
	DblStoreShared *sh = s->shared;

	for (int c = 0; c < DBL_NCOLUMNS; c++)
		b->column[c] = (Column) {.col = c};
	for (DblSlot slot = sh->nslots; slot-- > 0;)
	{
		DblVersion *v = dbl_version(s, slot);

		slot_links(s, slot)->place = NONE;
		if (!(v->flags & DBL_F_USED))
		{
			v->left = sh->free_slots;
			v->right = NONE;
			if (v->left != NONE)
				dbl_version(s, v->left)->right = slot;
			sh->free_slots = slot;
			continue;
		}
		b->n++;
		for (int c = 0; c < DBL_NCOLUMNS; c++)
		{
			Column	   *column = &b->column[c];

			if (DblVersionIsNull(v, c))
				column->any_null = true;
			else if (!column->any_value)
			{
				column->any_value = true;
				column->min = column->max = v->key[c];
			}
			else if (v->key[c] < column->min)
				column->min = v->key[c];
			else if (v->key[c] > column->max)
				column->max = v->key[c];
		}
	}
	sh->nused = b->n;
	for (int c = 0; c < DBL_NCOLUMNS; c++)
	{
		Column	   *column = &b->column[c];

		column->last = (uint64_t) column->max - (uint64_t) column->min;
		if (column->any_null)
		{
			if (column->last == UINT64_MAX)
				column->too_wide = true;
			else
				column->last++;
		}
		column->bits = bit_length(column->last);
	}
}

bool
dbl_build_finish(DblStore *s, DblBuildStepFn step, void *arg)
{
	Build		b = {.s = s,.step = step,.step_arg = arg};
	void	   *memory[2];
	bool		done;

	survey(&b);
	if (b.n == 0)
	{
		s->shared->building = false;
		return true;
	}
	memory[0] = s->mem.scratch_alloc(s->mem.ctx, b.n * sizeof(SortItem));
	memory[1] = s->mem.scratch_alloc(s->mem.ctx, b.n * sizeof(SortItem));
	b.items = memory[0];
	b.other = memory[1];
	done = b.items != NULL && b.other != NULL &&
		make_structure(&b, TREE_ID, DBL_ID, -1) &&
		make_structure(&b, TREE_OUT, DBL_SOURCE, DBL_TARGET) &&
		make_structure(&b, TREE_IN, DBL_TARGET, DBL_SOURCE) &&
		(!s->shared->has_type || make_structure(&b, TREE_IN + 1, DBL_TYPE, -1));
	for (int i = 0; i < 2; i++)
	{
		if (memory[i])
			s->mem.scratch_free(s->mem.ctx, memory[i]);
	}
	if (done)
		s->shared->building = false;
	return done;
}
