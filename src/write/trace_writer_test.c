/* SPDX-License-Identifier: MIT */
/*
 * trace_writer_test.c - the output of the writer, as read by babeltrace2 and as bytes: fields of
 * every type, shared and clashing numberings, lanes, loss.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <endian.h>

#include "event/context.h"
#include "write/writer_int.h"
#include "write/writer_test_kit.h"

static const int64_t all_values[] = {4, 2, -1, 0, 1};
static const char all_schema[] =
    "i1:i1;i2:i2;i4:i4;i8:i8;u1:u1;u2:u2;u4:u4;u8:u8;x1:x1;x2:x2;x4:x4;"
    "x8:x8;yes:b1;f:f4;d:f8;ptr:p8;s:s;c:c#;arr:a#i4;seq:qu2;blob:z;"
    "e:ei1{bad#,good#,fine#}";

static void put_all(struct kit_packet *k)
{
	static const float f = 1.5f;
	static const double d = -0.25;
	uint32_t i;

	for (i = 0; i < 3; i++) {
		kit_put(k, (uint64_t)-1, 1);
		kit_put(k, (uint64_t)-2, 2);
		kit_put(k, (uint64_t)-3, 4);
		kit_put(k, (uint64_t)-4, 8);
	}
	kit_put(k, 1, 1);
	wm_text_add(&k->payload, &f, 4);
	wm_text_add(&k->payload, &d, 8);
	kit_put(k, 0xdeadbeefull, 8);
	kit_string(k, "say \"hi\"");
	wm_text_add(&k->payload, "ab\0", 4);
	kit_put(k, 10, 4);
	kit_put(k, (uint64_t)-11, 4);
	kit_put(k, 3, 4);
	kit_put(k, 65535, 2);
	kit_put(k, 0, 2);
	kit_put(k, 7, 2);
	kit_put(k, 2, 4);
	kit_put(k, 0xcafe, 2);
	kit_put(k, 255, 1);
}

static const char all_text[] =
    "i1 = -1, i2 = -2, i4 = -3, i8 = -4, u1 = 255, u2 = 65534, u4 = 4294967293, "
    "u8 = 18446744073709551612, x1 = 0xFF, x2 = 0xFFFE, x4 = 0xFFFFFFFD, "
    "x8 = 0xFFFFFFFFFFFFFFFC, yes = 1, f = 1.5, d = -0.25, ptr = 0xDEADBEEF, "
    "s = \"say \\\"hi\\\"\", c = \"ab\", arr = [ [0] = 10, [1] = -11 ], _seq_length = 3, "
    "seq = [ [0] = 65535, [1] = 0, [2] = 7 ], _blob_length = 2, "
    "blob = [ [0] = 0xFE, [1] = 0xCA ], e = ( \"bad\" : container = -1 )";

/*
 * Events with fields of every type and both contexts: the writer finds the padding of the last
 * record, whichever record is the last.
 */
static void test_every_type(void **state)
{
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 42);
	struct kit_packet k = {0};
	char want[4096], *out;

	assert_int_equal(
	    wm_producer_event(p, 7, WM_CONTEXT_CPU | WM_CONTEXT_USTACK,
			      kit_class("all", all_schema, all_values, NR(all_values))),
	    0);
	assert_int_equal(kit_event(p, 65535, WM_CONTEXT_CPU, "tiny", "n:u1"), 0);
	kit_record(&k, 7, 2000);
	kit_put(&k, 3, 4);
	kit_put(&k, 2, 4);
	kit_put(&k, 0x401000, 8);
	kit_put(&k, UINT64_MAX, 8);
	put_all(&k);
	kit_record(&k, 65535, 2500);
	kit_put(&k, 1, 4);
	kit_put(&k, 9, 1);
	assert_int_equal(kit_send(p, &k, 43, 0), 0);
	wm_producer_remove(p, 9000);
	assert_int_equal(wm_writer_close(w), 0);

	snprintf(
	    want, sizeof(want),
	    "[1700000000.000001000] waymark:process: { event_count = 1 }, { pid = 42, "
	    "ppid = 1, vpid = 42, uid = 1000, clock = 1000, comm = \"app\", path = "
	    "\"/bin/app\" }\n"
	    "[1700000000.000002000] app:all: { event_count = 2, pid = 42, vpid = 42, tid = 43, "
	    "level = 0 }, { cpu = 3 }, { _ustack_length = 2, ustack = [ [0] = 0x401000, [1] = "
	    "0xFFFFFFFFFFFFFFFF ], %s }\n"
	    "[1700000000.000002500] app:tiny: { event_count = 2, pid = 42, vpid = 42, tid = "
	    "43, level = 0 }, { cpu = 1 }, { n = 9 }\n"
	    "[1700000000.000009000] waymark:process_end: { event_count = 1 }, { pid = 42, "
	    "clock = 9000 }\n",
	    all_text);
	if (!kit_has_babeltrace())
		skip();
	out = kit_babeltrace("", NULL);
	assert_string_equal(out, want);
	free(out);
}

