/*-------------------------------------------------------------------------
 *
 * pending.c
 *	  Stores that go when the transaction ends, as catalog/storage.c does it for files.
 *
 * A prepared transaction forgets its list: once it has ended, what it would have dropped is
 * found by a sweep (registry.c), for whose file is gone.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "shared/inject.h"
#include "shared/shared_impl.h"

typedef struct PendingDrop
{
	struct PendingDrop *next;
	RelFileNode node;
	bool		local;
	bool		at_commit;
	int			level;			/* nesting of transactions */
} PendingDrop;

static PendingDrop *pending;

static void
remember(RelFileNode node, bool local, bool at_commit)
{
	PendingDrop *p = MemoryContextAlloc(TopMemoryContext, sizeof(PendingDrop));

	p->node = node;
	p->local = local;
	p->at_commit = at_commit;
	p->level = GetCurrentTransactionNestLevel();
	p->next = pending;
	pending = p;
}

void
dbl_store_drop_at_abort(RelFileNode node, bool local)
{
	/* whatever lay under this number before has nothing to do with the new file */
	dbl_store_drop(node, local);
	remember(node, local, false);
}

void
dbl_store_drop_at_commit(RelFileNode node, bool local)
{
	remember(node, local, true);
}

/* Settle what was remembered at this level and deeper. */
static void
settle(int level, bool commit, bool drop)
{
	PendingDrop **link = &pending;

	while (*link != NULL)
	{
		PendingDrop *p = *link;

		if (p->level < level)
		{
			link = &p->next;
			continue;
		}
		*link = p->next;
		DBL_INJECT(!drop ? "settle-prepare" : commit ? "settle-commit" : "settle-abort");
		if (drop && p->at_commit == commit)
			dbl_store_drop(p->node, p->local);
		pfree(p);
	}
}

static void
xact_callback(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_COMMIT:
			settle(1, true, true);
			break;
		case XACT_EVENT_ABORT:
			settle(1, false, true);
			break;
		case XACT_EVENT_PREPARE:
			if (pending != NULL)
				dbl_remember_prepared(GetTopTransactionIdIfAny());
			settle(1, true, false);
			break;
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_PARALLEL_ABORT:
			settle(1, true, false);
			break;
		default:
			return;
	}
	dbl_tables_forget_stale();
}

static void
subxact_callback(SubXactEvent event, SubTransactionId id, SubTransactionId parent, void *arg)
{
	int			level = GetCurrentTransactionNestLevel();

	if (event == SUBXACT_EVENT_ABORT_SUB)
		settle(level, false, true);
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
	{
		for (PendingDrop *p = pending; p != NULL; p = p->next)
		{
			if (p->level >= level)
				p->level = level - 1;
		}
	}
}

void
dbl_pending_init(void)
{
	RegisterXactCallback(xact_callback, NULL);
	RegisterSubXactCallback(subxact_callback, NULL);
}
