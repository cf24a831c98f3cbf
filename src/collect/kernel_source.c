/* SPDX-License-Identifier: MIT */
/* kernel_source.c - writes the kernel's rings to a trace; see kernel_source.h. */
#include "collect/kernel_source.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "collect/cpu_packet_int.h"
#include "collect/residual_filter_int.h"
#include "collect/task_names.h"
#include "kdata/page.h"
#include "kdata/transcode.h"
#include "trace/trace_layout.h"

#define PLANS_BYTES_MAX ((size_t)256 << 20)
#define IDS             65536u
#define RECORD_BYTES    ((size_t)1 << 20) /* size of the longest record */
/* Limit for one CPU, so that other CPUs are not delayed. */
#define PAGES_PER_ROUND 4096u

/* How to read one event's records. */
struct plan {
	struct wm_kplan *fields; /* NULL: no event with this id is enabled */
	const struct wm_kfield *tid, *flags, *preempt;
	struct wm_filter *filter; /* NULL: no filter; malloc'ed */
	bool in_top;
};

/* One CPU's ring in one instance, and its state between rounds. */
struct ring {
	struct wm_instance *instance;
	/* `number` 1: the system's own buffer, to which other users also write. */
	uint32_t cpu, number;
	uint64_t last; /* time of the ring's last record */
	uint64_t told; /* number of losses that the ring's pages have reported */
};

struct wm_kernel_source {
	struct wm_kernel_rings from;
	struct wm_trace_writer *writer;
	struct wm_kernel_stream *stream;
	struct wm_arena arena;
	struct wm_page_layout layout;
	struct plan *plans; /* by id */
	struct wm_kmachine machine;
	struct ring *rings;
	struct pollfd *polls; /* by ring */
	uint32_t nr_rings;
	struct wm_task_names *names;
	struct wm_sieve *sieve; /* NULL: no event has a filter */
	unsigned char *page;
	uint64_t begin; /* records before this time are dropped; UINT64_MAX: all */
	struct wm_cpu_packet packet;
	struct wm_source_totals totals; /* totals, except the packet's */
};

/* --- beginning ------------------------------------------------------------------ */

/* Declares an event to the writer, which takes ownership of the class. */
static int kernel_source_declare(struct wm_kernel_source *s, uint32_t id, struct wm_diag *diag)
{
	const unsigned char *desc;
	struct wm_class *class;
	size_t bytes;
	int err;

	desc = wm_kplan_desc(s->plans[id].fields, &bytes);
	err = wm_class_parse(desc, bytes, NULL, &class, diag);
	return err ? err : wm_stream_kernel_event(s->stream, id, class);
}

/* Replaces an event's filter. */
static int kernel_source_set_filter(struct wm_kernel_source *s, struct plan *p,
				    const struct wm_kernel_source_event *e)
{
	struct wm_filter *made = NULL;
	const unsigned char *desc;
	size_t bytes;
	int err = 0;

	if (e->filter && !s->sieve)
		s->sieve = wm_sieve_create(s->from.clock, s->from.instance);
	if (e->filter && !s->sieve)
		return -ENOMEM;
	if (e->filter) {
		desc = wm_kplan_desc(p->fields, &bytes);
		err = wm_sieve_make(e->filter, e->filter_bytes, desc, bytes, &made);
	}
	if (err)
		return err;
	free(p->filter);
	p->filter = made;
	return 0;
}

static int kernel_source_add_event(struct wm_kernel_source *s,
				   const struct wm_kernel_source_event *e, struct wm_diag *diag)
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
	if (format->id >= IDS)
		return wm_diag_set(diag, -EBADMSG, NULL, -1,
				   "the format of %s:%s has the id %u; records have ids below %u",
				   e->system, e->name, format->id, IDS);
	if (s->plans[format->id].fields)
		return wm_diag_set(
		    diag, -EBADMSG, NULL, -1,
		    "the format of %s:%s has the id %u, which another event has, too", e->system,
		    e->name, format->id);
	p = &s->plans[format->id];
	p->tid = wm_kformat_field(format, "common_pid");
	p->flags = wm_kformat_field(format, "common_flags");
	p->preempt = wm_kformat_field(format, "common_preempt_count");
	p->in_top = e->in_top;
	err = wm_kplan_create(format, &s->machine, print, false, &p->fields, diag);
	if (!err)
		err = kernel_source_set_filter(s, p, e);
	return err ? err : kernel_source_declare(s, format->id, diag);
}

