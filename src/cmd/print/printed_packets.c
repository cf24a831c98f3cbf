/* SPDX-License-Identifier: MIT */
/*
 * printed_packets.c - see printed_packets.h. A packet is identified by its trace, file
 * and offset: 64 bits mixed from them, in a table with open addressing.
 */
#include "cmd/print/printed_packets.h"

#include <errno.h>
#include <stdlib.h>

struct wm_print_seen {
	uint64_t *table; /* a slot is 0 when it is free */
	uint64_t nr, room;
};

struct wm_print_seen *wm_print_seen_create(void)
{
	return calloc(1, sizeof(struct wm_print_seen));
}

void wm_print_seen_destroy(struct wm_print_seen *s)
{
	if (s)
		free(s->table);
	free(s);
}

static uint64_t mix(uint64_t h, uint64_t n)
{
	h = (h ^ n) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

static uint64_t key_of(const struct wm_trace *t, const struct wm_packet *p, uint32_t index)
{
	uint64_t h = mix(index + 1, p->offset);

	for (const char *c = t->streams[p->stream]->file; *c; c++)
		h = mix(h, (unsigned char)*c);
	return h ? h : 1;
}

static uint64_t *slot(const struct wm_print_seen *s, uint64_t key)
{
	uint64_t i = key & (s->room - 1);

	while (s->table[i] && s->table[i] != key)
		i = (i + 1) & (s->room - 1);
	return &s->table[i];
}

static int make_room(struct wm_print_seen *s)
{
	struct wm_print_seen more = {.room = s->room ? 2 * s->room : 1024};

	if (2 * s->nr < s->room)
		return 0;
	more.table = calloc(more.room, sizeof(*more.table));
	if (!more.table)
		return -ENOMEM;
	for (uint64_t i = 0; i < s->room; i++)
		if (s->table[i])
			*slot(&more, s->table[i]) = s->table[i];
	free(s->table);
	s->table = more.table;
	s->room = more.room;
	return 0;
}

int wm_print_seen_skip(struct wm_print_seen *s, struct wm_trace *t, uint32_t index)
{
	uint64_t kept = 0;

	for (uint64_t i = 0; i < t->nr_packets; i++) {
		uint64_t key = key_of(t, &t->packets[i], index), *at;

		if (make_room(s))
			return -ENOMEM;
		at = slot(s, key);
		if (*at)
			continue;
		*at = key;
		s->nr++;
		t->packets[kept++] = t->packets[i];
	}
	t->nr_packets = kept;
	return 0;
}
