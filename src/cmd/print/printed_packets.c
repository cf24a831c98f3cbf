/* SPDX-License-Identifier: MIT */
/*
 * printed_packets.c - see printed_packets.h. A packet is identified by a 64-bit hash of its trace,
 * file and offset, with a seed.
 */
#include "cmd/print/printed_packets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"

struct wm_print_seen {
	struct wm_table table;
	uint64_t *keys;
	uint32_t room;
};

struct wm_print_seen *wm_print_seen_create(void)
{
	struct wm_print_seen *s = calloc(1, sizeof(*s));

	if (s)
		wm_table_init(&s->table);
	return s;
}

void wm_print_seen_destroy(struct wm_print_seen *s)
{
	if (!s)
		return;
	wm_table_done(&s->table);
	free(s->keys);
	free(s);
}

static uint64_t printed_key_of(const struct wm_print_seen *s, const struct wm_trace *t,
			       const struct wm_packet *p, uint32_t index)
{
	const char *file = t->streams[p->stream]->file;
	uint64_t place[] = {index, p->offset};

	return wm_mix_bytes(wm_mix_words(s->table.seed, place, 2), file, strlen(file));
}

static bool printed_is_known(const struct wm_print_seen *s, uint64_t key)
{
	struct wm_table_walk w = wm_table_walk(key);

	while (wm_table_next(&s->table, &w))
		if (s->keys[w.index] == key)
			return true;
	return false;
}

static int printed_add(struct wm_print_seen *s, uint64_t key)
{
	uint32_t nr = s->table.nr;

	if (WM_ARRAY_GROW(s->keys, s->room, (size_t)nr + 1))
		return -ENOMEM;
	s->keys[nr] = key;
	return wm_table_add(&s->table, key, nr);
}

int wm_print_seen_skip(struct wm_print_seen *s, struct wm_trace *t, uint32_t index)
{
	uint64_t kept = 0;

	for (uint64_t i = 0; i < t->nr_packets; i++) {
		uint64_t key = printed_key_of(s, t, &t->packets[i], index);

		if (printed_is_known(s, key))
			continue;
		if (printed_add(s, key))
			return -ENOMEM;
		t->packets[kept++] = t->packets[i];
	}
	t->nr_packets = kept;
	return 0;
}
