/* SPDX-License-Identifier: MIT */
/* option_test.c - tests option tables, number parsing, and nearest names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/number.h"
#include "base/option.h"

#define EVENTS_MAX 8

struct values {
	bool json, all;
	const char *output, *snapshot, *graph;
	int64_t count;
	uint64_t buffer_bytes, wait_ns;
	int mode;
	unsigned nr_events;
	struct {
		const char *glob, *filter;
	} events[EVENTS_MAX];
};

static int on_event(const struct wm_option *o, const char *argument, void *data,
		    struct wm_diag *diag)
{
	struct values *v = data;

	if (v->nr_events == EVENTS_MAX)
		return -E2BIG;
	v->events[v->nr_events++].glob = argument;
	return 0;
}

static int on_filter(const struct wm_option *o, const char *argument, void *data,
		     struct wm_diag *diag)
{
	struct values *v = data;

	if (!v->nr_events)
		return wm_diag_set(diag, -EINVAL, NULL, -1, "no -e before it");
	v->events[v->nr_events - 1].filter = argument;
	return 0;
}

static const struct wm_option table[] = {
    {.name = "json", .help = "print JSON", WM_OPTION_TO_FLAG(struct values, json)},
    {.name = "output",
     .letter = 'o',
     .argument = "DIR",
     .help = "where to write",
     WM_OPTION_TO_TEXT(struct values, output)},
    {.name = "snapshot",
     .argument = "DIR",
     .optional = true,
     .help = "take a snapshot",
     WM_OPTION_TO_TEXT(struct values, snapshot)},
    WM_OPTION_HEADING("Limits"),
    {.name = "count",
     .letter = 'c',
     .argument = "N",
     .initial = "3",
     .min = 1,
     .max = 100,
     .help = "how many of the things that this rather long sentence is about there may be, "
	     "so that it must be wrapped",
     WM_OPTION_TO_INTEGER(struct values, count)},
    {.name = "buffer-size",
     .letter = 'b',
     .argument = "SIZE",
     .initial = "64M",
     .min = 65536,
     .max = 1ll << 36,
     .help = "memory per process",
     WM_OPTION_TO_SIZE(struct values, buffer_bytes)},
    {.name = "wait",
     .argument = "TIME",
     .initial = "100ms",
     .help = "wait so long",
     WM_OPTION_TO_DURATION(struct values, wait_ns)},
    {.name = "mode",
     .argument = "MODE",
     .choices = "discard|overwrite|block",
     .initial = "overwrite",
     .help = "when full",
     WM_OPTION_TO_CHOICE(struct values, mode)},
    {.name = "event", .letter = 'e', .argument = "GLOB", .kind = WM_OPTION_CALL, .call = on_event},
    {.name = "filter", .argument = "EXPR", .kind = WM_OPTION_CALL, .call = on_filter},
    {.name = "filler",
     .hidden = true,
     .kind = WM_OPTION_FLAG,
     .offset = offsetof(struct values, all)},
    {.name = "graph",
     .letter = 'g',
     .argument = "KIND",
     .hidden = true,
     .optional = true,
     .choices = "fp|dwarf",
     WM_OPTION_TO_TEXT(struct values, graph)},
    {.letter = 'a', .help = "all of them", WM_OPTION_TO_FLAG(struct values, all)},
    WM_OPTION_END,
};

#define ARGS_MAX 16
static char *args[ARGS_MAX];
static char words[1024];
static int first;
static struct wm_diag diag;

/* Parses `line`, split at spaces, with "VERB" as argv[0]. */
static int parse(const char *line, enum wm_option_order order, struct values *v)
{
	int nr = 0;

	snprintf(words, sizeof(words), "VERB %s", line);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		args[nr++] = word;
	args[nr] = NULL;
	memset(v, 0, sizeof(*v));
	memset(&diag, 0, sizeof(diag));
	first = -1;
	return wm_option_parse(table, order, nr, args, v, &first, &diag);
}

