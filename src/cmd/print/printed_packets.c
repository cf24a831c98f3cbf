/* SPDX-License-Identifier: MIT */
/*
 * printed_packets.c - see printed_packets.h. A packet is identified by a 64-bit hash of its file's
 * path and its offset, with a seed. Traces have no fixed number: parts of one recording are joined
 * as soon as they have streams.
 */
#include "cmd/print/printed_packets.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
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

/* Returns the hash of the path of a stream's file. */
static uint64_t printed_file_of(const struct wm_print_seen *s, const struct wm_trace *t,
				uint32_t stream)
{
	char path[PATH_MAX];
	int bytes = snprintf(path, sizeof(path), "%s/%s", t->path, t->streams[stream]->file);

	if (bytes >= (int)sizeof(path))
		bytes = sizeof(path) - 1;
	return wm_mix_bytes(s->table.seed, path, bytes < 0 ? 0 : (size_t)bytes);
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

int wm_print_seen_skip(struct wm_print_seen *s, struct wm_trace *t)
{
	uint64_t kept = 0, file = 0;
	uint32_t stream = UINT32_MAX;

	for (uint64_t i = 0; i < t->nr_packets; i++) {
		uint64_t key;

		if (t->packets[i].stream != stream) {
			stream = t->packets[i].stream;
			file = printed_file_of(s, t, stream);
		}
		key = wm_mix_words(s->table.seed, (uint64_t[]){file, t->packets[i].offset}, 2);
		if (printed_is_known(s, key))
			continue;
		if (printed_add(s, key))
			return -ENOMEM;
		t->packets[kept++] = t->packets[i];
	}
	t->nr_packets = kept;
	return 0;
}
