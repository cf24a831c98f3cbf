/* SPDX-License-Identifier: MIT */
/*
 * perf_record_test.c - builds attrs, samples and records field by field in both byte orders and
 * reads them back. Truncated ones are refused, and nothing after their end is accessed (the data
 * ends at the end of a malloc'ed block, so the sanitizer builds detect it).
 */
#include "kdata/perf_record.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kdata/perf_sample.h"

struct image {
	unsigned char data[4096];
	size_t bytes;
	bool big, swap;
};

static void put(struct image *m, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		m->data[m->bytes + (m->big ? bytes - 1 - i : i)] = (unsigned char)(value >> 8 * i);
	m->bytes += bytes;
}

static void put_text(struct image *m, const char *text, size_t room)
{
	memset(m->data + m->bytes, 0, room);
	memcpy(m->data + m->bytes, text, strlen(text));
	m->bytes += room;
}

static struct image begin(bool big, uint32_t type, uint16_t misc)
{
	struct image m = {.big = big, .swap = wm_order_swap(big)};

	put(&m, type, 4);
	put(&m, misc, 2);
	put(&m, 0, 2);
	return m;
}

static void end(struct image *m)
{
	size_t bytes = m->bytes;

	m->bytes = 6;
	put(m, bytes, 2);
	m->bytes = bytes;
}

#define TRAILER_TYPE                                                                               \
	(WM_PERF_SAMPLE_TID | WM_PERF_SAMPLE_TIME | WM_PERF_SAMPLE_ID | WM_PERF_SAMPLE_CPU |       \
	 WM_PERF_SAMPLE_STREAM_ID | WM_PERF_SAMPLE_IDENTIFIER)

static struct wm_perf_shape shape_of(bool big, uint64_t type)
{
	struct wm_perf_attr a = {
	    .sample_type = type,
	    .flags = WM_PERF_ATTR_SAMPLE_ID_ALL,
	    .read_format = 31,
	    .branch_sample_type = WM_PERF_BRANCH_HW_INDEX | WM_PERF_BRANCH_COUNTERS,
	    .regs_user = 0x8000000000000003ull,
	    .regs_intr = 0x10,
	};
	struct wm_perf_shape s;

	wm_kperf_shape_init(&s, &a, big);
	return s;
}

static void put_trailer(struct image *m)
{
	put(m, 11, 4);
	put(m, 12, 4);
	put(m, 1300, 8);
	put(m, 14, 8);
	put(m, 15, 8);
	put(m, 16, 4);
	put(m, 0, 4);
	put(m, 14, 8);
}

/*
 * Checks that the whole record parses to `want`, and that a truncated one, with its size adjusted,
 * does not.
 */
static void check_record(struct image *m, int want, struct wm_perf_record *ret, size_t min)
{
	struct wm_perf_shape s = shape_of(m->big, TRAILER_TYPE);
	uint64_t id;

	put_trailer(m);
	end(m);
	assert_int_equal(wm_kperf_record_parse(&s, m->data, m->bytes, ret, NULL), want);
	assert_int_equal(ret->id.pid, 11);
	assert_int_equal(ret->id.tid, 12);
	assert_int_equal(ret->id.time, 1300);
	assert_int_equal(ret->id.stream_id, 15);
	assert_int_equal(ret->id.cpu, 16);
	assert_int_equal(ret->id.id, 14);
	assert_int_equal(ret->body.bytes, m->bytes - 8 - 48);
	assert_int_equal(wm_kperf_record_id(&s, m->data, &id), 0);
	assert_int_equal(id, 14);
	for (size_t cut = 0; cut < m->bytes; cut++) {
		unsigned char *copy = malloc(cut ? cut : 1);
		struct wm_perf_record r;
		struct wm_diag d = {.sentence = ""};
		struct image short_size = *m;

		memcpy(copy, m->data, cut);
		assert_int_equal(wm_kperf_record_parse(&s, copy, cut, &r, &d), -EBADMSG);
		assert_true(d.sentence[0] && d.offset >= 0);
		short_size.bytes = cut;
		end(&short_size);
		if (cut >= 8)
			memcpy(copy, short_size.data, cut);
		if (cut >= 8 && cut < 56 + min)
			assert_int_equal(wm_kperf_record_parse(&s, copy, cut, &r, &d), -EBADMSG);
		else if (cut >= 8)
			/* Only checks that nothing is read beyond the end. */
			(void)wm_kperf_record_parse(&s, copy, cut, &r, &d);
		free(copy);
	}
}

