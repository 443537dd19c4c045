/*-------------------------------------------------------------------------
 *
 * internal.h
 *	  What the files of the store share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_STORE_INTERNAL_H
#define DBL_STORE_INTERNAL_H

#include <assert.h>
#include <string.h>

#include "store/store.h"

#define DBL_LIKELY(x)	__builtin_expect((x) != 0, 1)
#define DBL_UNLIKELY(x)	__builtin_expect((x) != 0, 0)
#define DBL_INLINE		static inline __attribute__((always_inline))

#define NONE				DBL_NO_SLOT	/* no slot, no item */

/* Links of one tree in a slot. */
typedef struct DblTreeLinks
{
	uint32_t	left;
	uint32_t	right;
	uint32_t	size;			/* of the subtree, this slot included */
} DblTreeLinks;

/* Index part of a slot; left and right of the tree by id are in the version. */
typedef struct DblLinks
{
	DblTreeLinks out;			/* among the links of one source */
	DblTreeLinks in;			/* among the links of one target */
	uint32_t	id_size;		/* among the versions of one id */
	uint32_t	place;			/* posting * 16 + position; NONE: in none */
} DblLinks;

/* Everything about one value. */
typedef struct DblNode
{
	uint32_t	root[3];		/* trees: by id, outgoing, incoming */
	uint32_t	type;			/* list of postings, or NONE */
} DblNode;

/* 64 consecutive values.  The nodes that there are lie in one array, in order. */
typedef struct DblBlock
{
	int64_t		number;			/* value >> 6 */
	uint64_t	present;		/* bit i: value number * 64 + i has a node */
	uint32_t	nodes;			/* item of pool DBL_POOL_NODES + class */
	uint32_t	class;			/* room for 1 << class nodes */
	uint32_t	left;			/* tree of the blocks that are not in the window */
	uint32_t	right;
	uint32_t	size;
	uint32_t	next;			/* the same blocks: in the bucket; number of the block + 1, or 0 */
} DblBlock;

/* Links of one type: a list of postings. */
typedef struct DblTypeList
{
	uint32_t	head;
	uint32_t	tail;
	uint32_t	count;			/* of links */
	uint32_t	next_seq;
} DblTypeList;

#define DBL_POSTING_SLOTS	11
#define DBL_MAX_POSTINGS	(1u << 28)	/* a place has 28 bits for it */

/*
 * A cache line of slots of one type.  Places are used once, in order; removed
 * entries leave holes.  `next` is first since it threads free items: `type`
 * must stay NONE in those.
 */
typedef struct DblPosting
{
	uint32_t	next;
	uint32_t	prev;
	uint32_t	type;			/* list that it belongs to; NONE when free */
	uint32_t	seq;			/* grows along the list */
	uint16_t	used;			/* bit i: slots[i] counts */
	uint16_t	fill;			/* places used so far */
	uint32_t	slots[DBL_POSTING_SLOTS];
} DblPosting;

_Static_assert(sizeof(DblVersion) == 64, "a version is a cache line");
_Static_assert(sizeof(DblLinks) == 32, "links are half a cache line");
_Static_assert(sizeof(DblPosting) == 64, "a posting is a cache line");
_Static_assert(sizeof(DblNode) == 16, "nodes are small");

/* --- items of pools --------------------------------------------------------- */

/* Chunks are of 64 to 256 KB. */
#define SHIFT_BLOCKS	12
#define SHIFT_WINDOW	14
#define SHIFT_BUCKETS	14
#define SHIFT_TYPES		12
#define SHIFT_POSTINGS	12
#define SHIFT_NODES(class)	(14 - (class))

extern const uint32_t dbl_pool_item_size[DBL_NPOOLS];
extern const uint8_t dbl_pool_shift[DBL_NPOOLS];

DBL_INLINE void *
pool_item(DblStore *s, int pool, uint32_t i, uint32_t shift, uint32_t size)
{
	return s->pools[pool].base[i >> shift] + (size_t) (i & ((1u << shift) - 1)) * size;
}

DBL_INLINE DblLinks *
slot_links(DblStore *s, DblSlot slot)
{
	return pool_item(s, DBL_POOL_LINKS, slot, DBL_SLOT_SHIFT, sizeof(DblLinks));
}

DBL_INLINE DblBlock *
block_at(DblStore *s, uint32_t i)
{
	return pool_item(s, DBL_POOL_BLOCKS, i, SHIFT_BLOCKS, sizeof(DblBlock));
}

/* Entry of the window: number of the block + 1, or 0. */
DBL_INLINE uint32_t *
window_at(DblStore *s, uint32_t number)
{
	return pool_item(s, DBL_POOL_WINDOW, number, SHIFT_WINDOW, sizeof(uint32_t));
}

/* Head of a bucket: number of a block + 1, or 0. */
DBL_INLINE uint32_t *
bucket_at(DblStore *s, uint32_t i)
{
	return pool_item(s, DBL_POOL_BUCKETS, i, SHIFT_BUCKETS, sizeof(uint32_t));
}

