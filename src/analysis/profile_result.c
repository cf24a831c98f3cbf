/* SPDX-License-Identifier: MIT */
/*
 * profile_result.c - a profile's entries as tables: sorted, truncated at the limits, with totals.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_int.h"
#include "base/plural.h"

#define FIXED_COLUMNS 4u /* children, self, events, weight; the keys follow these */

/* Returns the weight that is used to sort entries and to compute shares. */
static uint64_t main_weight(const struct wm_profile *p, const struct wm_entry *e)
{
	return p->children ? e->children : e->self;
}

static int by_table_and_weight(const void *a, const void *b, void *data)
{
	const struct wm_profile *p = data;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const uint64_t *x = wm_buckets_words(&p->entry_words, i);
	const uint64_t *y = wm_buckets_words(&p->entry_words, k);
	uint64_t v = main_weight(p, &p->entries[i]), w = main_weight(p, &p->entries[k]);

	if (x[0] != y[0])
		return x[0] < y[0] ? -1 : 1;
	if (v != w)
		return v < w ? 1 : -1;
	if (p->entries[i].self != p->entries[k].self)
		return p->entries[i].self < p->entries[k].self ? 1 : -1;
	return memcmp(x, y, p->entry_words.nr_words * sizeof(*x));
}

static uint32_t *sorted_entries(struct wm_profile *p)
{
	uint32_t nr = p->entry_words.nr, *list = malloc((nr + 1) * sizeof(*list));

	for (uint32_t i = 0; list && i < nr; i++)
		list[i] = i;
	if (list)
		qsort_r(list, nr, sizeof(*list), by_table_and_weight, p);
	return list;
}

static void add_buckets(struct wm_profile_total *t, const struct wm_buckets *b)
{
	for (uint32_t i = 0; i < b->nr; i++)
		if (wm_buckets_words(b, i)[0] == t->event) {
			t->weight += b->weights[i];
			t->count += b->counts[i];
		}
}

static struct wm_profile_total profile_result_add_up(const struct wm_profile *p, uint64_t event)
{
	struct wm_profile_total t = {.event = event};

	add_buckets(&t, &p->buckets);
	add_buckets(&t, &p->hidden);
	t.rate = wm_rate_of(p, wm_names_text(&p->pass->state.names, (uint32_t)event));
	return t;
}

/* --- one table ------------------------------------------------------------------------------- */

static const char *profile_result_title_of(const struct wm_profile *p,
					   const struct wm_profile_total *t, const char *event,
					   struct wm_result *r)
{
	const char *what = p->per_event ? wm_result_format(r, "%s: ", event) : "";

	if (p->v->live)
		return wm_result_format(r, "%s%s", what, wm_rate_title(p, t->rate, t, r));
	if (p->v->branches)
		return wm_result_format(r, "%s%" PRIu64 " %s", what, t->count,
					wm_plural(t->count, "branch", "branches"));
	return wm_result_format(r, "%s%" PRIu64 " %s, weight %" PRIu64, what, t->count,
				p->per_event ? wm_plural(t->count, "sample", "samples")
					     : wm_plural(t->count, "event", "events"),
				t->weight);
}

static struct wm_result_table *profile_result_make_table(const struct wm_profile *p,
							 const struct wm_profile_total *t,
							 struct wm_result *r)
{
	struct wm_result_column *c =
	    wm_arena_array(&r->arena, FIXED_COLUMNS + p->nr_keys, sizeof(*c));
	const char *event = wm_names_text(&p->pass->state.names, (uint32_t)t->event);
	struct wm_result_table *table;
	uint32_t nr = 0;

	if (!c)
		return NULL;
	if (p->children)
		c[nr++] = (struct wm_result_column){"children", "Children", WM_CELL_SHARE};
	c[nr++] = (struct wm_result_column){"self", "Self", WM_CELL_SHARE};
	c[nr++] = p->v->live ? wm_rate_column(t->rate)
			     : (struct wm_result_column){
				   "events", p->v->branches ? "Branches" : "Events", WM_CELL_COUNT};
	if (p->v->weights)
		c[nr++] = (struct wm_result_column){"total", "Weight", WM_CELL_COUNT};
	for (uint32_t i = 0; i < p->nr_keys; i++) {
		const struct wm_key *k = &p->keys[i];

		c[nr++] = (struct wm_result_column){k->def->name ? k->def->name : k->title,
						    k->title, k->def->kind};
	}
	table = wm_result_table(r, "profile", profile_result_title_of(p, t, event, r), c, nr);
	if (table && p->per_event)
		table->subject = wm_result_text(r, event, strlen(event));
	return table;
}

