/* SPDX-License-Identifier: MIT */
/*
 * profile_graph.c - the call graph below a row: a tree in which the row's chains share their common
 * parts. It begins at the row's function and goes towards the callers or the callees. It is built
 * from the buckets of the row's entry; branches below the limit are left out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_int.h"
#include "base/array.h"
#include "base/text.h"

struct node {
	uint64_t weight, self; /* self: weight of chains that end here */
	uint32_t symbol;
	uint32_t first, next; /* index + 1 of first child and next sibling */
};

struct tree {
	struct node *nodes;
	uint32_t nr, room;
};

static uint32_t add_node(struct tree *t, uint32_t symbol)
{
	if (WM_ARRAY_GROW(t->nodes, t->room, (size_t)t->nr + 1))
		return UINT32_MAX;
	t->nodes[t->nr] = (struct node){.symbol = symbol};
	return t->nr++;
}

/* Returns the child with that symbol, creating it if needed, and moves it to the front. */
static uint32_t child_of(struct tree *t, uint32_t parent, uint32_t symbol)
{
	uint32_t *link = &t->nodes[parent].first, at, made;

	for (; *link; link = &t->nodes[*link - 1].next) {
		at = *link - 1;
		if (t->nodes[at].symbol != symbol)
			continue;
		*link = t->nodes[at].next;
		t->nodes[at].next = t->nodes[parent].first;
		t->nodes[parent].first = at + 1;
		return at;
	}
	made = add_node(t, symbol);
	if (made != UINT32_MAX) {
		t->nodes[made].next = t->nodes[parent].first;
		t->nodes[parent].first = made + 1;
	}
	return made;
}

/* Adds one chain: `nr` frames starting at frames[from], in steps of `step`. */
static int add_chain(struct wm_profile *p, struct tree *t, const uint32_t *frames, int64_t from,
		     int64_t step, uint32_t nr, uint64_t weight)
{
	uint32_t at = 0;

	t->nodes[0].weight += weight;
	for (uint32_t i = 0; i < nr; i++) {
		at = child_of(t, at, wm_stacks_symbol(p->stacks, frames[from + step * i]));
		if (at == UINT32_MAX)
			return -ENOMEM;
		t->nodes[at].weight += weight;
	}
	t->nodes[at].self += weight;
	return 0;
}

/*
 * Returns whether the graph goes towards the callers. Without children, a row is the end of its
 * chains, so only callers can be below it.
 */
static bool goes_outwards(const struct wm_profile *p)
{
	return p->v->graph == WM_GRAPH_CALLEE || (p->of_frame && !p->children);
}

static int graph_fill(struct wm_profile *p, struct tree *t, const struct wm_entry *e)
{
	bool outwards = goes_outwards(p);
	int err = add_node(t, 0) == UINT32_MAX ? -ENOMEM : 0;

	for (uint32_t i = e->refs; i && !err; i = p->refs[i - 1].next) {
		const struct wm_entry_ref *ref = &p->refs[i - 1];
		const uint64_t *words = wm_buckets_words(&p->buckets, ref->bucket);
		uint64_t weight = p->buckets.weights[ref->bucket] / p->unit;
		uint32_t nr, d = ref->depth;
		const uint32_t *frames =
		    wm_stacks_frames(p->stacks, (uint32_t)words[p->buckets.nr_words - 1], &nr);

		/*
		 * When no key belongs to frames, the row represents whole chains, which begin at
		 * their outermost frame.
		 */
		if (!p->of_frame)
			err = outwards ? add_chain(p, t, frames, 0, 1, nr, weight)
				       : add_chain(p, t, frames, (int64_t)nr - 1, -1, nr, weight);
		else if (outwards)
			err = add_chain(p, t, frames, d + 1, 1, nr ? nr - d - 1 : 0, weight);
		else
			err = add_chain(p, t, frames, (int64_t)d - 1, -1, d, weight);
	}
	return err;
}

/* --- from the tree to rows ------------------------------------------------------------------- */

static int graph_heavier(const void *a, const void *b, void *nodes)
{
	const struct node *x = (struct node *)nodes + *(const uint32_t *)a;
	const struct node *y = (struct node *)nodes + *(const uint32_t *)b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->symbol < y->symbol ? -1 : x->symbol > y->symbol;
}

