/*-------------------------------------------------------------------------
 *
 * directory.c
 *	  The ordered directory of nodes: from a value to its node.
 *
 * Values come in blocks of 64.  A block keeps the nodes that there are in one
 * array, in order, of 1, 2, 4 .. 64 places, with a bitmap of which values have
 * one.  Blocks number 0 .. window - 1 are found through a plain array; all
 * others (negative, or far apart) are in a size-balanced tree by number, for
 * order, and in a hash, so that finding one of many costs no walk down a tree.
 *
 * Order of the directory: the negative blocks of the tree, the window, the
 * rest of the tree, the node of NULL.
 *
 * Addresses of nodes hold until the next node is made or dropped.
 *
 *-------------------------------------------------------------------------
 */
#include "store/internal.h"

#define HASH_FROM			32	/* blocks outside the window */

#define NODES_POOL(class)	(DBL_POOL_NODES + (int) (class))

static bool
in_window(const DblStore *s, int64_t number)
{
	return (uint64_t) number < s->shared->window;
}

/* The block of the tree next to a number, that one included; or NONE. */
static uint32_t
tree_block(DblStore *s, int64_t number, bool backward)
{
	DblBound	bound = {false, number, backward ? SLOT_BEHIND : SLOT_BEFORE};
	uint32_t	i = NONE;

	if (s->shared->root_block != NONE)
		dbl_tree_walk(s, TREE_BLOCK, s->shared->root_block, backward,
					  backward ? NULL : &bound, backward ? &bound : NULL, &i, 1);
	return i;
}

/* --- hash of the blocks outside the window ---------------------------------------- */

/*
 * Linear hashing: buckets are added one by one, each taking its share of one that there was, so that
 * growing never makes anybody wait.  Chains go through the blocks.
 */
uint32_t
dbl_dir_bucket(uint32_t nbuckets, int64_t number)
{
	uint32_t	h = (uint32_t) ((uint64_t) number * UINT64_C(0x9E3779B97F4A7C15) >> 32);
	uint32_t	mask = UINT32_MAX >> __builtin_clz(nbuckets);	/* < 2 * nbuckets */

	h ^= h >> 15;
	return (h & mask) < nbuckets ? h & mask : h & mask >> 1;
}

static void
hash_add(DblStore *s, uint32_t i)
{
	DblBlock   *b = block_at(s, i);
	uint32_t   *head = bucket_at(s, dbl_dir_bucket(s->shared->nbuckets, b->number));

	b->next = *head;
	*head = i + 1;
}

static void
hash_remove(DblStore *s, uint32_t i)
{
	DblBlock   *b = block_at(s, i);
	uint32_t   *link = bucket_at(s, dbl_dir_bucket(s->shared->nbuckets, b->number));

	for (uint32_t left = s->shared->nblocks; *link != 0 && left > 0; left--)
	{
		if (*link == i + 1)
		{
			*link = b->next;
			return;
		}
		link = &block_at(s, *link - 1)->next;
	}
}

/* One bucket more; its memory is there. */
static void
hash_split(DblStore *s)
{
	DblStoreShared *sh = s->shared;
	uint32_t	new = sh->nbuckets++;
	uint32_t	old;
	uint32_t	i;

	*bucket_at(s, new) = 0;
	if (new == 0)
		return;
	old = new & ~(UINT32_C(1) << (31 - __builtin_clz(new)));	/* without its highest bit */
	i = *bucket_at(s, old);
	*bucket_at(s, old) = 0;
	for (uint32_t left = sh->nblocks; i != 0 && left > 0; left--)
	{
		uint32_t	next = block_at(s, i - 1)->next;

		hash_add(s, i - 1);
		i = next;
	}
}

static void
hash_subtree(DblStore *s, uint32_t i)
{
	if (i == NONE)
		return;
	hash_subtree(s, block_at(s, i)->left);
	hash_subtree(s, block_at(s, i)->right);
	hash_add(s, i);
}

/*
 * As many buckets as there are blocks outside the window, if there is memory; without, chains get
 * longer.  Not for a few blocks: the tree is as good.
 */
void
dbl_dir_spread(DblStore *s)
{
	DblStoreShared *sh = s->shared;
	uint32_t	n = tree_size_of(s, TREE_BLOCK, sh->root_block);

	if (DBL_LIKELY(n <= sh->nbuckets || n < HASH_FROM))
		return;
	if (sh->nbuckets == 0)
	{
		if (!dbl_pool_grow(s, DBL_POOL_BUCKETS, 1))
			return;
		hash_split(s);
		hash_subtree(s, sh->root_block);
	}
	while (sh->nbuckets < n && dbl_pool_grow(s, DBL_POOL_BUCKETS, (uint64_t) sh->nbuckets + 1))
		hash_split(s);
}

