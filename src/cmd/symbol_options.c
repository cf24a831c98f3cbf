/* SPDX-License-Identifier: MIT */
/* symbol_options.c - see symbol_options.h: adapts symbol/address_lookup.h to view/writer.h. */
#include "cmd/symbol_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *wm_asked_builds(void)
{
	const char *folder = getenv("PERF_BUILDID_DIR"), *home = getenv("HOME");
	char *path = NULL;

	if (folder && *folder)
		return strdup(folder);
	if (!home || !*home || asprintf(&path, "%s/.debug", home) < 0)
		return NULL;
	return path;
}

static void *open_places(const void *data)
{
	const struct wm_places_asked *asked = data;

	if (asked->kept)
		return asked->kept;
	return wm_places_create(asked->traces, asked->nr_traces, &asked->in_files);
}

static void close_places(void *own)
{
	wm_places_destroy(own);
}

static void leave_kept(void *own)
{
}

static int symbol_options_scope(void *own, uint32_t trace, const struct wm_event *e,
				enum wm_event_mode mode, struct wm_place_scope *ret)
{
	return wm_places_scope(own, trace, e, mode, ret);
}

static int symbol_options_find(void *own, uint32_t trace, const struct wm_event *e,
			       uint64_t address, enum wm_event_mode mode,
			       struct wm_named_place *ret)
{
	return wm_places_find(own, trace, e, address, mode, ret);
}

static int callers(void *own, uint32_t trace, const struct wm_event *e,
		   struct wm_named_place ret[WM_UNWIND_FRAMES_MAX])
{
	return wm_places_callers(own, trace, e, ret);
}

struct wm_view_places wm_asked_places(const struct wm_places_asked *asked)
{
	return (struct wm_view_places){.open = open_places,
				       .close = asked->kept ? leave_kept : close_places,
				       .scope = symbol_options_scope,
				       .find = symbol_options_find,
				       .callers = callers,
				       .data = asked};
}
