/* SPDX-License-Identifier: MIT */
/*
 * counters_test.c - several events on several threads: sums by event, thread and CPU, differences
 * between readings, events that cannot be counted, CPU lists. Counts only outside the kernel, which
 * needs no privilege.
 */
#include "kernel/counters.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/event_name.h"

#define PAGES         200u
#define NOT_PERMITTED 77

struct world {
	struct wm_event_space space;
	struct wm_event_defs defs;
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	wm_event_defs_init(&w->defs);
	return wm_event_space_open(&w->space, NULL);
}

static int tear_down(void **state)
{
	struct world *w = *state;

	wm_event_space_close(&w->space);
	wm_event_defs_done(&w->defs);
	free(w);
	return 0;
}

static void touch_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *at =
	    mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)madvise((void *)at, PAGES * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; at != MAP_FAILED && i < PAGES; i++)
		at[i * page] = 1;
	(void)munmap((void *)at, PAGES * page);
}

/* A thread that touches its pages on request. */
struct worker {
	pthread_t thread;
	pid_t tid;
	pthread_barrier_t *start, *end;
};

static void *work(void *data)
{
	struct worker *w = data;

	w->tid = (pid_t)syscall(SYS_gettid);
	(void)pthread_barrier_wait(w->start);
	(void)pthread_barrier_wait(w->start); /* counting begins here */
	touch_pages();
	(void)pthread_barrier_wait(w->end);
	(void)pthread_barrier_wait(w->end);
	return NULL;
}

static uint64_t sum_of(const struct wm_counters *c, size_t event, size_t tid, bool since)
{
	struct wm_counters_sum sum;

	wm_counters_sum(c, event, tid, WM_COUNTERS_ALL, since, &sum);
	assert_int_equal(sum.scaled, sum.count.value);
	return sum.count.value;
}

static struct wm_counters *open_faults(struct world *w, const pid_t *tids, size_t nr)
{
	struct wm_counters_plan plan = {.defs = &w->defs, .tids = tids, .nr_tids = nr};
	struct wm_counters *c;

	w->defs.nr = 0;
	assert_int_equal(wm_event_name_resolve(&w->space, "page-faults:u", &w->defs, NULL), 1);
	assert_int_equal(wm_event_name_resolve(&w->space, "r7fffffffffff", &w->defs, NULL), 1);
	assert_int_equal(wm_event_name_resolve(&w->space, "minor-faults:u", &w->defs, NULL), 1);
	assert_int_equal(wm_counters_open(&plan, &c), 0);
	assert_int_equal(wm_counters_nr(c), 3);
	if (wm_counters_event(c, 0)->err) {
		print_message("skipped: %s\n", wm_counters_event(c, 0)->why.sentence);
		wm_counters_close(c);
		return NULL;
	}
	return c;
}

static void test_threads_apart_and_together(void **state)
{
	pthread_barrier_t start, end;
	struct worker workers[2] = {{.start = &start, .end = &end}, {.start = &start, .end = &end}};
	struct wm_counters *c;
	pid_t tids[3];
	uint64_t all;

	(void)pthread_barrier_init(&start, NULL, 3);
	(void)pthread_barrier_init(&end, NULL, 3);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	(void)pthread_barrier_wait(&start);
	for (int i = 0; i < 2; i++)
		tids[i] = workers[i].tid;
	tids[2] = (pid_t)syscall(SYS_gettid);
	c = open_faults(*state, tids, 3);
	if (c)
		wm_counters_enable(c);
	(void)pthread_barrier_wait(&start);
	(void)pthread_barrier_wait(&end);
	if (c) {
		assert_int_equal(wm_counters_read(c), 0);
		all = sum_of(c, 0, WM_COUNTERS_ALL, false);
		for (size_t i = 0; i < 2; i++) {
			assert_true(sum_of(c, 0, i, false) >= PAGES);
			assert_true(sum_of(c, 0, i, false) < PAGES + 64);
		}
		assert_true(sum_of(c, 0, 2, false) < PAGES);
		assert_int_equal(all, sum_of(c, 0, 0, false) + sum_of(c, 0, 1, false) +
					  sum_of(c, 0, 2, false));
		assert_true(sum_of(c, 2, WM_COUNTERS_ALL, false) <= all);
		/* In the next interval only this thread has page faults. */
		touch_pages();
		assert_int_equal(wm_counters_read(c), 0);
		assert_true(sum_of(c, 0, 0, true) < 8);
		assert_true(sum_of(c, 0, 2, true) >= PAGES);
		assert_true(sum_of(c, 0, WM_COUNTERS_ALL, false) >= all + PAGES);
	}
	(void)pthread_barrier_wait(&end);
	for (int i = 0; i < 2; i++)
		(void)pthread_join(workers[i].thread, NULL);
	wm_counters_close(c);
	if (!c)
		skip();
}

