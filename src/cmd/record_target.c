/* SPDX-License-Identifier: MIT */
/*
 * record_target.c - processes that run already: attaches to those named with
 * -p and waits for their end; with -a looks through /proc again and again.
 * What another user's processes refuse is counted, not repeated. When the
 * rules change, processes of the recording that have not joined (nothing of
 * them was wanted) are reached in the same way.
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

#include "base/process.h"
#include "cmd/exit.h"
#include "cmd/record.h"
#include "cmd/say.h"
#include "control/attach.h"
#include "control/target.h"

#define DEPTH_MAX 64          /* generations of processes */
#define SCAN_NS   300000000u  /* -a: new processes are found this often */
#define WORRY_NS  2000000000u /* -p: then it is said who has not come yet */
#define SEEN_MAX  65536u
#define SEEN_FEW  256u /* so few are not looked through for dead ones */

/* One process looked at; a new program in it (exec) is looked at again. */
struct seen {
	pid_t pid;
	dev_t dev;
	ino_t ino;
	bool joined, present;
};

struct wm_record_targets {
	struct wm_loop *loop;
	const struct wm_record_plan *plan;
	const struct wm_session *session;
	struct wm_rules *changed; /* NULL: the plan's stand */
	void (*gone)(void *data);
	void *data;
	struct wm_watch *scan, *worry;
	struct seen *seen;
	size_t nr_seen, prune_at;
	size_t nr_alive; /* of -p, attached and not ended */
	size_t nr_denied;
};

static struct seen *find_seen(struct wm_record_targets *t, pid_t pid)
{
	for (size_t i = 0; i < t->nr_seen; i++)
		if (t->seen[i].pid == pid)
			return &t->seen[i];
	return NULL;
}

static void forget_dead(struct wm_record_targets *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->nr_seen; i++)
		if (kill(t->seen[i].pid, 0) == 0 || errno != ESRCH)
			t->seen[kept++] = t->seen[i];
	t->nr_seen = kept;
	t->prune_at = 2 * kept + SEEN_FEW;
}

static struct seen *add_seen(struct wm_record_targets *t, pid_t pid)
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

static void on_end(pid_t pid, int status, void *data)
{
	struct wm_record_targets *t = data;

	(void)pid;
	(void)status;
	if (--t->nr_alive == 0)
		t->gone(t->data);
}

/* Why a process that was attached to is not recorded, and what helps. */
static void say_missing(pid_t pid)
{
	int outcome = wm_attach_outcome(pid);

	if (outcome == -ENOENT || outcome == -EACCES)
		wm_say("process %d cannot reach this recorder: its root or mounts are others (a "
		       "container, a chroot), or it gave up its user. Record from inside (nsenter "
		       "-t %d -a), or set XDG_RUNTIME_DIR to a folder both have under one name",
		       (int)pid, (int)pid);
	else if (outcome == -EBUSY)
		wm_say("process %d has as many recorders as it can have: end one of them",
		       (int)pid);
	else if (outcome == -ESRCH)
		wm_say("process %d ended before it joined", (int)pid);
	else if (outcome < 0)
		wm_say("process %d could not join: %s", (int)pid, strerror(-outcome));
	else
		wm_say("process %d has not joined: it does when a thread of it passes a marked "
		       "place that is wanted; 'waymark list -p %d' shows them",
		       (int)pid, (int)pid);
}

static void on_worry(void *data)
{
	struct wm_record_targets *t = data;

	(void)wm_record_targets_say_missing(t);
}

uint32_t wm_record_targets_say_missing(const struct wm_record_targets *t)
{
	uint32_t nr = 0;

	for (size_t i = 0; t && !t->plan->all && i < t->nr_seen; i++)
		if (!t->seen[i].joined) {
			say_missing(t->seen[i].pid);
			nr++;
		}
	return nr;
}

static int say_failure(pid_t pid, int err, const struct wm_diag *diag)
{
	wm_say("cannot record process %d: %s", (int)pid,
	       diag->sentence[0] ? diag->sentence : strerror(-err));
	return wm_exit_of(err);
}

