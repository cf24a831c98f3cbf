/* SPDX-License-Identifier: MIT */
/*
 * open.h - opens a trace of any format. A format is one struct wm_reader_ops
 * (trace/reader.h) and one line in the table of open.c.
 */
#ifndef WM_READ_OPEN_H
#define WM_READ_OPEN_H

#include "trace/reader.h"

/*
 * Opens a file or folder. 0, or -errno with `diag`, which always names a file
 * and an offset in it. The caller closes the trace with wm_trace_close().
 */
int wm_read_open(const char *path, struct wm_trace **ret, struct wm_diag *diag);

/*
 * Joins opened traces that are parts of one recording: snapshots, rotated chunks, copies. One trace
 * below the common folder of the parts replaces them, so that a packet that several parts have is
 * read once, and losses between parts are known. `nr` becomes the number of traces left, also on
 * failure. 0 or -errno with `diag`.
 */
int wm_read_join(struct wm_trace **traces, uint32_t *nr, struct wm_diag *diag);

#endif
