/*-------------------------------------------------------------------------
 *
 * tree.c
 *	  Size-balanced trees (Chen Qifeng), one code for all kinds.
 *
 * Entries are ordered by key and then by their own number, so equal keys are
 * no special case.  Invariant: no subtree is smaller than either child of its
 * sibling.  It is restored on the way up after each change; as sizes are known
 * along the path, looking for a violation costs no visit to a sibling.
 *
 * Each function is written once with `kind` as a constant for the compiler to
 * fold, and called through a switch.
 *
 *-------------------------------------------------------------------------
 */
#include "store/internal.h"

/* Child of x on a side: 0 left, 1 right. */
DBL_INLINE uint32_t *
child(DblStore *s, int kind, uint32_t x, int side)
{
	return side ? tree_right(s, kind, x) : tree_left(s, kind, x);
}

DBL_INLINE void
refresh_size(DblStore *s, int kind, uint32_t x)
{
	*tree_size(s, kind, x) = 1 + tree_size_of(s, kind, *tree_left(s, kind, x)) +
		tree_size_of(s, kind, *tree_right(s, kind, x));
}

/* The child on a side becomes the root of the subtree, which is returned. */
DBL_INLINE uint32_t
rotate(DblStore *s, int kind, uint32_t x, int side)
{
	uint32_t	up = *child(s, kind, x, side);

	*child(s, kind, x, side) = *child(s, kind, up, !side);
	*child(s, kind, up, !side) = x;
	*tree_size(s, kind, up) = *tree_size(s, kind, x);
	refresh_size(s, kind, x);
	return up;
}

static uint32_t maintain_any(DblStore *s, int kind, uint32_t x, int side);

/*
 * Both subtrees of x satisfy the invariant; make x satisfy it where `side` may
 * be too heavy.  Each rotation makes the sum of all depths smaller, so the
 * recursion ends; on average it does next to nothing.
 */
DBL_INLINE uint32_t
maintain(DblStore *s, int kind, uint32_t x, int side)
{
	uint32_t	heavy;
	uint32_t	light;
	uint32_t   *p;

	if (x == NONE)
		return x;
	heavy = *child(s, kind, x, side);
	if (heavy == NONE)
		return x;
	light = tree_size_of(s, kind, *child(s, kind, x, !side));
	if (tree_size_of(s, kind, *child(s, kind, heavy, side)) > light)
		x = rotate(s, kind, x, side);
	else if (tree_size_of(s, kind, *child(s, kind, heavy, !side)) > light)
	{
		*child(s, kind, x, side) = rotate(s, kind, heavy, !side);
		x = rotate(s, kind, x, side);
	}
	else
		return x;

	for (int i = 0; i < 2; i++)
	{
		p = child(s, kind, x, i);
		*p = maintain_any(s, kind, *p, 0);
		*p = maintain_any(s, kind, *p, 1);
	}
	x = maintain_any(s, kind, x, 0);
	return maintain_any(s, kind, x, 1);
}

static uint32_t
maintain_any(DblStore *s, int kind, uint32_t x, int side)
{
	switch (kind)
	{
		case TREE_ID:
			return maintain(s, TREE_ID, x, side);
		case TREE_OUT:
			return maintain(s, TREE_OUT, x, side);
		case TREE_IN:
			return maintain(s, TREE_IN, x, side);
		default:
			return maintain(s, TREE_BLOCK, x, side);
	}
}

DBL_INLINE void
insert(DblStore *s, int kind, uint32_t *root, uint32_t x)
{
	uint32_t	path[TREE_DEPTH];
	uint8_t		side[TREE_DEPTH];
	int			d = 0;
	uint32_t	t = *root;
	bool		rotated = false;

	*tree_left(s, kind, x) = NONE;
	*tree_right(s, kind, x) = NONE;
	*tree_size(s, kind, x) = 1;
	if (t == NONE)
	{
		*root = x;
		return;
	}

	{
		DblBound	key = tree_key(s, kind, x);

		while (t != NONE && d < TREE_DEPTH)
		{
			path[d] = t;
			side[d] = !bound_less(key, tree_key(s, kind, t));
			t = *child(s, kind, t, side[d]);
			d++;
		}
	}
	if (t != NONE)
		return;					/* corrupt; dbl_store_check() tells */
	for (int i = 0; i < d; i++)
		++*tree_size(s, kind, path[i]);
	*child(s, kind, path[d - 1], side[d - 1]) = x;

	/* path[d - 1] has a new leaf: nothing to restore there */
	for (int i = d - 2; i >= 0; i--)
	{
		uint32_t	p = path[i];
		uint32_t	heavy = *child(s, kind, p, side[i]);
		uint32_t	light = *tree_size(s, kind, p) - 1 - *tree_size(s, kind, heavy);
		bool		bad;

		if (!rotated)
			/* only the grandchild on the path has grown */
			bad = *tree_size(s, kind, i + 2 < d ? path[i + 2] : x) > light;
		else
			bad = *tree_size(s, kind, heavy) > light + 1;	/* maybe; maintain() looks */
		if (bad)
		{
			uint32_t	q = maintain_any(s, kind, p, side[i]);

			*(i > 0 ? child(s, kind, path[i - 1], side[i - 1]) : root) = q;
			rotated = q != p;
			path[i] = q;
		}
		else
			rotated = false;
	}
}

