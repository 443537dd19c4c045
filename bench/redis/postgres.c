/*-------------------------------------------------------------------------
 *
 * postgres.c
 *	  The tasks as links in PostgreSQL, through libpq.
 *
 * The session's table links has UNIQUE (from_id, to_id) and an index on (type_id, id). Types: 1 keys, 2 counters, 3
 * the queue, 4 members of sets, 5 links.
 *
 *-------------------------------------------------------------------------
 */
#include <endian.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tasks.h"

#define SET_ID	"4000000000"

typedef struct Statement
{
	int			parameters;
	const char *one;			/* with $1 .. as bigint */
	const char *many;			/* with $1 .. as bigint[] */
} Statement;

#define SET_KEY		"ON CONFLICT (id) DO UPDATE SET to_id = excluded.to_id"
#define INCREMENT	"ON CONFLICT (id) DO UPDATE SET to_id = links.to_id + 1 RETURNING to_id"
#define COLUMNS		"SELECT id, from_id, to_id FROM links "

static const Statement statements[TASKS] = {
	[KV_SET] = {2, "INSERT INTO links VALUES ($1, $1, $2, 1) " SET_KEY,
	"INSERT INTO links SELECT k, k, v, 1 FROM unnest($1, $2) AS e (k, v) " SET_KEY},
	[KV_SET_AGAIN] = {2, "INSERT INTO links VALUES ($1, $1, $2, 1) " SET_KEY,
	"INSERT INTO links SELECT k, k, v, 1 FROM unnest($1, $2) AS e (k, v) " SET_KEY},
	[KV_GET] = {1, "SELECT to_id FROM links WHERE id = $1", "SELECT to_id FROM links WHERE id = ANY ($1)"},
	[KV_DELETE] = {1, "DELETE FROM links WHERE id = $1", "DELETE FROM links WHERE id = ANY ($1)"},
	[COUNTER_NEW] = {1, "INSERT INTO links VALUES ($1, $1, 1, 2) " INCREMENT,
	"INSERT INTO links SELECT k, k, 1, 2 FROM unnest($1) k " INCREMENT},
	[COUNTER_AGAIN] = {1, "INSERT INTO links VALUES ($1, $1, 1, 2) " INCREMENT,
	"INSERT INTO links SELECT k, k, 1, 2 FROM unnest($1) k " INCREMENT},
	[QUEUE_PUSH] = {1, "INSERT INTO links SELECT n, n, $1, 3 FROM nextval('links_id_seq') n",
	"INSERT INTO links SELECT n, n, v, 3 FROM (SELECT nextval('links_id_seq') AS n, v FROM unnest($1) v) e"},
	[QUEUE_POP] = {0, "DELETE FROM links WHERE id = (SELECT id FROM links WHERE type_id = 3 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) "
	"RETURNING to_id",
	"DELETE FROM links WHERE id = ANY (ARRAY(SELECT id FROM links WHERE type_id = 3 ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED)) "
	"RETURNING to_id"},
	[SET_ADD] = {1, "INSERT INTO links VALUES (nextval('links_id_seq'), " SET_ID ", $1, 4) ON CONFLICT (from_id, to_id) DO NOTHING",
		"INSERT INTO links SELECT nextval('links_id_seq'), " SET_ID ", m, 4 FROM unnest($1) m ON CONFLICT (from_id, to_id) DO NOTHING"},
	[SET_CONTAINS] = {1, "SELECT to_id FROM links WHERE from_id = " SET_ID " AND to_id = $1",
		"SELECT to_id FROM links WHERE from_id = " SET_ID " AND to_id = ANY ($1)"},
	[SET_REMOVE] = {1, "DELETE FROM links WHERE from_id = " SET_ID " AND to_id = $1",
		"DELETE FROM links WHERE from_id = " SET_ID " AND to_id = ANY ($1)"},
	[LINK_CREATE] = {3, "INSERT INTO links VALUES ($1, $2, $3, 5)", "INSERT INTO links SELECT i, s, t, 5 FROM unnest($1, $2, $3) AS e (i, s, t)"},
	[LINK_BY_ID] = {1, COLUMNS "WHERE id = $1", COLUMNS "WHERE id = ANY ($1)"},
	[LINK_BY_PAIR] = {2, "SELECT id FROM links WHERE from_id = $1 AND to_id = $2",
	"SELECT id FROM unnest($1, $2) AS e (s, t) JOIN links ON from_id = s AND to_id = t"},
	[LINK_BY_SOURCE] = {1, COLUMNS "WHERE from_id = $1", COLUMNS "WHERE from_id = ANY ($1)"},
	[LINK_BY_TARGET] = {1, COLUMNS "WHERE to_id = $1", COLUMNS "WHERE to_id = ANY ($1)"},
	[LINK_UPDATE] = {3, "UPDATE links SET from_id = $2, to_id = $3 WHERE id = $1",
	"UPDATE links SET from_id = s, to_id = t FROM unnest($1, $2, $3) AS e (i, s, t) WHERE id = i"},
	[LINK_DELETE] = {1, "DELETE FROM links WHERE id = $1", "DELETE FROM links WHERE id = ANY ($1)"},
};

