/* SPDX-License-Identifier: MIT */
/* input_set.c - see input_set.h. */
#include "cmd/input_set.h"

#include <stdlib.h>

#include "base/moment.h"
#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/trace_open.h"
#include "read/open.h"
#include "trace/clock_origin.h"

/* Reads packets once that several traces have, such as snapshots of one session. */
static int input_set_join(struct wm_input_set *in)
{
	struct wm_diag diag = {.offset = -1};
	int err = wm_read_join(in->traces, &in->nr, &diag);

	if (!err)
		return WM_EXIT_DONE;
	wm_say_diag("read the traces", in->nr ? in->traces[0]->path : "", err, &diag);
	return wm_exit_of(err);
}

int wm_input_set_open(struct wm_input_set *in, const char *const *paths, uint32_t nr)
{
	int status = WM_EXIT_DONE;

	*in = (struct wm_input_set){.traces = calloc(nr + 1, sizeof(struct wm_trace *))};
	if (!in->traces) {
		wm_say("out of memory");
		return WM_EXIT_FAILED;
	}
	for (uint32_t i = 0; i < nr && !status; i++) {
		status = wm_input_open(paths[i], &in->traces[i]);
		in->nr += !status;
	}
	return status || nr < 2 ? status : input_set_join(in);
}

void wm_input_set_close(struct wm_input_set *in)
{
	for (uint32_t i = 0; i < in->nr; i++)
		wm_trace_close(in->traces[i]);
	free(in->traces);
	*in = (struct wm_input_set){0};
}

int wm_input_set_check_clocks(const struct wm_input_set *in, const char *verb, bool correlate)
{
	struct wm_origin_pair p;

	if (correlate || !wm_origins_differ(in->traces, in->nr, &p))
		return WM_EXIT_DONE;
	wm_say("%s: clock '%s' of '%s' and clock '%s' of '%s' count from unrelated origins, so "
	       "their events have no common order; --clock-force-correlate merges them as if they "
	       "had one",
	       verb, p.clocks[0]->name, p.traces[0]->path, p.clocks[1]->name, p.traces[1]->path);
	return WM_EXIT_FAILED;
}

/* Returns the earliest time in all traces; its date is used for times of day without a date. */
static int64_t first_ns(const struct wm_input_set *in)
{
	int64_t first = INT64_MAX;

	for (uint32_t i = 0; i < in->nr; i++)
		if (in->traces[i]->begin_ns < first)
			first = in->traces[i]->begin_ns;
	return first == INT64_MAX ? 0 : first;
}

/*
 * Converts a raw clock time, as `print --format=perf` shows it, to one since 1970. Such clocks
 * count from boot, so their times are before the offset.
 */
static int64_t from_raw(const struct wm_input_set *in, int64_t ns)
{
	for (uint32_t i = 0; i < in->nr; i++)
		for (uint32_t k = 0; k < in->traces[i]->nr_clocks; k++) {
			const struct wm_trace_clock *c = in->traces[i]->clocks[k];

			if (c->is_shown_raw && ns >= 0 && ns < c->offset_ns)
				return ns > INT64_MAX - c->offset_ns ? ns : ns + c->offset_ns;
		}
	return ns;
}

static int bound(const struct wm_input_set *in, const char *verb, const char *option,
		 const char *text, int64_t *ret)
{
	if (!text)
		return WM_EXIT_DONE;
	if (!wm_moment_parse(text, first_ns(in), ret)) {
		*ret = from_raw(in, *ret);
		return WM_EXIT_DONE;
	}
	wm_say(
	    "%s: --%s: '%s' is not a time; use seconds, hh:mm[:ss[.ns]] or 'YYYY-MM-DD hh:mm[:ss]'",
	    verb, option, text);
	return WM_EXIT_USAGE;
}

int wm_input_set_window(const struct wm_input_set *in, const char *verb, const char *begin,
			const char *end, int64_t *ret_begin_ns, int64_t *ret_end_ns)
{
	int64_t from = INT64_MIN, to = INT64_MAX;
	int status = bound(in, verb, "begin", begin, &from);

	if (!status)
		status = bound(in, verb, "end", end, &to);
	if (status)
		return status;
	*ret_begin_ns = from;
	*ret_end_ns = end && to < INT64_MAX ? to + 1 : to; /* the end is inclusive */
	return WM_EXIT_DONE;
}

int wm_input_set_report_missing(const struct wm_input_set *in, int status, bool babeltrace)
{
	for (uint32_t i = 0; i < in->nr; i++) {
		/* Streams of several traces may have the same name. */
		if (in->nr > 1 && !babeltrace && wm_input_is_damaged(in->traces[i]))
			wm_say("in '%s':", in->traces[i]->path);
		status = wm_input_report_missing(in->traces[i], status, babeltrace);
	}
	return status;
}