/* The tree and the hash together. */
static void
outside_add(DblStore *s, uint32_t i)
{
	dbl_tree_insert(s, TREE_BLOCK, &s->shared->root_block, i);
	if (s->shared->nbuckets)
		hash_add(s, i);
}

static bool
outside_remove(DblStore *s, uint32_t i)
{
	if (s->shared->nbuckets)
		hash_remove(s, i);
	return dbl_tree_remove(s, TREE_BLOCK, &s->shared->root_block, i);
}

/* --- finding ------------------------------------------------------------------------ */

/* The block of that number, one that is not in the window, or NONE. */
uint32_t
dbl_dir_block_outside(DblStore *s, int64_t number)
{
	uint32_t	t;

	if (s->shared->nbuckets)
	{
		t = *bucket_at(s, dbl_dir_bucket(s->shared->nbuckets, number));
		for (uint32_t left = s->shared->nblocks; t != 0 && left > 0; left--)
		{
			DblBlock   *b = block_at(s, t - 1);

			if (b->number == number)
				return t - 1;
			t = b->next;
		}
		return NONE;
	}
	t = s->shared->root_block;
	for (int d = 0; t != NONE && d < TREE_DEPTH; d++)
	{
		DblBlock   *b = block_at(s, t);

		if (b->number == number)
			return t;
		t = number < b->number ? b->left : b->right;
	}
	return NONE;
}

/* The block of that number, or NONE. */
uint32_t
dbl_dir_block(DblStore *s, int64_t number)
{
	if (in_window(s, number))
		return *window_at(s, (uint32_t) number) - 1;
	return dbl_dir_block_outside(s, number);
}

static DblNode *
block_node(DblStore *s, uint32_t block, unsigned bit)
{
	DblBlock   *b = block_at(s, block);

	return nodes_at(s, b->class, b->nodes) + block_index(b, bit);
}

/* The node of a value, or NULL. */
DblNode *
dbl_dir_find(DblStore *s, int64_t value, bool null)
{
	if (null)
		return node_is_empty(null_node(s)) ? NULL : null_node(s);
	return dir_find(s, value);
}

/* --- making and dropping ------------------------------------------------------ */

static uint32_t
make_block(DblStore *s, int64_t number)
{
	DblStoreShared *sh = s->shared;
	uint32_t	i = dbl_pool_get(s, DBL_POOL_BLOCKS);
	DblBlock   *b = block_at(s, i);

	memset(b, 0, sizeof(*b));
	b->number = number;
	b->nodes = NONE;
	b->left = b->right = NONE;
	sh->nblocks++;
	if (in_window(s, number))
	{
		*window_at(s, (uint32_t) number) = i + 1;
		return i;
	}
	outside_add(s, i);

	/* worth a wider window?  At most 32 bytes of it a block, then. */
	if (number >= 0 && number < INT64_C(1) << 31 &&
		number < INT64_C(4) * sh->nblocks + 64)
	{
		uint32_t	wanted = 256;

		while (wanted <= number)
			wanted *= 2;
		if (wanted > sh->window_wanted)
			sh->window_wanted = wanted;
	}
	return i;
}

static void
drop_block(DblStore *s, uint32_t i)
{
	DblBlock   *b = block_at(s, i);

	if (b->nodes != NONE)
		dbl_pool_put(s, NODES_POOL(b->class), b->nodes);
	if (in_window(s, b->number))
		*window_at(s, (uint32_t) b->number) = 0;
	else
		(void) outside_remove(s, i);
	s->shared->nblocks--;
	dbl_pool_put(s, DBL_POOL_BLOCKS, i);
}

/* Move a block's nodes to an array of another class. */
static void
move_nodes(DblStore *s, DblBlock *b, uint32_t class)
{
	uint32_t	to = dbl_pool_get(s, NODES_POOL(class));

	if (b->nodes != NONE)
	{
		memcpy(nodes_at(s, class, to), nodes_at(s, b->class, b->nodes),
			   sizeof(DblNode) * count_bits(b->present));
		dbl_pool_put(s, NODES_POOL(b->class), b->nodes);
	}
	b->nodes = to;
	b->class = class;
}

static uint32_t
class_for(unsigned n)
{
	uint32_t	class = 0;

	while ((1u << class) < n)
		class++;
	return class;
}

/*
 * The node of a value, made if there is none.  Memory has been seen to by
 * dbl_dir_reserve().
 */
