/* SPDX-License-Identifier: MIT */
/*
 * own_reader_test.c - reads back traces written by the writer and checks values and order. Then
 * damages them in every known way: the undamaged part must be read, the damage reported as a fault,
 * and a repair must keep everything that is readable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <endian.h>

#include "event/context.h"
#include "read/ctf/own_read_test_kit.h"
#include "read/open.h"
#include "read/repair.h"
#include "trace/trace_layout.h"

#define ROUNDS 4u
#define PER_A  10u /* events per packet */
#define PER_B  5u
#define ALL    (ROUNDS * (PER_A + PER_B))
#define FRAME  WM_FRAME_BYTES_USER

static void write_round(struct wm_producer *p, uint64_t t, uint32_t round)
{
	struct kit_packet k = {0};

	for (uint32_t i = 0; i < PER_A; i++) {
		kit_record(&k, 1, t + i * 100);
		kit_put(&k, round * 100 + i, 4);
	}
	assert_int_equal(kit_send(p, &k, 101, 0), 0);
	for (uint32_t i = 0; i < PER_B; i++) {
		kit_record(&k, 2, t + i * 200);
		kit_put(&k, i, 4);
		kit_string(&k, "text");
	}
	assert_int_equal(kit_send(p, &k, 102, 0), 0);
}

/* Writes four packets for each of two threads of one process, in two lanes. */
static void write_trace(enum wm_trace_format format)
{
	struct wm_trace_writer *w = kit_create(format);
	struct wm_producer *p = kit_producer(w, 42);

	assert_int_equal(kit_event(p, 1, 0, "plain", "n:u4"), 0);
	assert_int_equal(kit_event(p, 2, WM_CONTEXT_CPU, "text", "s:s"), 0);
	for (uint32_t round = 0; round < ROUNDS; round++)
		write_round(p, KIT_START + 1000 + round * 100000, round);
	assert_int_equal(wm_writer_close(w), 0);
}

struct result {
	int err; /* result of wm_read_open() */
	uint32_t events, faults, lost;
	char said[4 * WM_DIAG_SENTENCE]; /* reasons of all faults */
};

/* Reads all events; fails when time decreases without a fault. */
static struct result read_all(void)
{
	struct result result = {0};
	const struct wm_event *e;
	struct wm_trace *t = NULL;
	struct wm_merge *m;
	struct wm_diag d = {.offset = -1};
	int64_t before = INT64_MIN;
	bool went_back = false;
	int got;

	result.err = wm_read_open(kit_dir, &t, &d);
	if (result.err) {
		assert_true(d.sentence[0] != 0);
		return result;
	}
	m = kit_merge(t);
	while ((got = wm_merge_next(m, &e)) == 1) {
		went_back |= e->ns < before;
		before = e->ns;
		result.events += !e->type->meta;
	}
	assert_int_equal(got, 0);
	result.faults = t->nr_faults;
	result.lost = t->nr_losses;
	assert_true(!went_back || result.faults);
	for (uint32_t i = 0; i < t->nr_faults; i++)
		(void)snprintf(result.said + strlen(result.said),
			       sizeof(result.said) - strlen(result.said), "%s\n",
			       t->faults[i].reason);
	wm_merge_destroy(m);
	wm_trace_close(t);
	return result;
}

static uint32_t nr_repairs;

static void count_repair(const struct wm_fault *f, void *data)
{
	assert_true(f->reason[0] != 0);
	nr_repairs++;
}

static uint32_t repair(void)
{
	struct wm_diag d;

	nr_repairs = 0;
	if (wm_own_repair(kit_dir, count_repair, NULL, &d))
		fail_msg("%s", d.sentence);
	return nr_repairs;
}

/* --- whole traces ------------------------------------------------------------------- */

static void next(struct wm_merge *m, const struct wm_event **ret)
{
	assert_int_equal(wm_merge_next(m, ret), 1);
}