static uint32_t *sorted_children(const struct tree *t, uint32_t at, uint32_t *ret_nr)
{
	uint32_t nr = 0, *list;

	for (uint32_t c = t->nodes[at].first; c; c = t->nodes[c - 1].next)
		nr++;
	*ret_nr = nr;
	list = malloc((nr + 1) * sizeof(*list));
	if (!list)
		return NULL;
	nr = 0;
	for (uint32_t c = t->nodes[at].first; c; c = t->nodes[c - 1].next)
		list[nr++] = c - 1;
	qsort_r(list, nr, sizeof(*list), graph_heavier, t->nodes);
	return list;
}

struct graph {
	struct wm_profile *p;
	struct wm_result *r;
	const struct tree *t;
	uint64_t total, least; /* the row's weight; calls below `least` are left out */
};

/* The recursion is as deep as a chain, at most WM_CHAIN_MAX, which fits the stack. */
static int graph_emit(const struct graph *g, uint32_t at, struct wm_result_row *row)
{
	uint32_t nr, *list = sorted_children(g->t, at, &nr);
	int err = list ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < nr && !err; i++) {
		const struct node *n = &g->t->nodes[list[i]];
		const char *label;
		struct wm_result_row *call;

		if (n->weight < g->least)
			break;
		label = wm_stacks_symbol_text(g->p->stacks, n->symbol, false, g->r);
		call = wm_result_call(g->r, row, label, n->weight,
				      g->total ? (double)n->weight / (double)g->total : 0);
		if (call)
			call->own = (unsigned char)wm_stacks_level(g->p->stacks, n->symbol);
		err = call ? graph_emit(g, list[i], call) : -ENOMEM;
	}
	free(list);
	return err;
}

/* Writes a line per chain: "main;read_file;parse", with the weight of the chains that end there. */
static int emit_folded(const struct graph *g, uint32_t at, struct wm_text *path,
		       struct wm_result_row *row)
{
	uint32_t nr, *list = sorted_children(g->t, at, &nr);
	size_t bytes = path->bytes;
	int err = list ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < nr && !err; i++) {
		const struct node *n = &g->t->nodes[list[i]];

		if (n->weight < g->least)
			break;
		if (bytes)
			wm_text_char(path, ';');
		wm_text_str(path, wm_stacks_symbol_text(g->p->stacks, n->symbol, false, g->r));
		if (path->failed)
			err = -ENOMEM;
		else if (n->self && n->self >= g->least &&
			 !wm_result_call(g->r, row, wm_result_text(g->r, path->data, path->bytes),
					 n->self,
					 g->total ? (double)n->self / (double)g->total : 0))
			err = -ENOMEM;
		if (!err)
			err = emit_folded(g, list[i], path, row);
		wm_text_cut(path, bytes);
	}
	free(list);
	return err;
}

static int emit_all(const struct graph *g, struct wm_result_row *row)
{
	struct wm_text path;
	int err;

	if (g->p->v->graph != WM_GRAPH_FOLDED)
		return graph_emit(g, 0, row);
	wm_text_init(&path);
	err = emit_folded(g, 0, &path, row);
	wm_text_done(&path);
	return err;
}

int wm_profile_graph(struct wm_profile *p, uint32_t entry, struct wm_result *r,
		     struct wm_result_row *row)
{
	struct tree t = {0};
	int err = graph_fill(p, &t, &p->entries[entry]);

	if (!err) {
		struct graph g = {p, r, &t, t.nodes[0].weight, 0};

		g.least = wm_profile_least(g.total, p->v->graph_percent_limit);
		err = emit_all(&g, row);
	}
	free(t.nodes);
	return err;
}

bool wm_profile_has_calls(const struct wm_profile *p, uint32_t entry)
{
	for (uint32_t i = p->entries[entry].refs; i; i = p->refs[i - 1].next) {
		const struct wm_entry_ref *ref = &p->refs[i - 1];
		const uint64_t *words = wm_buckets_words(&p->buckets, ref->bucket);
		uint32_t nr;

		(void)wm_stacks_frames(p->stacks, (uint32_t)words[p->buckets.nr_words - 1], &nr);
		if (!p->of_frame ? nr : goes_outwards(p) ? nr > ref->depth + 1 : ref->depth)
			return true;
	}
	return false;
}

int wm_profile_expand(struct wm_profile *p, struct wm_result *r, struct wm_result_row *row)
{
	int err = 0;

	if (row->more && row->own < p->entry_words.nr)
		err = wm_profile_graph(p, (uint32_t)row->own, r, row);
	row->more = false;
	return err;
}
