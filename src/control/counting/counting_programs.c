/* SPDX-License-Identifier: MIT */
/* counting_programs.c - see counting_programs.h. */
#include "control/counting_programs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "control/attach.h"
#include "control/recorder/recorder_int.h"
#include "kernel/event_name.h"

#define REFUSED_SAID 10u

/* ---- names --------------------------------------------------------------------------- */

/*
 * Whether the kernel has the name's family. If so, even a misspelt "sched:sched_swtich" is a kernel
 * name.
 */
static bool kernel_has_family(const struct wm_event_space *space, const char *name)
{
	size_t bytes = strcspn(name, ":");
	struct wm_event_defs defs;
	char all[128];
	int nr;

	if (snprintf(all, sizeof(all), "%.*s:*", (int)bytes, name) >= (int)sizeof(all))
		return false;
	wm_event_defs_init(&defs);
	nr = wm_event_name_resolve(space, all, &defs, NULL);
	wm_event_defs_done(&defs);
	return nr > 0;
}

struct search {
	const struct wm_rules *rules;
	bool found;
};

static void counting_programs_compare(struct search *s, const struct wm_class *c)
{
	s->found |= wm_rules_wants(s->rules, 0, c->provider, c->name, c->level);
}

static int compare_event(const struct wm_class *c, const struct wm_elf_event *e, void *data)
{
	(void)e;
	counting_programs_compare(data, c);
	return 0;
}

static void compare_listed(const struct wm_attach_site *site, void *data)
{
	counting_programs_compare(data, site->class);
}

/* Whether CMD's file or one of the plan's processes has the event. */
static bool counting_programs_is_there(const struct wm_recorder_plan *plan, const char *name)
{
	const struct wm_rules_options o = wm_tally_rules_options();
	struct wm_recorder_events events;
	struct search s = {.found = false};

	if (wm_recorder_events_init(&events, &o) < 0)
		return false;
	s.rules = events.rules;
	if (wm_rules_add(events.rules, name, NULL, 0, WM_RULES_ALL_LEVELS, NULL) == 0) {
		(void)wm_recorder_each_event(plan, compare_event, &s);
		for (size_t k = 0; k < plan->nr_pids && !s.found; k++)
			(void)wm_attach_list(plan->pids[k], compare_listed, &s, NULL);
	}
	wm_recorder_events_done(&events);
	return s.found;
}

bool wm_counting_means_programs(const struct wm_recorder_plan *plan,
				const struct wm_event_space *space, const char *name, int err,
				const char **ret_name)
{
	const char *user;

	(void)wm_recorder_is_kernels(name, &user);
	*ret_name = user ? user : name;
	if (user && user != name)
		return true;
	if (!user || !err || !strchr(name, ':'))
		return false;
	return err == -ENOENT ? !kernel_has_family(space, name)
			      : counting_programs_is_there(plan, user);
}

/* ---- a run --------------------------------------------------------------------------- */

int wm_counting_programs_check(const struct wm_recorder_plan *plan, struct wm_diag *diag)
{
	int err = plan ? wm_recorder_check_filters(plan, diag) : 0;

	return err || !plan ? err : wm_recorder_targets_check(plan, diag);
}

int wm_counting_programs_open(struct wm_counting_programs *p, const struct wm_recorder_plan *plan,
			      struct wm_loop *loop, struct wm_diag *diag)
{
	*p = (struct wm_counting_programs){.plan = plan, .loop = loop};
	return plan ? wm_tally_create(plan->events->rules, plan->runtime_dir, &p->tally, diag) : 0;
}

int wm_counting_programs_hold(const struct wm_counting_programs *p, char *const *command,
			      bool counted, const sigset_t *mask, struct wm_child *ret,
			      struct wm_diag *diag)
{
	char **environment = NULL;
	int err;

	if (!p->plan || !counted)
		return wm_child_hold(command, mask, ret);
	err = wm_recorder_env_make(p->plan, wm_tally_session(p->tally)->path, &environment, diag);
	if (!err)
		err = wm_child_hold_with(command, environment, mask, NULL, ret);
	wm_recorder_env_free(environment);
	return err;
}

static void on_joined(pid_t pid, void *data)
{
	struct wm_counting_programs *p = data;

	if (p->targets)
		wm_recorder_targets_joined(p->targets, pid);
}

static void on_refused(pid_t pid, const char *why, void *data)
{
	struct wm_counting_programs *p = data;

	if (++p->nr_refused > REFUSED_SAID)
		return;
	if (pid)
		wm_words_say(p->plan->words, "process %d is not counted: %s", (int)pid, why);
	else
		wm_words_say(p->plan->words, "a process is not counted: %s", why);
}

int wm_counting_programs_serve(struct wm_counting_programs *p, const pid_t *tids, size_t nr_tids,
			       bool only)
{
	const struct wm_tally_options o = {
	    .tids = tids,
	    .nr_tids = nr_tids,
	    .only = only,
	    .joined = on_joined,
	    .refused = on_refused,
	    .data = p,
	};

	return p->plan ? wm_tally_serve(p->tally, &o, p->loop) : 0;
}

static void on_gone(void *data)
{
	/* Ignored: the kernel events' part already watches for the processes' end. */
	(void)data;
}

int wm_counting_programs_attach(struct wm_counting_programs *p, struct wm_diag *diag)
{
	if (!p->plan)
		return 0;
	return wm_recorder_targets_start(p->loop, p->plan, wm_tally_session(p->tally), on_gone,
					 NULL, &p->targets, diag);
}

void wm_counting_programs_leave(struct wm_counting_programs *p)
{
	if (p->tally)
		wm_tally_end(p->tally);
	(void)wm_recorder_targets_say_missing(p->targets);
	wm_recorder_targets_done(p->targets);
	p->targets = NULL;
}

void wm_counting_programs_say(const struct wm_words *words, const struct wm_tally_totals *t)
{
	if (t->lost)
		wm_words_say(
		    words,
		    "%llu program %s could not be counted: out of memory, or emitted in a child "
		    "of vfork or in signal handlers nested deeper than 8",
		    (unsigned long long)t->lost, wm_plural(t->lost, "event", "events"));
	if (t->filtered_missing)
		wm_words_say(words,
			     "program events that lack a field of their filter, and are not "
			     "counted: %llu",
			     (unsigned long long)t->filtered_missing);
	if (t->nr_unpatched)
		wm_words_say(words,
			     "tracepoints that stayed off because their code cannot be patched: "
			     "%llu in %u %s",
			     (unsigned long long)t->sites_unpatched, t->nr_unpatched,
			     wm_plural(t->nr_unpatched, "process", "processes"));
	if (t->sites_refused)
		wm_words_say(words,
			     "tracepoints that stayed off because their code was modified, by a "
			     "debugger or a uprobe: %u",
			     t->sites_refused);
}
