/*-------------------------------------------------------------------------
 *
 * store_impl.h
 *	  Layout of a store: pools of fixed-size items and what is in them.
 *
 * Included by store.h only.  Everything in shared memory names items by their
 * number in a pool; a pool's chunks are named by DblRef.  A process resolves
 * the chunks once and keeps their addresses in its view.
 *
 * The view's arrays come from DblMem.scratch_alloc and live until
 * dbl_store_detach(), so scratch memory must not go away by itself.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_STORE_IMPL_H
#define DBL_STORE_IMPL_H

/* Pools of a store. */
typedef enum DblPoolId
{
	DBL_POOL_VERSIONS,			/* DblVersion, by slot */
	DBL_POOL_LINKS,				/* index part, by slot */
	DBL_POOL_BLOCKS,			/* 64 consecutive values of the directory */
	DBL_POOL_WINDOW,			/* block numbers 0 .. to blocks */
	DBL_POOL_BUCKETS,			/* hash of the numbers of other blocks */
	DBL_POOL_TYPES,				/* lists of postings */
	DBL_POOL_POSTINGS,
	DBL_POOL_NODES				/* arrays of 1, 2, 4, ... 64 nodes: seven pools */
} DblPoolId;

#define DBL_NODE_CLASSES	7
#define DBL_NPOOLS			((int) DBL_POOL_NODES + DBL_NODE_CLASSES)

#define DBL_POOL_INLINE_REFS	4

/*
 * A pool: items of one size in chunks.  The first chunk starts small and grows
 * by copying until it is a full one, so that a small table stays small.
 */
typedef struct DblPool
{
	uint32_t	count;			/* items handed out at least once */
	uint32_t	capacity;		/* items that have memory */
	uint32_t	nchunks;
	uint32_t	list_room;		/* room in `list` */
	DblRef		list;			/* array of chunks, once `refs` is too small */
	DblRef		refs[DBL_POOL_INLINE_REFS];
	uint32_t	free_head;		/* items given back, threaded through their first
								 * word; DBL_NO_SLOT: none */
	uint32_t	nfree;
} DblPool;

typedef struct DblStoreShared
{
	uint64_t	layout;			/* changes whenever a chunk comes, goes or moves */
	uint64_t	epoch;			/* changes when the store is made anew */
	uint64_t	bytes[DBL_NPOOLS];	/* memory by pool */
	bool		has_type;
	bool		building;		/* between dbl_build_begin() and _finish() */
	uint32_t	nslots;			/* high-water mark */
	uint32_t	nused;
	uint32_t	free_slots;		/* doubly linked through version.left (next) and
								 * right (previous); DBL_NO_SLOT: none */
	uint32_t	promised;		/* insertions that dbl_reserve() has paid for */
	uint32_t	nnodes;
	uint32_t	nblocks;
	uint32_t	window;			/* blocks 0 .. window - 1 are in the window */
	uint32_t	window_wanted;	/* window that dbl_reserve() should try to make */
	uint32_t	root_block;		/* tree of the blocks that are not in the window */
	uint32_t	nbuckets;		/* of the hash of the same blocks; 0: none yet */
	uint32_t	null_node[4];	/* node of NULL: a DblNode */
	DblPool		pools[DBL_NPOOLS];
} DblStoreShared;

/* Addresses of a pool's chunks in this process. */
typedef struct DblPoolView
{
	char	  **base;
	uint32_t	nbase;
	uint32_t	room;
} DblPoolView;

typedef struct DblStore
{
	DblStoreShared *shared;
	uint64_t	layout;			/* of the shared part when the view was made */
	uint64_t	epoch;
	DblMem		mem;
	DblPoolView pools[DBL_NPOOLS];
} DblStore;

/* Slots a chunk. */
#define DBL_SLOT_SHIFT		12
#define DBL_SLOT_MASK		((1u << DBL_SLOT_SHIFT) - 1)

/* The version in a slot below dbl_nslots(); all zeroes but left and right where the slot is free. */
static inline DblVersion *
dbl_version(DblStore *s, DblSlot slot)
{
	return (DblVersion *) (s->pools[DBL_POOL_VERSIONS].base[slot >> DBL_SLOT_SHIFT] +
						   (size_t) (slot & DBL_SLOT_MASK) * sizeof(DblVersion));
}

#endif							/* DBL_STORE_IMPL_H */