static void check_text(struct wm_perf_text t, const char *want)
{
	assert_int_equal(t.bytes, strlen(want));
	assert_memory_equal(t.data, want, t.bytes);
}

static void check_mmaps(bool big)
{
	struct image m = begin(big, WM_PERF_MMAP, WM_PERF_MISC_USER);
	struct wm_perf_record r;

	put(&m, 1, 4);
	put(&m, 2, 4);
	put(&m, 0x400000, 8);
	put(&m, 0x1000, 8);
	put(&m, 0x20, 8);
	put_text(&m, "/bin/true", 16);
	check_record(&m, 1, &r, 32);
	assert_int_equal(r.header.misc, WM_PERF_MISC_USER);
	assert_int_equal(r.mmap.pid, 1);
	assert_int_equal(r.mmap.tid, 2);
	assert_int_equal(r.mmap.addr, 0x400000);
	assert_int_equal(r.mmap.len, 0x1000);
	assert_int_equal(r.mmap.pgoff, 0x20);
	check_text(r.mmap.filename, "/bin/true");

	m = begin(big, WM_PERF_MMAP2, 0);
	m.bytes += 32;
	put(&m, 8, 4);
	put(&m, 1, 4);
	put(&m, 77, 8);
	put(&m, 78, 8);
	put(&m, 5, 4);
	put(&m, 2, 4);
	put_text(&m, "no NUL..", 8);
	check_record(&m, 1, &r, 64);
	assert_int_equal(r.mmap.major, 8);
	assert_int_equal(r.mmap.minor, 1);
	assert_int_equal(r.mmap.inode, 77);
	assert_int_equal(r.mmap.inode_generation, 78);
	assert_int_equal(r.mmap.prot, 5);
	assert_int_equal(r.mmap.flags, 2);
	assert_null(r.mmap.build_id);
	check_text(r.mmap.filename, "no NUL..");
}

/*
 * A mapping whose header says that it has a build-id; `head` is the word where its size would be.
 */
static struct wm_perf_mmap promised(bool big, uint64_t flags, uint32_t head, struct image *m)
{
	struct wm_perf_attr a = {.flags = flags};
	struct wm_perf_shape s;
	struct wm_perf_record r;

	*m = begin(big, WM_PERF_MMAP2, WM_PERF_MISC_MMAP_BUILD_ID);
	m->bytes += 32;
	put(m, head, 4);
	put_text(m, "12345678901234567890", 20);
	m->bytes += 8;
	put_text(m, "x", 8);
	end(m);
	wm_kperf_shape_init(&s, &a, big);
	assert_int_equal(wm_kperf_record_parse(&s, m->data, m->bytes, &r, NULL), 1);
	check_text(r.mmap.filename, "x");
	return r.mmap;
}

static void check_build_ids(bool big)
{
	uint32_t size_20 = big ? 20u << 24 : 20, size_200 = big ? 200u << 24 : 200;
	struct wm_perf_mmap map;
	struct image m;

	map = promised(big, WM_PERF_ATTR_BUILD_ID, size_200, &m); /* limited to 20 */
	assert_int_equal(map.build_id_bytes, 20);
	assert_memory_equal(map.build_id, "12345678901234567890", 20);

	/* Another recorder asked for build-ids, so the record has the device. */
	map = promised(big, 0, 8, &m);
	assert_null(map.build_id);
	assert_int_equal(map.major, 8);

	/* perf inject added a build-id. */
	map = promised(big, 0, size_20, &m);
	assert_int_equal(map.build_id_bytes, 20);
	assert_memory_equal(map.build_id, "12345678901234567890", 20);
}

