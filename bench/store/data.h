/*-------------------------------------------------------------------------
 *
 * data.h
 *	  The links that the stores are compared with.
 *
 * Link i has the id i.  The first FREE_LINKS have no ends (0, 0); every other one has two different ends, both older
 * than itself, and no two links have the same ends, in either direction: what all the stores can hold, and what stays so
 * when ends are swapped.  rust/src/data.rs makes the same links; the checksums would tell.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include <stdbool.h>
#include <stdint.h>

#define FREE_LINKS	16

typedef enum Shape
{
	FEW,						/* ends are drawn evenly from the older links */
	POWER						/* link k is drawn with a probability of about 1 / k */
} Shape;

typedef struct Data
{
	uint32_t	links;
	uint32_t	types;			/* types are i % types, so 1 means that all have the same */
	int64_t    *source;			/* [1 .. links] */
	int64_t    *target;
	uint32_t   *order;			/* [0 .. links - 1]: the ids, scattered */
} Data;

/* Exits when there is no memory. */
extern void data_make(Data *data, Shape shape, uint32_t links, uint32_t types);

#endif							/* BENCH_DATA_H */
