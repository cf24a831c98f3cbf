/* SPDX-License-Identifier: MIT */
/*
 * tracedat_test_kit.h - creates trace.dat files of every kind in memory: both versions, each
 * compression, both byte orders and widths, one buffer and two; and computes the times and numbers
 * of their records. For tests only.
 */
#ifndef WM_READ_TRACEDAT_TRACEDAT_TEST_KIT_H
#define WM_READ_TRACEDAT_TRACEDAT_TEST_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/array.h"
#include "kdata/format_test_kit.h"

enum { PLAIN, ZLIB, ZSTD };
static const char *const codec_names[] = {"none", "zlib", "zstd"};

#define NR_CPUS    2u
#define PAGE       4096u
#define NR_PAGES   3u  /* pages per CPU */
#define NR_RECORDS 10u /* records per page */
#define LOST       7u  /* events lost before the last page of each CPU */

struct kind {
	int version, codec;
	bool big;
	unsigned long_bytes, nr_buffers;
};

struct image {
	const struct kind *kind;
	unsigned char *data;
	size_t bytes, room;
};

static inline void put_bytes(struct image *m, const void *data, size_t bytes)
{
	assert_int_equal(WM_ARRAY_GROW(m->data, m->room, m->bytes + bytes), 0);
	if (bytes)
		memcpy(m->data + m->bytes, data, bytes);
	m->bytes += bytes;
}

static inline void put(struct image *m, uint64_t value, unsigned bytes)
{
	unsigned char b[8];

	for (unsigned i = 0; i < bytes; i++)
		b[m->kind->big ? bytes - 1 - i : i] = (unsigned char)(value >> 8 * i);
	put_bytes(m, b, bytes);
}

/* Overwrites bytes. */
static inline void patch(struct image *m, size_t at, uint64_t value, unsigned bytes)
{
	size_t end = m->bytes;

	m->bytes = at;
	put(m, value, bytes);
	m->bytes = end;
}

static inline void put_text(struct image *m, const char *text)
{
	put_bytes(m, text, strlen(text) + 1);
}

static inline void put_sized(struct image *m, const char *text, unsigned width)
{
	put(m, strlen(text), width);
	put_bytes(m, text, strlen(text));
}

static inline void align(struct image *m)
{
	static const unsigned char zeroes[PAGE];

	put_bytes(m, zeroes, (PAGE - m->bytes % PAGE) % PAGE);
}

/* --- parts ---------------------------------------------------------------- */

static const char tick[] = KIT_EVENT(
    "tick", 300, KIT_FIELD("int n", 8, 4, 1) KIT_FIELD("__data_loc char[] name", 12, 4, 0),
    "\"n=%d name=%s\", REC->n, __get_str(name)");

static inline void put_header_info(struct image *m)
{
	char text[400];
	unsigned w = m->kind->long_bytes;

	(void)snprintf(text, sizeof(text),
		       "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		       "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
		       "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		       "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n",
		       w, 8 + w, PAGE - 8 - w);
	put_text(m, "header_page");
	put_sized(m, text, 8);
	put_text(m, "header_event");
	put_sized(m, "# compressed entry header\n", 8);
}

static inline void put_ftrace(struct image *m)
{
	put(m, 0, 4);
}

static inline void put_formats(struct image *m)
{
	put(m, 1, 4);
	put_text(m, "test");
	put(m, 1, 4);
	put_sized(m, tick, 8);
}

static const char kallsyms[] = "c0000000 T start\nc0001000 T end\n";

static inline void put_kallsyms(struct image *m)
{
	put_sized(m, kallsyms, 4);
}

static inline void put_printk(struct image *m)
{
	put_sized(m, "", 4);
}

static inline void put_comms(struct image *m)
{
	put_sized(m, "40 zero\n41 one\n", 8);
}

static void (*const parts[])(struct image *m) = {put_header_info, put_ftrace, put_formats,
						 put_kallsyms,    put_printk, put_comms};
#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

static inline uint64_t time_of(unsigned buffer, unsigned cpu, unsigned page, unsigned record)
{
	return 1000000 + 100000 * page + 1000 * record + 10 * cpu + buffer;
}

