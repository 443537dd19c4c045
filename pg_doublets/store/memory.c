/*-------------------------------------------------------------------------
 *
 * memory.c
 *	  Pools of fixed-size items, and a process's view of them.
 *
 * Growing may fail, and is done ahead of a change (dbl_reserve); taking and
 * giving back items can't fail.  Whatever fails leaves pool and view usable as
 * they were.
 *
 *-------------------------------------------------------------------------
 */
#include "store/internal.h"

#define FIRST_CHUNK_BYTES	1024
#define FIRST_CHUNK_SLOTS	64

const uint32_t dbl_pool_item_size[DBL_NPOOLS] = {
	[DBL_POOL_VERSIONS] = sizeof(DblVersion),
	[DBL_POOL_LINKS] = sizeof(DblLinks),
	[DBL_POOL_BLOCKS] = sizeof(DblBlock),
	[DBL_POOL_WINDOW] = sizeof(uint32_t),
	[DBL_POOL_BUCKETS] = sizeof(uint32_t),
	[DBL_POOL_TYPES] = sizeof(DblTypeList),
	[DBL_POOL_POSTINGS] = sizeof(DblPosting),
	[DBL_POOL_NODES + 0] = sizeof(DblNode),
	[DBL_POOL_NODES + 1] = sizeof(DblNode) * 2,
	[DBL_POOL_NODES + 2] = sizeof(DblNode) * 4,
	[DBL_POOL_NODES + 3] = sizeof(DblNode) * 8,
	[DBL_POOL_NODES + 4] = sizeof(DblNode) * 16,
	[DBL_POOL_NODES + 5] = sizeof(DblNode) * 32,
	[DBL_POOL_NODES + 6] = sizeof(DblNode) * 64,
};

const uint8_t dbl_pool_shift[DBL_NPOOLS] = {
	[DBL_POOL_VERSIONS] = DBL_SLOT_SHIFT,
	[DBL_POOL_LINKS] = DBL_SLOT_SHIFT,
	[DBL_POOL_BLOCKS] = SHIFT_BLOCKS,
	[DBL_POOL_WINDOW] = SHIFT_WINDOW,
	[DBL_POOL_BUCKETS] = SHIFT_BUCKETS,
	[DBL_POOL_TYPES] = SHIFT_TYPES,
	[DBL_POOL_POSTINGS] = SHIFT_POSTINGS,
	[DBL_POOL_NODES + 0] = SHIFT_NODES(0),
	[DBL_POOL_NODES + 1] = SHIFT_NODES(1),
	[DBL_POOL_NODES + 2] = SHIFT_NODES(2),
	[DBL_POOL_NODES + 3] = SHIFT_NODES(3),
	[DBL_POOL_NODES + 4] = SHIFT_NODES(4),
	[DBL_POOL_NODES + 5] = SHIFT_NODES(5),
	[DBL_POOL_NODES + 6] = SHIFT_NODES(6),
};

static uint32_t
chunk_items(int p)
{
	return 1u << dbl_pool_shift[p];
}

static size_t
chunk_bytes(int p, uint32_t items)
{
	return (size_t) dbl_pool_item_size[p] * items;
}

/* The pool's list of chunks, in this process; NULL when it can't be mapped. */
static DblRef *
pool_refs(DblStore *s, int p)
{
	DblPool    *pool = &s->shared->pools[p];

	if (pool->list_room == 0)
		return pool->refs;
	return s->mem.resolve(s->mem.ctx, pool->list);
}

/* Room for n chunk addresses in the view of a pool. */
static bool
view_room(DblStore *s, int p, uint32_t n)
{
	DblPoolView *v = &s->pools[p];
	uint32_t	room = v->room ? v->room : 8;
	char	  **base;

	if (n <= v->room)
		return true;
	while (room < n)
		room *= 2;
	base = s->mem.scratch_alloc(s->mem.ctx, room * sizeof(char *));
	if (base == NULL)
		return false;
	if (v->nbase)
		memcpy(base, v->base, v->nbase * sizeof(char *));
	if (v->base)
		s->mem.scratch_free(s->mem.ctx, v->base);
	v->base = base;
	v->room = room;
	return true;
}

