/*-------------------------------------------------------------------------
 *
 * tasks.c
 *	  Names and elements of the tasks.
 *
 *-------------------------------------------------------------------------
 */
#include "tasks.h"

const char *const task_names[TASKS] = {
	"key: set, new", "key: set, again", "key: get", "key: delete",
	"counter: increment, new", "counter: increment, again",
	"queue: push", "queue: pop",
	"set: add", "set: contains", "set: remove",
	"link: create", "link: by id", "link: by source and target", "link: by source", "link: by target", "link: update", "link: delete"
};

const char *const mode_names[MODES] = {"single", "pipelined", "batched"};

/* Ids above all of the background's. */
#define KEYS		INT64_C(1000000000)
#define COUNTERS	INT64_C(2000000000)
#define LINKS		INT64_C(3000000000)

/* Ends are numbered from here, so that counts, which are targets too, are none. */
#define FIRST_END	11

static int64_t
ends(int64_t background)
{
	return background >= 4 ? background / 4 : 1;
}

int64_t
background_source(int64_t id, int64_t background)
{
	return FIRST_END + id * 7919 % ends(background);
}

int64_t
background_target(int64_t id, int64_t background)
{
	return FIRST_END + (id * 104729 + id / ends(background)) % ends(background);
}

Element
task_element(Task task, int64_t i, int64_t n, int64_t background)
{
	int64_t		k = i * 7919 % n;	/* n is no multiple of 7919 */
	int64_t		some = 1 + i * 7919 % background;
	Element		e = {0, 0, 0};

	switch (task)
	{
		case KV_SET:
		case KV_SET_AGAIN:
			e.a = KEYS + k;
			e.b = i + task;
			break;
		case KV_GET:
		case KV_DELETE:
			e.a = KEYS + (k + n / 2) % n;
			break;
		case COUNTER_NEW:
		case COUNTER_AGAIN:
			e.a = COUNTERS + k;
			break;
		case QUEUE_PUSH:
			e.a = k;
			break;
		case QUEUE_POP:
			break;
		case SET_ADD:
			e.a = k;
			break;
		case SET_CONTAINS:
			e.a = k * 2;		/* half of them are */
			break;
		case SET_REMOVE:
			e.a = n - 1 - k;
			break;
		case LINK_CREATE:
			e.a = LINKS + i;
			e.b = LINKS + k;
			e.c = LINKS + (k + 1) % n;
			break;
		case LINK_BY_ID:
			e.a = some;
			break;
		case LINK_BY_PAIR:
			e.a = background_source(some, background);
			e.b = background_target(some, background);
			break;
		case LINK_BY_SOURCE:
		case LINK_BY_TARGET:
			e.a = FIRST_END + i * 7919 % ends(background);
			break;
		case LINK_UPDATE:
			e.a = LINKS + k;
			e.b = LINKS + 2 * n + k;
			e.c = LINKS + k;
			break;
		case LINK_DELETE:
			e.a = LINKS + (k + n / 3) % n;
			break;
		case TASKS:
			break;
	}
	return e;
}
