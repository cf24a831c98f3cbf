/* SPDX-License-Identifier: MIT */
/*
 * decode_test_kit.h - for tests that write metadata and bytes to a folder, open it with the whole
 * reader, and compare the items of each event as name=value.
 */
#ifndef WM_READ_CTF_DECODE_TEST_KIT_H
#define WM_READ_CTF_DECODE_TEST_KIT_H

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "read/ctf/trace.h"
#include "read/open.h"

struct folder {
	char path[64];
};

static inline void put(const struct folder *f, const char *name, const void *data, size_t bytes)
{
	char path[128];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", f->path, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(wm_file_write(fd, data, bytes), 0);
	close(fd);
}

static inline void folder_init(struct folder *f, const char *metadata, const void *data,
			       size_t bytes)
{
	(void)strcpy(f->path, "/tmp/waymark-ctf-XXXXXX");
	assert_non_null(mkdtemp(f->path));
	put(f, "metadata", metadata, strlen(metadata));
	put(f, "stream", data, bytes);
}

static inline void folder_done(const struct folder *f)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/metadata", f->path);
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/stream", f->path);
	(void)unlink(path);
	assert_int_equal(rmdir(f->path), 0);
}

/* --- items as text ------------------------------------------------------------------------ */

static inline uint32_t show(struct wm_text *t, const struct wm_item *items, uint32_t at)
{
	const struct wm_item *i = &items[at];
	uint32_t next = at + 1;

	if (i->member->name)
		wm_text_f(t, "%s=", i->member->name);
	switch ((enum wm_type_kind)i->member->type->kind) {
	case WM_TYPE_UNSIGNED:
	case WM_TYPE_BOOL:
		wm_text_u64(t, i->u);
		break;
	case WM_TYPE_SIGNED:
		wm_text_i64(t, i->s);
		break;
	case WM_TYPE_FLOAT:
		wm_text_f(t, "%g", i->f);
		break;
	case WM_TYPE_STRING:
		wm_text_f(t, "\"%.*s\"", (int)i->count, i->text);
		break;
	case WM_TYPE_BYTES:
		for (uint32_t b = 0; b < i->count; b++)
			wm_text_f(t, "%02x", i->bytes[b]);
		break;
	default:
		if (i->member->type->kind == WM_TYPE_CHOICE)
			wm_text_f(t, "%" PRIu64 ":", i->u);
		wm_text_char(t, '(');
		for (uint32_t n = 0; n < i->count; n++) {
			if (n)
				wm_text_char(t, ' ');
			next = show(t, items, next);
		}
		wm_text_char(t, ')');
	}
	assert_int_equal(i->next, next);
	return next;
}

static inline void show_part(struct wm_text *t, const struct wm_event *e, enum wm_part part)
{
	for (uint32_t at = e->parts[part].at; at < e->parts[part].end;) {
		if (at > e->parts[part].at)
			wm_text_char(t, ' ');
		at = show(t, e->items, at);
	}
}

/* Appends one line with the fields of each event, then the faults. */
static inline void read_all(const char *path, const struct wm_want *want, struct wm_text *t)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_packet_reader *r;
	struct wm_trace *trace;
	struct wm_batch b = {0};
	int got = 0;

	wm_text_init(t);
	if (wm_read_open(path, &trace, &diag)) {
		wm_text_f(t, "refused: %s", diag.sentence);
		return;
	}
	r = trace->ops->reader_create(trace, want);
	assert_non_null(r);
	/* Fill the memory of events, so that a field not set by the reader is noticed. */
	assert_true(wm_batch_grow(&b, 1));
	memset(b.events, 0xa5, b.room_events * sizeof(*b.events));
	for (uint64_t p = 0; p < trace->nr_packets; p++) {
		assert_int_equal(trace->ops->reader_begin(r, &trace->packets[p]), 0);
		while ((got = wm_batch_read(trace, r, &b)) > 0) {
			for (uint32_t i = 0; i < b.nr_events; i++) {
				assert_int_equal(b.events[i].mode, WM_MODE_UNKNOWN);
				assert_null(b.events[i].raw);
				show_part(t, &b.events[i], WM_PART_FIELDS);
				wm_text_char(t, '\n');
			}
		}
		assert_int_equal(got, 0);
	}
	for (uint32_t i = 0; i < trace->nr_faults; i++)
		wm_text_f(t, "%s+%" PRIu64 ": %s\n", trace->faults[i].file, trace->faults[i].offset,
			  trace->faults[i].reason);
	wm_text_char(t, 0);
	wm_batch_done(&b);
	trace->ops->reader_destroy(r);
	wm_trace_close(trace);
}

/* A trace with one stream, and what read_all() must print for it. */
struct decode_case {
	const char *metadata;
	const unsigned char *data;
	size_t bytes;
	const char *text;
};

static inline void decode_cases(const struct decode_case *cases, size_t nr)
{
	for (const struct decode_case *c = cases; c < cases + nr; c++) {
		struct folder f;
		struct wm_text t;

		folder_init(&f, c->metadata, c->data, c->bytes);
		read_all(f.path, NULL, &t);
		if (strcmp(t.data, c->text) != 0)
			print_message("case %td: %s\n", c - cases, c->metadata);
		assert_string_equal(t.data, c->text);
		wm_text_done(&t);
		folder_done(&f);
	}
}

#define HEAD(order)    "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = " order "; };"
#define U8             "typealias integer { size = 8; } := u8;"
#define FIELDS(fields) U8 "event { name = \"e\"; fields := struct { " fields " }; };"
#define BYTES(...)                                                                                 \
	.data = (const unsigned char[]){__VA_ARGS__},                                              \
	.bytes = sizeof((const unsigned char[]){__VA_ARGS__})

/* CTF 2 metadata of an event whose payload has these members. */
#define CTF2(members)                                                                              \
	"\x1e{\"type\":\"preamble\",\"version\":2}\x1e{\"type\":\"trace-class\"}"                  \
	"\x1e{\"type\":\"data-stream-class\"}\x1e{\"type\":\"event-record-class\",\"name\":\"e\"," \
	"\"payload-field-class\":{\"type\":\"structure\",\"member-classes\":[" members "]}}"
#define M(name, class) "{\"name\":\"" name "\",\"field-class\":" class "}"
#define INT2(type, bits, order, more)                                                              \
	"{\"type\":\"fixed-length-" type "\",\"length\":" #bits ",\"byte-order\":\"" order         \
	"-endian\"" more "}"
#define UINT8      INT2("unsigned-integer", 8, "little", "")
#define AT(key, n) "\"" key "\":{\"path\":[\"" n "\"]}"

#endif
