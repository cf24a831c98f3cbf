/* SPDX-License-Identifier: MIT */
/*
 * symbols.c - see symbols.h. Each build has a cache of looked-up addresses, which is emptied when
 * it becomes large.
 */
#include "symbol/symbols.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symbols_int.h"

#define HITS_MAX (1u << 20) /* cached addresses per build */
#define BUCKETS  1024u

/* A table that the background thread reads. */
struct ahead {
	struct wm_symbols *symbols;
	struct wm_module *of;    /* NULL: none */
	struct wm_module module; /* a copy, because the original may change meanwhile */
	struct wm_module_symbols *table;
	pthread_t thread;
	bool done; /* atomic: set when joining will not block */
};

struct wm_symbols {
	struct wm_symbols_options options;
	struct ahead ahead;
	struct wm_arena arena;
	struct wm_module_symbols *builds[BUCKETS];
	uint64_t counts[WM_UNNAMED_NR];
};

struct wm_symbols *wm_symbols_create(const struct wm_symbols_options *options)
{
	struct wm_symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	if (options)
		s->options = *options;
	wm_arena_init(&s->arena, SIZE_MAX);
	return s;
}

static void destroy_table(struct wm_module_symbols *t)
{
	wm_code_done(&t->code);
	free(t->made);
	free(t->segments);
	free(t->hits);
	free(t);
}

void wm_symbols_destroy(struct wm_symbols *s)
{
	if (!s)
		return;
	wm_symbols_settle(s);
	for (size_t i = 0; i < BUCKETS; i++) {
		while (s->builds[i]) {
			struct wm_module_symbols *t = s->builds[i];

			s->builds[i] = t->next;
			destroy_table(t);
		}
	}
	wm_arena_done(&s->arena);
	free(s);
}

/* ---- a module's names ----------------------------------------------------------- */

static bool is_kernel(const struct wm_module *m)
{
	return m->kind == WM_MODULE_KERNEL || m->kind == WM_MODULE_KMODULE;
}

/*
 * Returns whether a module can use the table: a kernel and its modules share one; other modules
 * share a table if they have the same build-id.
 */
static bool is_shared(const struct wm_module_symbols *t, const struct wm_module *m)
{
	if (is_kernel(m))
		return t->kind == WM_MODULE_KERNEL && t->trace == m->trace;
	return t->kind == m->kind && m->build_id_bytes && t->build_id_bytes == m->build_id_bytes &&
	       !memcmp(t->build_id, m->build_id, m->build_id_bytes) && t->why == WM_NAMED;
}

static struct wm_module_symbols **bucket_of(struct wm_symbols *s, const struct wm_module *m)
{
	uint64_t hash = 0;

	if (is_kernel(m))
		hash = (uintptr_t)m->trace;
	else
		memcpy(&hash, m->build_id, sizeof(hash));
	if (!is_kernel(m) && !m->build_id_bytes)
		hash = m->index;
	return &s->builds[(hash * 0x9e3779b97f4a7c15ull) >> 54];
}

static int load(const struct wm_symbols *s, struct wm_module_symbols *t, const struct wm_module *m)
{
	int err;

	wm_code_init(&t->code, s->options.raw_names);
	t->kind = is_kernel(m) ? WM_MODULE_KERNEL : m->kind;
	t->trace = m->trace;
	t->build_id_bytes = m->build_id_bytes;
	memcpy(t->build_id, m->build_id, sizeof(t->build_id));
	t->otherwise = WM_UNNAMED_OUTSIDE;
	err = is_kernel(m) ? wm_symbols_load_kernel(t, m, &s->options)
			   : wm_symbols_load(t, m, &s->options);
	if (err)
		return err;
	wm_code_sort(&t->code);
	t->made = calloc(t->code.nr + 1, sizeof(*t->made));
	return t->made ? 0 : -ENOMEM;
}

/*
 * Reads the names into the table. When memory does not suffice for a file, it is treated as
 * unreadable.
 */
