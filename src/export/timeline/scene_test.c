/* SPDX-License-Identifier: MIT */
/* scene_test.c - passes synthetic events to a scene and compares its output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "export/timeline/scene.h"

/* The kinds of events used here. */
enum kind { POINT, BEGIN, END, WHOLE, ENTER_X, EXIT_X, EXIT_Y, SWITCH, NR_KINDS };

static const struct wm_type u64 = {.kind = WM_TYPE_UNSIGNED, .bits = 64};
static const struct wm_member span[] = {{"span_id", &u64}, {"parent_id", &u64}};
static const struct wm_member whole[] = {{"begin", &u64}, {"duration", &u64}, {"parent_id", &u64}};
static const struct wm_member tids[] = {{"prev_pid", &u64}, {"next_pid", &u64}};
#define FIELDS(list, n)                                                                            \
	{                                                                                          \
		.kind = WM_TYPE_STRUCT, .nr_members = (n), .members = (list)                       \
	}
static const struct wm_type begin_fields = FIELDS(span, 2), end_fields = FIELDS(span, 1),
			    whole_fields = FIELDS(whole, 3), switch_fields = FIELDS(tids, 2);

static struct wm_event_type kinds[NR_KINDS] = {
    [POINT] = {.name = "p:point", .provider = "p"},
    [BEGIN] = {.name = "p:work", .provider = "p", .parts[WM_PART_FIELDS] = &begin_fields},
    [END] = {.name = "p:work", .provider = "p", .parts[WM_PART_FIELDS] = &end_fields},
    [WHOLE] = {.name = "p:whole", .provider = "p", .parts[WM_PART_FIELDS] = &whole_fields},
    [ENTER_X] = {.name = "syscalls:sys_enter_x", .provider = "syscalls"},
    [EXIT_X] = {.name = "syscalls:sys_exit_x", .provider = "syscalls"},
    [EXIT_Y] = {.name = "syscalls:sys_exit_y", .provider = "syscalls"},
    [SWITCH] = {.name = "sched:sched_switch",
		.provider = "sched",
		.parts[WM_PART_FIELDS] = &switch_fields},
};

static const struct wm_reader_ops air = {.name = "air"};

static struct {
	struct wm_scene scene;
	struct wm_export export;
	struct wm_trace *trace;
	struct wm_trace_clock clock;
	struct wm_stream stream;
	struct wm_text said; /* the calls of the scene's operations, one per line */
} kit;

/* --- the format: lines of text ------------------------------------------------------------ */

static const char *row_name(const struct wm_scene_row *row, char *buf)
{
	static const char *const names[] = {"nobody", "", "cpu", "runs", "stops", "losses"};

	if (row->kind == WM_ROW_THREAD)
		(void)snprintf(buf, 40, "tid %d", row->task->tid);
	else
		(void)snprintf(buf, 40, "%s %u", names[row->kind], row->index);
	return buf;
}

static int on_values(void *own, uint32_t trace, const struct wm_event *e, struct wm_text *t)
{
	wm_text_f(t, "v%lld", (long long)e->ns);
	return 0;
}

static int on_row(void *own, const struct wm_scene_row *row, uint32_t lane, const char *name)
{
	return 0;
}

static int on_point(void *own, const struct wm_scene_point *p)
{
	char buf[40];

	wm_text_f(&kit.said, "point %s %lld %s %.*s\n", row_name(&p->row, buf), (long long)p->ns,
		  p->title, (int)p->bytes, p->values ? p->values : "");
	return 0;
}

static int on_bar(void *own, const struct wm_scene_bar *b)
{
	char buf[40];

	wm_text_f(&kit.said, "%s %s/%u %lld-%lld %s %.*s\n", b->is_open ? "open" : "bar",
		  row_name(&b->row, buf), b->lane, (long long)b->begin_ns, (long long)b->end_ns,
		  b->title, (int)b->bytes, b->values ? b->values : "");
	return 0;
}

static int on_number(void *own, const struct wm_scene_number *n)
{
	return 0;
}

static const struct wm_scene_ops ops = {on_values, on_row, on_point, on_bar, on_number};

