/* SPDX-License-Identifier: MIT */
/* Samples and task events in a trace: read by waymark's reader and by babeltrace2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "read/open.h"
#include "trace/reader.h"
#include "write/writer_test_kit.h"

static const char symbols[] = "ffffffff81000000 T _text\n";
static const unsigned char id[] = {0xde, 0xad, 0xbe, 0xef};

static struct wm_class *mmap_class(void)
{
	struct wm_class *c = NULL;
	size_t bytes;
	unsigned char *desc = wm_desc_simple(
	    "perf", "mmap2", "pid:i4;tid:i4;addr:x8;build_id:z;filename:s", NULL, 0, &bytes);

	assert_int_equal(wm_class_parse(desc, bytes, NULL, &c, NULL), 0);
	free(desc);
	return c;
}

static void send(struct wm_kernel_stream *ks, struct kit_packet *k, uint32_t cpu)
{
	size_t bytes = k->payload.bytes;
	struct wm_kernel_packet p = {
	    .cpu = cpu, .begin = k->begin, .end = k->end, .count = k->count};

	kit_pad(k);
	p.payload = k->payload.data;
	p.payload_bytes = k->payload.bytes;
	p.padding_bytes = (uint32_t)(k->payload.bytes - bytes);
	assert_int_equal(wm_stream_kernel_packet(ks, &p), 0);
	wm_text_done(&k->payload);
	*k = (struct kit_packet){0};
}

static void put_mmap(struct kit_packet *k, uint64_t clock, int32_t pid, const char *name)
{
	kit_record(k, 10, clock);
	kit_put(k, (uint32_t)pid, 4);
	kit_put(k, (uint32_t)pid, 4);
	kit_put(k, 0x400000, 8);
	kit_put(k, sizeof(id), 4);
	wm_text_add(&k->payload, id, sizeof(id));
	kit_string(k, name);
}

static void put_sample(struct kit_packet *k, uint64_t clock)
{
	kit_record(k, 0, clock);
	kit_put(k, 41, 4);
	kit_put(k, 42, 4);
	kit_put(k, 0x401234, 8);
	kit_put(k, 1000, 8); /* period */
	kit_put(k, 2, 4);
	kit_put(k, (uint64_t)-512, 8);
	kit_put(k, 0x401234, 8);
}

/* On CPU 1: two mappings, then two samples; the trace has the kernel's symbols. */
static void write_trace(enum wm_trace_format format)
{
	struct wm_trace_writer *w = kit_create(format);
	struct wm_kernel_stream *samples, *tasks;
	struct kit_packet k = {0};

	assert_int_equal(wm_stream_kernel_create(w, WM_KERNEL_SAMPLES, &samples), 0);
	assert_int_equal(wm_stream_kernel_create(w, WM_KERNEL_TASKS, &tasks), 0);
	assert_int_equal(wm_stream_kernel_create(w, WM_KERNEL_TASKS, &tasks), -EEXIST);
	assert_int_equal(
	    wm_stream_kernel_event(samples, 0, kit_class("clock", "callchain:qp8", NULL, 0)), 0);
	assert_int_equal(wm_stream_kernel_event(tasks, 10, mmap_class()), 0);
	put_mmap(&k, KIT_START + 10, -1, "[kernel.kallsyms]_text");
	put_mmap(&k, KIT_START + 20, 41, "/bin/app");
	send(tasks, &k, 1);
	put_sample(&k, KIT_START + 30);
	put_sample(&k, KIT_START + 40);
	send(samples, &k, 1);
	assert_int_equal(wm_writer_kernel_symbols(kit_dir, symbols, strlen(symbols)), 0);
	assert_int_equal(wm_writer_close(w), 0);
}

static const struct wm_item *item(const struct wm_event *e, enum wm_part part, const char *name)
{
	for (uint32_t i = e->parts[part].at; i < e->parts[part].end; i = e->items[i].next)
		if (!strcmp(e->items[i].member->name, name))
			return &e->items[i];
	fail_msg("no %s", name);
	return NULL;
}

static void check_event(const struct wm_event *e)
{
	const struct wm_item *chain;

	assert_int_equal(e->cpu, 1);
	if (e->type->meta) {
		assert_string_equal(e->type->name, "perf:mmap2");
		assert_true(e->pid == -1 || e->pid == 41);
		return;
	}
	assert_int_equal(e->pid, 41);
	assert_int_equal(e->tid, 42);
	assert_true(item(e, WM_PART_STREAM_CONTEXT, "ip")->u == 0x401234);
	assert_true(item(e, WM_PART_STREAM_CONTEXT, "period")->u == 1000);
	chain = item(e, WM_PART_FIELDS, "callchain");
	assert_int_equal(chain->count, 2);
	assert_true(chain[1].u == (uint64_t)-512 && chain[2].u == 0x401234);
}

static void check_read(enum wm_trace_format format)
{
	struct wm_packet_reader *r;
	struct wm_batch b = {0};
	struct wm_trace *t;
	const char *text;
	size_t bytes;
	uint32_t n = 0;

	write_trace(format);
	assert_int_equal(wm_read_open(kit_dir, &t, NULL), 0);
	r = t->ops->reader_create(t, NULL);
	for (uint64_t i = 0; i < t->nr_packets; i++) {
		assert_int_equal(t->ops->reader_begin(r, &t->packets[i]), 0);
		while (wm_batch_read(t, r, &b) > 0)
			for (uint32_t k = 0; k < b.nr_events; k++, n++)
				check_event(&b.events[k]);
	}
	assert_int_equal(n, 4);
	assert_int_equal(t->nr_faults, 0);
	assert_int_equal(t->nr_binaries, 2);
	assert_string_equal(t->binaries[0].path, "[kernel.kallsyms]");
	assert_true(t->binaries[0].kernel && !t->binaries[1].kernel);
	assert_memory_equal(t->binaries[1].build_id, id, sizeof(id));
	assert_int_equal(wm_trace_kallsyms(t, &text, &bytes), 0);
	assert_string_equal(text, symbols);
	wm_batch_done(&b);
	t->ops->reader_destroy(r);
	wm_trace_close(t);
}

static void both_languages_are_read_back(void **state)
{
	check_read(WM_TRACE_CTF1);
	kit_teardown(state);
	kit_setup(state);
	check_read(WM_TRACE_CTF2);
}

static void babeltrace_agrees(void **state)
{
	char *out;

	(void)state;
	if (!kit_has_babeltrace())
		skip();
	write_trace(WM_TRACE_CTF1);
	out = kit_babeltrace("", NULL);
	assert_non_null(strstr(out, "app:clock: { event_count = 2, cpu_id = 1 }, "
				    "{ pid = 41, tid = 42, ip = 0x401234, period = 1000 }, "
				    "{ _callchain_length = 2, callchain = [ [0] = "
				    "0xFFFFFFFFFFFFFE00, [1] = 0x401234 ] }"));
	assert_int_equal(kit_lines(out), 4);
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(both_languages_are_read_back, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(babeltrace_agrees, kit_setup, kit_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
