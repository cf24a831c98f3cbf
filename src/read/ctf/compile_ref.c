/* SPDX-License-Identifier: MIT */
/*
 * compile_ref.c - finds the field that holds a length, a tag or a selector, and compiles the map
 * from tag values to options. See compile.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"

#include "read/ctf/compile.h"

#define NONE UINT32_MAX

#define OPTIONALS_MAX 8u /* in one path */

#define MERGED_MAX 256u /* each merge visits all operations */

/* --- the field that a reference names ------------------------------------------------- */

/*
 * Finds a member by name. Searches backwards, because a length usually precedes its array directly.
 */
static struct wm_ctf_node *compile_ref_part(const struct wm_ctf_node *n, const char *name)
{
	for (uint32_t i = n->nr_parts; i-- > 0;) {
		if (!strcmp(n->type->members[i].raw, name))
			return &n->parts[i];
	}
	return NULL;
}

/*
 * The fields that a reference names. There are several when its path goes through a variant that
 * was decoded before: one for each option; the value is that of the chosen option.
 * When it goes through an optional that was decoded before, that must have a value.
 */
struct targets {
	struct wm_ctf_compiler *c;
	const struct wm_ctf_type *owner;
	const struct wm_ctf_node *first;
	uint32_t nr;
	uint32_t perhaps[OPTIONALS_MAX]; /* the operations of these optionals */
	uint32_t nr_perhaps;
	bool in_variant; /* the path is in a variant that was decoded before */
	bool is_bad;     /* an option has no such field, or an unsuitable one */
};

static bool compile_ref_may_give(const struct wm_ctf_type *owner, const struct wm_ctf_type *t)
{
	if (owner->kind == WM_CTF_SEQUENCE)
		return !t->is_signed && t->kind != WM_CTF_FLOAT;
	return t->kind != WM_CTF_FLOAT;
}

/*
 * Merges two slots. Their values never exist at the same time: they are in different options. An
 * event's slots are reused for the next event, so only operations from `at` on are changed.
 */
static void merge_slots(struct wm_ctf_compiler *c, uint32_t at, uint16_t from, uint16_t to)
{
	if (c->nr_merged++ == MERGED_MAX) {
		(void)wm_ctf_compile_fail(c, NULL, -E2BIG,
					  "more than %u references into variants that share fields",
					  MERGED_MAX);
		return;
	}
	for (; at < c->nr_ops; at++)
		if (c->ops[at].slot == from)
			c->ops[at].slot = to;
}

static void take_target(struct targets *t, const struct wm_ctf_node *n)
{
	struct wm_ctf_compiler *c = t->c;
	struct wm_ctf_op *op, *first;

	if (!n || n->op == NONE || !compile_ref_may_give(t->owner, n->type) ||
	    (t->first && t->first->type->is_signed != n->type->is_signed)) {
		t->is_bad = true;
		return;
	}
	op = &c->ops[n->op];
	if (!t->nr++) {
		t->first = n;
		return;
	}
	first = &c->ops[t->first->op];
	if (!first->slot && !op->slot)
		first->slot = (uint16_t)c->nr_slots++;
	if (!first->slot)
		first->slot = op->slot;
	else if (op->slot && op->slot != first->slot)
		merge_slots(c, n->op < c->event_op ? 0 : c->event_op, op->slot, first->slot);
	op->slot = first->slot;
	c->keeps_slots |= n->op < c->event_op || t->first->op < c->event_op;
}

/*
 * An optional in an option of a variant has no value when another option was chosen, and then needs
 * none: such paths are refused.
 */
static const struct wm_ctf_node *take_optional(struct targets *t, const struct wm_ctf_node *n)
{
	if (t->in_variant || t->nr_perhaps == OPTIONALS_MAX) {
		t->is_bad = true;
		return NULL;
	}
	t->perhaps[t->nr_perhaps++] = n->perhaps;
	return n->parts;
}

/*
 * Descends by names. In a list, a variant or an optional that is still being compiled, continues
 * with the node inside it; in a complete variant, with every option; in a complete optional, with
 * its value.
 */
