/* SPDX-License-Identifier: MIT */
/*
 * address_spaces.c - see address_spaces.h. The most recently found process and mapping are tried
 * first.
 */
#include "symbol/address_spaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "symbol/address_spaces_int.h"

#define KERNEL (-1)
/* range after the kernel's text that may also be kernel code */
#define KERNEL_BEHIND (64u << 20)

struct space {
	int32_t pid;
	uint32_t index; /* index of the space in `all` */
	uint32_t last;  /* index of the mapping found last */
	uint32_t version;
	struct wm_layout *layout;
	struct wm_layout *before; /* mappings of the program that called exec; may be NULL */
	bool dead;
	bool is_watched;             /* the kernel reports all mappings of the process */
	struct space *older, *newer; /* list of spaces of exited processes */
};

struct wm_spaces {
	struct wm_modules *modules;
	struct space **all;
	uint32_t nr, room;
	struct wm_table by_pid;
	struct space *last; /* the space found last */
	struct space *kernel;
	struct space *oldest, *newest; /* spaces of exited processes, by time of exit */
	uint32_t nr_dead;
	/* the last version number; each change of a space gets a new one */
	uint32_t nr_versions;
	uint64_t nr_refused;
	struct wm_spaces_kind kinds[WM_SPACES_KINDS];
};

/* ---- the table --------------------------------------------------------------- */

static uint64_t spaces_hash_of(const struct wm_spaces *s, const struct space *p)
{
	return wm_table_hash(&s->by_pid, (uint32_t)p->pid);
}

static int put_in(struct wm_spaces *s, struct space *p)
{
	if (WM_ARRAY_GROW(s->all, s->room, (size_t)s->nr + 1) ||
	    wm_table_add(&s->by_pid, spaces_hash_of(s, p), s->nr))
		return -ENOMEM;
	p->index = s->nr;
	s->all[s->nr++] = p;
	return 0;
}

/* Removes a space; the last space takes over its index. */
static void take_out(struct wm_spaces *s, struct space *p)
{
	struct space *last = s->all[--s->nr];

	wm_table_remove(&s->by_pid, spaces_hash_of(s, p), p->index);
	if (last == p)
		return;
	wm_table_remove(&s->by_pid, spaces_hash_of(s, last), last->index);
	last->index = p->index;
	s->all[last->index] = last;
	(void)wm_table_add(&s->by_pid, spaces_hash_of(s, last),
			   last->index); /* cannot fail: there is room */
}

/* ---- the dead ------------------------------------------------------------------ */

static void leave_dead(struct wm_spaces *s, struct space *p)
{
	if (!p->dead)
		return;
	*(p->older ? &p->older->newer : &s->oldest) = p->newer;
	*(p->newer ? &p->newer->older : &s->newest) = p->older;
	p->older = p->newer = NULL;
	p->dead = false;
	s->nr_dead--;
}

static void spaces_forget(struct wm_spaces *s, struct space *p)
{
	leave_dead(s, p);
	take_out(s, p);
	if (s->last == p)
		s->last = NULL;
	wm_layout_put(p->layout);
	wm_layout_put(p->before);
	free(p);
}

static void join_dead(struct wm_spaces *s, struct space *p)
{
	leave_dead(s, p);
	p->dead = true;
	p->older = s->newest;
	*(s->newest ? &s->newest->newer : &s->oldest) = p;
	s->newest = p;
	if (++s->nr_dead > WM_SPACES_DEAD_MAX)
		spaces_forget(s, s->oldest);
}

/* ---- processes ------------------------------------------------------------------ */

static struct space *find_space(struct wm_spaces *s, int32_t pid)
{
	struct wm_table_walk w;

	if (s->last && s->last->pid == pid)
		return s->last;
	w = wm_table_walk(wm_table_hash(&s->by_pid, (uint32_t)pid));
	while (wm_table_next(&s->by_pid, &w))
		if (s->all[w.index]->pid == pid)
			return s->last = s->all[w.index];
	return NULL;
}

/*
 * Returns the space of a pid, creating it if needed. If the process had exited, the pid now belongs
 * to a new process, which inherits the space.
 */
