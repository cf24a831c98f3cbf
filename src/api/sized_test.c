/* SPDX-License-Identifier: MIT */
/*
 * sized_test.c - structures of an older and a newer caller (sized.h), and those of the installed
 * headers as used through the library, which does not export sized.c's functions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <waymark/waymark.h>

#include "api/sized.c"

int wm_api_fail(struct waymark_error *error, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (error)
		(void)vsnprintf(error->text, sizeof(error->text), fmt, args);
	va_end(args);
	return err;
}

/* Three versions of a structure; the library has the second. */
struct old {
	size_t size;
	uint64_t first;
};

struct now {
	size_t size;
	uint64_t first;
	uint32_t second, third;
};

struct later {
	size_t size;
	uint64_t first;
	uint32_t second, third;
	uint64_t fourth;
};

static int copy_in(struct now *known, const void *given, struct waymark_error *error)
{
	const struct now *options = given;

	return WM_API_COPY_IN(known, options, first, "options", error);
}

static int copy_out(void *ret, const struct now *known)
{
	struct now *result = ret;

	return WM_API_COPY_OUT(result, known, first);
}

static void test_options(void **state)
{
	const struct old old = {.size = sizeof(old), .first = 1};
	const struct now now = {.size = sizeof(now), .first = 2, .second = 3, .third = 4};
	struct later later = {.size = sizeof(later), .first = 5, .second = 6, .third = 7};
	struct now got = {.second = 99};

	assert_int_equal(copy_in(&got, &old, NULL), 0);
	assert_int_equal(got.size, sizeof(got));
	assert_int_equal(got.first, 1);
	assert_int_equal(got.second, 0);
	assert_int_equal(copy_in(&got, &now, NULL), 0);
	assert_memory_equal(&got, &now, sizeof(now));
	assert_int_equal(copy_in(&got, &later, NULL), 0);
	assert_int_equal(got.size, sizeof(got));
	assert_int_equal(got.third, 7);
	later.fourth = 1;
	assert_int_equal(copy_in(&got, &later, NULL), -E2BIG);
	assert_int_equal(got.third, 7);
}

static void test_wrong_size(void **state)
{
	struct waymark_error error = WAYMARK_INIT(error);
	struct later given = {0};
	struct now got = {0};

	assert_int_equal(copy_in(&got, &given, &error), -EINVAL);
	assert_non_null(strstr(error.text, "'size' of the options is missing or too small"));
	given.size = sizeof(struct old) - 1;
	assert_int_equal(copy_in(&got, &given, &error), -EINVAL);
	assert_int_equal(copy_out(&given, &got), -EINVAL);
	/* Stack contents; nothing is read or written up to there. */
	given.size = SIZE_MAX;
	assert_int_equal(copy_in(&got, &given, &error), -E2BIG);
	assert_non_null(strstr(error.text, "too large"));
	assert_int_equal(copy_out(&given, &got), -E2BIG);
}

static void test_results(void **state)
{
	const struct now known = {.first = 1, .second = 2, .third = 3};
	struct later later = {.size = sizeof(later), .fourth = 99};
	struct {
		struct old old;
		uint64_t beyond;
	} old = {{.size = sizeof(struct old)}, 99};
	struct now now = {.size = sizeof(now)};

	assert_int_equal(copy_out(&old.old, &known), 0);
	assert_int_equal(old.old.size, sizeof(struct old));
	assert_int_equal(old.old.first, 1);
	assert_int_equal(old.beyond, 99);
	assert_int_equal(copy_out(&now, &known), 0);
	assert_int_equal(now.size, sizeof(now));
	assert_int_equal(now.third, 3);
	assert_int_equal(copy_out(&later, &known), 0);
	assert_int_equal(later.size, sizeof(later));
	assert_int_equal(later.third, 3);
	assert_int_equal(later.fourth, 0);
}

/* --- the installed headers ------------------------------------------------------------------ */

