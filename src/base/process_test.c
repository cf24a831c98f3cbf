/* SPDX-License-Identifier: MIT */
/* process_test.c - tests with this process, one of its threads, and a child. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"

static void parent(void **state)
{
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		(void)prctl(PR_SET_NAME, ") R 1 (");
		pause();
	}
	assert_int_equal(wm_process_parent((uint32_t)child), getpid());
	assert_int_equal(wm_process_parent((uint32_t)getpid()), getppid());
	assert_true(wm_process_start(0) > 0);
	assert_int_equal(wm_process_start((uint32_t)getpid()), wm_process_start(0));
	assert_true(wm_process_start((uint32_t)child) >= wm_process_start(0));
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	assert_int_equal(wm_process_parent((uint32_t)child), 0);
	assert_int_equal(wm_process_start((uint32_t)child), 0);
}

static void *say_ids(void *data)
{
	uint32_t *ret = data;

	ret[0] = wm_process_of_thread((uint32_t)gettid());
	ret[1] = wm_process_inner_id((uint32_t)gettid()) == (uint32_t)gettid();
	return NULL;
}

/* In another pid namespace the two ids would differ; in this test they are equal. */
static void threads(void **state)
{
	uint32_t said[2] = {0};
	pthread_t t;

	(void)state;
	assert_int_equal(pthread_create(&t, NULL, say_ids, said), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_int_equal(said[0], getpid());
	assert_int_equal(said[1], 1);
	assert_int_equal(wm_process_of_thread(0x7fffffff), 0);
}

static void *stay(void *data)
{
	(void)pause();
	return data;
}

/* The first thread of a child exits alone, another one stays. */
static void left_threads(void **state)
{
	pid_t child = fork();
	uint32_t left = 0;
	int status = -1;

	(void)state;
	if (child == 0) {
		pthread_t t;

		if (pthread_create(&t, NULL, stay, NULL))
			_exit(1);
		(void)syscall(SYS_exit, 7);
	}
	while (!left && waitpid(child, NULL, WNOHANG) == 0)
		left = wm_process_left_threads((uint32_t)child, &status);
	assert_int_equal(left, 1);
	assert_int_equal(status, 7 << 8);
	assert_int_equal(wm_process_left_threads((uint32_t)getpid(), &status), 0);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	assert_int_equal(wm_process_left_threads((uint32_t)child, &status), 0);
}

static void *wait_named(void *barrier)
{
	(void)prctl(PR_SET_NAME, "a thread");
	(void)pthread_barrier_wait(barrier);
	(void)pthread_barrier_wait(barrier);
	return NULL;
}

static void thread(void **state)
{
	uint32_t me = (uint32_t)getpid();
	pthread_barrier_t barrier;
	pthread_t t;

	(void)state;
	assert_false(wm_process_has_thread(me, "a thread"));
	(void)pthread_barrier_init(&barrier, NULL, 2);
	assert_int_equal(pthread_create(&t, NULL, wait_named, &barrier), 0);
	(void)pthread_barrier_wait(&barrier);
	assert_true(wm_process_has_thread(me, "a thread"));
	assert_false(wm_process_has_thread(me, "a threa"));
	(void)pthread_barrier_wait(&barrier);
	(void)pthread_join(t, NULL);
	(void)pthread_barrier_destroy(&barrier);
	assert_false(wm_process_has_thread(UINT32_MAX, "a thread"));
}

static void environment(void **state)
{
	static char *const empty[] = {"ONE=2", NULL};
	static char *const argv[] = {"sleep", "60", NULL};
	int ready[2];
	char c;
	pid_t child;

	(void)state;
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	child = fork();
	if (child == 0)
		_exit(execve("/bin/sleep", argv, empty));
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 0); /* the exec closed the pipe */
	close(ready[0]);
	assert_true(wm_process_environment_has((uint32_t)child, "ONE=2"));
	assert_false(wm_process_environment_has((uint32_t)child, "ONE=23"));
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	assert_false(wm_process_environment_has((uint32_t)child, "ONE=2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(parent), cmocka_unit_test(threads),     cmocka_unit_test(left_threads),
	    cmocka_unit_test(thread), cmocka_unit_test(environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
