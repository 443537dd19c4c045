/*-------------------------------------------------------------------------
 *
 * shared_impl.h
 *	  What the files of shared/ share: the control block and its entries.
 *
 * See README.md for who may change what under which lock.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_SHARED_IMPL_H
#define DBL_SHARED_IMPL_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/dsm.h"
#include "utils/dsa.h"

#include "shared/registry.h"

#define DBL_MAX_EXTENTS		128
#define DBL_MAX_AREA_PIECES 96
#define DBL_MAX_SPARE		16
#define DBL_MAX_LEAVING		64

typedef enum DblState
{
	DBL_FREE,					/* no table */
	DBL_UNLOADED,				/* a table without a store */
	DBL_LOADING,				/* a backend fills the store */
	DBL_LOADED
} DblState;

/* One dynamic shared memory segment of a store. */
typedef struct DblExtent
{
	dsm_handle	handle;
	Size		size;
	Size		used;
} DblExtent;

/* A piece of an extent that was given back. */
typedef struct DblSpare
{
	DblRef		ref;
	Size		size;
} DblSpare;

/* The memory of a store. */
typedef struct DblMemory
{
	uint64		bytes;			/* all of it, as counted against the limit */
	uint64		area_bytes;
	int			npieces;		/* in the area of small stores */
	int			nextents;
	int			nspare;
	struct
	{
		dsa_pointer p;
		Size		size;
	}			pieces[DBL_MAX_AREA_PIECES];
	DblExtent	extents[DBL_MAX_EXTENTS];
	DblSpare	spare[DBL_MAX_SPARE];
} DblMemory;

struct DblEntry
{
	/* what every access looks at, in one cache line */
	LWLock		lock;			/* the store lock */
	RelFileNode node;
	int			next;			/* in the bucket; -1: last */
	DblState	state;
	bool		doomed;			/* dropped while it was loading */
	uint64		generation;		/* changes when a load begins and when a store goes */
	TimestampTz last_used;		/* start of the statement that used it last */
	Oid			relid;			/* by which it was used last */
	BlockNumber nblocks;		/* of the file, at least; see durable/write.c */

	int			nmapped;		/* handles bound to this generation (mapping.c) */
	uint32		evictions;
	double		load_ms;
	TimestampTz loaded_at;
	DblLoadProgress progress;	/* of the loader; read without a lock */
	ConditionVariable cv;		/* for those who wait until it is loaded */
	DblMemory	memory;
	DblStoreShared store;
};

/*
 * Memory of a store that has gone, still mapped by processes that have not noticed yet.
 */
typedef struct DblLeaving
{
	DblEntry   *entry;
	uint64		generation;
	int			nmapped;
	uint64		bytes;
} DblLeaving;

typedef struct DblControl
{
	LWLock		lock;			/* buckets, and which table an entry is for */
	LWLock		redo_lock;		/* a load does not begin while a record is replayed */
	int			store_tranche;
	int			area_tranche;
	int			nentries;
	int			nbuckets;		/* a power of two */
	pg_atomic_uint64 bytes;		/* memory of all stores */
	pg_atomic_uint64 drops;		/* grows whenever a store goes */
	pg_atomic_uint64 evictions;
	LWLock		evict_lock;		/* one evicts at a time */
	LWLock		mapping_lock;	/* nmapped of all entries, and what follows */
	volatile uint64 leaving_bytes;
	int			nleaving;
	DblLeaving	leaving[DBL_MAX_LEAVING];
	/* prepared transactions that have dropped or made tables; control lock */
	int			nprepared;
	TransactionId *prepared;
	Size		area_size;
	char	   *area;			/* same address in each process: forked from the postmaster */
	int		   *buckets;
	DblEntry   *entries;
} DblControl;

/* What a handle keeps besides (DblTable.private_data). */
typedef struct DblPrivate
{
	dsm_segment *segments[DBL_MAX_EXTENTS]; /* extents mapped in this process */
	int			nsegments;		/* above the last one */
	DblEntry   *mapped;			/* counted in nmapped of this entry ... */
	uint64		mapped_generation;	/* ... or, once it is another, in `leaving` */
	/* temporary tables */
	MemoryContext cxt;			/* all of the store's memory */
	DblStoreShared *shared;
	bool		loaded;
	uint64		bytes;
	double		load_ms;
	BlockNumber nblocks;
	/* buffers used last, by block */
	struct
	{
		BlockNumber blkno;
		Buffer		buffer;
	}			recent[8];
} DblPrivate;

extern DblControl *dbl_control;

/* memory.c */
extern Size dbl_area_size(void);
extern void dbl_area_create(void);
extern void dbl_memory_bind(DblTable *t);
extern void dbl_memory_unmap(DblTable *t);
extern void dbl_memory_release(DblEntry *e);
extern void dbl_memory_attempt(void);
extern bool dbl_memory_wait(DblEntry *e, TimestampTz *give_up);
extern void *dbl_scratch_alloc(void *ctx, size_t size);
extern void dbl_scratch_free(void *ctx, void *p);

/* mapping.c */
extern void dbl_mapping_begin(DblTable *t);
extern void dbl_mapping_end(DblTable *t);
extern bool dbl_mapping_gone(DblEntry *e);
extern void dbl_mapping_tell(Oid dbid, Oid relid);
extern void dbl_mapping_wait(Size size, bool system_full);

/* evict.c */
extern bool dbl_make_room(DblEntry *mine, Size size, bool system_full, TimestampTz *give_up);
extern bool dbl_evict_one(void);

/* registry.c */
extern DblEntry *dbl_entry_at(int i);
extern DblEntry *dbl_entry_get(RelFileNode node, bool create);
extern void dbl_entry_unload(DblEntry *e);
extern void dbl_remember_prepared(TransactionId xid);

/* table.c */
extern void dbl_tables_forget_stale(void);
extern void dbl_tables_unmap_stale(void);
extern DblTable *dbl_table_handle(RelFileNode node, bool local);

/* loading.c */
extern void dbl_entry_load(Relation rel, DblTable *t);
extern void dbl_entry_wait(DblEntry *e);

/* local.c */
extern void dbl_local_lock(Relation rel, DblTable *t);
extern void dbl_local_unload(DblTable *t);

/* pending.c */
extern void dbl_pending_init(void);

#endif							/* DBL_SHARED_IMPL_H */