/* Writes the format files to the trace, for readers on other machines. */
static int write_formats(struct wm_kernel_source *s, const struct wm_kernel_source_event *events,
			 size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = wm_writer_kernel_format(s->writer, events[i].system, events[i].name,
					      events[i].format, events[i].format_bytes);
	return err ? err : wm_writer_kernel_formats(s->writer);
}

static void add_rings(struct wm_kernel_source *s, struct wm_instance *instance, uint32_t number)
{
	for (uint32_t cpu = 0; instance && cpu < wm_instance_nr_cpus(instance); cpu++) {
		s->polls[s->nr_rings] =
		    (struct pollfd){.fd = wm_instance_fd(instance, cpu), .events = POLLIN};
		s->rings[s->nr_rings++] =
		    (struct ring){.instance = instance, .cpu = cpu, .number = number};
	}
}

static int allocate(struct wm_kernel_source *s)
{
	const struct wm_kernel_rings *from = &s->from;
	uint32_t most = WM_KERNEL_RINGS * wm_instance_nr_cpus(from->instance);
	uint32_t page_bytes = wm_instance_page_bytes(from->instance);

	if (from->top && wm_instance_page_bytes(from->top) > page_bytes)
		page_bytes = wm_instance_page_bytes(from->top);
	s->plans = wm_arena_array(&s->arena, IDS, sizeof(*s->plans));
	s->rings = wm_arena_array(&s->arena, most, sizeof(*s->rings));
	s->polls = wm_arena_array(&s->arena, most, sizeof(*s->polls));
	s->page = malloc(page_bytes);
	s->names = wm_task_names_create(s->writer);
	if (!s->plans || !s->rings || !s->polls || !s->page || !s->names)
		return -ENOMEM;
	add_rings(s, from->instance, 0);
	add_rings(s, from->top, 1);
	return 0;
}

int wm_source_kernel_create(const struct wm_kernel_rings *rings, struct wm_trace_writer *writer,
			    const struct wm_kernel_source_event *events, size_t nr_events,
			    struct wm_kernel_source **ret, struct wm_diag *diag)
{
	const bool big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct wm_kernel_source *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->from = *rings;
	s->writer = writer;
	wm_arena_init(&s->arena, PLANS_BYTES_MAX);
	wm_kmachine_init(&s->machine, sizeof(long), big_endian);
	wm_page_layout_init(&s->layout, sizeof(long), big_endian);
	err = allocate(s);
	if (!err)
		err = wm_stream_kernel_create(writer, WM_KERNEL_EVENTS, &s->stream);
	if (!err)
		err = wm_cpu_packet_init(&s->packet, s->stream, RECORD_BYTES);
	for (size_t i = 0; !err && i < nr_events; i++)
		err = kernel_source_add_event(s, &events[i], diag);
	if (!err)
		err = write_formats(s, events, nr_events);
	if (err) {
		wm_source_kernel_destroy(s);
		return err;
	}
	*ret = s;
	return 0;
}

void wm_source_kernel_destroy(struct wm_kernel_source *s)
{
	if (!s)
		return;
	wm_task_names_destroy(s->names);
	wm_sieve_destroy(s->sieve);
	for (uint32_t id = 0; s->plans && id < IDS; id++) {
		wm_kplan_destroy(s->plans[id].fields);
		free(s->plans[id].filter);
	}
	free(s->page);
	wm_cpu_packet_done(&s->packet);
	wm_arena_done(&s->arena);
	free(s);
}

/* --- while it runs ---------------------------------------------------------------- */

int wm_source_kernel_add(struct wm_kernel_source *s, const struct wm_kernel_source_event *e,
			 struct wm_diag *diag)
{
	int err = kernel_source_add_event(s, e, diag);

	return err ? err : write_formats(s, e, 1);
}

/* The number after "ID:" in a format file, or IDS if there is none. */
static uint32_t kernel_source_id_of(const struct wm_kernel_source_event *e)
{
	const char *at = strstr(e->format, "\nID:");
	unsigned long id = at ? strtoul(at + strlen("\nID:"), NULL, 10) : IDS;

	return id < IDS ? (uint32_t)id : IDS;
}

