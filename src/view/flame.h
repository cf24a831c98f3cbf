/* SPDX-License-Identifier: MIT */
/*
 * flame.h - call chains as a flame graph in one file: a page that contains the tree
 * (share/pages/flame.html draws it: zoom, search, icicle, differences), or folded lines,
 * "make;main;read_file 12".
 *
 * The tree is a table of a result: rows split by any key, with calls below them.
 */
#ifndef WM_VIEW_FLAME_H
#define WM_VIEW_FLAME_H

#include "analysis/result.h"
#include "base/text.h"

struct wm_flame {
	const char *title;
	/* unit of the weights, such as "ns" or "samples"; "": none */
	const char *unit;
	bool icicle;                        /* the root is on top */
	const struct wm_result_note *notes; /* notes, of which losses and problems are shown */
	const struct wm_result_table *table;
	const struct wm_result_table *before; /* the table to compare with; NULL: none */
};

/* Returns 0 or -ENOMEM. */
int wm_flame_page(struct wm_text *t, const struct wm_flame *f);
int wm_flame_folded(struct wm_text *t, const struct wm_result_table *table);

#endif
