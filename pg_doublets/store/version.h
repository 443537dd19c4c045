/*-------------------------------------------------------------------------
 *
 * version.h
 *	  A version of a link, as it lies in a slot of the store.
 *
 * A slot holds one version.  The layout is one cache line, so that whatever
 * looks at a version, a tree walk or a visibility check, pays one miss.
 *
 * The store itself reads key[], DBL_F_USED and the four DBL_F_NULL bits; every
 * other field and flag belongs to the layers above and is only carried.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBL_VERSION_H
#define DBL_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Number of a slot, from 0. */
typedef uint32_t DblSlot;

#define DBL_NO_SLOT		UINT32_MAX
#define DBL_MAX_SLOTS	(UINT32_MAX - 1)

/* Columns of a links relation, by position. */
#define DBL_ID			0
#define DBL_SOURCE		1
#define DBL_TARGET		2
#define DBL_TYPE		3
#define DBL_NCOLUMNS	4

/* What the store reads. */
#define DBL_F_USED				0x00000001	/* the slot holds a version */
#define DBL_F_NULL(col)			(0x00000002 << (col))	/* that column is NULL */
#define DBL_F_NULLS				0x0000001E

/*
 * What the link page keeps besides (see durable/page.h): state that must
 * outlive the process.
 */
#define DBL_F_XMIN_FROZEN		0x00000020	/* inserter is visible to all */
#define DBL_F_XMIN_DEAD			0x00000040	/* speculative insertion taken back */
#define DBL_F_XMAX_MULTI		0x00000080	/* xmax is a MultiXactId */
#define DBL_F_XMAX_LOCK_ONLY	0x00000100	/* xmax only locks */
#define DBL_F_XMAX_KEYSHR		0x00000200	/* xmax holds FOR KEY SHARE */
#define DBL_F_XMAX_EXCL			0x00000400	/* xmax holds an exclusive lock */
#define DBL_F_XMAX_SHR			(DBL_F_XMAX_KEYSHR | DBL_F_XMAX_EXCL)
#define DBL_F_XMAX_LOCKS		DBL_F_XMAX_SHR
#define DBL_F_KEYS_UPDATED		0x00000800	/* xmax deleted it, or changed a key */
#define DBL_F_UPDATED			0x00001000	/* this version was made by UPDATE */
#define DBL_F_SPECULATIVE		0x00002000	/* "next" is a speculative token */
#define DBL_F_MOVED				0x00004000	/* moved to another partition */

#define DBL_F_PERSISTENT		0x00007FFF	/* all of the above */

/* What lives in shared memory only: hints, and announcements to unique indexes. */
#define DBL_F_XMIN_COMMITTED	0x00010000
#define DBL_F_XMIN_ABORTED		0x00020000
#define DBL_F_XMAX_COMMITTED	0x00040000
#define DBL_F_XMAX_ABORTED		0x00080000	/* xmax is void: aborted, or gone */
#define DBL_F_XMAX_HINTS		(DBL_F_XMAX_COMMITTED | DBL_F_XMAX_ABORTED)
#define DBL_F_ANNOUNCED(kind)	(0x00100000 << (kind))	/* kind: DblKeyKind */
#define DBL_F_ANNOUNCED_ALL		0x07F00000
#define DBL_F_DOUBTFUL			0x08000000	/* a check of uniqueness is still due */
#define DBL_F_SETTLED			0x10000000	/* announced as its predecessor was */
#define DBL_F_DOUBT_PASSES		0x20000000	/* a check is due, of this version or
											 * of who has settled in its place */

typedef struct DblVersion
{
	int64_t		key[DBL_NCOLUMNS];	/* 0 where the column is NULL */
	uint32_t	xmin;			/* inserting transaction */
	uint32_t	xmax;			/* deleting or locking one, or MultiXactId; 0 none */
	uint32_t	cmin;			/* command ids, kept apart; not on pages */
	uint32_t	cmax;
	uint32_t	flags;			/* DBL_F_... */
	uint32_t	next;			/* slot of the next version, or DBL_NO_SLOT; the
								 * token of a speculative insertion */
	/* private to the store: links of the tree by id, or of the free list */
	uint32_t	left;
	uint32_t	right;
} DblVersion;

#define DblVersionIsNull(v, col)	(((v)->flags & DBL_F_NULL(col)) != 0)

#endif							/* DBL_VERSION_H */
