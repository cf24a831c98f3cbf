/* SPDX-License-Identifier: MIT */
/* modules.c - see modules.h. */
#include "symbol/modules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/table.h"

static const char kernel[] = "[kernel.kallsyms]";

/* A build-id that the trace gave separately from the mappings. */
struct told {
	const char *path;
	uint8_t bytes;
	unsigned char id[WM_MODULE_BUILD_BYTES];
};

struct wm_modules {
	struct wm_arena arena;
	struct wm_module **all;
	struct told *told;
	struct wm_table by_key, by_path; /* indexes of all[] and told[] */
	struct wm_trace *trace;
	struct wm_kernel_mark kernel;
};

struct wm_modules *wm_modules_create(void)
{
	struct wm_modules *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	wm_arena_init(&m->arena, SIZE_MAX);
	wm_table_init(&m->by_key);
	wm_table_init(&m->by_path);
	return m;
}

void wm_modules_destroy(struct wm_modules *m)
{
	if (!m)
		return;
	wm_arena_done(&m->arena);
	wm_table_done(&m->by_key);
	wm_table_done(&m->by_path);
	free(m);
}

uint32_t wm_modules_nr(const struct wm_modules *m)
{
	return m->by_key.nr;
}

struct wm_module *wm_modules_at(const struct wm_modules *m, uint32_t index)
{
	return m->all[index];
}

/* ---- builds stated separately -------------------------------------------- */

static bool modules_same_text(const char *have, const char *path, size_t bytes)
{
	return strncmp(have, path, bytes) == 0 && !have[bytes];
}

static struct told *find_told(const struct wm_modules *m, const char *path, size_t bytes)
{
	struct wm_table_walk w = wm_table_walk(wm_table_hash_bytes(&m->by_path, path, bytes));

	while (wm_table_next(&m->by_path, &w))
		if (modules_same_text(m->told[w.index].path, path, bytes))
			return &m->told[w.index];
	return NULL;
}

static struct told *add_told(struct wm_modules *m, const char *path, size_t bytes)
{
	uint32_t nr = m->by_path.nr;
	struct told *more;

	if (nr >= WM_MODULES_MAX)
		return NULL;
	more = wm_arena_grow(&m->arena, m->told, nr, sizeof(*more));
	if (!more)
		return NULL;
	m->told = more;
	more[nr].path = wm_arena_copy(&m->arena, path, bytes);
	if (!more[nr].path ||
	    wm_table_add(&m->by_path, wm_table_hash_bytes(&m->by_path, path, bytes), nr))
		return NULL;
	return &more[nr];
}

static size_t cut_id(size_t bytes)
{
	return bytes < WM_MODULE_BUILD_BYTES ? bytes : WM_MODULE_BUILD_BYTES;
}

int wm_modules_build_id(struct wm_modules *m, const char *path, size_t path_bytes,
			const unsigned char *id, size_t id_bytes)
{
	struct told *t;

	path_bytes =
	    strnlen(path, path_bytes < WM_MODULE_PATH_MAX ? path_bytes : WM_MODULE_PATH_MAX);
	if (!id_bytes)
		return 0;
	t = find_told(m, path, path_bytes);
	if (!t)
		t = add_told(m, path, path_bytes);
	if (!t)
		return -ENOMEM;
	t->bytes = (uint8_t)cut_id(id_bytes);
	memcpy(t->id, id, t->bytes);
	for (uint32_t i = 0; i < m->by_key.nr; i++) {
		struct wm_module *have = m->all[i];

		if (have->build_id_bytes || !modules_same_text(have->path, path, path_bytes))
			continue;
		have->build_id_bytes = t->bytes;
		memcpy(have->build_id, t->id, t->bytes);
	}
	return 0;
}

/* ---- modules ---------------------------------------------------------------- */

/*
 * A module. Modules with the same path differ only in the build-ids that came with their mappings.
 */
struct entry {
	struct wm_module module;
	bool by_build;
};

