/* SPDX-License-Identifier: MIT */
/*
 * count.c - see top.h: a pass and a profile (analysis/) that are fed batch by batch. Each result
 * reduces the weight of older events, so that the figures describe the most recent moments; a row's
 * rate is its weight divided by the time, reduced in the same way.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/plural.h"
#include "cmd/top/top.h"
#include "kernel/synthesize.h"

#define NS_PER_S   1e9
#define NR_FIGURES 5u

struct wm_top_count {
	const struct wm_top_values *v;
	struct wm_profile_values
	    values; /* options, with the current keys and the reduced time in seconds */
	struct wm_live *live;
	struct wm_trace *traces[1];
	struct wm_pass_input input;
	struct wm_pass pass; /* pass.in is NULL until the first batch */
	struct wm_profile *profile;
	/* why there is no profile, e.g. because no event has the requested fields */
	struct wm_diag why;
	struct wm_result result;
	bool has_result;
	uint64_t begun_ns, taken_ns; /* taken_ns: time of the last batch */
	uint64_t shown_ns;           /* taken_ns at the last result */
	uint64_t shown_records;      /* pass.nr_events at the last result */
	double records_per_s;
	struct wm_recording_totals totals;
};

struct wm_top_count *wm_top_count_create(const struct wm_top_values *v, struct wm_live *live)
{
	struct wm_top_count *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->v = v;
	c->live = live;
	c->values = v->profile;
	c->values.live = true;
	c->values.lazy = true;
	c->begun_ns = c->taken_ns = c->shown_ns = wm_clock_monotonic_ns();
	return c;
}

static void forget_profile(struct wm_top_count *c)
{
	if (c->has_result)
		wm_result_done(&c->result);
	c->has_result = false;
	wm_profile_destroy(c->profile);
	c->profile = NULL;
	c->values.seconds = 0;
}

void wm_top_count_destroy(struct wm_top_count *c)
{
	if (!c)
		return;
	forget_profile(c);
	if (c->pass.in)
		wm_pass_done(&c->pass);
	free(c);
}

/* --- batches -------------------------------------------------------------------------------- */

/*
 * Sets the trace's kernel symbols, which are the running kernel's. They are read once and passed on
 * to the next trace.
 */
static void give_symbols(struct wm_trace *t, struct wm_trace *before)
{
	if (before) {
		t->kallsyms = before->kallsyms;
		t->kallsyms_bytes = before->kallsyms_bytes;
		before->kallsyms = NULL;
		before->kallsyms_bytes = 0;
	} else if (wm_kernel_symbols_read(&t->kallsyms, &t->kallsyms_bytes)) {
		/* kernel addresses have no names; a message says so */
		t->kallsyms = NULL;
	}
}

/*
 * Creates the profile. May be called again, because a program that joins later may have the
 * requested fields. Returns 0 or -ENOMEM.
 */
static int make_profile(struct wm_top_count *c)
{
	int err;

	if (c->profile)
		return 0;
	c->why = (struct wm_diag){.offset = -1};
	err = wm_profile_create(&c->pass, WM_PROFILE_EVENTS, &c->values, &c->profile, &c->why);
	return err == -ENOMEM ? err : 0;
}

/* Binds to the first trace, or to one with more event types. */
static int top_count_bind(struct wm_top_count *c)
{
	struct wm_trace *before = c->traces[0];
	int err;

	c->traces[0] = wm_live_trace(c->live);
	give_symbols(c->traces[0], before);
	c->input = (struct wm_pass_input){
	    .traces = c->traces, .nr_traces = 1, .begin_ns = INT64_MIN, .end_ns = INT64_MAX};
	err = before ? wm_pass_rebind(&c->pass) : wm_pass_init(&c->pass, &c->input);
	if (!err && c->profile)
		err = wm_profile_rebind(c->profile, &c->why);
	return err ? err : make_profile(c);
}

static int top_count_feed(struct wm_top_count *c)
{
	const struct wm_pass_run run = {&wm_analysis_profile, c->profile};
	const struct wm_event *e;
	int err = 0, got;

	while (!err && (got = wm_live_next(c->live, &e)) != 0)
		err = got < 0 ? got : wm_pass_feed(&c->pass, &run, c->profile != NULL, 0, e);
	return err;
}

int wm_top_count_take(struct wm_top_count *c, const struct wm_report *report, struct wm_diag *diag)
{
	int got = wm_live_take(c->live, report, diag);

	if (got == -ENOENT)
		return 0; /* a report without a batch */
	if (got < 0)
		return got;
	c->totals = report->totals;
	c->taken_ns = wm_clock_monotonic_ns();
	if (got == 1)
		got = top_count_bind(c);
	if (got >= 0)
		wm_live_want(c->live, wm_pass_want(&c->pass));
	return got < 0 ? got : top_count_feed(c);
}

/* --- results --------------------------------------------------------------------------------- */

