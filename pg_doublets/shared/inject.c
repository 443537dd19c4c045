/*-------------------------------------------------------------------------
 *
 * inject.c
 *	  Injection points; see inject.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "shared/inject.h"

#ifdef DBL_INJECTION

#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include "miscadmin.h"
#include "utils/guc.h"

#define GO_FILE		"pg_doublets.go"
#define TIMEOUT_MS	60000		/* a timeout that does not come is none */

typedef enum InjectAction
{
	INJECT_NOTHING,
	INJECT_ERROR,
	INJECT_CANCEL,
	INJECT_TERMINATE,
	INJECT_KILL,
	INJECT_SEGV,
	INJECT_TIMEOUT,
	INJECT_WAIT
} InjectAction;

static const char *const action_names[] = {
	[INJECT_NOTHING] = "",
	[INJECT_ERROR] = "error",
	[INJECT_CANCEL] = "cancel",
	[INJECT_TERMINATE] = "terminate",
	[INJECT_KILL] = "kill",
	[INJECT_SEGV] = "segv",
	[INJECT_TIMEOUT] = "timeout",
	[INJECT_WAIT] = "wait",
};

static char *inject_setting;
static int	no_memory_setting;

/* What was last set, taken apart; nothing once it has happened. */
static char point_wanted[64];
static InjectAction action_wanted;
static int	times_left;
static int	allocations_left;

static bool
parse(const char *value, char *point, InjectAction *action, int *times)
{
	char		name[32];
	int			n = sscanf(value, "%63[^:]:%31[^:]:%d", point, name, times);

	*action = INJECT_NOTHING;
	if (value[0] == '\0')
		return true;
	if (n == 2)
		*times = 1;
	if (n < 2 || *times < 1)
		return false;
	for (int i = INJECT_ERROR; i < lengthof(action_names); i++)
	{
		if (strcmp(name, action_names[i]) == 0)
			*action = (InjectAction) i;
	}
	return *action != INJECT_NOTHING;
}

static bool
check_inject(char **newval, void **extra, GucSource source)
{
	char		point[64];
	InjectAction action;
	int			times;

	return *newval == NULL || parse(*newval, point, &action, &times);
}

static void
assign_inject(const char *newval, void *extra)
{
	action_wanted = INJECT_NOTHING;
	if (newval != NULL)
		(void) parse(newval, point_wanted, &action_wanted, &times_left);
}

static void
assign_no_memory(int newval, void *extra)
{
	allocations_left = newval;
}

static const char *
show_no_memory(void)
{
	static char text[16];

	snprintf(text, sizeof(text), "%d", allocations_left);
	return text;
}

void
dbl_inject_init(void)
{
	DefineCustomStringVariable("pg_doublets.inject", "Sets what happens at which injection point.", NULL,
							   &inject_setting, "", PGC_SUSET, GUC_NOT_IN_SAMPLE,
							   check_inject, assign_inject, NULL);
	DefineCustomIntVariable("pg_doublets.inject_no_memory", "Sets which allocation for a store fails.", NULL,
							&no_memory_setting, 0, 0, INT_MAX, PGC_SUSET, GUC_NOT_IN_SAMPLE,
							NULL, assign_no_memory, show_no_memory);
}

void
dbl_inject(const char *point)
{
	InjectAction action = action_wanted;

	if (action == INJECT_NOTHING || strcmp(point, point_wanted) != 0 || --times_left > 0)
		return;
	action_wanted = INJECT_NOTHING;
	ereport(LOG, (errmsg("injection point \"%s\": %s", point, action_names[action])));
	switch (action)
	{
		case INJECT_NOTHING:
			break;
		case INJECT_ERROR:
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR),
					 errmsg("error injected at \"%s\"", point)));
			break;
		case INJECT_CANCEL:
			kill(MyProcPid, SIGINT);
			CHECK_FOR_INTERRUPTS();
			break;
		case INJECT_TERMINATE:
			kill(MyProcPid, SIGTERM);
			CHECK_FOR_INTERRUPTS();
			break;
		case INJECT_KILL:
			kill(MyProcPid, SIGKILL);
			pause();
			break;
		case INJECT_SEGV:
			kill(MyProcPid, SIGSEGV);
			break;
		case INJECT_TIMEOUT:
			for (int ms = 0; ms < TIMEOUT_MS && !QueryCancelPending && !ProcDiePending; ms++)
				pg_usleep(1000);
			CHECK_FOR_INTERRUPTS();
			break;
		case INJECT_WAIT:
			while (unlink(GO_FILE) != 0)
				pg_usleep(10000);
			break;
	}
}

/* Shall this allocation fail? */
bool
dbl_inject_no_memory(void)
{
	if (allocations_left == 0 || --allocations_left > 0)
		return false;
	ereport(LOG, (errmsg("injection: an allocation fails")));
	return true;
}

#endif							/* DBL_INJECTION */
