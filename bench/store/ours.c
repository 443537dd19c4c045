/*-------------------------------------------------------------------------
 *
 * ours.c
 *	  The store of pg_doublets, alone: with versions and types, without pages, WAL and locks.
 *
 * An update makes a new version and takes the old one out, which in PostgreSQL VACUUM does later.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "subject.h"

static DblStoreShared shared;
static DblStore store;
static uint64_t allocated;

static DblRef
mem_alloc(void *ctx, size_t size)
{
	void	   *p = malloc(size);

	if (p != NULL)
		allocated += size;
	return (DblRef) (uintptr_t) p;
}

static void
mem_free(void *ctx, DblRef ref, size_t size)
{
	allocated -= size;
	free((void *) (uintptr_t) ref);
}

static void *
mem_resolve(void *ctx, DblRef ref)
{
	return (void *) (uintptr_t) ref;
}

static void *
scratch_alloc(void *ctx, size_t size)
{
	return malloc(size);
}

static void
scratch_free(void *ctx, void *p)
{
	free(p);
}

static void
must(bool done, const char *what)
{
	if (!done)
	{
		fprintf(stderr, "our store: %s\n", what);
		exit(1);
	}
}

static void
ours_open(void)
{
	static const DblMem mem = {NULL, mem_alloc, mem_free, mem_resolve, scratch_alloc, scratch_free};

	allocated = 0;
	memset(&shared, 0, sizeof(shared));
	dbl_store_init(&shared, true);
	dbl_store_attach(&store, &shared, &mem);
	must(dbl_store_refresh(&store), "cannot be made");
}

static void
ours_close(void)
{
	dbl_store_destroy(&store);
	dbl_store_detach(&store);
}

static uint64_t
ours_bytes(void)
{
	return allocated;
}

static DblSlot
put(const Data *data, int64_t id, int64_t source, int64_t target)
{
	DblVersion	v;
	DblSlot		slot;

	memset(&v, 0, sizeof(v));
	v.key[DBL_ID] = id;
	v.key[DBL_SOURCE] = source;
	v.key[DBL_TARGET] = target;
	v.key[DBL_TYPE] = id % data->types;
	v.next = DBL_NO_SLOT;
	dbl_peek_free(&store, 1, &slot);
	must(dbl_reserve(&store, (uint64_t) slot + 1, 1), "no memory");
	dbl_insert(&store, slot, &v);
	return slot;
}

static void
create(const Data *data, Seen *seen)
{
	for (uint32_t i = 1; i <= data->links; i++)
	{
		put(data, i, data->source[i], data->target[i]);
		see(seen, i, data->source[i], data->target[i]);
	}
}

static void
read_all(const Data *data, Seen *seen)
{
	uint32_t	n = dbl_nslots(&store);

	for (DblSlot slot = 0; slot < n; slot++)
	{
		const DblVersion *v = dbl_version(&store, slot);

		if (v->flags & DBL_F_USED)
			see(seen, v->key[DBL_ID], v->key[DBL_SOURCE], v->key[DBL_TARGET]);
	}
}

/* All versions in a range of one value, or of one and another. */
static inline void
find(DblAccess access, int64_t first, const int64_t *second, Seen *seen)
{
	DblRange	r = {first, first, false};
	DblRange	t = {second ? *second : 0, second ? *second : 0, false};
	DblCursor	cursor;
	DblSlot		slots[128];
	uint32_t	n;

	cursor.started = 0;
	do
	{
		n = dbl_scan(&store, access, &r, second ? &t : NULL, false, &cursor, slots, 128);
		for (uint32_t i = 0; i < n; i++)
		{
			const DblVersion *v = dbl_version(&store, slots[i]);

			see(seen, v->key[DBL_ID], v->key[DBL_SOURCE], v->key[DBL_TARGET]);
		}
	} while (n == 128);
}

static void
by_id(const Data *data, Seen *seen)
{
	for (uint32_t i = 0; i < data->links; i++)
		find(DBL_BY_ID, data->order[i], NULL, seen);
}

static void
by_pair(const Data *data, Seen *seen)
{
	for (uint32_t i = 0; i < data->links; i++)
		if (data->order[i] > FREE_LINKS)
			find(DBL_BY_SOURCE, data->source[data->order[i]], &data->target[data->order[i]], seen);
}

static void
by_source(const Data *data, Seen *seen)
{
	for (uint32_t i = 0; i < data->links; i++)
		find(DBL_BY_SOURCE, data->order[i], NULL, seen);
}

static void
by_target(const Data *data, Seen *seen)
{
	for (uint32_t i = 0; i < data->links; i++)
		find(DBL_BY_TARGET, data->order[i], NULL, seen);
}

static DblSlot
slot_of(int64_t id)
{
	DblRange	r = {id, id, false};
	DblCursor	cursor;
	DblSlot		slot;

	cursor.started = 0;
	must(dbl_scan(&store, DBL_BY_ID, &r, NULL, false, &cursor, &slot, 1) == 1, "a link is missing");
	return slot;
}

static void
update(const Data *data, Seen *seen)
{
	for (uint32_t i = 0; i < data->links; i++)
	{
		int64_t		id = data->order[i];
		DblSlot		old = slot_of(id);

		put(data, id, data->target[id], data->source[id]);
		dbl_remove(&store, old);
		see(seen, id, data->target[id], data->source[id]);
	}
}

static void
delete(const Data *data, Seen *seen)
{
	for (uint32_t i = 0; i < data->links; i++)
	{
		dbl_remove(&store, slot_of(data->order[i]));
		see(seen, data->order[i], 0, 0);
	}
}

const Subject ours = {
	"doublets", ours_open,
	{create, read_all, by_id, by_pair, by_source, by_target, update, delete},
	ours_bytes, ours_close
};
