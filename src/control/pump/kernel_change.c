/* SPDX-License-Identifier: MIT */
/*
 * kernel_change.c - kernel events that a tool requests while a session is served. The pump resolves
 * and switches them, because it has the rings. In a recording without kernel events it creates the
 * instance and the source first.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/pump/pumproc_int.h"
#include "control/recorder/events.h"
#include "control/recorder/kernel_request.h"
#include "control/recorder/recorder_int.h"
#include "control/tool.h"
#include "kernel/counters.h"
#include "kernel/proc_tasks.h"

/* Limit for the repetitions needed because tasks are forked while /proc is read. */
#define LOOKS_MAX 16u

/* --- tasks to follow, when it begins late
 * --------------------------------------------------------------- */

struct tids {
	pid_t *tids;
	size_t nr;
};

static int kernel_change_add_threads(struct tids *t, pid_t pid)
{
	pid_t *tids, *more;
	size_t nr;
	int err = wm_threads_of(pid, &tids, &nr);

	if (err)
		return err == -ENOMEM ? err : 0; /* otherwise the process has just exited */
	more = reallocarray(t->tids, t->nr + nr + 1, sizeof(*more));
	if (more) {
		memcpy(more + t->nr, tids, nr * sizeof(*tids));
		t->tids = more;
		t->nr += nr;
	}
	free(tids);
	return more ? 0 : -ENOMEM;
}

/* Finds the processes that the user named or that have joined, and their descendants. */
static int find_processes(const struct wm_pumproc *p, struct wm_proc_tasks *tasks)
{
	const struct wm_recording_whose *whose = &p->o->whose;
	int err = 0;

	for (size_t i = 0; !err && i < whose->nr_pids; i++)
		err = wm_proc_tasks_follow(tasks, whose->pids[i]);
	if (!err && p->command_pid)
		err = wm_proc_tasks_follow(tasks, p->command_pid);
	for (const struct wm_pumproc_member *m = p->members; m && !err; m = m->next)
		if (wm_app_state(m->app) == WM_APP_JOINED)
			err = wm_proc_tasks_follow(tasks, (pid_t)wm_app_pid(m->app));
	return err ? err : wm_proc_tasks_refresh(tasks);
}

static int find_tids(const struct wm_pumproc *p, struct tids *ret)
{
	const pid_t ours[2] = {getpid(), getppid()};
	struct wm_proc_tasks tasks;
	int err;

	ret->nr = 0;
	wm_proc_tasks_init(&tasks, false, ours);
	err = find_processes(p, &tasks);
	for (size_t i = 0; !err && i < tasks.nr; i++)
		if (tasks.tasks[i].followed)
			err = kernel_change_add_threads(ret, tasks.tasks[i].pid);
	wm_proc_tasks_done(&tasks);
	return err;
}

/*
 * Makes the kernel follow the processes. From the first call on it also follows their new children;
 * children that were forked between the reading of /proc and that call are found by rereading
 * /proc.
 */
static int follow_processes(const struct wm_pumproc *p, struct wm_recorder_kernel *k,
			    struct wm_diag *diag)
{
	struct tids t = {0};
	size_t before = 0;
	int err = find_tids(p, &t);

	if (!err && !t.nr)
		err = wm_diag_set(diag, -ESRCH, NULL, -1,
				  "none of the recorded processes is running");
	if (!err)
		err = wm_recorder_kernel_follow(k, t.tids, t.nr, true, diag);
	for (unsigned i = 0; !err && t.nr != before && i < LOOKS_MAX; i++) {
		before = t.nr;
		err = find_tids(p, &t);
		if (!err)
			err = wm_recorder_kernel_follow_also(k, t.tids, t.nr);
	}
	free(t.tids);
	return err;
}

static int kernel_change_choose(const struct wm_pumproc *p, struct wm_recorder_kernel *k,
				struct wm_diag *diag)
{
	const struct wm_recording_whose *whose = &p->o->whose;
	const pid_t ours[] = {getpid(), getppid()};
	int err =
	    whose->nr_cpus ? wm_recorder_kernel_cpus(k, whose->cpus, whose->nr_cpus, diag) : 0;

	if (err)
		return err;
	if (whose->all)
		return wm_recorder_kernel_exclude(k, ours, 2);
	err = wm_recorder_check_numbers(diag);
	if (err)
		return err;
	return whose->nr_tids
		   ? wm_recorder_kernel_follow(k, whose->tids, whose->nr_tids, false, diag)
		   : follow_processes(p, k, diag);
}

/*
 * Starts the kernel's part of this recording when its first kernel events are added. A failure
 * before the source is created leaves nothing behind.
 */
static int begin_late(struct wm_pumproc *p, struct wm_recorder_kernel *k, struct wm_diag *diag)
{
	int err = kernel_change_choose(p, k, diag);

	if (!err)
		err = wm_recorder_kernel_start(k, diag);
	if (err)
		return err;
	p->kernel_events = k;
	err = wm_pumproc_create_source(p, WM_SOURCE_KERNEL, k, diag);
	if (err)
		p->kernel_events = NULL;
	else
		wm_recorder_kernel_declared(k);
	return err;
}

/* --- the request ---------------------------------------------------------------------------- */

struct change {
	struct wm_pumproc *p;
	struct wm_recorder_events events;
	struct wm_words words;
	struct wm_msg_kernel_changed answer;
	struct wm_diag diag;
	bool is_first; /* the recording had no kernel events before */
};

