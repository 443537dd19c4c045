/*-------------------------------------------------------------------------
 *
 * data.c
 *	  The links that the stores are compared with.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>

#include "data.h"

/* splitmix64 */
static uint64_t
next_random(uint64_t *state)
{
	uint64_t	z = (*state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

static void *
allocate(size_t size)
{
	void	   *p = calloc(1, size);

	if (p == NULL)
	{
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return p;
}

/* A set of pairs of ends, by open addressing.  False: it was there already. */
static bool
add_pair(uint64_t *set, uint64_t mask, uint64_t a, uint64_t b)
{
	uint64_t	key = a < b ? a << 32 | b : b << 32 | a;
	uint64_t	seed = key;
	uint64_t	place = next_random(&seed) & mask;

	for (; set[place] != 0; place = (place + 1) & mask)
		if (set[place] == key)
			return false;
	set[place] = key;
	return true;
}

/* One of the links 1 .. older. */
static uint64_t
draw(uint64_t *state, Shape shape, uint64_t older)
{
	uint32_t	levels = 1;

	if (shape == FEW)
		return 1 + next_random(state) % older;
	while (older >> levels != 0)
		levels++;
	for (;;)
	{
		uint64_t	low = UINT64_C(1) << next_random(state) % levels;
		uint64_t	k = low + next_random(state) % low;

		if (k <= older)
			return k;
	}
}

void
data_make(Data *data, Shape shape, uint32_t links, uint32_t types)
{
	uint64_t	state = 20;
	uint64_t	size = 64;
	uint64_t   *set;

	while (size < (uint64_t) links * 2)
		size *= 2;
	set = allocate(size * sizeof(uint64_t));
	data->links = links;
	data->types = types;
	data->source = allocate(((size_t) links + 1) * sizeof(int64_t));
	data->target = allocate(((size_t) links + 1) * sizeof(int64_t));
	data->order = allocate((size_t) links * sizeof(uint32_t));
	for (uint32_t i = FREE_LINKS + 1; i <= links; i++)
	{
		uint64_t	a;
		uint64_t	b;

		do
		{
			a = draw(&state, shape, i - 1);
			b = draw(&state, shape, i - 1);
		} while (a == b || !add_pair(set, size - 1, a, b));
		data->source[i] = (int64_t) a;
		data->target[i] = (int64_t) b;
	}
	free(set);
	for (uint32_t i = 0; i < links; i++)
		data->order[i] = i + 1;
	for (uint32_t i = links; i-- > 1;)
	{
		uint32_t	j = (uint32_t) (next_random(&state) % (i + 1));
		uint32_t	t = data->order[i];

		data->order[i] = data->order[j];
		data->order[j] = t;
	}
}