/* Options of a newer header, whose last member is not in this library. */
struct newer {
	union {
		struct waymark_options read;
		struct waymark_list_options list;
		struct waymark_record_options record;
		struct waymark_count_options count;
	};
	uint64_t more;
};

static int call(int which, const struct newer *o, struct waymark_error *error)
{
	struct waymark_recording *recording;
	struct waymark_counters *counters;
	struct waymark_list *list;
	int err = which == 0   ? waymark_list(&o->list, &list, error)
		  : which == 1 ? waymark_record(&o->record, &recording, error)
			       : waymark_count(&o->count, &counters, error);

	if (!err && which == 0)
		waymark_list_close(list);
	if (!err && which == 1)
		waymark_record_close(recording);
	if (!err && which == 2)
		waymark_count_close(counters);
	return err;
}

static void test_every_options(void **state)
{
	static const size_t sizes[] = {sizeof(struct waymark_list_options),
				       sizeof(struct waymark_record_options),
				       sizeof(struct waymark_count_options)};
	static const char *const command[] = {"true", NULL}, *const events[] = {"sw:task-clock"};
	const struct newer valid[] = {{.list = {.events = "sw:*"}},
				      {.record = {.folder = "unused", .command = command}},
				      {.count = {.events = events, .nr_events = 1}}};

	for (int i = 0; i < 3; i++) {
		struct waymark_error error = WAYMARK_INIT(error);
		struct newer o = valid[i];

		assert_int_equal(call(i, &o, &error), -EINVAL);
		assert_int_equal(error.code, EINVAL);
		assert_non_null(strstr(error.text, "WAYMARK_INIT"));
		o.read.size = sizes[i] - 1;
		assert_int_equal(call(i, &o, &error), -EINVAL);
		o.read.size = sizes[i];
		assert_int_equal(call(i, &o, &error), 0);
		memset((char *)&o + sizes[i], 0, sizeof(o) - sizes[i]);
		o.read.size = sizeof(o);
		assert_int_equal(call(i, &o, &error), 0);
		o.more = 1;
		assert_int_equal(call(i, &o, &error), -E2BIG);
		assert_non_null(strstr(error.text, "newer library"));
	}
}

static void test_error(void **state)
{
	static const char *const command[] = {NULL};
	const struct waymark_record_options o = {.size = sizeof(o), .command = command};
	struct waymark_recording *recording;
	struct waymark_error error = {.code = 99};

	assert_int_equal(waymark_record(&o, &recording, &error), -EINVAL);
	assert_int_equal(error.code, 99);
	error.size = sizeof(error);
	assert_int_equal(waymark_record(&o, &recording, &error), -EINVAL);
	assert_int_equal(error.code, EINVAL);
	assert_string_equal(error.text, "the command is empty");
	assert_int_equal(error.size, sizeof(error));
}

static void test_recording(void **state)
{
	static const char *const command[] = {"true", NULL};
	const struct waymark_record_options o = {
	    .size = sizeof(o), .folder = "unused", .command = command};
	struct waymark_record_how how = {.frequency = 100};
	struct waymark_recording *recording;
	struct waymark_totals totals = {0};
	struct waymark_loss loss = {0};

	assert_int_equal(waymark_record(&o, &recording, NULL), 0);
	assert_int_equal(waymark_record_event(recording, "sw:cpu-clock", &how, NULL), -EINVAL);
	assert_int_equal(waymark_record_totals(recording, &totals), -EINVAL);
	assert_int_equal(waymark_record_loss(recording, 0, &loss), -EINVAL);
	totals.size = sizeof(totals);
	loss.size = sizeof(loss);
	assert_int_equal(waymark_record_totals(recording, &totals), 0);
	assert_int_equal(waymark_record_loss(recording, 0, &loss), 0);
	assert_int_equal(totals.status, -1);
	waymark_record_close(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options), cmocka_unit_test(test_wrong_size),
	    cmocka_unit_test(test_results), cmocka_unit_test(test_every_options),
	    cmocka_unit_test(test_error),   cmocka_unit_test(test_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