static uint64_t hash_key(const struct wm_modules *m, const struct wm_module_key *k)
{
	uint64_t hash = wm_table_hash_bytes(&m->by_key, k->path, k->path_bytes);
	uint32_t pid = k->kind == WM_MODULE_JIT ? (uint32_t)k->pid : 0;

	hash = wm_mix_bytes(hash, k->build_id, cut_id(k->build_id_bytes));
	return wm_mix(hash ^ pid, hash ^ k->kind);
}

static bool is_it(const struct entry *e, const struct wm_module_key *k)
{
	const struct wm_module *m = &e->module;
	size_t id_bytes = cut_id(k->build_id_bytes);

	return m->kind == k->kind && modules_same_text(m->path, k->path, k->path_bytes) &&
	       (k->kind != WM_MODULE_JIT || m->pid == k->pid) && e->by_build == (id_bytes > 0) &&
	       (!id_bytes ||
		(m->build_id_bytes == id_bytes && !memcmp(m->build_id, k->build_id, id_bytes)));
}

/* Derives a kernel module's name: "[ext4]" from "/lib/modules/6.1/kernel/fs/ext4/ext4.ko.xz". */
static size_t kmodule_name(const char *file, size_t bytes, char name[WM_MODULE_PATH_MAX + 3])
{
	const char *slash = memrchr(file, '/', bytes), *begin = slash ? slash + 1 : file;
	const char *end = memmem(begin, (size_t)(file + bytes - begin), ".ko", 3);
	size_t n = 0;

	if (!end)
		end = file + bytes;
	name[n++] = '[';
	for (; begin < end; begin++)
		name[n++] = *begin == '-' ? '_' : *begin;
	name[n++] = ']';
	return n;
}

/*
 * Returns whether a trace has the kernel's symbols. If several traces are from one machine, that
 * one is used, or the last one.
 */
static bool modules_has_symbols(struct wm_trace *t)
{
	const char *text;
	size_t bytes;

	return wm_trace_kallsyms(t, &text, &bytes) == 0;
}

int wm_modules_of_trace(struct wm_modules *m, struct wm_trace *t)
{
	char name[WM_MODULE_PATH_MAX + 3];
	int err = 0;

	if (!m->trace || !modules_has_symbols(m->trace))
		m->trace = t;
	for (uint32_t i = 0; !err && i < t->nr_binaries; i++) {
		const struct wm_trace_binary *b = &t->binaries[i];
		const char *path = b->path;
		size_t n = strnlen(path, WM_MODULE_PATH_MAX);

		if (b->kernel && path[0] == '/') {
			n = kmodule_name(path, n, name);
			path = name;
		} else if (b->kernel && !strncmp(path, kernel, strlen(kernel))) {
			n = strlen(kernel); /* without the reference symbol's name */
		}
		err = wm_modules_build_id(m, path, n, b->build_id, b->build_id_bytes);
	}
	return err;
}

int wm_modules_rebind(struct wm_modules *m, struct wm_trace *t)
{
	m->trace = NULL;
	for (uint32_t i = 0; i < wm_modules_nr(m); i++)
		if (wm_modules_at(m, i)->trace)
			wm_modules_at(m, i)->trace = t;
	return wm_modules_of_trace(m, t);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] && strncmp(path, "//", 2) != 0 ? slash + 1 : path;
}

/*
 * Builds perf's name for compiled code, "[JIT] tid PID", instead of the name of the file that lists
 * its functions.
 */
static const char *jit_name(struct wm_modules *m, int32_t pid)
{
	char name[32];

	return wm_arena_copy(&m->arena, name,
			     (size_t)snprintf(name, sizeof(name), "[JIT] tid %d", pid));
}

static struct entry *modules_make(struct wm_modules *m, const struct wm_module_key *k)
{
	struct entry *e = wm_arena_get(&m->arena, sizeof(*e));
	const struct told *t = NULL;