static int check_there(const struct wm_record_plan *plan)
{
	struct wm_diag diag = {.offset = -1};
	int status = 0;

	for (size_t i = 0; i < plan->nr_pids; i++)
		if (kill(plan->pids[i], 0) < 0 && errno == ESRCH) {
			(void)wm_diag_set(&diag, -ESRCH, NULL, -1, "there is no process %d",
					  (int)plan->pids[i]);
			status = say_failure(plan->pids[i], -ESRCH, &diag);
		}
	return status;
}

int wm_record_targets_check(const struct wm_record_plan *plan)
{
	int status = 0;

	if (plan->kernel || plan->sampling)
		return check_there(plan); /* what the kernel says of it needs nothing of it */
	for (size_t i = 0; i < plan->nr_pids; i++) {
		struct wm_diag diag = {.offset = -1};
		struct wm_target target;
		int err = wm_target_open(plan->pids[i], false, &target, &diag);

		if (err == 0)
			wm_target_close(&target);
		else
			status = say_failure(plan->pids[i], err, &diag);
	}
	return status;
}

static int attach(struct wm_record_targets *t, pid_t pid, bool quick, struct wm_attach_result *ret,
		  struct wm_diag *diag)
{
	const struct wm_rules *rules = t->changed ? t->changed : t->plan->rules;

	return wm_attach(pid, t->session->path, rules, quick, ret, diag);
}

/* The recording ends when the last of them does. 0, -ESRCH: it has ended, or an errno. */
static int watch_end(struct wm_record_targets *t, pid_t pid)
{
	int err = wm_loop_process(t->loop, pid, on_end, t, NULL);

	t->nr_alive += err == 0;
	return err;
}

/* 0 or the exit status of its failure, which was said. */
static int attach_one(struct wm_record_targets *t, pid_t pid)
{
	struct wm_attach_result result = {0};
	struct wm_diag diag = {.offset = -1};
	bool of_kernel = t->plan->kernel || t->plan->sampling, attached;
	int err;

	/* It was there when we looked first, so the kernel has all of it. */
	if (of_kernel && !wm_rules_count(t->plan->rules)) {
		err = watch_end(t, pid);
		return err == -ESRCH ? 0 : err < 0 ? say_failure(pid, err, &diag) : 0;
	}
	err = attach(t, pid, false, &result, &diag);
	attached = err == 0;
	if (err == -ESRCH && of_kernel)
		return 0;
	if (err < 0 && of_kernel) {
		if (t->plan->nr_asked && !t->plan->quiet)
			wm_say("process %d: only events of the kernel: %s", (int)pid,
			       diag.sentence);
		err = 0;
	}
	if (err < 0)
		return say_failure(pid, err, &diag);
	if (result.nr_refused)
		wm_say("process %d: %u places hold other bytes (a debugger's?) and stay off",
		       (int)pid, result.nr_refused);
	if (result.nr_unpatched)
		wm_say(
		    "process %d: %u places stay off, because WAYMARK_NOPATCH is set there; start "
		    "it without, or build it with -DWAYMARK_LOADTEST",
		    (int)pid, result.nr_unpatched);
	err = watch_end(t, pid);
	if (err < 0) {
		wm_say_cannot("watch", "the process", err);
		return wm_exit_of(err);
	}
	if (attached)
		(void)add_seen(t, pid); /* only to name it in on_worry() */
	return 0;
}

static int start_named(struct wm_record_targets *t)
{
	int status = 0;

	for (size_t i = 0; i < t->plan->nr_pids; i++) {
		int one = attach_one(t, t->plan->pids[i]);

		if (!status)
			status = one;
	}
	if (!t->nr_alive && !status && (t->plan->kernel || t->plan->sampling)) {
		t->gone(t->data); /* all have ended while we attached */
		return 0;
	}
	if (!t->nr_alive)
		return status ? status : WM_EXIT_FAILED;
	(void)wm_loop_timer(t->loop, WORRY_NS, 0, on_worry, t, &t->worry);
	return 0;
}

/* ------------------------------------------------------------------ *
 * -a
 * ------------------------------------------------------------------ */

/* Notes which program is in the process. False when it cannot be told or is no other one. */
static bool note_program(struct seen *s)
{
	char name[32];
	struct stat st;

	(void)snprintf(name, sizeof(name), "/proc/%d/exe", (int)s->pid);
	if (stat(name, &st) < 0)
		return false; /* a kernel thread, a stranger's, or gone */
	if (s->dev == st.st_dev && s->ino == st.st_ino)
		return false;
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	return true;
}

