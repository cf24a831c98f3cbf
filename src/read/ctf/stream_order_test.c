/* SPDX-License-Identifier: MIT */
/*
 * Packets of several files as streams: chunks in a tree, duplicates, losses with counters that
 * wrap, damage between packets, truncated files, errors in known tracers.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "read/open.h"
#include "trace/reader.h"

#define METADATA(env)                                                                              \
	"/* CTF 1.8 */ typealias integer { size = 8; } := u8; typealias integer { size = 32; } "   \
	":= "                                                                                      \
	"u32;"                                                                                     \
	"trace { major = 1; minor = 8; byte_order = le; uuid = "                                   \
	"\"01020304-0506-0708-090a-0b0c0d0e0f10\";"                                                \
	"packet.header := struct { u32 magic; u8 uuid[16]; u8 stream_instance_id; }; };"           \
	"env { hostname = \"h\"; " env "};"                                                        \
	"clock { name = c; freq = 1000000000; };"                                                  \
	"typealias integer { size = 32; map = clock.c.value; } := t32;"                            \
	"stream { packet.context := struct { t32 timestamp_begin; t32 timestamp_end;"              \
	"    u32 packet_size; u32 content_size; u8 packet_seq_num; u8 events_discarded; };"        \
	"  event.header := struct { t32 timestamp; }; };"                                          \
	"event { name = \"e\"; };"

#define PACKET_BYTES 64u

struct packet {
	uint8_t instance;
	uint32_t begin, end;
	uint8_t sequence, discarded;
	uint32_t event; /* time of the only event; 0: no event */
};

static void pack(unsigned char *at, const struct packet *p)
{
	static const unsigned char head[20] = {0xc1, 0x1f, 0xfc, 0xc1, 1,  2,  3,  4,  5,  6,
					       7,    8,    9,    10,   11, 12, 13, 14, 15, 16};
	uint32_t numbers[4] = {p->begin, p->end, PACKET_BYTES * 8, (39 + (p->event ? 4 : 0)) * 8};

	memset(at, 0, PACKET_BYTES);
	memcpy(at, head, sizeof(head));
	at[20] = p->instance;
	memcpy(at + 21, numbers, sizeof(numbers));
	at[37] = p->sequence;
	at[38] = p->discarded;
	memcpy(at + 39, &p->event, 4);
}

struct tree {
	char path[64];
	char *made[8]; /* files and folders that the test finally removes */
	int nr_made;
};

static void make_tree(struct tree *t)
{
	*t = (struct tree){0};
	(void)strcpy(t->path, "/tmp/waymark-ctf-XXXXXX");
	assert_non_null(mkdtemp(t->path));
}

static const char *made(struct tree *t, const char *name)
{
	char **path = &t->made[t->nr_made++];

	assert_true(asprintf(path, "%s/%s", t->path, name) > 0);
	return *path;
}

static void put(struct tree *t, const char *name, const void *data, size_t bytes)
{
	int fd = open(made(t, name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(wm_file_write(fd, data, bytes), 0);
	close(fd);
}

static void put_packets(struct tree *t, const char *name, const struct packet *p, uint32_t count)
{
	unsigned char data[16 * PACKET_BYTES];

	for (uint32_t i = 0; i < count; i++)
		pack(data + i * PACKET_BYTES, &p[i]);
	put(t, name, data, count * PACKET_BYTES);
}

static void drop_tree(struct tree *t)
{
	while (t->nr_made) {
		char *path = t->made[--t->nr_made];

		assert_int_equal(remove(path), 0);
		free(path);
	}
	assert_int_equal(rmdir(t->path), 0);
}

/* Returns the times of all events, packet by packet. */
static uint32_t times(struct wm_trace *t, int64_t *ret)
{
	struct wm_packet_reader *r = t->ops->reader_create(t, NULL);
	struct wm_batch b = {0};
	uint32_t n = 0;

	assert_non_null(r);
	for (uint64_t p = 0; p < t->nr_packets; p++) {
		assert_int_equal(t->ops->reader_begin(r, &t->packets[p]), 0);
		while (wm_batch_read(t, r, &b) > 0)
			for (uint32_t i = 0; i < b.nr_events; i++)
				ret[n++] = b.events[i].ns;
	}
	wm_batch_done(&b);
	t->ops->reader_destroy(r);
	return n;
}

/* Two chunks, each with a metadata file; the second repeats a packet of the first. */
static void test_chunks_and_doubles(void **state)
{
	static const struct packet first[] = {{7, 10, 20, 0, 0, 15}, {7, 20, 30, 1, 0, 25}};
	static const struct packet second[] = {{7, 20, 30, 1, 0, 25}, {7, 30, 40, 2, 0, 35}};
	static const struct packet other[] = {{3, 5, 45, 0, 0, 12}};
	const char *metadata = METADATA("");
	struct wm_trace *t;
	int64_t ns[8];
	struct tree tree;

	make_tree(&tree);
	assert_int_equal(mkdir(made(&tree, "1"), 0700), 0);
	assert_int_equal(mkdir(made(&tree, "2"), 0700), 0);
	put(&tree, "1/metadata", metadata, strlen(metadata));
	put(&tree, "2/metadata", metadata, strlen(metadata));
	put_packets(&tree, "1/s", first, 2);
	put_packets(&tree, "2/s", second, 2);
	put_packets(&tree, "2/a", other, 1);
	assert_int_equal(wm_read_open(tree.path, &t, NULL), 0);
	assert_int_equal(t->nr_faults, 0);
	assert_int_equal(t->nr_losses, 0);
	assert_int_equal(t->nr_types, 1); /* both have the same metadata, which is read once */
	assert_int_equal(t->nr_streams, 3);
	assert_string_equal(t->streams[0]->file, "2/a"); /* sorted by instance, then by file */
	assert_string_equal(t->streams[1]->file, "1/s");
	assert_string_equal(t->streams[2]->file, "2/s");
	assert_string_equal(t->streams[2]->origin->name, "2");
	assert_string_equal(t->streams[2]->origin->uuid, "01020304-0506-0708-090a-0b0c0d0e0f10");
	assert_string_equal(wm_trace_word(t, "hostname"), "h");
	assert_int_equal(times(t, ns), 4);
	assert_int_equal(ns[0], 12);
	assert_int_equal(ns[3], 35);
	wm_trace_close(t);
	drop_tree(&tree);
}

/* 8-bit counters, which wrap, and continue across files. */
static void test_losses(void **state)
{
	static const struct packet packets[] = {
	    {1, 10, 20, 254, 250, 15}, {1, 30, 40, 255, 4, 35}, {1, 60, 70, 2, 4, 65}};
	const char *metadata = METADATA("");
	struct wm_trace *t;
	struct tree tree;

	make_tree(&tree);
	put(&tree, "metadata", metadata, strlen(metadata));
	put_packets(&tree, "s_0", packets, 2);
	put_packets(&tree, "s_1", packets + 2, 1);
	assert_int_equal(wm_read_open(tree.path, &t, NULL), 0);
	assert_int_equal(t->nr_losses, 3);
	assert_int_equal(t->losses[0].count, 250); /* lost before the first packet */
	assert_int_equal(t->losses[0].begin_ns, INT64_MIN);
	assert_int_equal(t->losses[1].count, 10);
	assert_int_equal(t->losses[1].begin_ns, 20);
	assert_int_equal(t->losses[1].end_ns, 40);
	assert_false(t->losses[1].packets);
	assert_true(t->losses[2].packets);
	assert_int_equal(t->losses[2].count, 2); /* packets 0 and 1, after 255 */
	assert_int_equal(t->losses[2].begin_ns, 40);
	assert_int_equal(t->packets[1].lost, 10);
	assert_int_equal(t->begin_ns, 10);
	assert_int_equal(t->end_ns, 70);
	wm_trace_close(t);
	drop_tree(&tree);
}

/* Packets 4 and 5 are lost; after the last one the numbers start over. */
static void test_lost_packets(void **state)
{
	static const struct packet packets[] = {
	    {1, 10, 20, 3, 0, 0}, {1, 30, 40, 6, 0, 35}, {1, 50, 60, 2, 0, 55}};
	const char *metadata = METADATA("");
	struct wm_trace *t;
	struct tree tree;

	make_tree(&tree);
	put(&tree, "metadata", metadata, strlen(metadata));
	put_packets(&tree, "s", packets, 3);
	assert_int_equal(wm_read_open(tree.path, &t, NULL), 0);
	assert_int_equal(t->nr_losses, 1);
	assert_true(t->losses[0].packets);
	assert_int_equal(t->losses[0].count, 2);
	assert_int_equal(t->losses[0].begin_ns, 20);
	assert_int_equal(t->losses[0].end_ns, 30);
	assert_int_equal(t->packets[0].nr_events, 0);
	wm_trace_close(t);
	drop_tree(&tree);
}

/* The time of a loss between packets without times is unknown. */
static void test_losses_without_times(void **state)
{
	static const char metadata[] =
	    "/* CTF 1.8 */ typealias integer { size = 8; } := u8; trace { major = 1; minor = 8;"
	    "byte_order = le; }; stream { packet.context := struct { u8 packet_size; u8 "
	    "content_size;"
	    "u8 packet_seq_num; u8 events_discarded; }; };"
	    "event { name = \"e\"; fields := struct { u8 a; }; };";
	static const unsigned char data[] = {40, 40, 0, 0, 7, 40, 40, 3, 5, 8};
	struct wm_trace *t;
	struct tree tree;

	make_tree(&tree);
	put(&tree, "metadata", metadata, strlen(metadata));
	put(&tree, "s", data, sizeof(data));
	assert_int_equal(wm_read_open(tree.path, &t, NULL), 0);
	assert_int_equal(t->nr_losses, 2);
	for (uint32_t i = 0; i < t->nr_losses; i++) {
		assert_int_equal(t->losses[i].count, t->losses[i].packets ? 2 : 5);
		assert_true(t->losses[i].begin_ns == INT64_MIN);
		assert_true(t->losses[i].end_ns == INT64_MAX);
	}
	wm_trace_close(t);
	drop_tree(&tree);
}

/* Files whose packets have no instance id are streams 0, 1... */
static void test_streams_without_instance(void **state)
{
	static const char metadata[] =
	    "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };"
	    "event { name = \"e\"; fields := struct { integer { size = 8; } a; }; };";
	struct wm_trace *t;
	struct tree tree;

	make_tree(&tree);
	put(&tree, "metadata", metadata, strlen(metadata));
	put(&tree, "b", "x", 1);
	put(&tree, "a", "y", 1);
	assert_int_equal(wm_read_open(tree.path, &t, NULL), 0);
	assert_int_equal(t->nr_streams, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(t->streams[i]->instance, i);
		assert_int_equal(t->streams[i]->file[0], 'a' + i);
	}
	wm_trace_close(t);
	drop_tree(&tree);
}

/* Bytes between packets, and a file that ends in the middle of a packet. */
static void test_damage_between_packets(void **state)
{
	static const struct packet packets[] = {
	    {1, 10, 20, 0, 0, 15}, {1, 20, 30, 1, 0, 25}, {1, 30, 40, 2, 0, 35}};
	unsigned char data[3 * PACKET_BYTES + 5];
	const char *metadata = METADATA("");
	struct wm_trace *t;
	struct tree tree;
	int64_t ns[4];

	memset(data, 0x55, sizeof(data));
	for (uint32_t i = 0; i < 3; i++)
		pack(data + i * PACKET_BYTES + (i ? 5 : 0), &packets[i]);
	make_tree(&tree);
	put(&tree, "metadata", metadata, strlen(metadata));
	put(&tree, "s", data, sizeof(data) - 10);
	assert_int_equal(wm_read_open(tree.path, &t, NULL), 0);
	assert_int_equal(times(t, ns), 3);
	assert_int_equal(ns[1], 25);
	assert_int_equal(t->nr_faults, 2);
	assert_int_equal(t->faults[0].offset, PACKET_BYTES);
	assert_non_null(strstr(t->faults[0].reason, "magic number is 0x55555555"));
	assert_int_equal(t->faults[1].offset, 2 * PACKET_BYTES + 5);
	assert_non_null(strstr(t->faults[1].reason, "the file ends in this packet"));
	assert_true(t->incomplete);
	wm_trace_close(t);
	drop_tree(&tree);
}

/* A file truncated between two packets: only its index reveals it. */
static void test_index_lists_more(void **state)
{
	static const struct packet packets[] = {{1, 10, 20, 0, 0, 15}, {1, 20, 30, 1, 0, 25}};
	unsigned char index[16 + 3 * 72] = {0xc1, 0xf1, 0xdc, 0xc1, 0, 0, 0, 1,
					    0,    0,    0,    1,    0, 0, 0, 72};
	const char *metadata = METADATA("");

	for (uint32_t n = 2; n <= 3; n++) {
		struct wm_trace *t;
		struct tree tree;

		make_tree(&tree);
		put(&tree, "metadata", metadata, strlen(metadata));
		put_packets(&tree, "s", packets, 2);
		assert_int_equal(mkdir(made(&tree, "index"), 0700), 0);
		put(&tree, "index/s.idx", index, 16 + n * 72);
		assert_int_equal(wm_read_open(tree.path, &t, NULL), 0);
		assert_int_equal(t->nr_packets, 2);
		assert_int_equal(t->nr_faults, n - 2);
		if (n == 3)
			assert_non_null(strstr(t->faults[0].reason, "lists 3 packets"));
		wm_trace_close(t);
		drop_tree(&tree);
	}
}

/* Packet starts and ends are corrected for old tracers that wrote wrong ones. */
static void test_quirks(void **state)
{
	static const struct {
		const char *metadata;
		int64_t begins[2], ends[2];
	} cases[] = {
	    {METADATA("tracer_name = \"lttng-ust\"; tracer_major = 2; tracer_minor = 10;"),
	     {10, 30},
	     {30, INT64_MAX}},
	    {METADATA("tracer_name = \"lttng-ust\"; tracer_major = 2; tracer_minor = 13;"),
	     {10, 30},
	     {20, 40}},
	    {METADATA("tracer_name = \"barectf\"; tracer_major = 2; tracer_minor = 3;"),
	     {INT64_MIN, 20},
	     {20, 40}},
	};
	static const struct packet packets[] = {{1, 10, 20, 0, 0, 15}, {1, 30, 40, 1, 0, 35}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wm_trace *t;
		struct tree tree;

		make_tree(&tree);
		put(&tree, "metadata", cases[i].metadata, strlen(cases[i].metadata));
		put_packets(&tree, "s", packets, 2);
		assert_int_equal(wm_read_open(tree.path, &t, NULL), 0);
		for (uint32_t p = 0; p < 2; p++) {
			assert_int_equal(t->packets[p].begin_ns, cases[i].begins[p]);
			assert_int_equal(t->packets[p].end_ns, cases[i].ends[p]);
		}
		wm_trace_close(t);
		drop_tree(&tree);
	}
}

/* A packet whose times overlap another packet of its stream is damaged. */
static void test_time_runs_back(void **state)
{
	static const struct packet packets[] = {
	    {1, 10, 20, 0, 0, 15}, {1, 50, 60, 1, 0, 55}, {1, 30, 40, 2, 0, 35}};
	const char *metadata = METADATA("");
	struct wm_trace *t;
	struct tree tree;

	make_tree(&tree);
	put(&tree, "metadata", metadata, strlen(metadata));
	put_packets(&tree, "s", packets, 3);
	assert_int_equal(wm_read_open(tree.path, &t, NULL), 0);
	assert_int_equal(t->nr_packets, 3);
	assert_int_equal(t->nr_faults, 1);
	assert_string_equal(t->faults[0].file, "s");
	assert_int_equal(t->faults[0].offset, 2 * PACKET_BYTES);
	assert_string_equal(t->faults[0].reason,
			    "a packet begins 20 ns earlier than the previous one");
	wm_trace_close(t);
	drop_tree(&tree);
}

/*
 * A file in which every fourth byte looks like the start of a packet: the number of faults is
 * limited, and reading is quick.
 */
static void test_false_beginnings(void **state)
{
	const size_t bytes = 1u << 20;
	unsigned char *data = malloc(bytes);
	const char *metadata = METADATA("");
	static const struct packet good = {1, 10, 20, 0, 0, 15};
	struct wm_trace *t;
	struct tree tree;

	assert_non_null(data);
	pack(data, &good);
	for (size_t at = PACKET_BYTES; at < bytes; at += 20)
		memcpy(data + at, data, at + 20 <= bytes ? 20 : bytes - at);
	make_tree(&tree);
	put(&tree, "metadata", metadata, strlen(metadata));
	put(&tree, "s", data, bytes);
	assert_int_equal(wm_read_open(tree.path, &t, NULL), 0);
	assert_int_equal(t->nr_packets, 1);
	assert_true(t->nr_faults + t->nr_faults_more > 100);
	wm_trace_close(t);
	drop_tree(&tree);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_chunks_and_doubles),
	    cmocka_unit_test(test_losses),
	    cmocka_unit_test(test_lost_packets),
	    cmocka_unit_test(test_losses_without_times),
	    cmocka_unit_test(test_damage_between_packets),
	    cmocka_unit_test(test_quirks),
	    cmocka_unit_test(test_streams_without_instance),
	    cmocka_unit_test(test_index_lists_more),
	    cmocka_unit_test(test_time_runs_back),
	    cmocka_unit_test(test_false_beginnings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
