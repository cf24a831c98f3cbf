/* SPDX-License-Identifier: MIT */
/* Kernel events in a trace: written, then read by waymark's reader and by babeltrace2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "read/ctf/own_read_test_kit.h"

static void put_record(struct kit_packet *k, uint16_t id, uint64_t clock, uint32_t tid)
{
	kit_record(k, id, clock);
	kit_put(k, tid, 4);
	kit_put(k, 0x64, 1); /* flags */
	kit_put(k, 2, 1);    /* preempt_count */
}

static void send(struct wm_kernel_stream *ks, struct kit_packet *k, uint32_t cpu, uint64_t lost)
{
	size_t bytes = k->payload.bytes;
	struct wm_kernel_packet p = {
	    .cpu = cpu, .begin = k->begin, .end = k->end, .count = k->count, .lost = lost};

	kit_pad(k);
	p.payload = k->payload.data;
	p.payload_bytes = k->payload.bytes;
	p.padding_bytes = (uint32_t)(k->payload.bytes - bytes);
	assert_int_equal(wm_stream_kernel_packet(ks, &p), 0);
	wm_text_done(&k->payload);
	*k = (struct kit_packet){0};
}

/* CPU 3: a switch at 10 and at 30; CPU 0: an open at 20, then 5 lost, then another at 40. */
static void write_trace(enum wm_trace_format format)
{
	struct wm_trace_writer *w = kit_create(format);
	struct kit_packet k = {0};
	struct wm_kernel_stream *ks;

	assert_int_equal(wm_stream_kernel_create(w, WM_KERNEL_EVENTS, &ks), 0);
	assert_int_equal(wm_stream_kernel_create(w, WM_KERNEL_EVENTS, &ks), -EEXIST);
	assert_int_equal(wm_stream_kernel_event(ks, 314, kit_class("switch", "next:u4", NULL, 0)),
			 0);
	assert_int_equal(wm_stream_kernel_event(ks, 700, kit_class("open", "path:s", NULL, 0)), 0);
	wm_writer_thread(w, 41, 42, KIT_START, "worker");
	put_record(&k, 314, KIT_START + 10, 42);
	kit_put(&k, 7, 4);
	put_record(&k, 314, KIT_START + 30, 42);
	kit_put(&k, 8, 4);
	send(ks, &k, 3, 0);
	put_record(&k, 700, KIT_START + 20, 43);
	kit_string(&k, "/etc/passwd");
	send(ks, &k, 0, 0);
	wm_writer_kernel_lost(w, 1, KIT_START + 20, KIT_START + 40, "overwritten", 5);
	put_record(&k, 700, KIT_START + 40, 43);
	kit_string(&k, "x");
	send(ks, &k, 0, 5);
	assert_int_equal(wm_writer_kernel_format(w, "x", "y", "hello", 5), 0);
	assert_int_equal(wm_writer_kernel_formats(w), 0);
	assert_int_equal(wm_writer_close(w), 0);
}

static void check_read(enum wm_trace_format format)
{
	static const struct {
		uint64_t clock;
		uint32_t cpu, tid;
		const char *name;
	} expected[] = {
	    {10, 3, 42, "switch"}, {20, 0, 43, "open"}, {30, 3, 42, "switch"}, {40, 0, 43, "open"}};
	const struct wm_event *e;
	struct wm_trace *t;
	struct wm_merge *m;
	uint32_t n = 0;

	write_trace(format);
	t = kit_open();
	m = kit_merge(t);
	while (kit_next(m, &e) == 1) {
		assert_true(n < 4);
		assert_int_equal(e->clock, KIT_START + expected[n].clock);
		assert_int_equal(e->cpu, expected[n].cpu);
		assert_int_equal(e->tid, expected[n].tid);
		assert_string_equal(strchr(e->type->name, ':') + 1, expected[n].name);
		n++;
	}
	assert_int_equal(n, 4);
	assert_int_equal(t->nr_faults, 0);
	assert_int_equal(kit_lost(t, "overwritten"), 5);
	wm_merge_destroy(m);
	wm_trace_close(t);
	assert_true(kit_exists("kernel/formats"));
}

static void both_languages_are_read_back(void **state)
{
	(void)state;
	check_read(WM_TRACE_CTF1);
	kit_teardown(state);
	kit_setup(state);
	check_read(WM_TRACE_CTF2);
}

static void babeltrace_agrees(void **state)
{
	char *out, *errors;

	(void)state;
	if (!kit_has_babeltrace())
		skip();
	write_trace(WM_TRACE_CTF1);
	out = kit_babeltrace("", &errors);
	assert_non_null(
	    strstr(out, "app:open: { event_count = 1, cpu_id = 0 }, { tid = 43, flags = 0x64, "
			"preempt_count = 2 }, { path = \"/etc/passwd\" }"));
	assert_non_null(
	    strstr(out, "app:switch: { event_count = 2, cpu_id = 3 }, { tid = 42, flags = 0x64, "
			"preempt_count = 2 }, { next = 8 }"));
	assert_non_null(strstr(errors, "discarded 5 events"));
	free(out);
	free(errors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(both_languages_are_read_back, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(babeltrace_agrees, kit_setup, kit_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
