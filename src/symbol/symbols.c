/* SPDX-License-Identifier: MIT */
/*
 * symbols.c - see symbols.h. Each build has a cache of looked-up addresses, which is emptied when
 * it grows too large.
 */
#include "symbol/symbols.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbol/symbols_int.h"

#define HITS_MAX (1u << 19) /* cached addresses per build */

/* A table that the background thread reads. */
struct ahead {
	struct wm_symbols *symbols;
	struct wm_module *of;    /* NULL: none */
	struct wm_module module; /* a copy, because the original may change in the meantime */
	struct wm_module_symbols *table;
	pthread_t thread;
	bool done; /* atomic: set when joining will not block */
};

struct wm_symbols {
	struct wm_symbols_options options;
	struct ahead ahead;
	struct wm_arena arena;
	struct wm_module_symbols *all;
	struct wm_module_symbols **shared; /* tables that another module may use */
	struct wm_table shared_table;
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
	wm_table_init(&s->shared_table);
	return s;
}

static void destroy_table(struct wm_module_symbols *t)
{
	wm_code_done(&t->code);
	free(t->made);
	free(t->segments);
	free(t->hits);
	wm_table_done(&t->hit_table);
	free(t);
}

void wm_symbols_destroy(struct wm_symbols *s)
{
	if (!s)
		return;
	wm_symbols_settle(s);
	while (s->all) {
		struct wm_module_symbols *t = s->all;

		s->all = t->next;
		destroy_table(t);
	}
	wm_table_done(&s->shared_table);
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

static uint64_t symbols_hash_of(const struct wm_symbols *s, const struct wm_module *m)
{
	if (is_kernel(m))
		return wm_table_hash(&s->shared_table, (uintptr_t)m->trace);
	return wm_table_hash_bytes(&s->shared_table, m->build_id, m->build_id_bytes);
}

static int symbols_load(const struct wm_symbols *s, struct wm_module_symbols *t,
			const struct wm_module *m)
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
 * Reads the names into the table. A file for which there is not enough memory is treated as
 * unreadable.
 */
static void fill_table(const struct wm_symbols *s, struct wm_module_symbols *t,
		       const struct wm_module *m)
{
	wm_table_init(&t->hit_table);
	if (!symbols_load(s, t, m))
		return;
	wm_code_done(&t->code);
	t->why = WM_UNNAMED_UNREADABLE;
	strcpy(t->sentence, "out of memory");
}

static struct wm_module_symbols *find_table(struct wm_symbols *s, const struct wm_module *m)
{
	struct wm_table_walk w = wm_table_walk(symbols_hash_of(s, m));

	while (wm_table_next(&s->shared_table, &w))
		if (is_shared(s->shared[w.index], m))
			return s->shared[w.index];
	return NULL;
}

/*
 * Lets other modules with the same build-id use the table. If there is no memory for that, each of
 * them reads its own table.
 */
static void share_table(struct wm_symbols *s, const struct wm_module *m,
			struct wm_module_symbols *t)
{
	uint32_t nr = s->shared_table.nr;
	struct wm_module_symbols **more;

	if (!is_kernel(m) && !m->build_id_bytes)
		return;
	more = wm_arena_grow(&s->arena, s->shared, nr, sizeof(*more));
	if (!more)
		return;
	s->shared = more;
	if (!wm_table_add(&s->shared_table, symbols_hash_of(s, m), nr))
		s->shared[nr] = t;
}

static void symbols_add_table(struct wm_symbols *s, struct wm_module *m,
			      struct wm_module_symbols *t)
{
	if (is_kernel(m) && t->why == WM_NAMED)
		t->moved = wm_symbols_kernel_moved(&t->code, m->kernel);
	t->next = s->all;
	s->all = t;
	m->symbols = t;
	share_table(s, m, t);
}

static struct wm_module_symbols *symbols_table_of(struct wm_symbols *s, struct wm_module *m)
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
	symbols_add_table(s, m, t);
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
	symbols_add_table(s, a->of, a->table);
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
	struct wm_module_symbols *t = symbols_table_of(s, place->module);

	return t && to_address(t, place, ret);
}

/* ---- the cache ------------------------------------------------------------------------ */

static const struct wm_symbol_hit *find_hit(const struct wm_module_symbols *t, uint64_t address)
{
	struct wm_table_walk w = wm_table_walk(wm_table_hash(&t->hit_table, address));

	while (wm_table_next(&t->hit_table, &w))
		if (t->hits[w.index].address == address)
			return &t->hits[w.index];
	return NULL;
}

/* At its maximum size, the cache is emptied. When out of memory, the hit is not cached. */
static void keep_hit(struct wm_module_symbols *t, struct wm_symbol_hit hit)
{
	uint32_t nr;

	if (t->hit_table.nr == HITS_MAX)
		wm_table_clear(&t->hit_table);
	nr = t->hit_table.nr;
	if (!WM_ARRAY_GROW(t->hits, t->room_hits, (size_t)nr + 1) &&
	    !wm_table_add(&t->hit_table, wm_table_hash(&t->hit_table, hit.address), nr))
		t->hits[nr] = hit;
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

static const struct wm_symbol *symbols_find(struct wm_symbols *s, struct wm_module_symbols *t,
					    uint64_t address)
{
	const struct wm_symbol_hit *hit = find_hit(t, address);
	const struct wm_symbol *found;

	if (hit)
		return hit->symbol;
	found = look_up(s, t, address);
	keep_hit(t, (struct wm_symbol_hit){address, found});
	return found;
}

/* Returns the only symbol of a kernel-generated function; it has the module's name. */
static const struct wm_symbol *symbols_whole(struct wm_symbols *s, const struct wm_module *m,
					     struct wm_module_symbols *t)
{
	if (!t->whole && (t->whole = wm_arena_get(&s->arena, sizeof(*t->whole))))
		*t->whole = (struct wm_symbol){.name = m->path, .end = UINT64_MAX};
	return t->whole;
}

static const struct wm_symbol *symbols_answer(struct wm_symbols *s, const struct wm_place *place,
					      enum wm_unnamed *why)
{
	const struct wm_symbol *found = NULL;
	struct wm_module_symbols *t;
	uint64_t address;

	*why = WM_UNNAMED_NO_MAPPING;
	if (!place)
		return NULL;
	t = symbols_table_of(s, place->module);
	*why = t ? t->why : WM_UNNAMED_UNREADABLE;
	if (*why != WM_NAMED)
		return NULL;
	if (t->moved && place->module->kind == WM_MODULE_KMODULE)
		/* the names are from another boot, and each module has moved by its own distance */
		t = NULL;
	else if (t->kind == WM_MODULE_CODE)
		found = symbols_whole(s, place->module, t);
	else if (to_address(t, place, &address))
		found = symbols_find(s, t, address);
	*why = found ? WM_NAMED : t ? t->otherwise : WM_UNNAMED_NO_KALLSYMS;
	return found;
}

const struct wm_symbol *wm_symbols_find(struct wm_symbols *s, const struct wm_place *place,
					enum wm_unnamed *ret_why)
{
	enum wm_unnamed why;
	const struct wm_symbol *found = symbols_answer(s, place, &why);

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
	struct wm_module_symbols *t = symbols_table_of(s, m);

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
