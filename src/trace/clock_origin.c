/* SPDX-License-Identifier: MIT */
/* clock_origin.c - compares the origins of clocks; see clock_origin.h. */
#include "trace/clock_origin.h"

#include <string.h>

static const char unix_epoch[] = WM_ORIGIN_EPOCH;

static const char *origin_of(const struct wm_trace_clock *c)
{
	return c->origin ? c->origin : c->is_epoch ? unix_epoch : NULL;
}

static const char *host_of(const struct wm_trace *t)
{
	const char *host = wm_trace_word(t, "hostname");

	host = host ? host : wm_trace_word(t, "host");
	return host ? host : "";
}

/*
 * Clocks without an origin belong to the kernel's recorders and usually count from boot. They are
 * unrelated when they are known to come from different machines.
 */
static bool is_related(const struct wm_trace *ta, const struct wm_trace_clock *a,
		       const struct wm_trace *tb, const struct wm_trace_clock *b)
{
	const char *x = origin_of(a), *y = origin_of(b);

	if (a == b)
		return true;
	if (x && y)
		return !strcmp(x, y);
	return !x && !y &&
	       (!host_of(ta)[0] || !host_of(tb)[0] || !strcmp(host_of(ta), host_of(tb)));
}

bool wm_origins_differ(struct wm_trace *const *traces, uint32_t nr_traces,
		       struct wm_origin_pair *ret)
{
	struct wm_origin_pair p = {.clocks = {NULL, NULL}};

	for (uint32_t t = 0; t < nr_traces; t++)
		for (uint32_t s = 0; s < traces[t]->nr_streams; s++) {
			const struct wm_trace_clock *c = traces[t]->streams[s]->clock;
			bool is_first = c && !p.clocks[0];

			if (is_first) {
				p.clocks[0] = c;
				p.traces[0] = traces[t];
			}
			if (!c || is_first || is_related(p.traces[0], p.clocks[0], traces[t], c))
				continue;
			p.clocks[1] = c;
			p.traces[1] = traces[t];
			*ret = p;
			return true;
		}
	return false;
}
