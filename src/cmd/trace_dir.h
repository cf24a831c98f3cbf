/* SPDX-License-Identifier: MIT */
/* trace_dir.h - functions for verbs that read traces: finding the trace, and writing results. */
#ifndef WM_CMD_TRACE_DIR_H
#define WM_CMD_TRACE_DIR_H

#include <limits.h>

#include "base/text.h"

/*
 * Finds the trace given as an argument, or the newest waymark-* folder in the current folder. On
 * failure, prints a message and returns an exit status.
 */
int wm_input_find_dir(int nr_args, char **args, char ret_dir[PATH_MAX]);

/* Writes the text to standard output and empties it. Returns 0 or -errno. */
int wm_verb_flush(struct wm_text *t);

#endif
