/* SPDX-License-Identifier: MIT */
/*
 * trace_open.h - functions for verbs that read traces from any tracer: opening traces, and
 * reporting missing data at the end.
 */
#ifndef WM_CMD_TRACE_OPEN_H
#define WM_CMD_TRACE_OPEN_H

#include "trace/reader.h"

/*
 * Opens a trace; "-" and pipes are first read to the end. On failure, prints a message and returns
 * an exit status.
 */
int wm_input_open(const char *path, struct wm_trace **ret);

/* Returns whether data is missing, according to the part read so far. */
bool wm_input_is_damaged(const struct wm_trace *t);

/* For waymark's own traces: writes "12 lost: 10 full, 2 torn", or "0 lost". */
struct wm_text;
void wm_input_lost_text(struct wm_text *text, const struct wm_trace *t);

/* Says how many packets were left out because another file of the trace has them, too. */
void wm_input_say_repeated(const struct wm_trace *t);

/*
 * Reports repeated packets, warnings, damage and losses. Returns WM_EXIT_INCOMPLETE if there is
 * damage or loss, else `status`. With `babeltrace`, losses are reported in babeltrace2's
 * wording.
 */
int wm_input_report_missing(struct wm_trace *t, int status, bool babeltrace);

/* Writes "FILE: at offset N: REASON", with control bytes escaped. */
void wm_input_fault_text(struct wm_text *t, const struct wm_fault *f);

#endif
