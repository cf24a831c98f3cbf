/* SPDX-License-Identifier: MIT */
/* registry_int.h - modules, their sites, and the events of these sites. */
#ifndef WM_RUNTIME_REGISTRY_INT_H
#define WM_RUNTIME_REGISTRY_INT_H

#include <stdbool.h>
#include <stdint.h>

#include <waymark/abi.h>

#include "event/provider.h"

struct wm_plan;

/* A site in its event's list. */
struct wm_site_ref {
	struct wm_site_ref *next, **link;
	struct wm_event_entry *entry;
	const struct waymark_site *site;
	const struct waymark_link *rides; /* of a linked marker */
};

/* One event: all sites of all modules with the same description. */
struct wm_event_entry {
	struct wm_event_entry *next_hash, *next;
	struct wm_event_entry *next_linked; /* see mark_int.h */
	struct wm_site_ref *refs;
	uint64_t hash;
	const struct waymark_desc *desc;     /* the runtime's copy */
	const char *provider;                /* "provider:name" */
	uint32_t provider_bytes, name_bytes; /* of the part before the colon; of the whole name */
	uint64_t word, next_word;            /* in force; to be published */
	struct wm_plan *plan, *next_plan;
	bool enabled; /* its sites are flipped */
	bool changed; /* next_word or next_plan differs from the state in force */
	struct {
		uint32_t id, contexts, generation;
		uint32_t unfit; /* generation in which no filter fits the event */
		bool known;     /* announced to the session of that generation */
		bool on;        /* recorded by that session */
	} slot[4];
};

/* A loaded module. */
struct wm_guest_module {
	struct wm_guest_module *next;
	struct waymark_module *abi;
	size_t bytes; /* of this mapping */
	uintptr_t bias, start, end;
	uintptr_t text_start,
	    text_end; /* largest segment that is readable and executable, not writable */
	uint32_t nr_sites, build_id_bytes;
	unsigned char build_id[32];
	char provider[WM_PROVIDER_MAX], path[512];
	struct wm_site_ref ref[];
};

void wm_registry_init(void);
const void *wm_site_pointer(const int32_t *word);
struct waymark_event_state *wm_site_event(const struct waymark_site *site);

#endif