static void test_one_that_cannot_be_counted(void **state)
{
	pid_t self = getpid();
	struct wm_counters *c = open_faults(*state, &self, 1);
	const struct wm_counters_event *e;

	if (!c)
		skip();
	e = wm_counters_event(c, 1);
	if (e->err) { /* a CPU that accepts any raw number refuses nothing */
		assert_non_null(strstr(e->why.sentence, "r7fffffffffff"));
		assert_int_equal(e->nr_open, 0);
	}
	assert_int_equal(wm_counters_event(c, 0)->err, 0);
	assert_int_equal(wm_counters_event(c, 2)->err, 0);
	wm_counters_close(c);
}

static void test_a_thread_that_is_not_there(void **state)
{
	struct world *w = *state;
	const pid_t none = 4194303;
	struct wm_counters_plan plan = {.defs = &w->defs, .tids = &none, .nr_tids = 1};
	struct wm_counters *c;

	w->defs.nr = 0;
	assert_int_equal(wm_event_name_resolve(&w->space, "page-faults:u", &w->defs, NULL), 1);
	assert_int_equal(wm_counters_open(&plan, &c), 0);
	assert_true(wm_counters_event(c, 0)->err < 0);
	assert_true(wm_counters_event(c, 0)->why.sentence[0] != '\0');
	wm_counters_close(c);
}

static size_t open_files(void)
{
	size_t nr = 0;

	for (int fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

/* Runs in a child, because the limit cannot be raised again. Returns 0 if the test passed. */
static int count_with_few_files(const struct wm_event_defs *defs)
{
	const pid_t tid = getpid();
	const struct wm_counters_plan plan = {.defs = defs, .tids = &tid, .nr_tids = 1};
	struct rlimit few = {3 + 2, 3 + 2};
	const struct wm_counters_event *e;
	struct wm_counters *c;

	/* Descriptors inherited from the test's parent. */
	(void)syscall(SYS_close_range, 3, ~0u, 0);
	if (setrlimit(RLIMIT_NOFILE, &few) || wm_counters_open(&plan, &c))
		return 1;
	e = wm_counters_event(c, 0);
	if (e->err || e->nr_open != 1)
		return e->err == -EACCES || e->err == -EPERM ? NOT_PERMITTED : 2;
	e = wm_counters_event(c, 3);
	if (e->err != -EMFILE || e->nr_open || !strstr(e->why.sentence, "these events need 4,") ||
	    !strstr(e->why.sentence, "ulimit -n 28"))
		return 3;
	wm_counters_close(c);
	return open_files() == 3 ? 0 : 4;
}

static void test_too_few_files(void **state)
{
	static const char *const names[] = {"page-faults:u", "task-clock:u", "minor-faults:u",
					    "major-faults:u"};
	struct world *w = *state;
	int status;
	pid_t pid;

	w->defs.nr = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(wm_event_name_resolve(&w->space, names[i], &w->defs, NULL), 1);
	pid = fork();
	if (pid == 0)
		_exit(count_with_few_files(&w->defs));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_PERMITTED)
		print_message("skipped: nothing can be counted here\n");
	else
		assert_int_equal(status, 0);
}

static void test_lists_of_cpus(void **state)
{
	static const char *const bad[] = {"", "x", "1-", "3-1", "1,,2", "-1", "0-999999", "1 2"};
	int *cpus;
	size_t nr;

	(void)state;
	assert_int_equal(wm_cpus_parse("0-2,7\n", &cpus, &nr), 0);
	assert_int_equal(nr, 4);
	assert_true(cpus[0] == 0 && cpus[2] == 2 && cpus[3] == 7);
	free(cpus);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(wm_cpus_parse(bad[i], &cpus, &nr), -EINVAL);
	assert_int_equal(wm_cpus_online(&cpus, &nr), 0);
	assert_int_equal(nr, sysconf(_SC_NPROCESSORS_ONLN));
	free(cpus);
	assert_int_equal(wm_threads_of(getpid(), &cpus, &nr), 0);
	assert_true(nr >= 1 && cpus[0] == getpid());
	free(cpus);
	assert_int_equal(wm_threads_of(4194303, &cpus, &nr), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_threads_apart_and_together),
	    cmocka_unit_test(test_one_that_cannot_be_counted),
	    cmocka_unit_test(test_a_thread_that_is_not_there),
	    cmocka_unit_test(test_too_few_files),
	    cmocka_unit_test(test_lists_of_cpus),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
