/* SPDX-License-Identifier: MIT */
/*
 * proc_test.c - /proc counters as a source: the names that it accepts, and the events that it
 * writes at its creation and at its end. The test never waits for its timer.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/proc_source.h"
#include "collect/source.h"
#include "kdata/proc_event_test_kit.h"
#include "write/writer_test_kit.h"

extern const struct wm_source_ops wm_source_proc;

static int want(void **options, const char *name, const char *filter, bool sampled)
{
	const struct wm_event_def def = {.name = name, .proc = kit_proc_event(name)};
	const struct wm_source_wanted w = {
	    .name = name, .filter = filter, .defs = &def, .nr_defs = 1, .sampled = sampled};
	struct wm_diag diag = {.offset = -1};

	assert_true(wm_source_proc.takes(name, &def));
	return wm_source_proc.want(options, &w, &diag);
}

/* Records with this source alone; only the first and last readings are made. */
static void record(void *options, struct wm_source_totals *ret)
{
	struct wm_calibrate clock;
	struct wm_source_host host = {.clock = &clock, .ours = {getpid(), getppid()}};
	struct wm_diag diag = {.offset = -1};
	void *source = NULL;

	wm_calibrate_init(&clock, WM_CLOCK_MONOTONIC);
	host.writer = kit_create(WM_TRACE_CTF1);
	assert_int_equal(wm_loop_create(&host.loop), 0);
	if (wm_source_proc.create(options, &host, &source, &diag))
		fail_msg("%s", diag.sentence);
	assert_int_equal(wm_source_proc.round(source, WM_ROUND_ALL), 0);
	wm_source_proc.stop(source);
	wm_source_proc.finish(source);
	memset(ret, 0, sizeof(*ret));
	wm_source_proc.totals(source, ret);
	wm_source_proc.destroy(source);
	wm_loop_destroy(host.loop);
	assert_int_equal(wm_writer_close(host.writer), 0);
}

static void test_first_and_last_reading(void **state)
{
	struct wm_source_totals t;
	void *options = NULL;

	assert_int_equal(want(&options, "loadavg", NULL, false), 1);
	/* Named twice, but read once. */
	assert_int_equal(want(&options, "loadavg", NULL, false), 1);
	record(options, &t);
	assert_int_equal(t.events, 2);
	assert_int_equal(t.packets, 2);
	assert_true(t.bytes > 0);
	assert_int_equal(t.more[WM_PROC_MORE_TICKS], 2);
	assert_int_equal(t.lost[WM_LOST_DISK], 0);
	assert_int_equal(t.error, 0);
	wm_source_proc.forget(options);
}

static void test_filter(void **state)
{
	struct wm_source_totals t;
	void *options = NULL;

	assert_int_equal(want(&options, "loadavg", "0", false), 1);
	record(options, &t);
	assert_int_equal(t.events, 0);
	assert_int_equal(t.more[WM_PROC_MORE_TICKS], 2);
	wm_source_proc.forget(options);
}

static void test_refused(void **state)
{
	const struct wm_event_def other = {.name = "sched:sched_switch"};
	void *options = NULL;

	assert_int_equal(want(&options, "loadavg", "nosuch > 1", false), -EINVAL);
	assert_int_equal(want(&options, "loadavg", NULL, true), -EINVAL);
	assert_null(options);
	assert_false(wm_source_proc.takes("proc:loadavg", NULL));
	assert_false(wm_source_proc.takes(other.name, &other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_first_and_last_reading, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(test_filter, kit_setup, kit_teardown),
	    cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
