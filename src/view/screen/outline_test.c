/* SPDX-License-Identifier: MIT */
/* outline_test.c - lines of rows: opened, closed, filtered, found. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/screen/outline.h"

static const struct wm_result_column columns[] = {
    {"self", "Self", WM_CELL_SHARE},
    {"comm", "Command", WM_CELL_TEXT},
    {"sym", "Symbol", WM_CELL_TEXT},
};

static struct wm_result_row *add(struct wm_result *r, struct wm_result_table *t,
				 struct wm_result_row *above, double share, const char *comm,
				 const char *sym)
{
	union wm_cell *cells;
	struct wm_result_row *row = wm_result_row(r, t, above, &cells);

	row->share = cells[0].f = share;
	cells[1].text = comm;
	cells[2].text = sym;
	return row;
}

/*
 * Creates children on request, as an analysis does: main, which calls work and rest; work has a
 * deep chain of calls.
 */
static int expand(void *own, struct wm_result *r, struct wm_result_row *row)
{
	struct wm_result_row *start = wm_result_call(r, row, "start", 10, 1);
	struct wm_result_row *main = wm_result_call(r, start, "main", 10, 1);
	struct wm_result_row *work = wm_result_call(r, main, "work", 8, 0.8);

	(void)wm_result_call(r, work, "deep", 8, 0.8);
	(void)wm_result_call(r, main, "rest", 2, 0.2);
	row->more = false;
	++*(int *)own;
	return 0;
}

struct world {
	struct wm_result r;
	struct wm_result_table *t;
	struct wm_outline o;
	int nr_expanded;
};

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	wm_result_init(&w->r, "profile");
	w->t = wm_result_table(&w->r, "profile", NULL, columns, 3);
	add(&w->r, w->t, NULL, 0.5, "sh", "[.] parse")->more = true;
	add(&w->r, w->t, NULL, 0.3, "SHOP", "[k] read")->more = true;
	(void)add(&w->r, w->t, NULL, 0.2, "ls", NULL);
	assert_int_equal(wm_outline_init(&w->o, &w->r, w->t, expand, &w->nr_expanded), 0);
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	wm_outline_done(&w->o);
	wm_result_done(&w->r);
	free(w);
	return 0;
}

static const char *name(const struct world *w, uint32_t line)
{
	const struct wm_result_row *row = w->o.lines[line].row;

	return row->kind == WM_ROW_CALL ? row->label : row->cells[1].text;
}

static void calls_are_made_when_they_are_opened(void **state)
{
	struct world *w = *state;

	assert_int_equal(w->o.nr, 3);
	assert_int_equal(w->nr_expanded, 0);
	assert_true(wm_outline_opens(&w->o.lines[0]));
	assert_false(wm_outline_opens(&w->o.lines[2]));
	assert_int_equal(wm_outline_open(&w->o, 0), 0);
	assert_int_equal(w->nr_expanded, 1);
	assert_int_equal(w->o.nr, 4); /* start: its children are opened via its own line */
	assert_int_equal(wm_outline_open(&w->o, 1), 0);
	assert_int_equal(w->o.nr, 7); /* main is a single call, so its calls are opened, too */
	assert_string_equal(name(w, 3), "work");
	assert_string_equal(name(w, 4), "rest");
	assert_int_equal(w->o.lines[1].indent, w->o.lines[2].indent);
	assert_int_equal(w->o.lines[3].indent, w->o.lines[2].indent + 1);
	assert_int_equal(wm_outline_above(&w->o, 4), 2);
	assert_int_equal(wm_outline_top(&w->o, 4), 0);
	wm_outline_close(&w->o, 0);
	assert_int_equal(w->o.nr, 3);
	assert_string_equal(name(w, 1), "SHOP");
	assert_int_equal(wm_outline_open(&w->o, 0), 0);
	assert_int_equal(w->nr_expanded, 1);
}

static void everything_opens_and_closes(void **state)
{
	struct world *w = *state;

	assert_int_equal(wm_outline_open_all(&w->o, UINT32_MAX), 0);
	assert_int_equal(w->o.nr, 13);
	assert_int_equal(w->nr_expanded, 2);
	assert_string_equal(name(w, 4), "deep");
	assert_string_equal(name(w, 6), "SHOP");
	assert_int_equal(wm_outline_close_all(&w->o), 0);
	assert_int_equal(w->o.nr, 3);
	assert_int_equal(wm_outline_open_all(&w->o, 1), 0);
	assert_int_equal(w->o.nr, 8);
	assert_string_equal(name(w, 7), "ls");
	assert_int_equal(wm_outline_open_all(&w->o, 1), 0);
	assert_int_equal(w->o.nr, 8);
}