static void values_of(enum wm_trace_format format)
{
	const struct wm_event *e;
	struct wm_trace *t;
	struct wm_merge *m;

	write_trace(format);
	t = kit_open();
	m = kit_merge(t);
	assert_true(t->is_own);
	next(m, &e);
	assert_true(e->type->meta);
	assert_string_equal(e->type->name, "waymark:process");
	assert_int_equal(e->pid, 42);
	next(m, &e);
	assert_false(e->type->meta);
	assert_string_equal(e->type->provider, "app");
	assert_string_equal(e->type->name, "app:plain");
	assert_string_equal(t->ops->comm(t, e), "app");
	assert_int_equal(e->clock, KIT_START + 1000);
	assert_int_equal(e->ns, KIT_REALTIME + 1000);
	assert_int_equal(e->pid, 42);
	assert_int_equal(e->tid, 101);
	assert_int_equal(e->cpu, -1);
	next(m, &e);
	assert_int_equal(e->tid, 102); /* same time, the later lane */
	assert_int_equal(e->clock, KIT_START + 1000);
	assert_int_equal(e->cpu, 0);
	assert_int_equal(kit_field(e, "s")->count, 4);
	assert_memory_equal(kit_field(e, "s")->text, "text", 4);
	wm_merge_destroy(m);
	wm_trace_close(t);
	assert_int_equal(read_all().events, ALL);
	assert_int_equal(read_all().faults, 0);
}

static void test_values_ctf1(void **state)
{
	values_of(WM_TRACE_CTF1);
}

static void test_values_ctf2(void **state)
{
	values_of(WM_TRACE_CTF2);
}

static const int64_t all_values[] = {4, 2, -1, 0, 1};
static const char all_schema[] =
    "i1:i1;i2:i2;i4:i4;i8:i8;u1:u1;u2:u2;u4:u4;u8:u8;x1:x1;x2:x2;x4:x4;x8:x8;yes:b1;f:f4;d:f8;"
    "ptr:p8;s:s;c:c#;arr:a#i4;seq:qu2;blob:z;e:ei1{bad#,fine#,good#}";

/*
 * Adds the zeros that a record of the class needs for its contexts and fields; zeros are valid for
 * every class.
 */
static void put_zeros(struct kit_packet *k, const struct wm_class *class, uint32_t contexts)
{
	for (uint32_t i = 0; i < class->nr_fields; i++) {
		const struct wm_field *f = &class->fields[i];
		uint32_t n = f->shape == WM_SHAPE_SCALAR   ? f->bytes
			     : f->shape == WM_SHAPE_STRING ? 1
			     : f->shape == WM_SHAPE_CHARS  ? f->length
			     : f->shape == WM_SHAPE_ARRAY  ? f->length * f->bytes
							   : 4;

		while (n--)
			kit_put(k, 0, 1);
	}
	if (contexts & WM_CONTEXT_CPU)
		kit_put(k, 0, 4);
	if (contexts & WM_CONTEXT_USTACK)
		kit_put(k, 0, 4);
}

static enum wm_type_kind kind_of(const struct wm_field *f)
{
	static const enum wm_type_kind of_scalar[] = {
	    [WM_SCALAR_SIGNED] = WM_TYPE_SIGNED, [WM_SCALAR_UNSIGNED] = WM_TYPE_UNSIGNED,
	    [WM_SCALAR_HEX] = WM_TYPE_UNSIGNED,  [WM_SCALAR_POINTER] = WM_TYPE_UNSIGNED,
	    [WM_SCALAR_BOOL] = WM_TYPE_BOOL,     [WM_SCALAR_FLOAT] = WM_TYPE_FLOAT,
	};
	static const enum wm_type_kind of_shape[] = {
	    [WM_SHAPE_STRING] = WM_TYPE_STRING, [WM_SHAPE_CHARS] = WM_TYPE_STRING,
	    [WM_SHAPE_ARRAY] = WM_TYPE_LIST,    [WM_SHAPE_SEQUENCE] = WM_TYPE_LIST,
	    [WM_SHAPE_BLOB] = WM_TYPE_BYTES,
	};

