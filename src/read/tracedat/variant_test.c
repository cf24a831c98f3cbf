/* SPDX-License-Identifier: MIT */
/*
 * variant_test.c - creates trace.dat files of every kind (both versions, each compression, both
 * byte orders and widths, one buffer and two) and reads them back event by event.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "read/corpus_test_kit.h"
#include "read/open.h"
#include "read/tracedat/tracedat_int.h"
#include "read/tracedat/tracedat_test_kit.h"
#include "trace/reader.h"

/* --- reading --------------------------------------------------------------- */

static void check_event(const struct wm_trace *t, const struct wm_event *e, unsigned page,
			unsigned record, struct wm_text *text)
{
	unsigned buffer = (unsigned)e->stream->class_id, cpu = (unsigned)e->cpu;
	const struct wm_item *items = e->items + e->parts[WM_PART_FIELDS].at;
	char want[64];

	assert_string_equal(e->type->name, "test:tick");
	assert_int_equal(e->ns, time_of(buffer, cpu, page, record));
	assert_int_equal(e->tid, 40 + cpu);
	assert_int_equal(items[0].s, number_of(buffer, cpu, page, record));
	assert_int_equal(items[1].count, 3);
	assert_memory_equal(items[1].text, "abc", 3);
	assert_string_equal(t->ops->comm(t, e), cpu ? "one" : "zero");
	(void)snprintf(want, sizeof(want), "n=%d name=abc", number_of(buffer, cpu, page, record));
	wm_text_cut(text, 0);
	assert_true(t->ops->print(t, e, NULL, text));
	assert_string_equal(text->data, want);
}

static void check_trace(struct wm_trace *t, unsigned nr_buffers)
{
	struct wm_packet_reader *r = t->ops->reader_create(t, NULL);
	unsigned nr[2][NR_CPUS] = {{0}};
	struct wm_batch b = {0};
	struct wm_text text;
	const char *symbols;
	size_t bytes;

	for (int round = 0; round < 2; round++) {
		assert_int_equal(wm_trace_kallsyms(t, &symbols, &bytes), 0);
		assert_int_equal(bytes, strlen(kallsyms));
		assert_string_equal(symbols, kallsyms);
	}
	wm_text_init(&text);
	for (uint64_t i = 0; i < t->nr_packets; i++) {
		int got;

		assert_int_equal(t->ops->reader_begin(r, &t->packets[i]), 0);
		while ((got = wm_batch_read(t, r, &b)) > 0) {
			for (uint32_t k = 0; k < b.nr_events; k++) {
				const struct wm_event *e = &b.events[k];
				unsigned *n = &nr[e->stream->class_id][e->cpu];

				check_event(t, e, *n / NR_RECORDS, *n % NR_RECORDS, &text);
				++*n;
			}
		}
		assert_int_equal(got, 0);
	}
	for (unsigned buffer = 0; buffer < 2; buffer++)
		for (unsigned cpu = 0; cpu < NR_CPUS; cpu++)
			assert_int_equal(nr[buffer][cpu],
					 buffer < nr_buffers ? NR_PAGES * NR_RECORDS : 0);
	wm_text_done(&text);
	wm_batch_done(&b);
	t->ops->reader_destroy(r);
}

/* wm_td_part_load() returns the part exactly as written, whether it is compressed or not. */
static void check_part(const struct wm_trace *t)
{
	struct wm_text part;

	wm_text_init(&part);
	assert_int_equal(wm_td_part_load(t->own, WM_TD_KALLSYMS, &part, NULL), 0);
	assert_int_equal(part.bytes, 4 + strlen(kallsyms));
	assert_memory_equal(part.data + 4, kallsyms, strlen(kallsyms));
	wm_text_done(&part);
}

