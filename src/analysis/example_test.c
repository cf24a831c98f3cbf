/* SPDX-License-Identifier: MIT */
/*
 * example_test.c - the complete analysis that CONTRIBUTING.md describes, with
 * its test. It finds the longest pauses between events. To add it to waymark,
 * move everything above "the test" to src/analysis/pauses.c, and add
 * `ANALYSIS(wm_analysis_pauses)` to the table in src/analysis/analysis.h.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/pass.h"

#define PAUSES_KEPT 10

struct pauses {
	struct wm_pass *pass;
	int64_t last_ns; /* time of the previous event; WM_TIME_NONE: none */
	struct pause {
		int64_t begin_ns, ns;
		/* thread whose event ended the pause; NULL: unknown */
		const struct wm_task *task;
	} list[PAUSES_KEPT]; /* sorted, the longest first */
};

static int pauses_create(struct wm_pass *pass, const void *values, void **ret, struct wm_diag *diag)
{
	struct pauses *p = calloc(1, sizeof(*p));

	*ret = p;
	if (!p)
		return -ENOMEM;
	p->pass = pass;
	p->last_ns = WM_TIME_NONE;
	return 0;
}

static int pauses_feed(void *own, const struct wm_sight *s)
{
	struct pauses *p = own;
	int64_t last_ns = p->last_ns;
	struct pause new;

	if (s->event->ns == WM_TIME_NONE)
		return 0;
	p->last_ns = s->event->ns;
	if (last_ns == WM_TIME_NONE)
		return 0;
	new = (struct pause){last_ns, s->event->ns - last_ns, s->task};
	for (int i = 0; i < PAUSES_KEPT; i++)
		if (new.ns > p->list[i].ns) {
			struct pause shorter = p->list[i];

			p->list[i] = new;
			new = shorter;
		}
	return 0;
}

static int pauses_finish(void *own, struct wm_result *r)
{
	static const struct wm_result_column columns[] = {
	    {"pause", "Pause", WM_CELL_NS},
	    {"begin", "Begins", WM_CELL_TIME},
	    {"comm", "Ended by", WM_CELL_TEXT},
	};
	const struct pauses *p = own;
	struct wm_result_table *t = wm_result_table(r, "pauses", "longest pauses", columns, 3);
	union wm_cell *cells;

	for (int i = 0; t && i < PAUSES_KEPT && p->list[i].ns > 0; i++) {
		if (!wm_result_row(r, t, NULL, &cells))
			return -ENOMEM;
		cells[0].s = p->list[i].ns;
		cells[1].s = p->list[i].begin_ns;
		cells[2].text = wm_state_comm(&p->pass->state, p->list[i].task);
	}
	return t ? 0 : -ENOMEM;
}

const struct wm_analysis wm_analysis_pauses = {
    .name = "pauses",
    .summary = "the longest times without an event",
    .create = pauses_create,
    .feed = pauses_feed,
    .finish = pauses_finish,
    .destroy = free,
};

/* --- the test ------------------------------------------------------------------------ */

static void pauses_are_found(void **state)
{
	static const int64_t times[] = {100, WM_TIME_NONE, 110, 1110, 1111, 3111};
	const struct wm_analysis *a = &wm_analysis_pauses;
	struct wm_pass pass = {0};
	struct wm_result r;
	void *own;

	assert_int_equal(wm_state_init(&pass.state, NULL, 0), 0);
	assert_int_equal(a->create(&pass, NULL, &own, NULL), 0);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct wm_event e = {.ns = times[i]};

		assert_int_equal(a->feed(own, &(struct wm_sight){&e, 0, NULL}), 0);
	}
	wm_result_init(&r, a->name);
	assert_int_equal(a->finish(own, &r), 0);
	assert_int_equal(r.tables->nr_rows, 4);
	assert_int_equal(r.tables->first->cells[0].s, 2000);
	assert_int_equal(r.tables->first->cells[1].s, 1111);
	assert_int_equal(r.tables->first->next->cells[0].s, 1000);
	assert_string_equal(r.tables->first->cells[2].text, "");
	wm_result_done(&r);
	a->destroy(own);
	wm_state_done(&pass.state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(pauses_are_found)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
