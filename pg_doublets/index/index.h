/*-------------------------------------------------------------------------
 *
 * index.h
 *	  The index access method "doublets_tree".
 *
 * An index of this kind stores nothing: it is a view on the structures that
 * the table's store keeps anyway.  What an index adds is a name, the promise
 * of an order, and uniqueness.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_INDEX_H
#define DBL_INDEX_H

#include "postgres.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/itup.h"
#include "access/relscan.h"
#include "nodes/execnodes.h"
#include "nodes/tidbitmap.h"
#include "storage/lwlock.h"
#include "utils/relcache.h"

#include "store/store.h"
#include "table/prune.h"
#include "table/table.h"

/* Columns that an index of ours may have.  Numbers the bits DBL_F_ANNOUNCED. */
typedef enum DblKeyKind
{
	DBL_KEY_ID,
	DBL_KEY_SOURCE,
	DBL_KEY_TARGET,
	DBL_KEY_TYPE,
	DBL_KEY_SOURCE_TARGET,
	DBL_KEY_TARGET_SOURCE,
	DBL_KEY_TYPE_ID
} DblKeyKind;

#define DBL_NKEYKINDS	7

/* What one index is.  A copy is in rd_amcache, which any invalidation of the relation cache frees. */
typedef struct DblIndexShape
{
	DblKeyKind	kind;
	DblAccess	access;			/* structure that has its order; for (type, id) the type's */
	int			ncols;			/* 1 or 2 */
	int			col[2];			/* DBL_ID, ... */
	bool		desc;			/* every column DESC NULLS FIRST */
	bool		unique;
	bool		nulls_equal;	/* NULLS NOT DISTINCT */
} DblIndexShape;

/* --- handler.c ------------------------------------------------------------ */

/* The columns (attribute numbers) of which kind of key; false if none. */
extern bool dbl_key_kind(const AttrNumber *attnums, int n, DblKeyKind *kind);
/* Columns of a kind; returns how many. */
extern int	dbl_key_columns(DblKeyKind kind, int *cols);
extern DblAccess dbl_key_access(DblKeyKind kind);

/* Shape of an open index of ours.  Raises 0A000 for one that can't be served. */
extern DblIndexShape dbl_index_shape(Relation index);
extern DblKeyKind dbl_index_kind(Relation index);

/*
 * Could this index, as its catalog entry stands, be one of ours?  For SET ACCESS METHOD.  The index must be
 * open; its access method may be any.
 */
extern bool dbl_index_can_be_native(Relation index);

/*
 * Has the table no index but ours?  All that are not being dropped count,
 * whether valid, ready or not.  The answer may only
 * be used to free slots while the table is locked with RowExclusiveLock at least: CREATE INDEX, with or
 * without CONCURRENTLY, waits for such lockers before it reads the table.
 */
extern bool dbl_indexes_all_native(Relation rel);

/* Oid of the index access method in this database, or InvalidOid. */
extern Oid	dbl_index_am_oid(void);

/* Called from dbl_ddl_init() while preloading. */
extern void dbl_index_init(void);
extern int	dbl_index_tranche(void);

/* The table under an index is one of ours, or raise 0A000. */
extern void dbl_index_check_table(Relation index, Relation table);

/* --- keys.c --------------------------------------------------------------- */

/*
 * A set of values of one column: disjoint intervals in ascending order, and
 * maybe NULL.  Small sets need no memory of their own; larger ones allocate in
 * the context that is current and are never freed one by one.
 */
typedef struct DblIntervals
{
	bool		null;			/* NULL is in the set */
	int			n;
	DblRange   *r;				/* with_null is false in each */
	DblRange	few[2];			/* r points here when n <= 2 */
} DblIntervals;

extern void dbl_intervals_all(DblIntervals *iv);
extern void dbl_intervals_none(DblIntervals *iv);
extern void dbl_intervals_null(DblIntervals *iv, bool isnull);
extern void dbl_intervals_compare(DblIntervals *iv, StrategyNumber strategy, int64 value);
extern void dbl_intervals_any(DblIntervals *iv, StrategyNumber strategy, Datum array, Oid elemtype);
extern bool dbl_intervals_empty(const DblIntervals *iv);
extern bool dbl_intervals_has(const DblIntervals *iv, const DblVersion *v, int col);
extern bool dbl_intervals_points(const DblIntervals *iv);
extern bool dbl_intervals_is_all(const DblIntervals *iv);
extern DblRange dbl_intervals_envelope(const DblIntervals *iv);
extern int	dbl_intervals_nranges(const DblIntervals *iv);
extern DblRange dbl_intervals_range(const DblIntervals *iv, int i);

extern int64 dbl_key_value(Datum value, Oid type);
extern void dbl_keys_parse(const DblIndexShape *shape, ScanKey keys, int nkeys, DblIntervals *iv);

static inline bool
dbl_range_is_point(const DblRange *r)
{
	return r->with_null ? r->lo > r->hi : r->lo == r->hi;
}

/* --- predicate locks (keys.c) --------------------------------------------- */

extern void dbl_predicate_check(Relation index, int64 value, bool isnull);
extern void dbl_predicate_lock(Relation index, const DblIntervals *first, Snapshot snapshot);

/* --- scan.c --------------------------------------------------------------- */

#define DBL_BATCH_MAX	170
#define DBL_BATCH_INLINE 4

/* One step of a scan: a range in the directory, maybe narrowed by the other end. */
typedef struct DblScanItem
{
	DblRange	first;
	DblRange	second;
	bool		narrowed;		/* second is meaningful */
} DblScanItem;

/* A version found before it was its turn: scans over (type, id) that sort. */
typedef struct DblCandidate
{
	int64		type;
	int64		id;
	DblSlot		slot;
	bool		type_null;
	bool		id_null;
} DblCandidate;

