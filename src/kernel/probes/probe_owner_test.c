/* SPDX-License-Identifier: MIT */
/*
 * probe_owner_test.c - tests that a group's owner is found by its pid, start time and PID
 * namespace.
 */
#include "kernel/probes/probe_owner.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define NAME_BYTES 64

static char mine[NAME_BYTES];

static int set_up(void **state)
{
	(void)state;
	wm_probe_owner_name(mine, sizeof(mine));
	return 0;
}

static void test_owner_exists(void **state)
{
	char name[NAME_BYTES + 16];

	(void)state;
	assert_false(wm_probe_owner_has_exited(mine));
	(void)snprintf(name, sizeof(name), "%s_latency", mine);
	assert_false(wm_probe_owner_has_exited(name));
}

static void test_owner_has_exited(void **state)
{
	char name[NAME_BYTES], synthetic[NAME_BYTES + 16];
	int out[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (pid == 0) {
		wm_probe_owner_name(name, sizeof(name));
		(void)!write(out[1], name, sizeof(name));
		_exit(0);
	}
	assert_int_equal(read(out[0], name, sizeof(name)), sizeof(name));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(wm_probe_owner_has_exited(name));
	(void)snprintf(synthetic, sizeof(synthetic), "%s_latency", name);
	assert_true(wm_probe_owner_has_exited(synthetic));
}

/* Another process has the number of the owner, which has exited. */
static void test_number_was_reused(void **state)
{
	char name[NAME_BYTES];
	const char *space = strchr(mine + strlen(WM_PROBE_OWNER_PREFIX), 'n');

	(void)state;
	(void)snprintf(name, sizeof(name), WM_PROBE_OWNER_PREFIX "%d_1%s", (int)getpid(),
		       space ? space : "");
	assert_true(wm_probe_owner_has_exited(name));
}

static void test_other_names(void **state)
{
	static const char *const names[] = {"",           "waymark_",     "waymark_x_1",
					    "waymark_12", "waymark_-1_5", "waymark_99999999999_5",
					    "perf_12_5",  "waymark_12_5x"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_false(wm_probe_owner_has_exited(names[i]));
}

/* Runs in a new PID namespace: 0 if nothing of the outer one counts as exited there. */
static int judge_inside(bool mount_proc)
{
	char own[NAME_BYTES];

	if (mount_proc && mount("proc", "/proc", "proc", 0, NULL) < 0)
		return 77;
	wm_probe_owner_name(own, sizeof(own));
	return wm_probe_owner_has_exited(mine) || wm_probe_owner_has_exited(own) ||
	       !strcmp(own, mine);
}

/* Runs judge_inside() as the first process of a new PID namespace; returns its status. */
static int inside(bool mount_proc)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (unshare(CLONE_NEWPID | CLONE_NEWNS) < 0 ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
			_exit(77);
		pid = fork();
		if (pid == 0)
			_exit(judge_inside(mount_proc));
		_exit(waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
									   : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_owner_outside_of_the_container(void **state)
{
	int with_proc = inside(true), without = inside(false);

	(void)state;
	if (with_proc == 77 || without == 77) {
		print_message("skipped: cannot create PID namespaces here\n");
		skip();
	}
	assert_int_equal(with_proc, 0);
	assert_int_equal(without, 0);
}

/* The first process of a new PID namespace: writes its group's name, and ends when `in` does. */
static void __attribute__((noreturn)) be_container(int in, int out, bool allowed)
{
	char name[NAME_BYTES] = "";

	if (allowed)
		wm_probe_owner_name(name, sizeof(name));
	(void)!write(out, name, sizeof(name));
	(void)!read(in, name, 1);
	_exit(0);
}

/* The initial namespace sees whether a process of the container is left. */
static void test_owner_in_a_container(void **state)
{
	int in[2], out[2];
	char name[NAME_BYTES];
	pid_t pid;

	(void)state;
	if (strchr(mine + strlen(WM_PROBE_OWNER_PREFIX), 'n')) {
		print_message("skipped: this is not the initial PID namespace\n");
		skip();
	}
	assert_int_equal(pipe(in) | pipe(out), 0);
	pid = fork();
	if (pid == 0) {
		bool allowed = unshare(CLONE_NEWPID) == 0;

		(void)close(in[1]);
		pid = fork();
		if (pid == 0)
			be_container(in[0], out[1], allowed);
		_exit(waitpid(pid, NULL, 0) < 0);
	}
	assert_int_equal(read(out[0], name, sizeof(name)), sizeof(name));
	if (*name)
		assert_false(wm_probe_owner_has_exited(name));
	(void)close(in[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	if (!*name) {
		print_message("skipped: cannot create PID namespaces here\n");
		skip();
	}
	assert_true(wm_probe_owner_has_exited(name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_owner_exists),
	    cmocka_unit_test(test_owner_has_exited),
	    cmocka_unit_test(test_number_was_reused),
	    cmocka_unit_test(test_other_names),
	    cmocka_unit_test(test_owner_outside_of_the_container),
	    cmocka_unit_test(test_owner_in_a_container),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