	if (!e)
		return NULL;
	e->by_build = k->build_id_bytes > 0;
	e->module.kind = k->kind;
	e->module.pid = k->pid;
	e->module.trace = m->trace;
	e->module.kernel = &m->kernel;
	e->module.path = wm_arena_copy(&m->arena, k->path, k->path_bytes);
	if (!e->module.path)
		return NULL;
	e->module.name = k->kind == WM_MODULE_JIT ? jit_name(m, k->pid) : last_part(e->module.path);
	if (!e->module.name)
		return NULL;
	if (e->by_build) {
		e->module.build_id_bytes = (uint8_t)cut_id(k->build_id_bytes);
		memcpy(e->module.build_id, k->build_id, e->module.build_id_bytes);
	} else if ((t = find_told(m, k->path, k->path_bytes))) {
		e->module.build_id_bytes = t->bytes;
		memcpy(e->module.build_id, t->id, t->bytes);
	}
	return e;
}

static struct wm_module *modules_add(struct wm_modules *m, const struct wm_module_key *k,
				     uint64_t hash)
{
	uint32_t nr = m->by_key.nr;
	struct wm_module **more;
	struct entry *e;

	if (nr >= WM_MODULES_MAX)
		return NULL;
	more = wm_arena_grow(&m->arena, m->all, nr, sizeof(*more));
	if (!more)
		return NULL;
	m->all = more;
	e = modules_make(m, k);
	if (!e || wm_table_add(&m->by_key, hash, nr))
		return NULL;
	e->module.index = nr;
	m->all[nr] = &e->module;
	return &e->module;
}

static struct wm_module *modules_find(const struct wm_modules *m, const struct wm_module_key *k,
				      uint64_t hash)
{
	struct wm_table_walk w = wm_table_walk(hash);

	while (wm_table_next(&m->by_key, &w)) {
		struct entry *e = (struct entry *)m->all[w.index];

		if (is_it(e, k))
			return &e->module;
	}
	return NULL;
}

struct wm_module *wm_modules_get(struct wm_modules *m, const struct wm_module_key *key)
{
	size_t bytes = strnlen(
	    key->path, key->path_bytes < WM_MODULE_PATH_MAX ? key->path_bytes : WM_MODULE_PATH_MAX);
	bool is_file = key->kind == WM_MODULE_KMODULE && bytes && key->path[0] == '/';
	struct wm_module_key k = *key;
	char name[WM_MODULE_PATH_MAX + 3];
	struct wm_module *found;
	uint64_t hash;

	k.path_bytes = bytes;
	if (is_file) {
		k.path_bytes = kmodule_name(key->path, bytes, name);
		k.path = name;
	}
	hash = hash_key(m, &k);
	found = modules_find(m, &k, hash);
	if (!found)
		found = modules_add(m, &k, hash);
	if (found && is_file && !found->file)
		found->file = wm_arena_copy(&m->arena, key->path, bytes);
	return found;
}

/* ---- parts ---------------------------------------------------------------------- */

static struct wm_module *get_like(struct wm_modules *m, const struct entry *e)
{
	const struct wm_module *other = &e->module;
	struct wm_module_key k = {.kind = other->kind,
				  .path = other->path,
				  .path_bytes = strlen(other->path),
				  .pid = other->pid,
				  .build_id = other->build_id,
				  .build_id_bytes = e->by_build ? other->build_id_bytes : 0};
	struct wm_module *found = wm_modules_get(m, &k);

	if (found && other->file && !found->file)
		found->file = wm_arena_copy(&m->arena, other->file, strlen(other->file));
	return found;
}

int wm_modules_join(struct wm_modules *m, const struct wm_modules *later, struct wm_module ***ret)
{
	uint32_t nr = wm_modules_nr(later);
	struct wm_module **list = calloc(nr + 1, sizeof(*list));
	bool all = list;

	for (uint32_t i = 0; i < nr && all; i++) {
		list[i] = get_like(m, (const struct entry *)later->all[i]);
		all = list[i];
	}
	if (!all) {
		free(list);
		return -ENOMEM;
	}
	if (!m->kernel.address)
		m->kernel = later->kernel;
	*ret = list;
	return 0;
}
