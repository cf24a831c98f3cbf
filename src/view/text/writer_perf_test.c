/* SPDX-License-Identifier: MIT */
/* writer_perf_test.c - tests the lines of perf's format: events, samples, call chains. */
#include "view/text/writer_test_kit.h"

static void test_perf(void **unused)
{
	struct world w;

	setup(&w);
	set_text(field(&w, WM_PART_CONTEXT, "procname", &text), "sh\x1b");
	field(&w, WM_PART_FIELDS, "n", &i32)->s = -12;
	set_text(field(&w, WM_PART_FIELDS, "s", &text), "a b");
	w.event.tid = 43;
	w.event.cpu = 7;
	w.event.ns = 12000345678;
	expect(&w, WM_VIEW_PERF, 1,
	       "             sh\\x1b      43 [007]    12.000345: app:query: procname=sh\\x1b n=-12 "
	       "s=a b\n");
	done(&w);
}

static const char *named(const struct wm_trace *t, const struct wm_event *e)
{
	return e->tid == 43 ? "sh" : e->tid == 44 ? "a name that is too long\n" : "";
}

static void *open_places(const void *data)
{
	return malloc(1);
}

static int scope_of(void *own, uint32_t trace, const struct wm_event *e, enum wm_event_mode mode,
		    struct wm_place_scope *ret)
{
	*ret = (struct wm_place_scope){.pid = e->pid, .trace = trace, .mode = mode};
	return 0;
}

static int find_place(void *own, uint32_t trace, const struct wm_event *e, uint64_t address,
		      enum wm_event_mode mode, struct wm_named_place *ret)
{
	assert_int_equal(mode, address >> 63 ? WM_MODE_KERNEL : WM_MODE_USER);
	if (address == 0x401234)
		*ret = (struct wm_named_place){0x1234, e->pid == 7 ? "seven" : "main", 0x1c,
					       "/bin/a\nb"};
	return 0;
}

static int find_callers(void *own, uint32_t trace, const struct wm_event *e,
			struct wm_named_place ret[WM_UNWIND_FRAMES_MAX])
{
	return 0;
}

static const struct wm_view_places places = {.open = open_places,
					     .close = free,
					     .scope = scope_of,
					     .find = find_place,
					     .callers = find_callers};

/* A line in perf's format, written twice: the second time from the page's cache. */
static void expect_perf(struct world *w, bool with_places, const char *line)
{
	struct wm_view_options o = {.format = WM_VIEW_PERF, .places = with_places ? &places : NULL};
	struct wm_view *v = wm_view_create(&w->trace, 1, &o);
	struct wm_view_page page;
	size_t n = strlen(line);

	wm_view_page_init(&page, false);
	w->event.items = w->items;
	w->event.type = &w->type;
	w->event.stream = &w->stream;
	for (int i = 0; i < 2; i++)
		wm_view_event_line(v, &page, 0, &w->event);
	assert_non_null(page.text.data);
	if (page.text.bytes != 2 * n || memcmp(page.text.data, line, n) != 0 ||
	    memcmp(page.text.data + n, line, n) != 0)
		fail_msg("not twice\n%s\nbut\n%s", line, page.text.data);
	wm_view_page_done(&page);
	wm_view_destroy(v);
}

static const struct wm_type chain = {.kind = WM_TYPE_LIST, .element = {NULL, &u64}};

