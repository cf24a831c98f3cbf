/* SPDX-License-Identifier: MIT */
/*
 * result_view.h - any analysis's result (analysis/result.h) as text for people
 * or JSON for programs. Knows columns and rows, not what they are about.
 * Nothing of a trace reaches a terminal as a control sequence.
 */
#ifndef WM_VIEW_RESULT_VIEW_H
#define WM_VIEW_RESULT_VIEW_H

#include <stdio.h>

#include "analysis/result.h"
#include "base/text.h"

struct wm_result_view {
	unsigned columns;   /* of the terminal; lines are cut there. 0: no limit */
	uint64_t max_rows;  /* of a table; 0: all */
	const char *indent; /* before every line of a table; NULL: none */
};

/* Notes as "# ..." lines, then the tables. */
void wm_result_view_text(struct wm_text *t, const struct wm_result *r,
			 const struct wm_result_view *v);

/* {"analysis", "notes": [...], "tables": [...]}; rows with "calls" and "parts" below them. */
void wm_result_view_json(FILE *out, const struct wm_result *r);
void wm_result_view_json_line(FILE *out, const struct wm_result *r); /* the same on one line */

/* One cell as people read it, made harmless; for screens. */
void wm_result_view_cell(struct wm_text *t, enum wm_cell_kind kind, const union wm_cell *c);

#endif
