/* SPDX-License-Identifier: MIT */
/* tracedat.c - entry points of the trace.dat exporter; see tracedat_int.h. */
#include "export/tracedat/tracedat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/single_int.h"
#include "export/tracedat/tracedat_int.h"
#include "read/ctf.h"
#include "read/perfdata.h"
#include "read/tracedat.h"
#include "trace/event_comm.h"

#define MEMORY_BYTES  (128u << 20) /* maximum size of the pages in memory */
#define FORMATS_BYTES (128u << 20)

/* --- opening -------------------------------------------------------------------------- */

/*
 * Returns the time that is subtracted from all times: for a clock that counts from 1970, the time
 * of tick 0 in whole microseconds.
 */
static int64_t tracedat_export_base_of(const struct wm_trace *t)
{
	int64_t base = 0;

	for (uint32_t i = 0; i < t->nr_clocks; i++)
		if (t->clocks[i]->is_epoch)
			base = t->clocks[i]->offset_ns;
	if (t->nr_packets && t->begin_ns < base && t->begin_ns > INT64_MIN / 2)
		base = t->begin_ns;
	return base - (base % 1000 + 1000) % 1000;
}

static int tracedat_export_begin(struct wm_export *x, struct wm_diag *diag)
{
	struct wm_tdx *d = x->own;
	struct wm_trace *t = d->trace;
	int err = wm_tdx_source_init(&d->source, &d->made, t, diag);

	if (err)
		return err;
	d->nr_buffers = d->source.td ? d->source.td->nr_buffers : 1;
	d->base_ns = d->source.td ? 0 : tracedat_export_base_of(t);
	d->events = wm_arena_array(&d->arena, t->nr_types + (size_t)1, sizeof(*d->events));
	d->by_cpu = calloc((size_t)d->nr_buffers * WM_TDX_CPUS_MAX, sizeof(struct wm_tdx_ring *));
	d->names = calloc(WM_TDX_NAMES_MAX, sizeof(*d->names));
	wm_table_init(&d->name_table);
	if (!d->events || !d->by_cpu || !d->names)
		return -ENOMEM;
	err = wm_export_losses(&d->arena, t, false, &d->losses);
	if (!err)
		err = wm_tdx_spool_open(&d->spool, x->ops == &wm_export_tracedat);
	if (!err)
		wm_tdx_write_head(d);
	return err;
}

static int tracedat_export_open_any(struct wm_export *x, struct wm_diag *diag)
{
	struct wm_tdx *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	x->own = d;
	d->x = x;
	d->trace = x->traces[0];
	d->spool.fd = -1;
	d->out.fd = -1;
	wm_arena_init(&d->arena, FORMATS_BYTES);
	wm_text_init(&d->record);
	wm_text_init(&d->scratch);
	return wm_export_single_open(x, &d->out,
				     "a trace.dat file can hold the trace of one kernel only",
				     tracedat_export_begin, diag);
}

/* --- events --------------------------------------------------------------------------- */

static int tracedat_export_choose(struct wm_tdx *d, const struct wm_event_type *type,
				  struct wm_tdx_event *ret)
{
	bool is_perf = d->trace->ops == &wm_perfdata_ops;
	uint32_t id = d->source.nr_ids + d->nr_made;
	int err;

	ret->how = WM_TDX_RECORD;
	if (d->source.td)
		return 0;
	if (is_perf && d->source.raw && !type->meta &&
	    ((const struct wm_pd_attr *)type->own)->format)
		return 0;
	ret->how = WM_TDX_KERNELS;
	ret->format = wm_tdx_source_format(&d->source, type->name, type->parts[WM_PART_FIELDS]);
	if (ret->format)
		return 0;
	ret->how = WM_TDX_LEFT_OUT;
	ret->why = "the trace has more event types than a kernel can have";
	if (id == 0)
		id = ++d->nr_made; /* ids begin with 1: 0 is not valid */
	if (id >= WM_KFORMATS_IDS)
		return 0;
	err = wm_tdx_make_format(&d->made, &d->arena, &d->source.machine, type, id, &ret->format);
	if (err == -ENOMEM)
		return err;
	d->nr_made++;
	if (!err)
		ret->how = WM_TDX_MADE;
	ret->why = err == -E2BIG ? "they have more fields than a kernel event can have"
				 : "their fields cannot be described in the kernel's format";
	return 0;
}

