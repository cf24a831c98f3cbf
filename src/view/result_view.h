/* SPDX-License-Identifier: MIT */
/*
 * result_view.h - shows any analysis's result (analysis/result.h) as text for
 * users or JSON for programs. Knows columns and rows, but not their meaning. No
 * byte from a trace reaches a terminal as a control sequence.
 */
#ifndef WM_VIEW_RESULT_VIEW_H
#define WM_VIEW_RESULT_VIEW_H

#include <stdio.h>

#include "analysis/result.h"
#include "base/text.h"

struct wm_result_view {
	unsigned columns;   /* of the terminal; longer lines are cut. 0: no limit */
	uint64_t max_rows;  /* per table; 0: all */
	const char *indent; /* prefix of every line of a table; NULL: none */
};

/* Notes as "# ..." lines, then the tables. */
void wm_result_view_text(struct wm_text *t, const struct wm_result *r,
			 const struct wm_result_view *v);

/* {"analysis", "notes": [...], "tables": [...]}; rows contain "calls" and "parts". */
void wm_result_view_json(FILE *out, const struct wm_result *r);
void wm_result_view_json_line(FILE *out, const struct wm_result *r); /* the same on one line */

/* One cell as text for users, with harmful bytes escaped; for screens. */
void wm_result_view_cell(struct wm_text *t, enum wm_cell_kind kind, const union wm_cell *c);

#endif
