/*-------------------------------------------------------------------------
 *
 * slot.c
 *	  Tuple slots that hold a version of a link.
 *
 * All columns are bigint, so values are passed by value and are put into the
 * slot at once: there is nothing to deform, to pin or to materialize.  What
 * sets the slot apart from a virtual one are system columns: Hasura reads xmax
 * in RETURNING, referential integrity reads xmin.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/transam.h"
#include "utils/rel.h"

#include "table/table.h"

static void
slot_init(TupleTableSlot *slot)
{
	((DblTupleTableSlot *) slot)->version.flags = 0;
}

static void
slot_release(TupleTableSlot *slot)
{
}

static void
slot_clear(TupleTableSlot *slot)
{
	((DblTupleTableSlot *) slot)->version.flags = 0;
	slot->tts_nvalid = 0;
	slot->tts_flags |= TTS_FLAG_EMPTY;
	ItemPointerSetInvalid(&slot->tts_tid);
}

/* Whoever stores into the slot fills all columns, so none is ever missing. */
static void
slot_fill_attrs(TupleTableSlot *slot, int natts)
{
	elog(ERROR, "getsomeattrs is not required to be called on a doublets tuple table slot");
}

static Datum
slot_read_sysattr(TupleTableSlot *slot, int attnum, bool *isnull)
{
	DblVersion *v = &((DblTupleTableSlot *) slot)->version;

	Assert(!TTS_EMPTY(slot));

	/* values that were never in the table */
	if (!(v->flags & DBL_F_USED))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot retrieve a system column in this context")));

	*isnull = false;
	switch (attnum)
	{
		case MinTransactionIdAttributeNumber:
			return TransactionIdGetDatum(v->xmin);
		case MaxTransactionIdAttributeNumber:
			return TransactionIdGetDatum(v->xmax);
		case MinCommandIdAttributeNumber:
		case MaxCommandIdAttributeNumber:

			/*
			 * Heap has one field for both: the deleter's command where there is
			 * one, else the inserter's.
			 */
			if (v->xmax != InvalidTransactionId && !DblXmaxIsLockedOnly(v->flags))
				return CommandIdGetDatum(v->cmax);
			return CommandIdGetDatum(v->cmin);
	}
	elog(ERROR, "invalid attnum: %d", attnum);
	return 0;
}

static void
slot_materialize(TupleTableSlot *slot)
{
	Assert(!TTS_EMPTY(slot));
}

static void
slot_copyslot(TupleTableSlot *dst, TupleTableSlot *src)
{
	int			natts = src->tts_tupleDescriptor->natts;

	slot_clear(dst);
	slot_getallattrs(src);
	memcpy(dst->tts_values, src->tts_values, natts * sizeof(Datum));
	memcpy(dst->tts_isnull, src->tts_isnull, natts * sizeof(bool));
	if (src->tts_ops == &TTSOpsDoublets)
		((DblTupleTableSlot *) dst)->version = ((DblTupleTableSlot *) src)->version;
	dst->tts_tid = src->tts_tid;
	dst->tts_nvalid = natts;
	dst->tts_flags &= ~TTS_FLAG_EMPTY;
}

/* A heap tuple that carries the same system columns, for triggers and the like. */
static HeapTuple
slot_copy_heap_tuple(TupleTableSlot *slot)
{
	DblVersion *v = &((DblTupleTableSlot *) slot)->version;
	HeapTuple	tuple = heap_form_tuple(slot->tts_tupleDescriptor,
										slot->tts_values, slot->tts_isnull);

	Assert(!TTS_EMPTY(slot));

	tuple->t_self = slot->tts_tid;
	tuple->t_tableOid = slot->tts_tableOid;
	if (v->flags & DBL_F_USED)
	{
		HeapTupleHeaderSetXmin(tuple->t_data, v->xmin);
		HeapTupleHeaderSetXmax(tuple->t_data, v->xmax);
		HeapTupleHeaderSetCmin(tuple->t_data, v->cmin);
		tuple->t_data->t_ctid = slot->tts_tid;
		if (v->flags & DBL_F_XMIN_FROZEN)
			tuple->t_data->t_infomask |= HEAP_XMIN_FROZEN;
		if (v->flags & DBL_F_XMAX_MULTI)
			tuple->t_data->t_infomask |= HEAP_XMAX_IS_MULTI;
		if (v->xmax == InvalidTransactionId)
			tuple->t_data->t_infomask |= HEAP_XMAX_INVALID;
		else
		{
			tuple->t_data->t_infomask &= ~HEAP_XMAX_INVALID;
			if (DblXmaxIsLockedOnly(v->flags))
				tuple->t_data->t_infomask |= HEAP_XMAX_LOCK_ONLY;
		}
	}
	return tuple;
}

static MinimalTuple
slot_copy_minimal_tuple(TupleTableSlot *slot)
{
	Assert(!TTS_EMPTY(slot));

	return heap_form_minimal_tuple(slot->tts_tupleDescriptor,
								   slot->tts_values, slot->tts_isnull);
}

const TupleTableSlotOps TTSOpsDoublets = {
	.base_slot_size = sizeof(DblTupleTableSlot),
	.init = slot_init,
	.release = slot_release,
	.clear = slot_clear,
	.getsomeattrs = slot_fill_attrs,
	.getsysattr = slot_read_sysattr,
	.materialize = slot_materialize,
	.copyslot = slot_copyslot,
	.get_heap_tuple = NULL,
	.get_minimal_tuple = NULL,
	.copy_heap_tuple = slot_copy_heap_tuple,
	.copy_minimal_tuple = slot_copy_minimal_tuple,
};

/*
 * Put a copy of a version, found in slot `where` of rel's store, into a slot of this
 * kind.
 */
void
dbl_slot_store(TupleTableSlot *slot, Relation rel, const DblVersion *v, DblSlot where)
{
	int			natts = slot->tts_tupleDescriptor->natts;

	Assert(slot->tts_ops == &TTSOpsDoublets);
	Assert(natts <= DBL_NCOLUMNS);

	((DblTupleTableSlot *) slot)->version = *v;
	if (likely(natts == DBL_NCOLUMNS && (v->flags & DBL_F_NULLS) == 0))
	{
		for (int i = 0; i < DBL_NCOLUMNS; i++)
			slot->tts_values[i] = Int64GetDatum(v->key[i]);
		memset(slot->tts_isnull, false, DBL_NCOLUMNS * sizeof(bool));
	}
	else
	{
		for (int i = 0; i < natts; i++)
		{
			slot->tts_values[i] = Int64GetDatum(v->key[i]);
			slot->tts_isnull[i] = DblVersionIsNull(v, i);
		}
	}
	slot->tts_nvalid = natts;
	slot->tts_flags &= ~TTS_FLAG_EMPTY;
	slot->tts_tableOid = RelationGetRelid(rel);
	DblSlotToTid(where, &slot->tts_tid);
}
