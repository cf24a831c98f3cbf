/* SPDX-License-Identifier: MIT */
/*
 * folded.h - call chains as text, a line each, as many tools write and read
 * them: "make;main;read_file 12". The outermost comes first, the weight last.
 */
#ifndef WM_ANALYSIS_FOLDED_H
#define WM_ANALYSIS_FOLDED_H

#include "analysis/result.h"
#include "base/diag.h"

#define WM_FOLDED_BYTES_MAX ((size_t)1 << 30) /* of one file */

/* Does the file look like it? Its first line does. */
bool wm_folded_is(const char *path);

/*
 * Reads it into a table of the result: rows by the first name of each line,
 * calls below. 0, -errno; -EBADMSG with `diag` for a line that is none.
 */
int wm_folded_read(const char *path, struct wm_result *r, struct wm_diag *diag);

#endif