/* A last record of each length modulo 8 ends its packet exactly. */
static void test_last_padding(void **state)
{
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 1);
	struct kit_packet k = {0};
	uint32_t i, n;
	char *out;

	assert_int_equal(kit_event(p, 0, 0, "s", "s:s"), 0);
	for (i = 0; i < 9; i++) {
		for (n = 0; n < 3; n++) {
			kit_record(&k, 0, 2000 + 10 * i + n);
			kit_string(&k, "12345678" + i);
		}
		/* When the offset of the last record is not given, the writer finds it. */
		k.last = i % 2 ? k.last : 0;
		assert_int_equal(kit_send(p, &k, 1, 0), 0);
	}
	assert_int_equal(wm_writer_close(w), 0);
	if (!kit_has_babeltrace())
		skip();
	out = kit_babeltrace("", NULL);
	assert_int_equal(kit_lines(out), 1 + 27);
	free(out);
}

/* --- numberings ------------------------------------------------------------- */

static uint32_t stream_of(const struct wm_producer *p)
{
	return p->stream ? p->stream->id : 0;
}

static void test_numberings(void **state)
{
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *a = kit_producer(w, 1), *b = kit_producer(w, 2),
			   *c = kit_producer(w, 3);
	char *out;

	assert_int_equal(kit_event(a, 1, 0, "one", ""), 0);
	assert_int_equal(kit_event(a, 2, 0, "two", ""), 0);
	assert_int_equal(kit_event(b, 1, 0, "one", ""), 0);
	assert_int_equal(kit_event(b, 3, 0, "three", ""), 0);
	assert_int_equal(kit_event(c, 1, 0, "two", ""), 0); /* clashes with both */
	/*
	 * Declaring the same again is allowed, changing it is not: fields and contexts count, too.
	 */
	assert_int_equal(kit_event(a, 1, 0, "one", ""), 0);
	assert_int_equal(kit_event(a, 1, 0, "uno", ""), -EEXIST);
	assert_int_equal(kit_event(a, 1, 0, "one", "n:i4"), -EEXIST);
	assert_int_equal(kit_event(a, 1, WM_CONTEXT_CPU, "one", ""), -EEXIST);
	assert_int_equal(kit_event(a, 65536, 0, "one", ""), -EINVAL);
	assert_int_equal(kit_event(a, 9, 4, "one", ""), -EINVAL);

	assert_int_equal(kit_send_plain(a, 2, 1, 2000, 2000), 0);
	assert_int_equal(kit_send_plain(b, 3, 2, 2001, 2001), 0);
	assert_int_equal(kit_send_plain(c, 1, 3, 2002, 2002), 0);
	assert_int_equal(stream_of(a), 1);
	assert_int_equal(stream_of(b), 1);
	assert_int_equal(stream_of(c), 2);

	/*
	 * a declares a new event, which its class accepts. b's new event then clashes with a's, so
	 * b moves to another class.
	 */
	assert_int_equal(kit_event(a, 4, 0, "four", ""), 0);
	assert_int_equal(kit_send_plain(a, 4, 1, 2003, 2003), 0);
	assert_int_equal(kit_event(b, 4, 0, "quattro", ""), 0);
	assert_int_equal(kit_send_plain(b, 4, 2, 2004, 2004), 0);
	assert_int_equal(kit_send_plain(b, 1, 2, 2005, 2005), 0);
	assert_int_equal(stream_of(a), 1);
	assert_int_equal(stream_of(b), 3);
	/* A fork of b shares b's class. */
	a = kit_producer(w, 4);
	assert_int_equal(kit_event(a, 4, 0, "quattro", ""), 0);
	assert_int_equal(kit_send_plain(a, 4, 4, 2006, 2006), 0);
	assert_int_equal(stream_of(a), 3);
	assert_int_equal(wm_writer_close(w), 0);

	assert_true(kit_exists("user-1-0") && kit_exists("user-2-0") && kit_exists("user-3-0"));
	assert_false(kit_exists("user-1-1") || kit_exists("user-4-0"));
	if (!kit_has_babeltrace())
		skip();
	out = kit_babeltrace("", NULL);
	assert_non_null(strstr(out, "002000] app:two: { event_count = 1, pid = 1,"));
	assert_non_null(strstr(out, "002001] app:three: { event_count = 1, pid = 2,"));
	assert_non_null(strstr(out, "002002] app:two: { event_count = 1, pid = 3,"));
	assert_non_null(strstr(out, "002003] app:four: { event_count = 1, pid = 1,"));
	assert_non_null(strstr(out, "002004] app:quattro: { event_count = 1, pid = 2,"));
	assert_non_null(strstr(out, "002005] app:one: { event_count = 1, pid = 2,"));
	assert_non_null(strstr(out, "002006] app:quattro: { event_count = 1, pid = 4,"));
	free(out);
}

