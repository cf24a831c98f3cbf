/* SPDX-License-Identifier: MIT */
/* result_view_test.c - results as text and JSON, byte for byte. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/result_view.h"

static const struct wm_result_column columns[] = {
    {"self", "Self", WM_CELL_SHARE},
    {"events", "Events", WM_CELL_COUNT},
    {"name", "Name", WM_CELL_TEXT},
};

static struct wm_result_row *add(struct wm_result *r, struct wm_result_table *t, double share,
				 uint64_t events, const char *name)
{
	union wm_cell *cells;
	struct wm_result_row *row = wm_result_row(r, t, NULL, &cells);

	cells[0].f = share;
	cells[1].u = events;
	cells[2].text = name;
	row->weight = events;
	return row;
}

static void make(struct wm_result *r)
{
	struct wm_result_table *t;
	struct wm_result_row *row, *call;

	wm_result_init(r, "profile");
	wm_result_note(r, WM_NOTE_LOSS, "lost", "%d events lost", 3);
	wm_result_note(r, WM_NOTE_FACT, "trace", "a\x1b[31m");
	t = wm_result_table(r, "profile", "two rows", columns, 3);
	row = add(r, t, 0.75, 1200, "\x1b]0;x\x07long \xff");
	call = wm_result_call(r, row, "parse", 900, 0.75);
	(void)wm_result_call(r, call, "read", 900, 0.75);
	call = wm_result_call(r, row, "write", 300, 0.25);
	(void)wm_result_call(r, call, "flush", 100, 0.10);
	(void)add(r, t, 0.25, 4, NULL);
	t->nr_left_out = 7;
	t->share_left_out = 0.01;
}

static void text_is_aligned_and_harmless(void **state)
{
	struct wm_result_view view = {0};
	struct wm_result r;
	struct wm_text t;

	make(&r);
	wm_text_init(&t);
	wm_view_result_text(&t, &r, &view);
	assert_string_equal(t.data, "# trace      a\\x1b[31m\n"
				    "# lost: 3 events lost\n"
				    "\n"
				    "# two rows\n"
				    "  Self  Events  Name\n"
				    "75.00%    1200  \\x1b]0;x\\x07long \\xff\n"
				    "        |--75.00%--parse\n"
				    "        |          read\n"
				    "        `--25.00%--write\n"
				    "                   `--10.00%--flush\n"
				    "\n"
				    "25.00%       4\n"
				    "# and 7 rows below the limit, 1.00%\n");
	wm_text_done(&t);
	wm_result_done(&r);
}

static void lines_end_at_the_terminals_edge(void **state)
{
	struct wm_result_view view = {.columns = 20, .max_rows = 1};
	struct wm_result r;
	struct wm_text t;

	make(&r);
	wm_text_init(&t);
	wm_view_result_text(&t, &r, &view);
	assert_null(strstr(t.data, "25.00%       4"));
	for (char *line = strstr(t.data, "  Self"), *end; line && (end = strchr(line, '\n'));
	     line = end[1] ? end + 1 : NULL)
		assert_true(end - line <= 20 || *line == '#');
	wm_text_done(&t);
	wm_result_done(&r);
}

static void json_has_everything(void **state)
{
	struct wm_result r;
	char *out = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&out, &bytes);

	make(&r);
	wm_view_result_json(f, "report", &r);
	(void)fclose(f);
	assert_ptr_equal(
	    strstr(out, "{\"schema\":\"waymark-report\",\"schema_version\":1,\"analysis\":"), out);
	assert_non_null(
	    strstr(out, "{\"kind\":\"loss\",\"name\":\"lost\",\"text\":\"3 events lost\"}"));
	assert_non_null(
	    strstr(out, "\"self\":0.75,\"events\":1200,\"name\":\"\\u001b]0;x\\u0007long "));
	assert_non_null(
	    strstr(out, "{\"depth\":2,\"name\":\"read\",\"weight\":900,\"share\":0.75}"));
	assert_non_null(strstr(out, "\"name\":null"));
	assert_non_null(strstr(out, "\"rows_left_out\":7"));
	free(out);
	wm_result_done(&r);
}

static void cells_have_units(void **state)
{
	static const struct {
		enum wm_cell_kind kind;
		union wm_cell cell;
		const char *text;
	} cases[] = {
	    {WM_CELL_BYTES, {.u = 1023}, "1023 B"},
	    {WM_CELL_BYTES, {.u = 1536}, "1.50 KiB"},
	    {WM_CELL_BYTES, {.u = UINT64_MAX}, "16384 PiB"},
	    {WM_CELL_NS, {.s = 999}, "999 ns"},
	    {WM_CELL_NS, {.s = -1500}, "-1.50 us"},
	    {WM_CELL_NS, {.s = INT64_MAX}, "9223372037 s"},
	    {WM_CELL_TIME, {.s = -1}, "-0.000000001"},
	    {WM_CELL_SHARE, {.f = 1}, "100.00%"},
	    {WM_CELL_SHARE, {.f = NAN}, ""},
	    {WM_CELL_CHANGE, {.f = -0.005}, "-0.50%"},
	    {WM_CELL_CHANCE, {.f = 1.47456e-71}, "<0.0001"},
	    {WM_CELL_CHANCE, {.f = 0.0001}, "0.0001"},
	    {WM_CELL_CHANCE, {.f = 0.04567}, "0.0457"},
	    {WM_CELL_CHANCE, {.f = 1}, "1.0000"},
	    {WM_CELL_CHANCE, {.f = NAN}, ""},
	    {WM_CELL_ADDRESS, {.u = 0x1f}, "0x000000000000001f"},
	    {WM_CELL_TEXT, {.text = NULL}, ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wm_text t;

		wm_text_init(&t);
		wm_view_result_cell(&t, cases[i].kind, &cases[i].cell);
		assert_string_equal(t.data ? t.data : "", cases[i].text);
		wm_text_done(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(text_is_aligned_and_harmless),
	    cmocka_unit_test(lines_end_at_the_terminals_edge),
	    cmocka_unit_test(json_has_everything),
	    cmocka_unit_test(cells_have_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