void wm_top_count_figures(const struct wm_top_count *c, struct wm_top_figures *ret)
{
	struct wm_growing_totals t;

	wm_live_totals(c->live, &t);
	*ret = (struct wm_top_figures){
	    .elapsed_s = (double)(wm_clock_monotonic_ns() - c->begun_ns) / NS_PER_S,
	    .records_per_s = c->records_per_s,
	    .records = c->pass.nr_events,
	    .samples = c->profile && wm_profile_samples(c->profile),
	    .lost = wm_recording_lost(&c->totals),
	    .late = t.late,
	    .skipped = t.skipped,
	};
}

/* The figures as columns, when all records are events, and when some are samples. */
static const struct wm_result_column figures[2][NR_FIGURES] = {
    {{"seconds", "Seconds", WM_CELL_NUMBER},
     {"records_per_s", "Events/s", WM_CELL_NUMBER},
     {"records", "Events", WM_CELL_COUNT},
     {"lost", "Lost", WM_CELL_COUNT},
     {"late", "Late", WM_CELL_COUNT}},
    {{"seconds", "Seconds", WM_CELL_NUMBER},
     {"records_per_s", "Samples/s", WM_CELL_NUMBER},
     {"records", "Samples", WM_CELL_COUNT},
     {"lost", "Lost", WM_CELL_COUNT},
     {"late", "Late", WM_CELL_COUNT}},
};

static int add_figures(const struct wm_top_count *c, struct wm_result *r)
{
	struct wm_result_table *t;
	struct wm_top_figures f;
	union wm_cell *cells;

	wm_top_count_figures(c, &f);
	t = wm_result_table(r, "now", NULL, figures[f.samples], NR_FIGURES);
	if (!t || !wm_result_row(r, t, NULL, &cells))
		return -ENOMEM;
	cells[0].f = round(f.elapsed_s * 10) / 10;
	cells[1].f = round(f.records_per_s * 10) / 10;
	cells[2].u = f.records;
	cells[3].u = f.lost;
	cells[4].u = f.late;
	return 0;
}

static void top_count_add_losses(const struct wm_top_count *c, struct wm_result *r)
{
	uint64_t throttled = c->totals.sources[WM_SOURCE_SAMPLES].more[WM_SAMPLE_MORE_THROTTLED];

	for (int i = 0; i < WM_LOST_NR; i++)
		if (c->totals.lost[i])
			wm_result_note(r, WM_NOTE_LOSS, "lost", "%" PRIu64 " %s lost: %s",
				       c->totals.lost[i],
				       wm_plural(c->totals.lost[i], "event", "events"),
				       wm_lost_name((enum wm_lost)i));
	if (throttled)
		wm_result_note(r, WM_NOTE_LOSS, "throttled",
			       "the kernel throttled sampling %" PRIu64
			       " %s: use a lower -F or a higher -c",
			       throttled, wm_plural(throttled, "time", "times"));
	if (!c->profile && c->why.sentence[0])
		wm_result_note(r, WM_NOTE_PROBLEM, "keys", "%s", c->why.sentence);
}

/* Reduces the weight of all events counted so far, halving it every half-life. */
static int decay(struct wm_top_count *c, double seconds)
{
	double keep = exp2(-seconds / c->v->half_life_s);

	if (c->v->no_decay || !c->profile)
		return 0;
	c->values.seconds *= keep;
	return wm_profile_decay(c->profile, keep);
}

struct wm_result *wm_top_count_result(struct wm_top_count *c)
{
	double seconds = (double)(c->taken_ns - c->shown_ns) / NS_PER_S;
	int err;

	/*
	 * Weights are reduced only when the next result is created, because the last result's calls
	 * may be requested until then.
	 */
	err = c->has_result ? decay(c, seconds) : 0;
	if (c->has_result)
		wm_result_done(&c->result);
	wm_result_init(&c->result, "top");
	c->has_result = true;
	c->values.seconds += seconds;
	if (seconds > 0)
		c->records_per_s = (double)(c->pass.nr_events - c->shown_records) / seconds;
	c->shown_ns = c->taken_ns;
	c->shown_records = c->pass.nr_events;
	top_count_add_losses(c, &c->result);
	if (!err)
		err = add_figures(c, &c->result);
	if (!err && c->profile)
		err = wm_profile_result(c->profile, &c->result);
	return err || c->result.failed ? NULL : &c->result;
}

int wm_top_count_expand(struct wm_top_count *c, struct wm_result_row *row)
{
	if (!row->more || !c->profile)
		return 0;
	return wm_profile_expand(c->profile, &c->result, row);
}

void wm_top_count_zero(struct wm_top_count *c, const char *keys)
{
	forget_profile(c);
	if (keys)
		c->values.keys = keys;
	c->shown_ns = c->taken_ns;
	c->shown_records = c->pass.nr_events;
	if (c->pass.in)
		(void)make_profile(c); /* on failure, retried with the next batch */
}
