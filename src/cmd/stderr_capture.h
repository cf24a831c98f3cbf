/* SPDX-License-Identifier: MIT */
/*
 * stderr_capture.h - while a view has the terminal, what is said on standard error would
 * be written over its picture: it is kept, and shown by the view.
 */
#ifndef WM_CMD_STDERR_CAPTURE_H
#define WM_CMD_STDERR_CAPTURE_H

#include "base/diag.h"

struct wm_hush {
	int kept, before; /* descriptors */
};

/* Standard error is kept from now on. 0 or -errno: then nothing changed. */
int wm_hush_begin(struct wm_hush *h);

/* It goes where it went before; the last line said, without "waymark: ", to the diag. */
void wm_hush_end(struct wm_hush *h, struct wm_diag *diag);

#endif
