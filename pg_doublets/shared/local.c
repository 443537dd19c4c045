/*-------------------------------------------------------------------------
 *
 * local.c
 *	  Stores of temporary tables: the same calls over memory of this process.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "portability/instr_time.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "shared/inject.h"
#include "shared/shared_impl.h"

static DblRef
local_alloc(void *ctx, size_t size)
{
	DblTable   *t = ctx;
	DblPrivate *priv = t->private_data;
	void	   *p;

	if (DBL_INJECT_NO_MEMORY())
		return 0;
	p = MemoryContextAllocExtended(priv->cxt, size, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
	if (p != NULL)
		priv->bytes += size;
	return (DblRef) (uintptr_t) p;
}

static void
local_free(void *ctx, DblRef ref, size_t size)
{
	DblTable   *t = ctx;
	DblPrivate *priv = t->private_data;

	priv->bytes -= size;
	pfree((void *) (uintptr_t) ref);
}

static void *
local_resolve(void *ctx, DblRef ref)
{
	return (void *) (uintptr_t) ref;
}

/* Throw the store away; it is loaded again at the next access. */
void
dbl_local_unload(DblTable *t)
{
	DblPrivate *priv = t->private_data;

	if (priv->cxt == NULL)
		return;
	dbl_store_detach(&t->store);
	MemoryContextDelete(priv->cxt);
	priv->cxt = NULL;
	priv->shared = NULL;
	priv->loaded = false;
	priv->bytes = 0;
	priv->nblocks = 0;
	t->generation++;
}

/* There is nothing to lock, but the store must be there. */
void
dbl_local_lock(Relation rel, DblTable *t)
{
	DblPrivate *priv = t->private_data;
	DblMem		mem = {t, local_alloc, local_free, local_resolve, dbl_scratch_alloc, dbl_scratch_free};
	instr_time	start;
	instr_time	end;

	if (priv->loaded)
	{
		if (!dbl_store_refresh(&t->store))
			dbl_memory_error();
		return;
	}

	dbl_local_unload(t);
	INSTR_TIME_SET_CURRENT(start);
	priv->cxt = AllocSetContextCreate(TopMemoryContext, "doublets temporary table",
									  ALLOCSET_DEFAULT_SIZES);
	priv->shared = MemoryContextAllocZero(priv->cxt, sizeof(DblStoreShared));
	dbl_store_init(priv->shared, RelationGetNumberOfAttributes(rel) == DBL_NCOLUMNS);
	dbl_store_attach(&t->store, priv->shared, &mem);
	if (!dbl_store_refresh(&t->store))
		dbl_memory_error();

	/* after an error the next attempt begins with dbl_local_unload() */
	dbl_load_hook(rel, t);
	priv->loaded = true;
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	priv->load_ms = INSTR_TIME_GET_MILLISEC(end);
}