/* False, with nothing changed: it isn't there. */
DBL_INLINE bool
remove_entry(DblStore *s, int kind, uint32_t *root, uint32_t x)
{
	uint32_t	path[TREE_DEPTH];
	uint8_t		side[TREE_DEPTH];
	int			d = 0;
	int			at;
	uint32_t	t = *root;
	uint32_t	left;
	uint32_t	right;
	uint32_t	instead;

	if (t != x)
	{
		DblBound	key = tree_key(s, kind, x);

		while (t != NONE && t != x && d < TREE_DEPTH)
		{
			path[d] = t;
			side[d] = !bound_less(key, tree_key(s, kind, t));
			t = *child(s, kind, t, side[d]);
			d++;
		}
	}
	if (t != x)
		return false;

	at = d;
	left = *tree_left(s, kind, x);
	right = *tree_right(s, kind, x);
	if (left == NONE || right == NONE)
		instead = left == NONE ? right : left;
	else
	{
		/* the neighbour from the bigger side takes x's place */
		int			from = tree_size_of(s, kind, left) < tree_size_of(s, kind, right);
		uint32_t	below;

		path[d] = x;
		side[d++] = from;
		instead = from ? right : left;
		while (d < TREE_DEPTH && (below = *child(s, kind, instead, !from)) != NONE)
		{
			path[d] = instead;
			side[d++] = !from;
			instead = below;
		}
		if (d == TREE_DEPTH)
			return false;		/* corrupt */

		/* unhook it there, hook it in here; sizes follow below */
		*child(s, kind, path[d - 1], side[d - 1]) = *child(s, kind, instead, from);
		*tree_left(s, kind, instead) = *tree_left(s, kind, x);
		*tree_right(s, kind, instead) = *tree_right(s, kind, x);
		*tree_size(s, kind, instead) = *tree_size(s, kind, x);
		path[at] = instead;
	}
	*(at > 0 ? child(s, kind, path[at - 1], side[at - 1]) : root) = instead;

	for (int i = 0; i < d; i++)
		--*tree_size(s, kind, path[i]);
	for (int i = d - 1; i >= 0; i--)
	{
		uint32_t	p = path[i];
		uint32_t	light = tree_size_of(s, kind, *child(s, kind, p, side[i]));
		uint32_t	heavy = *tree_size(s, kind, p) - 1 - light;

		/* a child of the heavy side has at most heavy - 1 entries */
		if (heavy > light + 1)
		{
			uint32_t	q = maintain_any(s, kind, p, !side[i]);

			if (q != p)
				*(i > 0 ? child(s, kind, path[i - 1], side[i - 1]) : root) = q;
		}
	}
	return true;
}

/* Number of entries below the bound. */
DBL_INLINE uint32_t
rank(DblStore *s, int kind, uint32_t t, const DblBound *bound)
{
	uint32_t	n = 0;

	for (int d = 0; t != NONE && d < TREE_DEPTH; d++)
	{
		if (bound_less(tree_key(s, kind, t), *bound))
		{
			n += 1 + tree_size_of(s, kind, *tree_left(s, kind, t));
			t = *tree_right(s, kind, t);
		}
		else
			t = *tree_left(s, kind, t);
	}
	return n;
}

/* A balanced tree of slots that are in order. */
static uint32_t
build(DblStore *s, int kind, const uint32_t *slots, uint32_t n)
{
	uint32_t	mid = n / 2;
	uint32_t	x;

	if (n == 0)
		return NONE;
	x = slots[mid];
	*tree_left(s, kind, x) = build(s, kind, slots, mid);
	*tree_right(s, kind, x) = build(s, kind, slots + mid + 1, n - mid - 1);
	*tree_size(s, kind, x) = n;
	return x;
}

/*
 * Entries above *lower and below *upper (NULL: no bound), at most max, from the
 * lowest on or, backward, from the highest.
 */
