/*-------------------------------------------------------------------------
 *
 * test_check.c
 *	  dbl_store_check() finds damage of every kind, and survives any.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include "store/internal.h"

typedef struct Found
{
	const char *text;			/* looked for */
	DblSlot		slot;			/* NONE: any */
	bool		found;
} Found;

static bool
note_fault(void *arg, DblSlot slot, const char *fault)
{
	Found	   *f = arg;

	if (strstr(fault, f->text) && (f->slot == NONE || f->slot == slot))
		f->found = true;
	return true;
}

static void
expect_fault(Model *m, const char *text, DblSlot slot)
{
	Found		f = {text, slot, false};

	assert_true(dbl_store_check(&m->store, note_fault, &f) > 0);
	if (!f.found)
	{
		print_error("not found: %s; found:\n", text);
		dbl_store_check(&m->store, print_fault, NULL);
		fail();
	}
}

/*
 * 40 links of one source, one target, one id and one type, slots 0 .. 39; slots 40 .. 49 apart from
 * each other; 50 .. 52 free.
 */
static Model *
sample(void)
{
	Model	   *m = model_new(true, 64);

	for (int i = 0; i < 53; i++)
	{
		DblVersion	v = i < 40 ? version_of(1, 2, 2, 4) :
			version_of(i * 1000000, i * 1000000, i * 1000000 + 1, i * 1000000);

		assert_true(dbl_reserve(&m->store, (uint64_t) i + 1, 1));
		dbl_insert(&m->store, (DblSlot) i, &v);
	}
	for (DblSlot i = 50; i < 53; i++)
		dbl_remove(&m->store, i);
	check_store(&m->store);
	return m;
}

static DblNode *
node_of(Model *m, int64_t value)
{
	return dbl_dir_find(&m->store, value, false);
}

static void
tree_faults(void **state)
{
	static const char *const name[] = {"by id", "by source", "by target"};
	static const int64_t owner[] = {1, 2, 2};
	static const uint8_t column[] = {DBL_ID, DBL_SOURCE, DBL_TARGET};
	char		text[80];

	(void) state;
	for (int kind = TREE_ID; kind <= TREE_IN; kind++)
	{
		Model	   *m = sample();
		DblStore   *s = &m->store;
		uint32_t   *root = &node_of(m, owner[kind])->root[kind];
		uint32_t	top = *root;
		uint32_t	left = *tree_left(s, kind, top);
		uint32_t	right = *tree_right(s, kind, top);
		uint32_t	keep;

		/* order: children change sides; so do their sizes, if they differ */
		*tree_left(s, kind, top) = right;
		*tree_right(s, kind, top) = left;
		snprintf(text, sizeof(text), "wrong order in a tree %s", name[kind]);
		expect_fault(m, text, NONE);
		*tree_left(s, kind, top) = left;
		*tree_right(s, kind, top) = right;
		check_store(s);

		/* size */
		++*tree_size(s, kind, left);
		snprintf(text, sizeof(text), "wrong size in a tree %s", name[kind]);
		expect_fault(m, text, left);
		--*tree_size(s, kind, left);

		/* missing: a leaf is cut off */
		{
			uint32_t	up = top;
			uint32_t	leaf = left;

			while (*tree_left(s, kind, leaf) != NONE)
			{
				up = leaf;
				leaf = *tree_left(s, kind, leaf);
			}
			*tree_left(s, kind, up) = NONE;
			snprintf(text, sizeof(text), "missing from trees %s", name[kind]);
			expect_fault(m, text, leaf);
			*tree_left(s, kind, up) = leaf;
			check_store(s);
		}

		/* twice, and round in a circle */
		*tree_left(s, kind, top) = right;
		snprintf(text, sizeof(text), "twice in trees %s", name[kind]);
		expect_fault(m, text, NONE);
		*tree_left(s, kind, top) = top;
		expect_fault(m, text, top);
		*tree_left(s, kind, top) = left;
		keep = node_of(m, 40000000)->root[kind == TREE_ID ? TREE_OUT : TREE_ID];
		assert_int_equal(keep, 40);
		{
			/* a tree of another node, under this one */
			DblNode    *node = node_of(m, kind == TREE_IN ? 40000001 : 40000000);

			assert_int_equal(node->root[kind], 40);
			node->root[kind] = top;
			expect_fault(m, text, top);
			node->root[kind] = 40;
			check_store(s);
		}

		/* a key changed under the tree's feet */
		snprintf(text, sizeof(text), "in the tree %s of another value", name[kind]);
		dbl_version(s, 41)->key[column[kind]]++;
		expect_fault(m, text, 41);
		dbl_version(s, 41)->key[column[kind]]--;
		dbl_version(s, 41)->flags |= DBL_F_NULL(column[kind]);
		expect_fault(m, text, 41);
		dbl_version(s, 41)->flags &= ~DBL_F_NULL(column[kind]);

		/* no such slot; a free one */
		{
			DblNode    *node = node_of(m, kind == TREE_IN ? 42000001 : 42000000);

			node->root[kind] = 4000000;
			snprintf(text, sizeof(text), "link to no slot in a tree %s", name[kind]);
			expect_fault(m, text, NONE);
			node->root[kind] = 51;
			snprintf(text, sizeof(text), "free slot reachable in a tree %s", name[kind]);
			expect_fault(m, text, 51);
			node->root[kind] = 42;
			check_store(s);
		}

		/* balance: a chain, with sizes right and order kept */
		{
			uint32_t	i;

			for (i = 0; i < 40; i++)
			{
				*tree_left(s, kind, i) = NONE;
				*tree_right(s, kind, i) = i == 39 ? NONE : i + 1;
				*tree_size(s, kind, i) = 40 - i;
			}
			*root = 0;
			snprintf(text, sizeof(text), "tree %s out of balance", name[kind]);
			expect_fault(m, text, 0);
		}
		model_delete(m);
	}
}

