/* SPDX-License-Identifier: MIT */
/*
 * file.c - reads one ELF file's events: elf/ finds sites and descriptions, event/ parses them, and
 * they are merged by name. See inventory.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <waymark/abi.h>

#include "control/inventory.h"
#include "elf/elf_lines.h"
#include "elf/sites.h"
#include "event/provider.h"

/* A description in the file, before it is merged into an event. */
struct entry {
	struct wm_class *class; /* NULL: the description could not be parsed */
	uint32_t index;         /* in sites->events */
	uint32_t event;         /* in file->events */
};

static int inventory_file_by_name(const void *a, const void *b)
{
	const struct wm_class *x = ((const struct entry *)a)->class;
	const struct wm_class *y = ((const struct entry *)b)->class;
	int order;

	if (!x || !y)
		return !x - !y; /* sorts invalid ones last */
	order = strcmp(x->provider, y->provider);
	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int by_index(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

/* Returns the event for an entry: an existing one with its name, or a new one. */
static uint32_t inventory_file_event_of(struct wm_inventory_file *f, const struct wm_class *c)
{
	for (uint32_t i = f->nr_events; i > 0; i--) {
		const struct wm_class *other = f->events[i - 1].class;

		if (strcmp(other->name, c->name) || strcmp(other->provider, c->provider))
			break;
		if (wm_class_equal(other, c))
			return i - 1;
	}
	return f->nr_events++;
}

/*
 * Merges entries[], which is sorted by name, into f->events; the events take ownership of the
 * classes.
 */
static int unite(struct wm_inventory_file *f, const struct wm_elf_sites *s, struct entry *entries)
{
	for (uint32_t i = 0; i < s->nr_events && entries[i].class; i++) {
		const struct wm_elf_event *from = &s->events[entries[i].index];
		struct wm_inventory_event *to;
		uint64_t *states;

		entries[i].event = inventory_file_event_of(f, entries[i].class);
		to = &f->events[entries[i].event];
		states = reallocarray(to->states, to->nr_states + 1, sizeof(*states));
		if (!states) {
			f->nr_events = to->class ? f->nr_events : f->nr_events - 1;
			return -ENOMEM;
		}
		to->states = states;
		to->states[to->nr_states++] = from->state_address;
		to->nr_sites += from->nr_sites;
		if (!to->class)
			to->class = entries[i].class;
	}
	return 0;
}

/*
 * Finds a place's source. A marker is described at its site. A typed event is declared elsewhere,
 * so debug information is needed to find the callers of its inline function.
 */
static void place_source(struct wm_inventory_place *place, const struct wm_class *c,
			 struct wm_elf_lines *lines)
{
	const char *file = c->file;

	place->line = c->line;
	if (c->kind != WAYMARK_KIND_MARKER && c->kind != WAYMARK_KIND_PRINTF &&
	    (!lines || !place->address ||
	     wm_elf_lines_find(lines, place->address, "waymark_", &file, &place->line) < 0))
		return;
	if (*file)
		place->source = strdup(file);
}

/* Fills in the places of each event from entries[], which is sorted by index into the table. */
static int find_places(struct wm_inventory_file *f, const struct wm_elf_sites *s,
		       const struct entry *entries, struct wm_elf_lines *lines)
{
	for (uint32_t i = 0; i < f->nr_events; i++) {
		f->events[i].places =
		    calloc(f->events[i].nr_sites, sizeof(struct wm_inventory_place));
		if (!f->events[i].places)
			return -ENOMEM;
		f->events[i].nr_sites = 0; /* counted again in the loop below */
	}
	for (uint32_t i = 0; i < s->nr_sites; i++) {
		const struct entry *entry = &entries[s->sites[i].event];
		struct wm_inventory_event *event;
		struct wm_inventory_place *place;

		if (!entry->class)
			continue;
		event = &f->events[entry->event];
		place = &event->places[event->nr_sites++];
		place->address = s->sites[i].insn;
		if (place->address)
			place->function = wm_elf_symbol_at(&f->symbols, place->address);
		place_source(place, entry->class, lines);
	}
	return 0;
}

void wm_inventory_provider(const char *path, char *buf, size_t size)
{
	const char *slash = strrchr(path, '/');
	bool library = strstr(slash ? slash : path, ".so") != NULL;
	char *real = library ? NULL : realpath(path, NULL);

	wm_provider_of_path(real ? real : path, buf, size);
	free(real);
}

static void inventory_file_parse_all(struct wm_inventory_file *f, const struct wm_elf_sites *s,
				     struct entry *entries)
{
	char provider[WM_PROVIDER_MAX];

	wm_inventory_provider(f->path, provider, sizeof(provider));
	for (uint32_t i = 0; i < s->nr_events; i++) {
		struct wm_diag diag = {.offset = -1};

		entries[i].index = i;
		if (wm_class_parse(s->events[i].desc, s->events[i].desc_bytes, provider,
				   &entries[i].class, &diag) == 0)
			continue;
		if (!f->nr_bad)
			f->first_bad = diag;
		f->nr_bad += s->events[i].nr_sites;
	}
}

/* Frees the classes that no event took over. */
static void release_entries(struct wm_inventory_file *f, struct entry *entries, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		bool kept = entries[i].event < f->nr_events &&
			    f->events[entries[i].event].class == entries[i].class;

		if (!kept)
			wm_class_destroy(entries[i].class);
	}
	free(entries);
}

static int load_events(struct wm_inventory_file *f, const struct wm_elf_sites *s, bool places)
{
	struct entry *entries = calloc(s->nr_events, sizeof(*entries));
	struct wm_elf_lines *lines = NULL;
	int err = 0;

	f->events = calloc(s->nr_events, sizeof(*f->events));
	if (!entries || !f->events) {
		free(entries);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < s->nr_events; i++)
		entries[i].event = UINT32_MAX;
	inventory_file_parse_all(f, s, entries);
	qsort(entries, s->nr_events, sizeof(*entries), inventory_file_by_name);
	err = unite(f, s, entries);
	if (!err && places) {
		/* Symbols and lines are optional; most files lack one or both. */
		(void)wm_elf_symbols_read(f->elf, &f->symbols, NULL);
		(void)wm_elf_lines_open(f->elf, &lines);
		qsort(entries, s->nr_events, sizeof(*entries), by_index);
		err = find_places(f, s, entries, lines);
		wm_elf_lines_close(lines);
	}
	release_entries(f, entries, s->nr_events);
	return err;
}

static int inventory_file_load(struct wm_inventory_file *f, int fd, bool places,
			       struct wm_diag *diag)
{
	struct wm_elf_sites sites = {0};
	struct wm_diag site_diag = {.offset = -1};
	int err = wm_elf_open_fd(fd, f->path, &f->elf, diag);

	if (err < 0)
		return err;
	err = wm_elf_sites_read(f->elf, &sites, &site_diag);
	if (err < 0 && diag) {
		*diag = site_diag;
		diag->where = NULL; /* the caller adds the file's name */
	}
	f->nr_bad = sites.nr_bad;
	f->first_bad = site_diag;
	if (!err && sites.nr_events)
		err = load_events(f, &sites, places);
	if (!err && !f->nr_events) {
		wm_elf_close(f->elf);
		f->elf = NULL;
	}
	f->first_bad.where = NULL;
	wm_elf_sites_done(&sites);
	return err;
}

int wm_inventory_file_load(int fd, const char *path, bool places, struct wm_inventory_file **ret,
			   struct wm_diag *diag)
{
	struct wm_inventory_file *f = calloc(1, sizeof(*f));
	int err = -ENOMEM;

	if (f)
		f->path = strdup(path);
	if (f && f->path) {
		err = inventory_file_load(f, fd, places, diag);
	} else {
		(void)close(fd);
	}
	if (err < 0) {
		wm_inventory_file_destroy(f);
		return err;
	}
	*ret = f;
	return 0;
}

void wm_inventory_file_destroy(struct wm_inventory_file *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->nr_events; i++) {
		struct wm_inventory_event *e = &f->events[i];

		for (uint32_t p = 0; e->places && p < e->nr_sites; p++)
			free(e->places[p].source);
		free(e->places);
		free(e->states);
		wm_class_destroy(e->class);
	}
	free(f->events);
	wm_elf_symbols_done(&f->symbols);
	wm_elf_close(f->elf);
	free(f->path);
	free(f);
}
