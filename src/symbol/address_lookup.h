/* SPDX-License-Identifier: MIT */
/*
 * address_lookup.h - names the addresses in samples, as of the time of the
 * sample, for tools that show events one by one and run no analysis. Mappings
 * are followed separately: of each trace only the events that describe memory
 * are read, up to the time of the request.
 *
 * Not thread-safe, and requests must be in time order; several threads need one
 * wm_places each.
 */
#ifndef WM_SYMBOL_ADDRESS_LOOKUP_H
#define WM_SYMBOL_ADDRESS_LOOKUP_H

#include "symbol/module_file_int.h"
#include "symbol/unwind.h"

/* Strings live as long as the wm_places; they are bytes from files, not safe for a terminal. */
struct wm_named_place {
	/* as perf script shows it: in its file, for a program; otherwise unchanged */
	uint64_t address;
	const char *symbol; /* NULL: unknown */
	uint64_t offset;    /* from the symbol's begin */
	const char *file;   /* NULL: no known mapping at the address */
};

struct wm_places;

/*
 * The caller keeps the traces, and keeps them open, and keeps the strings of
 * `files`. NULL: out of memory.
 */
struct wm_places *wm_places_create(struct wm_trace *const *traces, uint32_t nr_traces,
				   const struct wm_module_places *files);
void wm_places_destroy(struct wm_places *p);

/*
 * For traces that grow: they are reopened again and again, each time with only
 * the new packets. Call wm_places_leave() before closing them: it learns the
 * rest of their events. Call wm_places_rebind() with the reopened traces, the
 * same ones in the same order. 0 or -errno.
 */
int wm_places_leave(struct wm_places *p);
int wm_places_rebind(struct wm_places *p, struct wm_trace *const *traces);

/* Names an address of the event. 0, -ENOMEM, or the error of reading the trace. */
int wm_places_find(struct wm_places *p, uint32_t trace, const struct wm_event *e, uint64_t address,
		   enum wm_event_mode mode, struct wm_named_place *ret);

/*
 * Finds the callers from the event's copy of the stack, if it has one. Returns
 * their number, or -errno as above.
 */
int wm_places_callers(struct wm_places *p, uint32_t trace, const struct wm_event *e,
		      struct wm_named_place ret[WM_UNWIND_FRAMES_MAX]);

#endif