static void
free_list_faults(void **state)
{
	Model	   *m = sample();
	DblStore   *s = &m->store;
	DblSlot		head = m->shared.free_slots;
	DblSlot		next = dbl_version(s, head)->left;

	(void) state;
	m->shared.free_slots = next;
	expect_fault(m, "free slot missing from the free list", head);
	m->shared.free_slots = head;
	dbl_version(s, next)->left = head;
	expect_fault(m, "twice in the free list", head);
	dbl_version(s, next)->left = 7;
	expect_fault(m, "used slot in the free list", 7);
	dbl_version(s, next)->left = 999;
	expect_fault(m, "no such slot in the free list", NONE);
	dbl_version(s, head)->left = NONE;
	expect_fault(m, "free slot missing from the free list", next);
	model_delete(m);

	m = sample();
	dbl_version(&m->store, m->shared.free_slots)->right = 3;
	expect_fault(m, "wrong link back in the free list", NONE);
	model_delete(m);

	m = sample();
	m->shared.nused++;
	expect_fault(m, "wrong number of used slots", NONE);
	m->shared.nused--;
	dbl_version(&m->store, 5)->flags &= ~(uint32_t) DBL_F_USED;
	expect_fault(m, "free slot reachable in a tree by id", 5);
	expect_fault(m, "free slot reachable in a posting", 5);
	expect_fault(m, "free slot missing from the free list", 5);
	model_delete(m);
}

static void
posting_faults(void **state)
{
	Model	   *m = sample();
	DblStore   *s = &m->store;
	DblNode    *node = node_of(m, 4);
	DblTypeList *list = type_at(s, node->type);
	DblPosting *p = posting_at(s, list->head);
	DblPosting	keep = *p;
	DblTypeList keep_list = *list;
	DblNode		keep_node = *node;

	(void) state;
	p->slots[0] = 1;
	expect_fault(m, "twice in postings", 1);
	expect_fault(m, "missing from postings", 0);
	p->slots[0] = 40;
	expect_fault(m, "in the postings of another type", 40);
	p->slots[0] = 51;
	expect_fault(m, "free slot reachable in a posting", 51);
	p->slots[0] = 5000;
	expect_fault(m, "no such slot in a posting", NONE);
	*p = keep;
	p->used &= (uint16_t) ~2u;
	expect_fault(m, "missing from postings", 1);
	expect_fault(m, "wrong count of a list of postings", NONE);
	*p = keep;
	p->fill = 3;
	expect_fault(m, "wrong places in a posting", NONE);
	p->fill = 60000;
	expect_fault(m, "wrong places in a posting", NONE);
	*p = keep;
	p->seq = 100;
	expect_fault(m, "wrong order in a list of postings", NONE);
	*p = keep;
	p->type = 12345;
	expect_fault(m, "posting in the list of another type", NONE);
	*p = keep;
	p->prev = 3;
	expect_fault(m, "wrong link back in a list of postings", NONE);
	*p = keep;
	p->next = list->head;
	expect_fault(m, "posting twice in lists", NONE);
	p->next = 99999;
	expect_fault(m, "link to no posting", NONE);
	*p = keep;
	slot_links(s, 3)->place++;
	expect_fault(m, "wrong place in postings", 3);
	slot_links(s, 3)->place--;
	list->tail = list->head;
	expect_fault(m, "wrong end of a list of postings", NONE);
	*list = keep_list;
	list->head = NONE;
	expect_fault(m, "empty list of postings", NONE);
	*list = keep_list;
	node->type = 77777;
	expect_fault(m, "link to no list of postings", NONE);
	node->type = NONE;
	expect_fault(m, "missing from postings", 0);
	expect_fault(m, "item of a pool neither free nor in use", NONE);
	*node = keep_node;
	node_of(m, 44000000)->type = node->type;
	expect_fault(m, "list of postings of two types", NONE);
	model_delete(m);
}

