/* SPDX-License-Identifier: MIT */
/*
 * mark_int.h - markers and spans in the runtime: callbacks by name and format, and markers linked
 * to typed events. Private to this room, like runtime_int.h.
 */
#ifndef WM_RUNTIME_MARK_INT_H
#define WM_RUNTIME_MARK_INT_H

#include <stdbool.h>
#include <stdint.h>

#include <waymark/abi.h>

#include "event/provider.h"

struct wm_event_entry;
struct wm_plan;
struct wm_probe;

/*
 * The kind of event that a callback expects. A callback is never called for events of another kind.
 */
enum wm_probe_kind { WM_PROBE_TYPED, WM_PROBE_MARK, WM_PROBE_SPAN };

enum wm_probe_kind wm_guest_probe_kind_of(uint8_t desc_kind);

/* probe.c: `prototype` is a marker's format. Both take the lock and return 0 or -errno. */
int wm_guest_probe_connect(enum wm_probe_kind kind, const char *provider, const char *name,
			   const char *prototype, void (*fn)(void), void *data);
int wm_guest_probe_disconnect(enum wm_probe_kind kind, const char *provider, const char *name,
			      const char *prototype, void (*fn)(void), void *data);

/* Strings in a description, which registry.c has checked. */
const char *wm_mark_desc_format(const struct waymark_desc *d); /* a marker's format */

/*
 * Splits "provider:name". A name without a provider gets the provider of the unit that registers
 * it, else its module's. Returns false when neither is known.
 */
bool wm_mark_name(const struct waymark_module *module, const char *provider, const char **name,
		  char own[WM_PROVIDER_MAX], const char **ret_provider);

/*
 * Whether wm_mark_run() calls the callbacks for these events; for typed events a dispatcher calls
 * them.
 */
bool wm_mark_callbacks(const struct waymark_desc *d);
/* span.c: the C function that wm_entry_span calls. */
uint64_t wm_span(uint64_t op, const struct waymark_event_state *tag,
		 const struct waymark_event_state *begin, uintptr_t fp, uintptr_t sp);

void wm_mark_run(const struct wm_plan *plan, const unsigned char *slots);

/*
 * The list of entries for linked markers. Call these functions with the runtime's lock held. A
 * marker in a header that several units include has one entry here and one table entry per unit;
 * the link of the first loaded one is used.
 */
void wm_link_new(struct wm_event_entry *e);
struct wm_event_entry *wm_link_first(void);
bool wm_link_rides(const struct wm_event_entry *linked, const struct wm_event_entry *carrier);
/* Adds the probes of enabled markers that are linked to `carrier`. Returns the number added. */
uint32_t wm_link_fill(const struct wm_event_entry *carrier, struct wm_probe *ret, uint32_t most);

#endif