#define BIGINT		20
#define BIGINTS		1016		/* bigint[] */

static void
fail(PGconn *conn, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, PQerrorMessage(conn));
	exit(1);
}

/* Rows and numbers of a result go into the answer. */
static void
take(PGconn *conn, PGresult *result, Answer *answer)
{
	switch (PQresultStatus(result))
	{
		case PGRES_COMMAND_OK:
			answer->rows += atoll(PQcmdTuples(result));
			break;
		case PGRES_TUPLES_OK:
			answer->rows += PQntuples(result);
			for (int r = 0; r < PQntuples(result); r++)
				for (int c = 0; c < PQnfields(result); c++)
				{
					int64_t		value;

					memcpy(&value, PQgetvalue(result, r, c), sizeof(value));
					answer->sum += be64toh(value);
				}
			break;
		default:
			fail(conn, "statement");
	}
	PQclear(result);
}

typedef struct Parameters
{
	int64_t		numbers[3];
	const char *values[3];
	int			lengths[3];
	int			formats[3];
} Parameters;

static void
set_parameters(Parameters *p, const Element *e)
{
	p->numbers[0] = htobe64(e->a);
	p->numbers[1] = htobe64(e->b);
	p->numbers[2] = htobe64(e->c);
	for (int i = 0; i < 3; i++)
	{
		p->values[i] = (const char *) &p->numbers[i];
		p->lengths[i] = sizeof(int64_t);
		p->formats[i] = 1;
	}
}

static Answer
single(PGconn *conn, Task task, const char *name, const Element *elements, int n)
{
	Answer		answer = {0, 0};
	Parameters	p;

	for (int i = 0; i < n; i++)
	{
		set_parameters(&p, &elements[i]);
		take(conn, PQexecPrepared(conn, name, statements[task].parameters, p.values, p.lengths, p.formats, 1), &answer);
	}
	return answer;
}

/* BATCH statements are sent before the first result is waited for, and are one transaction. */
static Answer
pipelined(PGconn *conn, Task task, const char *name, const Element *elements, int n)
{
	Answer		answer = {0, 0};
	Parameters	p;

	if (!PQenterPipelineMode(conn))
		fail(conn, "pipeline");
	for (int done = 0; done < n; done += BATCH)
	{
		int			some = n - done < BATCH ? n - done : BATCH;
		PGresult   *result;

		for (int i = 0; i < some; i++)
		{
			set_parameters(&p, &elements[done + i]);
			if (!PQsendQueryPrepared(conn, name, statements[task].parameters, p.values, p.lengths, p.formats, 1))
				fail(conn, "send");
		}
		if (!PQpipelineSync(conn))
			fail(conn, "sync");
		for (int i = 0; i < some; i++)
		{
			take(conn, PQgetResult(conn), &answer);
			if (PQgetResult(conn) != NULL)
				fail(conn, "more results than statements");
		}
		result = PQgetResult(conn);
		if (PQresultStatus(result) != PGRES_PIPELINE_SYNC)
			fail(conn, "no end of pipeline");
		PQclear(result);
	}
	if (!PQexitPipelineMode(conn))
		fail(conn, "end of pipeline");
	return answer;
}

