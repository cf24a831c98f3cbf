/* SPDX-License-Identifier: MIT */
/*
 * filter_test.c - compares the results of filters with those computed by another program
 * (filter_cases_test_kit.h), and checks the messages for invalid filters.
 */
#include "event/filter_test_kit.h"
#include "event/payload_test_kit.h"

static void test_cases(void **state)
{
	unsigned wrong = 0, yes = 0;

	(void)state;
	assert_true(NR(cases) >= 500);
	for (size_t i = 0; i < NR(cases); i++) {
		const struct record *r = &records[cases[i].record];
		size_t desc_bytes, padding = i % 8;
		unsigned char *desc = describe(r, &desc_bytes);
		struct wm_filter *f = link_text(cases[i].expression, desc, desc_bytes);
		unsigned char *payload = malloc(r->bytes + padding);

		memcpy(payload, r->payload, r->bytes);
		memset(payload + r->bytes, 0xff, padding);
		if (run(f, r, payload, r->bytes + padding) != cases[i].passes) {
			print_error("record %u: %s: should be %d\n", cases[i].record,
				    cases[i].expression, cases[i].passes);
			wrong++;
		}
		yes += cases[i].passes;
		free(payload);
		free(f);
		free(desc);
	}
	assert_int_equal(wrong, 0);
	assert_true(yes > 200 && NR(cases) - yes > 200);
}

/* --- parsing --------------------------------------------------------- */

static void test_parse_errors(void **state)
{
	static const struct {
		const char *text;
		unsigned line, column;
		const char *why;
	} wrong[] = {
	    {"", 1, 1, "empty"},
	    {" \t\n", 2, 1, "a value is expected"},
	    {"a >", 1, 4, "ends where a value"},
	    {"a > \n  )", 2, 3, "expected a value"},
	    {"a b", 1, 3, "expected an operator"},
	    {"a = 1", 1, 3, "use == to compare"},
	    {"(a", 1, 3, "expected ')' for the '(' at column 1"},
	    {"a)", 1, 2, "unmatched ')'"},
	    {"a[1", 1, 4, "expected ']' for the '[' at column 2"},
	    {"a[]", 1, 3, "expected a value"},
	    {"a[\"x\"]", 1, 3, "an index must be a number"},
	    {"(a)[1]", 1, 4, "directly follow"},
	    {"1[2]", 1, 2, "directly follow"},
	    {"a & & b", 1, 5, "expected a value"},
	    {"a === b", 1, 5, "use == to compare"},
	    {"a ? b", 1, 3, "unexpected '?'"},
	    {"a \x01 b", 1, 3, "unexpected byte 0x01"},
	    {"a; b", 1, 2, "unexpected ';'"},
	    {"a.b", 1, 2, "unexpected '.'"},
	    {"$uid == 1", 1, 1, "unknown context '$uid'"},
	    {"$ == 1", 1, 1, "use $pid"},
	    {"a == 'ab'", 1, 6, "one single-byte character"},
	    {"a == ''", 1, 6, "expected a character"},
	    {"a == 'x", 1, 6, "one single-byte character"},
	    {"a == '\xc3\xa4'", 1, 6, "one single-byte character"},
	    {"a == \"x", 1, 6, "not closed"},
	    {"a == \"x\\", 1, 9, "escape"},
	    {"a == \"\\q\"", 1, 8, "unknown escape \\q"},
	    {"a == \"\\x\"", 1, 8, "hexadecimal"},
	    {"a == \"\\400\"", 1, 8, "more than a byte"},
	    {"a == \"\\0\"", 1, 7, "byte 0"},
	    {"a == \"[a\\]]\"", 1, 9, "put ']' first"},
	    {"a == \"[a\\-z]\"", 1, 9, "put '-' last"},
	    {"\xc3\xa4 == \"\xc3\xb6", 1, 6, "not closed"},
	    {"0x", 1, 3, "hexadecimal digit"},
	    {"08", 1, 2, "octal"},
	    {"18446744073709551616", 1, 1, "64 bits"},
	    {"99999999999s", 1, 1, "too long"},
	    {"1.5ms", 1, 4, "whole number"},
	    {"10m", 1, 3, "unknown suffix 'm'"},
	    {"1e", 1, 2, "unknown suffix 'e'"},
	    {"10 ms", 1, 4, "expected an operator"},
	    {"\"x\"", 1, 1, "only be compared"},
	    {"a && \"x\"", 1, 6, "only be compared"},
	    {"\"x\" || a", 1, 1, "only be compared"},
	    {"!\"x\"", 1, 1, "only be compared"},
	    {"a + (\"x\")", 1, 6, "only be compared"},
	    {"\"x\" == \"x\"", 1, 5, "constants"},
	    {"a == 1 &&", 1, 10, "ends where"},
	    {"a ! b", 1, 3, "expected an operator"},
	};

	(void)state;
	for (size_t i = 0; i < NR(wrong); i++) {
		unsigned char *code = NULL;
		struct wm_diag diag = {0};
		size_t bytes = 0;
		int err = wm_filter_parse(wrong[i].text, &code, &bytes, &diag);

		if (err != -EINVAL || diag.line != wrong[i].line ||
		    diag.column != wrong[i].column || !strstr(diag.sentence, wrong[i].why))
			fail_msg("'%s': %d, %u:%u '%s'", wrong[i].text, err, diag.line, diag.column,
				 diag.sentence);
		assert_null(code);
		assert_int_equal(wm_filter_parse(wrong[i].text, &code, &bytes, NULL), -EINVAL);
	}
}

