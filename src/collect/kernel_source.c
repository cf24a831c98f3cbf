/* SPDX-License-Identifier: MIT */
/* kernel_source.c - from the kernel's rings to a trace; see kernel_source.h. */
#include "collect/kernel_source.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "collect/cpu_packet.h"
#include "collect/task_names.h"
#include "format/trace_layout.h"
#include "kdata/page.h"
#include "kdata/transcode.h"

#define PLANS_BYTES_MAX ((size_t)256 << 20)
#define IDS             65536u
#define RECORD_BYTES    ((size_t)1 << 20) /* no record is longer */
#define PAGES_PER_ROUND 4096u             /* of a CPU, before the others have their turn */

/* How one event's records are read. */
struct plan {
	struct wm_kplan *fields; /* NULL: no such event is on */
	const struct wm_kfield *tid, *flags, *preempt;
};

/* What is known of one CPU between rounds. */
struct cpu {
	uint64_t last; /* of its last record */
	uint64_t told; /* losses its pages told of */
};

struct wm_kernel_source {
	struct wm_instance *instance;
	struct wm_trace_writer *writer;
	struct wm_kernel_stream *stream;
	enum wm_clock_kind clock;
	struct wm_arena arena;
	struct wm_page_layout layout;
	struct plan *plans; /* by id */
	struct wm_kmachine machine;
	struct cpu *cpus;
	struct pollfd *polls;
	struct wm_task_names *names;
	unsigned char *page;
	struct wm_cpu_packet packet;
	uint64_t most_bytes;
	struct wm_kernel_totals totals;
};

/* --- beginning ------------------------------------------------------------------ */

/* The writer keeps a class of its own. */
static int declare(struct wm_kernel_source *s, uint32_t id, struct wm_diag *diag)
{
	const unsigned char *desc;
	struct wm_class *class;
	size_t bytes;
	int err;

	desc = wm_kplan_desc(s->plans[id].fields, &bytes);
	err = wm_class_parse(desc, bytes, NULL, &class, diag);
	return err ? err : wm_kernel_stream_event(s->stream, id, class);
}

static int add_event(struct wm_kernel_source *s, const struct wm_kernel_source_event *e,
		     struct wm_diag *diag)
{
	const struct wm_kformat *format;
	const struct wm_kprint *print = NULL;
	struct plan *p;
	int err = wm_kformat_parse(&s->arena, &s->machine, e->system, e->format, e->format_bytes,
				   &format, diag);

	if (!err)
		err = wm_kprint_compile(&s->arena, &s->machine, format, &print, NULL);
	if (err)
		return err;
	if (format->id >= IDS || s->plans[format->id].fields)
		return wm_diag_set(diag, -EBADMSG, NULL, -1, "%s:%s has the number %u", e->system,
				   e->name, format->id);
	p = &s->plans[format->id];
	p->tid = wm_kformat_field(format, "common_pid");
	p->flags = wm_kformat_field(format, "common_flags");
	p->preempt = wm_kformat_field(format, "common_preempt_count");
	err = wm_kplan_create(format, &s->machine, print, false, &p->fields, diag);
	return err ? err : declare(s, format->id, diag);
}

/* The format files, for readers on other machines. */
static int write_formats(struct wm_kernel_source *s, const struct wm_kernel_source_event *events,
			 size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = wm_trace_kernel_format(s->writer, events[i].system, events[i].name,
					     events[i].format, events[i].format_bytes);
	return err ? err : wm_trace_kernel_formats(s->writer);
}

static int allocate(struct wm_kernel_source *s)
{
	uint32_t nr_cpus = wm_instance_nr_cpus(s->instance);
	uint32_t page_bytes = wm_instance_page_bytes(s->instance);

	s->plans = wm_arena_array(&s->arena, IDS, sizeof(*s->plans));
	s->cpus = wm_arena_array(&s->arena, nr_cpus, sizeof(*s->cpus));
	s->polls = wm_arena_array(&s->arena, nr_cpus, sizeof(*s->polls));
	s->page = malloc(page_bytes);
	s->names = wm_task_names_create(s->writer);
	if (!s->plans || !s->cpus || !s->polls || !s->page || !s->names)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr_cpus; i++)
		s->polls[i] =
		    (struct pollfd){.fd = wm_instance_fd(s->instance, i), .events = POLLIN};
	return 0;
}

