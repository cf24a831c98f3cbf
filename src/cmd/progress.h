/* SPDX-License-Identifier: MIT */
/*
 * progress.h - how far a long piece of work is: one line on a terminal, drawn
 * again ten times a second once a second has passed, and wiped in the end.
 * Where standard error is no terminal, nothing at all.
 */
#ifndef WM_CMD_PROGRESS_H
#define WM_CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct wm_progress {
	const char *what;  /* "convert": at the line's begin */
	uint64_t total;    /* of whatever is counted */
	uint64_t begin_ns; /* when it began, and when it was drawn last */
	uint64_t drawn_ns;
	bool on, shown;
};

void wm_progress_begin(struct wm_progress *p, const char *what, uint64_t total);
void wm_progress_tick(struct wm_progress *p, uint64_t done);
void wm_progress_end(struct wm_progress *p);

#endif
