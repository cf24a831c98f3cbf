/* SPDX-License-Identifier: MIT */
/* kernel_tasks.c - restricts kernel events to the plan's tasks; see recorder_int.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/recorder/recorder_int.h"
#include "kernel/counters.h"

/* Appends a process's threads to the list. */
static int kernel_tasks_add_threads(pid_t pid, pid_t **list, size_t *nr)
{
	pid_t *tids, *more;
	size_t count;
	int err = wm_threads_of(pid, &tids, &count);

	if (err)
		return err == -ENOMEM ? err : 0; /* otherwise the process has just ended */
	more = reallocarray(*list, *nr + count + 1, sizeof(*more));
	if (more) {
		memcpy(more + *nr, tids, count * sizeof(*tids));
		*list = more;
		*nr += count;
	}
	free(tids);
	return more ? 0 : -ENOMEM;
}

int wm_recorder_threads(const struct wm_recorder_plan *plan, pid_t **ret_tids, size_t *ret_nr)
{
	int err = 0;

	*ret_tids = NULL;
	*ret_nr = 0;
	if (plan->nr_tids) {
		*ret_tids = malloc(plan->nr_tids * sizeof(**ret_tids));
		if (!*ret_tids)
			return -ENOMEM;
		memcpy(*ret_tids, plan->tids, plan->nr_tids * sizeof(**ret_tids));
		*ret_nr = plan->nr_tids;
		return 0;
	}
	for (size_t i = 0; !err && i < plan->nr_pids; i++)
		err = kernel_tasks_add_threads(plan->pids[i], ret_tids, ret_nr);
	if (err) {
		free(*ret_tids);
		*ret_tids = NULL;
	}
	return err;
}

/* The initial PID namespace; the kernel defines its inode. */
#define HOST_PID_NAMESPACE "pid:[4026531836]"

/*
 * Whether this process is in the initial PID namespace. The kernel's tracing uses that namespace's
 * pids, so pids from another namespace would select the wrong tasks.
 */
static bool numbers_are_the_machines(void)
{
	char link[64];
	ssize_t n = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);

	if (n < 0)
		return true; /* the kernel has no namespaces */
	link[n] = '\0';
	return !strcmp(link, HOST_PID_NAMESPACE);
}

int wm_recorder_check_numbers(struct wm_diag *diag)
{
	if (numbers_are_the_machines())
		return 0;
	return wm_diag_set(
	    diag, -EOPNOTSUPP, NULL, -1,
	    "in a container (its own PID namespace) kernel events cannot be restricted to "
	    "individual processes: record on the host, or everything with -a");
}

static int kernel_tasks_follow(const struct wm_recorder_plan *plan, const pid_t *tids, size_t nr,
			       struct wm_diag *diag)
{
	int err = wm_recorder_check_numbers(diag);

	if (err)
		return err;
	return wm_recorder_kernel_follow(plan->events->kernel, tids, nr, !plan->nr_tids, diag);
}

static int kernel_tasks_start(const struct wm_recorder_plan *plan, struct wm_diag *diag)
{
	int err = plan->nr_cpus ? wm_recorder_kernel_cpus(plan->events->kernel, plan->cpus,
							  plan->nr_cpus, diag)
				: 0;

	return err ? err : wm_recorder_kernel_start(plan->events->kernel, diag);
}

int wm_recorder_follow_running(const struct wm_recorder_plan *plan, pid_t pump,
			       struct wm_diag *diag)
{
	const pid_t ours[] = {getpid(), pump};
	pid_t *tids = NULL;
	size_t nr = 0;
	int err = 0;

	if (plan->all) {
		(void)wm_recorder_kernel_exclude(plan->events->kernel, ours, 2);
	} else if (plan->nr_pids) {
		err = wm_recorder_threads(plan, &tids, &nr);
		if (!err && nr)
			err = kernel_tasks_follow(plan, tids, nr, diag);
		free(tids);
	} else {
		return 0; /* wm_recorder_follow_command() starts the recording with CMD */
	}
	return err ? err : kernel_tasks_start(plan, diag);
}

int wm_recorder_follow_command(const struct wm_recorder_plan *plan, pid_t child,
			       struct wm_diag *diag)
{
	int err = kernel_tasks_follow(plan, &child, 1, diag);

	return err ? err : kernel_tasks_start(plan, diag);
}
