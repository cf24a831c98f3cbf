/* SPDX-License-Identifier: MIT */
/* run.c - runs, intervals, the final lines, the exit status. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cmd/exit.h"
#include "cmd/record/record.h"
#include "cmd/say.h"
#include "cmd/stat/stat.h"
#include "control/counting_programs.h"

struct stat_state {
	const struct wm_stat_plan *plan;
	struct wm_stat_out out;
	bool none; /* only program events were named, and none matched */
};

/* before the start */

static bool counts_something(const struct wm_counting *c)
{
	if (c->tally)
		return true;
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
			       e->why.sentence[0] ? e->why.sentence : wm_diag_errno(e->err));
		if (e->is_split)
			wm_say("the events of a group are counted one by one, because they cannot "
			       "be counted together: %s",
			       e->why.sentence);
	}
}

/*
 * Reports which program events could not be counted; returns false if there are any. *ret_none is
 * set when no event matched at all.
 */
static bool say_of_rules(const struct wm_counting_rules *r, const struct wm_counting *c,
			 bool *ret_none)
{
	const struct wm_recorder_plan *plan = wm_counting_rules_whose(r);
	struct wm_recording_totals matched;
	struct wm_tally_totals t;
	uint32_t nr;

	wm_tally_totals(c->tally, &t);
	wm_counting_rules_matched(c, &matched);
	nr = wm_record_say_unmatched(plan, &matched);
	*ret_none = nr == 0;
	wm_counting_programs_say(&wm_say_words, &t);
	if (c->nr_refused)
		wm_say("processes that could not be counted: %u", c->nr_refused);
	return nr == plan->nr_asked && !c->nr_refused && !t.lost && !t.nr_unpatched &&
	       !t.sites_refused;
}

/*
 * Reports, after the last run, which program events were not counted. Returns whether there are
 * any.
 */
static bool say_of_programs(struct stat_state *s, const struct wm_counting *c)
{
	struct wm_tally_totals t;
	bool none = false, whole;

	wm_tally_totals(c->tally, &t);
	s->out.lost = t.lost;
	whole = say_of_rules(s->plan->choice.rules, c, &none);

	s->none = none && !wm_counters_nr(c->counters);
	if (s->plan->request.per_cpu)
		wm_say("program events are not counted per CPU, because each thread keeps its own "
		       "count; '-C LIST' counts only on those CPUs");
	return !whole || s->plan->request.per_cpu;
}

/* Prevents CMD from running when no event can be counted. */
static int on_ready(const struct wm_counting *c, void *data)
{
	struct stat_state *s = data;

	if (s->out.runs.nr_runs == 0)
		say_not_counted(c);
	return counts_something(c) ? 0 : wm_counters_event(c->counters, 0)->err;
}

void wm_stat_say_cut_short(const struct wm_stat_plan *plan)
{
	wm_say("nothing was counted: the run ended before the delay of -D (%" PRIu64
	       " ms) was over; use a shorter -D",
	       plan->choice.counting.delay_ns / 1000000u);
}

/* ---- results ---------------------------------------------------------------------- */

static void on_tick(const struct wm_counting *c, uint64_t elapsed_ns, void *data)
{
	struct stat_state *s = data;
	size_t nr;
	struct wm_count_row *rows =
	    wm_stat_rows(s->plan, c, true, elapsed_ns - s->out.last_tick_ns, &nr);

	if (!rows)
		return;
	wm_stat_out_tick(&s->out, rows, nr, elapsed_ns);
	wm_stat_rows_free(rows, nr);
}

/* Prints the rest of an interval that was cut short, or the result without intervals. */
static int show_result(struct stat_state *s, const struct wm_counting *c, bool last)
{
	size_t nr;
	struct wm_count_row *rows;
	int err;

	if (s->plan->choice.counting.interval_ns) {
		on_tick(c, c->elapsed_ns, s);
		return 0;
	}
	rows = wm_stat_rows(s->plan, c, false, c->elapsed_ns, &nr);
	if (!rows)
		return -ENOMEM;
	err = wm_stat_out_run(&s->out, rows, nr, c->elapsed_ns, last);
	wm_stat_rows_free(rows, nr);
	return err;
}

/* ---- runs -------------------------------------------------------------------------- */

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
	bool exec = diag->where && !strcmp(diag->where, WM_RECORDER_IN_COMMAND);

	if (diag->sentence[0])
		wm_say("stat: %s", diag->sentence);
	else if (s->out.runs.nr_runs || !err)
		wm_say("stat: %s", wm_diag_errno(err));
	if (exec)
		return err == -ENOENT ? WM_EXIT_NOT_FOUND : WM_EXIT_CANNOT_RUN;
	if (s->plan->choice.counting.command)
		return WM_EXIT_BEFORE_COMMAND;
	return (int)wm_exit_of(err);
}

/* Runs once. Returns CMD's status, or < 0 when the verb must exit with *ret_exit. */
static int stat_run_once(struct stat_state *s, bool last, bool *ret_missing, int *ret_exit)
{
	struct wm_counting c;
	struct wm_diag diag = {.offset = -1};
	int err = wm_counting_run(&s->plan->choice.counting, on_ready, on_tick, s, &c, &diag),
	    status;

	if (err) {
		*ret_exit = say_failed(s, err, &diag);
		return -1;
	}
	wm_stat_out_begin_run(&s->out, c.elapsed_ns, c.user_ns, c.system_ns);
	for (size_t i = 0; i < wm_counters_nr(c.counters); i++)
		*ret_missing |= !s->plan->defaults && wm_counters_event(c.counters, i)->err < 0;
	err = show_result(s, &c, last || c.signo);
	if (!err && s->plan->choice.counting.by && !wm_stat_show_by(s->plan, &c, &s->out.json))
		*ret_missing = true;
	if (c.tally && (last || c.signo))
		*ret_missing |= say_of_programs(s, &c);
	if (c.cut_short && (last || c.signo))
		wm_stat_say_cut_short(s->plan);
	*ret_missing |= c.cut_short;
	status = status_of(&c);
	if (c.signo && s->out.runs.nr_runs < s->plan->runs)
		*ret_exit = status ? status : WM_EXIT_SIGNAL_BASE + c.signo;
	wm_counting_done(&c);
	if (err < 0)
		wm_say("stat: %s", wm_diag_errno(err));
	return err < 0 || *ret_exit ? -1 : status;
}

int wm_stat_run(const struct wm_stat_plan *plan)
{
	struct stat_state s = {.plan = plan};
	bool missing = false;
	int status = 0, ret = 0;

	wm_stat_out_begin(&s.out, plan);
	for (int64_t i = 1; i <= plan->runs && ret == 0; i++) {
		int one;

		s.out.last_tick_ns = 0;
		one = stat_run_once(&s, i == plan->runs, &missing, &ret);
		if (one < 0)
			break;
		status = one ? one : status;
	}
	wm_stat_out_finish(&s.out);
	if (ret || status)
		return ret ? ret : status;
	if (s.none)
		return WM_EXIT_NO_MATCH;
	return missing ? WM_EXIT_INCOMPLETE : WM_EXIT_DONE;
}
