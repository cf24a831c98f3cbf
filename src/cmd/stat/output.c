/* SPDX-License-Identifier: MIT */
/*
 * output.c - prints the rows of one or more runs: tables, lines or JSON, intervals, means over
 * runs, the final lines. See stat.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/stat/stat.h"
#include "view/document.h"

static void stat_output_show_rows(struct wm_stat_out *s, const struct wm_count_row *rows, size_t nr,
				  uint64_t time_ns)
{
	const struct wm_stat_plan *p = s->plan;

	if (p->json) {
		wm_view_count_json(&s->json, "events", rows, nr);
	} else if (p->separator) {
		wm_view_count_separated(p->out, p->separator, s->layout.time, time_ns, rows, nr);
	} else {
		wm_view_count_fit(&s->layout, rows, nr);
		if (!s->head_printed)
			wm_view_count_head(p->out, &s->layout);
		s->head_printed = true;
		wm_view_count_text(p->out, &s->layout, time_ns, rows, nr);
	}
}

static bool is_row(const struct wm_stat_run *r, const struct wm_count_row *row)
{
	size_t bytes = strlen(row->event);

	return !strncmp(r->key, row->event, bytes) && r->key[bytes] == '\n' &&
	       !strcmp(r->key + bytes + 1, row->where ? row->where : "");
}

/*
 * Returns the counts of this row in earlier runs, which are usually at the same index. NULL: out of
 * memory.
 */
static struct wm_stat_run *run_of(struct wm_stat_runs *r, const struct wm_count_row *row, size_t at)
{
	struct wm_stat_run *grown;
	size_t i = 0;

	if (at < r->nr_rows && is_row(&r->rows[at], row))
		return &r->rows[at];
	while (i < r->nr_rows && !is_row(&r->rows[i], row))
		i++;
	if (i < r->nr_rows)
		return &r->rows[i];
	grown = reallocarray(r->rows, i + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	r->rows = grown;
	grown[i] = (struct wm_stat_run){0};
	if (asprintf(&grown[i].key, "%s\n%s", row->event, row->where ? row->where : "") < 0)
		return NULL;
	r->nr_rows++;
	return &grown[i];
}

/* Adds a run's row and replaces its values with the averages over all runs. */
static int add_run(struct wm_stat_runs *r, struct wm_count_row *row, size_t at)
{
	struct wm_stat_run *run = run_of(r, row, at);

	if (!run)
		return -ENOMEM;
	while (run->nr_runs + 1 < r->nr_runs) /* a run without this row counts as 0 */
		wm_stat_runs_add(run, ++run->nr_runs, 0);
	wm_stat_runs_add(run, ++run->nr_runs, (double)row->value);
	run->raw += row->raw;
	run->enabled_ns += row->enabled_ns;
	run->running_ns += row->running_ns;
	if (r->nr_runs < 2)
		return 0;
	row->value = (uint64_t)llround(run->mean);
	row->raw = run->raw / (uint64_t)r->nr_runs;
	row->enabled_ns = run->enabled_ns;
	row->running_ns = run->running_ns;
	row->spread = wm_stat_spread(run, r->nr_runs);
	row->elapsed_ns = (uint64_t)r->elapsed.mean;
	return 0;
}

void wm_stat_out_tick(struct wm_stat_out *s, const struct wm_count_row *rows, size_t nr,
		      uint64_t elapsed_ns)
{
	if (s->plan->json) {
		wm_json_object(&s->json, NULL);
		wm_json_u64(&s->json, "time_ns", elapsed_ns);
	}
	stat_output_show_rows(s, rows, nr, elapsed_ns);
	if (s->plan->json)
		wm_json_end(&s->json);
	(void)fflush(s->plan->out);
	s->last_tick_ns = elapsed_ns;
}

void wm_stat_out_begin_run(struct wm_stat_out *s, uint64_t elapsed_ns, uint64_t user_ns,
			   uint64_t system_ns)
{
	struct wm_stat_runs *r = &s->runs;

	r->nr_runs++;
	wm_stat_runs_add(&r->elapsed, r->nr_runs, (double)elapsed_ns);
	wm_stat_runs_add(&r->user, r->nr_runs, (double)user_ns);
	wm_stat_runs_add(&r->system, r->nr_runs, (double)system_ns);
}

int wm_stat_out_run(struct wm_stat_out *s, struct wm_count_row *rows, size_t nr,
		    uint64_t elapsed_ns, bool last)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = add_run(&s->runs, &rows[i], i);
	if (!err && last)
		stat_output_show_rows(s, rows, nr, elapsed_ns);
	return err;
}

/* final lines */

static void show_times_text(const struct wm_stat_out *s)
{
	const struct wm_stat_runs *r = &s->runs;
	FILE *out = s->plan->out;

	(void)fprintf(out, "%s%.6f s elapsed", s->head_printed ? "\n" : "", r->elapsed.mean / 1e9);
	if (r->nr_runs > 1)
		(void)fprintf(out, " +- %.2f %%, mean of %" PRId64 " runs",
			      100 * wm_stat_spread(&r->elapsed, r->nr_runs), r->nr_runs);
	if (s->plan->choice.stream)
		(void)fprintf(out, "; counted from recorded events, %" PRIu64 " lost\n", s->lost);
	else if (s->plan->choice.counting.command)
		(void)fprintf(out, ", %.6f s user, %.6f s system", r->user.mean / 1e9,
			      r->system.mean / 1e9);
	if (!s->plan->choice.stream)
		(void)fputs(s->plan->choice.counting.by ? "; grouped in the kernel\n" : "\n", out);
	if (s->plan->without)
		(void)fprintf(out, "%s\n", s->plan->without);
}

static void show_times_json(struct wm_stat_out *s)
{
	const struct wm_stat_runs *r = &s->runs;

	wm_json_i64(&s->json, "runs", r->nr_runs);
	wm_json_u64(&s->json, "elapsed_ns", (uint64_t)r->elapsed.mean);
	if (r->nr_runs > 1)
		wm_json_f64(&s->json, "elapsed_spread", wm_stat_spread(&r->elapsed, r->nr_runs));
	if (s->plan->choice.counting.by || s->plan->choice.stream)
		wm_json_string(&s->json, "counted",
			       s->plan->choice.stream ? "from the stream" : "in the kernel");
	if (s->plan->choice.counting.programs || s->plan->choice.stream)
		wm_json_u64(&s->json, "lost", s->lost);
	if (s->plan->choice.counting.command && !s->plan->choice.stream) {
		wm_json_u64(&s->json, "user_ns", (uint64_t)r->user.mean);
		wm_json_u64(&s->json, "system_ns", (uint64_t)r->system.mean);
	}
}

void wm_stat_out_begin(struct wm_stat_out *s, const struct wm_stat_plan *plan)
{
	*s = (struct wm_stat_out){.plan = plan};
	s->layout.time = s->plan->choice.counting.interval_ns != 0;
	if (s->plan->json)
		wm_view_document(&s->json, s->plan->out, 2, "stat");
	if (s->plan->json && s->layout.time)
		wm_json_array(&s->json, "intervals");
}

void wm_stat_out_finish(struct wm_stat_out *s)
{
	if (s->plan->json) {
		if (s->layout.time)
			wm_json_end(&s->json);
		if (s->runs.nr_runs)
			show_times_json(s);
		wm_json_end(&s->json);
	} else if (!s->plan->separator && s->runs.nr_runs) {
		show_times_text(s);
	}
	for (size_t i = 0; i < s->runs.nr_rows; i++)
		free(s->runs.rows[i].key);
	free(s->runs.rows);
}
