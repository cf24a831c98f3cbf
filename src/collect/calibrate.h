/* SPDX-License-Identifier: MIT */
/*
 * calibrate.h - how fast a trace's clock ticks, fitted against
 * CLOCK_MONOTONIC_RAW from pairs of readings spread over the recording, and
 * how far off the fit is. Never runs in a traced program.
 */
#ifndef WM_COLLECT_CALIBRATE_H
#define WM_COLLECT_CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

#define WM_CALIBRATE_PAIRS 64u /* kept; older ones are thinned out */

/* Two clocks at one moment. The true pair is within error_ns. */
struct wm_clock_pair {
	uint64_t clock, ns, error_ns;
};

struct wm_calibrate {
	enum wm_clock_kind kind;
	uint32_t nr, stride, skip; /* every stride-th pair is kept */
	struct wm_clock_pair pair[WM_CALIBRATE_PAIRS];
};

struct wm_calibration {
	uint64_t hz; /* the best fit, rounded; never 0 */
	double hz_exact;
	uint64_t error_ns; /* no pair is further from the fit, its own error included */
	uint64_t span_ns;  /* what the pairs cover */

	/* The line itself: at clock0 the other clock says ns0 + offset_ns. */
	uint64_t clock0, ns0;
	double offset_ns;
	bool same; /* both are one clock */
};

/* Starts with one pair. */
void wm_calibrate_init(struct wm_calibrate *c, enum wm_clock_kind kind);

/* Takes one more pair; every second or so is right. */
void wm_calibrate_tick(struct wm_calibrate *c);

/* Adds a pair taken elsewhere; both values must rise. */
void wm_calibrate_add(struct wm_calibrate *c, const struct wm_clock_pair *pair);

/*
 * Fits. -EAGAIN when the pairs cover less than a millisecond; MONOTONIC needs
 * no pairs: 10^9, no error.
 */
int wm_calibrate_fit(const struct wm_calibrate *c, struct wm_calibration *ret);

/*
 * What the clock said when CLOCK_MONOTONIC_RAW said `ns`, by a fit. Within
 * error_ns between the pairs; of MONOTONIC, when MONOTONIC said so.
 */
uint64_t wm_calibration_clock(const struct wm_calibration *c, uint64_t ns);

/* The clock beside another host clock, whose reader is given; the closest of a few tries. */
void wm_calibrate_pair(enum wm_clock_kind kind, uint64_t (*read_ns)(void),
		       struct wm_clock_pair *ret);

#endif
