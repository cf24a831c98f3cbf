/* SPDX-License-Identifier: MIT */
/*
 * targets.c - processes that are already running: attaches to those given by -p and waits for their
 * end; with -a scans /proc periodically, unless only kernel events were named. Other users'
 * processes that cannot be attached to are counted, not reported one by one. When the rules change,
 * processes that belong to the recording but have not joined (because none of their events was
 * selected) are attached to in the same way. See recorder_int.h.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/plural.h"
#include "base/process.h"
#include "control/attach.h"
#include "control/recorder/recorder_int.h"
#include "control/recorder/repeats.h"
#include "control/target/remote_runtime.h"
#include "kernel/privilege.h"

#define DEPTH_MAX 64          /* limit for the chain of parents followed */
#define SCAN_NS   300000000u  /* interval at which -a looks for new processes */
#define WORRY_NS  2000000000u /* time after which missing -p processes are reported */
#define ALIVE_NS  100000000u  /* how often the threads given by -t are checked for existence */
#define SEEN_MAX  65536u
#define SEEN_FEW  256u /* with fewer entries than this, dead processes are not removed */

/* A process that has been examined. After an exec it is examined again. */
struct seen {
	pid_t pid;
	dev_t dev;
	ino_t ino;
	bool joined, present;
};

struct wm_recorder_targets {
	struct wm_loop *loop;
	const struct wm_recorder_plan *plan;
	const struct wm_session *session;
	struct wm_rules *changed; /* NULL: the plan's rules apply */
	void (*gone)(void *data);
	void *data;
	struct wm_watch *scan, *worry, *alive;
	struct seen *seen;
	size_t nr_seen, prune_at;
	size_t nr_alive; /* number of -p processes whose end is awaited */
	size_t nr_denied;
};

static struct seen *targets_find_seen(struct wm_recorder_targets *t, pid_t pid)
{
	for (size_t i = 0; i < t->nr_seen; i++)
		if (t->seen[i].pid == pid)
			return &t->seen[i];
	return NULL;
}

static void forget_dead(struct wm_recorder_targets *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->nr_seen; i++)
		if (kill(t->seen[i].pid, 0) == 0 || errno != ESRCH)
			t->seen[kept++] = t->seen[i];
	t->nr_seen = kept;
	t->prune_at = 2 * kept + SEEN_FEW;
}

static struct seen *add_seen(struct wm_recorder_targets *t, pid_t pid)
{
	struct seen *grown;

