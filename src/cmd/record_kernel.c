/* SPDX-License-Identifier: MIT */
/*
 * record_kernel.c - events of the kernel in `waymark record`: which patterns
 * mean some, switching them on, and whose tasks they are taken of.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/exit.h"
#include "cmd/record.h"
#include "cmd/say.h"
#include "kernel/event_name.h"

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* Wildcards in what stands before the colon: "*:*" means programs, not 2,000 tracepoints. */
static bool is_vague(const char *glob)
{
	size_t system = strcspn(glob, ":");

	return strcspn(glob, "*?[") < system;
}

bool wm_record_kernel_pattern(const char *glob, const char **ret_user)
{
	static const char *const kernels[] = {
	    "kernel:", "syscall:",   "uprobe:", "uretprobe:", "usdt:",
	    "kprobe:", "kretprobe:", "func:",   "eprobe:"};

	*ret_user = glob;
	if (begins(glob, "user:")) {
		*ret_user = glob + strlen("user:");
		return false;
	}
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		if (!begins(glob, kernels[i]))
			continue;
		*ret_user = NULL;
		return true;
	}
	return !is_vague(glob);
}

/* Not among the events that can be switched on: it comes by an option of its own. */
static bool is_marker(const char *glob)
{
	return !strcmp(glob, "ftrace:print") || !strcmp(glob, "kernel:ftrace:print");
}

/* Events of a ring only; what is merely counted is refused when it was named outright. */
static int add_defs(const struct wm_event_defs *defs, const char *filter, bool outright,
		    struct wm_kernel_events *k, struct wm_diag *diag)
{
	int added = 0;

	for (size_t i = 0, places; i < defs->nr; i += places) {
		int err;

		places = wm_kernel_events_places(defs, i);
		err = wm_kernel_events_add(k, &defs->defs[i], places, filter, diag);
		if (err == -EOPNOTSUPP && !outright)
			continue;
		if (err)
			return err;
		added++;
	}
	return added;
}

/* Those that are sampled; probes and what else is there at each hit are not, unless so said. */
static int sample_defs(const struct wm_event_defs *defs, const char *filter,
		       struct wm_record_sampled *sampled, struct wm_diag *diag)
{
	int added = 0;

	for (size_t i = 0; i < defs->nr; i++) {
		int err = wm_record_sample_add(sampled, &defs->defs[i], filter, diag);

		if (err)
			return err;
		added++;
	}
	return added;
}

static bool can_sample(const struct wm_event_defs *defs, const struct wm_record_sampled *sampled)
{
	return sampled && defs->nr &&
	       (sampled->outright || defs->defs[0].family <= WM_FAMILY_BREAKPOINT);
}

/* What was typed cannot be had, or something failed. */
static enum wm_exit status_of(int err)
{
	return err == -EINVAL || err == -EOPNOTSUPP || err == -E2BIG || err == -EILSEQ
		   ? WM_EXIT_USAGE
		   : wm_exit_of(err);
}

/* What of a probe the kernel cannot fetch is said once, whatever many places it has. */
static void say_left_out(const struct wm_event_defs *defs)
{
	for (size_t i = 0; i < defs->nr; i += wm_kernel_events_places(defs, i)) {
		size_t places = wm_kernel_events_places(defs, i), k = 0;

		while (k < places && !defs->defs[i + k].left_out)
			k++;
		if (k < places)
			wm_say("%s is recorded without one or more of its arguments: %s",
			       defs->defs[i].name, defs->defs[i + k].left_out);
	}
}

/* How many, or -errno. */
static int switch_on(const char *glob, const struct wm_event_defs *defs, const char *filter,
		     const struct wm_record_kernel_to *to, struct wm_diag *diag)
{
	struct wm_kernel_events **kernel = to->kernel;
	const char *user;
	int err = 0;

	(void)wm_record_kernel_pattern(glob, &user);
	if (can_sample(defs, to->sampled))
		return sample_defs(defs, filter, to->sampled, diag);
	if (!*kernel)
		err = wm_kernel_events_create(wm_clock_best(), 0, kernel, diag);
	if (err)
		return err;
	if (wm_record_more_is_functions(glob) && !defs->nr)
		return filter ? wm_diag_set(diag, -EINVAL, NULL, -1,
					    "functions are chosen by their names: --filter has no "
					    "fields of theirs")
			      : wm_record_more_functions(glob, *kernel, diag);
	if (!is_marker(glob))
		return add_defs(defs, filter, !user, *kernel, diag);
	err = wm_kernel_events_add_markers(*kernel, diag);
	return err ? err : 1;
}

static int add_found(const char *glob, const struct wm_event_defs *defs, const char *filter,
		     const struct wm_record_kernel_to *to)
{
	struct wm_diag diag = {.offset = -1};
	int err = switch_on(glob, defs, filter, to, &diag);

	if (err >= 0) {
		say_left_out(defs);
		return err;
	}
	if (diag.column && filter)
		wm_say_caret(filter, &diag);
	else
		wm_say("%s", diag.sentence[0] ? diag.sentence : strerror(-err));
	return err == -ENOENT ? -WM_EXIT_NO_MATCH : -(int)status_of(err);
}

