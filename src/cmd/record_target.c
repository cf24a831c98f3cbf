/* SPDX-License-Identifier: MIT */
/*
 * record_target.c - processes that run already: attaches to those named with
 * -p and waits for their end; with -a looks through /proc again and again.
 * What another user's processes refuse is counted, not repeated.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/exit.h"
#include "cmd/record.h"
#include "cmd/say.h"
#include "control/attach.h"
#include "control/target.h"

#define SCAN_NS  300000000u  /* -a: new processes are found this often */
#define WORRY_NS 2000000000u /* -p: then it is said who has not come yet */
#define SEEN_MAX 65536u

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
	const char *folder;
	void (*gone)(void *data);
	void *data;
	struct wm_watch *scan, *worry;
	struct seen *seen;
	size_t nr_seen;
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

static struct seen *add_seen(struct wm_record_targets *t, pid_t pid)
{
	struct seen *grown;

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

static void on_worry(void *data)
{
	struct wm_record_targets *t = data;

	for (size_t i = 0; i < t->nr_seen; i++)
		if (!t->seen[i].joined)
			wm_say("process %d has not joined yet: it does when a thread of it passes "
			       "a marked place",
			       (int)t->seen[i].pid);
}

static int say_failure(pid_t pid, int err, const struct wm_diag *diag)
{
	wm_say("cannot record process %d: %s", (int)pid,
	       diag->sentence[0] ? diag->sentence : strerror(-err));
	return wm_exit_of(err);
}

int wm_record_targets_check(const struct wm_record_plan *plan)
{
	int status = 0;

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

/* 0 or the exit status of its failure, which was said. */
static int attach_one(struct wm_record_targets *t, pid_t pid)
{
	struct wm_attach_result result;
	struct wm_diag diag = {.offset = -1};
	int err = wm_attach(pid, t->folder, t->plan->rules, false, &result, &diag);

	if (err < 0)
		return say_failure(pid, err, &diag);
	if (result.nr_refused)
		wm_say("process %d: %u places hold other bytes (a debugger's?) and stay off",
		       (int)pid, result.nr_refused);
	err = wm_loop_process(t->loop, pid, on_end, t, NULL);
	if (err < 0) {
		wm_say_cannot("watch", "the process", err);
		return wm_exit_of(err);
	}
	t->nr_alive++;
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
		err = wm_attach(pid, t->folder, t->plan->rules, true, &result, NULL);
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

/* ------------------------------------------------------------------ */

int wm_record_targets_start(struct wm_loop *loop, const struct wm_record_plan *plan,
			    const char *folder, void (*gone)(void *data), void *data,
			    struct wm_record_targets **ret)
{
	struct wm_record_targets *t = calloc(1, sizeof(*t));

	if (!t)
		return WM_EXIT_FAILED;
	*t = (struct wm_record_targets){
	    .loop = loop, .plan = plan, .folder = folder, .gone = gone, .data = data};
	*ret = t;
	return plan->all ? start_all(t) : start_named(t);
}

void wm_record_targets_joined(struct wm_record_targets *t, pid_t pid)
{
	struct seen *s = find_seen(t, pid);

	if (!s && t->plan->all)
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
	free(t->seen);
	free(t);
}
