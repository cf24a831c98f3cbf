/* SPDX-License-Identifier: MIT */
/* stat_run.c - one run or several, intervals, the closing lines, the exit status. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/stat.h"

struct stat_state {
	const struct wm_stat_plan *plan;
	struct wm_count_layout layout;
	struct wm_json json;
	struct wm_stat_runs runs;
	uint64_t last_tick_ns;
	bool head_printed;
};

/* ---- before anything runs --------------------------------------------------------- */

static bool counts_something(const struct wm_counting *c)
{
	for (size_t i = 0; i < wm_counters_nr(c->counters); i++) {
		if (!wm_counters_event(c->counters, i)->err)
			return true;
	}
	return false;
}

static void say_not_counted(const struct wm_counting *c)
{
	for (size_t i = 0; i < wm_counters_nr(c->counters); i++) {
		const struct wm_counters_event *e = wm_counters_event(c->counters, i);

		if (e->err)
			wm_say("not counted: %s",
			       e->why.sentence[0] ? e->why.sentence : strerror(-e->err));
	}
}

/* Nothing to count: CMD is not run for nothing. */
static int on_ready(const struct wm_counting *c, void *data)
{
	struct stat_state *s = data;

	if (s->runs.nr_runs == 0)
		say_not_counted(c);
	return counts_something(c) ? 0 : wm_counters_event(c->counters, 0)->err;
}

/* ---- results ---------------------------------------------------------------------- */

static void show_rows(struct stat_state *s, const struct wm_count_row *rows, size_t nr,
		      uint64_t time_ns, const char *key)
{
	const struct wm_stat_plan *p = s->plan;

	if (p->json) {
		wm_count_json(&s->json, key, rows, nr);
	} else if (p->separator) {
		wm_count_separated(p->out, p->separator, s->layout.time, time_ns, rows, nr);
	} else {
		wm_count_layout_fit(&s->layout, rows, nr);
		if (!s->head_printed)
			wm_count_text_head(p->out, &s->layout);
		s->head_printed = true;
		wm_count_text(p->out, &s->layout, time_ns, rows, nr);
	}
}

static void on_tick(const struct wm_counting *c, uint64_t elapsed_ns, void *data)
{
	struct stat_state *s = data;
	size_t nr;
	struct wm_count_row *rows =
	    wm_stat_rows(s->plan, c, true, elapsed_ns - s->last_tick_ns, &nr);

	if (!rows)
		return;
	if (s->plan->json) {
		wm_json_object(&s->json, NULL);
		wm_json_u64(&s->json, "time_ns", elapsed_ns);
	}
	show_rows(s, rows, nr, elapsed_ns, "events");
	if (s->plan->json)
		wm_json_end(&s->json);
	(void)fflush(s->plan->out);
	s->last_tick_ns = elapsed_ns;
	wm_stat_rows_free(rows, nr);
}

static int remember(struct stat_state *s, const struct wm_count_row *rows, size_t nr)
{
	struct wm_stat_runs *r = &s->runs;

	if (!r->rows) {
		r->rows = calloc(nr + 1, sizeof(*r->rows));
		r->nr_rows = nr;
	}
	if (!r->rows)
		return -ENOMEM;
	for (size_t i = 0; i < nr && i < r->nr_rows; i++) {
		wm_stat_runs_add(&r->rows[i], r->nr_runs, (double)rows[i].value);
		r->rows[i].raw += rows[i].raw;
		r->rows[i].enabled_ns += rows[i].enabled_ns;
		r->rows[i].running_ns += rows[i].running_ns;
	}
	return 0;
}

/* Puts the means of all runs into the rows of the last one. */
static void use_means(const struct wm_stat_runs *r, struct wm_count_row *rows, size_t nr)
{
	for (size_t i = 0; r->nr_runs > 1 && i < nr && i < r->nr_rows; i++) {
		rows[i].value = (uint64_t)llround(r->rows[i].mean);
		rows[i].raw = r->rows[i].raw / (uint64_t)r->nr_runs;
		rows[i].enabled_ns = r->rows[i].enabled_ns;
		rows[i].running_ns = r->rows[i].running_ns;
		rows[i].spread = wm_stat_spread(&r->rows[i], r->nr_runs);
		rows[i].elapsed_ns = (uint64_t)r->elapsed.mean;
	}
}

static void show_times_text(const struct stat_state *s)
{
	const struct wm_stat_runs *r = &s->runs;
	FILE *out = s->plan->out;

	(void)fprintf(out, "%s%.6f s elapsed", s->head_printed ? "\n" : "", r->elapsed.mean / 1e9);
	if (r->nr_runs > 1)
		(void)fprintf(out, " +- %.2f %%, the mean of %" PRId64 " runs",
			      100 * wm_stat_spread(&r->elapsed, r->nr_runs), r->nr_runs);
	if (s->plan->counting.command)
		(void)fprintf(out, ", %.6f s user, %.6f s system", r->user.mean / 1e9,
			      r->system.mean / 1e9);
	(void)fputc('\n', out);
	if (s->plan->without)
		(void)fprintf(out, "%s\n", s->plan->without);
}

