/* SPDX-License-Identifier: MIT */
/*
 * progress.h - progress display for long-running work: one line on a terminal, redrawn ten times
 * per second after the first second, and erased at the end. Prints nothing when standard error is
 * not a terminal.
 */
#ifndef WM_CMD_PROGRESS_H
#define WM_CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct wm_progress {
	const char *what;  /* shown at the start of the line, such as "convert" */
	uint64_t total;    /* total amount of work, in any unit */
	uint64_t begin_ns; /* begin_ns: start; drawn_ns: last redraw */
	uint64_t drawn_ns;
	bool on, shown;
};

void wm_progress_begin(struct wm_progress *p, const char *what, uint64_t total);
void wm_progress_tick(struct wm_progress *p, uint64_t done);
void wm_progress_end(struct wm_progress *p);

#endif
