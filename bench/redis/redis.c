/*-------------------------------------------------------------------------
 *
 * redis.c
 *	  The tasks with Redis's own types, through hiredis.
 *
 * Links are a hash of "source,target" by id, and sets of ids by source and by target, and a key for each pair.
 *
 *-------------------------------------------------------------------------
 */
#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tasks.h"

typedef struct Redis
{
	redisContext *context;
	int			sent;			/* commands whose replies have not been read */
} Redis;

static void
fail(Redis *r, const char *what)
{
	fprintf(stderr, "Redis: %s: %s\n", what, r->context->errstr);
	exit(1);
}

static void
send(Redis *r, const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	if (redisvAppendCommand(r->context, format, arguments) != REDIS_OK)
		fail(r, format);
	va_end(arguments);
	r->sent++;
}

static redisReply *
reply(Redis *r)
{
	void	   *p;

	if (redisGetReply(r->context, &p) != REDIS_OK)
		fail(r, "reply");
	r->sent--;
	if (((redisReply *) p)->type == REDIS_REPLY_ERROR)
	{
		fprintf(stderr, "Redis: %s\n", ((redisReply *) p)->str);
		exit(1);
	}
	return p;
}

/* "source,target" */
static Element
ends_of(const redisReply *value, int64_t id)
{
	Element		e = {id, 0, 0};
	char	   *comma;

	if (value->type != REDIS_REPLY_STRING)
	{
		fprintf(stderr, "Redis: link %ld is missing\n", (long) id);
		exit(1);
	}
	e.b = strtoll(value->str, &comma, 10);
	e.c = strtoll(comma + 1, NULL, 10);
	return e;
}

/* What an element needs to know before its change: -> true if a command was sent whose reply is to be kept. */
static int
send_first(Redis *r, Task task, const Element *e)
{
	switch (task)
	{
		case LINK_BY_SOURCE:
			send(r, "SMEMBERS s:%lld", (long long) e->a);
			return 1;
		case LINK_BY_TARGET:
			send(r, "SMEMBERS t:%lld", (long long) e->a);
			return 1;
		case LINK_UPDATE:
		case LINK_DELETE:
			send(r, "HGET links %lld", (long long) e->a);
			return 1;
		default:
			return 0;
	}
}

static void
send_create(Redis *r, const Element *e)
{
	send(r, "HSET links %lld %lld,%lld", (long long) e->a, (long long) e->b, (long long) e->c);
	send(r, "SADD s:%lld %lld", (long long) e->b, (long long) e->a);
	send(r, "SADD t:%lld %lld", (long long) e->c, (long long) e->a);
	send(r, "SET p:%lld:%lld %lld", (long long) e->b, (long long) e->c, (long long) e->a);
}

static void
send_remove(Redis *r, const Element *old)
{
	send(r, "SREM s:%lld %lld", (long long) old->b, (long long) old->a);
	send(r, "SREM t:%lld %lld", (long long) old->c, (long long) old->a);
	send(r, "DEL p:%lld:%lld", (long long) old->b, (long long) old->c);
}

/* The commands of an element; `first` is the reply to send_first(). */
static void
send_main(Redis *r, Task task, const Element *e, const redisReply *first)
{
	long long	a = e->a;
	Element		old;

	switch (task)
	{
		case KV_SET:
		case KV_SET_AGAIN:
			send(r, "SET k:%lld %lld", a, (long long) e->b);
			break;
		case KV_GET:
			send(r, "GET k:%lld", a);
			break;
		case KV_DELETE:
			send(r, "DEL k:%lld", a);
			break;
		case COUNTER_NEW:
		case COUNTER_AGAIN:
			send(r, "INCR c:%lld", a);
			break;
		case QUEUE_PUSH:
			send(r, "LPUSH queue %lld", a);
			break;
		case QUEUE_POP:
			send(r, "RPOP queue");
			break;
		case SET_ADD:
			send(r, "SADD set %lld", a);
			break;
		case SET_CONTAINS:
			send(r, "SISMEMBER set %lld", a);
			break;
		case SET_REMOVE:
			send(r, "SREM set %lld", a);
			break;
		case LINK_CREATE:
			send_create(r, e);
			break;
		case LINK_BY_ID:
			send(r, "HGET links %lld", a);
			break;
		case LINK_BY_PAIR:
			send(r, "GET p:%lld:%lld", a, (long long) e->b);
			break;
		case LINK_BY_SOURCE:
		case LINK_BY_TARGET:
			for (size_t i = 0; i < first->elements; i++)
				send(r, "HGET links %s", first->element[i]->str);
			break;
		case LINK_UPDATE:
			old = ends_of(first, e->a);
			send_remove(r, &old);
			send_create(r, e);
			break;
		case LINK_DELETE:
			old = ends_of(first, e->a);
			send_remove(r, &old);
			send(r, "HDEL links %lld", a);
			break;
		case TASKS:
			break;
	}
}