static void check_tasks(bool big)
{
	struct image m = begin(big, WM_PERF_FORK, 0);
	struct wm_perf_record r;

	for (unsigned i = 1; i <= 4; i++)
		put(&m, i, 4);
	put(&m, 99, 8);
	check_record(&m, 1, &r, 24);
	assert_int_equal(r.task.pid, 1);
	assert_int_equal(r.task.ppid, 2);
	assert_int_equal(r.task.tid, 3);
	assert_int_equal(r.task.ptid, 4);
	assert_int_equal(r.task.time, 99);

	m = begin(big, WM_PERF_COMM, WM_PERF_MISC_COMM_EXEC);
	put(&m, 5, 4);
	put(&m, 6, 4);
	put_text(&m, "dd", 8);
	check_record(&m, 1, &r, 8);
	assert_int_equal(r.comm.tid, 6);
	check_text(r.comm.comm, "dd");

	m = begin(big, WM_PERF_SWITCH_CPU_WIDE, WM_PERF_MISC_SWITCH_OUT);
	put(&m, 7, 4);
	put(&m, 8, 4);
	check_record(&m, 1, &r, 8);
	assert_int_equal(r.thread.pid, 7);
	assert_int_equal(r.thread.tid, 8);

	m = begin(big, WM_PERF_SWITCH, 0);
	check_record(&m, 1, &r, 0);

	m = begin(big, WM_PERF_NAMESPACES, 0);
	put(&m, 7, 4);
	put(&m, 8, 4);
	put(&m, 2, 8);
	for (unsigned i = 0; i < 4; i++)
		put(&m, 100 + i, 8);
	check_record(&m, 1, &r, 48);
	assert_int_equal(r.namespaces.dev_inode.nr, 4);
	assert_int_equal(wm_kperf_word(&r.namespaces.dev_inode, 3, m.swap), 103);

	m = begin(big, WM_PERF_NAMESPACES, 0);
	put(&m, 0, 8);
	put(&m, 1ull << 63, 8); /* doubling this number overflows */
	put_trailer(&m);
	end(&m);
	assert_int_equal(wm_kperf_record_parse(&(struct wm_perf_shape){.swap = m.swap}, m.data,
					       m.bytes, &r, NULL),
			 -EBADMSG);
}

static void check_losses(bool big)
{
	struct image m = begin(big, WM_PERF_LOST, 0);
	struct wm_perf_record r;

	put(&m, 3, 8);
	put(&m, 400, 8);
	check_record(&m, 1, &r, 16);
	assert_int_equal(r.lost.id, 3);
	assert_int_equal(r.lost.lost, 400);

	m = begin(big, WM_PERF_LOST_SAMPLES, 0);
	put(&m, 500, 8);
	check_record(&m, 1, &r, 8);
	assert_int_equal(r.lost.lost, 500);

	m = begin(big, WM_PERF_THROTTLE, 0);
	put(&m, 1, 8);
	put(&m, 2, 8);
	put(&m, 3, 8);
	check_record(&m, 1, &r, 24);
	assert_int_equal(r.throttle.stream_id, 3);

	m = begin(big, WM_PERF_AUX, 0);
	put(&m, 1, 8);
	put(&m, 2, 8);
	put(&m, 3, 8);
	check_record(&m, 1, &r, 24);
	assert_int_equal(r.aux.flags, 3);

	m = begin(big, WM_PERF_AUX_OUTPUT_HW_ID, 0);
	put(&m, 9, 8);
	check_record(&m, 1, &r, 8);
	assert_int_equal(r.hw_id, 9);

	m = begin(big, WM_PERF_READ, 0);
	put(&m, 1, 4);
	put(&m, 2, 4);
	put(&m, 1, 8); /* a group of one counter */
	put(&m, 10, 8);
	put(&m, 11, 8);
	put(&m, 12, 8);
	put(&m, 13, 8);
	put(&m, 14, 8);
	check_record(&m, 1, &r, 56);
	assert_int_equal(r.read.read.nr, 1);
	assert_int_equal(r.read.read.first.lost, 14);
}