static void kernel_change_on_words(const char *sentence, void *data)
{
	struct wm_msg_kernel_changed *a = data;
	size_t used = strlen(a->words), bytes = strlen(sentence);

	if (used + bytes + 2 > sizeof(a->words))
		return;
	memcpy(a->words + used, sentence, bytes);
	a->words[used + bytes] = '\n';
}

static int kernel_change_want(struct change *c, const struct wm_kernel_ask *ask)
{
	const struct wm_recorder_wanted w = {.glob = ask->name, .filter = ask->filter};

	return wm_recorder_want(&c->events, &w, &c->diag);
}

static int off(struct change *c, const struct wm_kernel_ask *ask, bool *ret_matched)
{
	uint32_t fixed = 0;

	if (!c->events.kernel)
		return 0;
	*ret_matched = wm_recorder_kernel_off(c->events.kernel, ask->name, &fixed) > 0;
	if (fixed && !*ret_matched)
		return wm_diag_set(&c->diag, -EOPNOTSUPP, NULL, -1,
				   "'%.120s' cannot be switched off before the recording ends",
				   ask->name);
	return 0;
}

/* Stages all requests. Events to disable are staged last, so that disabling wins over enabling. */
static int note_all(struct change *c, const struct wm_kernel_question *q)
{
	int err = 0;

	for (unsigned pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; !err && i < q->nr; i++) {
			bool matched = !q->asks[i].off;

			if (q->asks[i].off != (pass == 1))
				continue;
			c->answer.ask = i;
			err = q->asks[i].off ? off(c, &q->asks[i], &matched)
					     : kernel_change_want(c, &q->asks[i]);
			if (matched)
				c->answer.matched[i / 64] |= (uint64_t)1 << i % 64;
		}
	return err;
}

/*
 * Stages requests from within the working directory of the tool that sent them, because file and
 * program names are relative to it.
 */
static int note_from(struct change *c, const struct wm_kernel_question *q)
{
	int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (here < 0 || chdir(q->folder) < 0) {
		err = -errno;
		if (here >= 0)
			close(here);
		return wm_diag_set(&c->diag, err, NULL, -1,
				   "cannot change to the folder '%.200s': %s", q->folder,
				   strerror(-err));
	}
	err = note_all(c, q);
	if (fchdir(here) < 0 && !err)
		err = -errno;
	close(here);
	return err;
}

static int switch_all(struct change *c)
{
	struct wm_pumproc *p = c->p;
	struct wm_recorder_kernel *k = c->events.kernel;
	int err = 0;

	if (!k)
		return 0;
	if (c->is_first)
		err = begin_late(p, k, &c->diag);
	if (!err)
		err = wm_recorder_kernel_commit(k, wm_pumproc_kernel_source(p), &c->diag);
	if (!err) {
		p->totals.nr_changes++;
		wm_pumproc_want_symbols(p);
	}
	return err;
}

static bool question_adds(const struct wm_kernel_question *q)
{
	for (uint32_t i = 0; i < q->nr; i++)
		if (!q->asks[i].off)
			return true;
	return false;
}

static int kernel_change_make(struct change *c, const struct wm_kernel_question *q)
{
	struct wm_pumproc *p = c->p;
	int err;

	if (p->overwrite && question_adds(q))
		return wm_diag_set(&c->diag, -EOPNOTSUPP, NULL, -1, WM_RECORDER_NO_FLIGHT);
	if (p->kernel_events)
		wm_recorder_kernel_change(p->kernel_events);
	err = note_from(c, q);
	if (!err)
		err = switch_all(c);
	if (err && p->kernel_events)
		wm_recorder_kernel_abandon(p->kernel_events);
	if (c->events.kernel && !p->kernel_events)
		wm_recorder_kernel_destroy(c->events.kernel);
	return err;
}

static void kernel_change_answer(struct change *c, struct wm_pumproc_member *m, int err)
{
	struct wm_msg_kernel_changed *a = &c->answer;

	a->err = err < 0 ? err : 0;
	if (err < 0) {
		a->column = c->diag.column;
		a->in_filter = c->diag.where && !strcmp(c->diag.where, WM_RECORDER_IN_FILTER);
		(void)snprintf(a->sentence, sizeof(a->sentence), "%s", wm_words_of(err, &c->diag));
	}
	a->nr_on = c->p->kernel_events ? wm_recorder_kernel_nr_on(c->p->kernel_events) : 0;
	(void)wm_app_reply(m->app, a, sizeof(*a)); /* the tool may have exited */
}

void wm_pumproc_change_kernel(struct wm_pumproc *p, struct wm_pumproc_member *m)
{
	struct wm_kernel_question *q = malloc(sizeof(*q));
	struct change *c = calloc(1, sizeof(*c));
	struct wm_msg h;
	int err;

	memcpy(&h, m->change, sizeof(h));
	if (q && c && wm_request_read(m->change, h.bytes, q)) {
		*c = (struct change){
		    .p = p,
		    .words = {kernel_change_on_words, &c->answer},
		    .answer.h = {WM_MSG_KERNEL_CHANGED, sizeof(c->answer)},
		    .diag.offset = -1,
		    .is_first = !p->kernel_events,
		    .events = {.clock = p->clock.kind,
			       .kernel = p->kernel_events,
			       .words = &c->words,
			       .search = q->search,
			       .of = p->o->whose.nr_pids ? p->o->whose.pids[0] : 0,
			       .everywhere = p->o->whose.all,
			       .kernel_only = true,
			       .running = true},
		};
		err = kernel_change_make(c, q);
		kernel_change_answer(c, m, err);
	}
	wm_app_end(m->app);
	free(c);
	free(q);
}