static void test_optional_word(void **state)
{
	static const struct {
		const char *line, *graph, *rest;
	} cases[] = {
	    {"-g cmd", "", "cmd"},
	    {"-g fp cmd", "fp", "cmd"},
	    {"-ag dwarf,77 cmd x", "dwarf,77", "cmd"},
	    {"--graph dwarf cmd", "dwarf", "cmd"},
	    {"--graph=odd fp", "odd", "fp"},
	    {"-gfp dwarf", "fp", "dwarf"},
	    {"-g -- fp", "", "fp"},
	    {"-g dwarfs", "", "dwarfs"},
	    {"-g", "", NULL},
	};
	struct values v;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(cases[i].line, WM_OPTION_FIRST, &v), 0);
		assert_string_equal(v.graph, cases[i].graph);
		if (cases[i].rest)
			assert_string_equal(args[first], cases[i].rest);
		else
			assert_null(args[first]);
	}
}

static void test_defaults(void **state)
{
	struct values v;

	assert_int_equal(parse("", WM_OPTION_ANYWHERE, &v), 0);
	assert_int_equal(v.count, 3);
	assert_int_equal(v.buffer_bytes, 64 << 20);
	assert_int_equal(v.wait_ns, 100000000);
	assert_int_equal(v.mode, 1);
	assert_false(v.json);
	assert_null(v.output);
	assert_int_equal(first, 1);
}

static void test_every_kind(void **state)
{
	struct values v;

	assert_int_equal(
	    parse("--json -o d --count=7 -b1G --wait 2s --mode block -a x --snapshot y",
		  WM_OPTION_ANYWHERE, &v),
	    0);
	assert_true(v.json && v.all);
	assert_string_equal(v.output, "d");
	assert_int_equal(v.count, 7);
	assert_int_equal(v.buffer_bytes, 1 << 30);
	assert_int_equal(v.wait_ns, 2000000000);
	assert_int_equal(v.mode, 2);
	assert_string_equal(v.snapshot, "");
	/* positional arguments were moved after the options */
	assert_string_equal(args[first], "x");
	assert_string_equal(args[first + 1], "y");
	assert_null(args[first + 2]);
	assert_int_equal(parse("--snapshot=z", WM_OPTION_ANYWHERE, &v), 0);
	assert_string_equal(v.snapshot, "z");
}

static void test_repeated_and_abbreviated(void **state)
{
	struct values v;

	assert_int_equal(parse("-c 1 -c 2 --out a --outp=b -ac 9", WM_OPTION_ANYWHERE, &v), 0);
	assert_int_equal(v.count, 9);
	assert_string_equal(v.output, "b");
	assert_true(v.all);
}

static void test_order_of_calls(void **state)
{
	struct values v;

	assert_int_equal(
	    parse("-e a --filter x>1 -eb --event=c --filter y", WM_OPTION_ANYWHERE, &v), 0);
	assert_int_equal(v.nr_events, 3);
	assert_string_equal(v.events[0].filter, "x>1");
	assert_null(v.events[1].filter);
	assert_string_equal(v.events[2].glob, "c");
	assert_string_equal(v.events[2].filter, "y");
}

static void test_command_keeps_its_options(void **state)
{
	struct values v;

	assert_int_equal(parse("--json ls --mode -a", WM_OPTION_FIRST, &v), 0);
	assert_true(v.json);
	assert_false(v.all);
	assert_string_equal(args[first], "ls");
	assert_string_equal(args[first + 2], "-a");
	assert_int_equal(parse("-c 5 -- --json", WM_OPTION_FIRST, &v), 0);
	assert_string_equal(args[first], "--json");
	assert_false(v.json);
	assert_int_equal(parse("x -- --json", WM_OPTION_ANYWHERE, &v), 0);
	assert_string_equal(args[first], "x");
	assert_string_equal(args[first + 1], "--json");
}

static void test_help_is_asked(void **state)
{
	struct values v;

	assert_int_equal(parse("--json --help", WM_OPTION_ANYWHERE, &v), 1);
	assert_int_equal(parse("-h", WM_OPTION_ANYWHERE, &v), 1);
	assert_int_equal(parse("ls -h", WM_OPTION_FIRST, &v), 0);
}

