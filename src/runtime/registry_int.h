/* SPDX-License-Identifier: MIT */
/* registry_int.h - modules, their sites, and the events to which the sites belong. */
#ifndef WM_RUNTIME_REGISTRY_INT_H
#define WM_RUNTIME_REGISTRY_INT_H

#include <stdbool.h>
#include <stdint.h>

#include <waymark/abi.h>

#include "event/provider.h"

struct wm_plan;

/* A site, as an element in its event's list. */
struct wm_site_ref {
	struct wm_site_ref *next, **link;
	struct wm_event_entry *entry;
	const struct waymark_site *site;
	const struct waymark_link *rides; /* the link, if this is a linked marker's site */
};

/* An event: all sites of all modules with the same description. */
struct wm_event_entry {
	struct wm_event_entry *next_hash, *next;
	struct wm_event_entry *next_linked; /* see mark_int.h */
	struct wm_site_ref *refs;
	uint64_t hash;
	const struct waymark_desc *desc; /* a copy that the runtime owns */
	const char *provider;            /* "provider:name" */
	/* Length of the part before the colon, and of the whole name. */
	uint32_t provider_bytes, name_bytes;
	uint64_t word, next_word; /* the word in effect, and the word to be published */
	struct wm_plan *plan, *next_plan;
	bool enabled; /* the event's sites are flipped */
	bool changed; /* next_word or next_plan differs from the current state */
	struct {
		uint32_t id, contexts, generation;
		/* The session's generation for which no filter fits the event. */
		uint32_t unfit;
		bool known; /* the event was announced to the session in that generation */
		bool on;    /* that session records the event */
	} slot[4];
};

/* A loaded module. */
struct wm_guest_module {
	struct wm_guest_module *next;
	struct waymark_module *abi;
	size_t bytes; /* size of this mapping */
	uintptr_t bias, start, end;
	uintptr_t text_start,
	    text_end; /* the largest segment that is readable and executable but not writable */
	uint32_t nr_sites, build_id_bytes;
	unsigned char build_id[32];
	char provider[WM_PROVIDER_MAX], path[512];
	struct wm_site_ref ref[];
};

void wm_registry_init(void);
const void *wm_site_pointer(const int32_t *word);
struct waymark_event_state *wm_site_event(const struct waymark_site *site);

#endif