/* --- events ---------------------------------------------------------------------------------- */

static int begin(void **state)
{
	kit.trace = wm_trace_create("");
	assert_non_null(kit.trace);
	for (int i = 0; i < NR_KINDS; i++)
		assert_int_equal(wm_trace_add_type(kit.trace, &kinds[i]), 0);
	kit.clock = (struct wm_trace_clock){.name = "c", .hz = 500000000};
	kit.stream = (struct wm_stream){.file = "", .cpu = -1, .clock = &kit.clock};
	kit.export = (struct wm_export){.traces = &kit.trace, .nr_traces = 1};
	kit.trace->ops = &air;
	assert_int_equal(wm_scene_init(&kit.scene, &kit.export, &ops, NULL), 0);
	wm_text_init(&kit.said);
	return 0;
}

static int end(void **state)
{
	wm_scene_done(&kit.scene);
	kit.trace->ops = NULL;
	wm_trace_close(kit.trace);
	wm_text_done(&kit.said);
	return 0;
}

/* Passes an event of process 7 with up to three fields. */
static void happens(int64_t ns, int32_t tid, enum kind kind, uint64_t a, uint64_t b, uint64_t c)
{
	const struct wm_type *t = kinds[kind].parts[WM_PART_FIELDS];
	struct wm_item items[3] = {{.u = a, .next = 1}, {.u = b, .next = 2}, {.u = c, .next = 3}};
	struct wm_event e = {.ns = ns,
			     .clock = (uint64_t)ns / 2,
			     .type = &kinds[kind],
			     .stream = &kit.stream,
			     .cpu = 3,
			     .pid = 7,
			     .tid = tid,
			     .items = items};

	e.parts[WM_PART_FIELDS].end = t ? t->nr_members : 0;
	for (uint32_t i = 0; t && i < t->nr_members; i++)
		items[i].member = &t->members[i];
	assert_int_equal(wm_scene_event(&kit.scene, 0, &e), 0);
}

static void shows(const char *wanted)
{
	assert_int_equal(wm_scene_finish(&kit.scene), 0);
	assert_string_equal(kit.said.data ? kit.said.data : "", wanted);
}

/* --- tests ---------------------------------------------------------------------------------- */

static void spans_nest(void **state)
{
	happens(10, 1, BEGIN, 100, 0, 0);
	happens(20, 1, BEGIN, 101, 100, 0);
	happens(25, 1, POINT, 0, 0, 0);
	happens(30, 1, END, 101, 0, 0);
	happens(40, 1, END, 100, 0, 0);
	shows("point tid 1 25 p:point \n"
	      "bar tid 1/0 20-30 p:work v20\n"
	      "bar tid 1/0 10-40 p:work v10\n");
}

static void spans_that_overlap_have_lanes(void **state)
{
	happens(10, 1, BEGIN, 100, 0, 0);
	happens(20, 1, BEGIN, 101, 0, 0);
	happens(30, 2, END, 100, 0, 0); /* the span is ended by another thread */
	happens(40, 1, END, 101, 0, 0);
	shows("bar tid 1/0 10-30 p:work v10\n"
	      "bar tid 1/1 20-40 p:work v20\n");
}

static void begins_without_end_are_open(void **state)
{
	happens(10, 1, BEGIN, 100, 0, 0);
	happens(20, 1, BEGIN, 101, 100, 0);
	happens(50, 1, POINT, 0, 0, 0);
	shows("point tid 1 50 p:point \n"
	      "open tid 1/0 20-50 p:work v20\n"
	      "open tid 1/0 10-50 p:work v10\n");
}

static void ends_without_begin_are_points(void **state)
{
	happens(10, 1, END, 100, 0, 0);
	happens(20, 1, EXIT_X, 0, 0, 0);
	happens(30, 1, END, 0, 0, 0); /* 0 is not an id */
	shows("point tid 1 10 p:work \n"
	      "point tid 1 20 syscalls:sys_exit_x \n"
	      "point tid 1 30 p:work \n");
}

/*
 * A thread is in one call at a time: when a call begins while another is open, the other's end was
 * lost.
 */
