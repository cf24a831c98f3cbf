/* SPDX-License-Identifier: MIT */
/*
 * proc_tasks_test.c - tests that children, but no other processes, are followed, and that ended
 * ones are removed.
 */
#include "kernel/proc_tasks.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const pid_t nobody[2] = {0, 0};

/*
 * Starts a process that has a child. The child reports its pid once it has ensured that it ends
 * with its parent; otherwise it would remain forever if the parent were killed earlier.
 */
static pid_t start_family(pid_t *ret_child)
{
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		const bool is_child = fork() == 0;
		const pid_t self = getpid();

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (is_child && write(fds[1], &self, sizeof(self)) != (ssize_t)sizeof(self))
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	assert_int_equal(read(fds[0], ret_child, sizeof(*ret_child)), sizeof(*ret_child));
	close(fds[0]);
	close(fds[1]);
	return pid;
}

static struct wm_proc_task *task_of(struct wm_proc_tasks *t, pid_t pid)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->tasks[i].pid == pid)
			return &t->tasks[i];
	return NULL;
}

static bool is_followed(struct wm_proc_tasks *t, pid_t pid)
{
	return task_of(t, pid) && task_of(t, pid)->followed;
}

static void children_are_followed_and_strangers_not(void **state)
{
	struct wm_proc_text text = {0};
	struct wm_proc_tasks t;
	pid_t child, pid = start_family(&child);
	const struct wm_proc_event *stat;

	(void)state;
	for (size_t i = 0; (stat = wm_kproc_event(i)) && strcmp(stat->name, "pid_stat") != 0; i++)
		;
	assert_non_null(stat);
	wm_proc_tasks_init(&t, false, nobody);
	assert_int_equal(wm_proc_tasks_follow(&t, pid), 0);
	assert_int_equal(wm_proc_tasks_refresh(&t), 0);
	assert_int_equal(wm_proc_tasks_refresh(&t), 0);
	assert_true(is_followed(&t, pid) && is_followed(&t, child));
	assert_false(is_followed(&t, getpid()));
	for (size_t i = 1; i < t.nr; i++)
		assert_true(t.tasks[i - 1].pid < t.tasks[i].pid);
	/* Reading its files fails after its end, even through a descriptor that was kept open. */
	assert_int_equal(wm_proc_task_read(&t, task_of(&t, pid), stat, 0, &text), 0);
	assert_int_equal(atoi(text.data), pid);
	assert_true(wm_proc_task_renamed(&t, task_of(&t, pid)));
	assert_false(wm_proc_task_renamed(&t, task_of(&t, pid)));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(wm_proc_task_read(&t, task_of(&t, pid), stat, 0, &text), -ESRCH);
	assert_int_equal(wm_proc_tasks_refresh(&t), 0);
	assert_null(task_of(&t, pid));
	wm_proc_tasks_done(&t);
	assert_int_equal(t.nr_fds, 0);
	wm_proc_text_done(&text);
}

static void everything_is_all_but_ours(void **state)
{
	pid_t child, pid = start_family(&child);
	const pid_t ours[2] = {getpid(), child};
	struct wm_proc_tasks t;

	(void)state;
	wm_proc_tasks_init(&t, true, ours);
	assert_int_equal(wm_proc_tasks_refresh(&t), 0);
	assert_true(is_followed(&t, pid) && is_followed(&t, 1));
	assert_false(is_followed(&t, getpid()) || is_followed(&t, child));
	wm_proc_tasks_done(&t);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(children_are_followed_and_strangers_not),
	    cmocka_unit_test(everything_is_all_but_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