int wm_kernel_source_create(struct wm_instance *instance, struct wm_trace_writer *writer,
			    enum wm_clock_kind clock, const struct wm_kernel_source_event *events,
			    size_t nr_events, uint64_t most_bytes, struct wm_kernel_source **ret,
			    struct wm_diag *diag)
{
	const bool big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct wm_kernel_source *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->instance = instance;
	s->writer = writer;
	s->clock = clock;
	s->most_bytes = most_bytes;
	wm_arena_init(&s->arena, PLANS_BYTES_MAX);
	wm_kmachine_init(&s->machine, sizeof(long), big_endian);
	wm_page_layout_init(&s->layout, sizeof(long), big_endian);
	err = allocate(s);
	if (!err)
		err = wm_kernel_stream_create(writer, WM_KERNEL_EVENTS, &s->stream);
	if (!err)
		err = wm_cpu_packet_init(&s->packet, s->stream, RECORD_BYTES);
	for (size_t i = 0; !err && i < nr_events; i++)
		err = add_event(s, &events[i], diag);
	if (!err)
		err = write_formats(s, events, nr_events);
	if (err) {
		wm_kernel_source_destroy(s);
		return err;
	}
	*ret = s;
	return 0;
}

void wm_kernel_source_destroy(struct wm_kernel_source *s)
{
	if (!s)
		return;
	wm_task_names_destroy(s->names);
	for (uint32_t id = 0; s->plans && id < IDS; id++)
		wm_kplan_destroy(s->plans[id].fields);
	free(s->page);
	wm_cpu_packet_done(&s->packet);
	wm_arena_done(&s->arena);
	free(s);
}

/* --- packets --------------------------------------------------------------------- */

/* Losses lie between the last record of the CPU and the page that tells of them. */
static void note_loss(struct wm_kernel_source *s, uint32_t cpu, uint64_t lost, uint64_t until)
{
	struct cpu *c = &s->cpus[cpu];

	(void)wm_cpu_packet_flush(&s->packet); /* counted there */
	s->packet.lost += lost;
	s->totals.lost += lost;
	c->told += lost;
	(void)wm_trace_kernel_lost(s->writer, c->last ? c->last : until, until, "overwritten",
				   lost);
}

static uint64_t number(const struct wm_kernel_source *s, const struct wm_kfield *f,
		       const struct wm_page_cursor *c)
{
	return f ? wm_kfield_number(f, s->machine.swap, c->data, c->bytes) : 0;
}

/* Header, context and payload of a record; its bytes without padding, or negative. */
static int64_t put_record(struct wm_kernel_source *s, const struct plan *p, uint16_t id,
			  const struct wm_page_cursor *c, uint32_t tid, unsigned char *to)
{
	const uint64_t header = htole64(wm_record_header(id, c->time));
	const struct wm_kernel_context context = {htole32(tid), (uint8_t)number(s, p->flags, c),
						  (uint8_t)number(s, p->preempt, c)};
	unsigned char *payload = to + sizeof(header) + sizeof(context);
	int64_t bytes = wm_kplan_run(p->fields, c->data, c->bytes, payload,
				     s->packet.room - (size_t)(payload - s->packet.buffer));

	memcpy(to, &header, sizeof(header));
	memcpy(to + sizeof(header), &context, sizeof(context));
	return bytes < 0 ? bytes : bytes + (int64_t)(sizeof(header) + sizeof(context));
}

/* One record, at the packet's end. */
static void add_record(struct wm_kernel_source *s, const struct wm_page_cursor *c)
{
	unsigned char *to = wm_cpu_packet_at(&s->packet, c->time);
	const struct plan *plan;
	uint16_t id = 0;
	uint32_t tid;
	int64_t bytes = -EBADMSG;

	if (c->bytes >= sizeof(id))
		memcpy(&id, c->data, sizeof(id));
	plan = &s->plans[id];
	tid = (uint32_t)number(s, plan->tid, c);
	if (plan->fields)
		bytes = put_record(s, plan, id, c, tid, to);
	if (bytes < 0) {
		s->totals.torn++;
		return;
	}
	wm_cpu_packet_add(&s->packet, c->time, (size_t)bytes);
	wm_task_names_meet(s->names, tid, c->time);
}