static void calls(void **state)
{
	happens(10, 1, ENTER_X, 0, 0, 0);
	happens(12, 2, ENTER_X, 0, 0, 0);
	happens(20, 1, EXIT_X, 0, 0, 0);
	happens(30, 1, ENTER_X, 0, 0, 0);
	happens(40, 1, ENTER_X, 0, 0, 0);
	happens(45, 1, EXIT_Y, 0, 0, 0); /* the end of another call */
	happens(50, 1, EXIT_X, 0, 0, 0);
	shows("bar tid 1/0 10-20 x v10\n"
	      "point tid 1 30 x v30\n"
	      "point tid 1 45 syscalls:sys_exit_y \n"
	      "bar tid 1/0 40-50 x v40\n"
	      "open tid 2/0 12-50 x v12\n");
}

/* The clock runs at 500 MHz: two nanoseconds per tick. */
static void whole_spans(void **state)
{
	happens(1000, 1, WHOLE, 400, 50, 0);
	happens(1000, 1, WHOLE, 501, 0, 0);        /* a begin later than the event */
	happens(1000, 1, WHOLE, 0, UINT64_MAX, 0); /* a duration beyond the time range */
	happens(1000, 1, WHOLE, UINT64_MAX, 1, 0);
	shows("bar tid 1/0 800-900 p:whole \n"
	      "point tid 1 1000 p:whole \n"
	      "point tid 1 1000 p:whole \n"
	      "point tid 1 1000 p:whole \n");
}

static void switches(void **state)
{
	happens(10, 1, SWITCH, 1, 2, 0);
	happens(30, 2, SWITCH, 2, 0, 0);
	happens(40, -1, POINT, 0, 0, 0); /* belongs to the processor's current thread */
	happens(60, 0, SWITCH, 0, 1, 0);
	shows("bar runs 3/0 10-30 2 v10\n"
	      "point tid 0 40 p:point \n"
	      "bar runs 3/0 30-60 idle v30\n"
	      "open runs 3/0 60-60 1 v60\n");
}

/* When there are too many, the oldest begin events are output as points; no event is lost. */
static void too_many_begins(void **state)
{
	uint64_t lines = 0;

	for (uint64_t i = 0; i < WM_OPEN_SLICES_MAX + 10; i++)
		happens((int64_t)i, 1, BEGIN, i + 1, 0, 0);
	assert_int_equal(kit.scene.open.nr, WM_OPEN_SLICES_MAX);
	assert_int_equal(wm_scene_finish(&kit.scene), 0);
	for (const char *p = kit.said.data; *p; p++)
		lines += *p == '\n';
	assert_int_equal(lines, WM_OPEN_SLICES_MAX + 10);
	assert_memory_equal(kit.said.data, "point tid 1 0 p:work v0\n", 24);
}

static void losses(void **state)
{
	static const struct wm_trace_loss some[] = {
	    {.stream = UINT32_MAX, .count = 5, .begin_ns = 20, .end_ns = 30, .cause = "full"},
	    {.stream = 0,
	     .count = UINT64_MAX,
	     .begin_ns = INT64_MIN,
	     .end_ns = INT64_MAX,
	     .cause = ""},
	    {.stream = 0, .count = 3, .packets = true, .begin_ns = 25, .end_ns = 35, .cause = ""},
	};

	for (int i = 0; i < 3; i++)
		assert_int_equal(wm_trace_add_loss(kit.trace, &some[i]), 0);
	happens(10, 1, POINT, 0, 0, 0);
	happens(100, 1, POINT, 0, 0, 0);
	shows("point tid 1 10 p:point \n"
	      "point tid 1 100 p:point \n"
	      "bar losses 0/0 20-30 5 events lost: full \n"
	      "bar losses 0/0 10-100 events lost \n"
	      "bar losses 0/1 25-35 3 packets lost \n");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
	    TEST(spans_nest),
	    TEST(spans_that_overlap_have_lanes),
	    TEST(begins_without_end_are_open),
	    TEST(ends_without_begin_are_points),
	    TEST(calls),
	    TEST(whole_spans),
	    TEST(switches),
	    TEST(too_many_begins),
	    TEST(losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
