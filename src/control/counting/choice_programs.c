/* SPDX-License-Identifier: MIT */
/*
 * choice_programs.c - program events: finds the names that refer to them, turns the names into
 * rules, and selects the processes. Environment and attaching work as for recordings. See
 * choice_int.h.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "control/counting/choice_int.h"
#include "control/counting_programs.h"
#include "event/filter.h"

struct wm_counting_rules {
	struct wm_recorder_plan plan;
	struct wm_recorder_events events;
	pid_t *pids;
	size_t *before; /* per rule: number of kernel events named before it */
	char *cpus;     /* "($cpu == 0 || $cpu == 3)"; NULL: all CPUs */
	char folder[PATH_MAX];
};

/* ---- names --------------------------------------------------------------------------- */

bool wm_counting_rules_means(const struct wm_counting_rules *r, const struct wm_event_space *space,
			     const char *name, int err)
{
	const char *user;

	return wm_counting_means_programs(&r->plan, space, name, err, &user);
}

/*
 * Joins the filter for all events, the one for this -e, and the CPUs with &&. Returns 0 or -errno.
 */
static int join_all(const struct wm_counting_rules *r, const struct wm_counting_filters *f,
		    char **ret)
{
	int err = 0;
	char *both = wm_recorder_join_filters(f->text[0], f->text[1], &err);

	*ret = err ? NULL : wm_recorder_join_filters(both, r->cpus, &err);
	free(both);
	return err;
}

static bool choice_programs_is_named(const struct wm_counting_rules *r, const char *name)
{
	for (uint32_t i = 0; i < r->plan.nr_asked; i++) {
		if (!strcmp(wm_rules_glob(r->events.rules, i), name))
			return true;
	}
	return false;
}

/* Checks a filter's syntax. */
static int check_filter(const char *text, const char **ret_text, struct wm_diag *diag)
{
	unsigned char *code = NULL;
	size_t bytes;
	int err = wm_filter_parse(text, &code, &bytes, diag);

	free(code);
	if (err < 0)
		*ret_text = text;
	return err < 0 ? -EINVAL : 0;
}

static int choice_programs_add_rule(struct wm_counting_rules *r, const char *name,
				    const char *filter, size_t before, struct wm_diag *diag)
{
	size_t *grown = reallocarray(r->before, r->plan.nr_asked + 1, sizeof(*grown));
	int err;

	if (!grown)
		return -ENOMEM;
	r->before = grown;
	r->before[r->plan.nr_asked] = before;
	err = wm_rules_add(r->events.rules, name, filter, 0, WM_RULES_ALL_LEVELS, diag);
	if (err < 0)
		return err;
	r->plan.nr_asked++;
	return 0;
}

int wm_counting_rules_add(struct wm_counting_rules *r, const char *name,
			  const struct wm_counting_filters *filters, size_t before,
			  const char **ret_text, struct wm_diag *diag)
{
	char *filter = NULL;
	int err = 0;

	*diag = (struct wm_diag){.offset = -1};
	if (!strncmp(name, "user:", 5))
		name += 5;
	if (choice_programs_is_named(r, name))
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "'%s' is named twice, but a program event is counted only "
				   "once; give one filter, joined with ||",
				   name);
	for (int i = 0; i < 2 && !err; i++)
		err = filters->text[i] ? check_filter(filters->text[i], ret_text, diag) : 0;
	if (!err)
		err = join_all(r, filters, &filter);
	if (!err)
		err = choice_programs_add_rule(r, name, filter, before, diag);
	free(filter);
	return err;
}

/* creation */

/* Finds the processes given by -p, and those of the threads given by -t. Returns 0 or -errno. */
static int choice_programs_find_pids(struct wm_counting_rules *r, const struct wm_counting_plan *c,
				     struct wm_diag *diag)
{
	size_t nr = c->nr_pids;
	int err = 0;

	r->pids = calloc(nr + 1, sizeof(*r->pids));
	if (!r->pids)
		return -ENOMEM;
	if (nr)
		memcpy(r->pids, c->pids, nr * sizeof(*r->pids));
	if (c->nr_tids)
		err = wm_recorder_processes_of(c->tids, c->nr_tids, &r->pids, &nr, diag);
	if (err == -ESRCH)
		/* the thread has exited; opening the kernel's counters reports that */
		err = 0;
	r->plan.pids = r->pids;
	r->plan.nr_pids = nr;
	return err;
}

int wm_counting_rules_create(const struct wm_counting_request *q, const struct wm_counting_plan *c,
			     struct wm_counting_rules **ret, struct wm_diag *diag)
{
	const struct wm_rules_options o = wm_tally_rules_options();
	struct wm_counting_rules *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	err = wm_recorder_events_init(&r->events, &o);
	r->plan = (struct wm_recorder_plan){.events = &r->events,
					    .counts = true,
					    .all = c->all,
					    .preload = q->preload,
					    .command = c->command,
					    .words = q->words,
					    .search = q->search,
					    .runtime_dir = q->runtime_dir,
					    .folder = r->folder,
					    .environment = q->environment};
	if (!err)
		err = choice_programs_find_pids(r, c, diag);
	if (!err)
		err = wm_recorder_own_folder(r->folder, sizeof(r->folder));
	if (!err && q->cpus)
		r->cpus = wm_recorder_single_filter(NULL, 0, c->cpus, c->nr_cpus, &err);
	if (err < 0) {
		wm_counting_rules_destroy(r);
		return err;
	}
	*ret = r;
	return 0;
}

void wm_counting_rules_destroy(struct wm_counting_rules *r)
{
	if (!r)
		return;
	wm_recorder_events_done(&r->events);
	free(r->pids);
	free(r->before);
	free(r->cpus);
	free(r);
}

const struct wm_recorder_plan *wm_counting_rules_plan(struct wm_counting_rules *r, bool beside)
{
	r->plan.beside = beside;
	return r->plan.nr_asked ? &r->plan : NULL;
}

const struct wm_recorder_plan *wm_counting_rules_whose(const struct wm_counting_rules *r)
{
	return &r->plan;
}

/* ---- results ------------------------------------------------------------------------------ */

size_t wm_counting_rules_before(const struct wm_counting_rules *r, uint32_t rule)
{
	return r->before[rule];
}

uint32_t wm_counting_rules_nr(const struct wm_counting_rules *r)
{
	return r->plan.nr_asked;
}

const char *wm_counting_rules_name(const struct wm_counting_rules *r, uint32_t rule)
{
	return wm_rules_glob(r->events.rules, rule);
}

void wm_counting_rules_matched(const struct wm_counting *c, struct wm_recording_totals *ret)
{
	*ret = (struct wm_recording_totals){0};
	for (size_t i = 0; i < wm_tally_nr(c->tally); i++) {
		uint32_t rule = wm_tally_rule(c->tally, i);

		ret->matched[rule / 8] |= (unsigned char)(1u << rule % 8);
	}
}