DBL_INLINE DblNode *
nodes_at(DblStore *s, uint32_t class, uint32_t i)
{
	return pool_item(s, DBL_POOL_NODES + class, i, SHIFT_NODES(class),
					 (uint32_t) sizeof(DblNode) << class);
}

DBL_INLINE DblTypeList *
type_at(DblStore *s, uint32_t i)
{
	return pool_item(s, DBL_POOL_TYPES, i, SHIFT_TYPES, sizeof(DblTypeList));
}

DBL_INLINE DblPosting *
posting_at(DblStore *s, uint32_t i)
{
	return pool_item(s, DBL_POOL_POSTINGS, i, SHIFT_POSTINGS, sizeof(DblPosting));
}

DBL_INLINE DblNode *
null_node(DblStore *s)
{
	return (DblNode *) s->shared->null_node;
}

DBL_INLINE bool
node_is_empty(const DblNode *node)
{
	return (node->root[0] & node->root[1] & node->root[2] & node->type) == NONE;
}

/* --- memory.c ---------------------------------------------------------------- */

/* Items that dbl_pool_get() can give out without growing. */
DBL_INLINE uint64_t
pool_avail(const DblStore *s, int pool)
{
	const DblPool *p = &s->shared->pools[pool];

	return (uint64_t) p->capacity - p->count + p->nfree;
}

extern bool dbl_pool_grow(DblStore *s, int pool, uint64_t items);
extern uint32_t dbl_pool_get(DblStore *s, int pool);
extern void dbl_pool_put(DblStore *s, int pool, uint32_t item);

/* Make room for n more items.  False: no memory. */
DBL_INLINE bool
pool_reserve(DblStore *s, int pool, uint64_t n)
{
	if (DBL_LIKELY(pool_avail(s, pool) >= n))
		return true;
	return dbl_pool_grow(s, pool, s->shared->pools[pool].count + n - s->shared->pools[pool].nfree);
}

/* --- directory.c ---------------------------------------------------------------- */

/* A position in the directory. */
typedef struct DblDirPos
{
	bool		null;			/* at the node of NULL */
	int64_t		value;
	DblNode    *node;
	uint32_t	block;			/* unless null */
} DblDirPos;

extern uint32_t dbl_dir_block(DblStore *s, int64_t number);
extern uint32_t dbl_dir_block_outside(DblStore *s, int64_t number);
extern DblNode *dbl_dir_find(DblStore *s, int64_t value, bool null);
extern DblNode *dbl_dir_make(DblStore *s, int64_t value, bool null);
extern void dbl_dir_drop_if_empty(DblStore *s, int64_t value, bool null);
extern bool dbl_dir_reserve(DblStore *s, uint64_t nodes);
extern void dbl_dir_widen(DblStore *s);
extern void dbl_dir_spread(DblStore *s);
extern uint32_t dbl_dir_bucket(uint32_t nbuckets, int64_t number);
extern bool dbl_dir_prepare_block(DblStore *s, int64_t number, uint64_t mask);
extern uint32_t dbl_dir_next_block(DblStore *s, int64_t number, bool backward);
extern bool dbl_dir_seek(DblStore *s, int64_t value, bool backward, DblDirPos *pos);
extern bool dbl_dir_step(DblStore *s, bool backward, DblDirPos *pos);

/* Without a compiler flag for the instruction, the builtin is a call. */
DBL_INLINE unsigned
count_bits(uint64_t x)
{
	x -= x >> 1 & UINT64_C(0x5555555555555555);
	x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
	return (unsigned) (x * UINT64_C(0x0101010101010101) >> 56);
}

/* Place of a value's node in its block's array. */
DBL_INLINE unsigned
block_index(const DblBlock *b, unsigned bit)
{
	uint64_t	below = b->present & ((UINT64_C(1) << bit) - 1);

	if (b->present == UINT64_MAX)
		return bit;
	return count_bits(below);
}

/* value >> 6, rounding down for negative ones too. */
DBL_INLINE int64_t
block_number(int64_t value)
{
	return value >= 0 ? value >> 6 : -((-(value + 1)) >> 6) - 1;
}

DBL_INLINE int64_t
block_value(int64_t number, unsigned bit)
{
	return (int64_t) ((uint64_t) number * 64 + bit);
}

/* The node of a value, or NULL. */
DBL_INLINE DblNode *
dir_find(DblStore *s, int64_t value)
{
	int64_t		number = block_number(value);
	unsigned	bit = (uint64_t) value & 63;
	uint32_t	i = DBL_LIKELY((uint64_t) number < s->shared->window) ?
		*window_at(s, (uint32_t) number) - 1 : dbl_dir_block_outside(s, number);
	DblBlock   *b;

	if (i == NONE)
		return NULL;
	b = block_at(s, i);
	if (!(b->present >> bit & 1))
		return NULL;
	return nodes_at(s, b->class, b->nodes) + block_index(b, bit);
}

