/* SPDX-License-Identifier: MIT */
/*
 * profile_hierarchy.c - a profile's entries as nested rows: one for each value of the first key,
 * below it those of the second, and so on; each level sorted by weight. As in perf report
 * --hierarchy, a row has only its own weight, not that of the functions it called.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_int.h"

struct hierarchy {
	struct wm_profile *p;
	const struct wm_profile_total *total;
	struct wm_result *r;
	struct wm_result_table *t;
	uint64_t least; /* lighter rows are left out */
};

/* Adjacent entries of the list that have the same words up to a level. */
struct group {
	uint32_t from, nr;
	struct wm_entry sum;
};

static int by_words(const void *a, const void *b, void *data)
{
	const struct wm_buckets *w = data;

	return memcmp(wm_buckets_words(w, *(const uint32_t *)a),
		      wm_buckets_words(w, *(const uint32_t *)b), w->nr_words * sizeof(uint64_t));
}

static int hierarchy_heavier(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->sum.self != y->sum.self)
		return x->sum.self < y->sum.self ? 1 : -1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static struct group *make_groups(const struct hierarchy *h, const uint32_t *list, uint32_t nr,
				 uint32_t nr_words, uint32_t *ret_nr)
{
	const struct wm_profile *p = h->p;
	struct group *groups = calloc((size_t)nr + 1, sizeof(*groups));
	uint32_t nr_groups = 0;

	for (uint32_t i = 0; groups && i < nr; i++) {
		const struct wm_entry *e = &p->entries[list[i]];

		if (!i || memcmp(wm_buckets_words(&p->entry_words, list[i - 1]),
				 wm_buckets_words(&p->entry_words, list[i]),
				 nr_words * sizeof(uint64_t)) != 0)
			groups[nr_groups++].from = i;
		groups[nr_groups - 1].nr++;
		groups[nr_groups - 1].sum.self += e->self;
		groups[nr_groups - 1].sum.self_count += e->self_count;
	}
	if (groups)
		qsort(groups, nr_groups, sizeof(*groups), hierarchy_heavier);
	*ret_nr = nr_groups;
	return groups;
}

static int put_level(const struct hierarchy *h, const uint32_t *list, uint32_t nr, uint32_t level,
		     uint32_t at_word, struct wm_result_row *above);

static int put_group(const struct hierarchy *h, const uint32_t *list, const struct group *g,
		     uint32_t level, uint32_t at_word, struct wm_result_row *above)
{
	const struct wm_key *key = &h->p->keys[level];
	union wm_cell *cells;
	struct wm_result_row *row =
	    wm_profile_row(h->p, &g->sum, h->total, h->r, h->t, above, &cells);

	if (!row)
		return -ENOMEM;
	cells[level] = key->def->cell(
	    key, wm_buckets_words(&h->p->entry_words, list[g->from]) + at_word, h->r);
	if (level + 1 == h->p->nr_keys)
		return wm_profile_calls(h->p, list[g->from], h->r, row);
	return put_level(h, list + g->from, g->nr, level + 1, at_word + key->def->nr_words, row);
}

static int put_level(const struct hierarchy *h, const uint32_t *list, uint32_t nr, uint32_t level,
		     uint32_t at_word, struct wm_result_row *above)
{
	uint32_t nr_groups;
	struct group *groups =
	    make_groups(h, list, nr, at_word + h->p->keys[level].def->nr_words, &nr_groups);
	int err = groups ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < nr_groups && !err; i++) {
		const struct group *g = &groups[i];

		if (g->sum.self >= h->least) {
			err = put_group(h, list, g, level, at_word, above);
		} else {
			h->t->nr_left_out++;
			h->t->share_left_out += (double)g->sum.self / (double)h->total->weight;
		}
	}
	free(groups);
	return err;
}

int wm_profile_hierarchy(struct wm_profile *p, uint32_t *list, uint32_t nr,
			 const struct wm_profile_total *total, struct wm_result *r,
			 struct wm_result_table *t)
{
	const struct hierarchy h = {p, total, r, t,
				    wm_profile_least(total->weight, p->v->percent_limit)};

	qsort_r(list, nr, sizeof(*list), by_words, &p->entry_words);
	return put_level(&h, list, nr, 0, 1, NULL);
}
