/* SPDX-License-Identifier: MIT */
/*
 * child_test.c - tests that a held command has executed nothing, and that it then runs or is
 * dropped.
 */
#include "base/child.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* The process's name, from /proc/PID/comm. */
static void comm_of(pid_t pid, char comm[32])
{
	char path[64];
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(comm, 32, f));
	(void)fclose(f);
}

static void test_held_then_run(void **state)
{
	char *argv[] = {"sh", "-c", "read x; exit 3", NULL};
	char ours[32], held[32], runs[32];
	struct wm_child c;
	int status, in[2];

	(void)state;
	assert_int_equal(pipe(in), 0);
	assert_int_equal(dup2(in[0], 0), 0);
	comm_of(getpid(), ours);
	assert_int_equal(wm_child_hold(argv, NULL, &c), 0);
	comm_of(c.pid, held);
	assert_string_equal(held, ours);
	assert_int_equal(waitpid(c.pid, &status, WNOHANG), 0);
	assert_int_equal(wm_child_go(&c), 0);
	comm_of(c.pid, runs);
	assert_string_equal(runs, "sh\n");
	assert_int_equal(write(in[1], "\n", 1), 1);
	assert_int_equal(waitpid(c.pid, &status, 0), c.pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

static void test_no_such_command(void **state)
{
	char *argv[] = {"/nonexistent/command", NULL};
	struct wm_child c;

	(void)state;
	assert_int_equal(wm_child_hold(argv, NULL, &c), 0);
	assert_int_equal(wm_child_go(&c), -ENOENT);
	assert_int_equal(waitpid(c.pid, NULL, 0), -1);
	assert_int_equal(errno, ECHILD);
}

/* The time is 0 until the command is released, and is stored before it runs. */
static void test_exec_time(void **state)
{
	char *argv[] = {"true", NULL};
	struct wm_child_exec *exec;
	struct wm_child c;
	uint64_t before;

	(void)state;
	assert_int_equal(wm_child_exec_create(WM_CLOCK_MONOTONIC, &exec), 0);
	assert_int_equal(wm_child_hold_with(argv, environ, NULL, exec, &c), 0);
	assert_true(exec->time == 0);
	before = wm_clock_monotonic_ns();
	assert_int_equal(wm_child_go(&c), 0);
	assert_true(exec->time >= before);
	assert_true(exec->time <= wm_clock_monotonic_ns());
	assert_int_equal(waitpid(c.pid, NULL, 0), c.pid);
	wm_child_exec_destroy(exec);
}

static void test_dropped(void **state)
{
	char *argv[] = {"sh", "-c", "exit 0", NULL};
	struct wm_child c;

	(void)state;
	assert_int_equal(wm_child_hold(argv, NULL, &c), 0);
	wm_child_drop(&c);
	assert_int_equal(waitpid(c.pid, NULL, 0), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_held_then_run),
	    cmocka_unit_test(test_no_such_command),
	    cmocka_unit_test(test_exec_time),
	    cmocka_unit_test(test_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