static void filters_are_put_on_and_taken_back(void **state)
{
	struct world *w = *state;
	uint32_t comm = wm_outline_column(w->t, "comm");

	assert_int_equal(comm, 1);
	assert_int_equal(wm_outline_column(w->t, "dso"), WM_OUTLINE_ANY);
	assert_int_equal(wm_outline_filter(&w->o, comm, false, "sh"), 0);
	assert_int_equal(w->o.nr, 2);
	assert_int_equal(wm_outline_filter(&w->o, WM_OUTLINE_ANY, false, "READ"), 0);
	assert_int_equal(w->o.nr, 1);
	assert_string_equal(name(w, 0), "SHOP");
	assert_int_equal(wm_outline_open(&w->o, 0), 0);
	assert_int_equal(w->o.nr, 2); /* filters apply to rows, not to calls */
	assert_int_equal(wm_outline_unfilter(&w->o), 0);
	assert_int_equal(wm_outline_unfilter(&w->o), 0);
	assert_int_equal(wm_outline_unfilter(&w->o), -ENOENT);
	assert_int_equal(w->o.nr, 3);
	assert_int_equal(wm_outline_filter(&w->o, comm, true, "sh"), 0);
	assert_int_equal(w->o.nr, 1);
	assert_int_equal(wm_outline_unfilter(&w->o), 0);
	assert_int_equal(wm_outline_limit(&w->o, 0.25, 0), 0);
	assert_int_equal(w->o.nr_shown, 2);
	assert_int_equal(wm_outline_limit(&w->o, 0, 1), 0);
	assert_int_equal(w->o.nr_shown, 1);
	assert_int_equal(wm_outline_limit(&w->o, 0, 0), 0);
	for (uint32_t i = 0; i < WM_OUTLINE_FILTERS_MAX; i++)
		assert_int_equal(wm_outline_filter(&w->o, comm, false, "h"), 0);
	assert_int_equal(wm_outline_filter(&w->o, comm, false, "h"), -ENOSPC);
}

static void rows_below_rows_pass_by_what_is_above_and_below(void **state)
{
	struct world *w = *state;
	struct wm_result_row *sh = w->t->first, *part;

	sh->more = false;
	(void)add(&w->r, w->t, sh, 0.4, NULL, "[.] one");
	part = add(&w->r, w->t, sh, 0.1, NULL, "[.] two");
	(void)add(&w->r, w->t, part, 0.1, NULL, "[.] three");
	assert_int_equal(wm_outline_filter(&w->o, 2, false, "two"), 0);
	assert_int_equal(w->o.nr, 1);
	assert_int_equal(wm_outline_open_all(&w->o, 0), 0);
	assert_int_equal(w->o.nr, 3);
	assert_ptr_equal(w->o.lines[1].row, part);
	assert_int_equal(wm_outline_filter(&w->o, 1, true, "sh"), 0);
	assert_int_equal(w->o.nr, 1);
	assert_int_equal(wm_outline_filter(&w->o, 1, true, "ls"), 0);
	assert_int_equal(w->o.nr, 0);
	assert_int_equal(wm_outline_find(&w->o, "x", 0, 1), UINT32_MAX);
	assert_int_equal(wm_outline_next_hot(&w->o, 0), UINT32_MAX);
}

static void texts_are_found_around_the_end(void **state)
{
	struct world *w = *state;

	assert_int_equal(wm_outline_find(&w->o, "READ", 0, 1), 1);
	assert_int_equal(wm_outline_find(&w->o, "parse", 0, 1), 0);
	assert_int_equal(wm_outline_find(&w->o, "s", 0, -1), 2);
	assert_int_equal(wm_outline_find(&w->o, "main", 0, 1), UINT32_MAX);
	assert_int_equal(wm_outline_open_all(&w->o, UINT32_MAX), 0);
	assert_int_equal(wm_outline_find(&w->o, "main", 2, 1), 8);
	assert_int_equal(wm_outline_find(&w->o, "main", 8, 1), 2);
}

static void the_hottest_come_in_order(void **state)
{
	struct world *w = *state;

	w->t->last->share = 0.5;
	assert_int_equal(wm_outline_next_hot(&w->o, UINT32_MAX), 0);
	assert_int_equal(wm_outline_next_hot(&w->o, 0), 2);
	assert_int_equal(wm_outline_next_hot(&w->o, 2), 1);
	assert_int_equal(wm_outline_next_hot(&w->o, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)
	    TEST(calls_are_made_when_they_are_opened),
	    TEST(everything_opens_and_closes),
	    TEST(filters_are_put_on_and_taken_back),
	    TEST(rows_below_rows_pass_by_what_is_above_and_below),
	    TEST(texts_are_found_around_the_end),
	    TEST(the_hottest_come_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
