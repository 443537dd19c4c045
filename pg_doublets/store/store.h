/*-------------------------------------------------------------------------
 *
 * store.h
 *	  The doublets store: slots, node directory, trees and postings.
 *
 * Pure C.  No PostgreSQL header is included here or below; memory is handed in
 * through DblMem, locking is the caller's: a reader needs the store to hold
 * still, a writer needs it for itself.
 *
 * A store's state lives in two places.  DblStoreShared and everything that its
 * refs reach is position independent and may be mapped at another address in
 * each process.  DblStore is one process's view of it: resolved base
 * addresses.  After the lock has been taken, dbl_store_refresh() must bring the
 * view up to date; it costs one comparison when nothing has moved.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_STORE_H
#define DBL_STORE_H

#include "store/version.h"

/* A piece of memory, by a name that is the same in every process.  0: none. */
typedef uint64_t DblRef;

/*
 * Memory, handed in.  alloc returns 0 when there is none (it must not jump out);
 * memory need not be zeroed.  resolve gives the piece's address in this
 * process, or NULL when it can't be mapped.  free takes the size that alloc was
 * given.  scratch_* is ordinary memory of this process for the time of one
 * call; scratch_alloc returns NULL when there is none.
 */
typedef struct DblMem
{
	void	   *ctx;
	DblRef		(*alloc) (void *ctx, size_t size);
	void		(*free) (void *ctx, DblRef ref, size_t size);
	void	   *(*resolve) (void *ctx, DblRef ref);
	void	   *(*scratch_alloc) (void *ctx, size_t size);
	void		(*scratch_free) (void *ctx, void *p);
} DblMem;

/* Which structure of the store a scan or a count goes through. */
typedef enum DblAccess
{
	DBL_BY_ID,					/* order: id, slot */
	DBL_BY_SOURCE,				/* order: source, target, slot */
	DBL_BY_TARGET,				/* order: target, source, slot */
	DBL_BY_TYPE					/* order: type, then as it happens */
} DblAccess;

/*
 * A range of values of one column.  Closed at both ends; empty when lo > hi.
 * NULL sorts after every value, and is in the range iff with_null; a range of
 * NULL alone is empty with with_null.
 */
typedef struct DblRange
{
	int64_t		lo;
	int64_t		hi;
	bool		with_null;
} DblRange;

#define DBL_RANGE_ALL	((DblRange) {INT64_MIN, INT64_MAX, true})

/*
 * Where a scan stands: the last entry that it gave out, by key, never by
 * address, so that the store may change in between.  Plain data, may be copied and kept
 * in shared memory.  All zeroes: before the first entry.
 */
typedef struct DblCursor
{
	uint32_t	started;		/* 0: nothing given out yet */
	uint32_t	first_null;		/* value of the first column is NULL */
	int64_t		first;			/* value of the first column (directory) */
	int64_t		second;			/* value of the second column */
	uint32_t	second_null;
	DblSlot		slot;
	/* postings only */
	uint32_t	chunk;
	uint32_t	chunk_seq;
	uint32_t	pos;
} DblCursor;

/* Bytes of the store by part, and other numbers for doublets_stats(). */
typedef struct DblStoreStats
{
	uint64_t	slots;			/* up to the high-water mark */
	uint64_t	used;
	uint64_t	free;
	uint64_t	nodes;
	uint64_t	bytes_slots;
	uint64_t	bytes_trees;
	uint64_t	bytes_directory;
	uint64_t	bytes_postings;
} DblStoreStats;

/* Receives one fault found by dbl_store_check(); return false to stop. */
typedef bool (*DblFaultFn) (void *arg, DblSlot slot, const char *fault);

#include "store/store_impl.h"	/* DblStoreShared, DblStore, dbl_version() */

/* --- life ------------------------------------------------------------- */

/*
 * Make an empty store in *shared.  has_type false: a relation without a type
 * column; no postings are kept then and DBL_BY_TYPE finds nothing.  Allocates nothing.
 */
extern void dbl_store_init(DblStoreShared *shared, bool has_type);

/* Bind a process's view to a store.  *mem is copied.  Resolves nothing yet. */
extern void dbl_store_attach(DblStore *s, DblStoreShared *shared, const DblMem *mem);

/* Slow path of dbl_store_refresh(). False: a piece could not be mapped. */
extern bool dbl_store_remap(DblStore *s);

/*
 * Bring the view up to date after the lock was taken.  Returns false when memory for
 * the view is short or a piece can't be mapped; the view must not be used then.
 */
static inline bool
dbl_store_refresh(DblStore *s)
{
	if (s->layout == s->shared->layout)
		return true;
	return dbl_store_remap(s);
}

/* Release the view's own memory (not the store's). */
extern void dbl_store_detach(DblStore *s);

