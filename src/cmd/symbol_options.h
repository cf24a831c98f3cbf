/* SPDX-License-Identifier: MIT */
/* symbol_options.h - names of addresses: where their files are looked for, and how print asks for
 * them. */
#ifndef WM_CMD_SYMBOL_OPTIONS_H
#define WM_CMD_SYMBOL_OPTIONS_H

#include "view/writer.h"

/* Where perf keeps the builds that it saw, malloc'ed; NULL: nowhere. */
char *wm_places_builds(void);

/* What a view's pages ask about; borrowed, as `in_files` is. */
struct wm_places_asked {
	struct wm_trace *const *traces;
	uint32_t nr_traces;
	struct wm_module_places in_files;
	struct wm_places *kept; /* of the caller, for a single page; NULL: each page has its own */
};

struct wm_view_places wm_places_of(const struct wm_places_asked *asked);

#endif
