/* SPDX-License-Identifier: MIT */
/* Creates, fills, reads and removes an instance in the real tracefs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "kdata/page.h"
#include "kernel/instances/instance_int.h"

static const struct wm_instance_event getppid_event = {"syscalls", "sys_enter_getppid", NULL};
static const struct wm_instance_event switch_event = {"sched", "sched_switch", NULL};

struct world {
	struct wm_tracefs *fs;
	struct wm_instance *instance;
};

static int begin(void **state)
{
	const struct wm_instance_options o = {.clock = WM_CLOCK_MONOTONIC};
	struct wm_diag diag = {.offset = -1};
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	*state = w;
	if (wm_tracefs_open(&w->fs, &diag) < 0 ||
	    wm_instance_create(w->fs, &o, &w->instance, &diag) < 0)
		print_message("no instance here: %s\n", diag.sentence);
	return 0;
}

static int end(void **state)
{
	struct world *w = *state;

	wm_instance_destroy(w->instance);
	wm_tracefs_close(w->fs);
	free(w);
	return 0;
}

static struct wm_instance *instance_of(void **state)
{
	struct world *w = *state;

	if (!w->instance)
		skip();
	return w->instance;
}

/* Reads and counts all records that are now in the CPUs' rings. */
static uint64_t drain(struct wm_instance *i)
{
	unsigned char *page = malloc(wm_instance_page_bytes(i));
	struct wm_page_layout layout;
	uint64_t count = 0;

	assert_non_null(page);
	wm_page_layout_init(&layout, sizeof(long), false);
	for (uint32_t cpu = 0; cpu < wm_instance_nr_cpus(i); cpu++) {
		ssize_t got;

		while ((got = wm_instance_read(i, cpu, page)) > 0) {
			struct wm_page_cursor c;

			assert_int_equal(wm_page_open(&c, &layout, page, (size_t)got, NULL), 0);
			while (wm_page_next(&c) == 1)
				count++;
		}
		assert_int_equal(got, 0);
	}
	free(page);
	return count;
}

static void every_call_is_in_the_ring(void **state)
{
	struct wm_instance *i = instance_of(state);
	const pid_t me = getpid();

	if (wm_instance_enable(i, &getppid_event, NULL, NULL) < 0)
		skip(); /* this kernel has no system call events */
	assert_int_equal(wm_instance_follow(i, &me, 1, true, NULL), 0);
	(void)getppid(); /* not recorded, because the instance has not been started */
	assert_int_equal(wm_instance_start(i, NULL), 0);
	for (int k = 0; k < 5000; k++)
		(void)getppid();
	wm_instance_stop(i);
	(void)getppid();
	assert_int_equal(drain(i), 5000);
}

/* Returns a descriptor that writes to this instance's trace_marker. */
static int marker_of(const struct wm_instance *i)
{
	int fd = openat(i->dirfd, "trace_marker", O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void markers_come_in(void **state)
{
	struct wm_instance *i = instance_of(state);
	int fd = marker_of(i);

	assert_int_equal(wm_instance_start(i, NULL), 0);
	assert_int_equal(write(fd, "hello", 5), 5);
	close(fd);
	assert_int_equal(drain(i), 1);
}

static void a_refused_filter_says_where(void **state)
{
	struct wm_instance *i = instance_of(state);
	struct wm_diag diag = {.offset = -1};
	int err = wm_instance_enable(i, &switch_event, "prev_pid == 1 && nosuch > 2", &diag);

	assert_int_equal(err, -EINVAL);
	assert_non_null(strstr(diag.sentence, "nosuch"));
	assert_true(diag.column >= 10 && diag.column <= 25);
}

static void rings_have_the_size_that_was_chosen(void **state)
{
	struct world *w = *state;
	struct wm_instance_options o = {.clock = WM_CLOCK_MONOTONIC};
	struct wm_instance *i = instance_of(state), *other;
	uint64_t usual = wm_instance_buffer_bytes(i), kib;

	assert_true(usual <= wm_instance_buffer_default());
	o.buffer_bytes = (uint64_t)wm_instance_nr_cpus(i) << 20;
	assert_int_equal(wm_instance_create(w->fs, &o, &other, NULL), 0);
	assert_int_equal(wm_instance_buffer_bytes(other), o.buffer_bytes);
	kib = wm_instance_get_number(other, "buffer_size_kb");
	wm_instance_destroy(other);
	assert_true(kib >= 1024 && kib <= 1024 + 64);
}

/* Counts a process's instances. Other recorders may sweep at the same time. */
static unsigned instances_of(const struct world *w, pid_t pid)
{
	int fd = wm_instance_open_parent(w->fs, NULL);
	DIR *dir = fdopendir(fd);
	const struct dirent *d;
	unsigned count = 0;
	char prefix[32];

	assert_non_null(dir);
	(void)snprintf(prefix, sizeof(prefix), "waymark-%d-", (int)pid);
	while ((d = readdir(dir)))
		count += !strncmp(d->d_name, prefix, strlen(prefix));
	closedir(dir);
	return count;
}

static void what_a_killed_recorder_left_is_swept(void **state)
{
	struct world *w = *state;
	const struct wm_instance_options o = {.clock = WM_CLOCK_MONOTONIC};
	struct wm_instance *other;
	int status;
	pid_t pid;

	(void)instance_of(state);
	pid = fork();
	if (pid == 0) {
		if (wm_instance_create(w->fs, &o, &other, NULL) < 0 ||
		    instances_of(w, getpid()) != 1)
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	(void)wm_instance_sweep(w->fs);
	assert_int_equal(instances_of(w, pid), 0);
	/* This instance stays, because its lock is held. */
	assert_int_equal(instances_of(w, getpid()), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(every_call_is_in_the_ring, begin, end),
	    cmocka_unit_test_setup_teardown(markers_come_in, begin, end),
	    cmocka_unit_test_setup_teardown(a_refused_filter_says_where, begin, end),
	    cmocka_unit_test_setup_teardown(rings_have_the_size_that_was_chosen, begin, end),
	    cmocka_unit_test_setup_teardown(what_a_killed_recorder_left_is_swept, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