static void
directory_faults(void **state)
{
	Model	   *m = sample();
	DblStore   *s = &m->store;
	DblStoreShared *sh = &m->shared;
	uint32_t	root = sh->root_block;
	uint32_t	left;
	DblBlock   *b = block_at(s, root);
	DblBlock	keep = *b;
	uint32_t	slot0;

	(void) state;
	assert_true(root != NONE);
	left = b->left;
	assert_true(left != NONE);
	sh->nnodes++;
	expect_fault(m, "wrong number of nodes", NONE);
	sh->nnodes--;
	sh->nblocks++;
	expect_fault(m, "wrong number of blocks", NONE);
	sh->nblocks--;
	b->left = b->right;
	b->right = left;
	expect_fault(m, "wrong order of blocks in the directory", NONE);
	b->left = root;
	expect_fault(m, "block twice in the directory", NONE);
	b->left = 100000;
	expect_fault(m, "link to no block in the directory", NONE);
	*b = keep;
	b->size++;
	expect_fault(m, "wrong size in the directory's tree", NONE);
	*b = keep;
	b->present = 0;
	expect_fault(m, "wrong number of nodes in a block", NONE);
	b->present = UINT64_MAX;
	expect_fault(m, "wrong number of nodes in a block", NONE);
	*b = keep;
	b->class = 99;
	expect_fault(m, "wrong number of nodes in a block", NONE);
	*b = keep;
	b->nodes = 100000;
	expect_fault(m, "link to no nodes in a block", NONE);
	*b = keep;
	b->nodes = block_at(s, left)->nodes;
	b->class = block_at(s, left)->class;
	expect_fault(m, "nodes of two blocks", NONE);
	*b = keep;
	b->present = keep.present << 1;
	expect_fault(m, "of another value", NONE);
	*b = keep;
	memset(nodes_at(s, b->class, b->nodes), 0xFF, sizeof(DblNode));
	expect_fault(m, "empty node in the directory", NONE);
	expect_fault(m, "missing from trees", NONE);
	model_delete(m);

	/* the window: 1, 2 and 4 are in the block of number 0 */
	m = sample();
	s = &m->store;
	sh = &m->shared;
	assert_true(sh->window > 10);
	slot0 = *window_at(s, 0);
	assert_true(slot0 != 0);
	*window_at(s, 0) = 0;
	*window_at(s, 9) = slot0;
	expect_fault(m, "wrong block in the directory's window", NONE);
	*window_at(s, 9) = 0;
	expect_fault(m, "missing from trees by id", 0);
	*window_at(s, 0) = 100000;
	expect_fault(m, "link to no block in the directory", NONE);
	*window_at(s, 0) = slot0;
	block_at(s, sh->root_block)->number = 3;
	expect_fault(m, "block of the window in the directory's tree", NONE);
	model_delete(m);
}

/* The hash comes with many blocks outside the window. */
static void
hash_faults(void **state)
{
	Model	   *m = model_new(true, 64);
	DblStore   *s = &m->store;
	DblStoreShared *sh = &m->shared;
	uint32_t	bucket = 0;
	uint32_t	other;
	uint32_t	head;
	DblBlock   *b;

	(void) state;
	for (uint32_t i = 0; i < 60; i++)
	{
		DblVersion	v = version_of(i * 1000000, i * 1000000, -1000000, 0);

		assert_true(dbl_reserve(s, (uint64_t) i + 1, 1));
		dbl_insert(s, i, &v);
	}
	check_store(s);
	assert_true(sh->nbuckets > 32);
	while (*bucket_at(s, bucket) == 0)
		bucket++;
	head = *bucket_at(s, bucket);
	b = block_at(s, head - 1);
	other = (bucket + 1) % sh->nbuckets;

	*bucket_at(s, bucket) = b->next;
	expect_fault(m, "block missing from the directory's hash", NONE);
	*bucket_at(s, bucket) = 100000;
	expect_fault(m, "link to no block in the directory's hash", NONE);
	*bucket_at(s, bucket) = *window_at(s, 0);
	expect_fault(m, "block in the directory's hash but not in its tree", NONE);
	*bucket_at(s, bucket) = head;
	{
		uint32_t	keep = b->next;

		b->next = head;
		expect_fault(m, "block twice in the directory's hash", NONE);
		b->next = keep;
		keep = *bucket_at(s, other);
		*bucket_at(s, other) = head;
		*bucket_at(s, bucket) = 0;
		expect_fault(m, "block in the wrong bucket of the directory's hash", NONE);
		*bucket_at(s, other) = keep;
		*bucket_at(s, bucket) = head;
	}
	sh->nbuckets += 100000;
	expect_fault(m, "hash bigger than its memory", NONE);
	sh->nbuckets -= 100000;
	check_store(s);
	model_delete(m);
}

