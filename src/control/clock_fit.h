/* SPDX-License-Identifier: MIT */
/*
 * clock_fit.h - how fast a trace's clock ticks and what time of day it showed:
 * measured beside CLOCK_MONOTONIC_RAW, never in the traced program. The
 * longer a recording runs, the better its frequency is known.
 */
#ifndef WM_CONTROL_CLOCK_FIT_H
#define WM_CONTROL_CLOCK_FIT_H

#include <stdint.h>

#include "base/clock.h"

struct wm_clock_fit {
	enum wm_clock_kind kind;
	uint64_t ticks, raw_ns; /* the first pair */
};

/* A moment on two clocks; error_ns: the true pair is within that distance. */
struct wm_clock_moment {
	uint64_t clock, realtime_ns, error_ns;
};

void wm_clock_fit_start(struct wm_clock_fit *f, enum wm_clock_kind kind);

/* Ticks per second since the start; sleeps until 5 ms have passed. 10^9 for MONOTONIC. */
uint64_t wm_clock_fit_hz(const struct wm_clock_fit *f);

void wm_clock_fit_moment(enum wm_clock_kind kind, struct wm_clock_moment *ret);

#endif