int wm_source_kernel_filter(struct wm_kernel_source *s, const struct wm_kernel_source_event *e)
{
	uint32_t id = kernel_source_id_of(e);

	if (id == IDS || !s->plans[id].fields)
		return -ENOENT;
	return kernel_source_set_filter(s, &s->plans[id], e);
}

/* --- packets --------------------------------------------------------------------- */

/* Records losses, which happened between the ring's last record and the page that reports them. */
static void kernel_source_note_loss(struct wm_kernel_source *s, struct ring *r, uint64_t lost,
				    uint64_t until)
{

	(void)wm_cpu_packet_flush(&s->packet); /* errors are in the totals */
	s->packet.lost += lost;
	s->totals.lost[WM_LOST_OVERWRITTEN] += lost;
	r->told += lost;
	(void)wm_writer_kernel_lost(s->writer, r->cpu, r->last ? r->last : until, until,
				    "overwritten", lost);
}

static uint64_t kernel_source_number(const struct wm_kernel_source *s, const struct wm_kfield *f,
				     const struct wm_page_cursor *c)
{
	return f ? wm_kfield_number(f, s->machine.swap, c->data, c->bytes) : 0;
}

/* Writes a record's header, context and payload. Returns its size without padding, or -errno. */
static int64_t kernel_source_put_record(struct wm_kernel_source *s, const struct plan *p,
					uint16_t id, const struct wm_page_cursor *c, uint32_t tid,
					unsigned char *to)
{
	const uint64_t header = htole64(wm_header_make(id, c->time));
	const struct wm_kernel_context context = {htole32(tid),
						  (uint8_t)kernel_source_number(s, p->flags, c),
						  (uint8_t)kernel_source_number(s, p->preempt, c)};
	unsigned char *payload = to + sizeof(header) + sizeof(context);
	int64_t bytes = wm_kplan_run(p->fields, c->data, c->bytes, payload,
				     s->packet.room - (size_t)(payload - s->packet.buffer));

	memcpy(to, &header, sizeof(header));
	memcpy(to + sizeof(header), &context, sizeof(context));
	return bytes < 0 ? bytes : bytes + (int64_t)(sizeof(header) + sizeof(context));
}

#define HEAD_BYTES (WM_RECORD_HEADER_BYTES + sizeof(struct wm_kernel_context))

/* Whether a record passes the filter. `record` has its header, context and payload. */
static bool kernel_source_passes(struct wm_kernel_source *s, const struct plan *p, uint32_t tid,
				 const struct wm_page_cursor *c, const unsigned char *record,
				 int64_t bytes)
{
	const struct wm_sieve_context context = {
	    .pid = -1, .tid = tid, .cpu = s->packet.cpu, .clock = c->time};

	return wm_sieve_pass(s->sieve, p->filter, &context, record + HEAD_BYTES,
			     (size_t)bytes - HEAD_BYTES);
}

/* Adds one record at the end of the packet. */
static void kernel_source_add_record(struct wm_kernel_source *s, const struct wm_page_cursor *c)
{
	unsigned char *to;
	const struct plan *plan;
	uint16_t id = 0;
	uint32_t tid;
	int64_t bytes = -EBADMSG;

	if (c->time < s->begin)
		return;
	to = wm_cpu_packet_at(&s->packet, c->time);
	if (c->bytes >= sizeof(id))
		memcpy(&id, c->data, sizeof(id));
	plan = &s->plans[id];
	if (s->packet.ring && !plan->in_top)
		return; /* another user's event in the system's buffer */
	tid = (uint32_t)kernel_source_number(s, plan->tid, c);
	if (plan->fields)
		bytes = kernel_source_put_record(s, plan, id, c, tid, to);
	if (bytes < 0) {
		s->totals.torn++;
		return;
	}
	if (plan->filter && !kernel_source_passes(s, plan, tid, c, to, bytes)) {
		s->totals.filtered++;
		return;
	}
	wm_cpu_packet_add(&s->packet, c->time, (size_t)bytes);
	wm_task_names_meet(s->names, tid, c->time);
}

/* The time before which records are dropped, for records that have already been read. */
static uint64_t kernel_source_begin(const struct wm_kernel_source *s)
{
	const struct wm_child_exec *exec = s->from.exec;
	uint64_t time = exec ? atomic_load_explicit(&exec->time, memory_order_acquire) : 0;

	return exec && !time ? UINT64_MAX : time;
}

