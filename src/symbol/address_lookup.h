/* SPDX-License-Identifier: MIT */
/*
 * address_lookup.h - what is at the addresses of samples, at their time, for who shows
 * events one by one and analyses nothing. What is mapped where is followed
 * beside: of each trace the events that tell of memory are read, up to the time
 * asked about, and no others.
 *
 * For one thread, which asks in order of time; several threads have one each.
 */
#ifndef WM_SYMBOL_ADDRESS_LOOKUP_H
#define WM_SYMBOL_ADDRESS_LOOKUP_H

#include "symbol/module_file.h"
#include "symbol/unwind.h"

/* Strings stay as long as the wm_places; they are bytes of files, not clean for a terminal. */
struct wm_named_place {
	uint64_t address;   /* as perf script shows it: of a program in its file, else as it is */
	const char *symbol; /* NULL: not known */
	uint64_t offset;    /* from the symbol's begin */
	const char *file;   /* NULL: nothing known was mapped there */
};

struct wm_places;

/* The traces stay the caller's, open; strings of `files`, too. NULL: out of memory. */
struct wm_places *wm_places_create(struct wm_trace *const *traces, uint32_t nr_traces,
				   const struct wm_module_places *files);
void wm_places_destroy(struct wm_places *p);

/*
 * Traces that grow are opened again and again, each time with the packets alone
 * that are new. Before they are closed, what was not asked about is learnt, too;
 * when they are open again, the same in the same order, it goes on. 0 or -errno.
 */
int wm_places_leave(struct wm_places *p);
int wm_places_rebind(struct wm_places *p, struct wm_trace *const *traces);

/* An address of the event. 0, or the error of reading the trace; -ENOMEM. */
int wm_places_find(struct wm_places *p, uint32_t trace, const struct wm_event *e, uint64_t address,
		   enum wm_event_mode mode, struct wm_named_place *ret);

/* The callers by the event's copy of the stack, if it has one: their number, -errno as above. */
int wm_places_callers(struct wm_places *p, uint32_t trace, const struct wm_event *e,
		      struct wm_named_place ret[WM_UNWIND_FRAMES_MAX]);

#endif
