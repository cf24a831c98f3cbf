/* SPDX-License-Identifier: MIT */
/*
 * program_counts_sum.c - the events that are counted, by name, and their sums. See
 * program_counts_int.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "base/search.h"
#include "control/counting/program_counts_int.h"
#include "ring/counts.h"

/* ---- events by name ------------------------------------------------------------- */

/* A name's index, or the index at which to insert it. */
static size_t counts_sum_place_of(const struct wm_tally *t, const char *name)
{
	return WM_SEARCH(0, t->nr_events, i, strcmp(t->events[i]->name, name) < 0);
}

static uint32_t first_rule(const struct wm_tally *t, const struct wm_class *c)
{
	uint32_t nr = wm_rules_count(t->o.rules), i = 0;

	while (i < nr && !wm_rules_wants(t->o.rules, i, c->provider, c->name, c->level))
		i++;
	return i;
}

static struct tally_event *new_event(const struct wm_tally *t, const char *name, uint32_t rule)
{
	struct tally_event *e = calloc(1, sizeof(*e) + 4 * t->nr_columns * sizeof(uint64_t));

	if (!e)
		return NULL;
	e->kept = (uint64_t *)(e + 1);
	e->now = e->kept + t->nr_columns;
	e->before = e->now + t->nr_columns;
	e->told = e->before + t->nr_columns;
	e->rule = rule;
	e->name = strdup(name);
	if (e->name)
		return e;
	free(e);
	return NULL;
}

/*
 * Finds or adds an event; NULL when out of memory, when there are too many events, or when no rule
 * matches.
 */
static struct tally_event *counts_sum_event_of(struct wm_tally *t, const struct wm_class *c)
{
	char name[2 * WM_CLASS_NAME_MAX + 2];
	struct tally_event **grown, *e;
	uint32_t rule;
	size_t at;

