/* SPDX-License-Identifier: MIT */
/*
 * calibrate.h - fits the frequency of a trace's clock against CLOCK_MONOTONIC_RAW,
 * from pairs of readings spread over the recording, and bounds the error of the
 * fit. Never runs in a traced program.
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
	uint64_t span_ns;  /* from the first pair to the last */

	/* The line: at clock0 the other clock reads ns0 + offset_ns. */
	uint64_t clock0, ns0;
	double offset_ns;
	bool same; /* both are one clock */
};

/* Starts with one pair. */
void wm_calibrate_init(struct wm_calibrate *c, enum wm_clock_kind kind);

/* Takes one more pair; call it about once a second. */
void wm_calibrate_tick(struct wm_calibrate *c);

/* Adds a pair taken elsewhere; both values must rise. */
void wm_calibrate_add(struct wm_calibrate *c, const struct wm_clock_pair *pair);

/*
 * Fits. -EAGAIN when the pairs cover less than a millisecond. MONOTONIC needs
 * no pairs: its fit is 10^9 Hz without error.
 */
int wm_calibrate_fit(const struct wm_calibrate *c, struct wm_calibration *ret);

/*
 * The clock's value when CLOCK_MONOTONIC_RAW read `ns`, by a fit; exact to error_ns
 * between the pairs. For a trace on MONOTONIC, `ns` is of MONOTONIC.
 */
uint64_t wm_calibration_clock(const struct wm_calibration *c, uint64_t ns);

/* Reads the clock and another host clock together; keeps the closest of a few tries. */
void wm_calibrate_pair(enum wm_clock_kind kind, uint64_t (*read_ns)(void),
		       struct wm_clock_pair *ret);

#endif
