/* SPDX-License-Identifier: MIT */
/*
 * trace_open.h - what the verbs share that read traces of any tracer: opening
 * them, and saying at the end what is missing.
 */
#ifndef WM_CMD_TRACE_OPEN_H
#define WM_CMD_TRACE_OPEN_H

#include "trace/reader.h"

/* An exit status; when it is not 0, that was said. */
int wm_trace_open_said(const char *path, struct wm_trace **ret);

/* Is anything missing from it, as far as is known so far? */
bool wm_trace_is_damaged(const struct wm_trace *t);

/* Of our own traces, all causes together; and "12 lost: 10 full, 2 torn", or "0 lost". */
uint64_t wm_trace_nr_lost(const struct wm_trace *t);
struct wm_text;
void wm_trace_lost_text(struct wm_text *text, const struct wm_trace *t);

/*
 * Says damage and losses; WM_EXIT_INCOMPLETE when there are some, else `status`.
 * With `babeltrace`, losses are said as babeltrace2 says them.
 */
int wm_trace_finish(struct wm_trace *t, int status, bool babeltrace);

/* "FILE: at offset N: REASON", made harmless. */
void wm_trace_fault_text(struct wm_text *t, const struct wm_fault *f);

#endif
