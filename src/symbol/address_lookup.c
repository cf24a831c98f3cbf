/* SPDX-License-Identifier: MIT */
/*
 * address_lookup.c - see address_lookup.h. A table caches recent answers; an answer is valid while
 * the address space is unchanged.
 */
#include "symbol/address_lookup.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mix.h"
#include "symbol/symbols.h"
#include "trace/merge.h"

#define ANSWERS 4096u /* cached answers, a power of two */

/* One trace's address spaces, as of the last event read. */
struct memory {
	struct wm_trace *trace;
	struct wm_modules *modules;
	struct wm_spaces *spaces;
	struct wm_unwind *unwind; /* NULL until it is needed */
	bool *types;              /* indexed by type: whether its events describe memory */
	/* merges the events that describe memory; NULL: not begun */
	struct wm_merge *telling;
	const struct wm_event *next; /* the next event that describes memory; NULL: end */
};

struct answer {
	uint64_t address;
	struct wm_place_scope scope;
	bool known;
	struct wm_named_place named;
};

struct wm_places {
	struct wm_symbols *symbols;
	struct answer *answers;
	uint64_t seed;
	uint32_t nr;
	struct memory memories[]; /* one for each trace */
};

/* ---- making -------------------------------------------------------------------------- */

static int bind_types(struct memory *m, struct wm_trace *t)
{
	bool *types = calloc(t->nr_types + 1, sizeof(*types));

	if (!types)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nr_types; i++)
		types[i] = wm_spaces_wants(t->types[i]);
	free(m->types);
	m->types = types;
	m->trace = t;
	return 0;
}

static bool memory_init(struct memory *m, struct wm_trace *t)
{
	m->modules = wm_modules_create();
	m->spaces = m->modules ? wm_spaces_create(m->modules) : NULL;
	return m->spaces && !bind_types(m, t) && !wm_modules_of_trace(m->modules, t);
}

struct wm_places *wm_places_create(struct wm_trace *const *traces, uint32_t nr_traces,
				   const struct wm_module_places *files)
{
	const struct wm_symbols_options options = {.places = *files};
	struct wm_places *p = calloc(1, sizeof(*p) + nr_traces * sizeof(*p->memories));
	bool ok;

	if (!p)
		return NULL;
	p->nr = nr_traces;
	p->seed = wm_mix_seed();
	p->symbols = wm_symbols_create(&options);
	p->answers = calloc(ANSWERS, sizeof(*p->answers));
	ok = p->symbols && p->answers;
	for (uint32_t i = 0; ok && i < nr_traces; i++)
		ok = memory_init(&p->memories[i], traces[i]);
	if (ok)
		return p;
	wm_places_destroy(p);
	return NULL;
}

void wm_places_destroy(struct wm_places *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->nr; i++) {
		struct memory *m = &p->memories[i];

		wm_merge_destroy(m->telling);
		wm_unwind_destroy(m->unwind);
		wm_spaces_destroy(m->spaces);
		wm_modules_destroy(m->modules);
		free(m->types);
	}
	wm_symbols_destroy(p->symbols);
	free(p->answers);
	free(p);
}

/* ---- following --------------------------------------------------------------------------- */

static int read_next(struct memory *m)
{
	int got = wm_merge_next(m->telling, &m->next);

	if (got <= 0)
		m->next = NULL;
	return got < 0 ? got : 0;
}

static int lookup_begin(struct memory *m)
{
	const struct wm_want want = {
	    .types = m->types, .no_parts = 1u << WM_PART_PACKET_HEADER | 1u << WM_PART_HEADER};
	const struct wm_want *wants[] = {&want};
	const struct wm_merge_options options = {INT64_MIN, INT64_MAX, wants, 1};

	m->telling = wm_merge_create(&m->trace, 1, &options);
	return m->telling ? read_next(m) : -ENOMEM;
}

/* Feeds the address spaces the events that describe memory, up to time `ns`. */
static int lookup_follow(struct memory *m, int64_t ns)
{
	int err = m->telling ? 0 : lookup_begin(m);

	while (!err && m->next && m->next->ns <= ns) {
		err = wm_spaces_feed(m->spaces, m->next);
		if (!err)
			err = read_next(m);
	}
	return err;
}