static void fill_table(const struct wm_symbols *s, struct wm_module_symbols *t,
		       const struct wm_module *m)
{
	if (!load(s, t, m))
		return;
	wm_code_done(&t->code);
	t->why = WM_UNNAMED_UNREADABLE;
	strcpy(t->sentence, "out of memory");
}

static struct wm_module_symbols *find_table(struct wm_symbols *s, const struct wm_module *m)
{
	struct wm_module_symbols *t = *bucket_of(s, m);

	while (t && !is_shared(t, m))
		t = t->next;
	return t;
}

static void add_table(struct wm_symbols *s, struct wm_module *m, struct wm_module_symbols *t)
{
	struct wm_module_symbols **bucket = bucket_of(s, m);

	if (is_kernel(m) && t->why == WM_NAMED)
		t->moved = wm_kernel_moved(&t->code, m->kernel);
	t->next = *bucket;
	*bucket = t;
	m->symbols = t;
}

static struct wm_module_symbols *table_of(struct wm_symbols *s, struct wm_module *m)
{
	struct wm_module_symbols *t;

	if (m->symbols)
		return m->symbols;
	wm_symbols_settle(s);
	if (!m->symbols)
		m->symbols = find_table(s, m);
	if (m->symbols)
		return m->symbols;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	fill_table(s, t, m);
	add_table(s, m, t);
	return t;
}

/* ---- the background thread --------------------------------------------------------- */

static void *read_ahead(void *data)
{
	struct ahead *a = data;

	fill_table(a->symbols, a->table, &a->module);
	__atomic_store_n(&a->done, true, __ATOMIC_RELEASE);
	return NULL;
}

void wm_symbols_settle(struct wm_symbols *s)
{
	struct ahead *a = &s->ahead;

	if (!a->of)
		return;
	pthread_join(a->thread, NULL);
	add_table(s, a->of, a->table);
	a->of = NULL;
}

void wm_symbols_expect(struct wm_symbols *s, struct wm_module *m)
{
	struct ahead *a = &s->ahead;

	if (m->symbols || (a->of && !__atomic_load_n(&a->done, __ATOMIC_ACQUIRE)))
		return;
	wm_symbols_settle(s);
	if (m->symbols || find_table(s, m))
		return;
	*a = (struct ahead){.symbols = s, .module = *m, .table = calloc(1, sizeof(*a->table))};
	if (a->table && !pthread_create(&a->thread, NULL, read_ahead, a))
		a->of = m;
	else
		free(a->table); /* it will be read on first use instead */
}

/* ---- places -------------------------------------------------------------------------- */

static bool in_segment(const struct wm_module_segment *g, uint64_t offset)
{
	return offset - g->offset < g->bytes;
}

static bool to_address(struct wm_module_symbols *t, const struct wm_place *p, uint64_t *ret)
{
	*ret = p->address;
	if (!p->is_offset) {
		*ret -= t->moved;
		return true;
	}
	for (uint32_t i = 0; i < t->nr_segments; i++) {
		uint32_t k = i ? (i == t->last_segment ? 0 : i) : t->last_segment;

		if (!in_segment(&t->segments[k], p->address))
			continue;
		t->last_segment = k;
		*ret = p->address - t->segments[k].offset + t->segments[k].address;
		return true;
	}
	return false;
}

bool wm_symbols_address(struct wm_symbols *s, const struct wm_place *place, uint64_t *ret)
{
	struct wm_module_symbols *t = table_of(s, place->module);

	return t && to_address(t, place, ret);
}

/* ---- the cache ------------------------------------------------------------------------ */

static struct wm_symbol_hit *place_of(const struct wm_module_symbols *t, uint64_t address)
{
	uint32_t at = (uint32_t)((address * 0x9e3779b97f4a7c15ull) >> 32) & (t->room_hits - 1);

	while (t->hits[at].used && t->hits[at].address != address)
		at = (at + 1) & (t->room_hits - 1);
	return &t->hits[at];
}

