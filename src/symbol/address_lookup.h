/* SPDX-License-Identifier: MIT */
/*
 * address_lookup.h - names the addresses in samples, as of the time of the
 * sample, for tools that show events one by one and run no analysis. To know
 * the mappings, it reads the events that describe memory, up to the time of
 * each request, separately from the caller.
 *
 * Not thread-safe, and requests must be in time order; several threads need one
 * wm_places each.
 */
#ifndef WM_SYMBOL_ADDRESS_LOOKUP_H
#define WM_SYMBOL_ADDRESS_LOOKUP_H

#include "symbol/module_file_int.h"
#include "symbol/unwind.h"

/*
 * The names of an address. The strings live as long as the wm_places; they are raw bytes from files
 * and not safe to print on a terminal.
 */
struct wm_named_place {
	/* as perf script shows it: an offset in the file, or for the kernel the address itself */
	uint64_t address;
	const char *symbol; /* NULL: unknown */
	uint64_t offset;    /* offset from the start of the symbol */
	const char *file;   /* NULL: no known mapping at the address */
};

struct wm_places;

/*
 * The traces are not owned and must stay open; the strings of `files` are not copied. NULL: out of
 * memory.
 */
struct wm_places *wm_places_create(struct wm_trace *const *traces, uint32_t nr_traces,
				   const struct wm_module_places *files);
void wm_places_destroy(struct wm_places *p);

/*
 * For traces that grow, which are reopened with only the new packets. Call wm_places_leave() before
 * closing them: it reads the remaining events. Then call wm_places_rebind() with the reopened
 * traces in the same order. Returns 0 or -errno.
 */
int wm_places_leave(struct wm_places *p);
int wm_places_rebind(struct wm_places *p, struct wm_trace *const *traces);

/*
 * Where an event's address is looked up. In equal scopes, an address has the same names, so a
 * caller can cache what it derives from them.
 */
struct wm_place_scope {
	uint64_t version; /* changes with the mappings */
	int32_t pid;      /* 0 for the kernel's addresses, which do not depend on the process */
	uint32_t trace;
	enum wm_event_mode mode;
};

static inline bool wm_place_scope_equal(const struct wm_place_scope *a,
					const struct wm_place_scope *b)
{
	return a->version == b->version && a->pid == b->pid && a->trace == b->trace &&
	       a->mode == b->mode;
}

/*
 * Returns the scope of the event's addresses in the given mode. Errors are those of
 * wm_places_find().
 */
int wm_places_scope(struct wm_places *p, uint32_t trace, const struct wm_event *e,
		    enum wm_event_mode mode, struct wm_place_scope *ret);

/*
 * Finds the names of an address in the event. Returns 0, -ENOMEM, or an error from reading the
 * trace.
 */
int wm_places_find(struct wm_places *p, uint32_t trace, const struct wm_event *e, uint64_t address,
		   enum wm_event_mode mode, struct wm_named_place *ret);

/*
 * Finds the callers by unwinding the copy of the stack in the event, if it has one. Returns their
 * number, or errors like wm_places_find().
 */
int wm_places_callers(struct wm_places *p, uint32_t trace, const struct wm_event *e,
		      struct wm_named_place ret[WM_UNWIND_FRAMES_MAX]);

#endif