static ino_t metadata_inode(void)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/metadata", kit_dir);
	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

/* 10,000 events cause one rewrite, for all producers at once, and none until a packet needs it. */
static void test_metadata_batches(void **state)
{
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 1), *q = kit_producer(w, 2);
	ino_t first = metadata_inode(), second;
	char name[32], *text;
	uint32_t i;

	for (i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "event_%u", i);
		assert_int_equal(kit_event(p, i, 0, name, "n:i4;s:s"), 0);
		assert_int_equal(kit_event(q, 10000 + i, 0, name, "n:i4;s:s"), 0);
	}
	assert_int_equal(kit_event(p, 20000, 0, "plain", ""), 0);
	assert_int_equal(kit_event(q, 20000, 0, "plain", ""), 0);
	assert_int_equal(metadata_inode(), first);
	assert_int_equal(kit_send_plain(p, 20000, 1, 2000, 2000), 0);
	second = metadata_inode();
	assert_int_not_equal(second, first);
	assert_int_equal(kit_send_plain(q, 20000, 1, 2001, 2001), 0);
	assert_int_equal(kit_send_plain(p, 20000, 1, 2002, 2002), 0);
	assert_int_equal(metadata_inode(), second);

	/* A refined clock is written at the end. */
	wm_writer_clock_hz(w, 1000000007);
	assert_int_equal(kit_send_plain(p, 20000, 1, 2003, 2003), 0);
	assert_int_equal(metadata_inode(), second);
	assert_int_equal(wm_writer_close(w), 0);
	text = kit_slurp(kit_dir, "metadata", NULL);
	assert_non_null(strstr(text, "freq = 1000000007;"));
	assert_non_null(strstr(text, "id = 19999;"));
	free(text);
	assert_false(kit_exists(".metadata.new"));
}

/* --- lanes ------------------------------------------------------------------ */

