/* SPDX-License-Identifier: MIT */
/*
 * repeats.h - sentences that hold for many processes: of each kind, only the first is passed on,
 * with the number of the others. Two sentences are of one kind if they have the same format and the
 * same error. `words` is borrowed.
 */
#ifndef WM_CONTROL_RECORDER_REPEATS_H
#define WM_CONTROL_RECORDER_REPEATS_H

#include <stddef.h>
#include <stdint.h>

#include "base/words.h"

#define WM_REPEATS_KINDS 8

struct wm_repeats {
	const struct wm_words *words;
	struct wm_repeat {
		const char *fmt;
		int err;
		uint32_t nr; /* number of processes, with the first */
		char first[2 * WM_DIAG_SENTENCE];
	} kinds[WM_REPEATS_KINDS];
	size_t nr;
};

/* `fmt` is a string constant. `err` is 0 or -errno. A kind too many is passed on at once. */
void wm_repeats_add(struct wm_repeats *r, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Moves the oldest kind into `diag`. Returns its error; 0 if there is none. For callers that report
 * one failure themselves.
 */
int wm_repeats_take(struct wm_repeats *r, const char *where, struct wm_diag *diag);

/* Passes on all kinds. */
void wm_repeats_flush(struct wm_repeats *r);

#endif
