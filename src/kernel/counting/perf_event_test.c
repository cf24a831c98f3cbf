/* SPDX-License-Identifier: MIT */
/*
 * perf_event_test.c - counters on this process and its children, scaling, and an error message with
 * a hint for each refusal.
 */
#include "kernel/perf_event.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/privilege.h"

#define PAGES 64u

static void touch_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *at =
	    mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED);
	(void)madvise((void *)at, PAGES * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		at[i * page] = 1;
	assert_int_equal(munmap((void *)at, PAGES * page), 0);
}

/*
 * Opens a counter of this thread's page faults, only those outside the kernel, which need no
 * privilege.
 */
static int open_faults(bool inherit)
{
	struct perf_event_attr attr;
	struct wm_diag diag = {.offset = -1};
	int fd;

	wm_perf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	wm_perf_attr_counting(&attr, inherit, false);
	attr.exclude_kernel = 1;
	fd = wm_perf_open(&attr, (struct wm_perf_where){0, -1}, -1, "sw:page-faults", &diag);
	if (fd < 0) {
		assert_true(diag.sentence[0] != '\0');
		print_message("skipped: %s\n", diag.sentence);
		skip();
	}
	return fd;
}

static void test_counts_between_enable_and_disable(void **state)
{
	struct wm_perf_count before, after, more;
	int fd = open_faults(false);

	(void)state;
	touch_pages();
	assert_int_equal(wm_perf_read(fd, &before), 0);
	assert_int_equal(before.value, 0);
	assert_int_equal(wm_perf_enable(fd, false), 0);
	touch_pages();
	assert_int_equal(wm_perf_disable(fd, false), 0);
	assert_int_equal(wm_perf_read(fd, &after), 0);
	touch_pages();
	assert_int_equal(wm_perf_read(fd, &more), 0);
	assert_true(after.value >= PAGES && after.value < PAGES + 16);
	assert_int_equal(more.value, after.value);
	assert_true(after.enabled_ns > 0);
	assert_int_equal(wm_perf_count_scaled(&after), after.value);
	(void)close(fd);
}

static void test_children_are_counted_in(void **state)
{
	struct wm_perf_count alone, both;
	int plain = open_faults(false), inherit = open_faults(true);
	pid_t pid;

	(void)state;
	assert_int_equal(wm_perf_enable(plain, false), 0);
	assert_int_equal(wm_perf_enable(inherit, false), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		touch_pages();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(wm_perf_read(plain, &alone), 0);
	assert_int_equal(wm_perf_read(inherit, &both), 0);
	assert_true(both.value >= alone.value + PAGES);
	(void)close(plain);
	(void)close(inherit);
}

static void test_scaling(void **state)
{
	struct wm_perf_count sum = {100, 1000, 1000};
	const struct wm_perf_count half = {100, 1000, 500}, never = {0, 1000, 0},
				   huge = {UINT64_MAX / 2, 4, 2};

	(void)state;
	assert_int_equal(wm_perf_count_scaled(&sum), 100);
	assert_int_equal(wm_perf_count_scaled(&half), 200);
	assert_int_equal(wm_perf_count_scaled(&never), 0);
	assert_true(wm_perf_count_scaled(&huge) == UINT64_MAX - 1);
	wm_perf_count_add(&sum, &half);
	assert_int_equal(sum.value, 200);
	assert_int_equal(sum.running_ns, 1500);
	wm_perf_count_since(&sum, &half);
	assert_int_equal(sum.value, 100);
	assert_int_equal(sum.enabled_ns, 1000);
}

/* Every refusal has an error message that names the event and explains more than strerror(). */
static void test_refusals_are_sentences(void **state)
{
	static const struct {
		int err;
		const char *part;
	} rows[] = {
	    {-EACCES, "root"},
	    {-EPERM, "root"},
	    {-EMFILE, "ulimit -n"},
	    {-ENFILE, "file-max"},
	    {-ENOENT, "cannot be counted"},
	    {-EOPNOTSUPP, "cannot be counted"},
	    {-ENODEV, "machine"},
	    {-ESRCH, "ended"},
	    {-ENOSPC, "watchpoint"},
	    {-EBUSY, "exclusive"},
	    {-E2BIG, "too old"},
	    {-ENOSYS, "CONFIG_PERF_EVENTS"},
	    {-EINVAL, "refuses"},
	    {-EIO, "cannot be opened"},
	};
	struct perf_event_attr attr;

	(void)state;
	wm_perf_attr_init(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wm_diag diag = {.offset = -1};
		int err = wm_perf_refused(rows[i].err, &attr, (struct wm_perf_where){-1, 0},
					  "cpu:cycles", &diag);

		assert_int_equal(err, rows[i].err);
		assert_non_null(strstr(diag.sentence, "cpu:cycles"));
		assert_non_null(strstr(diag.sentence, rows[i].part));
	}
}

/*
 * A watchpoint may be refused because of its access, its length or its address; the messages tell
 * which.
 */
static void test_breakpoint_reasons(void **state)
{
	static const struct {
		uint32_t access, bytes;
		const char *part;
	} rows[] = {
#if defined(__x86_64__)
		{HW_BREAKPOINT_R, 8, "use rw"},
		{HW_BREAKPOINT_X, 4, "/8:x"},
#endif
		{HW_BREAKPOINT_RW, 8, "must be a multiple of the length"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wm_diag diag = {.offset = -1};
		struct perf_event_attr attr;

		wm_perf_attr_init(&attr, PERF_TYPE_BREAKPOINT, 0);
		attr.bp_type = rows[i].access;
		attr.bp_len = rows[i].bytes;
		(void)wm_perf_refused(-EINVAL, &attr, (struct wm_perf_where){0, -1}, "mem:0x1001",
				      &diag);
		assert_non_null(strstr(diag.sentence, rows[i].part));
	}
}

/*
 * A child running as user nobody opens a counter for whole CPUs: the message must name the setting
 * that forbids it.
 */
static void test_nobody_is_told_the_setting(void **state)
{
	struct perf_event_attr attr;
	struct wm_privilege p;
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		struct wm_diag diag = {.offset = -1};
		int err;

		if (geteuid() == 0 && setreuid(65534, 65534) < 0)
			_exit(77);
		wm_privilege_read(&p);
		if (!p.has_paranoid || p.paranoid < 1)
			_exit(77);
		wm_perf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
		err = wm_perf_open(&attr, (struct wm_perf_where){-1, 0}, -1, "sw:cpu-clock", &diag);
		if (err == -EPERM || err == -ENOSYS)
			_exit(77); /* a sandbox that permits no perf events at all */
		if (err != -EACCES)
			_exit(1);
		_exit(strstr(diag.sentence, "sudo sysctl kernel.perf_event_paranoid=0") ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("skipped: every user may count whole CPUs here, or perf events are "
			      "not permitted at all\n");
		skip();
	}
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_counts_between_enable_and_disable),
	    cmocka_unit_test(test_children_are_counted_in),
	    cmocka_unit_test(test_scaling),
	    cmocka_unit_test(test_refusals_are_sentences),
	    cmocka_unit_test(test_breakpoint_reasons),
	    cmocka_unit_test(test_nobody_is_told_the_setting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