	if (t->nr_seen >= t->prune_at)
		forget_dead(t);
	if (t->nr_seen >= SEEN_MAX)
		return NULL;
	grown = realloc(t->seen, (t->nr_seen + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	t->seen = grown;
	t->seen[t->nr_seen] = (struct seen){.pid = pid};
	return &t->seen[t->nr_seen++];
}

/* ------------------------------------------------------------------ *
 * -p
 * ------------------------------------------------------------------ */

static void targets_on_end(pid_t pid, int status, void *data)
{
	struct wm_recorder_targets *t = data;

	(void)pid;
	(void)status;
	if (--t->nr_alive == 0)
		t->gone(t->data);
}

/* Reports why a process is not recorded although it was attached to, and the remedy. */
static void targets_add_missing(struct wm_repeats *r, pid_t pid)
{
	int outcome = wm_attach_outcome(pid);

	if (outcome == -ENOENT || outcome == -EACCES)
		wm_repeats_add(
		    r, outcome,
		    "process %d cannot reach this recorder: it has a different root or mount "
		    "namespace (a container, a chroot), or changed its user ID. Record from "
		    "inside (nsenter -t %d -a), or set XDG_RUNTIME_DIR to a folder with the same "
		    "path in both",
		    (int)pid, (int)pid);
	else if (outcome == -EBUSY)
		wm_repeats_add(
		    r, outcome,
		    "process %d already has the maximum number of recorders: end one of them",
		    (int)pid);
	else if (outcome == -ESRCH)
		wm_repeats_add(r, outcome, "process %d ended before it joined", (int)pid);
	else if (outcome < 0)
		wm_repeats_add(r, outcome, "process %d could not join: %s", (int)pid,
			       wm_diag_errno(outcome));
	else
		wm_repeats_add(
		    r, 0,
		    "process %d has not joined yet: it joins when one of its threads passes a "
		    "selected tracepoint; 'waymark list -p %d' shows them",
		    (int)pid, (int)pid);
}

static void on_worry(void *data)
{
	struct wm_recorder_targets *t = data;

	(void)wm_recorder_targets_say_missing(t);
}

uint32_t wm_recorder_targets_say_missing(const struct wm_recorder_targets *t)
{
	struct wm_repeats repeats = {.words = t ? t->plan->words : NULL};
	uint32_t nr = 0;

	for (size_t i = 0; t && !t->plan->all && i < t->nr_seen; i++)
		if (!t->seen[i].joined) {
			targets_add_missing(&repeats, t->seen[i].pid);
			nr++;
		}
	wm_repeats_flush(&repeats);
	return nr;
}

static void targets_add_failed(struct wm_repeats *r, const struct wm_recorder_plan *plan, pid_t pid,
			       int err, const struct wm_diag *why)
{
	wm_repeats_add(r, err, "cannot %s process %d: %s",
		       plan->counts ? "count events of" : "record", (int)pid,
		       wm_words_of(err, why));
}

/*
 * Checks that the process exists. That is enough for kernel events, which do not need its
 * cooperation.
 */
static int check_there(pid_t pid, struct wm_diag *why)
{
	if (kill(pid, 0) == 0 || errno != ESRCH)
		return 0;
	return wm_diag_set(why, -ESRCH, NULL, -1, "there is no process %d", (int)pid);
}

static int check_runtime(pid_t pid, struct wm_diag *why)
{
	struct wm_target target;
	int err = wm_target_open(pid, false, &target, why);

	if (!err)
		wm_target_close(&target);
	return err;
}

static bool is_of_kernel(const struct wm_recorder_plan *plan)
{
	return plan->events->kernel || wm_recorder_events_sampled(plan->events) || plan->beside;
}

int wm_recorder_targets_check(const struct wm_recorder_plan *plan, struct wm_diag *diag)
{
	struct wm_repeats failed = {.words = plan->words};
	int first;

	for (size_t i = 0; i < plan->nr_pids; i++) {
		struct wm_diag why = {.offset = -1};
		int err = is_of_kernel(plan) ? check_there(plan->pids[i], &why)
					     : check_runtime(plan->pids[i], &why);

		if (err)
			targets_add_failed(&failed, plan, plan->pids[i], err, &why);
	}
	first = wm_repeats_take(&failed, WM_RECORDER_IN_TARGETS, diag);
	wm_repeats_flush(&failed);
	return first;
}

static void targets_attach(struct wm_recorder_targets *t, const pid_t *pids, size_t nr, bool quick,
			   wm_attach_done *done, void *data)
{
	const struct wm_rules *rules = t->changed ? t->changed : t->plan->events->rules;

	wm_attach_many(pids, nr, t->session->path, rules, quick, done, data);
}

/*
 * Watches for a process's end; the recording ends with the last of them. Returns 0, -ESRCH if it
 * has ended, or another -errno.
 */
static int watch_end(struct wm_recorder_targets *t, pid_t pid)
{
	int err = wm_loop_process(t->loop, pid, targets_on_end, t, NULL);

	t->nr_alive += err == 0;
	return err;
}

/* The state of attaching to all -p processes. */
struct named {
	struct wm_recorder_targets *targets;
	struct wm_repeats failed; /* processes that are not recorded */
	struct wm_repeats less;   /* processes of which less is recorded than was asked for */
};

static void add_left_off(struct wm_repeats *r, pid_t pid, const struct wm_attach_result *result)
{
	if (result->nr_refused)
		wm_repeats_add(r, 0,
			       "process %d: tracepoints that stay off because their code was "
			       "modified, by a debugger or a uprobe: %u",
			       (int)pid, result->nr_refused);
	if (result->nr_failed)
		wm_repeats_add(r, result->failed_err,
			       "process %d: tracepoints that stay off because they could not be "
			       "switched on: %u; the first error: %s",
			       (int)pid, result->nr_failed, wm_diag_errno(result->failed_err));
	if (result->nr_unpatched)
		wm_repeats_add(r, 0,
			       "process %d: tracepoints that stay off because WAYMARK_NOPATCH is "
			       "set: %u; restart it without WAYMARK_NOPATCH, or build it with "
			       "-DWAYMARK_LOADTEST",
			       (int)pid, result->nr_unpatched);
}

/*
 * Waits for the end of a -p process. One that existed and has ended is no failure when the kernel
 * has its events.
 */
static void follow_named(struct named *n, pid_t pid, bool attached)
{
	struct wm_recorder_targets *t = n->targets;
	int err = watch_end(t, pid);

	if (err == -ESRCH && is_of_kernel(t->plan))
		return;
	if (err < 0)
		wm_repeats_add(&n->failed, err, "cannot watch process %d: %s", (int)pid,
			       strerror(-err));
	else if (attached)
		/* Remembers the process only for the report in on_worry() */
		(void)add_seen(t, pid);
}

/* A process without marks is recorded all the same when the kernel has events of it. */
static void on_named(pid_t pid, int err, const struct wm_attach_result *result,
		     const struct wm_diag *why, void *data)
{
	struct named *n = data;
	const struct wm_recorder_plan *plan = n->targets->plan;

	if (err < 0 && !is_of_kernel(plan)) {
		targets_add_failed(&n->failed, plan, pid, err, why);
		return;
	}
	if (err < 0 && err != -ESRCH && plan->nr_asked && !plan->quiet)
		wm_repeats_add(&n->less, err, "process %d: only kernel events are recorded: %s",
			       (int)pid, wm_words_of(err, why));
	if (!err)
		add_left_off(&n->less, pid, result);
	follow_named(n, pid, err == 0);
}

/* Polls, because a thread's end is reported only to its own process. */
static void on_alive(void *data)
{
	struct wm_recorder_targets *t = data;

	for (size_t i = 0; i < t->plan->nr_tids; i++)
		if (kill(t->plan->tids[i], 0) == 0 || errno != ESRCH)
			return;
	t->gone(t->data);
}

/* Attaches to the marks of the -p processes, if marks are recorded. */
static void attach_named(struct named *n)
{
	const struct wm_recorder_plan *plan = n->targets->plan;

	if (!is_of_kernel(plan) || wm_rules_count(plan->events->rules)) {
		targets_attach(n->targets, plan->pids, plan->nr_pids, false, on_named, n);
		return;
	}
	for (size_t i = 0; i < plan->nr_pids; i++)
		follow_named(n, plan->pids[i], false);
}

static int start_named(struct wm_recorder_targets *t, struct wm_diag *diag)
{
	struct named n = {
	    .targets = t, .failed.words = t->plan->words, .less.words = t->plan->words};
	int failed;

	(void)wm_privilege_raise_files(); /* one for the end of each process */
	attach_named(&n);
	wm_repeats_flush(&n.less);
	if (!t->nr_alive) {
		failed = wm_repeats_take(&n.failed, WM_RECORDER_IN_TARGETS, diag);
		wm_repeats_flush(&n.failed);
		if (!failed && is_of_kernel(t->plan)) {
			t->gone(t->data); /* all ended while they were being attached to */
			return 0;
		}
		return failed ? failed : -ESRCH;
	}
	wm_repeats_flush(&n.failed);
	(void)wm_loop_timer(t->loop, WORRY_NS, 0, on_worry, t, &t->worry);
	if (t->plan->nr_tids)
		(void)wm_loop_timer(t->loop, ALIVE_NS, ALIVE_NS, on_alive, t, &t->alive);
	return 0;
}

/* ------------------------------------------------------------------ *
 * -a
 * ------------------------------------------------------------------ */

/* Records which program the process runs. Returns false if that is unknown or has not changed. */
static bool note_program(struct seen *s)
{
	char name[32];
	struct stat st;

	(void)snprintf(name, sizeof(name), "/proc/%d/exe", (int)s->pid);
	if (stat(name, &st) < 0)
		return false; /* a kernel thread, another user's process, or one that exited */
	if (s->dev == st.st_dev && s->ino == st.st_ino)
		return false;
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	return true;
}

/* Whether this process has not been examined yet while running this program. */
static bool is_new(struct wm_recorder_targets *t, pid_t pid)
{
	struct seen *s = targets_find_seen(t, pid);

	if (!s)
		s = add_seen(t, pid);
	if (!s)
		return false;
	s->present = true;
	return note_program(s);
}

static void forget_absent(struct wm_recorder_targets *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->nr_seen; i++) {
		if (!t->seen[i].present)
			continue;
		t->seen[kept] = t->seen[i];
		t->seen[kept++].present = false;
	}
	t->nr_seen = kept;
}

/* A list of processes to attach to. */
struct pids {
	pid_t *at;
	size_t nr, room;
};

/* Collects the running processes for which `belongs` is true. Those beyond memory are left out. */
static void pids_collect(struct wm_recorder_targets *t,
			 bool (*belongs)(struct wm_recorder_targets *t, pid_t pid),
			 struct pids *ret)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		pid_t pid = (pid_t)atol(entry->d_name);

