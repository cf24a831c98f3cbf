/* SPDX-License-Identifier: MIT */
/*
 * mark_int.h - markers and spans in the runtime: callbacks by name and format, and
 * markers that ride on typed events. An inner header of the room, like
 * runtime_int.h.
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

/* The kind of event a callback expects; registrations of one kind do not see events of another. */
enum wm_probe_kind { WM_PROBE_TYPED, WM_PROBE_MARK, WM_PROBE_SPAN };

enum wm_probe_kind wm_probe_kind_of(uint8_t desc_kind);

/* probe.c: `prototype` is a marker's format. 0 or -errno. Both take the lock. */
int wm_probe_connect(enum wm_probe_kind kind, const char *provider, const char *name,
		     const char *prototype, void (*fn)(void), void *data);
int wm_probe_disconnect(enum wm_probe_kind kind, const char *provider, const char *name,
			const char *prototype, void (*fn)(void), void *data);

/* Strings of a description that registry.c has checked. */
const char *wm_desc_name(const struct waymark_desc *d);
const char *wm_desc_format(const struct waymark_desc *d); /* of a marker */

/*
 * Splits "provider:name". A name alone gets the provider of the unit that
 * registers, else that of its module. False when neither is known.
 */
bool wm_mark_name(const struct waymark_module *module, const char *provider, const char **name,
		  char own[WM_PROVIDER_MAX], const char **ret_provider);

/* True when wm_mark_run() calls the callbacks of such events, not a dispatcher. */
bool wm_mark_callbacks(const struct waymark_desc *d);
/* span.c: the C function of wm_entry_span. */
uint64_t wm_span(uint64_t op, const struct waymark_event_state *tag,
		 const struct waymark_event_state *begin, uintptr_t fp, uintptr_t sp);

void wm_mark_run(const struct wm_plan *plan, const unsigned char *slots);

/*
 * Linked markers, a list of entries. All functions need the lock. An entry may
 * have many table entries (a header's marker, in several units); the first of
 * them is connected.
 */
void wm_link_new(struct wm_event_entry *e);
struct wm_event_entry *wm_link_first(void);
bool wm_link_rides(const struct wm_event_entry *linked, const struct wm_event_entry *carrier);
/* Probes of enabled linked markers that ride on `carrier`. Returns how many. */
uint32_t wm_link_fill(const struct wm_event_entry *carrier, struct wm_probe *ret, uint32_t most);

#endif