static void compile_ref_descend(struct targets *t, const struct wm_ctf_node *n,
				const char *const *names, uint32_t nr_names)
{
	for (;;) {
		if (++t->c->nr_steps > WM_CTF_WALK_MAX)
			t->is_bad = true;
		if (!n || t->is_bad)
			break;
		if (n->type->kind == WM_CTF_STRUCT && nr_names) {
			n = *names ? compile_ref_part(n, *names) : NULL;
			names++;
			nr_names--;
		} else if (n->op == NONE && n->inner) {
			n = n->inner;
		} else if (n->type->kind == WM_CTF_VARIANT && n->nr_parts == n->type->nr_members) {
			t->in_variant = true;
			for (uint32_t i = 0; i < n->nr_parts; i++)
				compile_ref_descend(t, &n->parts[i], names, nr_names);
			return;
		} else if (n->type->kind == WM_CTF_OPTIONAL && n->nr_parts) {
			n = take_optional(t, n);
		} else {
			break;
		}
	}
	take_target(t, nr_names ? NULL : n);
}

static void compile_ref_outwards(struct targets *t, const struct wm_ctf_ref *ref)
{
	const struct wm_ctf_compiler *c = t->c;
	const char *const *names = ref->names;
	uint32_t nr_names = ref->nr_names, depth = c->nr_frames;

	for (; nr_names && !*names && depth; names++, nr_names--)
		depth--;
	for (; nr_names && depth; depth--) {
		struct wm_ctf_node *n = compile_ref_part(c->frames[depth - 1], names[0]);

		if (n && n->nr_parts + (n->op != NONE)) {
			compile_ref_descend(t, n, names + 1, nr_names - 1);
			return;
		}
		if (c->m->major == 2)
			break;
	}
}

/*
 * Emits an operation that fails when the optional has no value: a variant that is not shown, and
 * has this optional's tag and the following operation as its only option.
 */
static void require_value(struct wm_ctf_compiler *c, uint32_t perhaps)
{
	struct wm_ctf_choice *choice = wm_arena_get(&c->m->arena, sizeof(*choice));
	const struct wm_ctf_choice *from = wm_ctf_op_at(c, perhaps)->choice;
	struct wm_ctf_op *op;

	if (c->err)
		return;
	c->nr_steps += from->nr_ranges;
	if (c->nr_steps > WM_CTF_WALK_MAX) {
		(void)wm_ctf_compile_fail(c, NULL, -E2BIG, "too many references into optionals");
		return;
	}
	if (choice) {
		*choice = *from;
		choice->ranges =
		    wm_arena_array(&c->m->arena, from->nr_ranges + 1, sizeof(*choice->ranges));
	}
	if (!choice || !choice->ranges) {
		(void)wm_ctf_compile_fail(c, NULL, -ENOMEM, "out of memory for the plan");
		return;
	}
	wm_ctf_end_run(c);
	op = wm_ctf_emit(c, WM_CTF_OP_CHOOSE, wm_ctf_op_at(c, perhaps)->member);
	op->flags |= WM_CTF_FLAG_HIDDEN;
	op->slot = wm_ctf_op_at(c, perhaps)->slot;
	op->n = 1;
	op->choice = choice;
	for (uint32_t i = 0; i < from->nr_ranges; i++) {
		choice->ranges[i] = from->ranges[i];
		choice->ranges[i].at = c->nr_ops;
	}
}

