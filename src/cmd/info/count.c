/* SPDX-License-Identifier: MIT */
/* count.c - counts a trace's events by type; see info.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/info/info.h"
#include "trace/scan.h"

static int count_batch(void *state, const struct wm_batch *b)
{
	uint64_t *counts = state;

	for (uint32_t i = 0; i < b->nr_events; i++)
		counts[b->events[i].type->index]++;
	return 0;
}

static int count_with(struct wm_info *i, uint32_t nr_threads, uint64_t *counts, void **states)
{
	static const struct wm_want none = {.no_parts = (1u << WM_NR_PARTS) - 1};
	struct wm_scan_options o = {INT64_MIN, INT64_MAX, &none, nr_threads};
	uint32_t nr = i->t->nr_types;
	int err;

	for (uint32_t k = 0; k < nr_threads; k++)
		states[k] = counts + (size_t)k * nr;
	err = wm_scan(i->t, &o, count_batch, states);
	for (uint32_t k = 0; k < nr_threads; k++)
		for (uint32_t n = 0; n < nr; n++)
			i->counts[n] += counts[(size_t)k * nr + n];
	return err;
}

static int count_types(struct wm_info *i, uint32_t nr_threads)
{
	uint32_t nr = i->t->nr_types, threads = wm_scan_threads(nr_threads);
	uint64_t *counts = calloc((size_t)threads * nr + 1, sizeof(*counts));
	void **states = calloc(threads, sizeof(void *));
	int err = -ENOMEM;

	i->counts = calloc(nr + 1, sizeof(*i->counts));
	if (counts && states && i->counts)
		err = count_with(i, threads, counts, states);
	for (uint32_t n = 0; !err && n < nr; n++)
		i->nr_events += i->t->is_own && i->t->types[n]->meta ? 0 : i->counts[n];
	for (uint64_t p = 0; p < i->t->nr_packets; p++)
		i->bytes += i->t->packets[p].bytes;
	free(counts);
	free(states);
	return err;
}

static int info_count_by_name(const void *a, const void *b, void *data)
{
	const struct wm_trace *t = data;
	const struct wm_event_type *x = t->types[*(const uint32_t *)a];
	const struct wm_event_type *y = t->types[*(const uint32_t *)b];
	int order = strcmp(x->name, y->name);

	return order ? order : x->index < y->index ? -1 : 1;
}

static int sort_types(struct wm_info *i)
{
	i->order = calloc(i->t->nr_types + 1, sizeof(*i->order));
	if (!i->order)
		return -ENOMEM;
	for (uint32_t n = 0; n < i->t->nr_types; n++)
		i->order[n] = n;
	qsort_r(i->order, i->t->nr_types, sizeof(*i->order), info_count_by_name, i->t);
	return 0;
}

uint64_t wm_info_take_name(const struct wm_info *i, uint32_t *at)
{
	const char *name = i->t->types[i->order[*at]]->name;
	uint64_t sum = 0;

	for (; *at < i->t->nr_types && !strcmp(i->t->types[i->order[*at]]->name, name); ++*at)
		sum += i->counts[i->order[*at]];
	return sum;
}

int wm_info_count(struct wm_info *i, uint32_t nr_threads)
{
	int err = count_types(i, nr_threads);

	return err ? err : sort_types(i);
}

void wm_info_done(struct wm_info *i)
{
	wm_text_done(&i->out);
	free(i->counts);
	free(i->order);
	wm_trace_close(i->t);
}
