/* SPDX-License-Identifier: MIT */
/* mappings.c - the mappings of one address space; see address_spaces_int.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"

#include "symbol/address_spaces_int.h"

static struct wm_layout *mappings_make(uint32_t room)
{
	struct wm_layout *l = malloc(sizeof(*l) + room * sizeof(l->mappings[0]));

	if (l) {
		l->nr_users = 1;
		l->nr = 0;
		l->room = room;
	}
	return l;
}

void wm_layout_put(struct wm_layout *l)
{
	if (l && --l->nr_users == 0)
		free(l);
}

/* Copies *layout if it is shared, and makes room for two more mappings. */
static int own(struct wm_layout **layout)
{
	struct wm_layout *old = *layout, *l;
	uint32_t nr = old ? old->nr : 0;

	if (old && old->nr_users == 1 && old->room - nr >= 2)
		return 0;
	l = mappings_make(nr < 8 ? 16 : 2 * nr);
	if (!l)
		return -ENOMEM;
	if (old)
		memcpy(l->mappings, old->mappings, nr * sizeof(l->mappings[0]));
	l->nr = nr;
	wm_layout_put(old);
	*layout = l;
	return 0;
}

/* Returns the first mapping that ends after the address. */
static uint32_t first_behind(const struct wm_layout *l, uint64_t address)
{
	return WM_SEARCH(0, l ? l->nr : 0, i, l->mappings[i].end <= address);
}

uint32_t wm_layout_find(const struct wm_layout *l, uint64_t address)
{
	uint32_t i = first_behind(l, address);

	return i < l->nr && l->mappings[i].start <= address ? i : l->nr;
}

/* Replaces the mappings in [start, end) with `between` or with a hole. */
static int mappings_replace(struct wm_layout **layout, uint64_t start, uint64_t end,
			    const struct wm_mapping *between)
{
	struct wm_mapping put[3];
	uint32_t from, to, nr_put = 0;
	struct wm_layout *l;
	int err = own(layout);

	if (err)
		return err;
	l = *layout;
	from = to = first_behind(l, start);
	while (to < l->nr && l->mappings[to].start < end)
		to++;
	if (from < to && l->mappings[from].start < start) {
		put[nr_put] = l->mappings[from];
		put[nr_put++].end = start;
	}
	if (between)
		put[nr_put++] = *between;
	if (from < to && l->mappings[to - 1].end > end) {
		put[nr_put] = l->mappings[to - 1];
		put[nr_put++].start = end;
	}
	if (l->nr - (to - from) + nr_put > WM_SPACE_MAPPINGS_MAX)
		return -E2BIG;
	memmove(&l->mappings[from + nr_put], &l->mappings[to],
		(l->nr - to) * sizeof(l->mappings[0]));
	memcpy(&l->mappings[from], put, nr_put * sizeof(put[0]));
	l->nr = l->nr - (to - from) + nr_put;
	return 0;
}

int wm_layout_map(struct wm_layout **layout, const struct wm_mapping *m)
{
	return m->start < m->end ? mappings_replace(layout, m->start, m->end, m) : 0;
}

int wm_layout_unmap(struct wm_layout **layout, uint64_t start, uint64_t end)
{
	uint32_t i;

	if (!*layout || start >= end)
		return 0;
	i = first_behind(*layout, start);
	if (i == (*layout)->nr || (*layout)->mappings[i].start >= end)
		return 0;
	return mappings_replace(layout, start, end, NULL);
}
