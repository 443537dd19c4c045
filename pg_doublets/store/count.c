/*-------------------------------------------------------------------------
 *
 * count.c
 *	  Numbers of entries in ranges, from the sizes of trees.
 *
 *-------------------------------------------------------------------------
 */
#include "store/internal.h"

#define WINDOW_SAMPLE	64

static uint32_t
count_node(DblStore *s, DblAccess access, const DblNode *node, const DblRange *second)
{
	DblSegment	seg[2];
	uint32_t	n = 0;
	int			nsegs;

	if (access == DBL_BY_TYPE)
		return node->type == NONE ? 0 : type_at(s, node->type)->count;
	if (node->root[access] == NONE)
		return 0;
	if (access == DBL_BY_ID || second == NULL)
		return tree_size_of(s, access, node->root[access]);

	nsegs = range_segments(second, false, seg);
	for (int i = 0; i < nsegs; i++)
	{
		DblBound	lower = {seg[i].null, seg[i].lo, SLOT_BEFORE};
		DblBound	upper = {seg[i].null, seg[i].hi, SLOT_BEHIND};

		n += dbl_tree_rank(s, access, node->root[access], &upper) -
			dbl_tree_rank(s, access, node->root[access], &lower);
	}
	return n;
}

/* About how many blocks lie between two numbers, both excluded. */
static double
blocks_between(DblStore *s, int64_t lo, int64_t hi)
{
	DblStoreShared *sh = s->shared;
	double		n = 0;
	int64_t		window = sh->window;
	uint32_t	in_tree = tree_size_of(s, TREE_BLOCK, sh->root_block);

	if (hi <= lo)
		return 0;
	if (in_tree > 0)
	{
		DblBound	lower = {false, lo, SLOT_BEHIND};
		DblBound	upper = {false, hi, SLOT_BEFORE};
		uint32_t	below = dbl_tree_rank(s, TREE_BLOCK, sh->root_block, &lower);
		uint32_t	upto = dbl_tree_rank(s, TREE_BLOCK, sh->root_block, &upper);

		if (upto > below)
			n += upto - below;
	}
	if (lo < -1)
		lo = -1;
	if (hi > window)
		hi = window;
	if (hi - lo > 1)
	{
		/* the window need not be full: look here and there */
		uint64_t	between = (uint64_t) (hi - lo - 1);
		uint64_t	looks = between < WINDOW_SAMPLE ? between : WINDOW_SAMPLE;
		uint64_t	there = 0;

		for (uint64_t i = 0; i < looks; i++)
			there += *window_at(s, (uint32_t) (lo + 1 + (int64_t) (i * between / looks))) != 0;
		n += (double) between * there / looks;
	}
	return n;
}

double
dbl_count(DblStore *s, DblAccess access, const DblRange *first, const DblRange *second,
		  uint32_t max_nodes, bool *exact)
{
	DblStoreShared *sh = s->shared;
	DblDirPos	low;
	DblDirPos	high;
	double		n = 0;
	double		rest;
	uint32_t	walked = 0;

	*exact = true;
	if (access == DBL_BY_TYPE && !sh->has_type)
		return 0;
	if (first->with_null)
		n += count_node(s, access, null_node(s), second);
	if (first->lo > first->hi)
		return n;
	if (first->lo == first->hi)
	{
		DblNode    *node = dbl_dir_find(s, first->lo, false);

		return node == NULL ? n : n + count_node(s, access, node, second);
	}
	if (first->lo == INT64_MIN && first->hi == INT64_MAX &&
		(second == NULL || access == DBL_BY_ID || access == DBL_BY_TYPE))
		return first->with_null ? sh->nused :
			sh->nused - (double) count_node(s, access, null_node(s), NULL);

	/* walk from both ends towards each other */
	if (!dbl_dir_seek(s, first->lo, false, &low) || low.value > first->hi ||
		!dbl_dir_seek(s, first->hi, true, &high))
		return n;
	rest = n;					/* what isn't a sample */
	n = 0;
	for (;;)
	{
		n += count_node(s, access, low.node, second);
		walked++;
		if (low.value >= high.value)
			return rest + n;
		if (walked >= max_nodes)
			break;
		n += count_node(s, access, high.node, second);
		walked++;
		if (!dbl_dir_step(s, false, &low) || !dbl_dir_step(s, true, &high) ||
			low.value > high.value)
			return rest + n;
		if (walked >= max_nodes)
			break;
	}
	*exact = false;

	/* and take what lies between for more of the same */
	{
		double		nodes = blocks_between(s, block_number(low.value), block_number(high.value)) *
			(sh->nblocks ? (double) sh->nnodes / sh->nblocks : 0);
		double		more = n / walked * nodes;

		/* a type without links costs a step all the same: at least what is there may be there */
		if (rest + n + more > sh->nused)
			more = sh->nused - rest - n;
		if (more < 0)
			more = 0;
		return rest + n + more;
	}
}
