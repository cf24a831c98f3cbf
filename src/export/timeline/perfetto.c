/* SPDX-License-Identifier: MIT */
/*
 * perfetto.c - writes Perfetto's format: a sequence of TracePackets in the Protocol Buffers wire
 * format (base/pb.h). doc/format/perfetto.md specifies the contents; the field numbers are public,
 * and test/data/perfetto.proto has those used here.
 *
 * All packets belong to one sequence. Each file of a split output can be read by itself: it begins
 * with the clock, and describes all its tracks and names again.
 */
#include "export/timeline/perfetto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/timeline/perfetto_int.h"

#define BUNDLE_BYTES 4096u          /* size of the kernel events in one packet */
#define SPLIT_BYTES  (512ull << 20) /* a browser needs several times as much memory to show it */

/* --- events --------------------------------------------------------------------------------- */

/* Begins a TrackEvent, without its values; pass *ret_inner and the result to end_event(). */
static size_t begin_event(struct wm_perfetto *p, int64_t ns, enum wm_perfetto_type type,
			  uint64_t track, size_t *ret_inner)
{
	struct wm_text *t = wm_perfetto_out(p);
	size_t at = wm_perfetto_begin_packet(p, WM_PF_NEEDS_STATE);

	wm_pb_u64(t, WM_PF_TIMESTAMP, wm_perfetto_time(p, ns));
	*ret_inner = wm_pb_begin(t, WM_PF_TRACK_EVENT);
	wm_pb_u64(t, WM_PF_TYPE, type);
	wm_pb_u64(t, WM_PF_TRACK_UUID, track);
	return at;
}

static int end_event(struct wm_perfetto *p, size_t at, size_t inner)
{
	wm_pb_end(wm_perfetto_out(p), inner);
	return wm_perfetto_end_packet(p, at);
}

static void perfetto_put_names(struct wm_perfetto *p, const char *category, const char *title)
{
	uint64_t iid = wm_perfetto_name(&p->names, WM_PERFETTO_EVENT, title);
	struct wm_text *t = wm_perfetto_out(p);

	if (iid)
		wm_pb_u64(t, WM_PF_NAME_IID, iid);
	else
		wm_pb_utf8(t, WM_PF_EVENT_NAME, title, strlen(title));
	if (!category[0])
		return;
	iid = wm_perfetto_name(&p->names, WM_PERFETTO_CATEGORY, category);
	if (iid)
		wm_pb_u64(t, WM_PF_CATEGORY_IIDS, iid);
	else
		wm_pb_utf8(t, WM_PF_CATEGORIES, category, strlen(category));
}

/* --- what the scene gives ------------------------------------------------------------- */

static int perfetto_on_values(void *own, uint32_t trace, const struct wm_event *e,
			      struct wm_text *t)
{
	struct wm_perfetto *p = own;

	return wm_perfetto_values_put(&p->values, p->scene.view, trace, e, WM_PF_ANNOTATIONS, t);
}

static int perfetto_on_point(void *own, const struct wm_scene_point *point)
{
	struct wm_perfetto *p = own;
	size_t inner, at = begin_event(p, point->ns, WM_PF_INSTANT,
				       wm_perfetto_row_uuid(&point->row), &inner);
	int err = 0;

	perfetto_put_names(p, point->category, point->title);
	if (point->event)
		err = perfetto_on_values(p, point->trace, point->event, wm_perfetto_out(p));
	else
		wm_text_add(wm_perfetto_out(p), point->values, point->bytes);
	return err ? err : end_event(p, at, inner);
}

static int put_begin(struct wm_perfetto *p, const struct wm_scene_bar *b, uint64_t track)
{
	size_t inner, at = begin_event(p, b->begin_ns, WM_PF_SLICE_BEGIN, track, &inner);
	int err = 0;

	perfetto_put_names(p, b->category, b->title);
	if (b->values)
		wm_text_add(wm_perfetto_out(p), b->values, b->bytes);
	else if (b->event)
		err = perfetto_on_values(p, b->trace, b->event, wm_perfetto_out(p));
	return err ? err : end_event(p, at, inner);
}

/*
 * Writes the values of the end event as one nested annotation, because they may have the same names
 * as those of the begin event.
 */