/* Returns `head` repeated `n` times, then `middle`, then `tail` repeated `n` times. */
static char *repeat(const char *head, const char *middle, const char *tail, unsigned n)
{
	char *text = calloc(1, n * (strlen(head) + strlen(tail)) + strlen(middle) + 1), *to = text;

	for (unsigned i = 0; i < n; i++)
		to = stpcpy(to, head);
	to = stpcpy(to, middle);
	for (unsigned i = 0; i < n; i++)
		to = stpcpy(to, tail);
	return text;
}

static void test_parse_limits(void **state)
{
	static const struct {
		const char *head, *middle, *tail;
		unsigned good; /* the largest number of repetitions that is valid; one more fails */
		const char *why;
	} limits[] = {
	    {"(", "a", ")", 100, "nesting"},
	    {"!", "a", "", 100, "nesting"},
	    {"a[", "1", "]", 100, "nesting"},
	    {"1+(", "a", ")", 31, "too complex"},
	    {"a&&(b||", "c", ")", 8, "on the right side"},
	    {" ", "a", "", WM_FILTER_TEXT_MAX - 2, "too long"},
	    {"a+", "a", "", 817, "too long"},
	};

	(void)state;
	for (size_t i = 0; i < NR(limits); i++) {
		for (unsigned extra = 0; extra < 2; extra++) {
			char *text = repeat(limits[i].head, limits[i].middle, limits[i].tail,
					    limits[i].good + extra);
			unsigned char *code = NULL;
			struct wm_diag diag = {0};
			size_t bytes;
			int err = wm_filter_parse(text, &code, &bytes, &diag);

			if (err != (extra ? -EINVAL : 0))
				fail_msg("'%s' %u times: %d %s", limits[i].head,
					 limits[i].good + extra, err, diag.sentence);
			if (extra)
				assert_non_null(strstr(diag.sentence, limits[i].why));
			else
				assert_true(bytes <= WM_FILTER_BYTES_MAX);
			free(code);
			free(text);
		}
	}
}

/* Long chains do not count as nesting. */
static void test_long_chain(void **state)
{
	const struct record *r = &records[0];
	size_t desc_bytes;
	unsigned char *desc = describe(r, &desc_bytes);
	char *text = repeat("rows>100&&", "ok", "", 300);
	struct wm_filter *f = link_text(text, desc, desc_bytes);

	(void)state;
	assert_true(run(f, r, r->payload, r->bytes));
	free(f);
	free(text);
	text = repeat("rows<100||ms>99||", "ok&&color==\"DARK*\"||1", "", 100);
	f = link_text(text, desc, desc_bytes);
	assert_true(run(f, r, r->payload, r->bytes));
	free(f);
	free(text);
	free(desc);
}