static struct space *get_space(struct wm_spaces *s, int32_t pid)
{
	struct space *p = find_space(s, pid);

	if (p) {
		leave_dead(s, p);
		return p;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	if (!put_in(s, p))
		return p;
	free(p);
	return NULL;
}

struct wm_spaces *wm_spaces_create(struct wm_modules *modules)
{
	struct wm_spaces *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->modules = modules;
	wm_table_init(&s->by_pid);
	s->kernel = calloc(1, sizeof(*s->kernel));
	if (s->kernel)
		return s;
	free(s);
	return NULL;
}

void wm_spaces_destroy(struct wm_spaces *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nr; i++) {
		wm_layout_put(s->all[i]->layout);
		wm_layout_put(s->all[i]->before);
		free(s->all[i]);
	}
	wm_layout_put(s->kernel->layout);
	free(s->kernel);
	free(s->all);
	wm_table_done(&s->by_pid);
	free(s);
}

int wm_spaces_map(struct wm_spaces *s, int32_t pid, const struct wm_mapping *m)
{
	struct space *p = pid == KERNEL ? s->kernel : get_space(s, pid);
	int err = p ? wm_layout_map(&p->layout, m) : -ENOMEM;

	if (p)
		p->version = ++s->nr_versions;
	s->nr_refused += err == -E2BIG;
	return err;
}

void wm_spaces_unmap(struct wm_spaces *s, int32_t pid, uint64_t start, uint64_t end)
{
	struct space *p = pid == KERNEL ? s->kernel : find_space(s, pid);

	if (!p)
		return;
	p->version = ++s->nr_versions;
	if (wm_layout_unmap(&p->layout, start, end))
		s->nr_refused++;
}

int wm_spaces_fork(struct wm_spaces *s, int32_t parent, int32_t child)
{
	struct space *from, *to;

	if (parent == child)
		return 0;
	to = get_space(s, child);
	if (!to)
		return -ENOMEM;
	to->version = ++s->nr_versions;
	from = find_space(s, parent);
	wm_layout_put(to->layout);
	wm_layout_put(to->before);
	to->before = NULL;
	to->layout = from ? from->layout : NULL;
	to->is_watched = from && from->is_watched;
	if (to->layout)
		to->layout->nr_users++;
	return 0;
}

void wm_spaces_watch(struct wm_spaces *s, int32_t pid)
{
	struct space *p = find_space(s, pid);

	if (p)
		p->is_watched = true;
}

bool wm_spaces_is_watched(struct wm_spaces *s, int32_t pid)
{
	const struct space *p = find_space(s, pid);

	return p && p->is_watched;
}

void wm_spaces_exec(struct wm_spaces *s, int32_t pid)
{
	struct space *p = find_space(s, pid);

	if (!p)
		return;
	leave_dead(s, p);
	p->version = ++s->nr_versions;
	wm_layout_put(p->before);
	p->before = p->layout;
	p->layout = NULL;
}

void wm_spaces_exit(struct wm_spaces *s, int32_t pid)
{
	struct space *p = find_space(s, pid);

	if (p)
		join_dead(s, p);
}

/* ---- lookup ----------------------------------------------------------------------- */

static bool find_in(struct space *p, uint64_t address, struct wm_place *ret)
{
	const struct wm_layout *l = p->layout;
	const struct wm_mapping *m;

	if (!l || !l->nr)
		return false;
	if (p->last >= l->nr || address < l->mappings[p->last].start ||
	    address >= l->mappings[p->last].end) {
		uint32_t i = wm_layout_find(l, address);

		if (i == l->nr)
			return false;
		p->last = i;
	}
	m = &l->mappings[p->last];
	*ret = (struct wm_place){m->module, address - m->base, m->is_offset};
	return true;
}

/* Finds the address in the program before an exec, since that program made the exec call. */
static bool find_before(const struct space *p, uint64_t address, struct wm_place *ret)
{
	uint32_t i = p->before ? wm_layout_find(p->before, address) : 0;
	const struct wm_mapping *m;

	if (!p->before || i == p->before->nr)
		return false;
	m = &p->before->mappings[i];
	*ret = (struct wm_place){m->module, address - m->base, m->is_offset};
	return true;
}