/* Doubles the table; at its maximum size, empties it instead. */
static bool make_room(struct wm_module_symbols *t)
{
	struct wm_symbol_hit *old = t->hits;
	uint32_t room = t->room_hits;

	if (2 * t->nr_hits < room)
		return true;
	if (room >= HITS_MAX) {
		memset(t->hits, 0, room * sizeof(*t->hits));
		t->nr_hits = 0;
		return true;
	}
	t->room_hits = room ? 2 * room : 256;
	t->hits = calloc(t->room_hits, sizeof(*t->hits));
	if (!t->hits) {
		t->hits = old;
		t->room_hits = room;
		return false;
	}
	for (uint32_t i = 0; i < room; i++)
		if (old[i].used)
			*place_of(t, old[i].address) = old[i];
	free(old);
	return true;
}

static const struct wm_symbol *look_up(struct wm_symbols *s, struct wm_module_symbols *t,
				       uint64_t address)
{
	const struct wm_code_symbol *found = wm_code_at(&t->code, address);
	struct wm_symbol **made;

	if (!found)
		return NULL;
	made = &t->made[found - t->code.symbols];
	if (!*made && (*made = wm_arena_get(&s->arena, sizeof(**made))))
		**made = (struct wm_symbol){.name = wm_code_name(&t->code, found),
					    .start = found->start + t->moved,
					    .end = found->end + t->moved};
	return *made;
}

static const struct wm_symbol *find(struct wm_symbols *s, struct wm_module_symbols *t,
				    uint64_t address)
{
	struct wm_symbol_hit *hit;
	const struct wm_symbol *found;

	if (t->room_hits) {
		hit = place_of(t, address);
		if (hit->used)
			return hit->symbol;
	}
	found = look_up(s, t, address);
	if (make_room(t)) {
		*place_of(t, address) = (struct wm_symbol_hit){address, found, true};
		t->nr_hits++;
	}
	return found;
}

/* Returns the only symbol of a function that the kernel generated; it has the module's name. */
static const struct wm_symbol *whole(struct wm_symbols *s, const struct wm_module *m,
				     struct wm_module_symbols *t)
{
	if (!t->whole && (t->whole = wm_arena_get(&s->arena, sizeof(*t->whole))))
		*t->whole = (struct wm_symbol){.name = m->path, .end = UINT64_MAX};
	return t->whole;
}

static const struct wm_symbol *answer(struct wm_symbols *s, const struct wm_place *place,
				      enum wm_unnamed *why)
{
	const struct wm_symbol *found = NULL;
	struct wm_module_symbols *t;
	uint64_t address;

	*why = WM_UNNAMED_NO_MAPPING;
	if (!place)
		return NULL;
	t = table_of(s, place->module);
	*why = t ? t->why : WM_UNNAMED_UNREADABLE;
	if (*why != WM_NAMED)
		return NULL;
	if (t->moved && place->module->kind == WM_MODULE_KMODULE)
		/* the names are from another boot, and each module has moved by its own distance */
		t = NULL;
	else if (t->kind == WM_MODULE_CODE)
		found = whole(s, place->module, t);
	else if (to_address(t, place, &address))
		found = find(s, t, address);
	*why = found ? WM_NAMED : t ? t->otherwise : WM_UNNAMED_NO_KALLSYMS;
	return found;
}

const struct wm_symbol *wm_symbols_find(struct wm_symbols *s, const struct wm_place *place,
					enum wm_unnamed *ret_why)
{
	enum wm_unnamed why;
	const struct wm_symbol *found = answer(s, place, &why);

	s->counts[why]++;
	if (ret_why)
		*ret_why = why;
	return found;
}

uint64_t wm_symbols_count(const struct wm_symbols *s, enum wm_unnamed why)
{
	return s->counts[why];
}

enum wm_unnamed wm_symbols_state(struct wm_symbols *s, struct wm_module *m,
				 const char **ret_sentence)
{
	struct wm_module_symbols *t = table_of(s, m);

	*ret_sentence = "";
	if (!t)
		return WM_UNNAMED_UNREADABLE;
	if (t->why != WM_NAMED)
		*ret_sentence = t->sentence[0] ? t->sentence : wm_unnamed_text(t->why);
	return t->why;
}

const struct wm_module_places *wm_symbols_places(const struct wm_symbols *s)
{
	return &s->options.places;
}