/* Walks a stream file by its packets; checks order, sizes, sequence and the index. */
static uint64_t check_lane(const char *name)
{
	const struct wm_packet_frame *f;
	const struct wm_index_entry *e;
	char index[64], *data, *entries;
	size_t bytes, index_bytes, at;
	uint64_t end = 0, records = 0, n = 0;

	snprintf(index, sizeof(index), "index/%s.idx", name);
	data = kit_slurp(kit_dir, name, &bytes);
	entries = kit_slurp(kit_dir, index, &index_bytes);
	for (at = 0; at < bytes; at += f->packet_size / 8, n++) {
		f = (const void *)(data + at);
		assert_true(bytes - at >= WM_FRAME_BYTES_PLAIN);
		assert_true(f->packet_size / 8 <= bytes - at && f->packet_size % 64 == 0);
		assert_true(f->content_size <= f->packet_size &&
			    f->packet_size - f->content_size < 64);
		assert_true(f->timestamp_begin >= end && f->timestamp_end >= f->timestamp_begin);
		assert_int_equal(f->packet_seq_num, n);
		end = f->timestamp_end;
		records += f->event_count;

		e = (const void *)(entries + 16 + 72 * n);
		assert_true(16 + 72 * (n + 1) <= index_bytes);
		assert_int_equal(be64toh(e->offset), at);
		assert_int_equal(be64toh(e->packet_size), f->packet_size);
		assert_int_equal(be64toh(e->content_size), f->content_size);
		assert_int_equal(be64toh(e->timestamp_begin), f->timestamp_begin);
		assert_int_equal(be64toh(e->timestamp_end), f->timestamp_end);
		assert_int_equal(be64toh(e->events_discarded), f->events_discarded);
		assert_int_equal(be64toh(e->stream_id), f->stream_id);
		assert_int_equal(be64toh(e->stream_instance_id), f->stream_instance_id);
		assert_int_equal(be64toh(e->packet_seq_num), n);
	}
	assert_int_equal(at, bytes);
	assert_int_equal(index_bytes, 16 + 72 * n);
	free(data);
	free(entries);
	return records;
}

/* Checks all user lanes; returns the number of their records, and of lanes. */
static uint64_t check_lanes(uint32_t *ret_lanes)
{
	DIR *d = opendir(kit_dir);
	const struct dirent *e;
	uint64_t records = 0;

	assert_non_null(d);
	*ret_lanes = 0;
	while ((e = readdir(d))) {
		if (strncmp(e->d_name, "user-", 5))
			continue;
		records += check_lane(e->d_name);
		++*ret_lanes;
	}
	closedir(d);
	return records;
}

static void test_lanes(void **state)
{
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 1);
	uint32_t lanes;

	assert_int_equal(kit_event(p, 1, 0, "e", ""), 0);
	assert_int_equal(kit_send_plain(p, 1, 1, 2000, 3000), 0); /* lane 0 */
	assert_int_equal(kit_send_plain(p, 1, 2, 3000, 4000), 0); /* adjacent: lane 0 */
	assert_int_equal(kit_send_plain(p, 1, 1, 3999, 5000), 0); /* lane 1 */
	assert_int_equal(kit_send_plain(p, 1, 3, 2500, 6000), 0); /* lane 2 */
	assert_int_equal(kit_send_plain(p, 1, 3, 4500, 4600), 0); /* lane 0 */
	assert_int_equal(wm_writer_close(w), 0);
	assert_int_equal(check_lane("user-1-0"), 6);
	assert_int_equal(check_lane("user-1-1"), 2);
	assert_int_equal(check_lane("user-1-2"), 2);
	assert_int_equal(check_lanes(&lanes), 10);
	assert_int_equal(lanes, 3);
	assert_int_equal(check_lane("waymark-0"), 1);
}

/* The packet begins with its first record, whatever the chunk's start is. */
static void test_begin_is_the_first_record(void **state)
{
	static const struct {
		uint64_t chunk, record;
	} cases[] = {
	    {2000, 2500},                                 /* taken long before */
	    {3000, 2900},                                 /* taken after the clock was read */
	    {((uint64_t)1 << 48) - 5, (uint64_t)1 << 48}, /* the low bits wrap between */
	    {((uint64_t)5 << 48) + 3, ((uint64_t)5 << 48) - 2},
	};
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 1);
	const struct wm_packet_frame *f;
	char *data;
	size_t i;

	assert_int_equal(kit_event(p, 1, 0, "e", ""), 0);
	for (i = 0; i < NR(cases); i++) {
		struct kit_packet k = {0};

		kit_record(&k, 1, cases[i].record);
		k.begin = cases[i].chunk;
		k.end = cases[i].record > k.begin ? cases[i].record : k.begin;
		assert_int_equal(kit_send(p, &k, 1, 0), 0);
	}
	assert_int_equal(wm_writer_close(w), 0);
	data = kit_slurp(kit_dir, "user-1-0", NULL);
	for (i = 0; i < NR(cases); i++) {
		f = (const void *)(data + i * (WM_FRAME_BYTES_USER + 8));
		assert_int_equal(f->timestamp_begin, cases[i].record);
	}
	free(data);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Random packets, few lanes allowed, few files open: every record is present once, in order. */
