/* SPDX-License-Identifier: MIT */
/* rows.c - turns counts into rows, see stat.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/glob.h"
#include "base/number.h"
#include "cmd/stat/stat.h"

static bool is_clock(const struct wm_event_def *d)
{
	return d->type == PERF_TYPE_SOFTWARE &&
	       (d->config == PERF_COUNT_SW_TASK_CLOCK || d->config == PERF_COUNT_SW_CPU_CLOCK);
}

/* Returns "CPU3" or "sh-4711", malloc'ed; NULL: out of memory. */
static char *where_text(const struct wm_stat_plan *p, const struct wm_counting *c, size_t tid,
			size_t cpu)
{
	char *text = NULL;

	if (p->request.per_cpu)
		return asprintf(&text, "CPU%d", p->choice.counting.cpus[cpu]) < 0 ? NULL : text;
	return asprintf(&text, "%s-%d", c->names[tid].text, (int)c->tids[tid]) < 0 ? NULL : text;
}

/* Returns the event's name, with ":u" when only user mode is counted. */
static char *event_text(const struct wm_counters_event *e)
{
	char *text;

	return asprintf(&text, "%s%s", e->def->name, e->user_only ? ":u" : "") < 0 ? NULL : text;
}

static void fill_count(struct wm_count_row *row, const struct wm_counters_event *e,
		       const struct wm_counters_sum *sum)
{
	row->raw = sum->count.value;
	row->value = sum->scaled;
	row->enabled_ns = sum->count.enabled_ns;
	row->running_ns = sum->count.running_ns;
	row->cpus = is_clock(e->def);
	if (row->cpus) {
		row->unit = "ms";
		row->scale = 1e-6;
	} else if (e->def->unit && *e->def->unit) {
		row->unit = e->def->unit;
		if (!e->def->scale || wm_number_parse_float(e->def->scale, &row->scale) < 0)
			row->scale = 1;
	}
}

/* Rows under construction. */
struct table {
	const struct wm_stat_plan *plan;
	const struct wm_counting *c;
	bool since, failed;
	uint64_t elapsed_ns;
	size_t tids, cpus; /* rows per kernel event */
	struct wm_count_row *rows;
	size_t nr, room;
};

/* Adds a row with the common values set; takes ownership of `event`. NULL: out of memory. */
static struct wm_count_row *stat_rows_add_row(struct table *t, char *event)
{
	if (!event || WM_ARRAY_GROW(t->rows, t->room, t->nr + 1)) {
		free(event);
		t->failed = true;
		return NULL;
	}
	t->rows[t->nr] =
	    (struct wm_count_row){.event = event, .spread = -1, .elapsed_ns = t->elapsed_ns};
	return &t->rows[t->nr++];
}

static void add_counter(struct table *t, size_t e)
{
	const struct wm_counters_event *event = wm_counters_event(t->c->counters, e);
	size_t places = event->err ? 1 : t->tids * t->cpus;

	for (size_t i = 0; i < places; i++) {
		struct wm_count_row *row = stat_rows_add_row(t, event_text(event));
		struct wm_counters_sum sum;
		size_t tid = t->plan->request.per_thread ? i / t->cpus : WM_COUNTERS_ALL;
		size_t cpu = t->plan->request.per_cpu ? i % t->cpus : WM_COUNTERS_ALL;

		if (!row)
			return;
		wm_counters_sum(t->c->counters, e, tid, cpu, t->since, &sum);
		row->reason = event->err ? event->why.sentence : NULL;
		row->minor = event->def->one_of_many;
		fill_count(row, event, &sum);
		if (!event->err && (t->plan->request.per_cpu || t->plan->request.per_thread))
			row->where = where_text(t->plan, t->c, tid, cpu);
	}
}

static void fill_tally(struct table *t, struct wm_count_row *row, size_t event, size_t thread)
{
	row->raw = t->since ? wm_tally_since(t->c->tally, event, thread)
			    : wm_tally_count(t->c->tally, event, thread);
	row->value = row->raw;
	row->enabled_ns = row->running_ns = t->elapsed_ns;
	if (t->plan->request.per_cpu)
		row->reason =
		    "program events are counted per thread, not per CPU; use -C to select CPUs";
	else if (t->plan->request.per_thread)
		row->where = where_text(t->plan, t->c, thread, 0);
}

/*
 * Adds rows for the program events that a rule matches, or a row that says that none does.
 */
static void stat_rows_add_rule(struct table *t, uint32_t rule)
{
	const char *name = wm_counting_rules_name(t->plan->choice.rules, rule);
	size_t nr = t->plan->request.per_thread ? t->c->nr_tids : 1, found = 0;
	struct wm_count_row *row;

	for (size_t e = 0; e < wm_tally_nr(t->c->tally); e++) {
		if (wm_tally_rule(t->c->tally, e) != rule)
			continue;
		found++;
		for (size_t i = 0; i < nr; i++) {
			row = stat_rows_add_row(t, strdup(wm_tally_name(t->c->tally, e)));
			if (!row)
				return;
			fill_tally(t, row, e, t->plan->request.per_thread ? i : WM_TALLY_ALL);
		}
	}
	if (found || wm_glob_is_pattern(name, strlen(name)))
		return;
	row = stat_rows_add_row(t, strdup(name));
	if (row)
		row->reason = "no counted process has this event";
}

/* Adds all rows in the order of the command line. */
static void stat_rows_add_all(struct table *t)
{
	const struct wm_event_def *defs = t->plan->choice.counting.defs->defs;
	uint32_t rule = 0, nr_rules = t->c->tally ? wm_counting_rules_nr(t->plan->choice.rules) : 0;

	for (size_t e = 0; e < wm_counters_nr(t->c->counters); e++) {
		size_t def = (size_t)(wm_counters_event(t->c->counters, e)->def - defs);

		while (rule < nr_rules &&
		       wm_counting_rules_before(t->plan->choice.rules, rule) <= def)
			stat_rows_add_rule(t, rule++);
		add_counter(t, e);
	}
	while (rule < nr_rules)
		stat_rows_add_rule(t, rule++);
}

struct wm_count_row *wm_stat_rows(const struct wm_stat_plan *plan, const struct wm_counting *c,
				  bool since, uint64_t elapsed_ns, size_t *ret_nr)
{
	struct table t = {.plan = plan,
			  .c = c,
			  .since = since,
			  .elapsed_ns = elapsed_ns,
			  .tids = plan->request.per_thread ? c->nr_tids : 1,
			  .cpus = plan->request.per_cpu ? plan->choice.counting.nr_cpus : 1,
			  .room = 16};

	t.rows = calloc(t.room, sizeof(*t.rows));
	if (!t.rows)
		return NULL;
	stat_rows_add_all(&t);
	if (t.failed) {
		wm_stat_rows_free(t.rows, t.nr);
		return NULL;
	}
	*ret_nr = t.nr;
	return t.rows;
}

void wm_stat_rows_free(struct wm_count_row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free((char *)rows[i].event);
		free((char *)rows[i].where);
	}
	free(rows);
}

/* ---- several runs ------------------------------------------------------------------ */

void wm_stat_runs_add(struct wm_stat_run *r, int64_t nr_runs, double value)
{
	double off = value - r->mean;

	r->mean += off / (double)nr_runs;
	r->m2 += off * (value - r->mean);
}

double wm_stat_spread(const struct wm_stat_run *r, int64_t nr_runs)
{
	if (nr_runs < 2)
		return -1;
	if (r->mean == 0)
		return 0;
	return sqrt(r->m2 / (double)(nr_runs - 1) / (double)nr_runs) / r->mean;
}
