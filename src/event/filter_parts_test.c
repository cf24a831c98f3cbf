/* SPDX-License-Identifier: MIT */
/*
 * filter_parts_test.c - splits filters and joins the parts again: checks the parts found, that
 * together they yield the result of the whole filter, that the whole filter implies each selection,
 * and damaged bytecode.
 */
#include "event/filter_test_kit.h"

#include "event/filter_code.h"
#include "event/filter_parts.h"

static int parts_of(const char *text, struct wm_filter_part *parts, unsigned char **ret_code,
		    size_t *ret_bytes)
{
	assert_int_equal(wm_filter_parse(text, ret_code, ret_bytes, NULL), 0);
	return wm_filter_parts(*ret_code, *ret_bytes, parts);
}

static void test_how_many(void **state)
{
	static const struct {
		const char *text;
		int nr;
	} rows[] = {
	    {"a", 1},
	    {"a && b", 2},
	    {"a || b && c", 1},
	    {"(a || b) && c", 2},
	    {"!(a && b)", 1},
	    {"(a && b) + 1", 1},
	    {"a && (b && (c || d && e)) && f", 4},
	    {"a && b == \"x && y\" && (c && d) == 1 && e", 4},
	};
	struct wm_filter_part parts[WM_FILTER_PARTS_MAX];

	(void)state;
	for (size_t i = 0; i < NR(rows); i++) {
		unsigned char *code;
		size_t bytes;
		int nr = parts_of(rows[i].text, parts, &code, &bytes);

		if (nr != rows[i].nr)
			fail_msg("%s: %d parts", rows[i].text, nr);
		free(code);
	}
}

static bool run_code(const unsigned char *code, size_t bytes, const struct record *r)
{
	size_t desc_bytes;
	unsigned char *desc = describe(r, &desc_bytes);
	void *storage = malloc(WM_FILTER_STORAGE_MAX);
	bool passes;

	assert_true(wm_filter_link(code, bytes, desc, desc_bytes, storage, WM_FILTER_STORAGE_MAX) >
		    0);
	passes = wm_filter_run(storage, r->payload, r->bytes, &r->contexts);
	free(storage);
	free(desc);
	return passes;
}

/* Tests all pairs of expressions that the table has for the same record. */
static void test_answers(void **state)
{
	unsigned tried = 0;

	(void)state;
	for (size_t i = 0; i + 1 < NR(cases); i++) {
		struct wm_filter_part parts[WM_FILTER_PARTS_MAX];
		const struct record *r = &records[cases[i].record];
		unsigned char *code, *joined;
		size_t bytes, joined_bytes;
		char text[1024];
		int nr;

		if (cases[i].record != cases[i + 1].record)
			continue;
		(void)snprintf(text, sizeof(text), "(%s) && (%s)", cases[i].expression,
			       cases[i + 1].expression);
		if (wm_filter_parse(text, &code, &bytes, NULL))
			continue; /* the filter is too long for the buffer */
		nr = wm_filter_parts(code, bytes, parts);
		assert_in_range(nr, 2, WM_FILTER_PARTS_MAX);
		assert_int_equal(
		    wm_filter_of_parts(code, bytes, parts, (uint32_t)nr, &joined, &joined_bytes),
		    0);
		assert_int_equal(run_code(joined, joined_bytes, r),
				 cases[i].passes && cases[i + 1].passes);
		free(joined);
		assert_int_equal(
		    wm_filter_of_parts(code, bytes, parts + nr - 1, 1, &joined, &joined_bytes), 0);
		assert_true(run_code(joined, joined_bytes, r) ||
			    !(cases[i].passes && cases[i + 1].passes));
		free(joined);
		free(code);
		tried++;
	}
	assert_true(tried > 100);
}

/* A fault in a part is reported at the position where the user typed it. */
static void test_columns(void **state)
{
	struct wm_filter_part parts[WM_FILTER_PARTS_MAX];
	struct wm_diag diag = {0};
	unsigned char *code, *joined, *desc;
	size_t bytes, joined_bytes, desc_bytes;

	(void)state;
	desc = wm_desc_simple("test", "e", "n:i4", NULL, 0, &desc_bytes);
	assert_int_equal(parts_of("n > 1 && n < 5 && m == 2", parts, &code, &bytes), 3);
	parts[1] = parts[2];
	assert_int_equal(wm_filter_of_parts(code, bytes, parts, 2, &joined, &joined_bytes), 0);
	assert_int_equal(wm_filter_check(joined, joined_bytes, desc, desc_bytes, &diag), -ENOENT);
	assert_int_equal(diag.column, 19);
	free(joined);
	free(code);
	free(desc);
}

/* Parts beyond the limit are not separated, and none is lost. */
static void test_many(void **state)
{
	struct wm_filter_part parts[WM_FILTER_PARTS_MAX];
	char text[2000] = "n";
	unsigned char *code;
	size_t bytes;

	(void)state;
	for (int i = 0; i < 100; i++)
		(void)strcat(text, " && n");
	assert_int_equal(parts_of(text, parts, &code, &bytes), WM_FILTER_PARTS_MAX);
	assert_int_equal(parts[0].from, 0);
	for (unsigned i = 1; i < WM_FILTER_PARTS_MAX; i++)
		assert_int_equal(parts[i].from, parts[i - 1].to + 3);
	free(code);
}

static void test_damaged(void **state)
{
	static const char text[] = "a && (b || c) && d == \"x\" && (e && f)";
	struct wm_filter_part parts[WM_FILTER_PARTS_MAX];
	uint64_t seed = 7;
	unsigned char *code, *joined;
	size_t bytes, joined_bytes;

	(void)state;
	assert_int_equal(wm_filter_parse(text, &code, &bytes, NULL), 0);
	for (int i = 0; i < 20000; i++) {
		unsigned char *bad = exact_copy(code, bytes);
		int nr;

		for (int n = 0; n < 3; n++)
			bad[12 + next_random(&seed) % (bytes - 12)] =
			    (unsigned char)next_random(&seed);
		nr = wm_filter_parts(bad, bytes, parts);
		if (nr > 0 &&
		    !wm_filter_of_parts(bad, bytes, parts, (uint32_t)nr, &joined, &joined_bytes))
			free(joined);
		free(bad);
	}
	parts[0] = (struct wm_filter_part){4, 2};
	assert_int_equal(wm_filter_of_parts(code, bytes, parts, 1, &joined, &joined_bytes),
			 -EBADMSG);
	parts[0] = (struct wm_filter_part){0, 9000};
	assert_int_equal(wm_filter_of_parts(code, bytes, parts, 1, &joined, &joined_bytes),
			 -EBADMSG);
	free(code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_how_many), cmocka_unit_test(test_answers),
	    cmocka_unit_test(test_columns),  cmocka_unit_test(test_many),
	    cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
