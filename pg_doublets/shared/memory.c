/*-------------------------------------------------------------------------
 *
 * memory.c
 *	  Where a shared store gets its memory from.
 *
 * The first pieces of a store come from one area for all stores, which lies in the main
 * shared memory segment and never grows, so that small tables cost no segment of their own.
 * Everything else comes from extents: dynamic shared memory segments that
 * belong to one store and go back to the system with it.
 *
 * A DblRef is a kind in the top bits, and a dsa_pointer or the number of an extent and
 * an offset in it.
 *
 * Nothing here raises an error for want of memory.  The functions that
 * PostgreSQL has for dynamic shared memory do; they are called so that an
 * error is caught, with locks and interrupt holdoff as they were.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "shared/inject.h"
#include "shared/shared_impl.h"

#define KIND_SHIFT		62
#define KIND_AREA		UINT64CONST(1)
#define KIND_EXTENT		UINT64CONST(2)
#define EXTENT_SHIFT	40
#define OFFSET_MASK		((UINT64CONST(1) << EXTENT_SHIFT) - 1)

#define PIECE_ALIGN		64
#define AREA_PER_STORE	((uint64) 1024 * 1024)	/* a store takes no more from the area */
#define EXTENT_MIN		((Size) 1024 * 1024)

/* What this process could not have because others are in the way; 0: nothing. */
static Size failed_size;
static bool failed_system_full;

static dsa_area *area;
static MemoryContext views_cxt;

/* --- the area of small stores ------------------------------------------------ */

Size
dbl_area_size(void)
{
	return (Size) 8 * 1024 * 1024 + (Size) dbl_max_tables * 16 * 1024;
}

/* In the postmaster, once dbl_control->area points to dbl_area_size() bytes. */
void
dbl_area_create(void)
{
	dsa_area   *a = dsa_create_in_place(dbl_control->area, dbl_control->area_size,
										dbl_control->area_tranche, NULL);

	dsa_pin(a);
	/* no segments besides: making one could raise with locks of the area held */
	dsa_set_size_limit(a, dbl_control->area_size);
	dsa_detach(a);
}

static dsa_area *
get_area(void)
{
	MemoryContext old;

	if (area != NULL)
		return area;
	old = MemoryContextSwitchTo(TopMemoryContext);
	area = dsa_attach_in_place(dbl_control->area, NULL);
	dsa_pin_mapping(area);
	on_shmem_exit(dsa_on_shmem_exit_release_in_place, PointerGetDatum(dbl_control->area));
	MemoryContextSwitchTo(old);
	return area;
}

/* --- segments, without errors ------------------------------------------------- */

/* Create (handle invalid) or attach a segment, for the life of this process.  NULL: can't be had. */
static dsm_segment *
get_segment(dsm_handle handle, Size size)
{
	dsm_segment *volatile seg = NULL;
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ResourceOwner volatile mine = NULL;
	uint32		holdoff = InterruptHoldoffCount;
	uint32		cancel_holdoff = QueryCancelHoldoffCount;

	if (DBL_INJECT_NO_MEMORY())
		return NULL;
	PG_TRY();
	{
		mine = ResourceOwnerCreate(NULL, "doublets segment");
		CurrentResourceOwner = mine;
		if (handle == DSM_HANDLE_INVALID)
			seg = dsm_create(size, DSM_CREATE_NULL_IF_MAXSEGMENTS);
		else
			seg = dsm_attach(handle);
		if (seg != NULL)
			dsm_pin_mapping(seg);
		if (seg != NULL && handle == DSM_HANDLE_INVALID)
			dsm_pin_segment(seg);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(cxt);
		FlushErrorState();
		InterruptHoldoffCount = holdoff;
		QueryCancelHoldoffCount = cancel_holdoff;
		seg = NULL;
	}
	PG_END_TRY();

	CurrentResourceOwner = owner;
	if (mine != NULL)
	{
		ResourceOwner r = mine;

		/* what a failed attempt has left */
		ResourceOwnerRelease(r, RESOURCE_RELEASE_BEFORE_LOCKS, false, false);
		CurrentResourceOwner = owner;
		ResourceOwnerDelete(r);
	}
	return seg;
}

static char *
extent_address(DblTable *t, int i)
{
	DblPrivate *priv = t->private_data;

	if (priv->segments[i] == NULL)
	{
		priv->segments[i] = get_segment(t->entry->memory.extents[i].handle, 0);
		if (priv->segments[i] == NULL)
			return NULL;
		priv->nsegments = Max(priv->nsegments, i + 1);
	}
	return dsm_segment_address(priv->segments[i]);
}