/* --- tree.c -------------------------------------------------------------------- */

/* Trees.  The first three are numbered as DblNode.root; the fourth holds the blocks outside the window. */
#define TREE_ID		0
#define TREE_OUT	1
#define TREE_IN		2
#define TREE_BLOCK	3
#define TREE_DEPTH	128			/* a size-balanced tree of 2^32 entries stays well below */

/* Place between entries: just below or above the entry with this key and slot. */
typedef struct DblBound
{
	bool		null;
	int64_t		key;
	int64_t		slot;			/* -1: before all of that key; 2^32: behind them */
} DblBound;

#define SLOT_BEFORE		INT64_C(-1)
#define SLOT_BEHIND		(INT64_C(1) << 32)

extern void dbl_tree_insert(DblStore *s, int kind, uint32_t *root, uint32_t x);
extern bool dbl_tree_remove(DblStore *s, int kind, uint32_t *root, uint32_t x);
extern uint32_t dbl_tree_rank(DblStore *s, int kind, uint32_t root, const DblBound *bound);
extern uint32_t dbl_tree_build(DblStore *s, int kind, const uint32_t *slots, uint32_t n);
extern uint32_t dbl_tree_equal(DblStore *s, int kind, uint32_t root, bool backward, bool null,
							   int64_t key, uint32_t *out, uint32_t max);
extern uint32_t dbl_tree_walk(DblStore *s, int kind, uint32_t root, bool backward,
							  const DblBound *lower, const DblBound *upper,
							  uint32_t *out, uint32_t max);

DBL_INLINE uint32_t *
tree_left(DblStore *s, int kind, uint32_t x)
{
	switch (kind)
	{
		case TREE_ID:
			return &dbl_version(s, x)->left;
		case TREE_OUT:
			return &slot_links(s, x)->out.left;
		case TREE_IN:
			return &slot_links(s, x)->in.left;
		default:
			return &block_at(s, x)->left;
	}
}

DBL_INLINE uint32_t *
tree_right(DblStore *s, int kind, uint32_t x)
{
	switch (kind)
	{
		case TREE_ID:
			return &dbl_version(s, x)->right;
		case TREE_OUT:
			return &slot_links(s, x)->out.right;
		case TREE_IN:
			return &slot_links(s, x)->in.right;
		default:
			return &block_at(s, x)->right;
	}
}

DBL_INLINE uint32_t *
tree_size(DblStore *s, int kind, uint32_t x)
{
	switch (kind)
	{
		case TREE_ID:
			return &slot_links(s, x)->id_size;
		case TREE_OUT:
			return &slot_links(s, x)->out.size;
		case TREE_IN:
			return &slot_links(s, x)->in.size;
		default:
			return &block_at(s, x)->size;
	}
}

DBL_INLINE uint32_t
tree_size_of(DblStore *s, int kind, uint32_t x)
{
	return x == NONE ? 0 : *tree_size(s, kind, x);
}

/* What an entry is ordered by, besides its number. */
DBL_INLINE DblBound
tree_key(DblStore *s, int kind, uint32_t x)
{
	const DblVersion *v;
	int			col = kind == TREE_OUT ? DBL_TARGET : DBL_SOURCE;

	if (kind == TREE_ID)
		return (DblBound) {false, 0, x};
	if (kind == TREE_BLOCK)
		return (DblBound) {false, block_at(s, x)->number, x};
	v = dbl_version(s, x);
	return (DblBound) {DblVersionIsNull(v, col), v->key[col], x};
}

DBL_INLINE bool
bound_less(DblBound a, DblBound b)
{
	if (a.null != b.null)
		return b.null;
	if (!a.null && a.key != b.key)
		return a.key < b.key;
	return a.slot < b.slot;
}

/* --- postings.c ---------------------------------------------------------------- */

extern void dbl_posting_add(DblStore *s, DblNode *node, DblSlot slot);
extern void dbl_posting_remove(DblStore *s, DblNode *node, DblSlot slot);
extern uint32_t dbl_posting_scan(DblStore *s, uint32_t list, bool backward, const DblCursor *from,
								 DblSlot *out, uint32_t max);

/* --- scan.c -------------------------------------------------------------------- */

/* A contiguous part of a range: NULL alone, or lo .. hi. */
typedef struct DblSegment
{
	bool		null;
	int64_t		lo;
	int64_t		hi;
} DblSegment;

DBL_INLINE int
range_segments(const DblRange *r, bool backward, DblSegment *seg)
{
	int			n = 0;

	if (backward && r->with_null)
		seg[n++] = (DblSegment) {true, 0, 0};
	if (r->lo <= r->hi)
		seg[n++] = (DblSegment) {false, r->lo, r->hi};
	if (!backward && r->with_null)
		seg[n++] = (DblSegment) {true, 0, 0};
	return n;
}

#endif							/* DBL_STORE_INTERNAL_H */