static void test_perf_samples(void **unused)
{
	struct wm_reader_ops with_names = ops;
	struct world w;

	setup(&w);
	with_names.comm = named;
	w.trace->ops = &with_names;
	w.event.ns = 12000345678;
	w.event.cpu = 1000;
	w.event.tid = 43;
	w.type.name = "clock";
	w.type.provider = "";
	w.type.period = 4000;
	field(&w, WM_PART_STREAM_CONTEXT, "ip", &u64)->u = 0x401234;
	w.event.mode = WM_MODE_USER;
	expect_perf(&w, false,
		    "              sh      43 [1000]    12.000345:       4000 clock:            "
		    "401234\n");
	expect_perf(&w, true,
		    "              sh      43 [1000]    12.000345:       4000 clock:            "
		    "401234 main+0x1c (/bin/a\\nb)\n");
	field(&w, WM_PART_STREAM_CONTEXT, "period", &u64)->u = 12345678901;
	w.items[0].u = 0xffffffff81000001;
	w.event.mode = WM_MODE_KERNEL;
	w.event.tid = 44;
	w.event.cpu = -1;
	w.event.ns = -3000000001;
	expect_perf(&w, true,
		    "a name that is too long\\n      44    -3.000000: 12345678901 clock:  "
		    "ffffffff81000001 [unknown] ([unknown])\n");
	w.event.tid = 12345678;
	w.event.ns = 1234567000000000;
	expect_perf(&w, false,
		    "       :12345678 12345678 1234567.000000: 12345678901 clock:  "
		    "ffffffff81000001\n");
	w.type.print = "%d"; /* a tracepoint */
	w.type.prints = true;
	w.event.raw_bytes = 2;
	expect_perf(&w, false,
		    "       :12345678 12345678 1234567.000000: clock: a \"form\" of 2 bytes\n");
	w.trace->ops = &ops;
	done(&w);
}

static void test_perf_chain(void **unused)
{
	struct wm_reader_ops with_names = ops;
	struct world w;
	struct wm_item *l;

	setup(&w);
	with_names.comm = named;
	w.trace->ops = &with_names;
	w.event.ns = 12000345678;
	w.event.tid = 43;
	w.event.mode = WM_MODE_KERNEL;
	field(&w, WM_PART_STREAM_CONTEXT, "ip", &u64)->u = 0x401234;
	l = field(&w, WM_PART_FIELDS, "callchain", &chain);
	l->count = 3;
	item(&w, &chain.element)->u = (uint64_t)-512; /* user addresses follow */
	item(&w, &chain.element)->u = 0x401234;
	item(&w, &chain.element)->u = 0x401235;
	l->next = w.nr_items;
	w.event.parts[WM_PART_FIELDS].end = w.nr_items;
	expect_perf(&w, false,
		    "sh      43    12.000345:          0 app:query: \n"
		    "\t          401234\n\t          401235\n\n");
	expect_perf(&w, true,
		    "sh      43    12.000345:          0 app:query: \n"
		    "\t            1234 main+0x1c (/bin/a\\nb)\n"
		    "\t          401235 [unknown] ([unknown])\n\n");
	l[2].u = (uint64_t)-5; /* neither a marker nor an address: perf omits such a chain */
	expect_perf(&w, true, "sh      43    12.000345:          0 app:query: \n\n");
	w.trace->ops = &ops;
	done(&w);
}

/* A place is cached for one process, with its address as in the file. */
static void test_perf_place_of_process(void **unused)
{
	static const struct wm_view_options o = {.format = WM_VIEW_PERF, .places = &places};
	static const int32_t pids[] = {6, 6, 7, 6};
	struct wm_view_page page;
	struct wm_view *v;
	struct world w;

	setup(&w);
	w.event.mode = WM_MODE_USER;
	w.event.ns = WM_TIME_NONE;
	w.event.tid = 5;
	field(&w, WM_PART_STREAM_CONTEXT, "ip", &u64)->u = 0x401234;
	w.event.items = w.items;
	w.event.type = &w.type;
	w.event.stream = &w.stream;
	v = wm_view_create(&w.trace, 1, &o);
	wm_view_page_init(&page, false);
	for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++) {
		w.event.pid = pids[i];
		wm_view_event_line(v, &page, 0, &w.event);
	}
	assert_false(page.text.failed);
	for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++) {
		char *line = strtok(i ? NULL : page.text.data, "\n");

		assert_non_null(strstr(line, pids[i] == 7
						 ? "          401234 seven+0x1c (/bin/a\\nb)"
						 : "          401234 main+0x1c (/bin/a\\nb)"));
	}
	wm_view_page_done(&page);
	wm_view_destroy(v);
	done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_perf),
	    cmocka_unit_test(test_perf_samples),
	    cmocka_unit_test(test_perf_chain),
	    cmocka_unit_test(test_perf_place_of_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
