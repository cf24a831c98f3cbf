/* SPDX-License-Identifier: MIT */
/*
 * look.c - in the pump process, a recording that is read while it
 * runs; see live.h. When the command asks, all there is gets written, and it is
 * told up to when that was. When it does not read, no more is written than
 * agreed: the rest waits in the rings, which count what they lose.
 */
#include "control/live.h"
#include "control/pump/pump_int.h"

#define MARGIN_NS 1000000u /* records that were begun so long ago are finished */

void wm_serving_look(struct serving *s, const struct wm_order_look *o, size_t bytes)
{
	if (bytes < sizeof(*o) || !s->o->live_bytes)
		return;
	s->look = true;
	s->freed = o->freed;
}

bool wm_serving_is_full(const struct serving *s)
{
	struct wm_trace_totals t;

	if (!s->o->live_bytes)
		return false;
	wm_trace_writer_totals(s->writer, &t);
	return t.bytes > s->freed && t.bytes - s->freed > s->o->live_bytes;
}

/* The clock so long ago that whoever began a record then has ended it. */
static uint64_t a_moment_ago(struct serving *s)
{
	uint64_t now = wm_clock_read(s->clock.kind), ticks = 0;
	struct wm_calibration fit;

	if (!wm_calibrate_fit(&s->clock, &fit))
		ticks = fit.hz / (1000000000u / MARGIN_NS);
	return now > ticks ? now - ticks : 0;
}

static void write_all(struct serving *s)
{
	uint64_t moment = a_moment_ago(s);

	(void)wm_pump_round(s->pump, true); /* errors are in the totals */
	(void)wm_serving_round_sources(s, WM_ROUND_ALL);
	wm_serving_settle(s, true);
	(void)wm_trace_writer_flush(s->writer);
	if (moment > s->written)
		s->written = moment;
}

void wm_serving_answer_look(struct serving *s)
{
	struct wm_report r = {.kind = WM_REPORT_LOOKED};

	if (!s->look)
		return;
	s->look = false;
	if (!wm_serving_is_full(s))
		write_all(s);
	wm_serving_totals(s);
	r.clock = s->written;
	r.totals = s->totals;
	wm_serving_report(s, &r, true);
}

void wm_serving_end_live(struct serving *s)
{
	if (s->o->live_bytes && s->command_gone)
		wm_live_remove_folder(s->o->dir);
}
