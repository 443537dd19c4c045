/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  Scans over the directory and below it, resumed by key.
 *
 *-------------------------------------------------------------------------
 */
#include "store/internal.h"

/* How many nodes ahead a scan fetches what it will look at. */
#define AHEAD	6

static const uint8_t first_column[4] = {DBL_ID, DBL_SOURCE, DBL_TARGET, DBL_TYPE};

void
dbl_cursor_at(DblStore *s, DblAccess access, DblSlot slot, DblCursor *cur)
{
	const DblVersion *v = dbl_version(s, slot);
	int			col = first_column[access];

	memset(cur, 0, sizeof(*cur));
	cur->started = 1;
	cur->first_null = DblVersionIsNull(v, col);
	cur->first = v->key[col];
	if (access == DBL_BY_SOURCE || access == DBL_BY_TARGET)
	{
		col = access == DBL_BY_SOURCE ? DBL_TARGET : DBL_SOURCE;
		cur->second_null = DblVersionIsNull(v, col);
		cur->second = v->key[col];
	}
	cur->slot = slot;
	if (access == DBL_BY_TYPE)
	{
		uint32_t	place = slot_links(s, slot)->place;

		cur->chunk = place / 16;
		cur->pos = place % 16;
		if (cur->chunk < s->shared->pools[DBL_POOL_POSTINGS].count)
			cur->chunk_seq = posting_at(s, cur->chunk)->seq;
	}
}

/* Entries of one node; `from`: behind that cursor, which stands in this node. */
static uint32_t
scan_node(DblStore *s, DblAccess access, const DblNode *node, const DblRange *second,
		  bool backward, const DblCursor *from, DblSlot *out, uint32_t max)
{
	DblSegment	seg[2];
	DblBound	at;
	uint32_t	root;
	uint32_t	n = 0;
	int			nsegs;

	if (access == DBL_BY_TYPE)
		return node->type == NONE ? 0 :
			dbl_posting_scan(s, node->type, backward, from, out, max);

	root = node->root[access];
	if (root == NONE)
		return 0;
	if (from != NULL)
	{
		at.null = access != DBL_BY_ID && from->second_null;
		at.key = access == DBL_BY_ID ? 0 : from->second;
		at.slot = from->slot;
	}
	if (access == DBL_BY_ID || second == NULL)
		return dbl_tree_walk(s, access, root, backward,
							 from && !backward ? &at : NULL, from && backward ? &at : NULL,
							 out, max);

	nsegs = range_segments(second, backward, seg);
	for (int i = 0; i < nsegs && n < max; i++)
	{
		DblBound	lower = {seg[i].null, seg[i].lo, SLOT_BEFORE};
		DblBound	upper = {seg[i].null, seg[i].hi, SLOT_BEHIND};

		if (from != NULL)
		{
			if (!backward && bound_less(lower, at))
				lower = at;
			if (backward && bound_less(at, upper))
				upper = at;
			if (!bound_less(lower, upper))
				continue;
		}
		n += dbl_tree_walk(s, access, root, backward, &lower, &upper, out + n, max - n);
	}
	return n;
}

/* A node that comes soon: get what scan_node() will touch. */
DBL_INLINE void
prefetch_node(DblStore *s, DblAccess access, const DblNode *node)
{
	uint32_t	slot;

	if (access == DBL_BY_TYPE)
		return;
	slot = node->root[access];
	if (slot >= s->shared->nslots)
		return;
	__builtin_prefetch(dbl_version(s, slot));
	if (access != DBL_BY_ID)
		__builtin_prefetch(slot_links(s, slot));
}

/*
 * A single value, from its beginning: what most scans ask for.  There are no ranges to look at, and most often
 * one version.
 */