	(void)snprintf(name, sizeof(name), "%s:%s", c->provider, c->name);
	at = counts_sum_place_of(t, name);
	if (at < t->nr_events && !strcmp(t->events[at]->name, name))
		return t->events[at];
	rule = first_rule(t, c);
	if (t->nr_events >= WM_TALLY_EVENTS_MAX || rule == wm_rules_count(t->o.rules))
		return NULL;
	grown = reallocarray(t->events, t->nr_events + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	t->events = grown;
	e = new_event(t, name, rule);
	if (!e)
		return NULL;
	memmove(grown + at + 1, grown + at, (t->nr_events - at) * sizeof(*grown));
	grown[at] = e;
	t->nr_events++;
	return e;
}

void wm_tally_on_event(struct wm_app *a, uint32_t id, const struct wm_class *c, void *data)
{
	struct tally_member *m = wm_app_owner(a);
	struct tally_event **grown;

	if (id >= m->nr_ids) {
		uint32_t nr = m->nr_ids ? m->nr_ids : 32;

		while (nr <= id)
			nr *= 2;
		grown = reallocarray(m->events, nr, sizeof(struct tally_event *));
		if (!grown)
			return;
		memset(grown + m->nr_ids, 0, (nr - m->nr_ids) * sizeof(struct tally_event *));
		m->events = grown;
		m->nr_ids = nr;
	}
	if (!m->events[id]) /* an id keeps the first event that it was announced for */
		m->events[id] = counts_sum_event_of(data, c);
}

/* ---- threads ----------------------------------------------------------------------- */

int wm_tally_find_threads(struct wm_tally *t)
{
	t->nr_columns = t->o.nr_tids + 1;
	t->threads = calloc(t->nr_columns, sizeof(*t->threads));
	if (!t->threads)
		return -ENOMEM;
	for (size_t i = 0; i < t->o.nr_tids; i++)
		t->threads[i] = (struct tally_thread){
		    .pid = wm_process_of_thread((uint32_t)t->o.tids[i]),
		    .tid = wm_process_inner_id((uint32_t)t->o.tids[i]),
		};
	return 0;
}

/* A thread's column; threads without their own use that of the total. */
static size_t counts_sum_column_of(const struct tally_member *m, uint32_t tid)
{
	const struct wm_tally *t = m->tally;
	uint32_t pid = wm_app_pid(m->app);
	size_t i = 0;

	while (i < t->o.nr_tids && (t->threads[i].tid != tid || t->threads[i].pid != pid))
		i++;
	return i;
}

/* ---- sums ---------------------------------------------------------------------------- */

static void counts_sum_add(const struct tally_member *m, uint32_t tid, uint32_t id, uint64_t count,
			   bool keep)
{
	const struct wm_tally *t = m->tally;
	struct tally_event *e = m->events[id];
	size_t all = t->o.nr_tids, column = all ? counts_sum_column_of(m, tid) : 0;
	uint64_t *to;

	if (!e || (t->o.only && column == all))
		return;
	to = keep ? e->kept : e->now;
	to[all] += count;
	if (column != all)
		to[column] += count;
}

static void on_count(uint32_t tid, uint32_t id, uint64_t count, bool sealed, void *data)
{
	counts_sum_add(data, tid, id, count, sealed);
}

static void on_sealed(uint32_t tid, uint32_t id, uint64_t count, bool sealed, void *data)
{
	if (sealed)
		counts_sum_add(data, tid, id, count, true);
}

static void on_last(uint32_t tid, uint32_t id, uint64_t count, bool sealed, void *data)
{
	(void)sealed;
	counts_sum_add(data, tid, id, count, true);
}

static uint64_t lost_of(const struct wm_pool *p)
{
	uint64_t sum = 0;

	for (int cause = 0; cause < WM_LOST_DISK; cause++)
		sum += wm_pool_lost_count(p, cause);
	return sum;
}

void wm_tally_take(struct tally_member *m, bool all)
{
	struct wm_pool *p = wm_app_pool(m->app);

	if (!p)
		return;
	wm_counts_pin(p);
	/* Reads the messages, so that every id in a pinned chunk is known. */
	wm_app_catch_up(m->app);
	wm_counts_read(p, m->nr_ids, all ? on_count : on_sealed, m);
	if (all)
		m->tally->lost_now += lost_of(p);
}

void wm_tally_keep(struct tally_member *m)
{
	struct wm_pool *p = wm_app_pool(m->app);

	if (!p)
		return;
	wm_counts_pin(p);
	wm_counts_read(p, m->nr_ids, on_last, m);
	m->tally->totals.lost += lost_of(p);
}

/* ---- results --------------------------------------------------------------------------- */

size_t wm_tally_nr(const struct wm_tally *t)
{
	return t->nr_events;
}

const char *wm_tally_name(const struct wm_tally *t, size_t event)
{
	return t->events[event]->name;
}

uint32_t wm_tally_rule(const struct wm_tally *t, size_t event)
{
	return t->events[event]->rule;
}

static size_t column(const struct wm_tally *t, size_t thread)
{
	return thread < t->o.nr_tids ? thread : t->o.nr_tids;
}

uint64_t wm_tally_count(const struct wm_tally *t, size_t event, size_t thread)
{
	const struct tally_event *e = t->events[event];
	size_t c = column(t, thread);
	uint64_t count = e->kept[c] + e->now[c];

	if (t->held || count < e->before[c]) /* the program may have decreased the count */
		return 0;
	return count - e->before[c];
}

uint64_t wm_tally_since(struct wm_tally *t, size_t event, size_t thread)
{
	uint64_t count = wm_tally_count(t, event, thread);
	uint64_t *told = &t->events[event]->told[column(t, thread)];
	/* The program may have decreased the count. */
	uint64_t since = count > *told ? count - *told : 0;

	*told += since;
	return since;
}

void wm_tally_forget(struct wm_tally *t)
{
	for (size_t i = 0; i < t->nr_events; i++) {
		free(t->events[i]->name);
		free(t->events[i]);
	}
	free(t->events);
	free(t->threads);
}
