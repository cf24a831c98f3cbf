/* SPDX-License-Identifier: MIT */
/*
 * trace_open.h - what the verbs share that read traces of any tracer: opening
 * them, and saying at the end what is missing.
 */
#ifndef WM_CMD_TRACE_OPEN_H
#define WM_CMD_TRACE_OPEN_H

#include "format/reader.h"

/* An exit status; when it is not 0, that was said. */
int wm_trace_open_said(const char *path, struct wm_trace **ret);

/* Is it a folder with a trace that waymark recorded? */
bool wm_trace_is_own(const char *path);

/*
 * Says damage and losses; WM_EXIT_INCOMPLETE when there are some, else `status`.
 * With `babeltrace`, losses are said as babeltrace2 says them.
 */
int wm_trace_finish(struct wm_trace *t, int status, bool babeltrace);

/* "FILE: at offset N: REASON", made harmless. */
struct wm_text;
void wm_trace_fault_text(struct wm_text *t, const struct wm_fault *f);

#endif