static void check_code(bool big)
{
	struct image m = begin(big, WM_PERF_KSYMBOL, 0);
	struct wm_perf_record r;

	put(&m, 0xffffffff81000000ull, 8);
	put(&m, 64, 4);
	put(&m, 1, 2);
	put(&m, 1, 2);
	put_text(&m, "bpf_prog_1", 16);
	check_record(&m, 1, &r, 16);
	assert_int_equal(r.ksymbol.addr, 0xffffffff81000000ull);
	assert_int_equal(r.ksymbol.len, 64);
	assert_int_equal(r.ksymbol.type, 1);
	check_text(r.ksymbol.name, "bpf_prog_1");

	m = begin(big, WM_PERF_BPF_EVENT, 0);
	put(&m, 1, 2);
	put(&m, 0, 2);
	put(&m, 42, 4);
	put_text(&m, "tagtagta", 8);
	check_record(&m, 1, &r, 16);
	assert_int_equal(r.bpf.id, 42);
	assert_memory_equal(r.bpf.tag, "tagtagta", 8);

	m = begin(big, WM_PERF_CGROUP, 0);
	put(&m, 5, 8);
	put_text(&m, "/user", 8);
	check_record(&m, 1, &r, 8);
	check_text(r.cgroup.path, "/user");

	m = begin(big, WM_PERF_TEXT_POKE, 0);
	put(&m, 0x1000, 8);
	put(&m, 5, 2);
	put(&m, 3, 2);
	put_text(&m, "oldolnew", 12);
	check_record(&m, 1, &r, 20);
	assert_int_equal(r.text_poke.old_text.bytes, 5);
	assert_memory_equal(r.text_poke.new_text.data, "new", 3);

	m = begin(big, WM_PERF_CALLCHAIN_DEFERRED, 0);
	put(&m, 6, 8);
	put(&m, 2, 8);
	put(&m, WM_PERF_CONTEXT_USER, 8);
	put(&m, 0x401000, 8);
	check_record(&m, 1, &r, 32);
	assert_int_equal(r.deferred.cookie, 6);
	assert_int_equal(wm_kperf_word(&r.deferred.callchain, 1, m.swap), 0x401000);

	m = begin(big, 63, 0);
	put(&m, 1, 8);
	check_record(&m, 0, &r, 0);
}

static void test_records(void **state)
{
	for (int big = 0; big < 2; big++) {
		check_mmaps(big);
		check_build_ids(big);
		check_tasks(big);
		check_losses(big);
		check_code(big);
	}
}

/* Writes a sample with all parts. Returns the offset of the flags of the first branch. */
static size_t put_sample(struct image *m)
{
	static const struct {
		uint64_t value;
		unsigned bytes;
	} words[] = {
	    {14, 8},
	    {0x401000, 8},
	    {11, 4},
	    {12, 4},
	    {1300, 8},
	    {0xadd, 8},
	    /* period; READ of a group of two counters. */
	    {14, 8},
	    {15, 8},
	    {3, 4},
	    {0, 4},
	    {17, 8},
	    {2, 8},
	    {90, 8},
	    {80, 8},
	    {1, 8},
	    {2, 8},
	    {3, 8},
	    {4, 8},
	    {5, 8},
	    {6, 8}, /* call chain: */
	    {2, 8},
	    {-512, 8},
	    {0x402000, 8}, /* raw, branches: */
	    {12, 4},
	    {0x55, 1},
	    {0x66, 1},
	    {0, 2},
	    {0, 8},
	    {1, 8},
	    {7, 8},
	    {0x10, 8},
	    {0x20, 8},
	};
	static const struct {
		uint64_t value;
		unsigned bytes;
	} late[] = {
	    {33, 8}, /* branch counter; user registers; user stack */
	    {2, 8},  {1, 8},    {2, 8},  {63, 8},
	    {16, 8}, {0xaa, 8}, {0, 8},  {9, 8},  /* weight to transaction */
	    {21, 8}, {22, 8},   {23, 8},          /* registers: */
	    {1, 8},  {44, 8},                     /* physical address to code page */
	    {24, 8}, {25, 8},   {26, 8}, {27, 8}, /* aux: */
	    {8, 8},  {0x77, 8},
	};
	size_t flags_at;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		put(m, words[i].value, words[i].bytes);
	flags_at = m->bytes;
	put(m, 0, 8);
	for (size_t i = 0; i < sizeof(late) / sizeof(late[0]); i++)
		put(m, late[i].value, late[i].bytes);
	return flags_at;
}