int wm_places_leave(struct wm_places *p)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < p->nr; i++) {
		struct memory *m = &p->memories[i];

		err = lookup_follow(m, INT64_MAX);
		wm_merge_destroy(m->telling);
		m->telling = NULL;
	}
	return err;
}

int wm_places_rebind(struct wm_places *p, struct wm_trace *const *traces)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < p->nr; i++) {
		err = bind_types(&p->memories[i], traces[i]);
		if (!err)
			err = wm_modules_rebind(p->memories[i].modules, traces[i]);
	}
	return err;
}

/* ---- names -------------------------------------------------------------------------------- */

/*
 * Fills the names of a place. An address in a file is converted to a file offset, as perf script
 * does; kernel addresses are unchanged.
 */
static struct wm_named_place lookup_name(struct wm_places *p, uint64_t address,
					 const struct wm_place *place)
{
	struct wm_named_place n = {.address = address};
	const struct wm_symbol *s;
	uint64_t in_image;

	if (!place)
		return n;
	n.file = place->module->path;
	if (place->is_offset)
		n.address = place->address;
	s = wm_symbols_find(p->symbols, place, NULL);
	if (!s)
		return n;
	n.symbol = s->name;
	in_image = place->address;
	if (place->is_offset)
		(void)wm_symbols_address(p->symbols, place,
					 /* cannot fail, because the place has a symbol */
					 &in_image);
	n.offset = in_image - s->start;
	return n;
}

int wm_places_scope(struct wm_places *p, uint32_t trace, const struct wm_event *e,
		    enum wm_event_mode mode, struct wm_place_scope *ret)
{
	struct memory *m = &p->memories[trace];
	int err = lookup_follow(m, e->ns);

	if (err)
		return err;
	*ret = (struct wm_place_scope){.trace = trace, .mode = mode};
	if (mode == WM_MODE_KERNEL) {
		ret->version = wm_spaces_kernel_version(m->spaces);
	} else {
		ret->version = wm_spaces_version(m->spaces, e->pid);
		ret->pid = e->pid;
	}
	return 0;
}

int wm_places_find(struct wm_places *p, uint32_t trace, const struct wm_event *e, uint64_t address,
		   enum wm_event_mode mode, struct wm_named_place *ret)
{
	struct wm_place_scope scope;
	int err = wm_places_scope(p, trace, e, mode, &scope);
	struct answer *a;
	struct wm_place place;

	if (err)
		return err;
	a = &p->answers[wm_mix(p->seed ^ address, (uint32_t)scope.pid) & (ANSWERS - 1)];
	if (!a->known || a->address != address || !wm_place_scope_equal(&a->scope, &scope)) {
		bool mapped =
		    wm_spaces_find(p->memories[trace].spaces, e->pid, address, mode, &place);

		*a = (struct answer){.address = address, .scope = scope, .known = true};
		a->named = lookup_name(p, address, mapped ? &place : NULL);
	}
	*ret = a->named;
	return 0;
}

int wm_places_callers(struct wm_places *p, uint32_t trace, const struct wm_event *e,
		      struct wm_named_place ret[WM_UNWIND_FRAMES_MAX])
{
	struct memory *m = &p->memories[trace];
	struct wm_user_frame frames[WM_UNWIND_FRAMES_MAX];
	struct wm_user_stack stack;
	enum wm_unwound how;
	uint32_t nr;
	int err;

	if (!wm_unwind_stack_of(m->trace, e, &stack))
		return 0;
	err = lookup_follow(m, e->ns);
	if (!m->unwind)
		m->unwind = wm_unwind_create(m->spaces, p->symbols);
	if (err || !m->unwind)
		return err ? err : -ENOMEM;
	nr = wm_unwind(m->unwind, &stack, frames, &how);
	for (uint32_t i = 0; i < nr; i++)
		ret[i] = lookup_name(p, frames[i].ip, frames[i].mapped ? &frames[i].place : NULL);
	return (int)nr;
}