static void test_errors_name_the_hint(void **state)
{
	static const struct {
		const char *line, *sentence;
	} cases[] = {
	    {"--bufer-size 1M", "unknown option '--bufer-size'; did you mean '--buffer-size'?"},
	    {"--xyzzy=1", "unknown option '--xyzzy'"},
	    {"-z", "unknown option '-z'"},
	    {"-az", "unknown option '-z'"},
	    {"-filter x", "unknown option '-f'; did you mean '--filter'?"},
	    {"-output x --json", NULL}, /* parsed as -o with the argument "utput" */
	    {"--fil x", "option '--fil' is ambiguous: '--filter', '--filler'"},
	    {"-c", "option '-c' needs an argument: N"},
	    {"x --output", "option '--output' needs an argument: DIR"},
	    {"--json=1", "option '--json' takes no argument"},
	    {"--help=1", "option '--help' takes no argument"},
	    {"-c0", "option '--count' needs a whole number from 1 to 100, not '0'"},
	    {"-c five", "option '--count' needs a whole number from 1 to 100, not 'five'"},
	    {"-b 1Q", "option '--buffer-size' needs a size such as 64M, from 64K to 64G, not '1Q'"},
	    {"-b 1K", "option '--buffer-size' needs a size such as 64M, from 64K to 64G, not '1K'"},
	    {"--wait soon", "option '--wait' needs a duration such as 100ms or 2s, not 'soon'"},
	    {"--mode x", "option '--mode' needs one of discard, overwrite, block, not 'x'"},
	    {"--mode dicsard",
	     "option '--mode' needs one of discard, overwrite, block, not 'dicsard'; "
	     "did you mean 'discard'?"},
	    {"--filter x", "option '--filter': no -e before it"},
	};
	struct values v;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int err = parse(cases[i].line, WM_OPTION_ANYWHERE, &v);

		if (!cases[i].sentence) {
			assert_int_equal(err, 0);
			continue;
		}
		assert_int_equal(err, -EINVAL);
		assert_string_equal(diag.sentence, cases[i].sentence);
	}
	assert_int_equal(parse("-ea -ea -ea -ea -ea -ea -ea -ea -ea", WM_OPTION_ANYWHERE, &v),
			 -EINVAL);
	assert_string_equal(diag.sentence, "option '--event': Argument list too long");
}

static void test_long_words_do_not_overflow(void **state)
{
	static char word[4096];
	char *argv[] = {(char *)"VERB", word, NULL};
	struct values v = {0};

	memset(word, 'x', sizeof(word) - 1);
	memcpy(word, "--", 2);
	assert_int_equal(wm_option_parse(table, WM_OPTION_ANYWHERE, 2, argv, &v, &first, &diag),
			 -EINVAL);
	memcpy(word, "--mode=", 7);
	assert_int_equal(wm_option_parse(table, WM_OPTION_ANYWHERE, 2, argv, &v, &first, &diag),
			 -EINVAL);
	assert_non_null(strstr(diag.sentence, "one of discard"));
}

