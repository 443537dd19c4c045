/*-------------------------------------------------------------------------
 *
 * harness.h
 *	  What the unit tests share: memory that can fail, random numbers, and a
 *	  naive model of a store to compare with.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/store.h"

/* --- memory ------------------------------------------------------------- */

#define MAX_PIECES	65536

typedef struct Memory
{
	void	   *piece[MAX_PIECES];
	size_t		size[MAX_PIECES];
	uint32_t	npieces;
	uint32_t	unused[MAX_PIECES];
	uint32_t	nunused;
	size_t		bytes;			/* outstanding */
	uint32_t	nallocs;
	uint32_t	nscratch;		/* outstanding */
	int64_t		fail_after;		/* calls that still succeed; negative: all */
	bool		failed;
} Memory;

extern Memory *memory_new(DblMem *mem);
extern void memory_delete(Memory *m);	/* all must have been freed */

/* --- random -------------------------------------------------------------- */

extern uint64_t test_seed;		/* TEST_SEED in the environment, or of the time */
extern void random_start(void);
extern uint64_t random_bits(void);
extern uint32_t random_below(uint32_t n);

/* --- model ----------------------------------------------------------------- */

typedef struct Model
{
	DblStoreShared shared;
	DblStore	store;
	Memory	   *memory;
	DblMem		mem;
	uint32_t	room;
	uint32_t	nslots;
	uint32_t	nused;
	DblVersion *v;				/* what each slot should hold */
	uint64_t   *serial;			/* of the insertion */
	uint64_t	next_serial;
	uint32_t	spread;			/* how far values lie apart: 0 small .. 3 anything */
	bool		has_type;
} Model;

extern Model *model_new(bool has_type, uint32_t room);
extern void model_delete(Model *m);
extern DblVersion model_random_version(Model *m);
extern DblRange model_random_range(Model *m);
extern DblSlot model_insert(Model *m, const DblVersion *v);
extern void model_remove(Model *m, DblSlot slot);
extern DblSlot model_random_used(Model *m);

extern int	model_column(DblAccess access);
extern int	model_second(DblAccess access);
extern bool model_matches(Model *m, DblSlot slot, DblAccess access, const DblRange *first,
						  const DblRange *second);
extern int	model_compare(Model *m, DblAccess access, DblSlot a, DblSlot b);

/* Slots in the order of a scan; for DBL_BY_TYPE, in the order in which they came. */
extern uint32_t model_scan(Model *m, DblAccess access, const DblRange *first,
						   const DblRange *second, bool backward, DblSlot *out);

extern DblVersion version_of(int64_t id, int64_t source, int64_t target, int64_t type);
extern DblRange range_of(int64_t lo, int64_t hi, bool with_null);
extern bool print_fault(void *arg, DblSlot slot, const char *fault);

#define check_store(s)	assert_int_equal(dbl_store_check((s), print_fault, NULL), 0)

#endif							/* HARNESS_H */