/* Whether this process, with this program in it, has not been looked at yet. */
static bool is_new(struct wm_record_targets *t, pid_t pid)
{
	struct seen *s = find_seen(t, pid);

	if (!s)
		s = add_seen(t, pid);
	if (!s)
		return false;
	s->present = true;
	return note_program(s);
}

static void forget_absent(struct wm_record_targets *t)
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

static void on_scan(void *data)
{
	struct wm_record_targets *t = data;
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		struct wm_attach_result result;
		pid_t pid = (pid_t)atol(entry->d_name);
		int err;

		if (!isdigit((unsigned char)entry->d_name[0]) || pid == getpid() || !is_new(t, pid))
			continue;
		err = attach(t, pid, true, &result, NULL);
		if (err == -EACCES || err == -EPERM)
			t->nr_denied++;
	}
	if (proc)
		closedir(proc);
	forget_absent(t);
}

static int start_all(struct wm_record_targets *t)
{
	int err;

	on_scan(t);
	if (t->nr_denied && !t->plan->quiet)
		wm_say("%zu processes of other users are left out: only root may record them",
		       t->nr_denied);
	err = wm_loop_timer(t->loop, SCAN_NS, SCAN_NS, on_scan, t, &t->scan);
	return err < 0 ? WM_EXIT_FAILED : 0;
}

/* ------------------------------------------------------------------ *
 * Rules that change
 * ------------------------------------------------------------------ */

/* Named with -p, or a child of a child of one that is. */
static bool descends(const struct wm_record_targets *t, uint32_t pid)
{
	for (int depth = 0; pid > 1 && depth < DEPTH_MAX; depth++) {
		for (size_t i = 0; i < t->plan->nr_pids; i++)
			if (t->plan->pids[i] == (pid_t)pid)
				return true;
		pid = wm_process_parent(pid);
	}
	return false;
}

/* Whether a process is one of the recording's and has not joined. */
static bool is_left_out(struct wm_record_targets *t, pid_t pid)
{
	const struct seen *s = find_seen(t, pid);

	if (pid == getpid() || (s && s->joined))
		return false;
	if (t->plan->all)
		return true;
	if (t->plan->nr_pids)
		return descends(t, (uint32_t)pid);
	return wm_process_environment_has((uint32_t)pid, t->session->path);
}

void wm_record_targets_changed(struct wm_record_targets *t)
{
	struct wm_rules *rules;
	struct dirent *entry;
	DIR *proc;

	if (wm_rules_load(t->session->dirfd, &rules) < 0)
		return; /* the session is over */
	wm_rules_destroy(t->changed);
	t->changed = rules;
	proc = opendir("/proc");
	while (proc && (entry = readdir(proc))) {
		struct wm_attach_result result;
		pid_t pid = (pid_t)atol(entry->d_name);

		if (isdigit((unsigned char)entry->d_name[0]) && is_left_out(t, pid))
			(void)attach(t, pid, true, &result, NULL); /* without runtime, mostly */
	}
	if (proc)
		closedir(proc);
}

/* ------------------------------------------------------------------ */

int wm_record_targets_start(struct wm_loop *loop, const struct wm_record_plan *plan,
			    const struct wm_session *session, void (*gone)(void *data), void *data,
			    struct wm_record_targets **ret)
{
	struct wm_record_targets *t = calloc(1, sizeof(*t));

	if (!t)
		return WM_EXIT_FAILED;
	*t = (struct wm_record_targets){
	    .loop = loop, .plan = plan, .session = session, .gone = gone, .data = data};
	*ret = t;
	if (plan->all)
		return start_all(t);
	return plan->nr_pids ? start_named(t) : 0;
}

void wm_record_targets_joined(struct wm_record_targets *t, pid_t pid)
{
	struct seen *s = find_seen(t, pid);

	if (!s)
		s = add_seen(t, pid); /* it came through the session by itself */
	if (!s)
		return;
	s->joined = s->present = true;
	(void)note_program(s);
}

void wm_record_targets_done(struct wm_record_targets *t)
{
	if (!t)
		return;
	wm_watch_remove(t->scan);
	wm_watch_remove(t->worry);
	wm_rules_destroy(t->changed);
	free(t->seen);
	free(t);
}
