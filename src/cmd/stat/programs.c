/* SPDX-License-Identifier: MIT */
/*
 * programs.c - events of programs in `waymark stat`: finds the names that refer to
 * them, makes rules from the names, selects the processes, and reports events that
 * were not counted. Environment and attaching work as in `waymark record`.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/exit.h"
#include "cmd/record/record.h"
#include "cmd/say.h"
#include "cmd/stat/stat.h"
#include "control/counting_programs.h"

struct wm_stat_user {
	struct wm_recorder_plan plan;
	struct wm_recorder_events events;
	pid_t *pids;
	size_t *before; /* per rule: number of kernel events named before it */
	char *cpus;     /* "($cpu == 0 || $cpu == 3)"; NULL: all CPUs */
	char folder[PATH_MAX];
};

/* ---- names --------------------------------------------------------------------------- */

bool wm_stat_user_means(const struct wm_stat_user *u, const struct wm_event_space *space,
			const char *name, int err)
{
	const char *user;

	return wm_counting_means_programs(&u->plan, space, name, err, &user);
}

/* Joins the filter for all events, that of this -e, and the CPUs with &&. 0 or -errno. */
static int join_all(const struct wm_stat_user *u, const struct wm_stat_filters *f, char **ret)
{
	int err = 0;
	char *both = wm_recorder_join_filters(f->text[0], f->text[1], &err);

	*ret = err ? NULL : wm_recorder_join_filters(both, u->cpus, &err);
	free(both);
	return err;
}

static bool stat_programs_is_named(const struct wm_stat_user *u, const char *name)
{
	for (uint32_t i = 0; i < u->plan.nr_asked; i++) {
		if (!strcmp(wm_rules_glob(u->events.rules, i), name))
			return true;
	}
	return false;
}

static int stat_programs_add_rule(struct wm_stat_user *u, const char *name, const char *filter,
				  size_t before)
{
	struct wm_diag diag = {.offset = -1};
	size_t *grown = reallocarray(u->before, u->plan.nr_asked + 1, sizeof(*grown));
	int err;

	if (!grown)
		return WM_EXIT_FAILED;
	u->before = grown;
	u->before[u->plan.nr_asked] = before;
	err = wm_rules_add(u->events.rules, name, filter, 0, WM_RULES_ALL_LEVELS, &diag);
	if (err < 0) {
		wm_say("stat: %s", wm_words_of(err, &diag));
		return err == -EINVAL || err == -E2BIG ? WM_EXIT_USAGE : WM_EXIT_FAILED;
	}
	u->plan.nr_asked++;
	return 0;
}

int wm_stat_user_add(struct wm_stat_user *u, const char *name,
		     const struct wm_stat_filters *filters, size_t before)
{
	char *filter = NULL;
	int status = 0;

	if (!strncmp(name, "user:", 5))
		name += 5;
	if (stat_programs_is_named(u, name)) {
		wm_say("stat: '%s' is named twice, but an event of a program is counted once; give "
		       "one filter, joined with ||",
		       name);
		return WM_EXIT_USAGE;
	}
	for (int i = 0; i < 2 && !status; i++) {
		if (filters->text[i] && wm_record_check_filter(filters->text[i]) < 0)
			status = WM_EXIT_USAGE;
	}
	if (!status && join_all(u, filters, &filter) < 0)
		status = WM_EXIT_FAILED;
	if (!status)
		status = stat_programs_add_rule(u, name, filter, before);
	free(filter);
	return status;
}

/* creation */

/* Finds the processes of -p, and those of the threads of -t. 0 or -errno. */
static int stat_programs_find_pids(struct wm_stat_user *u, const struct wm_counting_plan *c)
{
	struct wm_diag diag = {.offset = -1};
	size_t nr = c->nr_pids;
	int err = 0;

	u->pids = calloc(nr + 1, sizeof(*u->pids));
	if (!u->pids)
		return -ENOMEM;
	if (nr)
		memcpy(u->pids, c->pids, nr * sizeof(*u->pids));
	if (c->nr_tids)
		err = wm_recorder_processes_of(c->tids, c->nr_tids, &u->pids, &nr, &diag);
	if (err == -ESRCH)
		/* the thread has exited, which is reported when the kernel's counters are opened */
		err = 0;
	u->plan.pids = u->pids;
	u->plan.nr_pids = nr;
	return err;
}

int wm_stat_user_create(const struct wm_counting_plan *c, const char *preload, bool only_cpus,
			struct wm_stat_user **ret)
{
	const struct wm_rules_options o = wm_tally_rules_options();
	struct wm_stat_user *u = calloc(1, sizeof(*u));
	int err;

	if (!u)
		return -ENOMEM;
	err = wm_recorder_events_init(&u->events, &o);
	u->plan = (struct wm_recorder_plan){.events = &u->events,
					    .counts = true,
					    .all = c->all,
					    .preload = preload,
					    .command = c->command,
					    .words = &wm_say_words,
					    .search = getenv("PATH"),
					    .runtime_dir = getenv("XDG_RUNTIME_DIR"),
					    .folder = u->folder,
					    .environment = environ};
	if (!err)
		err = stat_programs_find_pids(u, c);
	if (!err)
		err = wm_recorder_own_folder(u->folder, sizeof(u->folder));
	if (!err && only_cpus)
		u->cpus = wm_recorder_single_filter(NULL, 0, c->cpus, c->nr_cpus, &err);
	if (err < 0) {
		wm_stat_user_destroy(u);
		return err;
	}
	*ret = u;
	return 0;
}

void wm_stat_user_destroy(struct wm_stat_user *u)
{
	if (!u)
		return;
	wm_recorder_events_done(&u->events);
	free(u->pids);
	free(u->before);
	free(u->cpus);
	free(u);
}

const struct wm_recorder_plan *wm_stat_user_plan(struct wm_stat_user *u, bool beside)
{
	u->plan.beside = beside;
	return u->plan.nr_asked ? &u->plan : NULL;
}

const struct wm_recorder_plan *wm_stat_user_whose(const struct wm_stat_user *u)
{
	return &u->plan;
}

/* ---- results ------------------------------------------------------------------------------ */

size_t wm_stat_user_rules_before(const struct wm_stat_user *u, uint32_t rule)
{
	return u->before[rule];
}

uint32_t wm_stat_user_nr_rules(const struct wm_stat_user *u)
{
	return u->plan.nr_asked;
}

const char *wm_stat_user_name(const struct wm_stat_user *u, uint32_t rule)
{
	return wm_rules_glob(u->events.rules, rule);
}

bool wm_stat_user_say(const struct wm_stat_user *u, const struct wm_counting *c, bool *ret_none)
{
	struct wm_recording_totals matched = {0};
	struct wm_tally_totals t;
	uint32_t nr;

	wm_tally_totals(c->tally, &t);
	for (size_t i = 0; i < wm_tally_nr(c->tally); i++) {
		uint32_t rule = wm_tally_rule(c->tally, i);

		matched.matched[rule / 8] |= (unsigned char)(1u << rule % 8);
	}
	nr = wm_record_say_unmatched(&u->plan, &matched);
	*ret_none = nr == 0;
	wm_counting_programs_say(&wm_say_words, &t);
	if (c->nr_refused)
		wm_say("processes that could not be counted: %u", c->nr_refused);
	return nr == u->plan.nr_asked && !c->nr_refused && !t.lost && !t.nr_unpatched &&
	       !t.sites_refused;
}