/* Free everything that the store allocated, through mem->free, and make it empty. */
extern void dbl_store_destroy(DblStore *s);

/* --- change (exclusive) ------------------------------------------------- */

/*
 * Make sure that the slots 0 .. nslots - 1 can be addressed and that the next
 * `inserts` calls of dbl_insert() (and any number of dbl_remove) can't run out of memory, whatever their keys.
 * False: no memory; the store is as it was (it may have grown, but holds the same versions).
 */
extern bool dbl_reserve(DblStore *s, uint64_t nslots, uint32_t inserts);

/*
 * Look at the slots that the next n insertions should use: freed ones first (lowest cost first), then
 * those past the high-water mark.  Changes nothing; fills out[0..n-1].
 */
extern void dbl_peek_free(DblStore *s, uint32_t n, DblSlot *out);

/*
 * Put *v (its key, null bits and all fields but left/right) into `slot`, which must be free or past the
 * high-water mark (slots skipped over become free), and enter it into the
 * tree by id, by source, by target and into the postings of its type.  Sets
 * DBL_F_USED.  Needs dbl_reserve() to have covered slot and insertion. Can't fail.
 */
extern void dbl_insert(DblStore *s, DblSlot slot, const DblVersion *v);

/* Take the version out of every structure; the slot is free then.  Can't fail. */
extern void dbl_remove(DblStore *s, DblSlot slot);

/*
 * Bulk load into an empty store.  dbl_build_put() fills slots, in any order, each at most
 * once; dbl_build_finish() makes directory, balanced trees, postings (in slot order) and
 * free list in one go.  Between the two nothing else may be called but dbl_version() and dbl_build_put.
 * nslots: number of slots the store will have up to its high-water mark.
 * False: no memory, or told to give up; then only dbl_store_destroy() may follow.  step may be NULL.
 */
typedef enum DblBuildStep
{
	DBL_BUILD_IDS,				/* trees by id */
	DBL_BUILD_SOURCES,
	DBL_BUILD_TARGETS,
	DBL_BUILD_TYPES				/* postings */
} DblBuildStep;

/*
 * Told now and then what dbl_build_finish() is at, and how many versions of it are done; returns false to
 * have it give up, as if there were no memory.
 */
typedef bool (*DblBuildStepFn) (void *arg, DblBuildStep step, uint32_t done);

extern bool dbl_build_begin(DblStore *s, uint64_t nslots);
extern void dbl_build_put(DblStore *s, DblSlot slot, const DblVersion *v);
extern bool dbl_build_finish(DblStore *s, DblBuildStepFn step, void *arg);

/* --- look (shared) -------------------------------------------------------- */

/* High-water mark: every slot in use is below. */
static inline uint32_t
dbl_nslots(const DblStore *s)
{
	return s->shared->nslots;
}

/*
 * The next entries of a scan, in the order of `access` or backwards, that lie in
 * first (on the directory's column: id, source, target or type) and, for
 * DBL_BY_SOURCE and DBL_BY_TARGET, in second (the other end; NULL pointer: all). Fills out[] with up to
 * max slots (versions of any visibility), moves *cur behind the last of them, and returns how
 * many; 0: at the end (*cur is unchanged then, and a later call in the other direction goes on from there).
 * With backward changed between calls, the next entry is the one before the last given out.
 *
 * Entries that come or go between calls are met or not by their key; none that stays is skipped or met
 * twice.  Postings are resumed by position, which holds as long as the store is not rebuilt.
 */
extern uint32_t dbl_scan(DblStore *s, DblAccess access, const DblRange *first,
						 const DblRange *second, bool backward, DblCursor *cur,
						 DblSlot *out, uint32_t max);

/* Set *cur so that the scan goes on just behind (ahead of, when backward) this version. */
extern void dbl_cursor_at(DblStore *s, DblAccess access, DblSlot slot, DblCursor *cur);

/*
 * Number of entries in the ranges.  Exact, in O(log n), when first holds one value;
 * otherwise walks at most max_nodes values of the directory and, if there are more,
 * extrapolates and sets *exact to false.
 */
extern double dbl_count(DblStore *s, DblAccess access, const DblRange *first,
						const DblRange *second, uint32_t max_nodes, bool *exact);

/* Fill *st. O(1) or nearly so. */
extern void dbl_store_stats(DblStore *s, DblStoreStats *st);

/*
 * Verify every invariant: order, sizes and balance of each tree, each version in each structure
 * once, under the right node; directory order and counts; postings and places;
 * free list (each unused slot once, none reachable otherwise).  Must survive a
 * corrupt store: no endless loop, no access out of bounds.  Calls fault for each finding; returns their number.
 */
extern uint64_t dbl_store_check(DblStore *s, DblFaultFn fault, void *arg);

#endif							/* DBL_STORE_H */
