/*-------------------------------------------------------------------------
 *
 * tasks.h
 *	  What is done with links in PostgreSQL and with Redis's own types.
 *
 * A task is one operation, done once for each of its elements.  How that is sent is the mode.  Whoever does it
 * gives back an Answer, which must be the same everywhere.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BENCH_TASKS_H
#define BENCH_TASKS_H

#include <stdint.h>

typedef enum Task
{
	KV_SET,						/* a link (key, key, value) with the key's id */
	KV_SET_AGAIN,
	KV_GET,
	KV_DELETE,
	COUNTER_NEW,				/* the same, with a count in place of the value */
	COUNTER_AGAIN,
	QUEUE_PUSH,					/* a link (id, id, value) of the queue's type; the order is that of ids */
	QUEUE_POP,
	SET_ADD,					/* a link (set, member) */
	SET_CONTAINS,
	SET_REMOVE,
	LINK_CREATE,				/* links as such; Redis: hash of all links, sets of ids by source and target, pairs */
	LINK_BY_ID,
	LINK_BY_PAIR,
	LINK_BY_SOURCE,
	LINK_BY_TARGET,
	LINK_UPDATE,
	LINK_DELETE,
	TASKS
} Task;

typedef enum Mode
{
	SINGLE,						/* wait for each */
	PIPELINED,					/* BATCH at a time, then wait */
	BATCHED,					/* BATCH in one statement; Redis: between MULTI and EXEC */
	MODES
} Mode;

#define BATCH	100

typedef struct Answer
{
	int64_t		rows;			/* links found or changed */
	uint64_t	sum;			/* over all numbers found */
} Answer;

/* The three numbers of an element.  What they mean depends on the task. */
typedef struct Element
{
	int64_t		a;
	int64_t		b;
	int64_t		c;
} Element;

extern const char *const task_names[TASKS];
extern const char *const mode_names[MODES];

/* There are `background` links in the store all the time: source and target of link id. */
extern int64_t background_source(int64_t id, int64_t background);
extern int64_t background_target(int64_t id, int64_t background);

/* Element i of n; different i give different elements, scattered. */
extern Element task_element(Task task, int64_t i, int64_t n, int64_t background);

/* One who does the tasks.  All exit when something goes wrong. */
typedef struct Doer
{
	const char *name;
	void	   *state;
	void		(*fill) (void *state, int64_t background);
	Answer		(*work) (void *state, Task task, Mode mode, const Element *elements, int n);
	void		(*tidy) (void *state);	/* undo what no task undoes; clean up */
	int64_t		(*count) (void *state); /* how much is there, to see that all is as before */
} Doer;

extern Doer postgres_doer(const char *name, const char *conninfo);
extern Doer redis_doer(const char *socket);

#endif							/* BENCH_TASKS_H */
