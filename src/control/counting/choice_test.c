/* SPDX-License-Identifier: MIT */
/* choice_test.c - tests what requested names turn into, without counting anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "control/counting_choice.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static char *command[] = {(char *)"true", NULL};

struct chosen {
	struct wm_counting_request request;
	struct wm_counting_choice choice;
	struct wm_diag diag;
	const char *text;
};

/* Chooses on a machine that has neither tracefs nor hardware counters. */
static int choose(struct chosen *c, const struct wm_counting_named *named, size_t nr)
{
	const struct wm_event_space space = {.tracefs_err = -ENOENT};

	c->diag = (struct wm_diag){.offset = -1};
	c->request.named = named;
	c->request.nr_named = nr;
	c->request.command = command;
	return wm_counting_choose(&c->request, &space, &c->choice, &c->text, &c->diag);
}

/* Chooses one name; returns the error, after releasing everything. */
static int choose_one(struct chosen *c, const char *name, const char *filter)
{
	const struct wm_counting_named named[] = {{NULL, NULL}, {name, filter}};
	int err = choose(c, named, NR(named));

	wm_counting_choice_done(&c->choice);
	return err;
}

static void without_names_there_are_defaults(void **state)
{
	const struct wm_counting_named named[] = {{NULL, NULL}};
	struct chosen c = {0};

	assert_int_equal(choose(&c, named, NR(named)), 0);
	assert_true(wm_counting_by_default(&c.request));
	assert_int_equal(c.choice.defs.nr, 4);
	assert_false(c.choice.stream);
	assert_null(c.choice.counting.programs);
	wm_counting_choice_done(&c.choice);
}

static void rules_keep_their_place_among_events(void **state)
{
	const struct wm_counting_named named[] = {
	    {NULL, NULL}, {"page-faults,user:app:row", NULL}, {"context-switches,app:done", NULL}};
	struct chosen c = {0};
	const struct wm_counting_rules *r;

	assert_int_equal(choose(&c, named, NR(named)), 0);
	r = c.choice.rules;
	assert_int_equal(c.choice.defs.nr, 2);
	assert_int_equal(wm_counting_rules_nr(r), 2);
	assert_string_equal(wm_counting_rules_name(r, 0), "app:row");
	assert_string_equal(wm_counting_rules_name(r, 1), "app:done");
	assert_int_equal(wm_counting_rules_before(r, 0), 1);
	assert_int_equal(wm_counting_rules_before(r, 1), 2);
	assert_ptr_equal(c.choice.counting.programs, wm_counting_rules_whose(r));
	assert_true(c.choice.counting.programs->beside);
	assert_false(c.choice.stream);
	wm_counting_choice_done(&c.choice);
}

static void unknown_name_is_returned(void **state)
{
	struct chosen c = {0};

	assert_int_equal(choose_one(&c, "page-fautls", NULL), -ENOENT);
	assert_string_equal(c.diag.where, "page-fautls");
	assert_null(c.text);
}

static void refusals_have_a_sentence(void **state)
{
	struct chosen c = {0};

	assert_int_equal(choose_one(&c, "", NULL), -EINVAL);
	assert_non_null(strstr(c.diag.sentence, "needs the name of an event"));
	assert_int_equal(choose_one(&c, "user:app:row,app:row", NULL), -EINVAL);
	assert_non_null(strstr(c.diag.sentence, "named twice"));
	c.request.cpus = "first";
	assert_int_equal(choose_one(&c, "page-faults", NULL), -EINVAL);
	assert_non_null(strstr(c.diag.sentence, "list of CPUs"));
}

static void wrong_filter_is_returned_with_its_column(void **state)
{
	const char *filter = "rows >";
	struct chosen c = {0};

	assert_int_equal(choose_one(&c, "user:app:row", filter), -EINVAL);
	assert_ptr_equal(c.text, filter);
	assert_int_not_equal(c.diag.column, 0);
}

static void groups_of_programs_events_need_a_stream(void **state)
{
	const struct wm_counting_named named[] = {{NULL, NULL}, {"user:app:row", NULL}};
	struct chosen c = {.request = {.by = "rows"}};

	assert_int_equal(choose(&c, named, NR(named)), 0);
	assert_true(c.choice.stream);
	assert_string_equal(wm_counting_stream_by(&c.choice), "rows");
	assert_true(wm_counting_stream_counts(&c.choice, "app:row"));
	assert_false(wm_counting_stream_counts(&c.choice, "perf:comm"));
	assert_null(wm_counting_stream_def(&c.choice, "app:row"));
	wm_counting_choice_done(&c.choice);
	c.request.no_inherit = true;
	assert_int_equal(choose_one(&c, "user:app:row", NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(without_names_there_are_defaults),
	    cmocka_unit_test(rules_keep_their_place_among_events),
	    cmocka_unit_test(unknown_name_is_returned),
	    cmocka_unit_test(refusals_have_a_sentence),
	    cmocka_unit_test(wrong_filter_is_returned_with_its_column),
	    cmocka_unit_test(groups_of_programs_events_need_a_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
