/* SPDX-License-Identifier: MIT */
/*
 * result_view.h - shows the result of any analysis (analysis/result.h) as text
 * for users or JSON for programs. Bytes from a trace never reach a terminal as
 * control sequences.
 */
#ifndef WM_VIEW_RESULT_VIEW_H
#define WM_VIEW_RESULT_VIEW_H

#include <stdio.h>

#include "analysis/result.h"
#include "base/text.h"

struct wm_result_view {
	unsigned columns;   /* width of the terminal; longer lines are truncated. 0: no limit */
	uint64_t max_rows;  /* maximum rows per table; 0: no limit */
	const char *indent; /* prefix of every line of a table; NULL: none */
};

/* Writes the notes as lines "# ...", then the tables. */
void wm_view_result_text(struct wm_text *t, const struct wm_result *r,
			 const struct wm_result_view *v);

/*
 * Writes the verb's document (document.h) with "analysis", "notes": [...], "tables": [...]; rows
 * contain "calls" and "parts".
 */
void wm_view_result_json(FILE *out, const char *verb, const struct wm_result *r);
/* writes the same document on one line */
void wm_view_result_json_line(FILE *out, const char *verb, const struct wm_result *r);

/* Writes one cell as text for users, with control bytes escaped. */
void wm_view_result_cell(struct wm_text *t, enum wm_cell_kind kind, const union wm_cell *c);

#endif
