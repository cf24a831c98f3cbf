/* SPDX-License-Identifier: MIT */
/* single_int.h - opens and completes the output of exporters that write one trace to one file. */
#ifndef WM_EXPORT_SINGLE_INT_H
#define WM_EXPORT_SINGLE_INT_H

#include "export/export.h"
#include "export/file.h"

/*
 * Creates the output in `out`, which has no file yet, and calls `begin`. `limit` says why several
 * traces are refused: "a perf.data holds one recording". 0, or -errno with `diag`.
 */
int wm_export_single_open(struct wm_export *x, struct wm_export_file *out, const char *limit,
			  int (*begin)(struct wm_export *x, struct wm_diag *diag),
			  struct wm_diag *diag);

/*
 * `err` is the result of writing the rest. If it is 0, gives the output its name, else reports it.
 */
int wm_export_single_finish(struct wm_export *x, struct wm_export_file *out, int err,
			    struct wm_diag *diag);

#endif