static void random_packets(uint32_t lanes_per_stream, uint32_t lanes, uint32_t *ret_files)
{
	enum { PRODUCERS = 5, PACKETS = 1500 };
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p[PRODUCERS];
	uint64_t rnd = 88172645463325252ull, records = 0, begin, now = 10000;
	struct wm_trace_totals totals;
	uint32_t i, n, k;
	char name[8];

	w->limits.lanes_per_stream = lanes_per_stream;
	w->limits.lanes = lanes;
	w->limits.mixed_bytes = 4096;
	w->folder.max_open = 3;
	for (i = 0; i < PRODUCERS; i++) {
		p[i] = kit_producer(w, 100 + i);
		/* Two numberings. */
		for (k = 0; k < 2; k++) {
			snprintf(name, sizeof(name), "e%u", k ^ (i & 1));
			assert_int_equal(kit_event(p[i], k, 0, name, "s:s;n:u4"), 0);
		}
	}
	for (i = 0; i < PACKETS; i++) {
		struct kit_packet packet = {0};

		begin = now - next_random(&rnd) % 5000;
		now += next_random(&rnd) % 100;
		n = 1 + (uint32_t)(next_random(&rnd) % 5);
		for (k = 0; k < n; k++) {
			kit_record(&packet, (uint16_t)(next_random(&rnd) % 2), begin + 100 * k);
			kit_string(&packet, "abcdefgh" + next_random(&rnd) % 9);
			kit_put(&packet, records++, 4);
		}
		assert_int_equal(kit_send(p[next_random(&rnd) % PRODUCERS], &packet, 7, 0), 0);
		assert_true(w->folder.nr_open <= 3);
	}
	wm_writer_totals(w, &totals);
	assert_int_equal(totals.events, records);
	assert_int_equal(totals.packets, PACKETS);
	assert_int_equal(totals.lost_disk, 0);
	assert_int_equal(wm_writer_close(w), 0);
	assert_int_equal(check_lanes(ret_files), records);
	if (kit_has_babeltrace()) {
		char *out = kit_babeltrace("", NULL), *at = out;

		/* babeltrace2 sorts the records; each number occurs exactly once. */
		assert_int_equal(kit_lines(out), records + PRODUCERS);
		char *seen = calloc(records, 1);

		assert_non_null(seen);
		while ((at = strstr(at, ", n = "))) {
			uint64_t number = strtoull(at + 6, &at, 10);

			assert_true(number < records && !seen[number]);
			seen[number] = 1;
		}
		assert_null(memchr(seen, 0, records));
		free(seen);
		free(out);
	}
}

static void test_many_lanes(void **state)
{
	uint32_t files;

	random_packets(256, 850, &files);
	assert_true(files > 10);
}

static void test_mixed_by_stream(void **state)
{
	uint32_t files;

	random_packets(3, 850, &files);
	assert_true(files > 6 && files < 20);
}

static void test_mixed_by_total(void **state)
{
	uint32_t files;

	random_packets(256, 1, &files);
	assert_true(files > 1 && files < 20);
}