/* Room for one more chunk in the pool's list. */
static bool
list_room(DblStore *s, int p)
{
	DblPool    *pool = &s->shared->pools[p];
	uint32_t	room = pool->list_room ? pool->list_room : DBL_POOL_INLINE_REFS;
	DblRef		bigger;
	DblRef	   *from;
	DblRef	   *to;

	if (pool->nchunks < room)
		return true;
	/* from 4 to 128, a piece of 1 KB */
	room = pool->list_room ? room * 2 : 128;
	bigger = s->mem.alloc(s->mem.ctx, room * sizeof(DblRef));
	if (bigger == 0)
		return false;
	to = s->mem.resolve(s->mem.ctx, bigger);
	from = pool_refs(s, p);
	if (to == NULL || from == NULL)
	{
		s->mem.free(s->mem.ctx, bigger, room * sizeof(DblRef));
		return false;
	}
	memcpy(to, from, pool->nchunks * sizeof(DblRef));
	if (pool->list_room)
		s->mem.free(s->mem.ctx, pool->list, pool->list_room * sizeof(DblRef));
	s->shared->bytes[p] += (room - pool->list_room) * sizeof(DblRef);
	pool->list = bigger;
	pool->list_room = room;
	return true;
}

/*
 * Get a chunk of so many items, zeroed, in place of the first one (which must
 * be the only one) or as a further one.
 */
static bool
add_chunk(DblStore *s, int p, uint32_t items, bool replace)
{
	DblPool    *pool = &s->shared->pools[p];
	uint32_t	i = replace ? 0 : pool->nchunks;
	uint32_t	old = replace ? pool->capacity : 0;
	DblRef		ref;
	DblRef	   *refs;
	char	   *mem;

	if (!view_room(s, p, i + 1) || (!replace && !list_room(s, p)))
		return false;
	refs = pool_refs(s, p);
	if (refs == NULL)
		return false;
	ref = s->mem.alloc(s->mem.ctx, chunk_bytes(p, items));
	if (ref == 0)
		return false;
	mem = s->mem.resolve(s->mem.ctx, ref);
	if (mem == NULL)
	{
		s->mem.free(s->mem.ctx, ref, chunk_bytes(p, items));
		return false;
	}
	if (old)
	{
		memcpy(mem, s->pools[p].base[0], chunk_bytes(p, old));
		s->mem.free(s->mem.ctx, refs[0], chunk_bytes(p, old));
		s->shared->bytes[p] -= chunk_bytes(p, old);
	}
	memset(mem + chunk_bytes(p, old), 0, chunk_bytes(p, items - old));

	refs[i] = ref;
	pool->nchunks = i + 1;
	pool->capacity = pool->capacity - old + items;
	s->shared->bytes[p] += chunk_bytes(p, items);
	s->pools[p].base[i] = mem;
	s->pools[p].nbase = i + 1;
	s->layout = ++s->shared->layout;
	return true;
}

/* Have memory for items 0 .. items - 1.  Fresh memory is zero. */
bool
dbl_pool_grow(DblStore *s, int p, uint64_t items)
{
	DblPool    *pool = &s->shared->pools[p];
	uint32_t	full = chunk_items(p);

	if (items > UINT32_MAX - full)
		return false;
	while (pool->capacity < items)
	{
		uint32_t	n = full;

		if (pool->capacity < full)
		{
			if (pool->capacity)
				n = pool->capacity * 2;
			else if (p == DBL_POOL_VERSIONS || p == DBL_POOL_LINKS)
				n = FIRST_CHUNK_SLOTS;
			else
			{
				n = FIRST_CHUNK_BYTES / dbl_pool_item_size[p];
				if (n < 4)
					n = 4;
			}
			while (n < items && n < full)
				n *= 2;
			if (n > full)
				n = full;
		}
		if (!add_chunk(s, p, n, pool->capacity > 0 && pool->capacity < full))
			return false;
	}
	return true;
}