static void test_parse_random_text(void **state)
{
	static const char alphabet[] = "ab01xs .\"'\\[]()!~-+*/%&|^<>=$pid\xc3\xa4";
	uint64_t seed = 4242;
	unsigned good = 0;

	(void)state;
	for (int round = 0; round < 30000; round++) {
		char text[96];
		const char *from = cases[next_random(&seed) % NR(cases)].expression;
		unsigned char *code;
		struct wm_diag diag;
		size_t bytes, n;

		snprintf(text, sizeof(text), "%s", from);
		n = strlen(text);
		for (uint64_t k = next_random(&seed) % 4; n && k; k--)
			text[next_random(&seed) % n] =
			    alphabet[next_random(&seed) % (sizeof(alphabet) - 1)];
		if (!wm_filter_parse(text, &code, &bytes, &diag)) {
			good++;
			free(code);
			continue;
		}
		assert_true(diag.column >= 1 && diag.column <= n + 1);
		assert_true(*diag.sentence);
	}
	assert_true(good > 1000);
}

/* --- linking --------------------------------------------------------- */

static void test_link_errors(void **state)
{
	static const struct {
		const char *text;
		int err;
		unsigned column;
		const char *why;
	} wrong[] = {
	    {"row > 1", -ENOENT, 1, "test:query has no field 'row'; did you mean 'rows'"},
	    {"ok && zzzz9[0]", -ENOENT, 7, "no field 'zzzz9': it has rows, ms,"},
	    {"arr == 1", -EINVAL, 1, "choose one, as in arr[0]"},
	    {"1 == seq", -EINVAL, 6, "'seq' has several elements"},
	    {"blob", -EINVAL, 1, "'blob' has several elements"},
	    {"rows[0]", -EINVAL, 1, "'rows' has no elements"},
	    {"arr[4] == 1", -EINVAL, 1, "no element with this index"},
	    {"arr[-1] == 1", -EINVAL, 1, "no element with this index"},
	    {"name[8] == 1", -EINVAL, 1, "no element with this index"},
	    {"arr[ms] == 1", -EINVAL, 1, "must be an integer"},
	    {"arr[sql] == 1", -EINVAL, 1, "must be an integer"},
	    {"rows == \"x\"", -EINVAL, 6, "a string cannot be compared with a number"},
	    {"\"x*\" != ms", -EINVAL, 6, "a string cannot be compared with a number"},
	    {"sql == 1", -EINVAL, 5, "a string cannot be compared with a number"},
	    {"color == sql", -EINVAL, 7, "a string cannot be compared with a number"},
	    {"$comm == $pid", -EINVAL, 7, "a string cannot be compared with a number"},
	    {"sql < \"x\"", -EINVAL, 5, "== and != only"},
	    {"sql >= note", -EINVAL, 5, "== and != only"},
	    {"sql + 1", -EINVAL, 5, "only be compared"},
	    {"-sql", -EINVAL, 1, "only be compared"},
	    {"!sql", -EINVAL, 1, "only be compared"},
	    {"sql && ok", -EINVAL, 5, "only be compared"},
	    {"ok || $comm", -EINVAL, 7, "only be compared"},
	    {"note", -EINVAL, 1, "only be compared"},
	    {"ms & 1", -EINVAL, 4, "accept floating-point"},
	    {"1 << ratio", -EINVAL, 3, "accept floating-point"},
	    {"rows % ms", -EINVAL, 6, "accept floating-point"},
	    {"~ms", -EINVAL, 1, "accept floating-point"},
	    {"color == \"PINK\"", -EINVAL, 7, "'color' has no label 'PINK'"},
	    {"color == \"GREEM\"", -EINVAL, 7, "did you mean 'GREEN'"},
	    {"color == \"Z*\"", -EINVAL, 7, "no label 'Z*'"},
	    {"color < \"DARK*\"", -EINVAL, 7, "matches several values"},
	    {"color + 1 == \"RED\"", -EINVAL, 11, "a string cannot be compared"},
	};
	const struct record *r = &records[0];
	size_t desc_bytes;
	unsigned char *desc = describe(r, &desc_bytes);
	void *storage = malloc(WM_FILTER_STORAGE_MAX);

	(void)state;
	for (size_t i = 0; i < NR(wrong); i++) {
		unsigned char *code;
		struct wm_diag diag = {0};
		size_t bytes;
		int err;

		assert_int_equal(wm_filter_parse(wrong[i].text, &code, &bytes, NULL), 0);
		err = wm_filter_check(code, bytes, desc, desc_bytes, &diag);
		if (err != wrong[i].err || diag.column != wrong[i].column ||
		    !strstr(diag.sentence, wrong[i].why))
			fail_msg("'%s': %d, %u '%s'", wrong[i].text, err, diag.column,
				 diag.sentence);
		assert_int_equal(wm_filter_check(code, bytes, desc, desc_bytes, NULL), err);
		assert_int_equal(
		    wm_filter_link(code, bytes, desc, desc_bytes, storage, WM_FILTER_STORAGE_MAX),
		    err);
		assert_int_equal(wm_filter_check(code, bytes, desc, desc_bytes - 1, &diag),
				 -EBADMSG);
		free(code);
	}
	free(storage);
	free(desc);
}