	return f->shape == WM_SHAPE_SCALAR ? of_scalar[f->scalar] : of_shape[f->shape];
}

static void same_field(const struct wm_event *e, const struct wm_field *f)
{
	const struct wm_item *i = kit_field(e, f->name);
	const struct wm_type *t = i->member->type;

	assert_int_equal(t->kind, kind_of(f));
	if (f->shape == WM_SHAPE_SCALAR && f->scalar != WM_SCALAR_BOOL)
		assert_int_equal(t->bits, 8 * f->bytes);
	if (f->shape == WM_SHAPE_SCALAR)
		assert_int_equal(t->look == WM_LOOK_HEX,
				 f->scalar == WM_SCALAR_HEX || f->scalar == WM_SCALAR_POINTER);
	assert_int_equal(t->nr_labels, f->nr_labels);
	for (uint32_t n = 0; n < f->nr_labels; n++) {
		const struct wm_item value = {.s = f->labels[n].value};

		assert_string_equal(wm_type_label(t, &value), f->labels[n].name);
	}
	if (f->shape == WM_SHAPE_ARRAY)
		assert_int_equal(i->count, f->length);
}

static void same_class(enum wm_trace_format format, const char *schema, const int64_t *values,
		       uint16_t nr_values, uint32_t contexts)
{
	struct wm_trace_writer *w = kit_create(format);
	struct wm_producer *p = kit_producer(w, 42);
	struct wm_class *wanted = kit_class("all", schema, values, nr_values);
	const struct wm_event *e;
	struct wm_trace *t;
	struct wm_merge *m;
	struct kit_packet k = {0};

	assert_int_equal(
	    wm_producer_event(p, 7, contexts, kit_class("all", schema, values, nr_values)), 0);
	kit_record(&k, 7, 2000);
	put_zeros(&k, wanted, contexts);
	assert_int_equal(kit_send(p, &k, 1, 0), 0);
	assert_int_equal(wm_writer_close(w), 0);
	t = kit_open();
	m = kit_merge(t);
	assert_int_equal(kit_next(m, &e), 1);
	for (uint32_t i = 0; i < wanted->nr_fields; i++)
		same_field(e, &wanted->fields[i]);
	assert_int_equal(e->cpu, contexts & WM_CONTEXT_CPU ? 0 : -1);
	assert_int_equal(e->type->nr_contexts,
			 contexts & WM_CONTEXT_USTACK && format == WM_TRACE_CTF1 ? 2 : 0);
	assert_int_equal(kit_next(m, &e), 0);
	assert_int_equal(t->nr_faults, 0);
	wm_merge_destroy(m);
	wm_trace_close(t);
	wm_class_destroy(wanted);
}

/* The class read from the metadata equals the class that was written. */
static void test_classes_ctf1(void **state)
{
	same_class(WM_TRACE_CTF1, all_schema, all_values, NR(all_values), WM_CONTEXT_ALL);
}

static void test_classes_ctf2(void **state)
{
	same_class(WM_TRACE_CTF2, all_schema, all_values, NR(all_values), WM_CONTEXT_ALL);
}

static void test_classes_static(void **state)
{
	same_class(WM_TRACE_CTF1, "a:u1;b:f8;c:p8;d:b1", NULL, 0, WM_CONTEXT_CPU);
}

static void test_classes_empty(void **state)
{
	same_class(WM_TRACE_CTF2, "", NULL, 0, 0);
}