static int perfetto_put_end(struct wm_perfetto *p, const struct wm_scene_bar *b, uint64_t track)
{
	size_t inner, at = begin_event(p, b->end_ns, WM_PF_SLICE_END, track, &inner), end;
	struct wm_text *t = wm_perfetto_out(p);
	int err = 0;

	if (b->values && b->event) {
		end = wm_perfetto_values_begin(&p->values, WM_PF_ANNOTATIONS, "$end", t);
		err = wm_perfetto_values_put(&p->values, p->scene.view, b->trace, b->event, 11, t);
		wm_pb_end(t, end);
	}
	return err ? err : end_event(p, at, inner);
}

static int perfetto_on_bar(void *own, const struct wm_scene_bar *b)
{
	struct wm_perfetto *p = own;
	uint64_t track = wm_perfetto_lane_uuid(&b->row, b->lane);
	int err = put_begin(p, b, track);

	return err || b->is_open ? err : perfetto_put_end(p, b, track);
}

static void put_counter_value(struct wm_text *t, const struct wm_scene_number *n)
{
	if (n->kind == WM_TYPE_FLOAT)
		wm_pb_double(t, WM_PF_DOUBLE_COUNTER_VALUE, n->f);
	else if (n->kind != WM_TYPE_SIGNED && n->u > INT64_MAX)
		wm_pb_double(t, WM_PF_DOUBLE_COUNTER_VALUE, (double)n->u);
	else
		wm_pb_i64(t, WM_PF_COUNTER_VALUE, n->s);
}

static int perfetto_on_number(void *own, const struct wm_scene_number *n)
{
	struct wm_perfetto *p = own;
	size_t at, inner;
	int track = wm_perfetto_counter_track(p, n);

	if (track == -ENOSPC) {
		wm_export_skip(p->x, "too many different counters", 1);
		return 0;
	}
	if (track < 0)
		return track;
	at = begin_event(p, n->ns, WM_PF_COUNTER,
			 wm_perfetto_uuid(WM_PF_OF_COUNTER, (uint32_t)track), &inner);
	put_counter_value(wm_perfetto_out(p), n);
	return end_event(p, at, inner);
}

static const struct wm_scene_ops scene_ops = {
    perfetto_on_values, wm_perfetto_row, perfetto_on_point, perfetto_on_bar, perfetto_on_number};

/* --- the kernel's events -------------------------------------------------------------- */

static int flush_bundle(struct wm_perfetto *p)
{
	struct wm_text *t = wm_perfetto_out(p);
	size_t at, inner;

	if (!p->bundle.bytes)
		return 0;
	at = wm_perfetto_begin_packet(p, 0);
	inner = wm_pb_begin(t, WM_PF_FTRACE_EVENTS);
	wm_pb_u64(t, 1, (uint64_t)p->bundle_cpu);
	wm_text_add(t, p->bundle.data, p->bundle.bytes);
	wm_pb_end(t, inner);
	t->failed |= p->bundle.failed;
	wm_text_cut(&p->bundle, 0);
	return wm_perfetto_end_packet(p, at);
}

static int put_ftrace(struct wm_perfetto *p, uint32_t trace, const struct wm_event *e,
		      const struct wm_perfetto_ftrace *f)
{
	struct wm_scene_row row;
	int err = wm_scene_learn(&p->scene, trace, e, &row);

	if (!err && (e->cpu != p->bundle_cpu || p->bundle.bytes >= BUNDLE_BYTES))
		err = flush_bundle(p);
	if (err)
		return err;
	p->bundle_cpu = e->cpu;
	wm_perfetto_ftrace_put(f, e, row.kind == WM_ROW_THREAD ? row.task->tid : -1, &p->bundle);
	return p->bundle.failed ? -ENOMEM : 0;
}

/* --- samples --------------------------------------------------------------------------- */

/* Writes a sample, after the names of its thread and process. */
static int perfetto_put_sample(struct wm_perfetto *p, uint32_t trace, const struct wm_event *e)
{
	struct wm_scene_row row;
	int32_t pid = e->pid, tid = e->tid;
	int err = wm_scene_learn(&p->scene, trace, e, &row);

	if (err)
		return err;
	if (row.kind == WM_ROW_THREAD) {
		tid = row.task->tid;
		pid = pid >= 0 ? pid : row.task->pid;
		err = wm_scene_tell(&p->scene, &row, 0);
	}
	return err ? err
		   : wm_perfetto_samples_put(p->samples, trace, e, wm_perfetto_time(p, e->ns), pid,
					     tid, wm_perfetto_out(p));
}

