/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  Index scans.
 *
 * A scan reads the store in batches: under one shared lock it looks at entries
 * in the order of the index, copies the versions that its snapshot sees, and
 * hands them out without the lock.  Between batches it stands on a key (DblCursor), so
 * the store may change at will.  An MVCC snapshot's verdict on a version does not
 * change, so what a batch holds stays right; scans with any other snapshot, and
 * serializable ones, read one entry at a time.  Dead versions that are passed are noted, and freed between
 * two holds of the lock (table/prune.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relscan.h"
#include "access/table.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "index/index.h"
#include "shared/inject.h"

/* Slots asked of the store at a time, and looked at under one hold of the lock. */
#define CHUNK_MIN		8
#define CHUNK_MAX		64
#define HOLD_MAX		4096

/* Most combinations of values and ranges that are scanned one by one. */
#define COMBINATIONS_MAX 4096

IndexScanDesc
dbl_ambeginscan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	DblIndexScan *s = palloc0(sizeof(DblIndexScan));

	Assert(norderbys == 0);

	s->shape = dbl_index_shape(index);
	s->parent = CurrentMemoryContext;
	s->batch = s->few_entries;
	s->capacity = DBL_BATCH_INLINE;
	scan->xs_itupdesc = RelationGetDescr(index);
	scan->opaque = s;
	return scan;
}