static int get_ring(struct wm_tdx *d, uint32_t buffer, uint32_t cpu, struct wm_tdx_ring **ret)
{
	struct wm_tdx_ring **slot = &d->by_cpu[(size_t)buffer * WM_TDX_CPUS_MAX + cpu];

	if (!*slot) {
		struct wm_tdx_ring *r = wm_arena_get(&d->arena, sizeof(*r));
		void *more = wm_arena_grow(&d->arena, d->rings, d->nr_rings, sizeof(*d->rings));

		if (!r || !more)
			return -ENOMEM;
		*r = (struct wm_tdx_ring){.index = d->nr_rings, .buffer = buffer, .cpu = cpu};
		d->rings = more;
		d->rings[d->nr_rings++] = *slot = r;
		if (d->nr_cpus <= cpu)
			d->nr_cpus = cpu + 1;
	}
	*ret = *slot;
	return 0;
}

/* With very many CPUs, writes all pages to the spool before another CPU gets pages. */
static int limit_memory(struct wm_tdx *d, const struct wm_tdx_ring *r)
{
	uint64_t bytes = (uint64_t)WM_TDX_CHUNK_PAGES * d->source.layout.page_bytes;
	int err = 0;

	if (r->pages)
		return 0;
	if (d->nr_held * bytes < MEMORY_BYTES) {
		d->nr_held++;
		return 0;
	}
	for (uint32_t i = 0; !err && i < d->nr_rings; i++)
		if (d->rings[i]->pages)
			err = wm_tdx_ring_finish(&d->spool, d->rings[i], &d->source.layout);
	d->nr_held = 1;
	return err;
}

static int tracedat_export_add_losses(struct wm_tdx *d, struct wm_export_losses *losses,
				      struct wm_tdx_ring *r, int64_t ns)
{
	const struct wm_trace_loss *l;
	int err = 0;

	for (; !err && (l = wm_export_next_loss(losses, ns)); losses->next++) {
		err = limit_memory(d, r);
		if (!err)
			err = wm_tdx_ring_lose(&d->spool, r, &d->source.layout,
					       l->packets ? WM_PAGE_LOST_UNKNOWN : l->count);
	}
	return err;
}

static struct wm_tdx_name *tracedat_export_find_name(const struct wm_tdx *d, int32_t tid)
{
	struct wm_table_walk w = wm_table_walk(wm_table_hash(&d->name_table, (uint32_t)tid));

	while (wm_table_next(&d->name_table, &w))
		if (d->names[w.index].tid == tid)
			return &d->names[w.index];
	return NULL;
}

/*
 * Stores the name of a thread; the last one is used, as in the kernel's list. The strings live as
 * long as the traces. When out of memory, the name is omitted.
 */
static void note_name(struct wm_tdx *d, uint32_t trace, const struct wm_event *e)
{
	int32_t tid = e->tid > 0 ? e->tid : e->pid;
	uint32_t nr = d->name_table.nr;
	struct wm_tdx_name *known;
	const char *name;

	if (tid <= 0 || d->source.td)
		return;
	known = tracedat_export_find_name(d, tid);
	if (!known && nr == WM_TDX_NAMES_MAX)
		return;
	name = wm_comm_of_thread(d->x->traces[trace], e);
	if (!*name)
		return;
	if (known)
		known->name = name;
	else if (!wm_table_add(&d->name_table, wm_table_hash(&d->name_table, (uint32_t)tid), nr))
		d->names[nr] = (struct wm_tdx_name){tid, name};
}

