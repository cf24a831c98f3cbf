/* SPDX-License-Identifier: MIT */
/* progress.c - see progress.h. */
#include "cmd/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/say.h"

#define QUIET_NS  WM_NS_PER_SECOND /* no progress is shown before this time */
#define REDRAW_NS 100000000u
#define BAR_CELLS 30u

void wm_progress_begin(struct wm_progress *p, const char *what, uint64_t total)
{
	*p = (struct wm_progress){.what = what,
				  .total = total,
				  .begin_ns = wm_clock_monotonic_ns(),
				  .on = total && isatty(STDERR_FILENO) == 1};
}

static void progress_draw(struct wm_progress *p, uint64_t done, uint64_t spent_ns)
{
	double part = done < p->total ? (double)done / (double)p->total : 1;
	double left_s = part > 0 ? (double)spent_ns / 1e9 * (1 - part) / part : 0;
	unsigned cells = (unsigned)(part * BAR_CELLS);
	bool color = wm_say_color(stderr);
	char bar[BAR_CELLS + 1];

	for (unsigned i = 0; i < BAR_CELLS; i++)
		bar[i] = i < cells ? '#' : '.';
	bar[BAR_CELLS] = '\0';
	(void)fprintf(stderr, "\r%s %s[%s]%s %3u%%", p->what, color ? "\033[36m" : "", bar,
		      color ? "\033[0m" : "", (unsigned)(part * 100));
	if (part >= 0.01)
		(void)fprintf(stderr, ", %.0f s left   ", left_s);
	(void)fflush(stderr);
	p->shown = true;
}

void wm_progress_tick(struct wm_progress *p, uint64_t done)
{
	uint64_t now;

	if (!p->on)
		return;
	now = wm_clock_monotonic_ns();
	if (now - p->begin_ns < QUIET_NS || now - p->drawn_ns < REDRAW_NS)
		return;
	p->drawn_ns = now;
	progress_draw(p, done, now - p->begin_ns);
}

void wm_progress_end(struct wm_progress *p)
{
	if (p->shown)
		(void)fprintf(stderr, "\r%*s\r", (int)wm_say_columns(stderr) - 1, "");
	p->shown = p->on = false;
}