static void kernel_source_add_page(struct wm_kernel_source *s, struct ring *r, size_t bytes)
{
	struct wm_page_cursor c;
	int got;

	if (wm_page_open(&c, &s->layout, s->page, bytes, NULL) < 0) {
		s->totals.torn++;
		return;
	}
	s->begin = kernel_source_begin(s);
	if (c.lost && c.lost != WM_PAGE_LOST_UNKNOWN && c.begin >= s->begin)
		kernel_source_note_loss(s, r, c.lost, c.begin);
	while ((got = wm_page_next(&c)) == 1)
		kernel_source_add_record(s, &c);
	if (got < 0)
		s->totals.torn++;
	r->last = c.time;
}

/* --- rounds ---------------------------------------------------------------------- */

static int kernel_source_drain(struct wm_kernel_source *s, struct ring *r, uint32_t *ret_pages)
{
	uint64_t lost_disk = s->packet.lost_disk;
	ssize_t got = 0;
	uint32_t n;

	s->packet.cpu = r->cpu;
	s->packet.ring = r->number;
	for (n = 0; n < PAGES_PER_ROUND; n++) {
		got = wm_instance_read(r->instance, r->cpu, s->page);
		if (got <= 0)
			break;
		kernel_source_add_page(s, r, (size_t)got);
	}
	*ret_pages = n;
	(void)wm_cpu_packet_flush(&s->packet); /* errors are in the totals */
	if (got < 0)
		return (int)got;
	return s->packet.lost_disk != lost_disk ? s->packet.error : 0;
}

void wm_source_kernel_drain(struct wm_kernel_source *s)
{
	for (uint32_t i = 0; i < s->nr_rings; i++) {
		const struct wm_instance *from = s->rings[i].instance;
		uint64_t most = wm_instance_buffer_bytes(from) / wm_instance_page_bytes(from);
		uint32_t pages;

		/*
		 * Reads at most as much as the ring holds, so that a busy CPU cannot keep the loop
		 * running.
		 */
		for (uint64_t done = 0; done <= most; done += pages) {
			(void)kernel_source_drain(s, &s->rings[i], &pages);
			if (pages < PAGES_PER_ROUND)
				break;
		}
	}
}

int wm_source_kernel_round(struct wm_kernel_source *s, bool seal)
{
	uint64_t packets = s->packet.packets;
	uint32_t pages;
	int error = 0;

	if (!seal && poll(s->polls, s->nr_rings, 0) <= 0)
		return 0;
	for (uint32_t i = 0; i < s->nr_rings; i++) {
		int err;

		if (!seal && !(s->polls[i].revents & POLLIN))
			continue;
		err = kernel_source_drain(s, &s->rings[i], &pages);
		error = err ? err : error;
	}
	return error ? error : (int)(s->packet.packets - packets);
}

/* Reads the number from the "overrun: 17" line of a CPU's statistics. */
static uint64_t overrun_of(const struct ring *r)
{
	char name[64], *text, *line;
	uint64_t n = 0;
	size_t bytes;

	snprintf(name, sizeof(name), "per_cpu/cpu%u/stats", r->cpu);
	if (wm_instance_read_file(r->instance, name, 65536, &text, &bytes) < 0)
		return 0;
	line = strstr(text, "overrun:");
	if (line)
		n = strtoull(line + strlen("overrun:"), NULL, 10);
	free(text);
	return n;
}

int wm_source_kernel_finish(struct wm_kernel_source *s)
{
	uint32_t pages = 1;
	int error = 0;

	for (uint32_t i = 0; i < s->nr_rings; i++) {
		struct ring *r = &s->rings[i];
		uint64_t lost;

		do {
			int err = kernel_source_drain(s, r, &pages);

			error = err ? err : error;
		} while (pages == PAGES_PER_ROUND);
		lost = overrun_of(r);
		if (lost > r->told)
			kernel_source_note_loss(s, r, lost - r->told, wm_clock_read(s->from.clock));
	}
	wm_task_names_finish(s->names, s->from.instance);
	return error;
}

void wm_source_kernel_totals(const struct wm_kernel_source *s, struct wm_source_totals *ret)
{
	*ret = s->totals;
	wm_cpu_packet_account(&s->packet, ret);
	ret->buffer_bytes = wm_instance_buffer_bytes(s->from.instance);
	if (s->from.top)
		ret->buffer_bytes += wm_instance_buffer_bytes(s->from.top);
}