int wm_record_kernel_add(const char *glob, const char *filter, const struct wm_record_kernel_to *to)
{
	struct wm_diag diag = {.offset = -1};
	char root[WM_EVENT_ROOT_BYTES];
	struct wm_event_space space;
	struct wm_event_defs defs;
	const char *user;
	int got;

	(void)wm_record_kernel_pattern(glob, &user);
	if (wm_event_space_open(&space, getenv("PATH")) < 0)
		return -WM_EXIT_FAILED;
	space.root = to->of ? wm_event_space_root(to->of, root) : NULL;
	wm_event_defs_init(&defs);
	got = is_marker(glob) || wm_record_more_is_functions(glob)
		  ? 1
		  : wm_event_name_resolve(&space, glob, &defs, &diag);
	if (got > 0)
		got = add_found(glob, &defs, filter, to);
	else if (user)
		got = 0; /* it may be a program's */
	else {
		if (diag.column)
			wm_say_caret(glob, &diag);
		else
			wm_say("%s", diag.sentence[0] ? diag.sentence : strerror(-got));
		got = got == -ENOENT ? -WM_EXIT_NO_MATCH : -status_of(got);
	}
	wm_event_defs_done(&defs);
	wm_event_space_close(&space);
	return got;
}

/* --- whose ----------------------------------------------------------------------- */

/* All threads of a process, behind those in the list. */
static int add_threads(pid_t pid, pid_t **list, size_t *nr)
{
	char name[64];
	struct dirent *d;
	DIR *dir;
	int err = 0;

	snprintf(name, sizeof(name), "/proc/%d/task", (int)pid);
	dir = opendir(name);
	if (!dir)
		return 0; /* it has just ended */
	while (!err && (d = readdir(dir))) {
		pid_t tid = (pid_t)strtol(d->d_name, NULL, 10), *more;

		if (tid <= 0)
			continue;
		more = realloc(*list, (*nr + 1) * sizeof(*more));
		if (!more) {
			err = -ENOMEM;
			break;
		}
		*list = more;
		(*list)[(*nr)++] = tid;
	}
	closedir(dir);
	return err;
}

int wm_record_threads(const struct wm_record_plan *plan, pid_t **ret_tids, size_t *ret_nr)
{
	int err = 0;

	*ret_tids = NULL;
	*ret_nr = 0;
	for (size_t i = 0; !err && i < plan->nr_pids; i++)
		err = add_threads(plan->pids[i], ret_tids, ret_nr);
	if (err) {
		free(*ret_tids);
		*ret_tids = NULL;
	}
	return err;
}

/* The namespace the machine's numbers of processes are in; the kernel fixed its inode. */
#define HOST_PID_NAMESPACE "pid:[4026531836]"

/*
 * The kernel's tracing counts tasks as the machine does. Where we see other
 * numbers, those we know would choose somebody else's tasks.
 */
static bool numbers_are_the_machines(void)
{
	char link[64];
	ssize_t n = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);

	if (n < 0)
		return true; /* no namespaces here */
	link[n] = '\0';
	return !strcmp(link, HOST_PID_NAMESPACE);
}

static int follow(const struct wm_record_plan *plan, const pid_t *tids, size_t nr)
{
	struct wm_diag diag = {.offset = -1};
	int err;

	if (!numbers_are_the_machines()) {
		wm_say("in a container (a PID namespace of its own) the kernel's events of single "
		       "processes cannot be chosen: record on the host, or everything with -a");
		return -EOPNOTSUPP;
	}
	err = wm_kernel_events_follow(plan->kernel, tids, nr, &diag);
	if (err)
		wm_say("%s", diag.sentence);
	return err;
}

static int start(const struct wm_record_plan *plan)
{
	struct wm_diag diag = {.offset = -1};
	int err = wm_kernel_events_start(plan->kernel, &diag);

	if (err)
		wm_say("%s", diag.sentence);
	return err;
}

int wm_record_kernel_begin(const struct wm_record_plan *plan, pid_t pump)
{
	const pid_t ours[] = {getpid(), pump};
	pid_t *tids = NULL;
	size_t nr = 0;
	int err = 0;

	if (plan->all) {
		(void)wm_kernel_events_exclude(plan->kernel, ours, 2);
	} else if (plan->nr_pids) {
		err = wm_record_threads(plan, &tids, &nr);
		if (!err && nr)
			err = follow(plan, tids, nr);
		free(tids);
	} else {
		return 0; /* when CMD is there */
	}
	return err ? err : start(plan);
}

int wm_record_kernel_command(const struct wm_record_plan *plan, pid_t child)
{
	int err;

	if (plan->all || plan->nr_pids)
		return 0;
	err = follow(plan, &child, 1);
	return err ? err : start(plan);
}