static void check_sample_fixed(const struct wm_perf_sample *p)
{
	assert_int_equal(p->id, 14);
	assert_int_equal(p->ip, 0x401000);
	assert_int_equal(p->pid, 11);
	assert_int_equal(p->tid, 12);
	assert_int_equal(p->time, 1300);
	assert_int_equal(p->addr, 0xadd);
	assert_int_equal(p->stream_id, 15);
	assert_int_equal(p->cpu, 3);
	assert_int_equal(p->period, 17);
	assert_int_equal(p->weight, 21);
	assert_int_equal(p->data_src, 22);
	assert_int_equal(p->transaction, 23);
	assert_int_equal(p->phys_addr, 24);
	assert_int_equal(p->cgroup, 25);
	assert_int_equal(p->data_page_size, 26);
	assert_int_equal(p->code_page_size, 27);
	assert_int_equal(p->rest.bytes, 0);
}

static void check_sample_variable(const struct wm_perf_shape *s, const struct wm_perf_sample *p)
{
	struct wm_perf_counter k = wm_kperf_read_counter(s, &p->read, 1);

	assert_int_equal(p->read.nr, 2);
	assert_int_equal(p->read.time_enabled, 90);
	assert_int_equal(p->read.time_running, 80);
	assert_int_equal(p->read.first.value, 1);
	assert_int_equal(k.value, 4);
	assert_int_equal(k.id, 5);
	assert_int_equal(k.lost, 6);
	assert_int_equal(p->callchain.nr, 2);
	assert_true(wm_kperf_word(&p->callchain, 0, s->swap) == WM_PERF_CONTEXT_USER);
	assert_int_equal(wm_kperf_word(&p->callchain, 1, s->swap), 0x402000);
	assert_int_equal(p->raw.bytes, 12);
	assert_memory_equal(p->raw.data, "\x55\x66", 2);
	assert_int_equal(p->branches.nr, 1);
	assert_int_equal(p->branches.hw_index, 7);
	assert_int_equal(wm_kperf_word(&p->branches.counters, 0, s->swap), 33);
	assert_int_equal(p->regs_user.abi, WM_PERF_REGS_64);
	assert_int_equal(p->regs_user.words.nr, 3);
	assert_int_equal(wm_kperf_word(&p->regs_user.words, 2, s->swap), 63);
	assert_int_equal(p->stack_user_asked, 16);
	assert_int_equal(p->stack_user.bytes, 9);
	assert_int_equal(wm_kperf_word(&p->regs_intr.words, 0, s->swap), 44);
	assert_int_equal(p->aux.bytes, 8);
}

static void check_branch(const struct wm_perf_shape *s, const struct wm_perf_sample *p)
{
	struct wm_perf_branch b = wm_kperf_branch_get(s, &p->branches, 0);

	assert_int_equal(b.from, 0x10);
	assert_int_equal(b.to, 0x20);
	assert_true(b.mispred && !b.predicted && !b.in_tx && b.abort);
	assert_int_equal(b.cycles, 0x1234);
	assert_int_equal(b.type, 5);
	assert_int_equal(b.spec, 2);
	assert_int_equal(b.new_type, 9);
	assert_int_equal(b.priv, 3);
}

static void check_sample_cuts(const struct wm_perf_shape *s, struct image *m)
{
	for (size_t cut = 8; cut < m->bytes; cut++) {
		unsigned char *copy = malloc(cut);
		struct image part = *m;
		struct wm_perf_sample p;
		struct wm_diag d = {.sentence = ""};

		part.bytes = cut;
		end(&part);
		memcpy(copy, part.data, cut);
		assert_int_equal(wm_kperf_sample_parse(s, copy, cut, &p, &d), -EBADMSG);
		assert_true(d.sentence[0] && d.offset >= 8 && d.offset <= (int64_t)cut);
		free(copy);
	}
}