static inline int number_of(unsigned buffer, unsigned cpu, unsigned page, unsigned record)
{
	return (int)(1000 * buffer + 100 * cpu + 10 * page + record) - 50;
}

static inline void put_record(struct image *m, unsigned buffer, unsigned cpu, unsigned page,
			      unsigned i)
{
	uint32_t delta = i ? 1000 : 0, words = 6;

	put(m, m->kind->big ? words << 27 | delta : delta << 5 | words, 4);
	put(m, 300, 2);
	put(m, 0, 2);
	put(m, 40 + cpu, 4);
	put(m, (uint32_t)number_of(buffer, cpu, page, i), 4);
	put(m, 4u << 16 | 16, 4);
	put_bytes(m, "abc\0\0\0\0\0", 8);
}

static inline void put_page(struct image *m, unsigned buffer, unsigned cpu, unsigned page)
{
	size_t start = m->bytes, data;
	bool lost = page == NR_PAGES - 1;

	put(m, time_of(buffer, cpu, page, 0), 8);
	put(m, 0, m->kind->long_bytes);
	data = m->bytes;
	for (unsigned i = 0; i < NR_RECORDS; i++)
		put_record(m, buffer, cpu, page, i);
	patch(m, start + 8, (m->bytes - data) | (lost ? 3u << 30 : 0), m->kind->long_bytes);
	if (lost)
		put(m, LOST, m->kind->long_bytes);
	align(m);
}

/* Creates the pages of a CPU, as in the kernel's ring. */
static inline struct image pages_of(const struct kind *k, unsigned buffer, unsigned cpu)
{
	struct image m = {.kind = k};

	for (unsigned page = 0; page < NR_PAGES; page++)
		put_page(&m, buffer, cpu, page);
	return m;
}

/* --- files ---------------------------------------------------------------- */

static inline void put_head(struct image *m)
{
	put_bytes(m, "\x17\x08\x44tracing", 10);
	put_text(m, m->kind->version == 6 ? "6" : "7");
	put(m, m->kind->big, 1);
	put(m, m->kind->long_bytes, 1);
	put(m, PAGE, 4);
}

/*
 * Reserves space for the offsets and sizes of each CPU's pages, which are written later by patch().
 */
static inline size_t put_places(struct image *m)
{
	size_t at = m->bytes;

	for (unsigned i = 0; i < 2 * NR_CPUS; i++)
		put(m, 0, 8);
	return at;
}

static inline void put_pages_v6(struct image *m, size_t places, unsigned buffer)
{
	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++) {
		struct image pages = pages_of(m->kind, buffer, cpu);

		align(m);
		patch(m, places + 16 * cpu, m->bytes, 8);
		patch(m, places + 16 * cpu + 8, pages.bytes, 8);
		put_bytes(m, pages.data, pages.bytes);
		free(pages.data);
	}
}

static inline void make_v6(struct image *m)
{
	size_t option, places;

	put_head(m);
	for (size_t i = 0; i < NR_PARTS; i++)
		parts[i](m);
	put(m, NR_CPUS, 4);
	put_bytes(m, "options  ", 10);
	put(m, 3, 2);
	put(m, 8 + 6, 4);
	option = m->bytes;
	put(m, 0, 8);
	put_text(m, "other");
	if (m->kind->nr_buffers == 1)
		m->bytes = option - 6;
	put(m, 0, 2);
	put_bytes(m, "flyrecord", 10);
	places = put_places(m);
	put_pages_v6(m, places, 0);
	if (m->kind->nr_buffers == 1)
		return;
	patch(m, option, m->bytes, 8);
	put_bytes(m, "flyrecord", 10);
	places = put_places(m);
	put_pages_v6(m, places, 1);
}

static inline void put_packed(struct image *m, const struct image *from)
{
	uLongf bytes = compressBound(from->bytes) + ZSTD_compressBound(from->bytes);
	unsigned char *to = malloc(bytes);

	assert_non_null(to);
	if (m->kind->codec == ZLIB)
		assert_int_equal(compress(to, &bytes, from->data, from->bytes), Z_OK);
	else
		bytes = ZSTD_compress(to, bytes, from->data, from->bytes, 1);
	put(m, bytes, 4);
	put(m, from->bytes, 4);
	put_bytes(m, to, bytes);
	free(to);
}

