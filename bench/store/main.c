/*-------------------------------------------------------------------------
 *
 * main.c
 *	  One round: each store does each operation on all links.
 *
 * Usage: store shape links types turn [ours].  Which store goes first depends on turn; with "ours" SQLite is left out.
 * Prints lines: store, operation, nanoseconds an operation, links seen, sum; separated by tabs.  The time is the
 * process's own, in user and kernel mode, so that other programs on the machine count less.
 *
 *-------------------------------------------------------------------------
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "subject.h"

const char *const operation_names[OPERATIONS] = {
	"create", "read all", "by id", "by (source, target)", "by source", "by target", "update", "delete"
};

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void
round_of(const Subject *subject, const Data *data)
{
	subject->open();
	for (int i = 0; i < OPERATIONS; i++)
	{
		Seen		seen = {0, 0};
		double		started = now();

		subject->operations[i] (data, &seen);
		printf("%s\t%s\t%.2f\t%lu\t%lu\n", subject->name, operation_names[i], (now() - started) / data->links,
			   (unsigned long) seen.links, (unsigned long) seen.sum);
		if (i == 0)
			printf("%s\tbytes a link\t%.2f\t0\t0\n", subject->name, (double) subject->bytes() / data->links);
	}
	subject->close();
}

int
main(int argc, char **argv)
{
	const Subject *subjects[] = {&ours, &sqlite};
	Data		data;
	int			turn;

	if (argc == 2 && strcmp(argv[1], "--sqlite-version") == 0)
	{
		puts(sqlite3_libversion());
		return 0;
	}
	if (argc < 5 || (strcmp(argv[1], "few") != 0 && strcmp(argv[1], "power") != 0) || atoi(argv[2]) < FREE_LINKS * 4)
	{
		fprintf(stderr, "usage: store few|power links types turn [ours]\n");
		return 2;
	}
	data_make(&data, argv[1][0] == 'f' ? FEW : POWER, (uint32_t) atoi(argv[2]), (uint32_t) atoi(argv[3]));
	turn = atoi(argv[4]);
	for (int i = 0; i < 2; i++)
		if (argc == 5 || subjects[(i + turn) % 2] == &ours)
			round_of(subjects[(i + turn) % 2], &data);
	return 0;
}