uint16_t wm_ctf_compile_ref(struct wm_ctf_compiler *c, const struct wm_ctf_type *owner,
			    const struct wm_ctf_type **ret_type)
{
	const struct wm_ctf_ref *ref = &owner->ref;
	struct targets t = {.c = c, .owner = owner};
	enum wm_ctf_scope scope;
	uint32_t used = wm_ctf_ref_scope(ref, &scope);
	struct wm_ctf_op *op;
	uint16_t slot;

	if (c->err)
		return 0;
	if (c->nr_slots == WM_CTF_SLOTS_MAX) {
		(void)wm_ctf_compile_fail(c, ref, -E2BIG, "more than %u lengths and tags",
					  WM_CTF_SLOTS_MAX);
		return 0;
	}
	if (scope == WM_CTF_RELATIVE)
		compile_ref_outwards(&t, ref);
	else if (c->roots[scope])
		compile_ref_descend(&t, c->roots[scope], ref->names + used, ref->nr_names - used);
	if (!t.nr || t.is_bad) {
		const char *name = ref->nr_names ? ref->names[ref->nr_names - 1] : NULL;

		(void)wm_ctf_compile_fail(
		    c, ref, -EBADMSG,
		    "'%.100s' (a length or tag) does not refer to an earlier integer field",
		    name ? name : "..");
		return 0;
	}
	op = &c->ops[t.first->op];
	if (!op->slot) {
		op->slot = (uint16_t)c->nr_slots++;
		c->keeps_slots |= t.first->op < c->event_op;
	}
	if (c->max_slots < c->nr_slots)
		c->max_slots = c->nr_slots;
	slot = op->slot;
	for (uint32_t i = 0; i < t.nr_perhaps; i++)
		require_value(c, t.perhaps[i]);
	*ret_type = t.first->type;
	return c->err ? 0 : slot;
}

/* --- options by value ------------------------------------------------------------------- */

/* A range of tag values and its option. Where ranges of several options overlap, the first
 * option is chosen.
 */
struct want {
	uint64_t low, high;
	uint32_t option;
};

struct wants {
	struct want *at;
	uint32_t count, room;
};