/* Storage that is too small is refused and never overrun; the required size suffices. */
static void test_storage(void **state)
{
	static const char *const texts[] = {
	    "rows > 100", "color == \"DARK*\" && note == \"a*\" && wide < 0 && ms > 1"};
	const struct record *r = &records[0];
	size_t desc_bytes, bytes;
	unsigned char *desc = describe(r, &desc_bytes), *code;

	(void)state;
	for (size_t i = 0; i < NR(texts); i++) {
		uint64_t whole[512];
		int64_t need, got = -ENOSPC;

		assert_int_equal(wm_filter_parse(texts[i], &code, &bytes, NULL), 0);
		need = wm_filter_link(code, bytes, desc, desc_bytes, whole, sizeof(whole));
		assert_true(need > 0 && need % 8 == 0);
		for (int64_t n = 0; n < need; n++) {
			void *storage = malloc(n ? (size_t)n : 1);

			assert_int_equal(
			    wm_filter_link(code, bytes, desc, desc_bytes, storage, (size_t)n),
			    -ENOSPC);
			free(storage);
		}
		/*
		 * The linker looks up names in unused storage, so it needs a little more than the
		 * result.
		 */
		for (int64_t n = need; got < 0 && n < need + 512; n += 8) {
			void *storage = malloc((size_t)n);

			got = wm_filter_link(code, bytes, desc, desc_bytes, storage, (size_t)n);
			free(storage);
		}
		assert_int_equal(got, need);
		assert_int_equal(wm_filter_link(code, bytes, desc, desc_bytes, (char *)whole + 4,
						sizeof(whole) - 4),
				 -EINVAL);
		free(code);
	}
	free(desc);
}