static void check_kind(const struct kind *k)
{
	struct wm_diag diag = {.sentence = ""};
	struct image m = make(k);
	struct wm_trace *t;

	kit_write(m.data, m.bytes);
	if (wm_read_open(kit_scratch, &t, &diag))
		fail_msg("%d %d: %s", k->version, k->codec, diag.sentence);
	assert_string_equal(t->version, k->version == 6 ? "6" : "7");
	assert_int_equal(t->nr_faults, 0);
	assert_int_equal(t->nr_streams, k->nr_buffers * NR_CPUS);
	assert_int_equal(t->nr_losses, k->nr_buffers * NR_CPUS);
	assert_int_equal(t->losses[0].count, LOST);
	assert_int_equal(t->begin_ns, time_of(0, 0, 0, 0));
	check_trace(t, k->nr_buffers);
	check_part(t);
	wm_trace_close(t);
	free(m.data);
}

static void test_kinds(void **state)
{
	each_kind(check_kind);
}

static uint64_t count_events(struct wm_trace *t)
{
	struct wm_packet_reader *r = t->ops->reader_create(t, NULL);
	struct wm_batch b = {0};
	uint64_t nr = 0;

	for (uint64_t i = 0; i < t->nr_packets; i++) {
		assert_int_equal(t->ops->reader_begin(r, &t->packets[i]), 0);
		while (wm_batch_read(t, r, &b) > 0)
			nr += b.nr_events;
	}
	wm_batch_done(&b);
	t->ops->reader_destroy(r);
	return nr;
}

/* Wherever the file is truncated, missing events are reported. */
static void cut_kind(const struct kind *k)
{
	uint64_t whole = (uint64_t)k->nr_buffers * NR_CPUS * NR_PAGES * NR_RECORDS;
	struct image m = make(k);
	size_t bytes = m.bytes;

	for (size_t cut = 0; cut < bytes; cut += cut < 3000 ? 97 : 1777) {
		struct wm_diag diag = {.sentence = ""};
		struct wm_trace *t;

		m.bytes = cut;
		kit_write(m.data, m.bytes);
		if (wm_read_open(kit_scratch, &t, &diag)) {
			assert_true(diag.sentence[0]);
			continue;
		}
		if (count_events(t) < whole)
			assert_true(t->nr_faults > 0);
		wm_trace_close(t);
	}
	free(m.data);
}

static void test_cuts(void **state)
{
	each_kind(cut_kind);
}

static void expect_refused(const struct kind *k, size_t at, const char *bytes, size_t nr, int want)
{
	struct wm_diag diag = {.sentence = ""};
	struct image m = make(k);
	struct wm_trace *t;

	memcpy(m.data + at, bytes, nr);
	kit_write(m.data, m.bytes);
	assert_int_equal(wm_read_open(kit_scratch, &t, &diag), want);
	assert_true(diag.sentence[0] && diag.offset >= 0);
	free(m.data);
}

static void test_refused(void **state)
{
	static const struct kind six = {.version = 6, .long_bytes = 8, .nr_buffers = 1},
				 seven = {.version = 7, .long_bytes = 8, .nr_buffers = 1};

	expect_refused(&six, 10, "5", 1, -ENOTSUP);
	expect_refused(&six, 12, "\2", 1, -EBADMSG); /* byte order */
	expect_refused(&six, 13, "\3", 1, -EBADMSG); /* width of a long */
	expect_refused(&six, 18, "headex", 6, -EBADMSG);
	expect_refused(&six, 30, "\xff\xff\xff\xff", 4, -EBADMSG); /* size of a part */
	expect_refused(&seven, 18, "lzma", 4, -ENOTSUP);
	expect_refused(&seven, 24, "\0\0\0\0", 4, -EBADMSG); /* no options */
	/* offset of the options: beyond the file */
	expect_refused(&seven, 24, "\xff\xff\xff\xff", 4, -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_kinds),
	    cmocka_unit_test(test_cuts),
	    cmocka_unit_test(test_refused),
	};

	return kit_run(tests);
}