static void show_times_json(struct stat_state *s)
{
	const struct wm_stat_runs *r = &s->runs;

	wm_json_i64(&s->json, "runs", r->nr_runs);
	wm_json_u64(&s->json, "elapsed_ns", (uint64_t)r->elapsed.mean);
	if (r->nr_runs > 1)
		wm_json_f64(&s->json, "elapsed_spread", wm_stat_spread(&r->elapsed, r->nr_runs));
	if (s->plan->counting.command) {
		wm_json_u64(&s->json, "user_ns", (uint64_t)r->user.mean);
		wm_json_u64(&s->json, "system_ns", (uint64_t)r->system.mean);
	}
}

/* The rest of an interval that was cut short, or all of it. */
static int show_result(struct stat_state *s, const struct wm_counting *c, bool last)
{
	size_t nr;
	struct wm_count_row *rows;
	int err;

	if (s->plan->counting.interval_ns) {
		on_tick(c, c->elapsed_ns, s);
		return 0;
	}
	rows = wm_stat_rows(s->plan, c, false, c->elapsed_ns, &nr);
	if (!rows)
		return -ENOMEM;
	err = remember(s, rows, nr);
	use_means(&s->runs, rows, nr);
	if (!err && last)
		show_rows(s, rows, nr, c->elapsed_ns, "events");
	wm_stat_rows_free(rows, nr);
	return err;
}

/* ---- runs -------------------------------------------------------------------------- */

static void add_times(struct stat_state *s, const struct wm_counting *c)
{
	struct wm_stat_runs *r = &s->runs;

	r->nr_runs++;
	wm_stat_runs_add(&r->elapsed, r->nr_runs, (double)c->elapsed_ns);
	wm_stat_runs_add(&r->user, r->nr_runs, (double)c->user_ns);
	wm_stat_runs_add(&r->system, r->nr_runs, (double)c->system_ns);
}

static int status_of(const struct wm_counting *c)
{
	if (c->status < 0)
		return WM_EXIT_DONE;
	if (WIFSIGNALED(c->status))
		return WM_EXIT_SIGNAL_BASE + WTERMSIG(c->status);
	return WEXITSTATUS(c->status);
}

static int say_failed(const struct stat_state *s, int err, const struct wm_diag *diag)
{
	bool exec = diag->where && !strcmp(diag->where, "command");

	if (diag->sentence[0])
		wm_say("stat: %s", diag->sentence);
	else if (s->runs.nr_runs || !err)
		wm_say("stat: %s", strerror(-err));
	if (exec)
		return err == -ENOENT ? WM_EXIT_NOT_FOUND : WM_EXIT_CANNOT_RUN;
	if (s->plan->counting.command)
		return WM_EXIT_BEFORE_COMMAND;
	return (int)wm_exit_of(err);
}

/* One run; its status, or < 0 when the verb ends with *ret_exit. */
static int run_once(struct stat_state *s, bool last, bool *ret_missing, int *ret_exit)
{
	struct wm_counting c;
	struct wm_diag diag = {.offset = -1};
	int err = wm_counting_run(&s->plan->counting, on_ready, on_tick, s, &c, &diag), status;

	if (err) {
		*ret_exit = say_failed(s, err, &diag);
		return -1;
	}
	add_times(s, &c);
	for (size_t i = 0; i < wm_counters_nr(c.counters); i++)
		*ret_missing |= !s->plan->defaults && wm_counters_event(c.counters, i)->err < 0;
	err = show_result(s, &c, last || c.signo);
	if (!err && s->plan->counting.by && !wm_stat_show_by(s->plan, &c, &s->json))
		*ret_missing = true;
	status = status_of(&c);
	if (c.signo && s->runs.nr_runs < s->plan->runs)
		*ret_exit = status ? status : WM_EXIT_SIGNAL_BASE + c.signo;
	wm_counting_done(&c);
	if (err < 0)
		wm_say("stat: %s", strerror(-err));
	return err < 0 || *ret_exit ? -1 : status;
}

static void begin(struct stat_state *s)
{
	wm_json_init(&s->json, s->plan->out, 2);
	s->layout.time = s->plan->counting.interval_ns != 0;
	if (s->plan->json)
		wm_json_object(&s->json, NULL);
	if (s->plan->json && s->layout.time)
		wm_json_array(&s->json, "intervals");
}

static void finish(struct stat_state *s)
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
	free(s->runs.rows);
}

int wm_stat_run(const struct wm_stat_plan *plan)
{
	struct stat_state s = {.plan = plan};
	bool missing = false;
	int status = 0, ret = 0;

	begin(&s);
	for (int64_t i = 1; i <= plan->runs && ret == 0; i++) {
		int one;

		s.last_tick_ns = 0;
		one = run_once(&s, i == plan->runs, &missing, &ret);
		if (one < 0)
			break;
		status = one ? one : status;
	}
	finish(&s);
	if (ret || status)
		return ret ? ret : status;
	return missing ? WM_EXIT_INCOMPLETE : WM_EXIT_DONE;
}
