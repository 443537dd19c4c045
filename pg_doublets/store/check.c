/*-------------------------------------------------------------------------
 *
 * check.c
 *	  Verification of a store.
 *
 * Trusts nothing: every number is checked before it is followed, and nothing
 * is followed twice, so that any damage inside the store's memory ends in
 * faults told, not in a crash or a loop.
 *
 *-------------------------------------------------------------------------
 */
#include "store/internal.h"

/* What has been met, a bit each.  The first four are of slots. */
enum
{
	SEEN_ID = TREE_ID,
	SEEN_OUT = TREE_OUT,
	SEEN_IN = TREE_IN,
	SEEN_POSTING,				/* slot found in a posting */
	SEEN_FREE,
	SEEN_HASH,					/* block found in a bucket */
	SEEN_POOL,					/* + pool: items of it */
	NSEEN = SEEN_POOL + DBL_POOL_NODES + DBL_NODE_CLASSES
};

typedef struct Check
{
	DblStore   *s;
	DblFaultFn	fault;
	void	   *arg;
	uint64_t	nfaults;
	bool		stop;
	uint64_t   *seen[NSEEN];
	uint32_t	limit[NSEEN];

	/* the tree being looked at */
	bool		null;
	int64_t		value;
	bool		have_prev;
	DblBound	prev;
} Check;

static const char *const wrong_value[3] = {
	"in the tree by id of another value",
	"in the tree by source of another value",
	"in the tree by target of another value"
};
static const char *const twice[4] = {
	"twice in trees by id",
	"twice in trees by source",
	"twice in trees by target",
	"block twice in the directory"
};
static const char *const free_slot[3] = {
	"free slot reachable in a tree by id",
	"free slot reachable in a tree by source",
	"free slot reachable in a tree by target"
};
static const char *const no_such[4] = {
	"link to no slot in a tree by id",
	"link to no slot in a tree by source",
	"link to no slot in a tree by target",
	"link to no block in the directory"
};
static const char *const order[4] = {
	"wrong order in a tree by id",
	"wrong order in a tree by source",
	"wrong order in a tree by target",
	"wrong order of blocks in the directory"
};
static const char *const size[4] = {
	"wrong size in a tree by id",
	"wrong size in a tree by source",
	"wrong size in a tree by target",
	"wrong size in the directory's tree"
};
static const char *const balance[4] = {
	"tree by id out of balance",
	"tree by source out of balance",
	"tree by target out of balance",
	"directory's tree out of balance"
};
static const char *const deep[4] = {
	"tree by id too deep",
	"tree by source too deep",
	"tree by target too deep",
	"directory's tree too deep"
};
static const char *const missing[4] = {
	"missing from trees by id",
	"missing from trees by source",
	"missing from trees by target",
	"missing from postings"
};

static void
tell(Check *c, DblSlot slot, const char *text)
{
	if (c->stop)
		return;
	c->nfaults++;
	if (c->fault && !c->fault(c->arg, slot, text))
		c->stop = true;
}

static bool
is_seen(const Check *c, int what, uint32_t i)
{
	return c->seen[what][i / 64] >> (i % 64) & 1;
}

static void
set_seen(Check *c, int what, uint32_t i)
{
	c->seen[what][i / 64] |= UINT64_C(1) << (i % 64);
}

/* What SEEN_ number tells of the entries of a tree. */
static int
tree_seen(int kind)
{
	return kind == TREE_BLOCK ? SEEN_POOL + DBL_POOL_BLOCKS : kind;
}

static uint32_t
size_at(const Check *c, int kind, uint32_t x)
{
	return x < c->limit[tree_seen(kind)] ? *tree_size(c->s, kind, x) : 0;
}

static uint32_t
child_size(const Check *c, int kind, uint32_t x, bool right)
{
	if (x >= c->limit[tree_seen(kind)])
		return 0;
	return size_at(c, kind, right ? *tree_right(c->s, kind, x) : *tree_left(c->s, kind, x));
}