/* Mixed: exact text; a record more than half a second late goes to another lane of the class. */
static void test_mixed_text(void **state)
{
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 1), *q = kit_producer(w, 2);
	const uint64_t second = 1000000000;
	struct kit_packet k = {0};
	char *out;

	w->limits.lanes = 0;
	assert_int_equal(kit_event(p, 5, 0, "a", ""), 0);
	assert_int_equal(kit_event(q, 5, WM_CONTEXT_CPU, "b", "s:s"), 0);
	assert_int_equal(kit_send_plain(p, 5, 11, second, second + 20), 0);
	kit_record(&k, 5, second + 10);
	kit_put(&k, 4, 4);
	kit_string(&k, "x");
	assert_int_equal(kit_send(q, &k, 12, 0), 0);
	assert_false(kit_exists("user-3-0"));
	assert_int_equal(kit_send_plain(p, 5, 11, 3 * second, 3 * second), 0);
	assert_true(kit_exists("user-3-0")); /* the first three records are already written */
	assert_int_equal(kit_send_plain(p, 5, 11, second + 5, second + 5), 0);
	assert_int_equal(wm_writer_close(w), 0);
	assert_int_equal(check_lane("user-3-0"), 4);
	assert_int_equal(check_lane("user-3-1"), 1);
	if (!kit_has_babeltrace())
		skip();
	out = kit_babeltrace("", NULL);
	assert_string_equal(
	    strstr(out, "[1700000001"),
	    "[1700000001.000000000] app:a: { event_count = 3 }, { pid = 1, vpid = 1, tid = 11, "
	    "level = 0 }, { }\n"
	    "[1700000001.000000005] app:a: { event_count = 1 }, { pid = 1, vpid = 1, tid = 11, "
	    "level = 0 }, { }\n"
	    "[1700000001.000000010] app:b: { event_count = 3 }, { pid = 2, vpid = 2, tid = 12, "
	    "level = 0 }, { cpu = 4 }, { s = \"x\" }\n"
	    "[1700000001.000000020] app:a: { event_count = 3 }, { pid = 1, vpid = 1, tid = 11, "
	    "level = 0 }, { }\n"
	    "[1700000003.000000000] app:a: { event_count = 1 }, { pid = 1, vpid = 1, tid = 11, "
	    "level = 0 }, { }\n");
	free(out);
}

/*
 * More overlapping threads than readers can open files: babeltrace2 opens the trace under ulimit -n
 * 1024.
 */
static void test_open_files(void **state)
{
	enum { PRODUCERS = 5, THREADS = 300 };
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	uint32_t i, t, lanes;
	char *out, name[8];

	for (i = 0; i < PRODUCERS; i++) {
		struct wm_producer *p = kit_producer(w, i + 1);

		snprintf(name, sizeof(name), "e%u", i);
		assert_int_equal(kit_event(p, 1, 0, name, ""), 0);
		for (t = 0; t < THREADS; t++)
			assert_int_equal(kit_send_plain(p, 1, t, 2000 + t, 9000 + t), 0);
	}
	assert_int_equal(wm_writer_close(w), 0);
	assert_int_equal(check_lanes(&lanes), 2 * PRODUCERS * THREADS);
	assert_true(lanes >= 850 && lanes < 950);
	if (!kit_has_babeltrace())
		skip();
	out = kit_babeltrace("ulimit -n 1024;", NULL);
	assert_int_equal(kit_lines(out), PRODUCERS + 2 * PRODUCERS * THREADS);
	free(out);
}

/* --- loss ------------------------------------------------------------------- */

static void test_discarded(void **state)
{
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 5);
	struct kit_packet k = {0};
	char *out, *err, *uuid;

	assert_int_equal(kit_event(p, 1, 0, "e", ""), 0);
	kit_record(&k, 1, 2000);
	assert_int_equal(kit_send(p, &k, 1, 3), 0);
	kit_record(&k, 1, 3000);
	assert_int_equal(kit_send(p, &k, 1, 0), 0);
	k.begin = k.end = 3500; /* no records, only a count */
	assert_int_equal(kit_send(p, &k, 1, 40), 0);
	assert_int_equal(wm_writer_lost(p, 1500, 3500, "full", 42), 0);
	assert_int_equal(wm_writer_lost(p, 3500, 3600, "nonsense", 1), 0);
	wm_producer_remove(p, 4000);
	assert_int_equal(wm_writer_close(w), 0);
	if (!kit_has_babeltrace())
		skip();
	out = kit_babeltrace("", &err);
	/* Two warnings with these counts and times, and the trace's name and UUID between them. */
	uuid = strstr(err, " in trace ");
	assert_non_null(uuid);
	assert_memory_equal(err,
			    "WARNING: Tracer discarded 3 events between "
			    "[1700000000.000002000] and [1700000000.000002000]",
			    uuid - err);
	uuid = strstr(uuid + 1, "WARNING: ");
	assert_memory_equal(uuid,
			    "WARNING: Tracer discarded 40 events between "
			    "[1700000000.000003000] and [1700000000.000003500] in trace ",
			    100);
	assert_int_equal(kit_lines(err), 2);
	free(err);
	assert_non_null(strstr(out, "003500] waymark:lost: { event_count = 3 }, { pid = 5, begin = "
				    "1500, end = 3500, cause = ( \"full\" : container = 0 ), "
				    "count = 42, cpu = -1 }\n"));
	assert_non_null(
	    strstr(out, "cause = ( \"unknown\" : container = 255 ), count = 1, cpu = -1 }\n"));
	free(out);
}

