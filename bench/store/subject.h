/*-------------------------------------------------------------------------
 *
 * subject.h
 *	  A store that is measured: its operations, each as one loop over all links.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BENCH_SUBJECT_H
#define BENCH_SUBJECT_H

#include "data.h"

/* What an operation saw; must be the same for every store. */
typedef struct Seen
{
	uint64_t	links;
	uint64_t	sum;
} Seen;

static inline void
see(Seen *seen, int64_t id, int64_t source, int64_t target)
{
	seen->links++;
	seen->sum += (uint64_t) id + (uint64_t) source * 3 + (uint64_t) target * 7;
}

#define OPERATIONS	8

/* In this order; an operation fails by exit(). */
extern const char *const operation_names[OPERATIONS];

typedef struct Subject
{
	const char *name;
	void		(*open) (void);
	void		(*operations[OPERATIONS]) (const Data *data, Seen *seen);
	uint64_t	(*bytes) (void);	/* memory in use */
	void		(*close) (void);
} Subject;

extern const Subject ours;
extern const Subject sqlite;

#endif							/* BENCH_SUBJECT_H */
