/* SPDX-License-Identifier: MIT */
/* numbering.c - see numbering_int.h. */
#include "write/numbering_int.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t hash_bytes(uint64_t hash, const char *s)
{
	/* FNV-1a over the NUL too, so that "a","bc" and "ab","c" differ. */
	do {
		hash = (hash ^ (unsigned char)*s) * 0x100000001b3ull;
	} while (*s++);
	return hash;
}

static uint64_t event_hash(const struct wm_class *c, uint32_t contexts)
{
	uint64_t hash = 0xcbf29ce484222325ull ^ contexts;

	hash = hash_bytes(hash, c->provider);
	hash = hash_bytes(hash, c->name);
	return hash ^ c->nr_fields;
}

static uint32_t slot_of(const struct wm_event_store *s, uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32) & (s->nr_slots - 1);
}

static int grow_store(struct wm_event_store *s)
{
	struct wm_event_store bigger = {.nr_slots = s->nr_slots ? s->nr_slots * 2 : 64,
					.nr_used = s->nr_used};
	uint32_t i, k;

	if (s->nr_used < s->nr_slots / 2)
		return 0;
	bigger.slots = calloc(bigger.nr_slots, sizeof(struct wm_interned_event *));
	if (!bigger.slots)
		return -ENOMEM;
	for (i = 0; i < s->nr_slots; i++) {
		if (!s->slots[i])
			continue;
		k = slot_of(&bigger, s->slots[i]->hash);
		while (bigger.slots[k])
			k = (k + 1) & (bigger.nr_slots - 1);
		bigger.slots[k] = s->slots[i];
	}
	free(s->slots);
	*s = bigger;
	return 0;
}

struct wm_interned_event *wm_event_intern(struct wm_event_store *s, struct wm_class *class,
					  uint32_t contexts)
{
	uint64_t hash = event_hash(class, contexts);
	struct wm_interned_event *e;
	uint32_t k;

	if (grow_store(s))
		goto fail;
	for (k = slot_of(s, hash); s->slots[k]; k = (k + 1) & (s->nr_slots - 1)) {
		e = s->slots[k];
		if (e->hash != hash || e->contexts != contexts || !wm_class_equal(e->class, class))
			continue;
		wm_class_destroy(class);
		return e;
	}
	e = malloc(sizeof(*e));
	if (!e)
		goto fail;
	*e = (struct wm_interned_event){class, contexts, UINT32_MAX, hash};
	s->slots[k] = e;
	s->nr_used++;
	return e;
fail:
	wm_class_destroy(class);
	return NULL;
}

void wm_event_store_done(struct wm_event_store *s)
{
	uint32_t i;

	for (i = 0; i < s->nr_slots; i++) {
		if (!s->slots[i])
			continue;
		wm_class_destroy(s->slots[i]->class);
		free(s->slots[i]);
	}
	free(s->slots);
	*s = (struct wm_event_store){0};
}

/* Makes room for `need` elements, doubling the array. */
static int reserve(void **array, uint32_t *room, uint32_t need, size_t bytes)
{
	uint32_t bigger = *room ? *room : 16;
	char *grown;
	size_t i;

	if (need <= *room)
		return 0;
	while (bigger < need)
		bigger *= 2;
	grown = realloc(*array, bigger * bytes);
	if (!grown)
		return -ENOMEM;
	for (i = *room * bytes; i < bigger * bytes; i++)
		grown[i] = 0;
	*array = grown;
	*room = bigger;
	return 0;
}

int wm_numbering_set(struct wm_numbering *n, uint32_t id, struct wm_interned_event *event)
{
	void *at = n->at, *order = n->order;
	int err = reserve(&at, &n->room, id + 1, sizeof(struct wm_interned_event *));

	n->at = at;
	if (!err)
		err = reserve(&order, &n->order_room, n->count + 1, sizeof(uint16_t));
	n->order = order;
	if (err)
		return err;
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
