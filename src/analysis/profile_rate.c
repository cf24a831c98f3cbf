/* SPDX-License-Identifier: MIT */
/*
 * profile_rate.c - what a live profile shows per second; see profile_int.h. A sample stands for as
 * many events as its period says; the period of a clock's sample is processor time.
 */
#include <inttypes.h>
#include <math.h>

#include "analysis/profile_int.h"

#define NS_PER_S 1e9

static const struct wm_result_column columns[] = {
    [WM_RATE_EVENTS] = {"events_per_s", "Events/s", WM_CELL_NUMBER},
    [WM_RATE_SAMPLES] = {"samples_per_s", "Samples/s", WM_CELL_NUMBER},
    [WM_RATE_CPU_TIME] = {"cpu_time", "CPU time", WM_CELL_SHARE},
};

enum wm_rate wm_rate_of(const struct wm_profile *p, const char *event)
{
	const struct wm_samples *s = &p->samples;

	if (s->weights || s->count)
		return s->any_period ? WM_RATE_SAMPLES : WM_RATE_EVENTS;
	if (p->per_event)
		return wm_samples_is_clock(event) ? WM_RATE_CPU_TIME : WM_RATE_EVENTS;
	/* One table for all: nanoseconds and numbers of events have no sum. */
	return s->any_clock ? WM_RATE_SAMPLES : WM_RATE_EVENTS;
}

struct wm_result_column wm_rate_column(enum wm_rate rate)
{
	return columns[rate];
}

/* Returns a scaled number per second, rounded to two decimals; more would be noise. */
static double per_second(const struct wm_profile *p, uint64_t scaled)
{
	double number = (double)scaled / p->unit;

	return p->v->seconds > 0 ? round(number / p->v->seconds * 100) / 100 : 0;
}

double wm_rate_value(const struct wm_profile *p, enum wm_rate rate, uint64_t weight, uint64_t count)
{
	if (rate == WM_RATE_CPU_TIME)
		return p->v->seconds > 0 ? (double)weight / p->unit / p->v->seconds / NS_PER_S : 0;
	/* Without periods and with other weights, each record is one event. */
	if (rate == WM_RATE_SAMPLES || p->samples.weights || p->samples.count)
		return per_second(p, count);
	return per_second(p, weight);
}

const char *wm_rate_title(const struct wm_profile *p, enum wm_rate rate,
			  const struct wm_profile_total *t, struct wm_result *r)
{
	double value = wm_rate_value(p, rate, t->weight, t->count);
	double samples = per_second(p, t->count);

	if (rate == WM_RATE_SAMPLES)
		return wm_result_format(r, "%.0f samples/s", value);
	if (rate == WM_RATE_CPU_TIME)
		return wm_result_format(r, "%.2f CPUs, %.0f samples/s", value, samples);
	if (round(value) == round(samples))
		return wm_result_format(r, "%.0f events/s", value);
	return wm_result_format(r, "%.0f events/s, %.0f samples/s", value, samples);
}

bool wm_profile_samples(const struct wm_profile *p)
{
	return p->samples.any_period;
}