static void test_summary(void **state)
{
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 42);
	struct wm_trace *t;

	assert_int_equal(kit_event(p, 1, 0, "plain", ""), 0);
	assert_int_equal(kit_send_plain(p, 1, 5, 3000, 4000), 0);
	assert_int_equal(wm_writer_lost(p, 3000, 4000, "torn", 3), 0);
	assert_int_equal(wm_writer_lost(p, 3000, 4000, "full", 4), 0);
	wm_producer_remove(p, 5000);
	assert_int_equal(wm_writer_close(w), 0);
	t = kit_open();
	assert_int_equal(kit_lost(t, "full"), 4);
	assert_int_equal(kit_lost(t, "torn"), 3);
	assert_int_equal(kit_lost(t, "disk"), 0);
	assert_int_equal(kit_lost(t, WM_CAUSE_UNKNOWN), 0);
	assert_int_equal(t->clocks[0]->error_ns, 25);
	assert_string_equal(t->clocks[0]->name, "monotonic");
	assert_string_equal(wm_trace_word(t, "command"), "./app \"x\"");
	assert_string_equal(t->version, "1.8");
	assert_int_equal(t->nr_processes, 1);
	assert_int_equal(t->processes[0].pid, 42);
	assert_string_equal(t->processes[0].path, "/bin/app");
	assert_int_equal(t->processes[0].end_ns, KIT_REALTIME + 5000 - KIT_START);
	wm_trace_close(t);
}

/* Many files with interleaved times: the merge is a stable sort by time. */
static void test_merge(void **state)
{
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 42);
	struct result got;

	assert_int_equal(kit_event(p, 1, 0, "plain", ""), 0);
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(kit_send_plain(p, 1, i, 2000 + i * 37 % 101, 3000 + i * 53 % 211),
				 0);
	assert_int_equal(wm_writer_close(w), 0);
	got = read_all(); /* fails when the order is wrong */
	assert_int_equal(got.events, 400);
	assert_int_equal(got.faults, 0);
}

/* --- bytes of files ----------------------------------------------------------------------- */

static const char *file_path(const char *name)
{
	static char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", kit_dir, name);
	return path;
}