/* --- pieces --------------------------------------------------------------------------- */

static bool perfetto_is_epoch(const struct wm_export *x)
{
	for (uint32_t i = 0; i < x->nr_traces; i++)
		if (!x->traces[i]->nr_clocks || !x->traces[i]->clocks[0]->is_epoch)
			return false;
	return true;
}

/*
 * Describes the clock. Times are in WM_PF_BOOTTIME, the readers' default. If they count from 1970,
 * WM_PF_REALTIME is declared equal to it, so that readers can show dates.
 */
static int put_clock(struct wm_perfetto *p)
{
	struct wm_text *t = wm_perfetto_out(p);
	size_t at = wm_perfetto_begin_packet(p, WM_PF_STATE_CLEARED), inner, clock;
	uint64_t now = wm_perfetto_time(p, p->last_ns);

	wm_pb_u64(t, WM_PF_TIMESTAMP, now);
	inner = wm_pb_begin(t, WM_PF_CLOCK_SNAPSHOT);
	for (uint32_t id = WM_PF_BOOTTIME; id;
	     id = id == WM_PF_BOOTTIME && perfetto_is_epoch(p->x) ? WM_PF_REALTIME : 0) {
		clock = wm_pb_begin(t, 1);
		wm_pb_u64(t, 1, id);
		wm_pb_u64(t, 2, now);
		wm_pb_end(t, clock);
	}
	wm_pb_u64(t, 2, WM_PF_BOOTTIME); /* primary_trace_clock */
	wm_pb_end(t, inner);
	return wm_perfetto_end_packet(p, at);
}

/* Writes the kernel's release, on which the meaning of sched_switch's states depends. */
static int put_system(struct wm_perfetto *p)
{
	static const char *const words[] = {"kernel_release", "kernel"};
	struct wm_text *t = wm_perfetto_out(p);
	const char *release = NULL;
	size_t at, inner, utsname;

	for (uint32_t i = 0; i < p->x->nr_traces; i++)
		for (int k = 0; k < 2 && !release; k++)
			release = wm_trace_word(p->x->traces[i], words[k]);
	if (!release)
		return 0;
	at = wm_perfetto_begin_packet(p, 0);
	inner = wm_pb_begin(t, WM_PF_SYSTEM_INFO);
	utsname = wm_pb_begin(t, 1);
	wm_pb_string(t, 1, "Linux", 5);
	wm_pb_utf8(t, 3, release, strlen(release));
	wm_pb_end(t, utsname);
	wm_pb_string(t, 4, p->x->options.tracer, strlen(p->x->options.tracer));
	wm_pb_end(t, inner);
	return wm_perfetto_end_packet(p, at);
}

static int perfetto_begin_piece(struct wm_perfetto *p)
{
	struct wm_export_file *f = wm_export_pieces_now(&p->pieces);
	size_t before = f->buffer.bytes;
	int err = put_clock(p);

	if (!err)
		err = put_system(p);
	wm_export_file_added(f, before);
	p->begun = true;
	return err;
}

static int perfetto_next_piece(struct wm_perfetto *p)
{
	struct wm_export_file *f = wm_export_pieces_now(&p->pieces);
	size_t before = f->buffer.bytes;
	int err = flush_bundle(p);

	wm_export_file_added(f, before);
	if (!err)
		err = wm_export_pieces_next(&p->pieces, p->diag);
	if (err)
		return err;
	wm_scene_forget_rows(&p->scene);
	if (p->told_counters)
		memset(p->told_counters, 0, p->room_counters);
	wm_perfetto_names_again(&p->names);
	wm_perfetto_samples_again(p->samples);
	return perfetto_begin_piece(p);
}

/* --- the exporter --------------------------------------------------------------------- */

static int perfetto_bind(struct wm_perfetto *p)
{
	struct wm_export *x = p->x;

	p->ftrace = calloc(x->nr_traces + 1, sizeof(*p->ftrace));
	for (uint32_t i = 0; p->ftrace && i < x->nr_traces; i++) {
		p->ftrace[i] = calloc(x->traces[i]->nr_types + 1, sizeof(**p->ftrace));
		if (!p->ftrace[i])
			return -ENOMEM;
		for (uint32_t k = 0; k < x->traces[i]->nr_types; k++)
			wm_perfetto_ftrace_bind(x->traces[i]->types[k], &p->ftrace[i][k]);
	}
	return p->ftrace ? 0 : -ENOMEM;
}

