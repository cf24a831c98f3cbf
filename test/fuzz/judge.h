/* SPDX-License-Identifier: MIT */
/*
 * judge.h - reads a whole trace as waymark does: every field of every event is decoded and hashed,
 * from items and from bytes; then all events are merged in time order and written as text.
 * Returns the result, and whether every message about damage has file, place and reason.
 */
#ifndef WM_FUZZ_JUDGE_H
#define WM_FUZZ_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

enum fuzz_flaw {
	FUZZ_SOUND,
	FUZZ_BAD_REFUSAL, /* a refusal lacks file, place or reason */
	FUZZ_BAD_FAULT,   /* a report of skipped damage lacks file, place or reason */
	/* Reading in order, or hashing bytes, gave other events than reading packets. */
	FUZZ_DISAGREES,
	FUZZ_NO_MEMORY, /* more memory was requested than is permitted */
	FUZZ_NR_FLAWS
};

struct fuzz_verdict {
	int err; /* errno of opening or reading, when the trace was refused */
	uint64_t events, hash;
	/* Number of reported faults; a hash of messages and positions. */
	uint64_t nr_faults, faults;
	uint64_t nr_lost; /* number of events that the tracer reports as lost */
	enum fuzz_flaw flaw;
	char reason[256]; /* text of the refusal or of the first fault */
};

/* `style` is the enum wm_view_format in which the trace is written. */
void fuzz_judge(const char *path, unsigned style, struct fuzz_verdict *ret);

extern const char *const fuzz_flaw_names[FUZZ_NR_FLAWS];

#endif
