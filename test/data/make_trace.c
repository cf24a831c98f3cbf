/* SPDX-License-Identifier: MIT */
/*
 * make_trace.c - writes a trace with the trace writer, for test/print.bats:
 *
 * make_trace DIR ctf-1.8|ctf-2
 *
 * It has two processes, three threads, several packets, events with equal times, every field type,
 * contexts, print forms, a hostile string, and a loss in between.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <waymark/abi.h>

#include "base/text.h"
#include "event/context.h"
#include "event/desc_build.h"
#include "write/trace_writer.h"

#define START    5000000000ull
#define REALTIME 1700000000123456789ull

struct packet {
	struct wm_text bytes;
	uint64_t begin, end, count;
	uint32_t last;
};

static void check(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "make_trace: %s: %s\n", what, strerror(-err));
	exit(1);
}

static void put(struct packet *p, uint64_t value, uint32_t bytes)
{
	wm_text_add(&p->bytes, &value, bytes);
}

static void put_string(struct packet *p, const char *s)
{
	wm_text_add(&p->bytes, s, strlen(s) + 1);
}

static void pad(struct packet *p)
{
	while (p->bytes.bytes % 8)
		wm_text_char(&p->bytes, '\0');
}

static void record(struct packet *p, uint16_t id, uint64_t clock)
{
	pad(p);
	if (!p->count++)
		p->begin = clock;
	p->end = clock;
	p->last = (uint32_t)p->bytes.bytes;
	put(p, clock << 16 | id, 8);
}

static void send_packet(struct wm_producer *to, struct packet *p, uint32_t tid, uint64_t lost)
{
	struct wm_raw_packet packet = {.tid = tid,
				       .begin = p->begin,
				       .end = p->end,
				       .count = p->count,
				       .lost = lost,
				       .last_offset = p->last};

	pad(p);
	packet.payload.iov_base = p->bytes.data;
	packet.payload.iov_len = p->bytes.bytes;
	check(wm_producer_packet(to, &packet), "packet");
	wm_text_done(&p->bytes);
	*p = (struct packet){0};
}

static struct wm_producer *process(struct wm_trace_writer *w, uint32_t pid, const char *comm)
{
	struct wm_producer_info info = {.pid = pid,
					.ppid = 1,
					.vpid = pid,
					.uid = 1000,
					.clock = START,
					.comm = comm,
					.path = "/usr/bin/true"};
	struct wm_producer *p = NULL;

	check(wm_producer_add(w, &info, &p), "process");
	return p;
}

static void event(struct wm_producer *p, uint32_t id, uint32_t contexts, struct wm_desc_spec spec)
{
	struct wm_class *class = NULL;
	unsigned char *desc = NULL;
	size_t bytes;

	spec.provider = "app";
	spec.level = WAYMARK_INFO;
	spec.named = true;
	check(wm_desc_build(&spec, &desc, &bytes), spec.name);
	check(wm_class_parse(desc, bytes, NULL, &class, NULL), spec.name);
	free(desc);
	check(wm_producer_event(p, id, contexts, class), spec.name);
}

static const int64_t all_values[] = {4, 2, -1, 0, 1};

static void events(struct wm_producer *p)
{
	event(p, 1, 0, (struct wm_desc_spec){.name = "plain", .schema = "n:u4"});
	event(p, 2, WM_CONTEXT_CPU,
	      (struct wm_desc_spec){
		  .name = "query", .schema = "rows:i4;sql:s", .print = "rows %d sql <%s> 100%%"});
	event(p, 3, WM_CONTEXT_CPU | WM_CONTEXT_USTACK,
	      (struct wm_desc_spec){.name = "all",
				    .schema =
					"i1:i1;i8:i8;u8:u8;x4:x4;yes:b1;f:f4;d:f8;ptr:p8;s:s;c:c#;"
					"arr:a#i4;seq:qu2;blob:z;e:ei1{bad#,good#,fine#}",
				    .values = all_values,
				    .nr_values = 5});
}

static void put_all(struct packet *p, int8_t label)
{
	float f = 1.5f;
	double d = -0.1;

	put(p, 3, 4);
	put(p, 2, 4);
	put(p, 0x401000, 8);
	put(p, UINT64_MAX, 8);
	put(p, 0x80, 1);
	put(p, (uint64_t)INT64_MIN, 8);
	put(p, UINT64_MAX, 8);
	put(p, 0xdeadbeef, 4);
	put(p, 1, 1);
	wm_text_add(&p->bytes, &f, 4);
	wm_text_add(&p->bytes, &d, 8);
	put(p, 0x7fff12345678ull, 8);
	put_string(p, "say \"hi\"");
	wm_text_add(&p->bytes, "ab\0", 4);
	put(p, 10, 4);
	put(p, (uint64_t)-11, 4);
	put(p, 2, 4);
	put(p, 65535, 2);
	put(p, 7, 2);
	put(p, 2, 4);
	put(p, 0xcafe, 2);
	put(p, (uint64_t)label, 1);
}

static void write_packets(struct wm_producer *a, struct wm_producer *b)
{
	struct packet p = {0};

	for (uint64_t round = 0; round < 4; round++) {
		uint64_t t = START + 1000 + round * 100000;

		for (uint32_t i = 0; i < 10; i++) {
			record(&p, 1, t + i * 100);
			put(&p, round * 100 + i, 4);
		}
		send_packet(a, &p, 101, 0);
		for (uint32_t i = 0; i < 5; i++) {
			record(&p, 2, t + i * 200);
			put(&p, i, 4);
			put(&p, (uint64_t) - (int64_t)i, 4);
			put_string(&p, i == 3 ? "\x1b[31mred\nline\xff" : "select 1");
		}
		send_packet(a, &p, 102, round == 2 ? 7 : 0);
		for (int i = 0; i < 3; i++) {
			record(&p, 3, t + 50 + (uint64_t)i * 300);
			put_all(&p, (int8_t)(i - 1));
		}
		send_packet(b, &p, 201, 0);
	}
	check(wm_writer_lost(a, START + 1000, START + 300000, "full", 7), "lost");
}

int main(int argc, char **argv)
{
	struct wm_trace_options o = {.clock_kind = WM_CLOCK_MONOTONIC,
				     .clock_hz = 1000000000,
				     .clock_start = START,
				     .start_realtime_ns = REALTIME,
				     .clock_error_ns = 25,
				     .command = "./app"};
	struct wm_trace_writer *w = NULL;
	struct wm_producer *a, *b;
	struct wm_diag diag = {0};

	if (argc != 3)
		return 2;
	o.format = strcmp(argv[2], "ctf-2") ? WM_TRACE_CTF1 : WM_TRACE_CTF2;
	check(wm_writer_create(argv[1], &o, &w, &diag), argv[1]);
	a = process(w, 100, "alpha");
	b = process(w, 200, "beta");
	events(a);
	events(b);
	write_packets(a, b);
	check(wm_writer_close(w), "close");
	return 0;
}