static void test_modules(void **state)
{
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 5);
	struct wm_module_info m = {.clock = 1200,
				   .base = 0x5000,
				   .start = 0x6000,
				   .bytes = 0x1000,
				   .build_id = (const unsigned char *)"\xab\xcd\x01",
				   .build_id_bytes = 3,
				   .path = "/lib/a.so"};
	char *out;

	assert_int_equal(wm_writer_module(p, &m), 0);
	m = (struct wm_module_info){.clock = 1100, .unload = true}; /* late: written in order */
	assert_int_equal(wm_writer_module(p, &m), 0);
	assert_int_equal(wm_writer_close(w), 0);
	if (!kit_has_babeltrace())
		skip();
	out = kit_babeltrace("", NULL);
	assert_string_equal(
	    strstr(out, "[1700000000.000001200]"),
	    "[1700000000.000001200] waymark:module: { event_count = 3 }, { pid = 5, clock = "
	    "1200, base = 0x5000, start = 0x6000, bytes = 0x1000, unload = 0, "
	    "_build_id_length = 3, build_id = [ [0] = 0xAB, [1] = 0xCD, [2] = 0x1 ], path = "
	    "\"/lib/a.so\" }\n"
	    "[1700000000.000001200] waymark:module: { event_count = 3 }, { pid = 5, clock = "
	    "1100, base = 0x0, start = 0x0, bytes = 0x0, unload = 1, _build_id_length = 0, "
	    "build_id = [ ], path = \"\" }\n");
	free(out);
}

static uint64_t folder_bytes;

static int add_bytes(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	folder_bytes += flag == FTW_F ? (uint64_t)st->st_size : 0;
	return 0;
}

/* After a flush the totals equal those of the finished trace, to the byte. */
static void test_totals(void **state)
{
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 5);
	struct wm_trace_totals totals;

	w->limits.lanes = 1;
	assert_int_equal(kit_event(p, 1, 0, "e", ""), 0);
	assert_int_equal(kit_send_plain(p, 1, 1, 2000, 3000), 0);
	assert_int_equal(kit_send_plain(p, 1, 2, 2500, 2500), 0); /* waits in a mixed stream */
	assert_int_equal(wm_writer_lost(p, 1500, 3500, "full", 42), 0);
	assert_false(kit_exists("user-2-0"));
	assert_int_equal(wm_writer_flush(w), 0);
	assert_true(kit_exists("user-2-0"));
	wm_writer_totals(w, &totals);
	assert_int_equal(totals.events, 3);
	assert_int_equal(totals.packets, 2);
	assert_int_equal(wm_writer_flush(w), 0);
	assert_int_equal(wm_writer_close(w), 0);
	folder_bytes = 0;
	assert_int_equal(nftw(kit_dir, add_bytes, 8, FTW_PHYS), 0);
	assert_int_equal(totals.bytes, folder_bytes);
}

/* --- refused packets -------------------------------------------------------- */