		if (!isdigit((unsigned char)entry->d_name[0]) || pid == getpid() ||
		    !belongs(t, pid))
			continue;
		if (WM_ARRAY_GROW(ret->at, ret->room, ret->nr + 1))
			break;
		ret->at[ret->nr++] = pid;
	}
	if (proc)
		closedir(proc);
}

static void count_denied(pid_t pid, int err, const struct wm_attach_result *result,
			 const struct wm_diag *why, void *data)
{
	struct wm_recorder_targets *t = data;

	(void)pid;
	(void)result;
	(void)why;
	t->nr_denied += err == -EACCES || err == -EPERM;
}

static void on_scan(void *data)
{
	struct wm_recorder_targets *t = data;
	struct pids pids = {NULL, 0, 0};

	if (!t->changed && !wm_recorder_needs_programs(t->plan))
		return;
	pids_collect(t, is_new, &pids);
	targets_attach(t, pids.at, pids.nr, true, count_denied, t);
	free(pids.at);
	forget_absent(t);
}

static int start_all(struct wm_recorder_targets *t)
{
	int err;

	on_scan(t);
	if (t->nr_denied && !t->plan->quiet)
		wm_words_say(t->plan->words, "%zu %s of other users skipped: only root can %s %s",
			     t->nr_denied, wm_plural(t->nr_denied, "process", "processes"),
			     t->plan->counts ? "count" : "record",
			     wm_plural(t->nr_denied, "it", "them"));
	err = wm_loop_timer(t->loop, SCAN_NS, SCAN_NS, on_scan, t, &t->scan);
	return err < 0 ? err : 0;
}