static void add_page(struct wm_kernel_source *s, uint32_t cpu, size_t bytes)
{
	struct wm_page_cursor c;
	int got;

	if (wm_page_open(&c, &s->layout, s->page, bytes, NULL) < 0) {
		s->totals.torn++;
		return;
	}
	if (c.lost && c.lost != WM_PAGE_LOST_UNKNOWN)
		note_loss(s, cpu, c.lost, c.begin);
	while ((got = wm_page_next(&c)) == 1)
		add_record(s, &c);
	if (got < 0)
		s->totals.torn++;
	s->cpus[cpu].last = c.time;
}

/* --- rounds ---------------------------------------------------------------------- */

static int drain(struct wm_kernel_source *s, uint32_t cpu, uint32_t *ret_pages)
{
	uint64_t lost_disk = s->packet.lost_disk;
	ssize_t got = 0;
	uint32_t n;

	s->packet.cpu = cpu;
	for (n = 0; n < PAGES_PER_ROUND; n++) {
		got = wm_instance_read(s->instance, cpu, s->page);
		if (got <= 0)
			break;
		add_page(s, cpu, (size_t)got);
	}
	*ret_pages = n;
	(void)wm_cpu_packet_flush(&s->packet); /* told by what it counts */
	if (got < 0)
		return (int)got;
	return s->packet.lost_disk != lost_disk ? s->packet.error : 0;
}

/* A ring that filled while we were at it is too small. */
static void grow(struct wm_kernel_source *s, uint64_t lost_before)
{
	if (s->totals.lost == lost_before)
		return;
	if (wm_instance_grow(s->instance, s->most_bytes) == 1)
		s->totals.grown++;
}

int wm_kernel_source_round(struct wm_kernel_source *s, bool seal)
{
	uint32_t nr = wm_instance_nr_cpus(s->instance), pages;
	uint64_t lost = s->totals.lost, packets = s->packet.packets;
	int error = 0;

	if (!seal && poll(s->polls, nr, 0) <= 0)
		return 0;
	for (uint32_t cpu = 0; cpu < nr; cpu++) {
		int err;

		if (!seal && !(s->polls[cpu].revents & POLLIN))
			continue;
		err = drain(s, cpu, &pages);
		error = err ? err : error;
	}
	grow(s, lost);
	return error ? error : (int)(s->packet.packets - packets);
}

/* "overrun: 17" of a CPU's statistics. */
static uint64_t overrun_of(struct wm_kernel_source *s, uint32_t cpu)
{
	char name[64], *text, *line;
	uint64_t n = 0;
	size_t bytes;

	snprintf(name, sizeof(name), "per_cpu/cpu%u/stats", cpu);
	if (wm_instance_read_file(s->instance, name, 65536, &text, &bytes) < 0)
		return 0;
	line = strstr(text, "overrun:");
	if (line)
		n = strtoull(line + strlen("overrun:"), NULL, 10);
	free(text);
	return n;
}

int wm_kernel_source_finish(struct wm_kernel_source *s)
{
	uint32_t pages = 1;
	int error = 0;

	for (uint32_t cpu = 0; cpu < wm_instance_nr_cpus(s->instance); cpu++) {
		uint64_t lost;

		do {
			int err = drain(s, cpu, &pages);

			error = err ? err : error;
		} while (pages == PAGES_PER_ROUND);
		lost = overrun_of(s, cpu);
		if (lost > s->cpus[cpu].told)
			note_loss(s, cpu, lost - s->cpus[cpu].told, wm_clock_read(s->clock));
	}
	wm_task_names_finish(s->names, s->instance);
	return error;
}

void wm_kernel_source_totals(const struct wm_kernel_source *s, struct wm_kernel_totals *ret)
{
	*ret = s->totals;
	ret->events = s->packet.events;
	ret->packets = s->packet.packets;
	ret->lost_disk = s->packet.lost_disk;
	ret->error = s->packet.error;
	ret->buffer_bytes = wm_instance_buffer_bytes(s->instance);
}