static inline uint64_t put_section(struct image *m, unsigned id, const struct image *content)
{
	uint64_t at = m->bytes;

	put(m, id, 2);
	put(m, m->kind->codec != PLAIN, 2);
	put(m, 0, 4);
	put(m, 0, 8);
	if (m->kind->codec == PLAIN)
		put_bytes(m, content->data, content->bytes);
	else
		put_packed(m, content);
	patch(m, at + 8, m->bytes - at - 16, 8);
	return at;
}

static inline void put_buffer_v7(struct image *m, struct image *options, unsigned buffer)
{
	uint64_t section = m->bytes;
	size_t size;

	put(m, 3, 2);
	put(m, m->kind->codec != PLAIN, 2);
	put(m, 0, 4);
	put(m, 0, 8);
	put(options, 3, 2);
	put(options, 0, 4);
	size = options->bytes;
	put(options, section, 8);
	put_text(options, buffer ? "other" : "");
	put_text(options, "mono");
	put(options, PAGE, 4);
	put(options, NR_CPUS, 4);
	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++) {
		struct image pages = pages_of(m->kind, buffer, cpu);
		uint64_t at;

		align(m);
		at = m->bytes;
		if (m->kind->codec == PLAIN) {
			put_bytes(m, pages.data, pages.bytes);
		} else { /* the pages are compressed as two chunks */
			struct image tail = pages;

			put(m, 2, 4);
			pages.bytes = PAGE;
			put_packed(m, &pages);
			tail.data += PAGE;
			tail.bytes -= PAGE;
			put_packed(m, &tail);
		}
		put(options, cpu, 4);
		put(options, at, 8);
		put(options, m->bytes - at, 8);
		free(pages.data);
	}
	patch(options, size - 4, options->bytes - size, 4);
	patch(m, section + 8, m->bytes - section - 16, 8);
}

static inline void make_v7(struct image *m)
{
	struct image options = {.kind = m->kind}, more = {.kind = m->kind};
	uint64_t at;
	size_t first;

	put_head(m);
	put_text(m, codec_names[m->kind->codec]);
	put_text(m, m->kind->codec == PLAIN ? "" : "1");
	first = m->bytes;
	put(m, 0, 8);
	for (unsigned i = 0; i < NR_PARTS; i++) {
		struct image part = {.kind = m->kind};

		parts[i](&part);
		at = put_section(m, 16 + i, &part);
		put(&more, 16 + i, 2);
		put(&more, 8, 4);
		put(&more, at, 8);
		free(part.data);
	}
	put(&more, 0, 2); /* the DONE option, without a next section */
	put(&more, 8, 4);
	put(&more, 0, 8);
	at = put_section(m, 0, &more);
	for (unsigned buffer = 0; buffer < m->kind->nr_buffers; buffer++)
		put_buffer_v7(m, &options, buffer);
	put(&options, 0, 2);
	put(&options, 8, 4);
	put(&options, at, 8);
	patch(m, first, put_section(m, 0, &options), 8);
	free(options.data);
	free(more.data);
}

/* --- all of it --- */

static inline struct image make(const struct kind *k)
{
	struct image m = {.kind = k};

	if (k->version == 6)
		make_v6(&m);
	else
		make_v7(&m);
	return m;
}

/* Calls fn for every kind of file. */
static inline void each_kind(void (*fn)(const struct kind *k))
{
	for (unsigned i = 0; i < 2u * 3 * 2 * 2 * 2; i++) {
		struct kind k = {
		    .version = i & 1 ? 7 : 6,
		    .big = i & 2,
		    .long_bytes = i & 4 ? 8 : 4,
		    .nr_buffers = i & 8 ? 2 : 1,
		    .codec = (int)(i / 16),
		};

		if (k.version == 7 || k.codec == PLAIN)
			fn(&k);
	}
}

#endif
