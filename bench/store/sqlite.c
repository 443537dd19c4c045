/*-------------------------------------------------------------------------
 *
 * sqlite.c
 *	  SQLite in memory: prepared statements, one transaction an operation.
 *
 *-------------------------------------------------------------------------
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "subject.h"

static sqlite3 *db;

static void
run(const char *sql)
{
	char	   *message;

	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
	{
		fprintf(stderr, "SQLite: %s: %s\n", sql, message);
		exit(1);
	}
}

static sqlite3_stmt *
prepare(const char *sql)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
	{
		fprintf(stderr, "SQLite: %s: %s\n", sql, sqlite3_errmsg(db));
		exit(1);
	}
	run("BEGIN");
	return statement;
}

static void
finish(sqlite3_stmt *statement)
{
	sqlite3_finalize(statement);
	run("COMMIT");
}

static void
sqlite_open(void)
{
	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
	{
		fprintf(stderr, "SQLite cannot be opened\n");
		exit(1);
	}
	run("CREATE TABLE links (id integer PRIMARY KEY, \"from\" integer, \"to\" integer);"
		"CREATE INDEX links_out ON links (\"from\", \"to\"); CREATE INDEX links_in ON links (\"to\", \"from\")");
}

static void
sqlite_close(void)
{
	sqlite3_close(db);
}

static uint64_t
sqlite_bytes(void)
{
	return (uint64_t) sqlite3_memory_used();
}

/* Run the statement once with what is bound; sees its rows of id, source, target. */
static inline void
step(sqlite3_stmt *statement, Seen *seen)
{
	int			result;

	while ((result = sqlite3_step(statement)) == SQLITE_ROW)
		see(seen, sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1), sqlite3_column_int64(statement, 2));
	if (result != SQLITE_DONE)
	{
		fprintf(stderr, "SQLite: %s\n", sqlite3_errmsg(db));
		exit(1);
	}
	sqlite3_reset(statement);
}

static void
create(const Data *data, Seen *seen)
{
	sqlite3_stmt *statement = prepare("INSERT INTO links VALUES (?, ?, ?)");

	for (uint32_t i = 1; i <= data->links; i++)
	{
		sqlite3_bind_int64(statement, 1, i);
		sqlite3_bind_int64(statement, 2, data->source[i]);
		sqlite3_bind_int64(statement, 3, data->target[i]);
		step(statement, seen);
		see(seen, i, data->source[i], data->target[i]);
	}
	finish(statement);
}

static void
read_all(const Data *data, Seen *seen)
{
	sqlite3_stmt *statement = prepare("SELECT id, \"from\", \"to\" FROM links");

	step(statement, seen);
	finish(statement);
}

/* A statement with one parameter, for each link's id. */
static void
each_id(const Data *data, const char *sql, Seen *seen)
{
	sqlite3_stmt *statement = prepare(sql);

	for (uint32_t i = 0; i < data->links; i++)
	{
		sqlite3_bind_int64(statement, 1, data->order[i]);
		step(statement, seen);
	}
	finish(statement);
}

static void
by_id(const Data *data, Seen *seen)
{
	each_id(data, "SELECT id, \"from\", \"to\" FROM links WHERE id = ?", seen);
}

static void
by_pair(const Data *data, Seen *seen)
{
	sqlite3_stmt *statement = prepare("SELECT id, \"from\", \"to\" FROM links WHERE \"from\" = ? AND \"to\" = ?");

	for (uint32_t i = 0; i < data->links; i++)
	{
		uint32_t	id = data->order[i];

		if (id <= FREE_LINKS)
			continue;
		sqlite3_bind_int64(statement, 1, data->source[id]);
		sqlite3_bind_int64(statement, 2, data->target[id]);
		step(statement, seen);
	}
	finish(statement);
}

static void
by_source(const Data *data, Seen *seen)
{
	each_id(data, "SELECT id, \"from\", \"to\" FROM links WHERE \"from\" = ?", seen);
}

static void
by_target(const Data *data, Seen *seen)
{
	each_id(data, "SELECT id, \"from\", \"to\" FROM links WHERE \"to\" = ?", seen);
}

static void
update(const Data *data, Seen *seen)
{
	sqlite3_stmt *statement = prepare("UPDATE links SET \"from\" = ?, \"to\" = ? WHERE id = ?");

	for (uint32_t i = 0; i < data->links; i++)
	{
		uint32_t	id = data->order[i];

		sqlite3_bind_int64(statement, 1, data->target[id]);
		sqlite3_bind_int64(statement, 2, data->source[id]);
		sqlite3_bind_int64(statement, 3, id);
		step(statement, seen);
		see(seen, id, data->target[id], data->source[id]);
	}
	finish(statement);
}

static void
delete(const Data *data, Seen *seen)
{
	sqlite3_stmt *statement = prepare("DELETE FROM links WHERE id = ?");

	for (uint32_t i = 0; i < data->links; i++)
	{
		sqlite3_bind_int64(statement, 1, data->order[i]);
		step(statement, seen);
		see(seen, data->order[i], 0, 0);
	}
	finish(statement);
}

const Subject sqlite = {
	"SQLite", sqlite_open,
	{create, read_all, by_id, by_pair, by_source, by_target, update, delete},
	sqlite_bytes, sqlite_close
};
