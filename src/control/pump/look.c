/* SPDX-License-Identifier: MIT */
/*
 * look.c - live recordings in the pump process; see live.h. At the command's request the pump
 * writes everything, and reports the clock value up to which the trace is complete. When the
 * command does not read, the pump stops writing at the agreed number of bytes; the rest stays in
 * the rings, which count their losses.
 */
#include "base/clock.h"
#include "control/live.h"
#include "control/pump/pumproc_int.h"

#define MARGIN_NS 1000000u /* records that began longer ago are complete */

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
	wm_writer_totals(s->writer, &t);
	return t.bytes > s->freed && t.bytes - s->freed > s->o->live_bytes;
}

/* Returns a clock value in the past: all records that began before it are complete. */
static uint64_t a_moment_ago(struct serving *s)
{
	uint64_t now = wm_clock_read(s->clock.kind), ticks = 0;
	struct wm_calibration fit;

	if (!wm_calibrate_fit(&s->clock, &fit))
		ticks = fit.hz / (WM_NS_PER_SECOND / MARGIN_NS);
	return now > ticks ? now - ticks : 0;
}

static void pump_look_write_all(struct serving *s)
{
	uint64_t moment = a_moment_ago(s);

	(void)wm_pump_round(s->pump, true); /* errors are in the totals */
	(void)wm_serving_round_sources(s, WM_ROUND_ALL);
	wm_serving_settle(s, true);
	(void)wm_writer_flush(s->writer);
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
		pump_look_write_all(s);
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
