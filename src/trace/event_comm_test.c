/* SPDX-License-Identifier: MIT */
/* event_comm_test.c - the three sources of a thread's name, and their order. */
#include "trace/event_comm.h"

#include "trace/event_test_kit.h"

static const char *format_name;

static const char *comm_of_format(const struct wm_trace *t, const struct wm_event *e)
{
	return format_name;
}

/* An event with two strings in one part. */
struct named {
	struct wm_event event;
	struct wm_event_type type;
	struct wm_type part;
	struct wm_member members[2];
	struct wm_item items[2];
};

static void make(struct named *n, enum wm_part part, const char *first, const char *second)
{
	*n =
	    (struct named){.part = {.kind = WM_TYPE_STRUCT, .members = n->members, .nr_members = 2},
			   .members = {{first, &kit_string}, {second, &kit_string}}};
	for (uint32_t i = 0; i < 2; i++)
		n->items[i] = (struct wm_item){.member = &n->members[i],
					       .next = i + 1,
					       .text = i ? "second" : "first",
					       .count = i ? 6 : 5};
	n->type.parts[part] = &n->part;
	n->event = (struct wm_event){.type = &n->type, .items = n->items};
	n->event.parts[part].end = 2;
}

static void expect(const struct wm_trace *t, struct named *n, const char *name)
{
	struct wm_field_ref ref;
	const char *comm;
	size_t bytes;

	wm_comm_bind(&n->type, &ref);
	comm = wm_comm_of_event(t, &ref, &n->event, &bytes);
	assert_int_equal(bytes, strlen(name));
	assert_memory_equal(comm, name, bytes);
}

static void test_order(void **unused)
{
	const struct wm_trace_word word = {"procname", "environment"};
	const struct wm_trace_origin origin = {.nr_words = 1, .words = &word};
	const struct wm_stream stream = {.origin = &origin};
	const struct wm_reader_ops ops = {.comm = comm_of_format}, silent = {0};
	struct wm_trace t = {.ops = &ops};
	struct named n;

	format_name = "format";
	make(&n, WM_PART_CONTEXT, "vpid_name", "comm");
	expect(&t, &n, "second");
	make(&n, WM_PART_CONTEXT, "procname", "comm");
	expect(&t, &n, "first");
	make(&n, WM_PART_STREAM_CONTEXT, "x", "procname");
	expect(&t, &n, "second");

	make(&n, WM_PART_FIELDS, "comm", "procname"); /* a field can be about another thread */
	expect(&t, &n, "format");
	n.event.stream = &stream;
	expect(&t, &n, "format");
	format_name = "";
	expect(&t, &n, "environment");
	t.ops = &silent;
	expect(&t, &n, "environment");
	n.event.stream = NULL;
	expect(&t, &n, "");
}

/* When the context was not decoded, or is truncated, the name comes from the other two sources. */
static void test_not_decoded(void **unused)
{
	const struct wm_reader_ops ops = {.comm = comm_of_format};
	struct wm_trace t = {.ops = &ops};
	struct named n;

	format_name = "format";
	make(&n, WM_PART_CONTEXT, "x", "comm");
	n.event.parts[WM_PART_CONTEXT].end = 1;
	expect(&t, &n, "format");
	n.event.parts[WM_PART_CONTEXT].end = 0;
	expect(&t, &n, "format");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_not_decoded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
