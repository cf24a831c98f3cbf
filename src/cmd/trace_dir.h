/* SPDX-License-Identifier: MIT */
/* trace_dir.h - what the verbs that read traces share: which trace is meant, and results out. */
#ifndef WM_CMD_TRACE_DIR_H
#define WM_CMD_TRACE_DIR_H

#include <limits.h>

#include "base/text.h"

/*
 * The trace the arguments name, else the newest waymark-* folder here. Exit
 * status; when it is not 0, that was said.
 */
int wm_trace_dir_find(int nr_args, char **args, char ret_dir[PATH_MAX]);

/* Writes the text to standard output and empties it. 0, or -errno. */
int wm_trace_dir_flush(struct wm_text *t);

#endif