static int perfetto_open(struct wm_export *x, struct wm_diag *diag)
{
	struct wm_perfetto *p = calloc(1, sizeof(*p));
	uint64_t limit = x->options.split_bytes ? x->options.split_bytes : SPLIT_BYTES;
	int err;

	x->own = p;
	if (!p)
		return -ENOMEM;
	p->x = x;
	p->diag = diag;
	wm_perfetto_values_init(&p->values, &p->names);
	err = wm_perfetto_names_init(&p->names);
	if (!err)
		err = wm_names_init(&p->counters);
	if (!err)
		err = wm_scene_init(&p->scene, x, &scene_ops, p);
	if (!err)
		err = perfetto_bind(p);
	if (!err)
		err = wm_perfetto_samples_create(x, WM_PF_SEQUENCE + 1, &p->samples);
	if (!err)
		err = wm_export_pieces_create(&p->pieces, x->options.path, x->options.force, limit,
					      diag);
	return err;
}

static int perfetto_event(struct wm_export *x, uint32_t trace, const struct wm_event *e)
{
	struct wm_perfetto *p = x->own;
	const struct wm_perfetto_ftrace *f = &p->ftrace[trace][e->type->index];
	enum wm_sampled_how sampled;
	struct wm_export_file *file;
	size_t before;
	int err = 0;

	if (e->ns != WM_TIME_NONE)
		p->last_ns = e->ns;
	if (!p->begun)
		err = perfetto_begin_piece(p);
	else if (wm_export_pieces_full(&p->pieces))
		err = perfetto_next_piece(p);
	if (err)
		return err;
	file = wm_export_pieces_now(&p->pieces);
	before = file->buffer.bytes;
	sampled = wm_perfetto_samples_take(p->samples, trace, e->type);
	if (sampled != WM_SAMPLED_NOT)
		err = perfetto_put_sample(p, trace, e);
	if (f->event && e->cpu >= 0 && e->ns >= 0)
		err = err ? err : put_ftrace(p, trace, e, f);
	else if (sampled != WM_SAMPLED_ONLY)
		err = err ? err : wm_scene_event(&p->scene, trace, e);
	wm_export_file_added(file, before);
	return err ? err : file->err;
}

static int perfetto_finish(struct wm_perfetto *p)
{
	struct wm_export_file *f = wm_export_pieces_now(&p->pieces);
	size_t before;
	int err = 0;

	if (!p->begun)
		err = perfetto_begin_piece(p);
	before = f->buffer.bytes;
	if (!err)
		err = flush_bundle(p);
	if (!err)
		err = wm_scene_finish(&p->scene);
	wm_export_file_added(f, before);
	return err ? err : wm_export_pieces_publish(&p->pieces, p->diag);
}

static int perfetto_close(struct wm_export *x, bool whole, struct wm_diag *diag)
{
	struct wm_perfetto *p = x->own;
	int err = 0;

	if (!p)
		return 0;
	p->diag = diag;
	if (whole)
		err = perfetto_finish(p);
	x->nr_files = p->pieces.nr;
	wm_export_pieces_done(&p->pieces);
	wm_scene_done(&p->scene);
	wm_perfetto_values_done(&p->values);
	wm_perfetto_names_done(&p->names);
	for (uint32_t i = 0; p->ftrace && i < x->nr_traces; i++)
		free(p->ftrace[i]);
	free(p->ftrace);
	wm_perfetto_samples_destroy(p->samples);
	wm_names_done(&p->counters);
	free(p->told_counters);
	wm_text_done(&p->counter);
	wm_text_done(&p->bundle);
	free(p);
	return err;
}

const struct wm_exporter_ops wm_export_perfetto = {
    .suffixes = ".perfetto-trace|.pftrace|.perfetto",
    .summary = "Perfetto's format: for ui.perfetto.dev, trace_processor",
    .splits = true,
    .no_parts = 1u << WM_PART_PACKET_HEADER | 1u << WM_PART_PACKET_CONTEXT | 1u << WM_PART_HEADER,
    .open = perfetto_open,
    .event = perfetto_event,
    .close = perfetto_close,
};
