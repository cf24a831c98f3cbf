/* SPDX-License-Identifier: MIT */
/*
 * clock_fit.c - see clock_fit.h. A pair is read several times and the
 * tightest one taken: what lies between two readings of the counter is the
 * bound of the error.
 */
#include "control/clock_fit.h"

#include <time.h>

#define TRIES  16
#define MIN_NS 5000000u

/* `other` read between two readings of the clock; returns the clock at that moment. */
static uint64_t pair(enum wm_clock_kind kind, uint64_t (*other)(void), uint64_t *ret_other,
		     uint64_t *ret_width)
{
	uint64_t best_clock = 0;

	*ret_width = UINT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		uint64_t before = wm_clock_read(kind);
		uint64_t value = other();
		uint64_t width = wm_clock_read(kind) - before;

		if (width >= *ret_width)
			continue;
		*ret_width = width;
		*ret_other = value;
		best_clock = before + width / 2;
	}
	return best_clock;
}

void wm_clock_fit_start(struct wm_clock_fit *f, enum wm_clock_kind kind)
{
	uint64_t width;

	f->kind = kind;
	f->ticks = pair(kind, wm_clock_monotonic_raw_ns, &f->raw_ns, &width);
}

uint64_t wm_clock_fit_hz(const struct wm_clock_fit *f)
{
	uint64_t ticks, raw_ns, width;

	if (f->kind != WM_CLOCK_CYCLES)
		return 1000000000u;
	for (;;) {
		uint64_t passed;

		ticks = pair(f->kind, wm_clock_monotonic_raw_ns, &raw_ns, &width);
		passed = raw_ns - f->raw_ns;
		if (passed >= MIN_NS)
			break;
		nanosleep(&(struct timespec){.tv_nsec = (long)(MIN_NS - passed)}, NULL);
	}
	return (uint64_t)((unsigned __int128)(ticks - f->ticks) * 1000000000u /
			  (raw_ns - f->raw_ns));
}

void wm_clock_fit_moment(enum wm_clock_kind kind, struct wm_clock_moment *ret)
{
	struct wm_clock_fit f;
	uint64_t width;

	ret->clock = pair(kind, wm_clock_realtime_ns, &ret->realtime_ns, &width);
	wm_clock_fit_start(&f, kind);
	ret->error_ns = (uint64_t)((unsigned __int128)width * 1000000000u / wm_clock_fit_hz(&f));
}