static void
check_subtree(Check *c, int kind, uint32_t x, int depth)
{
	DblStore   *s = c->s;
	int			seen = tree_seen(kind);
	DblSlot		slot = kind == TREE_BLOCK ? NONE : x;
	DblBound	key;
	uint32_t	left;
	uint32_t	right;
	uint32_t	nleft;
	uint32_t	nright;

	if (x == NONE || c->stop)
		return;
	if (depth == TREE_DEPTH)
	{
		tell(c, slot, deep[kind]);
		return;
	}
	if (x >= c->limit[seen])
	{
		tell(c, NONE, no_such[kind]);
		return;
	}
	if (is_seen(c, seen, x))
	{
		tell(c, slot, twice[kind]);
		return;
	}
	set_seen(c, seen, x);
	if (kind != TREE_BLOCK)
	{
		const DblVersion *v = dbl_version(s, x);
		static const uint8_t column[3] = {DBL_ID, DBL_SOURCE, DBL_TARGET};

		if (!(v->flags & DBL_F_USED))
		{
			tell(c, slot, free_slot[kind]);
			return;
		}
		if (DblVersionIsNull(v, column[kind]) != c->null ||
			(!c->null && v->key[column[kind]] != c->value))
			tell(c, slot, wrong_value[kind]);
	}
	left = *tree_left(s, kind, x);
	right = *tree_right(s, kind, x);

	check_subtree(c, kind, left, depth + 1);
	key = tree_key(s, kind, x);
	if (c->have_prev && !bound_less(c->prev, key))
		tell(c, slot, order[kind]);
	c->have_prev = true;
	c->prev = key;
	check_subtree(c, kind, right, depth + 1);

	nleft = size_at(c, kind, left);
	nright = size_at(c, kind, right);
	if (*tree_size(s, kind, x) != 1 + nleft + nright)
		tell(c, slot, size[kind]);
	else if (child_size(c, kind, left, false) > nright ||
			 child_size(c, kind, left, true) > nright ||
			 child_size(c, kind, right, false) > nleft ||
			 child_size(c, kind, right, true) > nleft)
		tell(c, slot, balance[kind]);
}

static void
check_list(Check *c, uint32_t type)
{
	DblStore   *s = c->s;
	DblTypeList *list;
	uint32_t	prev = NONE;
	uint32_t	count = 0;
	uint32_t	i;

	if (type >= c->limit[SEEN_POOL + DBL_POOL_TYPES])
	{
		tell(c, NONE, "link to no list of postings");
		return;
	}
	if (is_seen(c, SEEN_POOL + DBL_POOL_TYPES, type))
	{
		tell(c, NONE, "list of postings of two types");
		return;
	}
	set_seen(c, SEEN_POOL + DBL_POOL_TYPES, type);
	list = type_at(s, type);
	if (list->head == NONE)
		tell(c, NONE, "empty list of postings");
	for (i = list->head; i != NONE && !c->stop;)
	{
		DblPosting *p;

		if (i >= c->limit[SEEN_POOL + DBL_POOL_POSTINGS])
		{
			tell(c, NONE, "link to no posting");
			break;
		}
		if (is_seen(c, SEEN_POOL + DBL_POOL_POSTINGS, i))
		{
			tell(c, NONE, "posting twice in lists");
			break;
		}
		set_seen(c, SEEN_POOL + DBL_POOL_POSTINGS, i);
		p = posting_at(s, i);
		if (p->type != type)
			tell(c, NONE, "posting in the list of another type");
		if (p->prev != prev)
			tell(c, NONE, "wrong link back in a list of postings");
		if (p->seq >= list->next_seq ||
			(prev != NONE && p->seq <= posting_at(s, prev)->seq))
			tell(c, NONE, "wrong order in a list of postings");
		if (p->fill > DBL_POSTING_SLOTS || p->used == 0 ||
			(p->used & ~((1u << p->fill) - 1)) != 0)
			tell(c, NONE, "wrong places in a posting");
		for (unsigned pos = 0; pos < DBL_POSTING_SLOTS; pos++)
		{
			DblSlot		slot = p->slots[pos];
			const DblVersion *v;

			if (!(p->used >> pos & 1))
				continue;
			count++;
			if (slot >= s->shared->nslots)
			{
				tell(c, NONE, "no such slot in a posting");
				continue;
			}
			if (is_seen(c, SEEN_POSTING, slot))
				tell(c, slot, "twice in postings");
			set_seen(c, SEEN_POSTING, slot);
			v = dbl_version(s, slot);
			if (!(v->flags & DBL_F_USED))
			{
				tell(c, slot, "free slot reachable in a posting");
				continue;
			}
			if (slot_links(s, slot)->place != i * 16 + pos)
				tell(c, slot, "wrong place in postings");
			if (DblVersionIsNull(v, DBL_TYPE) != c->null ||
				(!c->null && v->key[DBL_TYPE] != c->value))
				tell(c, slot, "in the postings of another type");
		}
		prev = i;
		i = p->next;
	}
	if (list->tail != prev)
		tell(c, NONE, "wrong end of a list of postings");
	if (list->count != count)
		tell(c, NONE, "wrong count of a list of postings");
}

static void
check_node(Check *c, const DblNode *node, int64_t value, bool null)
{
	c->value = value;
	c->null = null;
	for (int kind = TREE_ID; kind <= TREE_IN; kind++)
	{
		c->have_prev = false;
		check_subtree(c, kind, node->root[kind], 0);
	}
	if (node->type != NONE)
		check_list(c, node->type);
	if (!null && node_is_empty(node))
		tell(c, NONE, "empty node in the directory");
}

