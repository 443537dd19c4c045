/*-------------------------------------------------------------------------
 *
 * main.c
 *	  All tasks in all modes, on PostgreSQL and on Redis in turn.
 *
 * Usage: redis socket background elements rounds name conninfo [name conninfo]...
 *
 * Prints lines: task, mode, who, operations a second; separated by tabs.  Answers must be the same, and after each mode
 * everybody must hold as much as before, or the program fails.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tasks.h"

#define MAX_DOERS	4

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void
compare(const Doer *doers, const Answer *answers, int n, const char *task, const char *mode)
{
	for (int i = 1; i < n; i++)
		if (answers[i].rows != answers[0].rows || answers[i].sum != answers[0].sum)
		{
			fprintf(stderr, "%s, %s: %s answers %ld rows, sum %lu; %s %ld, %lu\n", task, mode,
					doers[0].name, (long) answers[0].rows, (unsigned long) answers[0].sum,
					doers[i].name, (long) answers[i].rows, (unsigned long) answers[i].sum);
			exit(1);
		}
}

int
main(int argc, char **argv)
{
	Doer		doers[MAX_DOERS];
	int64_t		before[MAX_DOERS];
	int			n = 0;
	int64_t		background;
	int			elements;
	int			rounds;
	Element    *list;

	if (argc < 7 || argc % 2 == 0 || argc > 5 + 2 * (MAX_DOERS - 1))
	{
		fprintf(stderr, "usage: redis socket background elements rounds name conninfo [name conninfo]...\n");
		return 2;
	}
	background = atoll(argv[2]);
	elements = atoi(argv[3]);
	rounds = atoi(argv[4]);
	for (int i = 5; i < argc; i += 2)
		doers[n++] = postgres_doer(argv[i], argv[i + 1]);
	doers[n++] = redis_doer(argv[1]);
	for (int i = 0; i < n; i++)
	{
		doers[i].fill(doers[i].state, background);
		before[i] = doers[i].count(doers[i].state);
	}
	list = malloc(elements * sizeof(Element));
	/* the first round is not counted: sessions plan their statements, and touch their memory for the first time */
	for (int turn = 0; turn <= rounds; turn++)
		for (int mode = 0; mode < MODES; mode++)
		{
			for (int task = 0; task < TASKS; task++)
			{
				Answer		answers[MAX_DOERS];

				for (int i = 0; i < elements; i++)
					list[i] = task_element(task, i, elements, background);
				for (int k = 0; k < n; k++)
				{
					int			i = (k + turn) % n;
					double		started = now();

					answers[i] = doers[i].work(doers[i].state, task, mode, list, elements);
					if (turn > 0)
						printf("%s\t%s\t%s\t%.1f\n", task_names[task], mode_names[mode], doers[i].name, elements / (now() - started));
				}
				compare(doers, answers, n, task_names[task], mode_names[mode]);
			}
			for (int i = 0; i < n; i++)
			{
				doers[i].tidy(doers[i].state);
				if (doers[i].count(doers[i].state) != before[i])
				{
					fprintf(stderr, "%s, %s: not as before\n", doers[i].name, mode_names[mode]);
					return 1;
				}
			}
		}
	return 0;
}
