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

/* Most pairs that are kept; when it is reached, every second one is dropped. */
#define WM_CALIBRATE_PAIRS 64u

/* The readings of two clocks at one moment. The true pair is within error_ns of this one. */
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
	uint64_t error_ns; /* largest deviation of a pair from the fit, plus the pair's own error */
	uint64_t span_ns;  /* time from the first pair to the last */

	/* The fit is a line: when this clock reads clock0, the other one reads ns0 + offset_ns. */
	uint64_t clock0, ns0;
	double offset_ns;
	bool same; /* both clocks are one and the same */
};

/* Initialises with one pair. */
void wm_calibrate_init(struct wm_calibrate *c, enum wm_clock_kind kind);

/* Reads the clocks and adds the pair; call it about once a second. */
void wm_calibrate_tick(struct wm_calibrate *c);

/* Adds a pair that the caller has read; both values must increase. */
void wm_calibrate_add(struct wm_calibrate *c, const struct wm_clock_pair *pair);

/*
 * Computes the fit. Returns -EAGAIN when the pairs cover less than a millisecond. MONOTONIC needs
 * no pairs: its fit is 10^9 Hz without error.
 */
int wm_calibrate_fit(const struct wm_calibrate *c, struct wm_calibration *ret);

/*
 * The clock's value when CLOCK_MONOTONIC_RAW read `ns`, computed from a fit; accurate to error_ns
 * between the pairs. For a trace on MONOTONIC, `ns` is a MONOTONIC time.
 */
uint64_t wm_calibration_clock(const struct wm_calibration *c, uint64_t ns);

/*
 * Reads the clock and another host clock together, and returns the closest pair of a few attempts.
 */
void wm_calibrate_pair(enum wm_clock_kind kind, uint64_t (*read_ns)(void),
		       struct wm_clock_pair *ret);

#endif
