/* SPDX-License-Identifier: MIT */
/*
 * binaries.c - a trace's table of binaries, keyed by path and build-id so that a file mapped many
 * times has one entry, and the kernel's symbols, read on first request. See reader.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/reader.h"

#define KERNEL "[kernel.kallsyms]"

static uint64_t binaries_hash_of(const struct wm_trace *t, const char *path, size_t bytes,
				 const unsigned char *id, uint32_t id_bytes)
{
	return wm_mix_bytes(wm_table_hash_bytes(&t->binary_table, path, bytes), id, id_bytes);
}

static bool binaries_is_same(const struct wm_trace_binary *b, const char *path, size_t bytes,
			     const unsigned char *id, uint32_t id_bytes)
{
	return b->build_id_bytes == id_bytes && !memcmp(b->build_id, id, id_bytes) &&
	       !strncmp(b->path, path, bytes) && !b->path[bytes];
}

static bool binaries_is_known(const struct wm_trace *t, uint64_t hash, const char *path,
			      size_t bytes, const unsigned char *id, uint32_t id_bytes)
{
	struct wm_table_walk w = wm_table_walk(hash);

	while (wm_table_next(&t->binary_table, &w))
		if (binaries_is_same(&t->binaries[w.index], path, bytes, id, id_bytes))
			return true;
	return false;
}

int wm_trace_add_binary(struct wm_trace *t, const char *path, size_t path_bytes,
			const void *build_id, uint32_t build_id_bytes, bool kernel)
{
	struct wm_trace_binary *more, b = {.build_id_bytes = build_id_bytes, .kernel = kernel};
	size_t bytes = strnlen(path, path_bytes);
	uint64_t hash;

	/* perf appends a symbol's name to the path: "[kernel.kallsyms]_text". */
	if (kernel && bytes > strlen(KERNEL) && !memcmp(path, KERNEL, strlen(KERNEL)))
		bytes = strlen(KERNEL);

	if (!bytes || !build_id_bytes || build_id_bytes > WM_BUILD_ID_MAX ||
	    t->nr_binaries >= WM_TRACE_BINARIES)
		return 0;
	hash = binaries_hash_of(t, path, bytes, build_id, build_id_bytes);
	if (binaries_is_known(t, hash, path, bytes, build_id, build_id_bytes))
		return 0;
	b.path = wm_arena_copy(&t->arena, path, bytes);
	b.build_id = wm_arena_copy(&t->arena, build_id, build_id_bytes);
	more = wm_arena_grow(&t->arena, t->binaries, t->nr_binaries, sizeof(*more));
	if (!b.path || !b.build_id || !more)
		return -ENOMEM;
	t->binaries = more;
	if (wm_table_add(&t->binary_table, hash, t->nr_binaries))
		return -ENOMEM;
	t->binaries[t->nr_binaries++] = b;
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
