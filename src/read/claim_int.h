/* SPDX-License-Identifier: MIT */
/*
 * claim_int.h - the bytes of a file that its parts account for. The remaining bytes that are not
 * zero are reported: an undamaged file has only padding beside its parts, so a part was lost there.
 * Small paddings may hold leftovers of the writer's memory, too.
 */
#ifndef WM_READ_CLAIM_INT_H
#define WM_READ_CLAIM_INT_H

#include <stdint.h>

struct wm_trace;

struct wm_claim {
	uint64_t begin, end;
};

struct wm_claims {
	struct wm_claim *list;
	uint32_t nr, room;
};

/* Adds bytes that are accounted for; in any order, they may overlap. 0 or -ENOMEM. */
int wm_claims_add(struct wm_claims *c, uint64_t offset, uint64_t bytes);

/* The file that is checked. */
struct wm_claims_of {
	struct wm_trace *trace;
	const char *file;
	int fd;
	uint64_t bytes;
	uint64_t least; /* smaller gaps cannot hold a part */
	/* Of `left` unclaimed bytes, the number from `offset` on that belong to a part; 0: none. */
	uint64_t (*known)(const void *data, uint64_t offset, uint64_t left); /* may be NULL */
	const void *data;
};

/* Reports the unclaimed bytes of the file as faults. 0 or -errno. */
int wm_claims_tell(struct wm_claims *c, const struct wm_claims_of *of);

void wm_claims_done(struct wm_claims *c);

#endif