uint64_t wm_profile_least(uint64_t total, double percent)
{
	return (uint64_t)ceil((double)total * percent / 100);
}

struct wm_result_row *wm_profile_row(struct wm_profile *p, const struct wm_entry *e,
				     const struct wm_profile_total *total, struct wm_result *r,
				     struct wm_result_table *t, struct wm_result_row *above,
				     union wm_cell **ret_keys)
{
	double all = total->weight ? (double)total->weight : 1;
	union wm_cell *cells;
	uint64_t count;
	struct wm_result_row *row = wm_result_row(r, t, above, &cells);

	if (!row)
		return NULL;
	row->weight = main_weight(p, e) / p->unit;
	row->share = (double)main_weight(p, e) / all;
	if (p->children)
		*cells++ = (union wm_cell){.f = (double)e->children / all};
	*cells++ = (union wm_cell){.f = (double)e->self / all};
	count = p->children ? e->count : e->self_count;
	if (p->v->live)
		*cells++ =
		    (union wm_cell){.f = wm_rate_value(p, total->rate, main_weight(p, e), count)};
	else
		*cells++ = (union wm_cell){.u = count};
	if (p->v->weights)
		*cells++ = (union wm_cell){.u = row->weight};
	*ret_keys = cells;
	return row;
}

int wm_profile_calls(struct wm_profile *p, uint32_t entry, struct wm_result *r,
		     struct wm_result_row *row)
{
	row->own = entry;
	if (!p->v->graph)
		return 0;
	if (!p->v->lazy)
		return wm_profile_graph(p, entry, r, row);
	row->more = wm_profile_has_calls(p, entry);
	return 0;
}

static int profile_result_add_row(struct wm_profile *p, uint32_t entry,
				  const struct wm_profile_total *total, struct wm_result *r,
				  struct wm_result_table *t)
{
	const uint64_t *words = wm_buckets_words(&p->entry_words, entry) + 1;
	union wm_cell *cells;
	struct wm_result_row *row =
	    wm_profile_row(p, &p->entries[entry], total, r, t, NULL, &cells);

	if (!row)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nr_keys; i++) {
		*cells++ = p->keys[i].def->cell(&p->keys[i], words, r);
		words += p->keys[i].def->nr_words;
	}
	return wm_profile_calls(p, entry, r, row);
}

/* Adds a row for each entry; those below the limit are left out. */
static int profile_result_add_rows(struct wm_profile *p, const uint32_t *list, uint32_t nr,
				   const struct wm_profile_total *total, struct wm_result *r,
				   struct wm_result_table *t)
{
	uint64_t least = wm_profile_least(total->weight, p->v->percent_limit);
	int err = 0;

	for (uint32_t i = 0; i < nr && !err; i++) {
		const struct wm_entry *e = &p->entries[list[i]];

		if (main_weight(p, e) < least) {
			t->nr_left_out++;
			t->share_left_out += (double)e->self / (double)total->weight;
		} else {
			err = profile_result_add_row(p, list[i], total, r, t);
		}
	}
	return err;
}

/*
 * Adds the entries of one table, starting at list[at]. Returns the index of the next table's first
 * entry.
 */
static int64_t profile_result_add_table(struct wm_profile *p, uint32_t *list, uint32_t at,
					struct wm_result *r)
{
	uint64_t event = wm_buckets_words(&p->entry_words, list[at])[0];
	struct wm_profile_total total = profile_result_add_up(p, event);
	struct wm_result_table *t = profile_result_make_table(p, &total, r);
	uint32_t end = at;
	int err;

	if (!t)
		return -ENOMEM;
	while (end < p->entry_words.nr && wm_buckets_words(&p->entry_words, list[end])[0] == event)
		end++;
	err = p->v->hierarchy ? wm_profile_hierarchy(p, list + at, end - at, &total, r, t)
			      : profile_result_add_rows(p, list + at, end - at, &total, r, t);
	return err ? err : (int)end;
}