static void
pool_faults(void **state)
{
	Model	   *m = sample();
	DblStore   *s = &m->store;
	DblPool    *pool;
	DblPool		keep;

	(void) state;
	pool = &m->shared.pools[DBL_POOL_POSTINGS];
	keep = *pool;
	assert_true(pool->nfree > 0);
	posting_at(s, pool->free_head)->type = 1;
	expect_fault(m, "free posting with a type", NONE);
	posting_at(s, pool->free_head)->type = NONE;
	pool->nfree++;
	expect_fault(m, "wrong number of free items in a pool", NONE);
	*pool = keep;
	pool->free_head = NONE;
	pool->nfree = 0;
	expect_fault(m, "item of a pool neither free nor in use", NONE);
	pool->free_head = type_at(s, node_of(m, 4)->type)->head;
	expect_fault(m, "item of a pool both free and in use, or free twice", NONE);
	pool->free_head = 88888;
	expect_fault(m, "no such item in a pool's free list", NONE);
	*pool = keep;
	pool->count = 100000;
	expect_fault(m, "pool bigger than its memory", NONE);
	*pool = keep;
	m->shared.nslots += 100000;
	expect_fault(m, "more slots than memory for them", NONE);
	m->shared.nslots -= 100000;
	m->shared.window += 1000000;
	expect_fault(m, "window bigger than its memory", NONE);
	m->shared.window -= 1000000;
	m->shared.building = true;
	expect_fault(m, "bulk load not finished", NONE);
	m->shared.building = false;
	check_store(s);
	model_delete(m);
}

static bool
stop_at_once(void *arg, DblSlot slot, const char *fault)
{
	(void) slot;
	(void) fault;
	++*(int *) arg;
	return false;
}

static void
stops_when_told(void **state)
{
	Model	   *m = sample();
	int			n = 0;

	(void) state;
	for (DblSlot i = 0; i < 50; i++)
		slot_links(&m->store, i)->id_size += 5;
	assert_true(dbl_store_check(&m->store, stop_at_once, &n) == 1);
	assert_int_equal(n, 1);
	assert_true(dbl_store_check(&m->store, NULL, NULL) > 30);
	model_delete(m);
}

/*
 * Random damage anywhere in the pieces of the store: the check ends.  It need
 * not find damage in fields that only others read.
 */
static void
random_damage(void **state)
{
	uint32_t	rounds = getenv("TEST_SCALE") ? 300 : 6000;
	uint64_t	nfound = 0;

	(void) state;
	for (uint32_t round = 0; round < rounds; round++)
	{
		Model	   *m = model_new(true, 200);
		DblPool    *pool;
		int			p;

		m->spread = random_below(5);
		while (m->nused < 100)
		{
			DblVersion	v = model_random_version(m);

			model_insert(m, &v);
			if (random_below(4) == 0)
				model_remove(m, model_random_used(m));
		}
		do
			p = (int) random_below(DBL_NPOOLS);
		while (m->shared.pools[p].count == 0 && p > DBL_POOL_LINKS);
		pool = &m->shared.pools[p];
		for (uint32_t k = 1 + random_below(3); k > 0; k--)
		{
			uint32_t	n = p <= DBL_POOL_LINKS ? m->nslots : pool->count;
			uint32_t   *word = (uint32_t *) (m->store.pools[p].base[0] +
											 random_below(n) * dbl_pool_item_size[p]);

			word += random_below(dbl_pool_item_size[p] / 4);
			*word = random_below(2) ? (uint32_t) random_bits() : random_below(n + 2);
		}
		nfound += dbl_store_check(&m->store, NULL, NULL) > 0;
		model_delete(m);
	}
	printf("%llu of %u damaged stores told apart\n", (unsigned long long) nfound, rounds);
	assert_true(nfound > rounds / 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree_faults),
		cmocka_unit_test(free_list_faults),
		cmocka_unit_test(posting_faults),
		cmocka_unit_test(directory_faults),
		cmocka_unit_test(hash_faults),
		cmocka_unit_test(pool_faults),
		cmocka_unit_test(stops_when_told),
		cmocka_unit_test(random_damage),
	};

	random_start();
	return cmocka_run_group_tests_name("store check", tests, NULL, NULL);
}
