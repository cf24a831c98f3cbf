/* SPDX-License-Identifier: MIT */
/*
 * claim_int.h - finds parts of a file that no reader decoded. Readers claim the byte ranges that
 * they understood; nonzero bytes in the other ranges are reported as faults, because an undamaged
 * file has only padding there. Short gaps are ignored: a writer may leave remnants of its memory in
 * padding.
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

/* Claims a range of bytes. Ranges may overlap and come in any order. 0 or -ENOMEM. */
int wm_claims_add(struct wm_claims *c, uint64_t offset, uint64_t bytes);

/* The file to check. */
struct wm_claims_of {
	struct wm_trace *trace;
	const char *file;
	int fd;
	uint64_t bytes;
	uint64_t least; /* gaps of fewer bytes are ignored */
	/*
	 * Called for a gap of `left` bytes starting at `offset`: returns how many of them belong to
	 * a known part, 0 when none do. May be NULL.
	 */
	uint64_t (*known)(const void *data, uint64_t offset, uint64_t left);
	const void *data;
};

/* Reports the unclaimed bytes of the file as faults. 0 or -errno. */
int wm_claims_tell(struct wm_claims *c, const struct wm_claims_of *of);

void wm_claims_done(struct wm_claims *c);

#endif
