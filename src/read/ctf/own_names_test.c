/* SPDX-License-Identifier: MIT */
/* own_names_test.c - names of the threads of programs, from the packets written to the trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "read/ctf/own_read_test_kit.h"
#include "trace/event_comm.h"

/* Sends one record at `clock`, from a thread that has this name. */
static void send(struct wm_producer *p, uint32_t tid, uint64_t clock, const char *comm)
{
	struct kit_packet k = {0};
	struct wm_raw_packet packet = {.tid = tid, .begin = clock, .end = clock, .count = 1};

	kit_record(&k, 0, clock);
	packet.payload.iov_base = k.payload.data;
	packet.payload.iov_len = k.payload.bytes;
	memcpy(packet.comm, comm, strnlen(comm, sizeof(packet.comm)));
	assert_int_equal(wm_producer_packet(p, &packet), 0);
	wm_text_done(&k.payload);
}

/* Reads the trace and compares the name of each event's thread. */
static void expect(const char *const *names, size_t nr)
{
	struct wm_trace *t = kit_open();
	struct wm_merge *m = kit_merge(t);
	const struct wm_event *e;
	size_t n = 0;

	while (kit_next(m, &e) == 1) {
		assert_true(n < nr);
		assert_string_equal(wm_comm_of_thread(t, e), names[n]);
		n++;
	}
	assert_int_equal(n, nr);
	wm_merge_destroy(m);
	wm_trace_close(t);
}

static uint32_t nr_thread_records(void)
{
	struct wm_trace *t = kit_open();
	struct wm_merge *m = kit_merge(t);
	const struct wm_event *e;
	uint32_t n = 0;

	while (wm_merge_next(m, &e) == 1)
		n += !strcmp(e->type->name, "waymark:thread");
	wm_merge_destroy(m);
	wm_trace_close(t);
	return n;
}

/* The name that a thread had at the time, over two changes; a thread id that is used again. */
static void test_names_over_time(void **state)
{
	static const char *const names[] = {"app", "app",   "worker", "worker", "a name of 16 byt",
					    "app", "worker"};
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 7), *q = kit_producer(w, 8);

	assert_int_equal(kit_event(p, 0, 0, "e", ""), 0);
	assert_int_equal(kit_event(q, 0, 0, "e", ""), 0);
	send(p, 7, KIT_START + 100, "app");
	send(p, 9, KIT_START + 200, "");
	send(p, 9, KIT_START + 300, "worker");
	send(p, 9, KIT_START + 400, "worker");
	send(p, 9, KIT_START + 500, "a name of 16 bytes");
	send(q, 9, KIT_START + 600, "app"); /* in another pid namespace, as is process 8 */
	send(p, 9, KIT_START + 700, "worker");
	wm_producer_remove(p, KIT_START + 800);
	wm_producer_remove(q, KIT_START + 800);
	assert_int_equal(wm_writer_close(w), 0);
	expect(names, sizeof(names) / sizeof(names[0]));
	assert_int_equal(nr_thread_records(), 3);
}

/* Nothing is recorded as long as all threads have the process's name. */
static void test_plain_names_cost_nothing(void **state)
{
	static const char *const names[] = {"app", "app", "other", "app"};
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 7);

	assert_int_equal(kit_event(p, 0, 0, "e", ""), 0);
	send(p, 7, KIT_START + 100, "app");
	send(p, 8, KIT_START + 200, "app");
	send(p, 9, KIT_START + 300, "other");
	send(p, 9, KIT_START + 400, "app");
	assert_int_equal(wm_writer_close(w), 0);
	expect(names, sizeof(names) / sizeof(names[0]));
	assert_int_equal(nr_thread_records(), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_names_over_time, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(test_plain_names_cost_nothing, kit_setup, kit_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
