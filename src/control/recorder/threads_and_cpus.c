/* SPDX-License-Identifier: MIT */
/*
 * threads_and_cpus.c - restricts a recording to single threads and CPUs: finds the processes to
 * attach to, creates the filter that rejects program events from other threads and CPUs, and joins
 * filters. The kernel restricts its own events. See events.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "collect/task_names.h"
#include "control/recorder/events.h"
#include "kernel/counters.h"

static bool has(const pid_t *ids, size_t nr, pid_t id)
{
	for (size_t i = 0; i < nr; i++)
		if (ids[i] == id)
			return true;
	return false;
}

int wm_recorder_processes_of(const pid_t *tids, size_t nr, pid_t **pids, size_t *nr_pids,
			     struct wm_diag *diag)
{
	char comm[WM_TASK_COMM_BYTES];
	uint32_t pid;

	for (size_t i = 0; i < nr; i++) {
		pid_t *grown;

		if (wm_task_look((uint32_t)tids[i], &pid, comm) < 0)
			return wm_diag_set(diag, -ESRCH, NULL, -1, "there is no thread %d",
					   (int)tids[i]);
		if (has(*pids, *nr_pids, (pid_t)pid))
			continue;
		grown = reallocarray(*pids, *nr_pids + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		*pids = grown;
		(*pids)[(*nr_pids)++] = (pid_t)pid;
	}
	return 0;
}

static bool is_online(int cpu, const int *online, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (online[i] == cpu)
			return true;
	return false;
}

int wm_recorder_check_cpus(const int *cpus, size_t nr, struct wm_diag *diag)
{
	int *online, err = 0;
	size_t nr_online;

	if (wm_cpus_online(&online, &nr_online) < 0)
		return 0; /* ignored here: the kernel will report it */
	for (size_t i = 0; i < nr && !err; i++)
		if (!is_online(cpus[i], online, nr_online))
			err = wm_diag_set(diag, -EINVAL, NULL, -1,
					  "CPU %d does not exist or is offline", cpus[i]);
	free(online);
	return err;
}

static void put_any(struct wm_text *t, const char *context, const int *values, size_t nr)
{
	if (!nr)
		return;
	wm_text_str(t, t->bytes ? " && (" : "(");
	for (size_t i = 0; i < nr; i++)
		wm_text_f(t, "%s%s == %d", i ? " || " : "", context, values[i]);
	wm_text_char(t, ')');
}

char *wm_recorder_single_filter(const pid_t *tids, size_t nr_tids, const int *cpus, size_t nr_cpus,
				int *ret_err)
{
	struct wm_text t;

	wm_text_init(&t);
	put_any(&t, "$tid", tids, nr_tids);
	put_any(&t, "$cpu", cpus, nr_cpus);
	*ret_err = t.failed ? -ENOMEM : 0;
	if (t.failed)
		wm_text_done(&t);
	return t.data;
}

char *wm_recorder_join_filters(const char *a, const char *b, int *ret_err)
{
	struct wm_text t;

	*ret_err = 0;
	if (!a && !b)
		return NULL;
	wm_text_init(&t);
	if (a && b)
		wm_text_f(&t, "(%s) && (%s)", a, b);
	else
		wm_text_str(&t, a ? a : b);
	if (t.failed) {
		wm_text_done(&t);
		*ret_err = -ENOMEM;
		return NULL;
	}
	return t.data;
}