/* What the replies to an element's commands say; replies[] are as many as send_main() sent. */
static void
take(Task task, const Element *e, const redisReply *first, redisReply *const *replies, int n, Answer *answer)
{
	switch (task)
	{
		case KV_SET:
		case KV_SET_AGAIN:
		case QUEUE_PUSH:
		case LINK_CREATE:
		case LINK_UPDATE:
			answer->rows++;
			break;
		case KV_GET:
		case QUEUE_POP:
		case LINK_BY_PAIR:
			answer->rows += replies[0]->type == REDIS_REPLY_STRING;
			answer->sum += replies[0]->type == REDIS_REPLY_STRING ? strtoull(replies[0]->str, NULL, 10) : 0;
			break;
		case COUNTER_NEW:
		case COUNTER_AGAIN:
			answer->rows++;
			answer->sum += (uint64_t) replies[0]->integer;
			break;
		case SET_CONTAINS:
			answer->rows += replies[0]->integer;
			answer->sum += replies[0]->integer ? (uint64_t) e->a : 0;
			break;
		case KV_DELETE:
		case SET_ADD:
		case SET_REMOVE:
			answer->rows += replies[0]->integer;
			break;
		case LINK_DELETE:
			answer->rows += replies[n - 1]->integer;
			break;
		case LINK_BY_ID:
		case LINK_BY_SOURCE:
		case LINK_BY_TARGET:
			for (int i = 0; i < n; i++)
			{
				Element		link = ends_of(replies[i], first ? strtoll(first->element[i]->str, NULL, 10) : e->a);

				answer->rows++;
				answer->sum += (uint64_t) (link.a + link.b + link.c);
			}
			break;
		case TASKS:
			break;
	}
}

/* Elements that are sent together. */
static void
together(Redis *r, Task task, Mode mode, const Element *elements, int n, Answer *answer)
{
	redisReply *first[BATCH] = {NULL};
	int			ends[BATCH];
	redisReply **replies;
	int			total = 0;
	int			at = 0;
	int			multi;

	for (int i = 0; i < n; i++)
		if (!send_first(r, task, &elements[i]))
			break;
	for (int i = 0; r->sent > 0; i++)
		first[i] = reply(r);
	/* a change of several keys is one transaction even when it is alone */
	multi = mode == BATCHED || task == LINK_CREATE || task == LINK_UPDATE || task == LINK_DELETE;
	if (multi && mode == BATCHED)
		send(r, "MULTI");
	for (int i = 0; i < n; i++)
	{
		if (multi && mode != BATCHED)
			send(r, "MULTI");
		send_main(r, task, &elements[i], first[i]);
		if (multi && mode != BATCHED)
			send(r, "EXEC");
		ends[i] = r->sent;
	}
	if (multi && mode == BATCHED)
		send(r, "EXEC");
	total = r->sent;
	replies = calloc((size_t) total + 1, sizeof(*replies));
	for (int i = 0; i < total; i++)
		replies[i] = reply(r);
	if (mode == BATCHED)
	{
		const redisReply *executed = replies[total - 1];

		for (int i = 0; i < n; i++)
		{
			int			until = ends[i] - 1;	/* MULTI has a reply of its own */

			take(task, &elements[i], first[i], executed->element + at, until - at, answer);
			at = until;
		}
	}
	else
		for (int i = 0; i < n; i++)
		{
			const redisReply *executed = replies[ends[i] - 1];

			if (multi)
				take(task, &elements[i], first[i], executed->element, (int) executed->elements, answer);
			else
				take(task, &elements[i], first[i], replies + at, ends[i] - at, answer);
			at = ends[i];
		}
	for (int i = 0; i < total; i++)
		freeReplyObject(replies[i]);
	for (int i = 0; i < n; i++)
		if (first[i])
			freeReplyObject(first[i]);
	free(replies);
}

static Answer
work(void *state, Task task, Mode mode, const Element *elements, int n)
{
	Answer		answer = {0, 0};
	int			size = mode == SINGLE ? 1 : BATCH;

	for (int done = 0; done < n; done += size)
		together(state, task, mode, elements + done, n - done < size ? n - done : size, &answer);
	return answer;
}

static void
fill(void *state, int64_t background)
{
	Redis	   *r = state;

	for (int64_t id = 1; id <= background; id++)
	{
		Element		e = {id, background_source(id, background), background_target(id, background)};

		send_create(r, &e);
		while (r->sent >= 400 || (id == background && r->sent > 0))
			freeReplyObject(reply(r));
	}
}

/* Counters are left by their tasks. */
static void
tidy(void *state)
{
	Redis	   *r = state;
	redisReply *keys;

	send(r, "KEYS c:*");
	keys = reply(r);
	for (size_t i = 0; i < keys->elements; i++)
	{
		send(r, "DEL %s", keys->element[i]->str);
		freeReplyObject(reply(r));
	}
	freeReplyObject(keys);
}

static int64_t
count(void *state)
{
	Redis	   *r = state;
	redisReply *size;
	int64_t		n;

	send(r, "DBSIZE");
	size = reply(r);
	n = size->integer;
	freeReplyObject(size);
	return n;
}

Doer
redis_doer(const char *socket)
{
	Redis	   *r = calloc(1, sizeof(Redis));
	Doer		doer = {"Redis", r, fill, work, tidy, count};

	r->context = redisConnectUnix(socket);
	if (r->context == NULL || r->context->err)
	{
		fprintf(stderr, "Redis: cannot connect to %s\n", socket);
		exit(1);
	}
	return doer;
}