static void check_sample(bool big)
{
	struct image m = begin(big, WM_PERF_SAMPLE, WM_PERF_MISC_KERNEL);
	struct wm_perf_shape s =
	    shape_of(big, WM_PERF_SAMPLE_KNOWN & ~WM_PERF_SAMPLE_WEIGHT_STRUCT);
	size_t flags_at = put_sample(&m), all;
	struct wm_perf_sample p;
	uint64_t id;

	all = m.bytes;
	m.bytes = flags_at;
	if (big) /* bit fields are allocated from the top: 1 0 0 1, 16 bits, 4, 2, 4, 3 */
		put(&m,
		    0x9ull << 60 | 0x1234ull << 44 | 5ull << 40 | 2ull << 38 | 9ull << 34 |
			3ull << 31,
		    8);
	else
		put(&m, 0x9 | 0x1234 << 4 | 5 << 20 | 2 << 24 | 9ull << 26 | 3ull << 30, 8);
	m.bytes = all;
	end(&m);
	assert_int_equal(wm_kperf_sample_parse(&s, m.data, m.bytes, &p, NULL), 0);
	assert_int_equal(p.misc, WM_PERF_MISC_KERNEL);
	check_sample_fixed(&p);
	check_sample_variable(&s, &p);
	check_branch(&s, &p);
	assert_int_equal(wm_kperf_record_id(&s, m.data, &id), 0);
	assert_int_equal(id, 14);
	check_sample_cuts(&s, &m);
	put(&m, 1, 8); /* a bit from a newer kernel */
	end(&m);
	assert_int_equal(wm_kperf_sample_parse(&s, m.data, m.bytes, &p, NULL), 0);
	assert_int_equal(p.rest.bytes, 8);
}

static void test_sample(void **state)
{
	check_sample(false);
	check_sample(true);
}

static void test_hostile_counts(void **state)
{
	static const uint64_t types[] = {WM_PERF_SAMPLE_CALLCHAIN, WM_PERF_SAMPLE_BRANCH_STACK,
					 WM_PERF_SAMPLE_READ, WM_PERF_SAMPLE_STACK_USER,
					 WM_PERF_SAMPLE_AUX};
	static const uint64_t counts[] = {
	    3,          1ull << 29,       1ull << 32,          1ull << 58,
	    1ull << 61, (1ull << 61) + 1, UINT64_MAX / 24 + 2, UINT64_MAX};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct wm_perf_shape s = shape_of(false, types[i]);

		for (size_t j = 0; j < sizeof(counts) / sizeof(counts[0]); j++) {
			struct image m = begin(false, WM_PERF_SAMPLE, 0);
			struct wm_perf_sample p;

			put(&m, counts[j], 8);
			put(&m, 1, 2);
			end(&m);
			assert_int_equal(wm_kperf_sample_parse(&s, m.data, m.bytes, &p, NULL),
					 -EBADMSG);
		}
	}
}

static void test_id_without_identifier(void **state)
{
	struct wm_perf_shape s = shape_of(false, WM_PERF_SAMPLE_IP | WM_PERF_SAMPLE_TIME |
						     WM_PERF_SAMPLE_ID | WM_PERF_SAMPLE_CPU);
	struct image m = begin(false, WM_PERF_SAMPLE, 0);
	uint64_t id = 0;

	put(&m, 1, 8);
	put(&m, 2, 8);
	put(&m, 3, 8);
	put(&m, 4, 8);
	end(&m);
	assert_int_equal(wm_kperf_record_id(&s, m.data, &id), 0);
	assert_int_equal(id, 3);
	m = begin(false, WM_PERF_LOST, 0);
	put(&m, 1, 8);
	put(&m, 2, 8);
	put(&m, 3, 8);
	end(&m);
	assert_int_equal(wm_kperf_record_id(&s, m.data, &id), 0);
	assert_int_equal(id, 2);
	m = begin(false, WM_PERF_LOST, 0);
	put(&m, 1, 8);
	end(&m);
	assert_int_equal(wm_kperf_record_id(&s, m.data, &id), -ENOENT);
	s = shape_of(false, WM_PERF_SAMPLE_IP);
	assert_int_equal(wm_kperf_record_id(&s, m.data, &id), -ENOENT);
}

static struct image attr_image(bool big, uint32_t size)
{
	struct image m = {.big = big, .swap = wm_order_swap(big)};

