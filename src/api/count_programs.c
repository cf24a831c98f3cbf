/* SPDX-License-Identifier: MIT */
/* count_programs.c - counters of program events, for <waymark/record.h>. See count.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/count.h"
#include "api/record.h"
#include "base/clock.h"
#include "base/glob.h"

#define ARENA_MAX ((size_t)1 << 20)
/* iterations of the event loop, at most, to handle all messages that have arrived */
#define STEPS_MAX 1000

/*
 * Finds the running processes to count: those given, those that the given threads belong to, or
 * this one.
 */
static int api_programs_find_pids(struct wm_api_programs *p, const struct waymark_count_options *o,
				  struct wm_diag *diag)
{
	bool self = !o->nr_pids && !o->nr_tids && !o->everything && !o->command;
	size_t nr = o->nr_pids;
	int err = 0;

	p->pids = calloc(nr + 1, sizeof(*p->pids));
	if (!p->pids)
		return -ENOMEM;
	if (nr)
		memcpy(p->pids, o->pids, nr * sizeof(*p->pids));
	if (self)
		p->pids[nr++] = getpid();
	if (o->nr_tids)
		err = wm_recorder_processes_of(o->tids, o->nr_tids, &p->pids, &nr, diag);
	p->plan.pids = p->pids;
	p->plan.nr_pids = nr;
	return err;
}

int wm_api_programs_init(struct wm_api_programs *p, const struct waymark_count_options *o,
			 const struct wm_words *words, struct waymark_error *error)
{
	const struct wm_rules_options rules = wm_tally_rules_options();
	struct wm_diag diag = {.offset = -1};
	bool failed = false;
	int err;

	wm_arena_init(&p->arena, ARENA_MAX);
	p->plan = (struct wm_recorder_plan){
	    .events = &p->events,
	    .counts = true,
	    .all = o->everything,
	    .preload = o->preload,
	    .command = (char *const *)o->command,
	    .words = words,
	    .search = getenv("PATH"),
	    .runtime_dir = getenv("XDG_RUNTIME_DIR"),
	    .folder = wm_api_own_folder(&p->arena, &failed),
	    .environment = environ,
	};
	err = failed ? -ENOMEM : wm_recorder_events_init(&p->events, &rules);
	if (!err)
		err = api_programs_find_pids(p, o, &diag);
	return err ? wm_api_fail_said(error, err, &diag) : 0;
}

void wm_api_programs_done(struct wm_api_programs *p)
{
	wm_counting_programs_leave(&p->run);
	wm_tally_destroy(p->run.tally);
	wm_loop_destroy(p->loop);
	wm_recorder_events_done(&p->events);
	free(p->pids);
	wm_arena_done(&p->arena);
}

int wm_api_programs_add(struct wm_api_programs *p, const char *name, const char *filter,
			struct wm_diag *diag)
{
	int err;

	for (uint32_t i = 0; i < p->plan.nr_asked; i++)
		if (!strcmp(wm_rules_glob(p->events.rules, i), name))
			return wm_diag_set(diag, -EINVAL, NULL, -1,
					   "'%.120s' is given twice, but an event of a program is "
					   "counted once; give both filters in one, joined with ||",
					   name);
	err = wm_rules_add(p->events.rules, name, filter, 0, WM_RULES_ALL_LEVELS, diag);
	p->plan.nr_asked += err >= 0;
	return err < 0 ? err : 0;
}

int wm_api_programs_open(struct wm_api_programs *p, bool beside, struct wm_diag *diag)
{
	int err;

	if (!p->plan.nr_asked)
		return 0;
	p->plan.beside = beside;
	err = wm_counting_programs_check(&p->plan, diag);
	if (!err)
		err = wm_loop_create(&p->loop);
	return err ? err : wm_counting_programs_open(&p->run, &p->plan, p->loop, diag);
}

/* ---- while it runs ------------------------------------------------------------------- */

static void api_programs_on_end(pid_t pid, int status, void *data)
{
	(void)pid;
	(void)status;
	*(bool *)data = true;
}

int wm_api_programs_wait(struct wm_api_programs *p, pid_t pid, int timeout_ms)
{
	uint64_t end_ns = wm_clock_monotonic_ns() + (uint64_t)timeout_ms * 1000000u;
	struct wm_watch *watch = NULL;
	bool ended = false;
	int got = wm_loop_process(p->loop, pid, api_programs_on_end, &ended, &watch);

	if (got == -ESRCH)
		return 1;
	if (got < 0)
		return got;
	do {
		uint64_t now_ns = wm_clock_monotonic_ns();
		int left = timeout_ms < 0    ? -1
			   : now_ns < end_ns ? (int)((end_ns - now_ns + 999999u) / 1000000u)
					     : 0;

		got = wm_loop_step(p->loop, left);
	} while (got > 0 && !ended);
	wm_watch_remove(watch);
	return ended ? 1 : got;
}

/* Reports losses when they have increased. */
static void api_programs_say_losses(struct wm_api_programs *p)
{
	struct wm_tally_totals now, more;

	wm_tally_totals(p->run.tally, &now);
	more = now;
	more.lost -= p->said.lost;
	more.filtered_missing -= p->said.filtered_missing;
	more.nr_unpatched -= p->said.nr_unpatched;
	more.sites_unpatched -= p->said.sites_unpatched;
	more.sites_refused -= p->said.sites_refused;
	p->said = now;
	wm_counting_programs_say(p->plan.words, &more);
}

void wm_api_programs_read(struct wm_api_programs *p)
{
	if (!p->run.tally)
		return;
	for (int i = 0; i < STEPS_MAX && wm_loop_step(p->loop, 0) > 0; i++)
		;
	wm_tally_read(p->run.tally);
	api_programs_say_losses(p);
}

/* ---- results --------------------------------------------------------------------------- */

static bool was_found(const struct wm_api_programs *p, const char *name)
{
	for (size_t i = 0; i < wm_tally_nr(p->run.tally); i++)
		if (!strcmp(wm_tally_name(p->run.tally, i), name))
			return true;
	return false;
}

/* Returns the i-th name without wildcards that matched no event; NULL: there are fewer. */
static const char *api_programs_missing(const struct wm_api_programs *p, size_t i)
{
	for (uint32_t rule = 0; rule < p->plan.nr_asked; rule++) {
		const char *name = wm_rules_glob(p->events.rules, rule);

		if (!wm_glob_is_pattern(name, strlen(name)) && !was_found(p, name) && i-- == 0)
			return name;
	}
	return NULL;
}

int wm_api_programs_tell(const struct wm_api_programs *p, size_t i, size_t thread,
			 struct waymark_counter *ret)
{
	size_t nr = p->run.tally ? wm_tally_nr(p->run.tally) : 0;
	struct waymark_counter c = {.scale = 1};

	if (!p->run.tally)
		return -ERANGE;
	c.name = i < nr ? wm_tally_name(p->run.tally, i) : api_programs_missing(p, i - nr);
	if (!c.name)
		return -ERANGE;
	c.value = c.counted = i < nr ? wm_tally_count(p->run.tally, i, thread) : 0;
	*ret = c;
	return 0;
}