/* Fields are found under the names that class.c gives them. */
static void test_field_names(void **state)
{
	int64_t values[] = {WAYMARK_ARG('i', 4), WAYMARK_ARG('i', 4), WAYMARK_ARG('s', 1),
			    WAYMARK_ARG('i', 4), WAYMARK_ARG('u', 4)};
	struct wm_desc_spec marker = {.provider = "p",
				      .name = "m",
				      .kind = WAYMARK_KIND_MARKER,
				      .schema = "n, q->m, text, 5, x[2]",
				      .print = "x %d x %d sql %s %d id 0x%x",
				      .values = values,
				      .nr_values = NR(values)};
	static const unsigned char payload[] = {1, 0, 0, 0, 2, 0, 0,    0,    'h',  'i', 0,
						4, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
	static const char *const yes[] = {"x == 1",           "x_2 == 2",
					  "sql == \"hi\"",    "arg4 == 4",
					  "id == 0xffffff00", "x + x_2 == 3 && id > 0"};
	static const char *const no[] = {"n",  "x_1", "x_3", "x_02", "text",
					 "x2", "q_m", "i",   "idd"};
	struct record r = {.payload = payload, .bytes = sizeof(payload)};
	unsigned char *desc, *code;
	size_t desc_bytes, bytes;

	(void)state;
	assert_int_equal(wm_desc_build(&marker, &desc, &desc_bytes), 0);
	for (size_t i = 0; i < NR(yes); i++) {
		struct wm_filter *f = link_text(yes[i], desc, desc_bytes);

		if (i != 4 && i != 5)
			assert_true(run(f, &r, payload, sizeof(payload)));
		free(f);
	}
	for (size_t i = 0; i < NR(no); i++) {
		assert_int_equal(wm_filter_parse(no[i], &code, &bytes, NULL), 0);
		assert_int_equal(wm_filter_check(code, bytes, desc, desc_bytes, NULL), -ENOENT);
		free(code);
	}
	free(desc);
}

/* A filter finds every name that wm_class_parse() gives, at the same place. */
static void test_every_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR(records); i++) {
		const struct record *r = &records[i];
		size_t desc_bytes;
		unsigned char *desc = describe(r, &desc_bytes);
		struct wm_payload_cursor cursor = {.data = r->payload, .bytes = r->bytes};
		struct wm_class *c;
		struct wm_value v;
		char text[512];

		assert_int_equal(wm_class_parse(desc, desc_bytes, NULL, &c, NULL), 0);
		cursor.class = c;
		while (wm_payload_next(&cursor, &v) > 0) {
			bool scalar = v.field->shape == WM_SHAPE_SCALAR;
			struct wm_filter *f;

			if (v.field->scalar == WM_SCALAR_FLOAT || !v.count)
				continue;
			snprintf(text, sizeof(text), "%s%s == %s%lld", v.field->name,
				 scalar ? "" : "[0]",
				 v.field->bytes == 8 && v.field->scalar != WM_SCALAR_SIGNED
				     ? "0xffffffffffffffff & "
				     : "",
				 (long long)wm_value_integer(&v, 0));
			/*
			 * C parses a & b == c as a & (b == c): compute that here for unsigned
			 * fields.
			 */
			if (strchr(text, '&'))
				snprintf(text, sizeof(text), "%s%s == %llu", v.field->name,
					 scalar ? "" : "[0]",
					 (unsigned long long)wm_value_integer(&v, 0));
			f = link_text(text, desc, desc_bytes);
			if (!run(f, r, r->payload, r->bytes))
				fail_msg("record %zu: %s", i, text);
			free(f);
		}
		wm_class_destroy(c);
		free(desc);
	}
}

/*
 * The values of a thousand labels with one prefix exceed a small program's storage; with enough
 * storage all are found.
 */
static void test_many_labels(void **state)
{
	enum { NR_LABELS = 1000 };
	char *schema = calloc(1, 16 * NR_LABELS);
	int64_t *values = calloc(NR_LABELS, sizeof(*values));
	size_t n = (size_t)sprintf(schema, "e:ei4{"), desc_bytes, bytes;
	unsigned char *desc, *code;
	struct wm_filter *f;

	(void)state;
	for (int i = 0; i < NR_LABELS; i++) {
		n += (size_t)sprintf(schema + n, "%s%d#,", i % 2 ? "odd" : "even", i);
		values[i] = 3 * i;
	}
	strcpy(schema + n - 1, "}");
	desc = wm_desc_simple("p", "e", schema, values, NR_LABELS, &desc_bytes);
	f = link_text("e == \"odd*\"", desc, desc_bytes);
	for (int32_t i = 0; i < 3 * NR_LABELS; i++)
		assert_int_equal(wm_filter_run(f, (unsigned char *)&i, 4, NULL), i % 6 == 3);
	free(f);
	assert_int_equal(wm_filter_parse("e == \"odd*\"", &code, &bytes, NULL), 0);
	for (size_t room = 320; room < 4096; room += 88) {
		void *storage = malloc(room);

		assert_int_equal(wm_filter_link(code, bytes, desc, desc_bytes, storage, room),
				 -ENOSPC);
		free(storage);
	}
	free(code);
	free(desc);
	free(schema);
	free(values);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cases),
	    cmocka_unit_test(test_parse_errors),
	    cmocka_unit_test(test_parse_limits),
	    cmocka_unit_test(test_long_chain),
	    cmocka_unit_test(test_parse_random_text),
	    cmocka_unit_test(test_link_errors),
	    cmocka_unit_test(test_storage),
	    cmocka_unit_test(test_field_names),
	    cmocka_unit_test(test_every_field),
	    cmocka_unit_test(test_many_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