/* The blocks of the tree, which have been seen, and no others are in the hash. */
static void
check_hash(Check *c)
{
	DblStore   *s = c->s;
	DblStoreShared *sh = s->shared;
	int			blocks = SEEN_POOL + DBL_POOL_BLOCKS;

	if (sh->nbuckets == 0)
		return;
	for (uint32_t bucket = 0; bucket < sh->nbuckets && !c->stop; bucket++)
	{
		for (uint32_t i = *bucket_at(s, bucket); i != 0 && !c->stop; i = block_at(s, i - 1)->next)
		{
			if (i > c->limit[blocks])
			{
				tell(c, NONE, "link to no block in the directory's hash");
				break;
			}
			if (is_seen(c, SEEN_HASH, i - 1))
			{
				tell(c, NONE, "block twice in the directory's hash");
				break;
			}
			set_seen(c, SEEN_HASH, i - 1);
			if (!is_seen(c, blocks, i - 1))
				tell(c, NONE, "block in the directory's hash but not in its tree");
			else if (dbl_dir_bucket(sh->nbuckets, block_at(s, i - 1)->number) != bucket)
				tell(c, NONE, "block in the wrong bucket of the directory's hash");
		}
	}
	for (uint32_t i = 0; i < c->limit[blocks] && !c->stop; i++)
	{
		if (is_seen(c, blocks, i) && !is_seen(c, SEEN_HASH, i))
			tell(c, NONE, "block missing from the directory's hash");
	}
}

static void
check_directory(Check *c)
{
	DblStore   *s = c->s;
	DblStoreShared *sh = s->shared;
	int			blocks = SEEN_POOL + DBL_POOL_BLOCKS;
	uint64_t	nblocks = 0;
	uint64_t	nnodes = 0;

	/* which blocks there are: those of the tree, then those of the window */
	c->have_prev = false;
	check_subtree(c, TREE_BLOCK, sh->root_block, 0);
	check_hash(c);
	for (uint32_t i = 0; i < c->limit[blocks]; i++)
	{
		DblBlock   *b = block_at(s, i);

		if (is_seen(c, blocks, i) && b->number >= 0 && b->number < sh->window)
			tell(c, NONE, "block of the window in the directory's tree");
	}
	for (uint32_t number = 0; number < sh->window; number++)
	{
		uint32_t	i = *window_at(s, number);

		if (i-- == 0)
			continue;
		if (i >= c->limit[blocks])
			tell(c, NONE, no_such[TREE_BLOCK]);
		else if (is_seen(c, blocks, i))
			tell(c, NONE, twice[TREE_BLOCK]);
		else
		{
			set_seen(c, blocks, i);
			if (block_at(s, i)->number != number)
				tell(c, NONE, "wrong block in the directory's window");
		}
	}

	for (uint32_t i = 0; i < c->limit[blocks] && !c->stop; i++)
	{
		DblBlock   *b = block_at(s, i);
		int			pool;
		unsigned	n;

		if (!is_seen(c, blocks, i))
			continue;
		nblocks++;
		n = count_bits(b->present);
		if (b->class >= DBL_NODE_CLASSES || n == 0 || n > 1u << b->class)
		{
			tell(c, NONE, "wrong number of nodes in a block");
			continue;
		}
		pool = SEEN_POOL + DBL_POOL_NODES + (int) b->class;
		if (b->nodes >= c->limit[pool])
		{
			tell(c, NONE, "link to no nodes in a block");
			continue;
		}
		if (is_seen(c, pool, b->nodes))
		{
			tell(c, NONE, "nodes of two blocks");
			continue;
		}
		set_seen(c, pool, b->nodes);
		nnodes += n;
		n = 0;
		for (uint64_t rest = b->present; rest && !c->stop; rest &= rest - 1)
			check_node(c, nodes_at(s, b->class, b->nodes) + n++,
					   block_value(b->number, (unsigned) __builtin_ctzll(rest)), false);
	}
	check_node(c, null_node(s), 0, true);
	if (nblocks != sh->nblocks)
		tell(c, NONE, "wrong number of blocks");
	if (nnodes != sh->nnodes)
		tell(c, NONE, "wrong number of nodes");
}