DBL_INLINE uint32_t
scan_value(DblStore *s, DblAccess access, int64_t value, const DblRange *second, bool backward,
		   DblCursor *cur, DblSlot *out, uint32_t max)
{
	const DblNode *node = dir_find(s, value);
	uint32_t	root;
	uint32_t	n;

	if (node == NULL)
		return 0;
	if (access == DBL_BY_ID)
	{
		const DblVersion *v;

		root = node->root[TREE_ID];
		if (root == NONE)
			return 0;
		v = dbl_version(s, root);
		if ((v->left & v->right) == NONE)
		{
			out[0] = root;
			n = 1;
		}
		else
			n = dbl_tree_walk(s, TREE_ID, root, backward, NULL, NULL, out, max);
		*cur = (DblCursor) {.started = 1, .first = value, .slot = out[n - 1]};
		return n;
	}
	if (access != DBL_BY_TYPE && second != NULL &&
		(second->with_null ? second->lo > second->hi : second->lo == second->hi))
	{
		root = node->root[access];
		n = root == NONE ? 0 : dbl_tree_equal(s, access, root, backward, second->with_null,
											  second->lo, out, max);
	}
	else if (access != DBL_BY_TYPE && second == NULL && tree_size_of(s, access, node->root[access]) == 1)
	{
		out[0] = node->root[access];
		n = 1;
	}
	else
		n = scan_node(s, access, node, second, backward, NULL, out, max);
	if (n > 0)
		dbl_cursor_at(s, access, out[n - 1], cur);
	return n;
}

uint32_t
dbl_scan(DblStore *s, DblAccess access, const DblRange *first, const DblRange *second,
		 bool backward, DblCursor *cur, DblSlot *out, uint32_t max)
{
	DblSegment	seg[2];
	int			nsegs;
	uint32_t	n = 0;

	if (max == 0)
		return 0;
	if (first->lo == first->hi && !first->with_null && !cur->started)
		return scan_value(s, access, first->lo, second, backward, cur, out, max);
	nsegs = range_segments(first, backward, seg);
	for (int i = 0; i < nsegs && n < max; i++)
	{
		DblDirPos	pos;
		uint32_t	block;
		DblNode    *last = NULL;
		const DblCursor *from = NULL;
		int64_t		value = backward ? seg[i].hi : seg[i].lo;

		if (seg[i].null)
		{
			if (cur->started && cur->first_null)
				from = cur;
			else if (cur->started && backward)
				continue;		/* the cursor has passed NULL, which comes first */
			n += scan_node(s, access, null_node(s), second, backward, from, out + n, max - n);
			continue;
		}

		if (cur->started)
		{
			if (cur->first_null)
			{
				if (!backward)
					continue;	/* all values are behind the cursor */
			}
			else if (backward ? cur->first < seg[i].lo : cur->first > seg[i].hi)
				continue;
			else if (backward ? cur->first <= seg[i].hi : cur->first >= seg[i].lo)
			{
				value = cur->first;
				from = cur;
			}
		}
		if (seg[i].lo == seg[i].hi)
		{
			DblNode    *node = dbl_dir_find(s, seg[i].lo, false);

			if (node != NULL)
				n += scan_node(s, access, node, second, backward, from, out + n, max - n);
			continue;
		}
		if (!dbl_dir_seek(s, value, backward, &pos))
			continue;
		block = NONE;
		do
		{
			if (backward ? pos.value < seg[i].lo : pos.value > seg[i].hi)
				break;
			if (pos.block != block)
			{
				DblBlock   *b = block_at(s, pos.block);
				DblNode    *nodes = nodes_at(s, b->class, b->nodes);

				block = pos.block;
				last = backward ? nodes : nodes + count_bits(b->present) - 1;
			}
			if (backward ? pos.node - last >= AHEAD : last - pos.node >= AHEAD)
				prefetch_node(s, access, backward ? pos.node - AHEAD : pos.node + AHEAD);
			n += scan_node(s, access, pos.node, second, backward,
						   from && pos.value == from->first ? from : NULL, out + n, max - n);
		} while (n < max && dbl_dir_step(s, backward, &pos));
	}
	if (n > 0)
		dbl_cursor_at(s, access, out[n - 1], cur);
	return n;
}
