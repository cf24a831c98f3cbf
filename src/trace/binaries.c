/* SPDX-License-Identifier: MIT */
/*
 * binaries.c - the table of a trace's binaries, keyed by path and build-id, so that a file mapped
 * many times has one entry; and the kernel's symbols, which are read at the first request. See
 * reader.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/reader.h"

#define PLACES_MIN 64u
#define KERNEL     "[kernel.kallsyms]"

static uint32_t hash_of(const char *path, size_t bytes, const unsigned char *id, uint32_t id_bytes)
{
	uint64_t h = 14695981039346656037ull;

	for (size_t i = 0; i < bytes; i++)
		h = (h ^ (unsigned char)path[i]) * 1099511628211ull;
	for (uint32_t i = 0; i < id_bytes; i++)
		h = (h ^ id[i]) * 1099511628211ull;
	return (uint32_t)(h ^ h >> 32);
}

static bool is_same(const struct wm_trace_binary *b, const char *path, size_t bytes,
		    const unsigned char *id, uint32_t id_bytes)
{
	return b->build_id_bytes == id_bytes && !memcmp(b->build_id, id, id_bytes) &&
	       !strncmp(b->path, path, bytes) && !b->path[bytes];
}

/* Returns the slot of the binary with this path and build-id, or the free slot for it. */
static uint32_t *find(const struct wm_trace *t, const char *path, size_t bytes,
		      const unsigned char *id, uint32_t id_bytes)
{
	uint32_t mask = t->nr_binary_places - 1, at = hash_of(path, bytes, id, id_bytes) & mask;

	while (t->binary_places[at] &&
	       !is_same(&t->binaries[t->binary_places[at] - 1], path, bytes, id, id_bytes))
		at = (at + 1) & mask;
	return &t->binary_places[at];
}

static int make_room(struct wm_trace *t)
{
	uint32_t nr = t->nr_binary_places ? 2 * t->nr_binary_places : PLACES_MIN, *more;

	if (2 * (t->nr_binaries + 1) <= t->nr_binary_places)
		return 0;
	more = calloc(nr, sizeof(*more));
	if (!more)
		return -ENOMEM;
	free(t->binary_places);
	t->binary_places = more;
	t->nr_binary_places = nr;
	for (uint32_t i = 0; i < t->nr_binaries; i++) {
		const struct wm_trace_binary *b = &t->binaries[i];

		*find(t, b->path, strlen(b->path), b->build_id, b->build_id_bytes) = i + 1;
	}
	return 0;
}

int wm_trace_add_binary(struct wm_trace *t, const char *path, size_t path_bytes,
			const void *build_id, uint32_t build_id_bytes, bool kernel)
{
	struct wm_trace_binary *more, b = {.build_id_bytes = build_id_bytes, .kernel = kernel};
	size_t bytes = strnlen(path, path_bytes);
	uint32_t *place;

	/* perf appends a symbol's name to the path: "[kernel.kallsyms]_text". */
	if (kernel && bytes > strlen(KERNEL) && !memcmp(path, KERNEL, strlen(KERNEL)))
		bytes = strlen(KERNEL);

	if (!bytes || !build_id_bytes || build_id_bytes > WM_BUILD_ID_MAX ||
	    t->nr_binaries >= WM_TRACE_BINARIES)
		return 0;
	if (make_room(t))
		return -ENOMEM;
	place = find(t, path, bytes, build_id, build_id_bytes);
	if (*place)
		return 0;
	b.path = wm_arena_copy(&t->arena, path, bytes);
	b.build_id = wm_arena_copy(&t->arena, build_id, build_id_bytes);
	more = wm_arena_grow(&t->arena, t->binaries, t->nr_binaries, sizeof(*more));
	if (!b.path || !b.build_id || !more)
		return -ENOMEM;
	t->binaries = more;
	t->binaries[t->nr_binaries++] = b;
	*place = t->nr_binaries;
	return 0;
}

int wm_trace_kallsyms(struct wm_trace *t, const char **ret_text, size_t *ret_bytes)
{
	int err = 0;

	if (!t->ops->kallsyms)
		return -ENOENT;
	pthread_mutex_lock(&t->fault_lock);
	if (!t->kallsyms)
		err = t->ops->kallsyms(t, &t->kallsyms, &t->kallsyms_bytes);
	pthread_mutex_unlock(&t->fault_lock);
	if (err)
		return err;
	*ret_text = t->kallsyms;
	*ret_bytes = t->kallsyms_bytes;
	return 0;
}