int wm_profile_result(struct wm_profile *p, struct wm_result *r)
{
	int err = wm_profile_make_entries(p);
	uint32_t *list = err ? NULL : sorted_entries(p);
	int64_t at = 0;

	if (!list)
		return -ENOMEM;
	while (at >= 0 && at < p->entry_words.nr)
		at = profile_result_add_table(p, list, (uint32_t)at, r);
	free(list);
	if (p->nr_unfit)
		wm_result_note(r, WM_NOTE_PROBLEM, "unfit",
			       "%" PRIu64 " %s left out for lack of a requested field", p->nr_unfit,
			       wm_plural(p->nr_unfit, "event", "events"));
	wm_samples_notes(&p->samples, r);
	if (p->waits)
		wm_waits_note(p, r);
	wm_stacks_notes(p->stacks, r);
	return at < 0 ? (int)at : r->failed ? -ENOMEM : 0;
}

/* --- the analysis --------------------------------------------------------------------- */

static int create_mode(struct wm_pass *pass, enum wm_profile_mode mode, const void *values,
		       void **ret, struct wm_diag *diag)
{
	struct wm_profile *p = NULL;
	int err = wm_profile_create(pass, mode, values, &p, diag);

	*ret = p;
	return err;
}

static int profile_result_create(struct wm_pass *pass, const void *values, void **ret,
				 struct wm_diag *diag)
{
	return create_mode(pass, WM_PROFILE_EVENTS, values, ret, diag);
}

static int create_off_cpu(struct wm_pass *pass, const void *values, void **ret,
			  struct wm_diag *diag)
{
	return create_mode(pass, WM_PROFILE_OFF_CPU, values, ret, diag);
}

static int create_wakeups(struct wm_pass *pass, const void *values, void **ret,
			  struct wm_diag *diag)
{
	return create_mode(pass, WM_PROFILE_WAKEUPS, values, ret, diag);
}

static int profile_result_feed(void *own, const struct wm_sight *s)
{
	return wm_profile_feed(own, s);
}

static bool divides(const void *own)
{
	return wm_profile_divides(own);
}

static int profile_result_join(void *own, const void *later, const struct wm_join *j)
{
	return wm_profile_join(own, later, j);
}

static int profile_result_told(void *own, const struct wm_sight *s)
{
	return wm_waits_told(own, s);
}

static int profile_result_finish(void *own, struct wm_result *r)
{
	return wm_profile_result(own, r);
}

static int profile_result_expand(void *own, struct wm_result *r, struct wm_result_row *row)
{
	return wm_profile_expand(own, r, row);
}

static void profile_result_destroy(void *own)
{
	wm_profile_destroy(own);
}

const struct wm_analysis wm_analysis_profile = {
    .name = "profile",
    .summary = "events by cause, with call chains",
    .create = profile_result_create,
    .feed = profile_result_feed,
    .finish = profile_result_finish,
    .destroy = profile_result_destroy,
    .divides = divides,
    .join = profile_result_join,
    .expand = profile_result_expand,
};

static const char *const off_cpu_needs[] = {"sched:sched_switch", NULL};

const struct wm_analysis wm_analysis_off_cpu = {
    .name = "off-cpu",
    .summary = "time off the processor, by where threads went to sleep",
    .needs = off_cpu_needs,
    .create = create_off_cpu,
    .feed = profile_result_feed,
    .told = profile_result_told,
    .finish = profile_result_finish,
    .destroy = profile_result_destroy,
    .expand = profile_result_expand,
};

static const char *const wakeups_needs[] = {"sched:sched_switch", "sched:sched_waking", NULL};

const struct wm_analysis wm_analysis_wakeups = {
    .name = "wakeups",
    .summary = "time off the processor, by the thread that ended the wait",
    .needs = wakeups_needs,
    .create = create_wakeups,
    .feed = profile_result_feed,
    .told = profile_result_told,
    .finish = profile_result_finish,
    .destroy = profile_result_destroy,
    .expand = profile_result_expand,
};