	put(&m, WM_PERF_TYPE_TRACEPOINT, 4);
	put(&m, size, 4);
	put(&m, 314, 8);
	put(&m, 4000, 8);
	put(&m, 0x10587, 8);
	put(&m, 4, 8);
	/* freq (bit 10), sample_id_all (18), precise 2 (bits 15-16) */
	put(&m,
	    big ? 1ull << 53 | 1ull << 45 | 1ull << 48
		: WM_PERF_ATTR_FREQ | WM_PERF_ATTR_SAMPLE_ID_ALL | 1ull << 16,
	    8);
	put(&m, 1, 4);
	put(&m, 2, 4);
	for (unsigned i = 0; i < 4; i++)
		put(&m, 100 + i, 8); /* config1, config2, branches, regs_user */
	put(&m, 8192, 4);
	put(&m, (uint32_t)-1, 4);
	put(&m, 0xf, 8);
	put(&m, 5, 4);
	put(&m, 127, 2);
	put(&m, 0, 2);
	put(&m, 6, 4);
	put(&m, 7, 4);
	put(&m, 8, 8);
	put(&m, 9, 8);
	put(&m, 10, 8);
	put(&m, 1, 8); /* not yet defined */
	return m;
}

static void check_attr(bool big)
{
	struct image m = attr_image(big, 152);
	struct wm_perf_attr a;

	assert_int_equal(wm_kperf_attr_parse(m.data, m.bytes, m.swap, &a, NULL), 0);
	assert_int_equal(a.type, WM_PERF_TYPE_TRACEPOINT);
	assert_int_equal(a.config, 314);
	assert_int_equal(a.period, 4000);
	assert_int_equal(a.sample_type, 0x10587);
	assert_true(wm_kperf_attr_has(&a, WM_PERF_ATTR_FREQ));
	assert_true(wm_kperf_attr_has(&a, WM_PERF_ATTR_SAMPLE_ID_ALL));
	assert_false(wm_kperf_attr_has(&a, WM_PERF_ATTR_DISABLED));
	assert_int_equal(a.flags >> WM_PERF_ATTR_PRECISE_SHIFT & 3, 2);
	assert_int_equal(a.config1, 100);
	assert_int_equal(a.config2, 101);
	assert_int_equal(a.branch_sample_type, 102);
	assert_int_equal(a.regs_user, 103);
	assert_int_equal(a.stack_user, 8192);
	assert_int_equal(a.clockid, -1);
	assert_int_equal(a.regs_intr, 0xf);
	assert_int_equal(a.sample_max_stack, 127);
	assert_int_equal(a.aux_action, 7);
	assert_int_equal(a.sig_data, 8);
	assert_int_equal(a.config3, 9);
	assert_int_equal(a.config4, 10);
	assert_int_equal(a.nr_unknown, 1);

	m = attr_image(big, 72);
	assert_int_equal(wm_kperf_attr_parse(m.data, 72, m.swap, &a, NULL), 0);
	assert_int_equal(a.config2, 101);
	assert_int_equal(a.branch_sample_type, 0);
	m = attr_image(big, 0);
	assert_int_equal(wm_kperf_attr_parse(m.data, 64, m.swap, &a, NULL), 0);
	assert_int_equal(a.config1, 100);
	assert_int_equal(a.config2, 0);
}

static void test_attr(void **state)
{
	struct wm_perf_attr a;
	struct wm_diag d = {.sentence = ""};
	struct image m = attr_image(false, 63);

	check_attr(false);
	check_attr(true);
	assert_int_equal(wm_kperf_attr_parse(m.data, m.bytes, false, &a, &d), -EBADMSG);
	assert_int_equal(d.offset, 4);
	m = attr_image(false, 153);
	assert_int_equal(wm_kperf_attr_parse(m.data, m.bytes, false, &a, NULL), -EBADMSG);
	assert_int_equal(wm_kperf_attr_parse(m.data, 63, false, &a, NULL), -EBADMSG);
}

static void test_names(void **state)
{
	assert_string_equal(wm_kperf_kind_name(1), "MMAP");
	assert_string_equal(wm_kperf_kind_name(22), "CALLCHAIN_DEFERRED");
	assert_null(wm_kperf_kind_name(0));
	assert_null(wm_kperf_kind_name(23));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_attr),
	    cmocka_unit_test(test_records),
	    cmocka_unit_test(test_sample),
	    cmocka_unit_test(test_hostile_counts),
	    cmocka_unit_test(test_id_without_identifier),
	    cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
