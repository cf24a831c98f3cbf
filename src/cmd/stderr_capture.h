/* SPDX-License-Identifier: MIT */
/*
 * stderr_capture.h - captures standard error while a view owns the terminal, so that messages do
 * not overwrite the screen; the view shows the last one.
 */
#ifndef WM_CMD_STDERR_CAPTURE_H
#define WM_CMD_STDERR_CAPTURE_H

#include "base/diag.h"

struct wm_hush {
	int kept, before; /* descriptors: the capture, the original standard error */
};

/* Starts capturing standard error. Returns 0 or -errno; on error, nothing has changed. */
int wm_hush_begin(struct wm_hush *h);

/* Restores standard error; copies the last line, without "waymark: ", to diag. */
void wm_hush_end(struct wm_hush *h, struct wm_diag *diag);

#endif