DBL_INLINE uint32_t
walk(DblStore *s, int kind, uint32_t t, bool backward, const DblBound *lower,
	 const DblBound *upper, uint32_t *out, uint32_t max)
{
	uint32_t	stack[TREE_DEPTH];
	int			d = 0;
	uint32_t	n = 0;
	const DblBound *start = backward ? upper : lower;
	const DblBound *end = backward ? lower : upper;

	while (t != NONE)
	{
		if (start == NULL ||
			(backward ? bound_less(tree_key(s, kind, t), *start) :
			 bound_less(*start, tree_key(s, kind, t))))
		{
			if (d == TREE_DEPTH)
				return 0;		/* corrupt */
			stack[d++] = t;
			t = *child(s, kind, t, backward);
		}
		else
			t = *child(s, kind, t, !backward);
	}
	while (d > 0 && n < max)
	{
		t = stack[--d];
		if (end != NULL &&
			!(backward ? bound_less(*end, tree_key(s, kind, t)) :
			  bound_less(tree_key(s, kind, t), *end)))
			break;
		out[n++] = t;
		t = *child(s, kind, t, !backward);
		while (t != NONE && d < TREE_DEPTH)
		{
			stack[d++] = t;
			t = *child(s, kind, t, backward);
		}
	}
	return n;
}

/*
 * Entries with one key, at most max, from the lowest slot on or, backward, from the highest.  They lie below the
 * topmost of them, which most often is the only one.
 */
DBL_INLINE uint32_t
equal(DblStore *s, int kind, uint32_t t, bool backward, bool null, int64_t key, uint32_t *out,
	  uint32_t max)
{
	DblBound	lower = {null, key, SLOT_BEFORE};
	DblBound	upper = {null, key, SLOT_BEHIND};

	for (int d = 0; t != NONE && d < TREE_DEPTH; d++)
	{
		DblBound	at = tree_key(s, kind, t);

		if (at.null == null && (null || at.key == key))
		{
			if (*tree_size(s, kind, t) > 1)
				return walk(s, kind, t, backward, &lower, &upper, out, max);
			out[0] = t;
			return 1;
		}
		t = *child(s, kind, t, bound_less(at, lower));
	}
	return 0;
}

void
dbl_tree_insert(DblStore *s, int kind, uint32_t *root, uint32_t x)
{
	switch (kind)
	{
		case TREE_ID:
			insert(s, TREE_ID, root, x);
			break;
		case TREE_OUT:
			insert(s, TREE_OUT, root, x);
			break;
		case TREE_IN:
			insert(s, TREE_IN, root, x);
			break;
		default:
			insert(s, TREE_BLOCK, root, x);
			break;
	}
}

bool
dbl_tree_remove(DblStore *s, int kind, uint32_t *root, uint32_t x)
{
	switch (kind)
	{
		case TREE_ID:
			return remove_entry(s, TREE_ID, root, x);
		case TREE_OUT:
			return remove_entry(s, TREE_OUT, root, x);
		case TREE_IN:
			return remove_entry(s, TREE_IN, root, x);
		default:
			return remove_entry(s, TREE_BLOCK, root, x);
	}
}

uint32_t
dbl_tree_rank(DblStore *s, int kind, uint32_t root, const DblBound *bound)
{
	switch (kind)
	{
		case TREE_ID:
			return rank(s, TREE_ID, root, bound);
		case TREE_OUT:
			return rank(s, TREE_OUT, root, bound);
		case TREE_IN:
			return rank(s, TREE_IN, root, bound);
		default:
			return rank(s, TREE_BLOCK, root, bound);
	}
}

uint32_t
dbl_tree_build(DblStore *s, int kind, const uint32_t *slots, uint32_t n)
{
	switch (kind)
	{
		case TREE_ID:
			return build(s, TREE_ID, slots, n);
		case TREE_OUT:
			return build(s, TREE_OUT, slots, n);
		default:
			return build(s, TREE_IN, slots, n);
	}
}

/* Of the trees by source and by target, whose entries have another key than their number; max > 0. */
uint32_t
dbl_tree_equal(DblStore *s, int kind, uint32_t root, bool backward, bool null, int64_t key,
			   uint32_t *out, uint32_t max)
{
	if (kind == TREE_OUT)
		return equal(s, TREE_OUT, root, backward, null, key, out, max);
	return equal(s, TREE_IN, root, backward, null, key, out, max);
}

uint32_t
dbl_tree_walk(DblStore *s, int kind, uint32_t root, bool backward, const DblBound *lower,
			  const DblBound *upper, uint32_t *out, uint32_t max)
{
	switch (kind)
	{
		case TREE_ID:
			return walk(s, TREE_ID, root, backward, lower, upper, out, max);
		case TREE_OUT:
			return walk(s, TREE_OUT, root, backward, lower, upper, out, max);
		case TREE_IN:
			return walk(s, TREE_IN, root, backward, lower, upper, out, max);
		default:
			return walk(s, TREE_BLOCK, root, backward, lower, upper, out, max);
	}
}