static int by_label(const void *a, const void *b)
{
	const struct wm_ctf_label *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static bool compile_ref_want(struct wants *w, struct wm_ctf_range r, uint64_t bias, uint32_t option)
{
	if (WM_ARRAY_GROW(w->at, w->room, (size_t)w->count + 1))
		return false;
	w->at[w->count++] = (struct want){(uint64_t)r.low + bias, (uint64_t)r.high + bias, option};
	return true;
}

/* CTF 1.8: an option's name is a label of the tag. */
static bool want_labels(struct wants *w, const struct wm_ctf_type *owner,
			const struct wm_ctf_type *tag, uint64_t bias)
{
	const struct wm_ctf_label **sorted = calloc(tag->nr_labels + 1, sizeof(*sorted));
	bool ok = sorted;

	for (uint32_t i = 0; ok && i < tag->nr_labels; i++)
		sorted[i] = &tag->labels[i];
	if (ok)
		qsort(sorted, tag->nr_labels, sizeof(*sorted), by_label);
	for (uint32_t i = 0; ok && i < owner->nr_members; i++) {
		uint32_t low = WM_SEARCH(0, tag->nr_labels, k,
					 strcmp(sorted[k]->name, owner->members[i].raw) < 0);
		for (; ok && low < tag->nr_labels &&
		       !strcmp(sorted[low]->name, owner->members[i].raw);
		     low++)
			ok = compile_ref_want(w, sorted[low]->range, bias, i);
	}
	free(sorted);
	return ok;
}

static bool want_ranges(struct wants *w, const struct wm_ctf_type *owner,
			const struct wm_ctf_type *tag, uint64_t bias)
{
	bool ok = true;

	for (uint32_t i = 0; i < owner->nr_members; i++) {
		const struct wm_ctf_member *m = &owner->members[i];

		for (uint32_t r = 0; ok && r < m->nr_ranges; r++)
			ok = compile_ref_want(w, m->ranges[r], bias, i);
	}
	/* Without ranges the selector is a boolean. */
	if (ok && owner->kind == WM_CTF_OPTIONAL && (!owner->nr_members || tag->is_bool))
		ok = compile_ref_want(w, (struct wm_ctf_range){1, -1}, 0, 0);
	return ok;
}

/* Sorts by start; ranges with equal starts keep the order of the metadata. */
static int compile_ref_by_low(const void *a, const void *b)
{
	const struct want *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->option < y->option ? -1 : x->option > y->option;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* A binary heap of the ranges that contain the current value, ordered by option. */
struct heap {
	const struct want **at;
	uint32_t count;
};

static void heap_push(struct heap *h, const struct want *w)
{
	uint32_t i = h->count++;

	for (; i && h->at[(i - 1) / 2]->option > w->option; i = (i - 1) / 2)
		h->at[i] = h->at[(i - 1) / 2];
	h->at[i] = w;
}

static void heap_pop(struct heap *h)
{
	const struct want *last = h->at[--h->count];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < h->count) {
		child += child + 1 < h->count && h->at[child + 1]->option < h->at[child]->option;
		if (last->option <= h->at[child]->option)
			break;
		h->at[i] = h->at[child];
		i = child;
	}
	h->at[i] = last;
}

/*
 * Turns ranges that may overlap into disjoint ones. `edges` are the values at which a range begins,
 * or which follow its end.
 */
static void compile_ref_sweep(const struct wants *w, struct heap *h, const uint64_t *edges,
			      uint32_t nr_edges, struct wm_ctf_choice *ret)
{
	uint32_t next = 0;

	for (uint32_t e = 0; e < nr_edges; e++) {
		uint64_t low = edges[e];
		uint64_t high = e + 1 < nr_edges ? edges[e + 1] - 1 : UINT64_MAX;
		struct wm_ctf_choice_range *last =
		    ret->nr_ranges ? &ret->ranges[ret->nr_ranges - 1] : NULL;

		if (e + 1 < nr_edges && edges[e + 1] == low)
			continue;
		for (; next < w->count && w->at[next].low <= low; next++)
			heap_push(h, &w->at[next]);
		while (h->count && h->at[0]->high < low)
			heap_pop(h);
		if (!h->count)
			continue;
		if (last && last->option == h->at[0]->option && last->high + 1 == low)
			last->high = high;
		else
			ret->ranges[ret->nr_ranges++] =
			    (struct wm_ctf_choice_range){low, high, h->at[0]->option, 0};
	}
}

static bool disjoint(struct wm_ctf_compiler *c, struct wants *w, struct wm_ctf_choice *ret)
{
	uint64_t *edges = calloc(2 * (size_t)w->count + 1, sizeof(*edges));
	struct heap h = {.at = calloc(w->count + 1, sizeof(*h.at))};
	uint32_t nr_edges = 0;
	bool ok;

	ret->ranges = wm_arena_array(&c->m->arena, 2 * (size_t)w->count + 1, sizeof(*ret->ranges));
	ok = edges && h.at && ret->ranges;
	for (uint32_t i = 0; ok && i < w->count; i++) {
		edges[nr_edges++] = w->at[i].low;
		if (w->at[i].high < UINT64_MAX)
			edges[nr_edges++] = w->at[i].high + 1;
	}
	if (ok && w->count) {
		qsort(w->at, w->count, sizeof(*w->at), compile_ref_by_low);
		qsort(edges, nr_edges, sizeof(*edges), by_number);
		compile_ref_sweep(w, &h, edges, nr_edges, ret);
	}
	free(edges);
	free(h.at);
	return ok;
}

struct wm_ctf_choice *wm_ctf_compile_choice(struct wm_ctf_compiler *c,
					    const struct wm_ctf_type *owner,
					    const struct wm_ctf_type *tag)
{
	struct wm_ctf_choice *choice = wm_arena_get(&c->m->arena, sizeof(*choice));
	struct wants w = {0};
	bool ok = choice;

	if (ok) {
		choice->bias = tag->is_signed ? UINT64_C(1) << 63 : 0;
		ok = c->m->major == 2 ? want_ranges(&w, owner, tag, choice->bias)
				      : want_labels(&w, owner, tag, choice->bias);
	}
	ok = ok && disjoint(c, &w, choice);
	free(w.at);
	if (!ok)
		(void)wm_ctf_compile_fail(c, NULL, -ENOMEM, "out of memory for the plan");
	return ok ? choice : NULL;
}

const struct wm_ctf_choice_range *wm_ctf_choose(const struct wm_ctf_choice *c, uint64_t value)
{
	uint32_t low;

	value += c->bias;
	low = WM_SEARCH(0, c->nr_ranges, i, c->ranges[i].high < value);
	return low < c->nr_ranges && c->ranges[low].low <= value ? &c->ranges[low] : NULL;
}