static void put_file(const char *name, const void *data, size_t bytes)
{
	int fd = open(file_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(wm_file_write(fd, data, bytes), 0);
	close(fd);
}

/*
 * The file of thread 101 has four packets of PER_A records of 16 bytes; the last record has 12
 * bytes and 4 of padding.
 */
#define PACKET_A (FRAME + PER_A * 16)

static char *slurp_a(size_t *ret_bytes)
{
	char *data = kit_slurp(kit_dir, "user-1-0", ret_bytes);

	assert_int_equal(*ret_bytes, ROUNDS * PACKET_A);
	return data;
}

/* --- cut at every byte, in `make check` at every fifth ------------------------------------- */

static void test_cut_every_byte(void **state)
{
	size_t bytes, index_bytes;
	char *data, *index;

	write_trace(WM_TRACE_CTF1);
	data = slurp_a(&bytes);
	index = kit_slurp(kit_dir, "index/user-1-0.idx", &index_bytes);
	for (size_t cut = 0; cut < bytes; cut += kit_rounds(5, 1)) {
		uint32_t whole = (uint32_t)(cut / PACKET_A);
		uint32_t want = whole * PER_A + ROUNDS * PER_B;
		struct result got;

		put_file("user-1-0", data, cut);
		put_file("index/user-1-0.idx", index, index_bytes);
		got = read_all();
		assert_int_equal(got.err, 0);
		if (got.events != want || got.faults != 1)
			fail_msg("cut at %zu: %u events, wanted %u; %u faults, last: %s", cut,
				 got.events, want, got.faults, got.said);
		assert_true(repair() > 0);
		got = read_all();
		assert_int_equal(got.events, want);
		assert_int_equal(got.faults, 0);
		assert_int_equal(repair(), 0);
	}
	free(data);
	free(index);
}

/*
 * Truncates a file at many offsets: reading must neither crash nor yield more events than before.
 */
static void cut_file(const char *name)
{
	size_t bytes;
	char *data = kit_slurp(kit_dir, name, &bytes);

	for (size_t cut = 0; cut < bytes; cut += cut < 600 ? kit_rounds(5, 1) : kit_rounds(37, 7)) {
		struct result got;

		put_file(name, data, cut);
		got = read_all();
		assert_true(got.err || got.events <= ALL);
	}
	put_file(name, data, bytes);
	assert_int_equal(read_all().events, ALL);
	free(data);
}

static void test_cut_other_files(void **state)
{
	write_trace(WM_TRACE_CTF1);
	cut_file("metadata");
	cut_file("waymark-0");
	cut_file("user-1-1");
	cut_file("index/user-1-1.idx");
}

static void test_cut_metadata_ctf2(void **state)
{
	write_trace(WM_TRACE_CTF2);
	cut_file("metadata");
}

/* --- specific kinds of damage ---------------------------------------------------------------- */

/* Writes `value` at an offset in user-1-0; returns the result of reading. */
static struct result damage(size_t at, uint64_t value, uint32_t width)
{
	struct result got;
	size_t bytes;
	char *data;

	write_trace(WM_TRACE_CTF1);
	data = slurp_a(&bytes);
	memcpy(data + at, &value, width);
	put_file("user-1-0", data, bytes);
	free(data);
	got = read_all();
	assert_int_equal(got.err, 0);
	return got;
}

static void expect(struct result got, uint32_t events, const char *why)
{
	if (got.events != events || !got.faults || !strstr(got.said, why))
		fail_msg("%u events, %u faults, \"%s\"; wanted %u, \"%s\"", got.events, got.faults,
			 got.said, events, why);
}

#define SECOND PACKET_A /* offset of the second packet */

static void after_repair(uint32_t events)
{
	struct result got;

	assert_true(repair() > 0);
	got = read_all();
	assert_int_equal(got.events, events);
	assert_int_equal(repair(), 0);
	assert_int_equal(read_all().events, events);
	if (kit_has_babeltrace()) {
		char *errors, *out = kit_babeltrace("", &errors);

		/* One line more than events, for the event about the process. */
		assert_int_equal(kit_lines(out), events + 1);
		free(out);
		free(errors);
	}
}

static void test_bad_magic(void **state)
{
	expect(damage(SECOND, 0, 4), ALL - PER_A, "not a packet: its magic number");
	after_repair(ALL - PER_A);
}

static void test_other_uuid(void **state)
{
	expect(damage(SECOND + 4, 1, 8), ALL - PER_A, "another trace");
	after_repair(ALL - PER_A);
}

static void test_unknown_stream(void **state)
{
	expect(damage(SECOND + 20, 77, 4), ALL - PER_A, "stream class 77");
	after_repair(ALL - PER_A);
}

static void test_content_too_large(void **state)
{
	expect(damage(SECOND + 48, PACKET_A * 8 + 8, 8), ALL - PER_A, "content has 2120 bits");
	after_repair(ALL - PER_A);
}

static void test_content_too_small(void **state)
{
	expect(damage(SECOND + 48, 64, 8), ALL - PER_A, "content has 64 bits");
	after_repair(ALL - PER_A);
}

static void test_packet_huge(void **state)
{
	expect(damage(SECOND + 56, UINT64_MAX & ~63ull, 8), ALL - PER_A,
	       "the last packet is truncated");
	after_repair(ALL - PER_A);
}

/* The packet's size exceeds the file, but undamaged packets follow. */
static void test_packet_too_long(void **state)
{
	expect(damage(SECOND + 56, 100 * PACKET_A * 8, 8), ALL - PER_A, "is truncated");
	after_repair(ALL - PER_A);
}

static void test_times_swapped(void **state)
{
	expect(damage(SECOND + 40, 0, 8), ALL - PER_A, "ends before it begins");
	after_repair(ALL - PER_A);
}

static void test_count_impossible(void **state)
{
	expect(damage(SECOND + 80, UINT64_MAX, 8), ALL - PER_A, "which is impossible");
	after_repair(ALL - PER_A);
}

static void test_count_wrong(void **state)
{
	expect(damage(SECOND + 80, PER_A - 1, 8), ALL,
	       "this packet has 10 events and should have 9");
	after_repair(ALL);
}

static void test_unknown_event(void **state)
{
	size_t third = SECOND + FRAME + 2 * 16;

	expect(damage(third, 999, 2), ALL - PER_A + 2, "of a kind the metadata does not describe");
	after_repair(ALL - PER_A + 2);
}

static void test_record_runs_over(void **state)
{
	size_t last = SECOND + FRAME + (PER_A - 1) * 16;

	/* A record with the id of event 2 has a string, which lacks its NUL here. */
	expect(damage(last, 2, 2), ALL - 1, "extends past the packet's content");
	after_repair(ALL - 1);
}

static void test_time_after_end(void **state)
{
	expect(damage(SECOND + FRAME + 16 + 2, KIT_START + 9000000, 6), ALL,
	       "after its packet's end");
}

static void test_packet_missing(void **state)
{
	size_t bytes;
	char *data;

	write_trace(WM_TRACE_CTF1);
	data = slurp_a(&bytes);
	memmove(data + SECOND, data + 2 * PACKET_A, bytes - 2 * PACKET_A);
	put_file("user-1-0", data, bytes - PACKET_A);
	free(data);
	expect(read_all(), ALL - PER_A, "its index lists 4 packets, of which 3 are present");
	assert_int_equal(read_all().lost, 1); /* its sequence number is missing, too */
}

static void test_bytes_inserted(void **state)
{
	size_t bytes;
	char *data, *out;

	write_trace(WM_TRACE_CTF1);
	data = slurp_a(&bytes);
	out = calloc(1, bytes + 100001);
	memcpy(out, data, SECOND);
	memcpy(out + SECOND + 100001, data + SECOND, bytes - SECOND);
	put_file("user-1-0", out, bytes + 100001);
	free(out);
	free(data);
	expect(read_all(), ALL, "not a packet: its magic number");
	after_repair(ALL);
}

/*
 * --- missing files and files of other kinds -----------------------------------------------------
 */

static void refused(const char *why)
{
	struct wm_diag d = {.offset = -1};
	struct wm_trace *t = NULL;

	assert_true(wm_read_open(kit_dir, &t, &d) < 0);
	if (!strstr(d.sentence, why))
		fail_msg("\"%s\", wanted \"%s\"", d.sentence, why);
}

static void test_no_trace(void **state)
{
	refused("No such file");
	assert_int_equal(mkdir(kit_dir, 0700), 0);
	refused("no trace");
	put_file("metadata", "", 0);
	refused("does not begin like CTF");
	put_file("metadata", "hello", 5);
	refused("does not begin like CTF");
}

static void test_odd_files(void **state)
{
	struct result got;

	write_trace(WM_TRACE_CTF1);
	put_file("user-9-9", "", 0);
	assert_int_equal(read_all().faults, 0);
	put_file(".hidden", "junk", 4);
	assert_int_equal(mkfifo(file_path("fifo"), 0600), 0);
	assert_int_equal(symlink("/dev/zero", file_path("zero")), 0);
	assert_int_equal(symlink("nowhere", file_path("dangling")), 0);
	assert_int_equal(read_all().faults, 0);
	put_file("user-9-9", "junk", 4);
	got = read_all();
	assert_int_equal(got.events, ALL);
	assert_int_equal(got.faults, 1);
	after_repair(ALL);
}

static void test_no_index(void **state)
{
	write_trace(WM_TRACE_CTF1);
	assert_int_equal(unlink(file_path("index/user-1-0.idx")), 0);
	assert_int_equal(read_all().faults, 0);
	assert_int_equal(repair(), 1);
	assert_int_equal(repair(), 0);
}

/* Repairing an undamaged trace leaves exactly what the writer wrote. */
static void test_nothing_to_repair(void **state)
{
	write_trace(WM_TRACE_CTF1);
	assert_int_equal(repair(), 0);
}

static void test_repair_waits_for_the_writer(void **state)
{
	struct wm_diag d;
	int fd;

	write_trace(WM_TRACE_CTF1);
	fd = open(file_path("user-1-0"), O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 300), 0);
	assert_int_equal(wm_own_repair(kit_dir, count_repair, NULL, &d), -EBUSY);
	assert_non_null(strstr(d.sentence, "still being written"));
	close(fd);
	after_repair(PER_A + ROUNDS * PER_B);
}