typedef struct DblBatchEntry
{
	DblVersion	version;
	DblSlot		slot;
	uint32		item;			/* item or candidate that it came from */
} DblBatchEntry;

typedef struct DblIndexScan
{
	DblIndexShape shape;
	MemoryContext parent;		/* where the scan's memory lives */
	MemoryContext cxt;			/* for large key sets; made when needed, reset by rescan */
	Relation	rel;			/* the table, and its store */
	DblTable   *table;
	bool		unordered;		/* bitmap scan: any order will do */
	bool		sole;			/* parallel scan that this process does alone */

	/* the keys, digested at the first fetch */
	bool		prepared;
	DblIntervals iv[2];
	DblAccess	access;
	int			nitems;			/* or number of candidates */
	DblScanItem *items;
	DblScanItem few_items[2];
	int			filter_col;		/* versions must have this column in *filter; -1: none */
	const DblIntervals *filter;
	DblCandidate *candidates;	/* not NULL: walk these instead of items */
	int			first_want;		/* size of the first batch */

	/* the batch, in the order in which it was read */
	bool		active;			/* between the first fetch and the end */
	bool		backward;		/* order in which the batch was read */
	bool		detached;		/* position was restored: item and cursor don't belong to the batch */
	bool		serializable;	/* reads are noted for conflicts; as of the last batch */
	int			n;
	int			pos;
	int			want;
	int			capacity;
	uint64		generation;		/* of the batch */
	DblBatchEntry *batch;
	DblBatchEntry few_entries[DBL_BATCH_INLINE];

	/* dead versions that were passed, for dbl_prune_noted() */
	bool		note_dead;
	int			ndead;
	DblSlot		dead[DBL_NOTED_MAX];

	/* where the store is read next */
	int			item;			/* of candidates: the last one looked at */
	DblCursor	cursor;
	uint64		store_generation;	/* of the store when it was last read */

	/* mark */
	bool		marked;
	uint64		mark_generation;
	int			mark_pos;
	bool		mark_backward;
	DblBatchEntry mark_entry;

	/* for index-only scans */
	char		itup[MAXALIGN(sizeof(IndexTupleData) + sizeof(IndexAttributeBitMapData)) +
					 2 * sizeof(int64)] pg_attribute_aligned(8);
} DblIndexScan;

/* In shared memory, for a parallel scan. */
typedef struct DblParallelIndexScan
{
	LWLock		lock;			/* taken before the store lock */
	bool		started;
	bool		finished;
	int			item;
	DblCursor	cursor;
	uint64		store_generation;
} DblParallelIndexScan;

extern IndexScanDesc dbl_ambeginscan(Relation index, int nkeys, int norderbys);
extern void dbl_amrescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys);
extern bool dbl_amgettuple(IndexScanDesc scan, ScanDirection direction);
extern int64 dbl_amgetbitmap(IndexScanDesc scan, TIDBitmap *tbm);
extern void dbl_amendscan(IndexScanDesc scan);
extern void dbl_ammarkpos(IndexScanDesc scan);
extern void dbl_amrestrpos(IndexScanDesc scan);
extern Size dbl_amestimateparallelscan(void);
extern void dbl_aminitparallelscan(void *target);
extern void dbl_amparallelrescan(IndexScanDesc scan);

/* Memory for key sets that don't fit in the scan itself. */
extern MemoryContext dbl_scan_context(DblIndexScan *s);
/* Items of a scan: room for n; one for each range of a set. */
extern void dbl_scan_items(DblIndexScan *s, int n);
extern void dbl_scan_items_of(DblIndexScan *s, const DblIntervals *iv);

/* --- typeid.c -------------------------------------------------------------- */

extern void dbl_typeid_prepare(DblIndexScan *s, Relation table, DblTable *t);

/* --- unique.c --------------------------------------------------------------- */

extern bool dbl_aminsert(Relation index, Datum *values, bool *isnull, ItemPointer tid, Relation table,
						 IndexUniqueCheck check, bool unchanged, IndexInfo *info);

/* --- build.c ---------------------------------------------------------------- */

extern IndexBuildResult *dbl_ambuild(Relation table, Relation index, IndexInfo *info);
extern void dbl_ambuildempty(Relation index);
extern IndexBulkDeleteResult *dbl_ambulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
											   IndexBulkDeleteCallback callback, void *state);
extern IndexBulkDeleteResult *dbl_amvacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats);

/* --- cost.c ----------------------------------------------------------------- */

struct PlannerInfo;
struct IndexPath;
struct RelOptInfo;

/* Narrow a set by "column <op> expression"; false if the expression isn't known when planning. */
extern bool dbl_apply_operator(struct PlannerInfo *root, Oid opno, Node *other, bool array,
							   DblIntervals *iv);
/*
 * Versions that these conditions select (second: NULL, or those on the other end); -1 where the store
 * does not know it quickly, as for long ranges.  Lock held.
 */
extern double dbl_count_versions(DblStore *store, DblAccess access, const DblIntervals *first,
								 const DblIntervals *second);
extern void dbl_amcostestimate(struct PlannerInfo *root, struct IndexPath *path, double loop_count,
							   Cost *startup, Cost *total, Selectivity *selectivity,
							   double *correlation, double *pages);

/* --- rowcompare.c ------------------------------------------------------------ */

extern void dbl_add_row_comparison_paths(struct PlannerInfo *root, struct RelOptInfo *rel);

/* --- estimate.c ------------------------------------------------------------- */

/* Installs the planner hook. */
extern void dbl_estimate_init(void);

#endif							/* DBL_INDEX_H */
