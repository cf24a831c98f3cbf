/* SPDX-License-Identifier: MIT */
/* open_slices.c - see open_slices.h. Slices are in hash chains by key, and in one list by age. */
#include "export/timeline/open_slices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS          (1u << 12)
#define KEEP_BYTES_MAX 4096u /* limit of a text buffer that is kept for reuse */

int wm_open_slices_init(struct wm_open_slices *s)
{
	*s = (struct wm_open_slices){0};
	s->slots = calloc(SLOTS, sizeof(struct wm_open_slice *));
	return s->slots ? 0 : -ENOMEM;
}

void wm_open_slices_done(struct wm_open_slices *s)
{
	while (s->oldest)
		wm_open_slices_remove(s, s->oldest);
	while (s->unused) {
		struct wm_open_slice *o = s->unused;

		s->unused = o->same;
		wm_text_done(&o->values);
		free(o);
	}
	free(s->slots);
	*s = (struct wm_open_slices){0};
}

static struct wm_open_slice **slot_of(const struct wm_open_slices *s, const struct wm_open_key *key)
{
	uint64_t n = key->id * 0x9e3779b97f4a7c15ull;

	n = (n ^ key->who) * 0xff51afd7ed558ccdull;
	n = (n ^ key->family) * 0x9e3779b97f4a7c15ull;
	return &s->slots[n >> 32 & (SLOTS - 1)];
}

static struct wm_open_slice *take_unused(struct wm_open_slices *s)
{
	struct wm_open_slice *o = s->unused;

	if (o)
		s->unused = o->same;
	else
		o = calloc(1, sizeof(*o));
	return o;
}

struct wm_open_slice *wm_open_slices_add(struct wm_open_slices *s, const struct wm_open_key *key)
{
	struct wm_open_slice *o = take_unused(s);
	struct wm_text values;

	if (!o)
		return NULL;
	values = o->values;
	wm_text_cut(&values, 0);
	*o = (struct wm_open_slice){.key = *key, .values = values, .slot = slot_of(s, key)};
	o->same = *o->slot;
	*o->slot = o;
	o->older = s->newest;
	if (s->newest)
		s->newest->newer = o;
	else
		s->oldest = o;
	s->newest = o;
	s->nr++;
	return o;
}

void wm_open_slices_added(struct wm_open_slices *s, struct wm_open_slice *o)
{
	s->bytes += o->values.bytes - o->counted;
	o->counted = o->values.bytes;
}

static struct wm_open_slice *first_of(struct wm_open_slice *o, const struct wm_open_key *key)
{
	while (o && memcmp(&o->key, key, sizeof(*key)) != 0)
		o = o->same;
	return o;
}

struct wm_open_slice *wm_open_slices_find(const struct wm_open_slices *s,
					  const struct wm_open_key *key)
{
	return first_of(*slot_of(s, key), key);
}

struct wm_open_slice *wm_open_slices_before(const struct wm_open_slice *o)
{
	return first_of(o->same, &o->key);
}

void wm_open_slices_remove(struct wm_open_slices *s, struct wm_open_slice *o)
{
	struct wm_open_slice **at = o->slot;

	while (*at != o)
		at = &(*at)->same;
	*at = o->same;
	if (o->older)
		o->older->newer = o->newer;
	else
		s->oldest = o->newer;
	if (o->newer)
		o->newer->older = o->older;
	else
		s->newest = o->older;
	s->nr--;
	s->bytes -= o->counted;
	if (o->values.room > KEEP_BYTES_MAX)
		wm_text_done(&o->values);
	o->same = s->unused;
	s->unused = o;
}