/* Let go of the segments that this handle has mapped. */
void
dbl_memory_unmap(DblTable *t)
{
	DblPrivate *priv = t->private_data;

	for (int i = 0; i < priv->nsegments; i++)
	{
		if (priv->segments[i] != NULL)
			dsm_detach(priv->segments[i]);
		priv->segments[i] = NULL;
	}
	priv->nsegments = 0;
	dbl_mapping_end(t);
}

/* Give back all memory of a store, which is no longer counted: dbl_mapping_gone().  Its lock is held. */
void
dbl_memory_release(DblEntry *e)
{
	DblMemory  *m = &e->memory;

	for (int i = 0; i < m->npieces; i++)
		dsa_free(get_area(), m->pieces[i].p);
	for (int i = 0; i < m->nextents; i++)
		dsm_unpin_segment(m->extents[i].handle);
	memset(m, 0, sizeof(*m));
}

/* --- DblMem ----------------------------------------------------------------------- */

/* Count so many bytes more, if the limit allows. */
static bool
charge(DblMemory *m, Size size)
{
	uint64		limit = (uint64) dbl_max_memory_mb * 1024 * 1024;
	uint64		before;

	dbl_mapping_wait(size, false);
	before = pg_atomic_read_u64(&dbl_control->bytes);
	do
	{
		if (limit != 0 && before + size > limit)
			return false;
	} while (!pg_atomic_compare_exchange_u64(&dbl_control->bytes, &before, before + size));
	m->bytes += size;
	return true;
}

static void
uncharge(DblMemory *m, Size size)
{
	pg_atomic_fetch_sub_u64(&dbl_control->bytes, size);
	m->bytes -= size;
}

/* Others have to go for a piece of that size.  See dbl_make_room(). */
static bool
make_room(DblEntry *e, Size size, bool system_full, TimestampTz *give_up)
{
	failed_size = size;
	failed_system_full = system_full;
	return dbl_make_room(e, size, system_full, give_up);
}

/* Before an attempt to allocate that dbl_memory_wait() shall explain. */
void
dbl_memory_attempt(void)
{
	failed_size = 0;
}

/*
 * The attempt has failed, and no lock is held any more: wait for others to go, if that is why.  Returns whether
 * it's worth trying again.
 */
bool
dbl_memory_wait(DblEntry *e, TimestampTz *give_up)
{
	return failed_size > 0 && dbl_make_room(e, failed_size, failed_system_full, give_up);
}

/* As charge(), where others may have to go for it. */
static bool
charge_or_evict(DblEntry *e, Size size)
{
	TimestampTz give_up = 0;

	while (!charge(&e->memory, size))
	{
		if (!make_room(e, size, false, &give_up))
			return false;
	}
	return true;
}

static DblRef
area_alloc(DblEntry *e, Size size)
{
	DblMemory  *m = &e->memory;
	dsa_pointer p;

	if (m->npieces == DBL_MAX_AREA_PIECES || m->area_bytes + size > AREA_PER_STORE ||
		!charge_or_evict(e, size))
		return 0;
	p = dsa_allocate_extended(get_area(), size, DSA_ALLOC_NO_OOM);
	if (!DsaPointerIsValid(p))
	{
		uncharge(m, size);
		return 0;
	}
	m->pieces[m->npieces].p = p;
	m->pieces[m->npieces].size = size;
	m->npieces++;
	m->area_bytes += size;
	return (KIND_AREA << KIND_SHIFT) | p;
}

/* A segment, counted; NULL if there is no room, or only (evict false) if others would have to go. */
static dsm_segment *
new_extent(DblEntry *e, Size size, bool evict)
{
	DblMemory  *m = &e->memory;
	TimestampTz give_up = 0;

	for (;;)
	{
		bool		charged = charge(m, size);
		dsm_segment *seg = charged ? get_segment(DSM_HANDLE_INVALID, size) : NULL;

		if (seg != NULL)
			return seg;
		if (charged)
			uncharge(m, size);
		if (!evict || !make_room(e, size, charged, &give_up))
			return NULL;
	}
}

/*
 * A further extent with room for a piece of that size: a quarter of the store if that can be had, since
 * extents are few; others go for it only where many are in use already.
 */
