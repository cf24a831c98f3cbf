/* SPDX-License-Identifier: MIT */
/*
 * claim_int.h - which bytes of a file something accounts for. What is left over and is not zero is
 * told: paddings are all that a sound file has beside its parts, so a part was lost there. Writers
 * leave what they had in memory in small paddings, too.
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

/* Bytes that are accounted for; in any order, they may overlap. 0 or -ENOMEM. */
int wm_claims_add(struct wm_claims *c, uint64_t offset, uint64_t bytes);

/* What is asked about. */
struct wm_claims_of {
	struct wm_trace *trace;
	const char *file;
	int fd;
	uint64_t bytes;
	uint64_t least; /* less than so many bytes can hold nothing */
	/* Of `left` bytes nobody claimed: how many, from `offset` on, are of a part; 0: none. */
	uint64_t (*known)(const void *data, uint64_t offset, uint64_t left); /* NULL: none */
	const void *data;
};

/* Tells as faults what nobody claimed of the file. 0 or -errno. */
int wm_claims_tell(struct wm_claims *c, const struct wm_claims_of *of);

void wm_claims_done(struct wm_claims *c);

#endif
