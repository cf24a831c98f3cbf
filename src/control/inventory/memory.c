/* SPDX-License-Identifier: MIT */
/*
 * memory.c - reads the events of a file whose section headers were stripped, from the runtime of a
 * process that maps the file. See inventory.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/attach.h"
#include "control/inventory.h"

struct collecting {
	const struct wm_maps *maps;
	const struct wm_map *map;
	struct wm_inventory_file *file;
	int err;
};

static bool inventory_memory_is_of(const struct collecting *c, uint64_t address)
{
	const struct wm_map *map = wm_maps_find(c->maps, address);

	return map && map->inode == c->map->inode && map->dev_major == c->map->dev_major &&
	       map->dev_minor == c->map->dev_minor;
}

/* Returns the event for a class, created if it is new; NULL when out of memory. */
static struct wm_inventory_event *inventory_memory_event_of(struct wm_inventory_file *f,
							    const struct wm_attach_site *s)
{
	struct wm_inventory_event *grown;

	for (uint32_t i = 0; i < f->nr_events; i++)
		if (!strcmp(f->events[i].class->provider, s->class->provider) &&
		    wm_class_equal(f->events[i].class, s->class))
			return &f->events[i];
	grown = reallocarray(f->events, f->nr_events + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	f->events = grown;
	grown = &f->events[f->nr_events];
	*grown = (struct wm_inventory_event){0};
	if (wm_class_parse(s->desc, s->desc_bytes, s->class->provider, &grown->class, NULL) < 0)
		return NULL;
	f->nr_events++;
	return grown;
}

static int add_state(struct wm_inventory_event *e, uint64_t state)
{
	uint64_t *grown;

	e->nr_sites++;
	for (uint32_t i = 0; i < e->nr_states; i++)
		if (e->states[i] == state)
			return 0;
	grown = reallocarray(e->states, e->nr_states + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	e->states = grown;
	e->states[e->nr_states++] = state;
	return 0;
}

static void add_site(const struct wm_attach_site *s, void *data)
{
	struct collecting *c = data;
	struct wm_inventory_event *e;

	if (c->err < 0 || !inventory_memory_is_of(c, s->entry))
		return;
	e = inventory_memory_event_of(c->file, s);
	c->err = e ? add_state(e, s->event - c->map->start) : -ENOMEM;
}

static int inventory_memory_by_name(const void *a, const void *b)
{
	const struct wm_class *x = ((const struct wm_inventory_event *)a)->class;
	const struct wm_class *y = ((const struct wm_inventory_event *)b)->class;
	int order = strcmp(x->provider, y->provider);

	return order ? order : strcmp(x->name, y->name);
}

int wm_inventory_file_of_process(pid_t pid, const struct wm_maps *maps, const struct wm_map *map,
				 struct wm_inventory_file **ret, struct wm_diag *diag)
{
	struct collecting c = {.maps = maps, .map = map, .file = calloc(1, sizeof(*c.file))};

	if (c.file)
		c.file->path = strdup(map->path);
	if (!c.file || !c.file->path)
		c.err = -ENOMEM;
	else
		c.err = wm_attach_list(pid, add_site, &c, diag) < 0 ? -ENOENT : c.err;
	if (c.err < 0) {
		wm_inventory_file_destroy(c.file);
		return c.err;
	}
	qsort(c.file->events, c.file->nr_events, sizeof(*c.file->events), inventory_memory_by_name);
	*ret = c.file;
	return 0;
}