static void
check_slots(Check *c)
{
	DblStore   *s = c->s;
	DblStoreShared *sh = s->shared;
	DblSlot		prev = NONE;
	DblSlot		slot;
	uint64_t	used = 0;

	for (slot = sh->free_slots; slot != NONE && !c->stop;)
	{
		DblVersion *v;

		if (slot >= sh->nslots)
		{
			tell(c, NONE, "no such slot in the free list");
			break;
		}
		if (is_seen(c, SEEN_FREE, slot))
		{
			tell(c, slot, "twice in the free list");
			break;
		}
		set_seen(c, SEEN_FREE, slot);
		v = dbl_version(s, slot);
		if (v->flags & DBL_F_USED)
		{
			tell(c, slot, "used slot in the free list");
			break;
		}
		if (v->right != prev)
			tell(c, slot, "wrong link back in the free list");
		prev = slot;
		slot = v->left;
	}
	for (slot = 0; slot < sh->nslots && !c->stop; slot++)
	{
		if (!(dbl_version(s, slot)->flags & DBL_F_USED))
		{
			if (!is_seen(c, SEEN_FREE, slot))
				tell(c, slot, "free slot missing from the free list");
			continue;
		}
		used++;
		for (int what = SEEN_ID; what <= SEEN_POSTING; what++)
		{
			if (!is_seen(c, what, slot) && (what != SEEN_POSTING || sh->has_type))
				tell(c, slot, missing[what]);
		}
	}
	if (!c->stop && used != sh->nused)
		tell(c, NONE, "wrong number of used slots");
}

/* Each item of a pool is either in use, once, or free. */
static void
check_pool(Check *c, int p)
{
	DblStore   *s = c->s;
	DblPool    *pool = &s->shared->pools[p];
	uint32_t	nfree = 0;
	uint32_t	i = pool->free_head;

	while (i != NONE && !c->stop)
	{
		if (i >= pool->count)
		{
			tell(c, NONE, "no such item in a pool's free list");
			return;
		}
		if (is_seen(c, SEEN_POOL + p, i))
		{
			tell(c, NONE, "item of a pool both free and in use, or free twice");
			return;
		}
		if (p == DBL_POOL_POSTINGS && posting_at(s, i)->type != NONE)
			tell(c, NONE, "free posting with a type");
		set_seen(c, SEEN_POOL + p, i);
		nfree++;
		i = *(uint32_t *) pool_item(s, p, i, dbl_pool_shift[p], dbl_pool_item_size[p]);
	}
	if (nfree != pool->nfree)
		tell(c, NONE, "wrong number of free items in a pool");
	for (i = 0; i < pool->count && !c->stop; i++)
	{
		if (!is_seen(c, SEEN_POOL + p, i))
		{
			tell(c, NONE, "item of a pool neither free nor in use");
			break;
		}
	}
}

uint64_t
dbl_store_check(DblStore *s, DblFaultFn fault, void *arg)
{
	DblStoreShared *sh = s->shared;
	Check		c = {.s = s, .fault = fault, .arg = arg};
	size_t		words = 0;
	uint64_t   *memory;

	/* what nothing below could do without */
	for (int p = 0; p < DBL_NPOOLS; p++)
	{
		uint64_t	have = s->pools[p].nbase == 1 ? sh->pools[p].capacity :
			(uint64_t) s->pools[p].nbase << dbl_pool_shift[p];

		if (sh->pools[p].capacity > have || sh->pools[p].count > sh->pools[p].capacity)
			tell(&c, NONE, "pool bigger than its memory");
	}
	if (sh->nslots > sh->pools[DBL_POOL_VERSIONS].capacity ||
		sh->nslots > sh->pools[DBL_POOL_LINKS].capacity)
		tell(&c, NONE, "more slots than memory for them");
	if (sh->window > sh->pools[DBL_POOL_WINDOW].capacity)
		tell(&c, NONE, "window bigger than its memory");
	if (sh->nbuckets > sh->pools[DBL_POOL_BUCKETS].capacity)
		tell(&c, NONE, "hash bigger than its memory");
	if (sh->building)
		tell(&c, NONE, "bulk load not finished");
	if (c.nfaults)
		return c.nfaults;

	for (int i = 0; i < NSEEN; i++)
	{
		c.limit[i] = i == SEEN_HASH ? sh->pools[DBL_POOL_BLOCKS].count :
			i < SEEN_POOL ? sh->nslots : sh->pools[i - SEEN_POOL].count;
		words += c.limit[i] / 64 + 1;
	}
	memory = s->mem.scratch_alloc(s->mem.ctx, words * sizeof(uint64_t));
	if (memory == NULL)
	{
		tell(&c, NONE, "no memory to check the store");
		return c.nfaults;
	}
	memset(memory, 0, words * sizeof(uint64_t));
	words = 0;
	for (int i = 0; i < NSEEN; i++)
	{
		c.seen[i] = memory + words;
		words += c.limit[i] / 64 + 1;
	}

	check_directory(&c);
	check_slots(&c);
	for (int p = DBL_POOL_BLOCKS; p < DBL_NPOOLS; p++)
	{
		if (p != DBL_POOL_WINDOW && p != DBL_POOL_BUCKETS)
			check_pool(&c, p);
	}
	s->mem.scratch_free(s->mem.ctx, memory);
	return c.nfaults;
}
