/*-------------------------------------------------------------------------
 *
 * store.c
 *	  Changes of a store: reserving memory, entering versions, taking them out.
 *
 *-------------------------------------------------------------------------
 */
#include "store/internal.h"

/* --- free slots ------------------------------------------------------------- */

static void
free_slot_push(DblStore *s, DblSlot slot)
{
	DblVersion *v = dbl_version(s, slot);

	v->left = s->shared->free_slots;
	v->right = NONE;
	if (v->left != NONE)
		dbl_version(s, v->left)->right = slot;
	s->shared->free_slots = slot;
}

static void
free_slot_take(DblStore *s, DblSlot slot)
{
	DblVersion *v = dbl_version(s, slot);

	if (v->left != NONE)
		dbl_version(s, v->left)->right = v->right;
	if (v->right != NONE)
		dbl_version(s, v->right)->left = v->left;
	else
		s->shared->free_slots = v->left;
}

void
dbl_peek_free(DblStore *s, uint32_t n, DblSlot *out)
{
	DblSlot		slot = s->shared->free_slots;
	uint32_t	fresh = s->shared->nslots;

	for (uint32_t i = 0; i < n; i++)
	{
		if (slot != NONE)
		{
			out[i] = slot;
			slot = dbl_version(s, slot)->left;
		}
		else
			out[i] = fresh++;
	}
}

/* --- memory ------------------------------------------------------------------- */

/* Insertions that are promised at a time, as looking at all the pools costs as much as an insertion. */
#define PROMISE_AHEAD	8

/* Memory for n insertions, but for the slots. */
static bool
promise(DblStore *s, uint32_t n)
{
	DblStoreShared *sh = s->shared;

	if (!dbl_dir_reserve(s, (uint64_t) n * (sh->has_type ? 4 : 3)))
		return false;
	if (sh->has_type)
	{
		if (!pool_reserve(s, DBL_POOL_TYPES, n) || !pool_reserve(s, DBL_POOL_POSTINGS, n))
			return false;
		if (sh->pools[DBL_POOL_POSTINGS].count - sh->pools[DBL_POOL_POSTINGS].nfree >
			DBL_MAX_POSTINGS - n)
			return false;
	}
	sh->promised = n;
	return true;
}

bool
dbl_reserve(DblStore *s, uint64_t nslots, uint32_t inserts)
{
	DblStoreShared *sh = s->shared;
	uint32_t	n = inserts > sh->promised ? inserts : sh->promised;

	/* a promise of before that covers it */
	if (inserts > 0 && inserts <= sh->promised && nslots <= sh->pools[DBL_POOL_VERSIONS].capacity &&
		nslots <= sh->pools[DBL_POOL_LINKS].capacity)
		return true;
	if (nslots > sh->pools[DBL_POOL_VERSIONS].capacity &&
		!dbl_pool_grow(s, DBL_POOL_VERSIONS, nslots))
		return false;
	if (nslots > sh->pools[DBL_POOL_LINKS].capacity &&
		!dbl_pool_grow(s, DBL_POOL_LINKS, nslots))
		return false;
	if (DBL_UNLIKELY(sh->window_wanted != 0))
		dbl_dir_widen(s);
	dbl_dir_spread(s);
	return (n > 0 && n < PROMISE_AHEAD && promise(s, PROMISE_AHEAD)) || promise(s, n);
}

/* --- versions ------------------------------------------------------------------- */

static const uint8_t tree_column[3] = {DBL_ID, DBL_SOURCE, DBL_TARGET};

void
dbl_insert(DblStore *s, DblSlot slot, const DblVersion *v)
{
	DblStoreShared *sh = s->shared;
	DblVersion *to = dbl_version(s, slot);

	assert(slot < sh->pools[DBL_POOL_VERSIONS].capacity);
	if (slot >= sh->nslots)
	{
		while (sh->nslots < slot)
			free_slot_push(s, sh->nslots++);
		sh->nslots = slot + 1;
	}
	else
	{
		assert(!(to->flags & DBL_F_USED));
		free_slot_take(s, slot);
	}
	*to = *v;
	to->flags |= DBL_F_USED;
	slot_links(s, slot)->place = NONE;
	sh->nused++;

	for (int kind = TREE_ID; kind <= TREE_IN; kind++)
	{
		int			col = tree_column[kind];
		DblNode    *node = dbl_dir_make(s, to->key[col], DblVersionIsNull(to, col));

		dbl_tree_insert(s, kind, &node->root[kind], slot);
	}
	if (sh->has_type)
		dbl_posting_add(s, dbl_dir_make(s, to->key[DBL_TYPE], DblVersionIsNull(to, DBL_TYPE)),
						slot);
	if (sh->promised > 0)
		sh->promised--;
}

void
dbl_remove(DblStore *s, DblSlot slot)
{
	DblStoreShared *sh = s->shared;
	DblVersion *v = dbl_version(s, slot);
	DblNode    *node;

	assert(slot < sh->nslots && (v->flags & DBL_F_USED));
	for (int kind = TREE_ID; kind <= TREE_IN; kind++)
	{
		int			col = tree_column[kind];

		node = dbl_dir_find(s, v->key[col], DblVersionIsNull(v, col));
		if (node == NULL)
			continue;			/* corrupt; dbl_store_check() tells */
		dbl_tree_remove(s, kind, &node->root[kind], slot);
		if (node_is_empty(node))
			dbl_dir_drop_if_empty(s, v->key[col], DblVersionIsNull(v, col));
	}
	if (sh->has_type)
	{
		node = dbl_dir_find(s, v->key[DBL_TYPE], DblVersionIsNull(v, DBL_TYPE));
		if (node != NULL)
		{
			dbl_posting_remove(s, node, slot);
			if (node_is_empty(node))
				dbl_dir_drop_if_empty(s, v->key[DBL_TYPE], DblVersionIsNull(v, DBL_TYPE));
		}
	}
	memset(v, 0, sizeof(*v));
	memset(slot_links(s, slot), 0, sizeof(DblLinks));
	slot_links(s, slot)->place = NONE;
	sh->nused--;
	free_slot_push(s, slot);
}

/* --- numbers ---------------------------------------------------------------------- */

void
dbl_store_stats(DblStore *s, DblStoreStats *st)
{
	const DblStoreShared *sh = s->shared;

	memset(st, 0, sizeof(*st));
	st->slots = sh->nslots;
	st->used = sh->nused;
	st->free = sh->nslots - sh->nused;
	st->nodes = sh->nnodes + !node_is_empty((const DblNode *) sh->null_node);
	st->bytes_slots = sh->bytes[DBL_POOL_VERSIONS];
	st->bytes_trees = sh->bytes[DBL_POOL_LINKS];
	st->bytes_directory = sh->bytes[DBL_POOL_BLOCKS] + sh->bytes[DBL_POOL_WINDOW] +
		sh->bytes[DBL_POOL_BUCKETS];
	for (int c = 0; c < DBL_NODE_CLASSES; c++)
		st->bytes_directory += sh->bytes[DBL_POOL_NODES + c];
	st->bytes_postings = sh->bytes[DBL_POOL_TYPES] + sh->bytes[DBL_POOL_POSTINGS];
}
