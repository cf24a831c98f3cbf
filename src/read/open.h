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

#endif