/* Returns the value of the common field with that name. */
static uint8_t common_number(const struct wm_event *e, const char *name)
{
	struct wm_part_range part = e->parts[WM_PART_STREAM_CONTEXT];

	for (uint32_t i = part.at; i < part.end; i = e->items[i].next)
		if (e->items[i].member->name && !strcmp(e->items[i].member->name, name))
			return (uint8_t)e->items[i].u;
	return 0;
}

/* Creates the record of an event that has no raw record. */
static int make_record(struct wm_tdx *d, const struct wm_tdx_event *what, const struct wm_event *e)
{
	const struct wm_part_range *fields = &e->parts[WM_PART_FIELDS];
	const struct wm_part_range all[] = {e->parts[WM_PART_STREAM_CONTEXT],
					    e->parts[WM_PART_CONTEXT], *fields};
	struct wm_kernel_common common = {.pid = e->tid >= 0 ? e->tid : e->pid >= 0 ? e->pid : 0};

	if (what->how == WM_TDX_MADE)
		return wm_export_kernel_record(&d->source.machine, what->format, &common, e->items,
					       all, 3, &d->scratch, &d->record);
	common.flags = common_number(e, "flags");
	common.preempt_count = common_number(e, "preempt_count");
	return wm_export_kernel_record(&d->source.machine, what->format, &common, e->items, fields,
				       1, &d->scratch, &d->record);
}

static uint64_t tracedat_export_time_of(const struct wm_tdx *d, const struct wm_event *e)
{
	int64_t first = d->trace->begin_ns > INT64_MIN / 2 && d->trace->nr_packets
			    ? d->trace->begin_ns
			    : d->base_ns;

	if (d->source.td)
		return e->clock;
	return (uint64_t)(e->ns == WM_TIME_NONE ? first : e->ns) - (uint64_t)d->base_ns;
}

static int tracedat_export_add(struct wm_tdx *d, const struct wm_tdx_event *what,
			       const struct wm_event *e)
{
	uint32_t cpu = e->cpu >= 0 ? (uint32_t)e->cpu : 0, bytes = e->raw_bytes;
	uint32_t buffer = d->source.td ? (uint32_t)e->stream->class_id : 0;
	const void *record = e->raw;
	struct wm_tdx_ring *r;
	int err = 0;

	if (cpu >= WM_TDX_CPUS_MAX || buffer >= d->nr_buffers) {
		wm_export_skip(d->x,
			       cpu >= WM_TDX_CPUS_MAX
				   ? "their CPU number is above 4095"
				   : "they are in a buffer without a description",
			       1);
		return 0;
	}
	err = get_ring(d, buffer, cpu, &r);
	if (!err)
		err = tracedat_export_add_losses(d, &d->losses[e->stream->index], r, e->ns);
	if (!err)
		err = limit_memory(d, r);
	if (err)
		return err;
	if (what->how != WM_TDX_RECORD) {
		err = make_record(d, what, e);
		record = d->record.data;
		bytes = (uint32_t)d->record.bytes;
	}
	if (!err)
		err = wm_tdx_ring_add(&d->spool, r, &d->source.layout,
				      tracedat_export_time_of(d, e), record, bytes);
	if (err != -E2BIG)
		return err;
	wm_export_skip(d->x, "larger than a page of the ring buffer", 1);
	return 0;
}

/* Returns whether the event has callers, or a copy of the stack from which to find them. */
static bool has_chain(const struct wm_event *e)
{
	static const char *const names[] = {"callchain", "stack_user"};
	struct wm_part_range part = e->parts[WM_PART_STREAM_CONTEXT];

	for (uint32_t i = part.at; i < part.end; i = e->items[i].next)
		for (size_t k = 0; e->items[i].count && k < sizeof(names) / sizeof(names[0]); k++)
			if (e->items[i].member->name && !strcmp(e->items[i].member->name, names[k]))
				return true;
	return false;
}

