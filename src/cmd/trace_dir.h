/* SPDX-License-Identifier: MIT */
/*
 * trace_dir.h - what the verbs that read traces share: which trace is meant,
 * opening it, and saying at the end what is missing from it.
 */
#ifndef WM_CMD_TRACE_DIR_H
#define WM_CMD_TRACE_DIR_H

#include <limits.h>

#include "base/text.h"
#include "format/trace_reader.h"

/*
 * The trace the arguments name, else the newest waymark-* folder here. Exit
 * status; when it is not 0, that was said.
 */
int wm_trace_dir_find(int nr_args, char **args, char ret_dir[PATH_MAX]);

int wm_trace_dir_open(const char *dir, struct wm_trace_reader **ret);

/* Says losses and damage; INCOMPLETE when there are some, else `status`. */
int wm_trace_dir_finish(struct wm_trace_reader *r, int status);

/* "FILE: at offset N: REASON", made harmless. */
void wm_trace_dir_fault(struct wm_text *t, const struct wm_trace_fault *f);

/* "12 lost: 10 full, 2 torn", or "0 lost". */
void wm_trace_dir_lost(struct wm_text *t, const struct wm_trace_summary *s);
uint64_t wm_trace_dir_nr_lost(const struct wm_trace_summary *s);

/* Writes the text to standard output and empties it. 0, or -errno. */
int wm_trace_dir_flush(struct wm_text *t);

#define WM_TRACE_DIR_BUFFER (1u << 20)

#endif
