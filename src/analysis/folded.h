/* SPDX-License-Identifier: MIT */
/*
 * folded.h - reads call chains as text, one per line, in a format that many tools use:
 * "make;main;read_file 12". The outermost function is first, the weight last.
 */
#ifndef WM_ANALYSIS_FOLDED_H
#define WM_ANALYSIS_FOLDED_H

#include "analysis/result.h"
#include "base/diag.h"

#define WM_FOLDED_BYTES_MAX ((size_t)1 << 30) /* maximum bytes per file */

/* Returns whether the first line of the file has this format. */
bool wm_folded_is(const char *path);

/*
 * Reads the file into a table of the result: one row per outermost function, with its calls below.
 * Returns 0 or -errno; for a malformed line, -EBADMSG with `diag`.
 */
int wm_folded_read(const char *path, struct wm_result *r, struct wm_diag *diag);

#endif