static int tracedat_export_event(struct wm_export *x, uint32_t trace, const struct wm_event *e)
{
	struct wm_tdx *d = x->own;
	struct wm_tdx_event *what = &d->events[e->type->index];
	int err = what->how == WM_TDX_NEW ? tracedat_export_choose(d, e->type, what) : 0;

	if (err)
		return err;
	if (what->how == WM_TDX_LEFT_OUT || (what->how == WM_TDX_RECORD && !e->raw)) {
		wm_export_skip(x,
			       what->how == WM_TDX_LEFT_OUT ? what->why
							    : "the trace lacks their raw record",
			       1);
		return 0;
	}
	note_name(d, trace, e);
	if (what->how != WM_TDX_MADE && has_chain(e))
		wm_export_reduce(x, "call chains, which its kernel events do not have", 1);
	return tracedat_export_add(d, what, e);
}

/* --- closing -------------------------------------------------------------------------- */

/* Adds the losses after the last event. */
static int last_losses(struct wm_tdx *d)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < d->trace->nr_streams; i++) {
		const struct wm_stream *s = d->trace->streams[i];
		uint32_t buffer = d->source.td ? (uint32_t)s->class_id : 0;
		uint32_t cpu = s->cpu >= 0 && s->cpu < (int)WM_TDX_CPUS_MAX ? (uint32_t)s->cpu : 0;
		struct wm_tdx_ring *r;

		if (!wm_export_next_loss(&d->losses[i], INT64_MAX) || buffer >= d->nr_buffers)
			continue;
		err = get_ring(d, buffer, cpu, &r);
		if (!err)
			err = tracedat_export_add_losses(d, &d->losses[i], r, INT64_MAX);
	}
	return err;
}

static int tracedat_export_complete(struct wm_tdx *d, struct wm_diag *diag)
{
	int err = last_losses(d);

	if (!d->nr_cpus)
		d->nr_cpus = 1; /* trace-cmd refuses a file without CPUs */
	for (uint32_t i = 0; !err && i < d->nr_rings; i++)
		err = wm_tdx_ring_finish(&d->spool, d->rings[i], &d->source.layout);
	if (!err)
		err = wm_tdx_write(d);
	return wm_export_single_finish(d->x, &d->out, err, diag);
}

static int tracedat_export_close_any(struct wm_export *x, bool whole, struct wm_diag *diag)
{
	struct wm_tdx *d = x->own;
	int err = 0;

	if (!d)
		return 0;
	if (whole)
		err = tracedat_export_complete(d, diag);
	x->nr_files = 1;
	wm_export_file_done(&d->out);
	wm_tdx_spool_done(&d->spool);
	for (uint32_t i = 0; i < d->nr_rings; i++)
		free(d->rings[i]->pages);
	wm_tdx_made_done(&d->made);
	wm_tdx_source_done(&d->source);
	wm_text_done(&d->record);
	wm_text_done(&d->scratch);
	free(d->by_cpu);
	free(d->names);
	wm_table_done(&d->name_table);
	wm_arena_done(&d->arena);
	free(d);
	x->own = NULL;
	return err;
}

const struct wm_exporter_ops wm_export_tracedat = {
    .suffixes = ".dat",
    .summary = "trace.dat 7, compressed: for trace-cmd, KernelShark",
    .no_parts = 1u << WM_PART_PACKET_HEADER | 1u << WM_PART_PACKET_CONTEXT | 1u << WM_PART_HEADER,
    .open = tracedat_export_open_any,
    .event = tracedat_export_event,
    .close = tracedat_export_close_any,
};

const struct wm_exporter_ops wm_export_tracedat_plain = {
    .summary = "trace.dat 7, not compressed",
    .no_parts = 1u << WM_PART_PACKET_HEADER | 1u << WM_PART_PACKET_CONTEXT | 1u << WM_PART_HEADER,
    .open = tracedat_export_open_any,
    .event = tracedat_export_event,
    .close = tracedat_export_close_any,
};