/* ------------------------------------------------------------------ *
 * Rules that change
 * ------------------------------------------------------------------ */

/* Whether the process was given by -p or descends from one that was. */
static bool descends(const struct wm_recorder_targets *t, uint32_t pid)
{
	for (int depth = 0; pid > 1 && depth < DEPTH_MAX; depth++) {
		for (size_t i = 0; i < t->plan->nr_pids; i++)
			if (t->plan->pids[i] == (pid_t)pid)
				return true;
		pid = wm_process_parent(pid);
	}
	return false;
}

/* Whether a process belongs to the recording but has not joined. */
static bool is_left_out(struct wm_recorder_targets *t, pid_t pid)
{
	const struct seen *s = targets_find_seen(t, pid);

	if (s && s->joined)
		return false;
	if (t->plan->all)
		return true;
	if (t->plan->nr_pids)
		return descends(t, (uint32_t)pid);
	return wm_process_environment_has((uint32_t)pid, t->session->path);
}

/* Ignores errors, because most processes have no runtime. */
static void ignore_result(pid_t pid, int err, const struct wm_attach_result *result,
			  const struct wm_diag *why, void *data)
{
	(void)pid;
	(void)err;
	(void)result;
	(void)why;
	(void)data;
}

void wm_recorder_targets_changed(struct wm_recorder_targets *t)
{
	struct pids pids = {NULL, 0, 0};
	struct wm_rules *rules;

	if (wm_rules_load(t->session->dirfd, &rules) < 0)
		return; /* the session has ended */
	wm_rules_destroy(t->changed);
	t->changed = rules;
	pids_collect(t, is_left_out, &pids);
	targets_attach(t, pids.at, pids.nr, true, ignore_result, NULL);
	free(pids.at);
}

/* ------------------------------------------------------------------ */

int wm_recorder_targets_start(struct wm_loop *loop, const struct wm_recorder_plan *plan,
			      const struct wm_session *session, void (*gone)(void *data),
			      void *data, struct wm_recorder_targets **ret, struct wm_diag *diag)
{
	struct wm_recorder_targets *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	*t = (struct wm_recorder_targets){
	    .loop = loop, .plan = plan, .session = session, .gone = gone, .data = data};
	*ret = t;
	if (plan->all)
		return start_all(t);
	return plan->nr_pids ? start_named(t, diag) : 0;
}

void wm_recorder_targets_joined(struct wm_recorder_targets *t, pid_t pid)
{
	struct seen *s = targets_find_seen(t, pid);

	if (!s)
		/* The process joined through the session, without being attached to. */
		s = add_seen(t, pid);
	if (!s)
		return;
	s->joined = s->present = true;
	(void)note_program(s);
}

void wm_recorder_targets_done(struct wm_recorder_targets *t)
{
	if (!t)
		return;
	wm_watch_remove(t->scan);
	wm_watch_remove(t->worry);
	wm_watch_remove(t->alive);
	wm_rules_destroy(t->changed);
	free(t->seen);
	free(t);
}
