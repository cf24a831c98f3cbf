/* SPDX-License-Identifier: MIT */
/*
 * list_test.c - <waymark/list.h> through its public interface.
 * test/record_api.bats compares the events found with those of `waymark list`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <waymark/waymark.h>

static struct waymark_list *find(const struct waymark_list_options *o)
{
	struct waymark_list *l = NULL;
	struct waymark_error error = WAYMARK_INIT(error);

	if (waymark_list(o, &l, &error))
		fail_msg("%s", error.text);
	return l;
}

static void refused(const struct waymark_list_options *o, int code, const char *part)
{
	struct waymark_list *l = NULL;
	struct waymark_error error = WAYMARK_INIT(error);

	assert_int_equal(waymark_list(o, &l, &error), -code);
	assert_null(l);
	assert_int_equal(error.code, code);
	if (!strstr(error.text, part))
		fail_msg("'%s' does not mention '%s'", error.text, part);
	assert_int_equal(waymark_list(o, &l, NULL), -code);
}

/* Every kernel has these. */
static void test_software_events(void **state)
{
	const struct waymark_list_options o = {
	    .size = sizeof(o), .events = "sw:*-clock", .flags = WAYMARK_LIST_KERNEL};
	struct waymark_list *l = find(&o);
	struct waymark_listed_place place = WAYMARK_INIT(place);
	struct waymark_listed_field field = WAYMARK_INIT(field);
	struct waymark_listed event = WAYMARK_INIT(event);

	assert_int_equal(waymark_list_count(l), 2);
	assert_int_equal(waymark_listed(l, 0, &event), 0);
	assert_string_equal(event.name, "sw:task-clock");
	assert_string_equal(event.kind, "software");
	assert_non_null(event.help);
	assert_null(event.file);
	assert_true(event.scale == 1);
	assert_int_equal(waymark_listed_field(l, 0, 0, &field), -ERANGE);
	assert_int_equal(waymark_listed_place(l, 0, 0, &place), -ERANGE);
	assert_null(waymark_listed_print(l, 0));
	assert_int_equal(waymark_listed(l, 2, &event), -ERANGE);
	assert_int_equal(waymark_listed_field(l, 2, 0, &field), -ERANGE);
	assert_int_equal(waymark_listed_place(l, 2, 0, &place), -ERANGE);
	assert_null(waymark_listed_print(l, 2));
	waymark_list_close(l);
}

static void test_families(void **state)
{
	const struct waymark_list_options o = {.size = sizeof(o), .events = "sw:cpu-clock"};
	struct waymark_list *l = find(&o);
	struct waymark_family family = WAYMARK_INIT(family);
	uint32_t n = 0;
	int has_software = 0;

	for (; waymark_family(l, n, &family) == 0; n++)
		has_software |= !strcmp(family.name, "sw") && family.nr_events >= 2;
	assert_true(n >= 9);
	assert_true(has_software);
	waymark_list_close(l);
}

static void test_refused(void **state)
{
	const char *const file[] = {"/nowhere/at/all"}, *const none[] = {NULL};
	const int32_t nobody[] = {INT32_MAX};
	struct waymark_list_options o = {.size = sizeof(o), .events = "sw:cpu-clok"};

	refused(&o, ENOENT, "'sw:cpu-clock'");
	o = (struct waymark_list_options){.size = sizeof(o), .files = file, .nr_files = 1};
	refused(&o, ENOENT, "/nowhere/at/all");
	o = (struct waymark_list_options){.size = sizeof(o), .pids = nobody, .nr_pids = 1};
	refused(&o, ESRCH, "no process 2147483647");
	o = (struct waymark_list_options){.size = sizeof(o), .files = none, .nr_files = 1};
	refused(&o, EINVAL, "NULL");
	o = (struct waymark_list_options){.size = sizeof(o), .nr_files = 1};
	refused(&o, EINVAL, "is NULL, but its count");
	o = (struct waymark_list_options){.size = sizeof(o), .flags = 1u << 31};
	refused(&o, EINVAL, "flag");
	waymark_list_close(NULL);
}

/* A process without events has no entries. */
static void test_a_process_without_events(void **state)
{
	const int32_t self = getpid();
	const struct waymark_list_options o = {
	    .size = sizeof(o), .events = NULL, .pids = &self, .nr_pids = 1};
	struct waymark_list *l = find(&o);
	struct waymark_listed event = WAYMARK_INIT(event);

	for (uint32_t i = 0; waymark_listed(l, i, &event) == 0; i++)
		assert_string_equal(event.kind, "usdt"); /* the C library has USDT probes */
	waymark_list_close(l);
}

static void *list_many(void *data)
{
	for (int i = 0; i < 20; i++) {
		struct waymark_list_options o = {
		    .size = sizeof(o), .events = "sw:*", .flags = WAYMARK_LIST_KERNEL};
		struct waymark_list *l = find(&o);
		uint32_t nr;

		nr = waymark_list_count(l);
		waymark_list_close(l);
		if (nr < 2)
			return data;
	}
	return NULL;
}

static void test_lists_have_nothing_in_common(void **state)
{
	static char bad;
	pthread_t threads[4];
	void *failed;

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, list_many, &bad), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_software_events),
	    cmocka_unit_test(test_families),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_a_process_without_events),
	    cmocka_unit_test(test_lists_have_nothing_in_common),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