static Answer
batched(PGconn *conn, Task task, const char *name, const Element *elements, int n)
{
	Answer		answer = {0, 0};
	static char arrays[3][BATCH * 21 + 3];

	for (int done = 0; done < n; done += BATCH)
	{
		int			some = n - done < BATCH ? n - done : BATCH;
		const char *values[3];

		for (int k = 0; k < statements[task].parameters; k++)
		{
			char	   *at = arrays[k];

			for (int i = 0; i < some; i++)
			{
				const Element *e = &elements[done + i];

				at += sprintf(at, "%c%ld", i == 0 ? '{' : ',', (long) (k == 0 ? e->a : k == 1 ? e->b : e->c));
			}
			strcpy(at, "}");
			values[k] = arrays[k];
		}
		take(conn, PQexecPrepared(conn, name, statements[task].parameters, values, NULL, NULL, 1), &answer);
	}
	return answer;
}

static Answer
work(void *state, Task task, Mode mode, const Element *elements, int n)
{
	char		name[16];

	sprintf(name, "%s%d", mode == BATCHED ? "many" : "one", (int) task);
	if (mode == SINGLE)
		return single(state, task, name, elements, n);
	if (mode == PIPELINED)
		return pipelined(state, task, name, elements, n);
	return batched(state, task, name, elements, n);
}

static void
execute(PGconn *conn, const char *sql)
{
	PGresult   *result = PQexec(conn, sql);

	if (PQresultStatus(result) != PGRES_COMMAND_OK)
		fail(conn, sql);
	PQclear(result);
}

static void
tidy(void *state)
{
	execute(state, "DELETE FROM links WHERE type_id = 2");
	execute(state, "VACUUM links");
}

static int64_t
count(void *state)
{
	PGresult   *result = PQexec(state, "SELECT count(*) FROM links");
	int64_t		n;

	if (PQresultStatus(result) != PGRES_TUPLES_OK)
		fail(state, "count");
	n = atoll(PQgetvalue(result, 0, 0));
	PQclear(result);
	return n;
}

static void
fill(void *state, int64_t background)
{
	Element		elements[BATCH];

	for (int64_t done = 0; done < background; done += BATCH)
	{
		int			some = background - done < BATCH ? (int) (background - done) : BATCH;

		for (int i = 0; i < some; i++)
		{
			elements[i].a = done + i + 1;
			elements[i].b = background_source(done + i + 1, background);
			elements[i].c = background_target(done + i + 1, background);
		}
		batched(state, LINK_CREATE, "many11", elements, some);
	}
	execute(state, "VACUUM ANALYZE links");
}

static void
prepare(PGconn *conn, const char *name, const char *sql, int n, Oid type)
{
	Oid			types[3] = {type, type, type};
	PGresult   *result = PQprepare(conn, name, sql, n, types);

	if (PQresultStatus(result) != PGRES_COMMAND_OK)
		fail(conn, sql);
	PQclear(result);
}

Doer
postgres_doer(const char *name, const char *conninfo)
{
	PGconn	   *conn = PQconnectdb(conninfo);
	Doer		doer = {name, conn, fill, work, tidy, count};
	char		label[16];

	if (PQstatus(conn) != CONNECTION_OK)
		fail(conn, "connection");
	_Static_assert(LINK_CREATE == 11, "fill() names its statement");
	for (int task = 0; task < TASKS; task++)
	{
		sprintf(label, "one%d", task);
		prepare(conn, label, statements[task].one, statements[task].parameters, BIGINT);
		sprintf(label, "many%d", task);
		prepare(conn, label, statements[task].many, statements[task].parameters, BIGINTS);
	}
	return doer;
}