/* Take an item; dbl_pool_grow() has seen to it that there is one.  Its content is arbitrary. */
uint32_t
dbl_pool_get(DblStore *s, int p)
{
	DblPool    *pool = &s->shared->pools[p];
	uint32_t	i = pool->free_head;

	if (i != NONE)
	{
		pool->free_head = *(uint32_t *) pool_item(s, p, i, dbl_pool_shift[p],
												  dbl_pool_item_size[p]);
		pool->nfree--;
		return i;
	}
	assert(pool->count < pool->capacity);
	return pool->count++;
}

void
dbl_pool_put(DblStore *s, int p, uint32_t i)
{
	DblPool    *pool = &s->shared->pools[p];

	*(uint32_t *) pool_item(s, p, i, dbl_pool_shift[p], dbl_pool_item_size[p]) = pool->free_head;
	pool->free_head = i;
	pool->nfree++;
}

/* Resolve the chunks that the view does not know, or that may have moved. */
bool
dbl_store_remap(DblStore *s)
{
	bool		anew = s->epoch != s->shared->epoch;

	for (int p = 0; p < DBL_NPOOLS; p++)
	{
		DblPool    *pool = &s->shared->pools[p];
		DblPoolView *v = &s->pools[p];
		DblRef	   *refs;

		/* only the first chunk ever moves, and only while it is alone */
		if (anew || v->nbase <= 1 || v->nbase > pool->nchunks)
			v->nbase = 0;
		if (v->nbase == pool->nchunks)
			continue;
		if (!view_room(s, p, pool->nchunks))
			return false;
		refs = pool_refs(s, p);
		if (refs == NULL)
			return false;
		for (uint32_t i = v->nbase; i < pool->nchunks; i++)
		{
			v->base[i] = s->mem.resolve(s->mem.ctx, refs[i]);
			if (v->base[i] == NULL)
			{
				v->nbase = i;
				return false;
			}
		}
		v->nbase = pool->nchunks;
	}
	s->layout = s->shared->layout;
	s->epoch = s->shared->epoch;
	return true;
}

/*
 * *shared must be zeroes or have been a store before: layout and epoch go on
 * from what they were, so that views of an earlier store notice.
 */
void
dbl_store_init(DblStoreShared *shared, bool has_type)
{
	uint64_t	layout = shared->layout;
	uint64_t	epoch = shared->epoch;

	memset(shared, 0, sizeof(*shared));
	shared->layout = layout + 1;
	shared->epoch = epoch + 1;
	shared->has_type = has_type;
	shared->free_slots = NONE;
	shared->root_block = NONE;
	for (int i = 0; i < 4; i++)
		shared->null_node[i] = NONE;
	for (int p = 0; p < DBL_NPOOLS; p++)
		shared->pools[p].free_head = NONE;
}

void
dbl_store_attach(DblStore *s, DblStoreShared *shared, const DblMem *mem)
{
	memset(s, 0, sizeof(*s));
	s->shared = shared;
	s->mem = *mem;
	s->layout = shared->layout - 1;
	s->epoch = shared->epoch - 1;
}

void
dbl_store_detach(DblStore *s)
{
	for (int p = 0; p < DBL_NPOOLS; p++)
	{
		if (s->pools[p].base)
			s->mem.scratch_free(s->mem.ctx, s->pools[p].base);
		memset(&s->pools[p], 0, sizeof(s->pools[p]));
	}
	s->layout--;				/* whatever it was, it isn't up to date */
}

void
dbl_store_destroy(DblStore *s)
{
	DblStoreShared *sh = s->shared;

	for (int p = 0; p < DBL_NPOOLS; p++)
	{
		DblPool    *pool = &sh->pools[p];
		DblRef	   *refs = pool_refs(s, p);
		uint32_t	items = pool->nchunks == 1 ? pool->capacity : chunk_items(p);

		for (uint32_t i = 0; refs && i < pool->nchunks; i++)
			s->mem.free(s->mem.ctx, refs[i], chunk_bytes(p, items));
		if (pool->list_room)
			s->mem.free(s->mem.ctx, pool->list, pool->list_room * sizeof(DblRef));
	}
	dbl_store_detach(s);
	dbl_store_init(sh, sh->has_type);
	s->layout = sh->layout - 1;
}
