/* SPDX-License-Identifier: MIT */
/*
 * judge.h - reads a trace as waymark does, all of it: every field of every event
 * is decoded and hashed, from items and from bytes, then all is merged in order of time and written
 * as text. Says what came out and whether every word about damage names file, place and reason.
 */
#ifndef WM_FUZZ_JUDGE_H
#define WM_FUZZ_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

enum fuzz_flaw {
	FUZZ_SOUND,
	FUZZ_BAD_REFUSAL, /* without file, place or reason */
	FUZZ_BAD_FAULT,   /* the same of damage that was read over */
	FUZZ_DISAGREES,   /* reading in order, or hashing bytes, gave other events than packets */
	FUZZ_NO_MEMORY,   /* more was asked for than there may be */
	FUZZ_NR_FLAWS
};

struct fuzz_verdict {
	int err; /* of opening or reading: it was refused */
	uint64_t events, hash;
	uint64_t nr_faults, faults; /* that were told; a hash of what was told, and where */
	uint64_t nr_lost;           /* by the tracer, as it says itself */
	enum fuzz_flaw flaw;
	char reason[256]; /* of the refusal or the first fault */
};

/* `style`: enum wm_view_format, in which it is written. */
void fuzz_judge(const char *path, unsigned style, struct fuzz_verdict *ret);

extern const char *const fuzz_flaw_names[FUZZ_NR_FLAWS];

#endif