/* A file is truncated while it is being read. */
static void test_shrinks(void **state)
{
	const struct wm_event *e;
	struct wm_trace *t;
	struct wm_merge *m;
	uint32_t events = 0;
	int got;

	write_trace(WM_TRACE_CTF1);
	t = kit_open();
	assert_int_equal(truncate(file_path("user-1-0"), PACKET_A + 10), 0);
	m = kit_merge(t);
	while ((got = kit_next(m, &e)) == 1)
		events++;
	assert_int_equal(got, 0);
	assert_int_equal(events, PER_A + ROUNDS * PER_B);
	assert_true(t->nr_faults > 0);
	wm_merge_destroy(m);
	wm_trace_close(t);
}

/* --- mutants -------------------------------------------------------------------------------- */

static uint64_t seed = 1234567;

static uint32_t roll(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % n;
}

/*
 * Changes random bytes of one file, then reads, repairs and reads again: a repair must not lose
 * events.
 */
static void mutate_file(const char *name, uint32_t rounds)
{
	static const unsigned char likely[] = {0, 1, 8, 0x7f, 0x80, 0xff};
	size_t bytes;
	char *good = kit_slurp(kit_dir, name, &bytes), *data = malloc(bytes);

	for (uint32_t i = 0; i < rounds; i++) {
		struct result before, after;
		struct wm_diag d;

		memcpy(data, good, bytes);
		for (uint32_t edits = 1 + roll(6); edits; edits--)
			data[roll((uint32_t)bytes)] =
			    (char)(roll(2) ? likely[roll(sizeof(likely))] : roll(256));
		put_file(name, data, bytes);
		before = read_all();
		if (!before.err && !wm_own_repair(kit_dir, count_repair, NULL, &d)) {
			after = read_all();
			assert_int_equal(after.events, before.events);
			assert_int_equal(repair(), 0);
		}
		put_file(name, good, bytes);
	}
	free(good);
	free(data);
}