void
dbl_amrescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys)
{
	DblIndexScan *s = (DblIndexScan *) scan->opaque;

	if (keys && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	if (s->cxt)
		MemoryContextReset(s->cxt);
	s->prepared = false;
	s->active = false;
	s->marked = false;
	s->detached = false;
	s->sole = false;
	s->n = 0;
	s->pos = 0;
	s->candidates = NULL;
	s->generation++;
}

void
dbl_amendscan(IndexScanDesc scan)
{
	DblIndexScan *s = (DblIndexScan *) scan->opaque;

	if (s->cxt)
		MemoryContextDelete(s->cxt);
	if (s->batch != s->few_entries)
		pfree(s->batch);
	pfree(s);
}

MemoryContext
dbl_scan_context(DblIndexScan *s)
{
	if (s->cxt == NULL)
		s->cxt = AllocSetContextCreate(s->parent, "doublets index scan", ALLOCSET_SMALL_SIZES);
	return s->cxt;
}

/* Is each range of the set a single value? */
static bool
ranges_are_points(const DblIntervals *iv)
{
	int			n = dbl_intervals_nranges(iv);

	for (int i = 0; i < n; i++)
	{
		DblRange	r = dbl_intervals_range(iv, i);

		if (!dbl_range_is_point(&r))
			return false;
	}
	return true;
}

/* Room for n items. */
void
dbl_scan_items(DblIndexScan *s, int n)
{
	s->nitems = n;
	s->items = n <= lengthof(s->few_items) ? s->few_items :
		MemoryContextAllocHuge(dbl_scan_context(s), sizeof(DblScanItem) * n);
}

/* One item for each range of the set. */
void
dbl_scan_items_of(DblIndexScan *s, const DblIntervals *iv)
{
	dbl_scan_items(s, dbl_intervals_nranges(iv));
	for (int i = 0; i < s->nitems; i++)
	{
		s->items[i].first = dbl_intervals_range(iv, i);
		s->items[i].narrowed = false;
	}
}

/* Turn the conditions into items. */
static void
prepare_items(DblIndexScan *s)
{
	const DblIntervals *first = &s->iv[0];
	const DblIntervals *second = &s->iv[1];
	int			n1 = dbl_intervals_nranges(first);
	int			n2;

	s->access = s->shape.access;
	s->filter_col = -1;

	if (s->shape.ncols == 1 || dbl_intervals_is_all(second))
	{
		dbl_scan_items_of(s, first);
		return;
	}
	n2 = dbl_intervals_nranges(second);
	if (n2 == 0)
		s->nitems = 0;
	else if (n2 == 1 || (ranges_are_points(first) && (double) n1 * n2 <= COMBINATIONS_MAX))
	{
		dbl_scan_items(s, n1 * n2);
		for (int i = 0; i < s->nitems; i++)
		{
			s->items[i].first = dbl_intervals_range(first, i / n2);
			s->items[i].second = dbl_intervals_range(second, i % n2);
			s->items[i].narrowed = true;
		}
	}
	else
	{
		dbl_scan_items_of(s, first);
		for (int i = 0; i < s->nitems; i++)
		{
			s->items[i].second = dbl_intervals_envelope(second);
			s->items[i].narrowed = true;
		}
		s->filter_col = s->shape.col[1];
		s->filter = second;
	}
}

static void
prepare(IndexScanDesc scan, DblIndexScan *s)
{
	bool		arrays = false;

	pgstat_count_index_scan(scan->indexRelation);
	for (int i = 0; i < scan->numberOfKeys; i++)
		arrays |= (scan->keyData[i].sk_flags & SK_SEARCHARRAY) != 0;
	if (arrays)
	{
		MemoryContext old = MemoryContextSwitchTo(dbl_scan_context(s));

		dbl_keys_parse(&s->shape, scan->keyData, scan->numberOfKeys, s->iv);
		MemoryContextSwitchTo(old);
	}
	else
		dbl_keys_parse(&s->shape, scan->keyData, scan->numberOfKeys, s->iv);

	/* before the store is read, the sorting of (type, id) included */
	if (IsolationIsSerializable())
		dbl_predicate_lock(scan->indexRelation, &s->iv[0], scan->xs_snapshot);

	if (dbl_intervals_empty(&s->iv[0]) || dbl_intervals_empty(&s->iv[1]))
	{
		s->access = s->shape.access;
		s->filter_col = -1;
		s->nitems = 0;
	}
	else if (s->shape.kind == DBL_KEY_TYPE_ID)
		dbl_typeid_prepare(s, s->rel, s->table);
	else
		prepare_items(s);

	/* as btree counts: each value of an array is a search */
	for (int i = 1; arrays && !s->candidates && i < s->nitems; i++)
		pgstat_count_index_scan(scan->indexRelation);
	/* the lock of a parallel scan's position is held while it reads: nothing else then */
	s->note_dead = scan->parallel_scan == NULL && dbl_prune_wanted(scan->xs_snapshot);
	s->prepared = true;
	s->want = s->first_want;
}

/* Stand before the first entry, seen in the direction of the scan. */
static void
start(DblIndexScan *s, bool backward)
{
	memset(&s->cursor, 0, sizeof(s->cursor));
	if (s->candidates)
		s->item = backward ? s->nitems : -1;
	else
		s->item = backward ? s->nitems - 1 : 0;
	s->backward = backward;
	s->n = 0;
	s->pos = -1;
	s->detached = false;
	s->active = true;
}

/* Go on from an entry of the batch.  Store lock held. */
static void
stand_on(DblIndexScan *s, DblStore *store, const DblBatchEntry *e)
{
	s->item = e->item;
	if (!s->candidates)
		dbl_cursor_at(store, s->access, e->slot, &s->cursor);
}

/* Is there nothing left in this direction?  Needs no lock. */
static bool
exhausted(const DblIndexScan *s, bool backward)
{
	if (s->candidates)
		return backward ? s->item <= 0 : s->item >= s->nitems - 1;
	return s->nitems == 0 || (backward ? s->item < 0 : s->item >= s->nitems);
}

/*
 * Does the version at this entry belong to the result?  If so it goes into the batch.
 */
static bool
take(IndexScanDesc scan, DblIndexScan *s, DblSlot slot, DblVersion *v, int n)
{
	bool		visible;

	/* on heap it would have no entry yet, and who looks for conflicts (ON CONFLICT) need not wait for it */
	if (scan->xs_snapshot->snapshot_type == SNAPSHOT_DIRTY && s->shape.unique &&
		!(v->flags & DBL_F_ANNOUNCED(s->shape.kind)))
		return false;

	visible = dbl_visible_plainly(v, scan->xs_snapshot) || dbl_visible(v, scan->xs_snapshot);
	if (unlikely(s->serializable))
		dbl_predicate_read(s->rel, v, slot, visible, scan->xs_snapshot);
	if (!visible)
	{
		if (s->note_dead && s->ndead < DBL_NOTED_MAX && dbl_perhaps_dead(v) &&
			dbl_is_dead(v, GlobalVisTestFor(s->rel)))
			s->dead[s->ndead++] = slot;
		return false;
	}
	s->batch[n].version = *v;
	s->batch[n].slot = slot;
	s->batch[n].item = s->item;
	return true;
}

/* The next versions among sorted candidates. */
static int
collect_candidates(IndexScanDesc scan, DblIndexScan *s, bool backward, int want)
{
	DblStore   *store = &s->table->store;
	uint32		nslots = dbl_nslots(store);
	int			n = 0;

	for (int budget = HOLD_MAX; n < want && budget > 0 && s->ndead < DBL_NOTED_MAX && !exhausted(s, backward); budget--)
	{
		DblCandidate *c;
		DblVersion *v;

		s->item += backward ? -1 : 1;
		c = &s->candidates[s->item];
		if (c->slot >= nslots)
			continue;
		v = dbl_version(store, c->slot);

		/* used again, since, by another link? */
		if (!(v->flags & DBL_F_USED) || v->key[DBL_TYPE] != c->type || v->key[DBL_ID] != c->id ||
			DblVersionIsNull(v, DBL_TYPE) != c->type_null || DblVersionIsNull(v, DBL_ID) != c->id_null)
			continue;
		if (take(scan, s, c->slot, v, n))
			n++;
	}
	return n;
}

/* The next versions from the store's own structures. */
static int
collect_items(IndexScanDesc scan, DblIndexScan *s, bool backward, int want)
{
	DblStore   *store = &s->table->store;
	DblSlot		slots[CHUNK_MAX];
	int			budget = HOLD_MAX;
	int			n = 0;

	/* back from beyond the other end */
	if (backward && s->item >= s->nitems)
	{
		s->item = s->nitems - 1;
		memset(&s->cursor, 0, sizeof(s->cursor));
	}
	else if (!backward && s->item < 0)
	{
		s->item = 0;
		memset(&s->cursor, 0, sizeof(s->cursor));
	}

	while (n < want && budget > 0 && s->ndead < DBL_NOTED_MAX && !exhausted(s, backward))
	{
		DblScanItem *item = &s->items[s->item];
		uint32		chunk = Min(Max(want - n, CHUNK_MIN), CHUNK_MAX);
		uint32		got;
		uint32		i;

		got = dbl_scan(store, s->access, &item->first, item->narrowed ? &item->second : NULL,
					   backward, &s->cursor, slots, chunk);
		budget -= got + 1;
		for (i = 0; i < got; i++)
			__builtin_prefetch(dbl_version(store, slots[i]));
		for (i = 0; i < got && n < want && s->ndead < DBL_NOTED_MAX; i++)
		{
			DblVersion *v = dbl_version(store, slots[i]);

			if (s->filter_col >= 0 && !dbl_intervals_has(s->filter, v, s->filter_col))
				continue;
			if (take(scan, s, slots[i], v, n))
				n++;
		}
		if (i < got)
			dbl_cursor_at(store, s->access, slots[i - 1], &s->cursor);
		else if (got < chunk)
		{
			s->item += backward ? -1 : 1;
			memset(&s->cursor, 0, sizeof(s->cursor));
		}
	}
	return n;
}

/*
 * Read the next batch in one direction into s->batch; returns its size, 0 at the end (then the batch is
 * what it was).  `from`: stand on that entry of the old batch first.
 */
static int
collect(IndexScanDesc scan, DblIndexScan *s, bool backward, const DblBatchEntry *from, int want)
{
	int			n = 0;

	if (from == NULL && exhausted(s, backward))
		return 0;
	for (;;)
	{
		dbl_table_lock(s->rel, s->table, LW_SHARED);
		s->serializable = CheckForSerializableConflictOutNeeded(s->rel, scan->xs_snapshot);
		if (from != NULL)
			stand_on(s, &s->table->store, from);
		else if (s->access == DBL_BY_TYPE && s->cursor.started &&
				 s->store_generation != s->table->generation)
		{
			/* places in postings mean nothing in a store that was loaded anew */
			dbl_table_unlock(s->table);
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("links of table \"%s\" were loaded into memory again during a scan by type",
							RelationGetRelationName(s->rel)),
					 errhint("Retry the statement.")));
		}
		s->store_generation = s->table->generation;
		from = NULL;
		if (s->candidates)
			n = collect_candidates(scan, s, backward, want);
		else
			n = collect_items(scan, s, backward, want);
		dbl_table_unlock(s->table);
		if (unlikely(s->note_dead && s->ndead >= dbl_prune_dead))
		{
			s->note_dead = dbl_prune_noted(s->rel, s->table, s->dead, s->ndead);
			s->ndead = 0;
		}
		if (n > 0 || exhausted(s, backward))
			return n;
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Parallel scan: the participants share one position, and each takes a batch from there.
 * What (type, id) makes of its keys depends on what the store holds at that moment, so
 * there whoever comes first does the whole scan.
 */
static int
collect_parallel(IndexScanDesc scan, DblIndexScan *s, bool backward, int want)
{
	DblParallelIndexScan *p = OffsetToPointer(scan->parallel_scan, scan->parallel_scan->ps_offset);
	int			n = 0;

	if (s->sole)
		return collect(scan, s, backward, NULL, want);

	LWLockAcquire(&p->lock, LW_EXCLUSIVE);
	if (p->finished)
	{
		LWLockRelease(&p->lock);
		return 0;
	}
	if (s->shape.kind == DBL_KEY_TYPE_ID)
	{
		p->finished = true;
		s->sole = true;
		LWLockRelease(&p->lock);
		return collect(scan, s, backward, NULL, want);
	}
	if (p->started)
	{
		s->item = p->item;
		s->cursor = p->cursor;
		s->store_generation = p->store_generation;
	}
	n = collect(scan, s, backward, NULL, want);
	p->started = true;
	p->item = s->item;
	p->cursor = s->cursor;
	p->store_generation = s->store_generation;
	p->finished = n == 0 || exhausted(s, backward);
	LWLockRelease(&p->lock);
	return n;
}

/* Size of the next batch, and room for it. */
static int
batch_size(IndexScanDesc scan, DblIndexScan *s)
{
	int			want = s->want;

	if (!IsMVCCSnapshot(scan->xs_snapshot) || IsolationIsSerializable())
		return 1;
	s->want = want < 16 ? 16 : want < 64 ? 64 : DBL_BATCH_MAX;
	return want;
}

static void
make_room(DblIndexScan *s, int want)
{
	DblBatchEntry *room;

	if (want <= s->capacity)
		return;
	/* what is there may still be wanted: the batch survives a read that finds nothing */
	room = MemoryContextAlloc(s->parent, sizeof(DblBatchEntry) * want);
	memcpy(room, s->batch, sizeof(DblBatchEntry) * s->n);
	if (s->batch != s->few_entries)
		pfree(s->batch);
	s->batch = room;
	s->capacity = want;
}

/* Move to the next entry; false at the end. */
static bool
advance(IndexScanDesc scan, DblIndexScan *s, bool backward)
{
	const DblBatchEntry *from = NULL;
	bool		same = backward == s->backward;
	int			want;
	int			n;

	if (same && s->pos + 1 < s->n)
	{
		s->pos++;
		return true;
	}
	if (!same && s->pos > 0)
	{
		s->pos--;
		return true;
	}

	want = batch_size(scan, s);
	make_room(s, want);
	if (s->n > 0)
	{
		if (!same)
			from = &s->batch[0];
		else if (s->detached)
			from = &s->batch[s->n - 1];
	}
	DBL_INJECT("index-scan");
	if (scan->parallel_scan)
		n = collect_parallel(scan, s, backward, want);
	else
		n = collect(scan, s, backward, from, want);

	if (n == 0)
	{
		/* stand beyond that end of the batch */
		s->pos = same ? s->n : -1;
		s->detached = !same;
		return false;
	}
	s->n = n;
	s->pos = 0;
	s->backward = backward;
	s->detached = false;
	s->generation++;
	return true;
}

/* The index tuple that an index-only scan wants. */
static void
form_itup(IndexScanDesc scan, DblIndexScan *s, const DblVersion *v)
{
	IndexTuple	itup = (IndexTuple) s->itup;
	IndexAttributeBitMapData *present = (IndexAttributeBitMapData *) (s->itup + sizeof(IndexTupleData));
	bool		nulls = false;
	Size		size;

	for (int i = 0; i < s->shape.ncols; i++)
		nulls |= DblVersionIsNull(v, s->shape.col[i]);
	size = IndexInfoFindDataOffset(nulls ? INDEX_NULL_MASK : 0);
	if (nulls)
		memset(present, 0, sizeof(*present));
	for (int i = 0; i < s->shape.ncols; i++)
	{
		if (DblVersionIsNull(v, s->shape.col[i]))
			continue;
		if (nulls)
			present->bits[0] |= 1 << i;
		memcpy(s->itup + size, &v->key[s->shape.col[i]], sizeof(int64));
		size += sizeof(int64);
	}
	itup->t_tid = scan->xs_heaptid;
	itup->t_info = size | (nulls ? INDEX_NULL_MASK : 0);
	scan->xs_itup = itup;
}

bool
dbl_amgettuple(IndexScanDesc scan, ScanDirection direction)
{
	DblIndexScan *s = (DblIndexScan *) scan->opaque;
	DblIndexFetch *fetch = (DblIndexFetch *) scan->xs_heapfetch;
	bool		backward = ScanDirectionIsBackward(direction) != s->shape.desc;
	DblBatchEntry *e;

	if (!s->prepared)
	{
		dbl_index_check_table(scan->indexRelation, scan->heapRelation);
		s->rel = scan->heapRelation;
		s->table = fetch->table;
		s->unordered = false;
		s->first_want = 1;
		prepare(scan, s);
	}
	if (!s->active)
		start(s, backward);

	if (!advance(scan, s, backward))
	{
		fetch->has_version = false;
		return false;
	}
	e = &s->batch[s->pos];
	DblSlotToTid(e->slot, &scan->xs_heaptid);
	scan->xs_recheck = false;
	fetch->has_version = true;
	fetch->where = e->slot;
	fetch->version = e->version;
	if (scan->xs_want_itup)
		form_itup(scan, s, &e->version);
	return true;
}

int64
dbl_amgetbitmap(IndexScanDesc scan, TIDBitmap *tbm)
{
	DblIndexScan *s = (DblIndexScan *) scan->opaque;
	ItemPointerData tids[DBL_BATCH_MAX];
	int64		total = 0;
	int			n;

	/* such a scan is not told its table */
	s->rel = table_open(scan->indexRelation->rd_index->indrelid, NoLock);
	dbl_index_check_table(scan->indexRelation, s->rel);
	s->table = dbl_table_open(s->rel);
	s->unordered = true;
	s->first_want = DBL_BATCH_MAX;
	prepare(scan, s);
	start(s, false);
	make_room(s, DBL_BATCH_MAX);
	while ((n = collect(scan, s, false, NULL, DBL_BATCH_MAX)) > 0)
	{
		DBL_INJECT("bitmap-scan");
		for (int i = 0; i < n; i++)
			DblSlotToTid(s->batch[i].slot, &tids[i]);
		tbm_add_tuples(tbm, tids, n, false);
		total += n;
		CHECK_FOR_INTERRUPTS();
	}
	s->active = false;
	s->prepared = false;
	table_close(s->rel, NoLock);
	return total;
}

void
dbl_ammarkpos(IndexScanDesc scan)
{
	DblIndexScan *s = (DblIndexScan *) scan->opaque;

	s->marked = s->active && s->pos >= 0 && s->pos < s->n;
	if (!s->marked)
		return;
	s->mark_generation = s->generation;
	s->mark_pos = s->pos;
	s->mark_backward = s->backward;
	s->mark_entry = s->batch[s->pos];
}

void
dbl_amrestrpos(IndexScanDesc scan)
{
	DblIndexScan *s = (DblIndexScan *) scan->opaque;

	if (!s->marked)
	{
		s->active = false;
		return;
	}
	if (s->generation == s->mark_generation)
	{
		s->pos = s->mark_pos;
		return;
	}
	s->batch[0] = s->mark_entry;
	s->n = 1;
	s->pos = 0;
	s->backward = s->mark_backward;
	s->detached = true;
	s->active = true;

	/* a mark that is restored again and again is still this batch */
	s->mark_generation = ++s->generation;
	s->mark_pos = 0;
}

Size
dbl_amestimateparallelscan(void)
{
	return sizeof(DblParallelIndexScan);
}

void
dbl_aminitparallelscan(void *target)
{
	DblParallelIndexScan *p = (DblParallelIndexScan *) target;

	memset(p, 0, sizeof(*p));
	LWLockInitialize(&p->lock, dbl_index_tranche());
}

void
dbl_amparallelrescan(IndexScanDesc scan)
{
	DblParallelIndexScan *p = OffsetToPointer(scan->parallel_scan, scan->parallel_scan->ps_offset);

	LWLockAcquire(&p->lock, LW_EXCLUSIVE);
	p->started = false;
	p->finished = false;
	LWLockRelease(&p->lock);
}