DblNode *
dbl_dir_make(DblStore *s, int64_t value, bool null)
{
	uint32_t	i;
	unsigned	bit = (uint64_t) value & 63;
	unsigned	n;
	unsigned	at;
	DblBlock   *b;
	DblNode    *node;

	if (null)
		return null_node(s);
	i = dbl_dir_block(s, block_number(value));
	if (i == NONE)
		i = make_block(s, block_number(value));
	b = block_at(s, i);
	if (b->present >> bit & 1)
		return block_node(s, i, bit);

	n = count_bits(b->present);
	if (b->nodes == NONE || n == 1u << b->class)
		move_nodes(s, b, class_for(n + 1));
	at = block_index(b, bit);
	node = nodes_at(s, b->class, b->nodes) + at;
	memmove(node + 1, node, sizeof(DblNode) * (n - at));
	memset(node, 0xFF, sizeof(DblNode));	/* all NONE */
	b->present |= UINT64_C(1) << bit;
	s->shared->nnodes++;
	return node;
}

/* Places of a class that `nodes` new nodes may need.  See dbl_dir_reserve(). */
static uint64_t
class_need(const DblStore *s, uint32_t class, uint64_t nodes)
{
	const DblPool *below;
	uint64_t	need;

	if (class == 0)
		return nodes;
	below = &s->shared->pools[NODES_POOL(class - 1)];
	need = (uint64_t) below->count - below->nfree;
	need += class == 1 ? nodes / 2 : nodes / ((1u << (class - 2)) + 1);
	return need < nodes ? need : nodes;
}

/* Forget a value whose node is empty.  Never needs memory. */
void
dbl_dir_drop_if_empty(DblStore *s, int64_t value, bool null)
{
	uint32_t	i;
	unsigned	bit = (uint64_t) value & 63;
	unsigned	n;
	unsigned	at;
	DblBlock   *b;
	DblNode    *node;

	if (null)
		return;
	i = dbl_dir_block(s, block_number(value));
	if (i == NONE)
		return;
	b = block_at(s, i);
	if (!(b->present >> bit & 1))
		return;
	at = block_index(b, bit);
	node = nodes_at(s, b->class, b->nodes) + at;
	if (!node_is_empty(node))
		return;

	n = count_bits(b->present) - 1;
	memmove(node, node + 1, sizeof(DblNode) * (n - at));
	b->present &= ~(UINT64_C(1) << bit);
	s->shared->nnodes--;
	if (n == 0)
		drop_block(s, i);
	else if (b->class >= 2 && n <= 1u << (b->class - 2))
	{
		/* a smaller array, unless that could break a promise of dbl_reserve() */
		uint32_t	class = b->class - 1;

		if (pool_avail(s, NODES_POOL(class)) >
			class_need(s, class, UINT64_C(4) * s->shared->promised))
			move_nodes(s, b, class);
	}
}

/*
 * Memory for so many new nodes, whatever their values.  Each may need a block and an array of one.  An
 * array of class c is needed when one of class c - 1 is full: either that is
 * there now, or it comes to be through 2^(c-2) + 1 new nodes at least.
 */
bool
dbl_dir_reserve(DblStore *s, uint64_t nodes)
{
	if (!pool_reserve(s, DBL_POOL_BLOCKS, nodes))
		return false;
	for (uint32_t class = 0; class < DBL_NODE_CLASSES; class++)
	{
		if (!pool_reserve(s, NODES_POOL(class), class_need(s, class, nodes)))
			return false;
	}
	return true;
}

/* Widen the window as wanted, if there is memory; without, the tree serves as well. */
void
dbl_dir_widen(DblStore *s)
{
	DblStoreShared *sh = s->shared;
	uint32_t	to = sh->window_wanted;
	uint32_t	from = sh->window;

	sh->window_wanted = 0;		/* the next new block asks again */
	if (to <= from || !dbl_pool_grow(s, DBL_POOL_WINDOW, to))
		return;
	for (;;)
	{
		uint32_t	i = tree_block(s, from, false);
		DblBlock   *b;

		if (i == NONE)
			break;
		b = block_at(s, i);
		if (b->number >= to || !outside_remove(s, i))
			break;
		*window_at(s, (uint32_t) b->number) = i + 1;
	}
	sh->window = to;
}

/*
 * For the bulk build: make the nodes of one block that are in mask and not there, in one
 * go.  False: no memory.
 */
