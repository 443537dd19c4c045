/*-------------------------------------------------------------------------
 *
 * postings.c
 *	  The links of a type: chunked postings.
 *
 * A type's list is a chain of cache lines of slots, in the order in which they
 * came.  Places are never used twice, so that a cursor may stand on one: it
 * resumes by (posting, sequence number, position), and where the posting is
 * gone, by sequence number alone.  A slot's links name its place.
 *
 *-------------------------------------------------------------------------
 */
#include "store/internal.h"

/* Enter a slot at the end of the list of a node, which is made if it has none. */
void
dbl_posting_add(DblStore *s, DblNode *node, DblSlot slot)
{
	DblTypeList *list;
	DblPosting *p;

	if (node->type == NONE)
	{
		node->type = dbl_pool_get(s, DBL_POOL_TYPES);
		*type_at(s, node->type) = (DblTypeList) {NONE, NONE, 0, 0};
	}
	list = type_at(s, node->type);
	if (list->tail == NONE || posting_at(s, list->tail)->fill == DBL_POSTING_SLOTS)
	{
		uint32_t	i = dbl_pool_get(s, DBL_POOL_POSTINGS);

		p = posting_at(s, i);
		p->next = NONE;
		p->prev = list->tail;
		p->type = node->type;
		p->seq = list->next_seq++;
		p->used = p->fill = 0;
		memset(p->slots, 0, sizeof(p->slots));
		if (list->tail != NONE)
			posting_at(s, list->tail)->next = i;
		else
			list->head = i;
		list->tail = i;
	}
	p = posting_at(s, list->tail);
	slot_links(s, slot)->place = list->tail * 16 + p->fill;
	p->slots[p->fill] = slot;
	p->used |= (uint16_t) (1u << p->fill);
	p->fill++;
	list->count++;
}

/* Take a slot out; the last one takes the list along. */
void
dbl_posting_remove(DblStore *s, DblNode *node, DblSlot slot)
{
	uint32_t	place = slot_links(s, slot)->place;
	uint32_t	i = place / 16;
	uint32_t	pos = place % 16;
	DblTypeList *list;
	DblPosting *p;

	if (node->type == NONE || i >= s->shared->pools[DBL_POOL_POSTINGS].count ||
		pos >= DBL_POSTING_SLOTS)
		return;					/* corrupt; dbl_store_check() tells */
	list = type_at(s, node->type);
	p = posting_at(s, i);
	if (p->type != node->type || !(p->used >> pos & 1) || p->slots[pos] != slot)
		return;					/* likewise */

	slot_links(s, slot)->place = NONE;
	p->used &= (uint16_t) ~(1u << pos);
	list->count--;
	if (p->used == 0)
	{
		/* a tail with room goes too: its places must not come back under the same number */
		if (p->prev != NONE)
			posting_at(s, p->prev)->next = p->next;
		else
			list->head = p->next;
		if (p->next != NONE)
			posting_at(s, p->next)->prev = p->prev;
		else
			list->tail = p->prev;
		p->type = NONE;
		dbl_pool_put(s, DBL_POOL_POSTINGS, i);
	}
	if (list->head == NONE)
	{
		dbl_pool_put(s, DBL_POOL_TYPES, node->type);
		node->type = NONE;
	}
}

/*
 * Where a cursor goes on: its own posting, or the one next to its sequence number in the
 * direction of the scan.  *pos is the place last given out, -1 or 11 if none there.
 */
static uint32_t
resume(DblStore *s, uint32_t type, bool backward, const DblCursor *from, int *pos)
{
	DblTypeList *list = type_at(s, type);
	uint32_t	i = from->chunk;

	if (i < s->shared->pools[DBL_POOL_POSTINGS].count)
	{
		DblPosting *p = posting_at(s, i);

		if (p->type == type && p->seq == from->chunk_seq)
		{
			*pos = (int) from->pos;
			return i;
		}
	}
	if (list->head == NONE)
		return NONE;

	/* look from the nearer end for the last one at or below, the first one at or above */
	*pos = backward ? DBL_POSTING_SLOTS : -1;
	if (from->chunk_seq < posting_at(s, list->head)->seq)
		return backward ? NONE : list->head;
	if (from->chunk_seq > posting_at(s, list->tail)->seq)
		return backward ? list->tail : NONE;
	if (from->chunk_seq - posting_at(s, list->head)->seq <
		posting_at(s, list->tail)->seq - from->chunk_seq)
	{
		i = list->head;
		while (i != NONE && posting_at(s, i)->seq < from->chunk_seq)
			i = posting_at(s, i)->next;
		return i == NONE || !backward ? i : posting_at(s, i)->prev;
	}
	i = list->tail;
	while (i != NONE && posting_at(s, i)->seq > from->chunk_seq)
		i = posting_at(s, i)->prev;
	return i == NONE || backward ? i : posting_at(s, i)->next;
}

/* The next slots of a list, from an end (from NULL) or behind a cursor. */
uint32_t
dbl_posting_scan(DblStore *s, uint32_t type, bool backward, const DblCursor *from, DblSlot *out,
				 uint32_t max)
{
	DblTypeList *list = type_at(s, type);
	uint32_t	i = backward ? list->tail : list->head;
	int			pos = backward ? DBL_POSTING_SLOTS : -1;
	uint32_t	n = 0;
	uint32_t	left = s->shared->pools[DBL_POOL_POSTINGS].count;	/* ends a broken chain */

	if (from != NULL)
		i = resume(s, type, backward, from, &pos);
	while (i != NONE && n < max && left-- > 0)
	{
		DblPosting *p = posting_at(s, i);
		uint32_t	next = backward ? p->prev : p->next;

		if (next != NONE)
			__builtin_prefetch(posting_at(s, next));
		pos += backward ? -1 : 1;
		for (; pos >= 0 && pos < DBL_POSTING_SLOTS && n < max; pos += backward ? -1 : 1)
		{
			if (p->used >> pos & 1)
				out[n++] = p->slots[pos];
		}
		i = next;
		pos = backward ? DBL_POSTING_SLOTS : -1;
	}
	return n;
}
