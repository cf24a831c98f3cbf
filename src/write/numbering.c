/* SPDX-License-Identifier: MIT */
/* numbering.c - see numbering_int.h. */
#include "base/array.h"
#include "write/numbering_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void wm_numbering_store_init(struct wm_event_store *s)
{
	*s = (struct wm_event_store){0};
	wm_table_init(&s->table);
}

static uint64_t event_hash(const struct wm_event_store *s, const struct wm_class *c,
			   uint32_t contexts)
{
	uint64_t hash = wm_table_hash_bytes(&s->table, c->provider, strlen(c->provider));

	hash = wm_mix_bytes(hash, c->name, strlen(c->name));
	return wm_mix(hash ^ contexts, hash ^ c->nr_fields);
}

static struct wm_interned_event *numbering_find_event(const struct wm_event_store *s, uint64_t hash,
						      const struct wm_class *class,
						      uint32_t contexts)
{
	struct wm_table_walk w = wm_table_walk(hash);

	while (wm_table_next(&s->table, &w)) {
		struct wm_interned_event *e = s->events[w.index];

		if (e->contexts == contexts && wm_class_equal(e->class, class))
			return e;
	}
	return NULL;
}

static int numbering_add_event(struct wm_event_store *s, uint64_t hash, struct wm_interned_event *e)
{
	uint32_t nr = s->table.nr;

	if (WM_ARRAY_GROW(s->events, s->room, (size_t)nr + 1))
		return -ENOMEM;
	s->events[nr] = e;
	return wm_table_add(&s->table, hash, nr);
}

struct wm_interned_event *wm_numbering_intern(struct wm_event_store *s, struct wm_class *class,
					      uint32_t contexts)
{
	uint64_t hash = event_hash(s, class, contexts);
	struct wm_interned_event *e = numbering_find_event(s, hash, class, contexts);

	if (e) {
		wm_class_destroy(class);
		return e;
	}
	e = malloc(sizeof(*e));
	if (e) {
		*e = (struct wm_interned_event){class, contexts, UINT32_MAX};
		if (!numbering_add_event(s, hash, e))
			return e;
	}
	free(e);
	wm_class_destroy(class);
	return NULL;
}

void wm_numbering_store_done(struct wm_event_store *s)
{
	for (uint32_t i = 0; i < s->table.nr; i++) {
		wm_class_destroy(s->events[i]->class);
		free(s->events[i]);
	}
	free(s->events);
	wm_table_done(&s->table);
	*s = (struct wm_event_store){0};
}

int wm_numbering_set(struct wm_numbering *n, uint32_t id, struct wm_interned_event *event)
{
	if (WM_ARRAY_GROW_ZEROED(n->at, n->room, (size_t)id + 1) ||
	    WM_ARRAY_GROW(n->order, n->order_room, (size_t)n->count + 1))
		return -ENOMEM;
	n->at[id] = event;
	n->order[n->count++] = (uint16_t)id;
	return 0;
}

int64_t wm_numbering_shared(const struct wm_numbering *n, const struct wm_numbering *of,
			    uint32_t from)
{
	int64_t shared = 0;
	uint32_t i;

	for (i = from; i < of->count; i++) {
		const struct wm_interned_event *e = wm_numbering_get(n, of->order[i]);

		if (e && e != of->at[of->order[i]])
			return -EEXIST;
		shared += e != NULL;
	}
	return shared;
}

void wm_numbering_done(struct wm_numbering *n)
{
	free(n->at);
	free(n->order);
	*n = (struct wm_numbering){0};
}