static void test_mutants(void **state)
{
	write_trace(WM_TRACE_CTF1);
	mutate_file("user-1-0", kit_rounds(100, 1500));
	mutate_file("user-1-1", kit_rounds(40, 500));
	mutate_file("waymark-0", kit_rounds(30, 300));
	mutate_file("metadata", kit_rounds(60, 1000));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, kit_setup, kit_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_values_ctf1),
	    TEST(test_values_ctf2),
	    TEST(test_classes_ctf1),
	    TEST(test_classes_ctf2),
	    TEST(test_classes_static),
	    TEST(test_classes_empty),
	    TEST(test_summary),
	    TEST(test_merge),
	    TEST(test_cut_every_byte),
	    TEST(test_cut_other_files),
	    TEST(test_cut_metadata_ctf2),
	    TEST(test_bad_magic),
	    TEST(test_other_uuid),
	    TEST(test_unknown_stream),
	    TEST(test_content_too_large),
	    TEST(test_content_too_small),
	    TEST(test_packet_huge),
	    TEST(test_packet_too_long),
	    TEST(test_times_swapped),
	    TEST(test_count_impossible),
	    TEST(test_count_wrong),
	    TEST(test_unknown_event),
	    TEST(test_record_runs_over),
	    TEST(test_time_after_end),
	    TEST(test_packet_missing),
	    TEST(test_bytes_inserted),
	    TEST(test_no_trace),
	    TEST(test_odd_files),
	    TEST(test_no_index),
	    TEST(test_nothing_to_repair),
	    TEST(test_repair_waits_for_the_writer),
	    TEST(test_shrinks),
	    TEST(test_mutants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