const struct wm_mapping *wm_spaces_mapping(struct wm_spaces *s, int32_t pid, uint64_t address)
{
	struct space *p = pid == KERNEL ? s->kernel : find_space(s, pid);
	struct wm_place place;

	return p && find_in(p, address, &place) ? &p->layout->mappings[p->last] : NULL;
}

/*
 * Returns whether the address is in memory that the kernel freed after boot, just after the text
 * that the trace describes.
 */
static bool find_behind(const struct wm_spaces *s, uint64_t address, struct wm_place *ret)
{
	const struct wm_layout *l = s->kernel->layout;

	for (uint32_t i = 0; l && i < l->nr; i++) {
		const struct wm_mapping *m = &l->mappings[i];

		if (m->module->kind != WM_MODULE_KERNEL || address < m->end ||
		    address - m->end >= KERNEL_BEHIND)
			continue;
		*ret = (struct wm_place){m->module, address - m->base, m->is_offset};
		return true;
	}
	return false;
}

/* Adds a mapping for the kernel if no event described it. */
static bool describe_kernel(struct wm_spaces *s)
{
	const struct wm_module_key key = {.kind = WM_MODULE_KERNEL,
					  .path = "[kernel.kallsyms]",
					  .path_bytes = strlen("[kernel.kallsyms]"),
					  .pid = KERNEL};
	struct wm_mapping m = {.start = 1ull << 63, .end = UINT64_MAX};

	m.module = wm_modules_get(s->modules, &key);
	return m.module && wm_layout_map(&s->kernel->layout, &m) == 0;
}

static bool spaces_find_kernel(struct wm_spaces *s, uint64_t address, struct wm_place *ret)
{
	if (find_in(s->kernel, address, ret))
		return true;
	if (s->kernel->layout)
		return find_behind(s, address, ret);
	return address >> 63 && describe_kernel(s) && find_in(s->kernel, address, ret);
}

bool wm_spaces_find(struct wm_spaces *s, int32_t pid, uint64_t address, enum wm_event_mode mode,
		    struct wm_place *ret)
{
	struct space *p;

	if (mode == WM_MODE_GUEST_KERNEL || mode == WM_MODE_GUEST_USER)
		return false;
	if (mode != WM_MODE_KERNEL) {
		p = find_space(s, pid);
		if (p && (find_in(p, address, ret) || find_before(p, address, ret)))
			return true;
		if (mode == WM_MODE_USER || !(address >> 63))
			return false;
	}
	return spaces_find_kernel(s, address, ret);
}

uint64_t wm_spaces_version(struct wm_spaces *s, int32_t pid)
{
	const struct space *p = find_space(s, pid);

	return (uint64_t)(p ? p->version : 0) << 32 | s->kernel->version;
}

uint64_t wm_spaces_kernel_version(const struct wm_spaces *s)
{
	return s->kernel->version;
}

uint64_t wm_spaces_nr_refused(const struct wm_spaces *s)
{
	return s->nr_refused;
}

void wm_spaces_join(struct wm_spaces *s, const struct wm_spaces *later)
{
	s->nr_refused = later->nr_refused;
}

struct wm_modules *wm_spaces_modules(const struct wm_spaces *s)
{
	return s->modules;
}

struct wm_spaces_kind *wm_spaces_kinds(struct wm_spaces *s)
{
	return s->kinds;
}

void wm_spaces_size(const struct wm_spaces *s, uint32_t *ret_processes, uint64_t *ret_mappings)
{
	uint64_t nr = 0;

	/* Each user of a shared layout is charged its share of the mappings. */
	for (uint32_t i = 0; i < s->nr; i++)
		if (s->all[i]->layout)
			nr +=
			    (uint64_t)s->all[i]->layout->nr * 65536u / s->all[i]->layout->nr_users;
	*ret_processes = s->nr;
	*ret_mappings = (nr + 32768u) / 65536u;
}
