/* SPDX-License-Identifier: MIT */
/*
 * look.c - live recordings in the pump process; see live.h. At the command's request the pump
 * writes everything, and reports the clock value up to which the trace is complete. If the command
 * does not read, the pump stops writing at the agreed number of bytes; the rest stays in the rings,
 * which count their losses.
 */
#include "base/clock.h"
#include "control/live.h"
#include "control/pump/pumproc_int.h"

#define MARGIN_NS 1000000u /* records begun longer ago than this are complete */

void wm_pumproc_look(struct wm_pumproc *p, const struct wm_order_look *o, size_t bytes)
{
	if (bytes < sizeof(*o) || !p->o->live_bytes)
		return;
	p->look = true;
	p->freed = o->freed;
}

bool wm_pumproc_is_full(const struct wm_pumproc *p)
{
	struct wm_trace_totals t;

	if (!p->o->live_bytes)
		return false;
	wm_writer_totals(p->writer, &t);
	return t.bytes > p->freed && t.bytes - p->freed > p->o->live_bytes;
}

/* Returns a clock value in the past: all records that began before it are complete. */
static uint64_t a_moment_ago(struct wm_pumproc *p)
{
	uint64_t now = wm_clock_read(p->clock.kind), ticks = 0;
	struct wm_calibration fit;

	if (!wm_calibrate_fit(&p->clock, &fit))
		ticks = fit.hz / (WM_NS_PER_SECOND / MARGIN_NS);
	return now > ticks ? now - ticks : 0;
}

static void pump_look_write_all(struct wm_pumproc *p)
{
	uint64_t moment = a_moment_ago(p);

	(void)wm_pump_round(p->pump, true); /* errors are in the totals */
	(void)wm_pumproc_round_sources(p, WM_ROUND_ALL);
	wm_pumproc_settle(p, true);
	(void)wm_writer_flush(p->writer);
	if (moment > p->written)
		p->written = moment;
}

void wm_pumproc_answer_look(struct wm_pumproc *p)
{
	struct wm_report r = {.kind = WM_REPORT_LOOKED};

	if (!p->look)
		return;
	p->look = false;
	if (!wm_pumproc_is_full(p))
		pump_look_write_all(p);
	wm_pumproc_totals(p);
	r.clock = p->written;
	r.totals = p->totals;
	wm_pumproc_report(p, &r, true);
}

void wm_pumproc_end_live(struct wm_pumproc *p)
{
	if (p->o->live_bytes && p->command_gone)
		wm_live_remove_folder(p->o->dir);
}