static void test_help_text(void **state)
{
	static const char wanted[] =
	    "      --json                  print JSON\n"
	    "  -o, --output DIR            where to write\n"
	    "      --snapshot[=DIR]        take a snapshot\n"
	    "\n"
	    "Limits:\n"
	    "  -c, --count N               how many of the things that this\n"
	    "                              rather long sentence is about\n"
	    "                              there may be, so that it must be\n"
	    "                              wrapped [3]\n"
	    "  -b, --buffer-size SIZE      memory per process [64M]\n"
	    "      --wait TIME             wait so long [100ms]\n"
	    "      --mode MODE             when full (discard, overwrite,\n"
	    "                              block) [overwrite]\n"
	    "  -e, --event GLOB            \n"
	    "      --filter EXPR           \n"
	    "  -a                          all of them\n"
	    "  -h, --help                  show this text\n";
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	wm_option_help(table, 64, out);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

static void test_integers(void **state)
{
	int64_t v = 0;

	assert_int_equal(wm_number_parse_integer("-9223372036854775808", INT64_MIN, INT64_MAX, &v),
			 0);
	assert_true(v == INT64_MIN);
	assert_int_equal(wm_number_parse_integer("9223372036854775808", INT64_MIN, INT64_MAX, &v),
			 -ERANGE);
	assert_int_equal(
	    wm_number_parse_integer("99999999999999999999999", INT64_MIN, INT64_MAX, &v), -ERANGE);
	assert_int_equal(wm_number_parse_integer("0xfF", 0, 255, &v), 0);
	assert_int_equal(v, 255);
	assert_int_equal(wm_number_parse_integer("0o17", 0, 255, &v), 0);
	assert_int_equal(v, 15);
	assert_int_equal(wm_number_parse_integer("017", 0, 255, &v), 0);
	assert_int_equal(v, 17);
	assert_int_equal(wm_number_parse_integer("+5", 0, 255, &v), 0);
	assert_int_equal(v, 5);
	for (const char *const *bad =
		 (const char *const[]){"", "-", "0x", "1x", " 1", "1 ", "--1", "1.5", NULL};
	     *bad; bad++)
		assert_int_equal(wm_number_parse_integer(*bad, INT64_MIN, INT64_MAX, &v), -EINVAL);
	assert_int_equal(v, 5); /* a failure leaves the value unchanged */
}

static void test_sizes_and_durations(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} sizes[] = {{"0", 0},
		     {"4096", 4096},
		     {"4096B", 4096},
		     {"64K", 65536},
		     {"64k", 65536},
		     {"64KiB", 65536},
		     {"64KB", 65536},
		     {"1.5G", 3ull << 29},
		     {"2T", 2ull << 40},
		     {"0.5M", 1 << 19},
		     {"16777215.9T", 18446742974197923840ull + (uint64_t)(989560464998ull)}};
	static const struct {
		const char *text;
		uint64_t ns;
	} durations[] = {{"1", 1000000000},    {"1s", 1000000000},    {"1.5", 1500000000},
			 {"100ms", 100000000}, {"7us", 7000},         {"3ns", 3},
			 {"2m", 120000000000}, {"1h", 3600000000000}, {"0.25ms", 250000}};
	uint64_t v = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(wm_number_parse_size(sizes[i].text, 0, UINT64_MAX, &v), 0);
		assert_true(v == sizes[i].bytes);
	}
	for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
		assert_int_equal(wm_number_parse_duration(durations[i].text, 0, UINT64_MAX, &v), 0);
		assert_true(v == durations[i].ns);
	}
	v = 5;
	for (const char *const *bad = (const char *const[]){"", "K", "1Q", "-1", "1.", ".5", "1 K",
							    "1KK", "1iB", "1.5.5K", "0x10", NULL};
	     *bad; bad++)
		assert_int_equal(wm_number_parse_size(*bad, 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(wm_number_parse_size("16777216T", 0, UINT64_MAX, &v), -ERANGE);
	assert_int_equal(wm_number_parse_size("99999999999999999999", 0, UINT64_MAX, &v), -ERANGE);
	assert_int_equal(wm_number_parse_size("1K", 2048, 4096, &v), -ERANGE);
	assert_int_equal(wm_number_parse_duration("1d", 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(v, 5);
}

static void test_nearest(void **state)
{
	static const char *const names[] = {"record", "report", "print", "list",
					    "info",   "help",   NULL};
	struct wm_nearest n;
	char text[128];

	assert_int_equal(wm_nearest_distance("abc", "abc"), 0);
	assert_int_equal(wm_nearest_distance("abc", "acb"), 1);
	assert_int_equal(wm_nearest_distance("", "abc"), 3);
	assert_int_equal(wm_nearest_distance("kitten", "sitting"), 3);
	wm_nearest_init(&n, "recrod");
	for (const char *const *p = names; *p; p++)
		wm_nearest_offer(&n, *p);
	assert_string_equal(wm_nearest_sentence(&n, "", text, sizeof(text)),
			    "did you mean 'record'?");
	wm_nearest_init(&n, "xyzzy");
	for (const char *const *p = names; *p; p++)
		wm_nearest_offer(&n, *p);
	assert_string_equal(wm_nearest_sentence(&n, "", text, sizeof(text)), "");
	wm_nearest_init(&n, "*query*");
	wm_nearest_offer(&n, "app:querx");
	wm_nearest_offer(&n, "app:Query_done");
	wm_nearest_offer(&n, "quern");
	wm_nearest_offer(&n, "quern");
	wm_nearest_offer(&n, "queryy");
	wm_nearest_offer(&n, "query");
	assert_string_equal(wm_nearest_sentence(&n, "", text, sizeof(text)),
			    "did you mean 'query', 'app:Query_done' or 'quern'?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_defaults),
	    cmocka_unit_test(test_every_kind),
	    cmocka_unit_test(test_optional_word),
	    cmocka_unit_test(test_repeated_and_abbreviated),
	    cmocka_unit_test(test_order_of_calls),
	    cmocka_unit_test(test_command_keeps_its_options),
	    cmocka_unit_test(test_help_is_asked),
	    cmocka_unit_test(test_errors_name_the_hint),
	    cmocka_unit_test(test_long_words_do_not_overflow),
	    cmocka_unit_test(test_help_text),
	    cmocka_unit_test(test_integers),
	    cmocka_unit_test(test_sizes_and_durations),
	    cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
