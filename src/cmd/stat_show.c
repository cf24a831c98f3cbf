/* SPDX-License-Identifier: MIT */
/* stat_show.c - rows for what was counted, see stat.h. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cmd/stat.h"

static bool is_clock(const struct wm_event_def *d)
{
	return d->type == PERF_TYPE_SOFTWARE &&
	       (d->config == PERF_COUNT_SW_TASK_CLOCK || d->config == PERF_COUNT_SW_CPU_CLOCK);
}

/* "CPU3" or "sh-4711"; NULL: out of memory. */
static char *where_text(const struct wm_stat_plan *p, const struct wm_counting *c, size_t tid,
			size_t cpu)
{
	char path[48], *comm = NULL, *text = NULL;
	size_t bytes;

	if (p->per_cpu)
		return asprintf(&text, "CPU%d", p->counting.cpus[cpu]) < 0 ? NULL : text;
	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)c->tids[tid]);
	if (wm_file_read(AT_FDCWD, path, 64, &comm, &bytes) == 0)
		comm[strcspn(comm, "\n")] = '\0';
	if (asprintf(&text, "%s-%d", comm ? comm : "?", (int)c->tids[tid]) < 0)
		text = NULL;
	free(comm);
	return text;
}

/* The name, with what was left out of it. */
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
		row->scale = e->def->scale ? strtod(e->def->scale, NULL) : 1;
	}
}

struct wm_count_row *wm_stat_rows(const struct wm_stat_plan *plan, const struct wm_counting *c,
				  bool since, uint64_t elapsed_ns, size_t *ret_nr)
{
	size_t tids = plan->per_thread ? c->nr_tids : 1;
	size_t cpus = plan->per_cpu ? plan->counting.nr_cpus : 1, nr = 0;
	struct wm_count_row *rows =
	    calloc(wm_counters_nr(c->counters) * tids * cpus + 1, sizeof(*rows));
	bool ok = rows != NULL;

	for (size_t e = 0; ok && e < wm_counters_nr(c->counters); e++) {
		const struct wm_counters_event *event = wm_counters_event(c->counters, e);
		size_t places = event->err ? 1 : tids * cpus;

		for (size_t i = 0; ok && i < places; i++, nr++) {
			struct wm_count_row *row = &rows[nr];
			struct wm_counters_sum sum;
			size_t tid = plan->per_thread ? i / cpus : WM_COUNTERS_ALL;
			size_t cpu = plan->per_cpu ? i % cpus : WM_COUNTERS_ALL;

			wm_counters_sum(c->counters, e, tid, cpu, since, &sum);
			*row = (struct wm_count_row){.event = event_text(event),
						     .spread = -1,
						     .elapsed_ns = elapsed_ns,
						     .reason =
							 event->err ? event->why.sentence : NULL};
			fill_count(row, event, &sum);
			if (!event->err && (plan->per_cpu || plan->per_thread))
				row->where = where_text(plan, c, tid, cpu);
			ok = row->event != NULL;
		}
	}
	*ret_nr = nr;
	if (!ok && rows) {
		wm_stat_rows_free(rows, nr);
		rows = NULL;
	}
	return rows;
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
