/* SPDX-License-Identifier: MIT */
/*
 * residual_filter_test.c - runs filters over records: fields, a record's task, names from /proc,
 * names that change, and times on both clocks.
 */
#include "collect/residual_filter_int.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "event/desc_build.h"

static const struct wm_filter *link_text(struct wm_sieve *s, const char *text, int expected)
{
	const struct wm_filter *f = NULL;
	size_t desc_bytes, bytes;
	unsigned char *code, *desc = wm_desc_simple("sys", "ev", "n:i4;s:s", NULL, 0, &desc_bytes);

	assert_int_equal(wm_filter_parse(text, &code, &bytes, NULL), 0);
	assert_int_equal(wm_sieve_link(s, code, bytes, desc, desc_bytes, &f), expected);
	free(code);
	free(desc);
	return f;
}

static const unsigned char payload[] = {7, 0, 0, 0, 'a', 'b', 0};

static bool pass(struct wm_sieve *s, const char *text, const struct wm_sieve_context *c)
{
	return wm_sieve_pass(s, link_text(s, text, 0), c, payload, sizeof(payload));
}

static void test_fields(void **state)
{
	struct wm_sieve *s = wm_sieve_create(WM_CLOCK_MONOTONIC, NULL);
	const struct wm_sieve_context c = {.pid = 5, .tid = 6, .cpu = 2, .clock = 1000};

	(void)state;
	assert_true(pass(s, "n * 2 == 14 && s == \"a[bc]\"", &c));
	assert_false(pass(s, "n * 2 == 15", &c));
	assert_true(pass(s, "$pid + $tid == 11 && $cpu == 2 && $time == 1000", &c));
	assert_true(pass(s, "n * 0.5 > 3.4", &c));
	assert_null(link_text(s, "m == 1", -ENOENT));
	assert_null(link_text(s, "s == 1", -EINVAL));
	wm_sieve_destroy(s);
}

/*
 * For a record without pid and name, both come from /proc and are reread after a tenth of a second.
 */
static void test_tasks(void **state)
{
	struct wm_sieve *s = wm_sieve_create(WM_CLOCK_MONOTONIC, NULL);
	struct wm_sieve_context c = {.pid = -1, .tid = (uint32_t)getpid()};
	const struct timespec later = {.tv_nsec = 120000000};
	char was[16], text[64];
	bool remembered;
	uint64_t asked;
	pid_t gone = fork();

	(void)state;
	if (gone == 0)
		_exit(0);
	assert_int_equal(waitpid(gone, NULL, 0), gone);
	(void)prctl(PR_GET_NAME, was);
	(void)prctl(PR_SET_NAME, "first");
	(void)snprintf(text, sizeof(text), "$pid == %d && $comm == \"first\"", (int)getpid());
	asked = wm_clock_monotonic_ns();
	assert_true(pass(s, text, &c));
	(void)prctl(PR_SET_NAME, "second");
	remembered = pass(s, text, &c);
	assert_true(remembered || wm_clock_monotonic_ns() - asked >= 100000000);
	(void)nanosleep(&later, NULL);
	assert_false(pass(s, text, &c));
	assert_true(pass(s, "$comm == \"second\"", &c));
	(void)prctl(PR_SET_NAME, was);
	c.tid = (uint32_t)gone;
	(void)snprintf(text, sizeof(text), "$pid == %d && $comm == \"\"", (int)gone);
	assert_true(pass(s, text, &c));
	c.tid = 0;
	assert_true(pass(s, "$comm == \"swapper\"", &c));
	wm_sieve_renamed(s, 100, (uint32_t)gone, "told0123456789abcdef", 20);
	wm_sieve_forked(s, 100, (uint32_t)gone + 1, (uint32_t)gone);
	c.tid = (uint32_t)gone + 1;
	assert_true(pass(s, "$pid == 100 && $comm == \"told0123456789ab\"", &c));
	wm_sieve_destroy(s);
}

/* $time is a CLOCK_MONOTONIC time, whatever the trace's clock is. */
static void test_times(void **state)
{
	struct wm_sieve *s = wm_sieve_create(WM_CLOCK_CYCLES, NULL);
	struct wm_sieve_context c = {.pid = -1};
	char text[96];
	uint64_t before, after;

	(void)state;
	for (int i = 0; i < 20; i++) {
		(void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		before = wm_clock_monotonic_ns();
		c.clock = wm_clock_cycles();
		after = wm_clock_monotonic_ns();
		(void)snprintf(text, sizeof(text), "$time >= %llu && $time <= %llu",
			       (unsigned long long)before - 50000,
			       (unsigned long long)after + 50000);
		assert_true(pass(s, text, &c));
	}
	c.clock = 1; /* long before the sieve was created, so its first moment is used */
	(void)snprintf(text, sizeof(text), "$time > 0 && $time <= %llu",
		       (unsigned long long)before);
	assert_true(pass(s, text, &c));
	wm_sieve_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_fields),
	    cmocka_unit_test(test_tasks),
	    cmocka_unit_test(test_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