static bool
add_extent(DblTable *t, Size size)
{
	DblEntry   *e = t->entry;
	DblMemory  *m = &e->memory;
	DblPrivate *priv = t->private_data;
	Size		small = Max(EXTENT_MIN, TYPEALIGN(EXTENT_MIN, size));
	Size		want = TYPEALIGN(EXTENT_MIN, Max(small, m->bytes / 4));
	bool		few = m->nextents < DBL_MAX_EXTENTS / 2;
	dsm_segment *seg;

	if (m->nextents == DBL_MAX_EXTENTS)
		return false;
	seg = new_extent(e, want, !few || want == small);
	if (seg == NULL && want != small)
	{
		want = small;
		seg = new_extent(e, want, true);
	}
	if (seg == NULL)
		return false;

	m->extents[m->nextents].handle = dsm_segment_handle(seg);
	m->extents[m->nextents].size = want;
	m->extents[m->nextents].used = 0;
	priv->segments[m->nextents] = seg;
	m->nextents++;
	priv->nsegments = Max(priv->nsegments, m->nextents);
	return true;
}

static DblRef
mem_alloc(void *ctx, size_t size)
{
	DblTable   *t = ctx;
	DblMemory  *m = &t->entry->memory;
	DblExtent  *x;
	DblRef		ref;

	if (DBL_INJECT_NO_MEMORY())
		return 0;
	size = TYPEALIGN(PIECE_ALIGN, size);
	for (int i = 0; i < m->nspare; i++)
	{
		if (m->spare[i].size == size)
		{
			ref = m->spare[i].ref;
			m->spare[i] = m->spare[--m->nspare];
			return ref;
		}
	}
	if (m->nextents == 0 || size < 64 * 1024)
	{
		ref = area_alloc(t->entry, size);
		if (ref != 0)
			return ref;
	}
	if (m->nextents == 0 || m->extents[m->nextents - 1].used + size > m->extents[m->nextents - 1].size)
	{
		if (!add_extent(t, size))
			return 0;
	}
	x = &m->extents[m->nextents - 1];
	ref = (KIND_EXTENT << KIND_SHIFT) | ((uint64) (m->nextents - 1) << EXTENT_SHIFT) | x->used;
	x->used += size;
	return ref;
}

static void
mem_free(void *ctx, DblRef ref, size_t size)
{
	DblTable   *t = ctx;
	DblMemory  *m = &t->entry->memory;

	size = TYPEALIGN(PIECE_ALIGN, size);
	if ((ref >> KIND_SHIFT) == KIND_AREA)
	{
		dsa_pointer p = ref & ~(UINT64CONST(3) << KIND_SHIFT);

		for (int i = 0; i < m->npieces; i++)
		{
			if (m->pieces[i].p == p)
			{
				m->pieces[i] = m->pieces[--m->npieces];
				m->area_bytes -= size;
				uncharge(m, size);
				dsa_free(get_area(), p);
				return;
			}
		}
		Assert(false);
	}
	else if (m->nspare < DBL_MAX_SPARE)
	{
		m->spare[m->nspare].ref = ref;
		m->spare[m->nspare].size = size;
		m->nspare++;
	}
	/* else it goes with the store */
}

static void *
mem_resolve(void *ctx, DblRef ref)
{
	DblTable   *t = ctx;
	int			i;
	char	   *base;

	if ((ref >> KIND_SHIFT) == KIND_AREA)
		return dsa_get_address(get_area(), ref & ~(UINT64CONST(3) << KIND_SHIFT));
	i = (int) ((ref & ~(UINT64CONST(3) << KIND_SHIFT)) >> EXTENT_SHIFT);
	if (i >= t->entry->memory.nextents)
		return NULL;
	base = extent_address(t, i);
	return base == NULL ? NULL : base + (ref & OFFSET_MASK);
}

/* Memory of this process, which lives until it is given back. */
void *
dbl_scratch_alloc(void *ctx, size_t size)
{
	if (DBL_INJECT_NO_MEMORY())
		return NULL;
	if (views_cxt == NULL)
		views_cxt = AllocSetContextCreate(TopMemoryContext, "doublets views",
										  ALLOCSET_DEFAULT_SIZES);
	return MemoryContextAllocExtended(views_cxt, size, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
}

void
dbl_scratch_free(void *ctx, void *p)
{
	if (p != NULL)
		pfree(p);
}

/* Bind the handle's view to the store of its entry. */
void
dbl_memory_bind(DblTable *t)
{
	DblMem		mem = {t, mem_alloc, mem_free, mem_resolve, dbl_scratch_alloc, dbl_scratch_free};

	dbl_store_attach(&t->store, &t->entry->store, &mem);
	t->generation = t->entry->generation;
	dbl_mapping_begin(t);
}
