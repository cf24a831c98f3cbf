/* SPDX-License-Identifier: MIT */
/*
 * symbol_options.h - address names: where to look for symbol files, and the lookup for print.
 */
#ifndef WM_CMD_SYMBOL_OPTIONS_H
#define WM_CMD_SYMBOL_OPTIONS_H

#include "view/writer.h"

/* The folder of perf's build-id cache, malloc'ed; NULL: none. */
char *wm_asked_builds(void);

/* Arguments for the lookup; the pointers are not owned. */
struct wm_places_asked {
	struct wm_trace *const *traces;
	uint32_t nr_traces;
	struct wm_module_places in_files;
	struct wm_places
	    *kept; /* owned by the caller, for a single page; NULL: each page creates one */
};

struct wm_view_places wm_asked_places(const struct wm_places_asked *asked);

#endif
