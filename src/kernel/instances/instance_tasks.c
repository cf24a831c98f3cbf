/* SPDX-License-Identifier: MIT */
/* instance_tasks.c - restricts an instance to tasks and CPUs; see instance.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "kernel/instances/instance_int.h"

/* Writes all ids with a single write, because the kernel waits for all CPUs after each write. */
static int put_tids(struct wm_instance *i, const char *name, const pid_t *tids, size_t nr,
		    bool more)
{
	struct wm_text t;
	int err;

	wm_text_init(&t);
	for (size_t k = 0; k < nr; k++)
		wm_text_f(&t, "%d ", (int)tids[k]);
	err = t.failed ? -ENOMEM
	      : !nr    ? 0
	      : more   ? wm_instance_append(i, name, t.data)
		       : wm_instance_put(i, name, t.data);
	wm_text_done(&t);
	return err;
}

int wm_instance_follow(struct wm_instance *i, const pid_t *tids, size_t nr, bool children,
		       struct wm_diag *diag)
{
	int err = children && !i->top ? wm_instance_put(i, "options/event-fork", "1") : 0;

	if (!err && !i->top) /* the system's own buffer records no events */
		err = put_tids(i, "set_event_pid", tids, nr, false);
	if (!err && i->functions) {
		if (children)
			(void)wm_instance_put(i, "options/function-fork", "1");
		err = put_tids(i, "set_ftrace_pid", tids, nr, false);
	}
	return err ? wm_diag_set(diag, err, NULL, -1,
				 "the kernel does not permit choosing tasks to trace: %s",
				 strerror(-err))
		   : 0;
}

int wm_instance_follow_also(struct wm_instance *i, const pid_t *tids, size_t nr)
{
	return i->top ? 0 : put_tids(i, "set_event_pid", tids, nr, true);
}

/* The kernel expects 32-bit words in hexadecimal, the highest word first. */
int wm_instance_cpus(struct wm_instance *i, const int *cpus, size_t nr, struct wm_diag *diag)
{
	uint32_t words[WM_INSTANCE_CPUS_MAX / 32] = {0};
	struct wm_text t;
	int err;

	for (size_t k = 0; k < nr; k++) {
		if (cpus[k] < 0 || (uint32_t)cpus[k] >= i->nr_cpus)
			return wm_diag_set(diag, -EINVAL, NULL, -1,
					   "this machine has no CPU %d: it has CPUs 0 to %u",
					   cpus[k], i->nr_cpus - 1);
		words[cpus[k] / 32] |= 1u << cpus[k] % 32;
	}
	wm_text_init(&t);
	for (uint32_t k = (i->nr_cpus + 31) / 32; k-- > 0;)
		wm_text_f(&t, "%08x%s", words[k], k ? "," : "");
	err = t.failed ? -ENOMEM : wm_instance_put(i, "tracing_cpumask", t.data);
	wm_text_done(&t);
	return err ? wm_diag_set(diag, err, NULL, -1,
				 "the kernel does not permit choosing CPUs to trace: %s",
				 strerror(-err))
		   : 0;
}

int wm_instance_exclude(struct wm_instance *i, const pid_t *tids, size_t nr)
{
	if (i->functions)
		/* Exists since Linux 5.7. */
		(void)put_tids(i, "set_ftrace_notrace_pid", tids, nr, true);
	return i->top ? 0 : put_tids(i, "set_event_notrace_pid", tids, nr, true);
}