bool
dbl_dir_prepare_block(DblStore *s, int64_t number, uint64_t mask)
{
	uint32_t	i = dbl_dir_block(s, number);
	DblBlock   *b;
	uint64_t	all;
	uint32_t	class;

	if (i == NONE)
	{
		if (s->shared->window_wanted)
			dbl_dir_widen(s);
		dbl_dir_spread(s);
		if (!pool_reserve(s, DBL_POOL_BLOCKS, 1))
			return false;
		i = make_block(s, number);
	}
	b = block_at(s, i);
	all = b->present | mask;
	if (all == b->present)
		return true;
	class = class_for(count_bits(all));
	if (b->nodes == NONE || class > b->class)
	{
		if (!pool_reserve(s, NODES_POOL(class), 1))
			return false;
		b = block_at(s, i);
		move_nodes(s, b, class);
	}
	for (uint64_t rest = mask & ~b->present; rest; rest &= rest - 1)
		dbl_dir_make(s, block_value(number, (unsigned) __builtin_ctzll(rest)), false);
	return true;
}

/* --- walking ---------------------------------------------------------------------- */

/* The first block of a number or above (backward: or below), or NONE. */
uint32_t
dbl_dir_next_block(DblStore *s, int64_t number, bool backward)
{
	int64_t		window = s->shared->window;
	uint32_t	i;

	if (!backward)
	{
		if (number < 0)
		{
			i = tree_block(s, number, false);
			if (i != NONE && block_at(s, i)->number < 0)
				return i;
			number = 0;
		}
		for (; number < window; number++)
		{
			i = *window_at(s, (uint32_t) number);
			if (i != 0)
				return i - 1;
		}
		return tree_block(s, number, false);
	}
	if (number >= window)
	{
		i = tree_block(s, number, true);
		if (i != NONE && block_at(s, i)->number >= window)
			return i;
		number = window - 1;
	}
	for (; number >= 0; number--)
	{
		i = *window_at(s, (uint32_t) number);
		if (i != 0)
			return i - 1;
	}
	return tree_block(s, number, true);
}

static bool
position(DblStore *s, uint32_t block, unsigned bit, DblDirPos *pos)
{
	DblBlock   *b = block_at(s, block);
	DblNode    *nodes = nodes_at(s, b->class, b->nodes);

	pos->null = false;
	pos->value = block_value(b->number, bit);
	pos->node = nodes + block_index(b, bit);
	pos->block = block;
	return true;
}

/* The first node of a value or above (backward: or below); NULL's is not among them.  False: none. */
bool
dbl_dir_seek(DblStore *s, int64_t value, bool backward, DblDirPos *pos)
{
	int64_t		number = block_number(value);
	unsigned	bit = (uint64_t) value & 63;
	uint32_t	i = dbl_dir_next_block(s, number, backward);
	uint64_t	mask;

	if (i != NONE && block_at(s, i)->number == number)
	{
		mask = backward ? UINT64_MAX >> (63 - bit) : UINT64_MAX << bit;
		mask &= block_at(s, i)->present;
		if (mask)
			return position(s, i, backward ? 63 - (unsigned) __builtin_clzll(mask) :
							(unsigned) __builtin_ctzll(mask), pos);
		if (backward ? number == block_number(INT64_MIN) : number == block_number(INT64_MAX))
			return false;
		i = dbl_dir_next_block(s, backward ? number - 1 : number + 1, backward);
	}
	if (i == NONE)
		return false;
	mask = block_at(s, i)->present;
	if (mask == 0)
		return false;			/* corrupt */
	return position(s, i, backward ? 63 - (unsigned) __builtin_clzll(mask) :
					(unsigned) __builtin_ctzll(mask), pos);
}

/* The node behind (backward: before) *pos, which must not have been changed since; not NULL's. */
bool
dbl_dir_step(DblStore *s, bool backward, DblDirPos *pos)
{
	DblBlock   *b = block_at(s, pos->block);
	unsigned	bit = (uint64_t) pos->value & 63;
	uint64_t	mask;

	/* in the same block, the nodes lie side by side */
	if (!backward)
	{
		mask = bit == 63 ? 0 : b->present >> (bit + 1);
		if (mask)
		{
			pos->value += 1 + __builtin_ctzll(mask);
			pos->node++;
			return true;
		}
		if (block_value(b->number, 63) == INT64_MAX)
			return false;
		return dbl_dir_seek(s, block_value(b->number, 63) + 1, false, pos);
	}
	mask = b->present & ((UINT64_C(1) << bit) - 1);
	if (mask)
	{
		pos->value -= bit - (63 - (unsigned) __builtin_clzll(mask));
		pos->node--;
		return true;
	}
	if (block_value(b->number, 0) == INT64_MIN)
		return false;
	return dbl_dir_seek(s, block_value(b->number, 0) - 1, true, pos);
}
