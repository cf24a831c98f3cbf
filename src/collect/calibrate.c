/* SPDX-License-Identifier: MIT */
/*
 * calibrate.c - fits the counter's frequency; see calibrate.h.
 *
 * The fit is a least-squares fit over all pairs kept, each weighted by its error bound. Values are
 * differences from the first pair, so the 53 bits of a double hold them to the tick for weeks.
 */
#include "collect/calibrate.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"

#define TRIES       8
#define SPAN_MIN_NS 1000000u

/*
 * Reads both clocks once. The error is half the time between two readings of `kind`, in ticks.
 */
static uint64_t pair_once(enum wm_clock_kind kind, uint64_t (*read_ns)(void),
			  struct wm_clock_pair *p)
{
	uint64_t before = wm_clock_read(kind), after;

	p->ns = read_ns();
	after = wm_clock_read(kind);
	p->clock = before + (after - before) / 2;
	return after - before;
}

/* Converts ticks to nanoseconds, with the accuracy that an error bound needs. */
static uint64_t doubt_ns(enum wm_clock_kind kind, uint64_t window)
{
	uint64_t ns, ticks;

	if (kind == WM_CLOCK_MONOTONIC)
		return window / 2 + 1;
	/* a short measurement suffices for the rate: only the size of the window is converted */
	ns = wm_clock_monotonic_raw_ns();
	ticks = wm_clock_read(kind);
	while (wm_clock_monotonic_raw_ns() - ns < 2000)
		;
	ticks = wm_clock_read(kind) - ticks;
	ns = wm_clock_monotonic_raw_ns() - ns;
	return ticks ? (uint64_t)((double)window / 2 * (double)ns / (double)ticks) + 1 : window;
}

void wm_calibrate_pair(enum wm_clock_kind kind, uint64_t (*read_ns)(void),
		       struct wm_clock_pair *ret)
{
	struct wm_clock_pair p = {0};
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t window = pair_once(kind, read_ns, &p);

		if (window >= best)
			continue;
		best = window;
		*ret = p;
	}
	ret->error_ns = doubt_ns(kind, best);
}

/* Drops every second pair, and halves the rate at which pairs will be kept. */
static void thin_out(struct wm_calibrate *c)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < c->nr; i += 2)
		c->pair[kept++] = c->pair[i];
	c->nr = kept;
	c->stride *= 2;
}

/*
 * The last place always holds the newest pair, even one that will not be kept: the longer the
 * baseline, the better the fit.
 */
void wm_calibrate_add(struct wm_calibrate *c, const struct wm_clock_pair *pair)
{
	const struct wm_clock_pair *last = c->nr ? &c->pair[c->nr - 1] : NULL;

	if (last && (pair->clock <= last->clock || pair->ns <= last->ns))
		return;
	if (c->nr > 1 && c->skip) {
		c->skip--;
		c->pair[c->nr - 1] = *pair;
		return;
	}
	if (c->nr == WM_CALIBRATE_PAIRS)
		thin_out(c);
	c->pair[c->nr++] = *pair;
	c->skip = c->stride - 1;
}

void wm_calibrate_tick(struct wm_calibrate *c)
{
	struct wm_clock_pair p;

	if (c->kind == WM_CLOCK_MONOTONIC)
		return; /* ticks of this clock are nanoseconds */
	wm_calibrate_pair(c->kind, wm_clock_monotonic_raw_ns, &p);
	wm_calibrate_add(c, &p);
}

void wm_calibrate_init(struct wm_calibrate *c, enum wm_clock_kind kind)
{
	memset(c, 0, sizeof(*c));
	c->kind = kind;
	c->stride = 1;
	wm_calibrate_tick(c);
}

struct line {
	double slope, offset; /* ns = slope * ticks + offset, both relative to the first pair */
};

static double calibrate_ticks_of(const struct wm_calibrate *c, uint32_t i)
{
	return (double)(c->pair[i].clock - c->pair[0].clock);
}

static double calibrate_ns_of(const struct wm_calibrate *c, uint32_t i)
{
	return (double)(c->pair[i].ns - c->pair[0].ns);
}

static struct line calibrate_fit(const struct wm_calibrate *c)
{
	double sum = 0, x = 0, y = 0, xx = 0, xy = 0;

	for (uint32_t i = 0; i < c->nr; i++) {
		double e = (double)c->pair[i].error_ns + 1, w = 1 / (e * e);

		sum += w;
		x += w * calibrate_ticks_of(c, i);
		y += w * calibrate_ns_of(c, i);
	}
	x /= sum;
	y /= sum;
	for (uint32_t i = 0; i < c->nr; i++) { /* relative to the mean, to avoid cancellation */
		double e = (double)c->pair[i].error_ns + 1, w = 1 / (e * e);

		xx += w * (calibrate_ticks_of(c, i) - x) * (calibrate_ticks_of(c, i) - x);
		xy += w * (calibrate_ticks_of(c, i) - x) * (calibrate_ns_of(c, i) - y);
	}
	return (struct line){xy / xx, y - xy / xx * x};
}

int wm_calibrate_fit(const struct wm_calibrate *c, struct wm_calibration *ret)
{
	struct wm_calibration r = {.hz = WM_NS_PER_SECOND, .hz_exact = 1e9};
	double worst = 0;
	struct line l;

	if (c->kind == WM_CLOCK_MONOTONIC) {
		r.same = true;
		*ret = r;
		return 0;
	}
	if (c->nr < 2 || c->pair[c->nr - 1].ns - c->pair[0].ns < SPAN_MIN_NS)
		return -EAGAIN;
	l = calibrate_fit(c);
	if (!(l.slope > 1e-9) || !(l.slope < 1e9))
		return -EAGAIN; /* these pairs cannot be from a clock */
	for (uint32_t i = 0; i < c->nr; i++) {
		double off =
		    calibrate_ns_of(c, i) - (l.slope * calibrate_ticks_of(c, i) + l.offset);

		off = (off < 0 ? -off : off) + (double)c->pair[i].error_ns;
		worst = off > worst ? off : worst;
	}
	r.hz_exact = 1e9 / l.slope;
	r.hz = (uint64_t)(r.hz_exact + 0.5);
	r.hz += !r.hz;
	r.error_ns = worst < 1e18 ? (uint64_t)worst + 1 : UINT64_MAX;
	r.span_ns = c->pair[c->nr - 1].ns - c->pair[0].ns;
	r.clock0 = c->pair[0].clock;
	r.ns0 = c->pair[0].ns;
	r.offset_ns = l.offset;
	*ret = r;
	return 0;
}

uint64_t wm_calibration_clock(const struct wm_calibration *c, uint64_t ns)
{
	double ticks;

	if (c->same)
		return ns;
	ticks = ((double)(int64_t)(ns - c->ns0) - c->offset_ns) * c->hz_exact / 1e9;
	return c->clock0 + (uint64_t)(int64_t)(ticks < 0 ? ticks - 0.5 : ticks + 0.5);
}