static void test_bad_packets(void **state)
{
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 1);
	struct wm_trace_totals totals;
	struct kit_packet k = {0};
	uint64_t words[4] = {2000ull << 16 | 1, 0, 2001ull << 16 | 1, 0};
	struct wm_raw_packet packet = {
	    .begin = 2000, .end = 2001, .count = 2, .payload = {words, 32}, .last_offset = 16};

	assert_int_equal(kit_event(p, 1, 0, "e", "n:u8"), 0);
	assert_int_equal(kit_event(p, 2, 0, "s", "s:s"), 0);
	packet.last_offset = 24; /* not the start of a record: id 0 is unknown */
	assert_int_equal(wm_producer_packet(p, &packet), -EBADMSG);
	packet.last_offset = 0; /* walked */
	words[2] = 2001ull << 16 | 7;
	assert_int_equal(wm_producer_packet(p, &packet), -EBADMSG);
	packet.last_offset = 8; /* a complete record, but not the last */
	words[1] = words[0];
	assert_int_equal(wm_producer_packet(p, &packet), -EBADMSG);
	packet.last_offset = 20;
	assert_int_equal(wm_producer_packet(p, &packet), -EBADMSG);
	packet.last_offset = 32;
	assert_int_equal(wm_producer_packet(p, &packet), -EBADMSG);

	kit_record(&k, 2, 2000);
	wm_text_str(&k.payload, "no NUL.."); /* eight bytes */
	assert_int_equal(kit_send(p, &k, 1, 0), -EBADMSG);
	kit_record(&k, 1, 2000);
	kit_put(&k, 1, 8);
	k.end = 1999;
	assert_int_equal(kit_send(p, &k, 1, 0), -EINVAL);
	kit_record(&k, 1, 2000);
	kit_put(&k, 1, 8);
	k.end = (uint64_t)1 << 60;
	assert_int_equal(kit_send(p, &k, 1, 0), -EINVAL);
	k.count = 1;
	assert_int_equal(kit_send(p, &k, 1, 0), -EINVAL);
	kit_record(&k, 1, 2000);
	kit_put(&k, 1, 8);
	k.count = 3;
	assert_int_equal(kit_send(p, &k, 1, 0), -EINVAL);

	wm_writer_totals(w, &totals);
	assert_int_equal(totals.packets, 0);
	assert_int_equal(totals.events, 0);
	assert_int_equal(totals.lost_disk, 0);
	assert_int_equal(wm_writer_close(w), 0);
	assert_false(kit_exists("user-1-0"));
}

static void test_folder_in_use(void **state)
{
	struct wm_trace_options o = {.clock_hz = 1000000000};
	struct wm_trace_writer *w = NULL;
	struct wm_diag diag = {0};
	char path[128];

	assert_int_equal(wm_writer_create("/nonexistent/dir/x", &o, &w, &diag), -ENOENT);
	assert_string_equal(diag.sentence, "cannot create the folder: No such file or directory");
	o.clock_hz = 0;
	assert_int_equal(wm_writer_create(kit_dir, &o, &w, &diag), -EINVAL);
	assert_int_not_equal(access(kit_dir, F_OK), 0);
	o.clock_hz = 1000000000;

	assert_int_equal(mkdir(kit_dir, 0700), 0);
	snprintf(path, sizeof(path), "%s/kept", kit_dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(wm_writer_create(kit_dir, &o, &w, &diag), -EEXIST);
	assert_string_equal(diag.sentence, "the folder is not empty; use a new one");
	assert_true(kit_exists("kept"));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(wm_writer_create(kit_dir, &o, &w, &diag), 0);
	assert_int_equal(wm_writer_close(w), 0);
	assert_int_equal(wm_writer_close(NULL), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, kit_setup, kit_teardown)
	const struct CMUnitTest tests[] = {
	    TEST(test_every_type),     TEST(test_last_padding),
	    TEST(test_numberings),     TEST(test_metadata_batches),
	    TEST(test_lanes),          TEST(test_begin_is_the_first_record),
	    TEST(test_many_lanes),     TEST(test_mixed_by_stream),
	    TEST(test_mixed_by_total), TEST(test_mixed_text),
	    TEST(test_open_files),     TEST(test_discarded),
	    TEST(test_modules),        TEST(test_totals),
	    TEST(test_bad_packets),    TEST(test_folder_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
