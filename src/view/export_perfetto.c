/* SPDX-License-Identifier: MIT */
/*
 * export_perfetto.c - writes Perfetto's format: TracePackets one after the
 * other, in the wire format of Protocol Buffers (base/pb.h). What is in them is
 * fixed in doc/format/perfetto.md; the numbers of fields are public, and the
 * part that is used is written down in test/data/perfetto.proto.
 *
 * All packets are of one sequence. Pieces of a split output can be read alone:
 * each begins with the clock, and names all its tracks and names again.
 */
#include "view/export_perfetto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/export_pieces.h"
#include "view/perfetto_ftrace.h"
#include "view/perfetto_values.h"
#include "view/scene.h"

#define SEQUENCE     1u
#define BUNDLE_BYTES 4096u          /* of the kernel's events, in one packet */
#define SPLIT_BYTES  (512ull << 20) /* a browser needs a few times as much to show it */

/* Fields of the messages that are written here. */
enum { TRACE_PACKET = 1 };
enum packet {
	FTRACE_EVENTS = 1,
	CLOCK_SNAPSHOT = 6,
	TIMESTAMP = 8,
	SEQUENCE_ID = 10,
	TRACK_EVENT = 11,
	INTERNED_DATA = 12,
	SEQUENCE_FLAGS = 13,
	SYSTEM_INFO = 45,
	TRACK_DESCRIPTOR = 60,
};
enum flags { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum track_event {
	CATEGORY_IIDS = 3,
	ANNOTATIONS = 4,
	TYPE = 9,
	NAME_IID = 10,
	TRACK_UUID = 11,
	CATEGORIES = 22,
	EVENT_NAME = 23,
	COUNTER_VALUE = 30,
};
enum type { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum descriptor { UUID = 1, NAME = 2, PROCESS = 3, THREAD = 4, PARENT_UUID = 5, COUNTER_OF = 8 };
enum process { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum thread { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum clocks { REALTIME = 1, BOOTTIME = 6 };

/* What a track is of: the upper bits of its uuid. */
enum track {
	OF_PROCESS = 1,
	OF_THREAD,
	OF_CPU,
	OF_CPU_RUNS,
	OF_CPU_STOPS,
	OF_NOBODY,
	OF_LOSSES,
	OF_COUNTER,
	OF_LANE = 64, /* + number: of a thread's bars that overlap others */
};

struct counter {
	char *name;
	bool is_told;
};
#define COUNTERS_MAX 4096u

struct perfetto {
	struct wm_export *x;
	struct wm_export_pieces pieces;
	struct wm_scene scene;
	struct wm_perfetto_names names;
	struct wm_perfetto_values values;
	struct wm_perfetto_ftrace **ftrace; /* by trace and index of the type */
	struct wm_text bundle;              /* FtraceEvents of one processor that wait */
	int32_t bundle_cpu;
	struct counter *counters;
	uint32_t nr_counters;
	struct wm_diag *diag;
	int64_t last_ns;
	bool begun;
};

/* --- packets ------------------------------------------------------------------------------ */

static struct wm_text *out(const struct perfetto *p)
{
	return &wm_export_pieces_now(&p->pieces)->buffer;
}

static size_t begin_packet(struct perfetto *p, uint32_t flags)
{
	struct wm_text *t = out(p);
	size_t at = wm_pb_begin(t, TRACE_PACKET);

	wm_pb_u64(t, SEQUENCE_ID, SEQUENCE);
	if (flags)
		wm_pb_u64(t, SEQUENCE_FLAGS, flags);
	return at;
}

/* With it go the names that came up since the last one. */
static int end_packet(struct perfetto *p, size_t at)
{
	struct wm_text *t = out(p), *pending = &p->names.pending;

	if (pending->bytes)
		wm_pb_string(t, INTERNED_DATA, pending->data, pending->bytes);
	t->failed |= pending->failed;
	wm_text_cut(pending, 0);
	wm_pb_end(t, at);
	return t->failed ? -ENOMEM : 0;
}

static uint64_t uuid(enum track of, uint64_t n)
{
	return (uint64_t)of << 40 | n;
}

static uint64_t row_uuid(const struct wm_scene_row *row)
{
	static const enum track tracks[WM_NR_ROWS] = {
	    [WM_ROW_NOBODY] = OF_NOBODY,     [WM_ROW_CPU] = OF_CPU,
	    [WM_ROW_CPU_RUNS] = OF_CPU_RUNS, [WM_ROW_CPU_STOPS] = OF_CPU_STOPS,
	    [WM_ROW_LOSSES] = OF_LOSSES,
	};

	if (row->kind == WM_ROW_THREAD)
		return uuid(OF_THREAD, (uint32_t)row->task->tid);
	return uuid(tracks[row->kind], row->index);
}

/* A time as the format has it: nothing is before the clock's origin. */
static uint64_t time_of(const struct perfetto *p, int64_t ns)
{
	if (ns == WM_TIME_NONE)
		ns = p->last_ns;
	return ns < 0 ? 0 : (uint64_t)ns;
}

/* A TrackEvent but for its values; *ret_inner and the result are for end_event(). */
static size_t begin_event(struct perfetto *p, int64_t ns, enum type type, uint64_t track,
			  size_t *ret_inner)
{
	struct wm_text *t = out(p);
	size_t at = begin_packet(p, NEEDS_STATE);

	wm_pb_u64(t, TIMESTAMP, time_of(p, ns));
	*ret_inner = wm_pb_begin(t, TRACK_EVENT);
	wm_pb_u64(t, TYPE, type);
	wm_pb_u64(t, TRACK_UUID, track);
	return at;
}

static int end_event(struct perfetto *p, size_t at, size_t inner)
{
	wm_pb_end(out(p), inner);
	return end_packet(p, at);
}

static void put_names(struct perfetto *p, const char *category, const char *title)
{
	uint64_t iid = wm_perfetto_name(&p->names, WM_PERFETTO_EVENT, title);
	struct wm_text *t = out(p);

	if (iid)
		wm_pb_u64(t, NAME_IID, iid);
	else
		wm_pb_utf8(t, EVENT_NAME, title, strlen(title));
	if (!category[0])
		return;
	iid = wm_perfetto_name(&p->names, WM_PERFETTO_CATEGORY, category);
	if (iid)
		wm_pb_u64(t, CATEGORY_IIDS, iid);
	else
		wm_pb_utf8(t, CATEGORIES, category, strlen(category));
}

/* --- tracks -------------------------------------------------------------------------------- */

static int describe(struct perfetto *p, uint64_t track, uint64_t parent, const char *name)
{
	struct wm_text *t = out(p);
	size_t at = begin_packet(p, 0), inner = wm_pb_begin(t, TRACK_DESCRIPTOR);

	wm_pb_u64(t, UUID, track);
	if (parent)
		wm_pb_u64(t, PARENT_UUID, parent);
	wm_pb_utf8(t, NAME, name, strlen(name));
	wm_pb_end(t, inner);
	return end_packet(p, at);
}

static int describe_process(struct perfetto *p, int32_t pid, const char *name)
{
	struct wm_text *t = out(p);
	size_t at = begin_packet(p, 0), inner = wm_pb_begin(t, TRACK_DESCRIPTOR), process;

	wm_pb_u64(t, UUID, uuid(OF_PROCESS, (uint32_t)pid));
	process = wm_pb_begin(t, PROCESS);
	wm_pb_u64(t, PROCESS_PID, (uint32_t)pid);
	if (name[0])
		wm_pb_utf8(t, PROCESS_NAME, name, strlen(name));
	wm_pb_end(t, process);
	wm_pb_end(t, inner);
	return end_packet(p, at);
}

static int describe_thread(struct perfetto *p, const struct wm_scene_row *row, const char *name)
{
	const struct wm_task *task = row->task;
	int32_t pid = task->pid >= 0 ? task->pid : task->tid;
	struct wm_text *t = out(p);
	size_t at, inner, thread;
	int err = 0;

	/* A process is called as its first thread; as another one while that is not known. */
	if (pid == task->tid || !wm_tasks_find(&p->scene.state.tasks, pid))
		err = describe_process(p, pid, name);
	if (err)
		return err;
	at = begin_packet(p, 0);
	inner = wm_pb_begin(t, TRACK_DESCRIPTOR);
	wm_pb_u64(t, UUID, row_uuid(row));
	wm_pb_u64(t, PARENT_UUID, uuid(OF_PROCESS, (uint32_t)pid));
	thread = wm_pb_begin(t, THREAD);
	wm_pb_u64(t, THREAD_PID, (uint32_t)pid);
	wm_pb_u64(t, THREAD_TID, (uint32_t)task->tid);
	if (name[0])
		wm_pb_utf8(t, THREAD_NAME, name, strlen(name));
	wm_pb_end(t, thread);
	wm_pb_end(t, inner);
	return end_packet(p, at);
}

/* A lane has a track of its own below its row's. */
static uint64_t lane_uuid(const struct wm_scene_row *row, uint32_t lane)
{
	return row_uuid(row) + ((uint64_t)OF_LANE * lane << 40);
}

static int on_row(void *own, const struct wm_scene_row *row, uint32_t lane, const char *name)
{
	static const char *const formats[WM_NR_ROWS] = {
	    [WM_ROW_NOBODY] = "Events of unknown threads",
	    [WM_ROW_CPU] = "CPU %u events",
	    [WM_ROW_CPU_RUNS] = "CPU %u",
	    [WM_ROW_CPU_STOPS] = "CPU %u interrupts",
	    [WM_ROW_LOSSES] = "Lost events",
	};
	char text[48];

	if (lane) {
		(void)snprintf(text, sizeof(text), "overlapping %u", lane);
		return describe(own, lane_uuid(row, lane), row_uuid(row), text);
	}
	if (row->kind == WM_ROW_THREAD)
		return describe_thread(own, row, name);
	(void)snprintf(text, sizeof(text), formats[row->kind], row->index);
	return describe(own, row_uuid(row), 0, text);
}

/* --- what the scene gives ----------------------------------------------------------------------
 */

static int on_values(void *own, uint32_t trace, const struct wm_event *e, struct wm_text *t)
{
	struct perfetto *p = own;

	return wm_perfetto_values_put(&p->values, p->x->traces[trace], e, ANNOTATIONS, t);
}

static int on_point(void *own, const struct wm_scene_point *point)
{
	struct perfetto *p = own;
	size_t inner, at = begin_event(p, point->ns, INSTANT, row_uuid(&point->row), &inner);
	int err = 0;

	put_names(p, point->category, point->title);
	if (point->event)
		err = on_values(p, point->trace, point->event, out(p));
	else
		wm_text_add(out(p), point->values, point->bytes);
	return err ? err : end_event(p, at, inner);
}

static int put_begin(struct perfetto *p, const struct wm_scene_bar *b, uint64_t track)
{
	size_t inner, at = begin_event(p, b->begin_ns, SLICE_BEGIN, track, &inner);
	int err = 0;

	put_names(p, b->category, b->title);
	if (b->values)
		wm_text_add(out(p), b->values, b->bytes);
	else if (b->event)
		err = on_values(p, b->trace, b->event, out(p));
	return err ? err : end_event(p, at, inner);
}

/* The values of the end are one annotation: they may be called as those of the begin. */
static int put_end(struct perfetto *p, const struct wm_scene_bar *b, uint64_t track)
{
	size_t inner, at = begin_event(p, b->end_ns, SLICE_END, track, &inner), end;
	struct wm_text *t = out(p);
	int err = 0;

	if (b->values && b->event) {
		end = wm_perfetto_values_begin(&p->values, ANNOTATIONS, "$end", t);
		err = wm_perfetto_values_put(&p->values, p->x->traces[b->trace], b->event, 11, t);
		wm_pb_end(t, end);
	}
	return err ? err : end_event(p, at, inner);
}

static int on_bar(void *own, const struct wm_scene_bar *b)
{
	struct perfetto *p = own;
	uint64_t track = lane_uuid(&b->row, b->lane);
	int err = put_begin(p, b, track);

	return err || b->is_open ? err : put_end(p, b, track);
}

/* The counter's track; -ENOSPC: there are too many. */
static int counter_track(struct perfetto *p, const char *name, const char *unit)
{
	struct wm_text *t = out(p);
	struct counter *more;
	uint32_t i = 0;
	size_t at, inner, counter;

	while (i < p->nr_counters && strcmp(p->counters[i].name, name) != 0)
		i++;
	if (i == COUNTERS_MAX)
		return -ENOSPC;
	if (i == p->nr_counters) {
		more = realloc(p->counters, (i + 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		p->counters = more;
		more[i] = (struct counter){.name = strdup(name)};
		if (!more[i].name)
			return -ENOMEM;
		p->nr_counters++;
	}
	if (p->counters[i].is_told)
		return (int)i;
	p->counters[i].is_told = true;
	at = begin_packet(p, 0);
	inner = wm_pb_begin(t, TRACK_DESCRIPTOR);
	wm_pb_u64(t, UUID, uuid(OF_COUNTER, i));
	wm_pb_utf8(t, NAME, name, strlen(name));
	counter = wm_pb_begin(t, COUNTER_OF);
	wm_pb_string(t, 6, unit, strlen(unit)); /* unit_name */
	wm_pb_end(t, counter);
	wm_pb_end(t, inner);
	i = end_packet(p, at) ? UINT32_MAX : i;
	return i == UINT32_MAX ? -ENOMEM : (int)i;
}

static int on_number(void *own, const struct wm_scene_number *n)
{
	struct perfetto *p = own;
	size_t at, inner;
	char name[128];
	int track;

	(void)snprintf(name, sizeof(name), n->has_part ? "%s %lld" : "%s", n->title,
		       (long long)n->part);
	track = counter_track(p, name, n->unit);
	if (track == -ENOSPC) {
		wm_export_skip(p->x, "there are too many different counters", 1);
		return 0;
	}
	if (track < 0)
		return track;
	at = begin_event(p, n->ns, COUNTER, uuid(OF_COUNTER, (uint32_t)track), &inner);
	wm_pb_i64(out(p), COUNTER_VALUE, n->value);
	return end_event(p, at, inner);
}

static const struct wm_scene_ops scene_ops = {on_values, on_row, on_point, on_bar, on_number};

/* --- the kernel's events
 * -------------------------------------------------------------------------- */

static int flush_bundle(struct perfetto *p)
{
	struct wm_text *t = out(p);
	size_t at, inner;

	if (!p->bundle.bytes)
		return 0;
	at = begin_packet(p, 0);
	inner = wm_pb_begin(t, FTRACE_EVENTS);
	wm_pb_u64(t, 1, (uint64_t)p->bundle_cpu);
	wm_text_add(t, p->bundle.data, p->bundle.bytes);
	wm_pb_end(t, inner);
	t->failed |= p->bundle.failed;
	wm_text_cut(&p->bundle, 0);
	return end_packet(p, at);
}

static int put_ftrace(struct perfetto *p, uint32_t trace, const struct wm_event *e,
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

/* --- pieces
 * ------------------------------------------------------------------------------------------ */

static bool is_epoch(const struct wm_export *x)
{
	for (uint32_t i = 0; i < x->nr_traces; i++)
		if (!x->traces[i]->nr_clocks || !x->traces[i]->clocks[0]->is_epoch)
			return false;
	return true;
}

/*
 * Times are of BOOTTIME, which readers take when nothing else is said. Where
 * they count from 1970, REALTIME is the same, and readers can show dates.
 */
static int put_clock(struct perfetto *p)
{
	struct wm_text *t = out(p);
	size_t at = begin_packet(p, STATE_CLEARED), inner, clock;
	uint64_t now = time_of(p, p->last_ns);

	wm_pb_u64(t, TIMESTAMP, now);
	inner = wm_pb_begin(t, CLOCK_SNAPSHOT);
	for (uint32_t id = BOOTTIME; id; id = id == BOOTTIME && is_epoch(p->x) ? REALTIME : 0) {
		clock = wm_pb_begin(t, 1);
		wm_pb_u64(t, 1, id);
		wm_pb_u64(t, 2, now);
		wm_pb_end(t, clock);
	}
	wm_pb_u64(t, 2, BOOTTIME); /* primary_trace_clock */
	wm_pb_end(t, inner);
	return end_packet(p, at);
}

/* The kernel's release: the meaning of sched_switch's states depends on it. */
static int put_system(struct perfetto *p)
{
	static const char *const words[] = {"kernel_release", "kernel"};
	struct wm_text *t = out(p);
	const char *release = NULL;
	size_t at, inner, utsname;

	for (uint32_t i = 0; i < p->x->nr_traces; i++)
		for (int k = 0; k < 2 && !release; k++)
			release = wm_trace_word(p->x->traces[i], words[k]);
	if (!release)
		return 0;
	at = begin_packet(p, 0);
	inner = wm_pb_begin(t, SYSTEM_INFO);
	utsname = wm_pb_begin(t, 1);
	wm_pb_string(t, 1, "Linux", 5);
	wm_pb_utf8(t, 3, release, strlen(release));
	wm_pb_end(t, utsname);
	wm_pb_string(t, 4, p->x->options.tracer, strlen(p->x->options.tracer));
	wm_pb_end(t, inner);
	return end_packet(p, at);
}

static int begin_piece(struct perfetto *p)
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

static int next_piece(struct perfetto *p)
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
	for (uint32_t i = 0; i < p->nr_counters; i++)
		p->counters[i].is_told = false;
	wm_perfetto_names_again(&p->names);
	return begin_piece(p);
}

/* --- the exporter
 * ---------------------------------------------------------------------------------------- */

static int bind(struct perfetto *p)
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
	struct perfetto *p = calloc(1, sizeof(*p));
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
		err = wm_scene_init(&p->scene, x, &scene_ops, p);
	if (!err)
		err = bind(p);
	if (!err)
		err = wm_export_pieces_create(&p->pieces, x->options.path, x->options.force, limit,
					      diag);
	return err;
}

static int perfetto_event(struct wm_export *x, uint32_t trace, const struct wm_event *e)
{
	struct perfetto *p = x->own;
	const struct wm_perfetto_ftrace *f = &p->ftrace[trace][e->type->index];
	struct wm_export_file *file;
	size_t before;
	int err = 0;

	if (e->ns != WM_TIME_NONE)
		p->last_ns = e->ns;
	if (!p->begun)
		err = begin_piece(p);
	else if (wm_export_pieces_full(&p->pieces))
		err = next_piece(p);
	if (err)
		return err;
	file = wm_export_pieces_now(&p->pieces);
	before = file->buffer.bytes;
	if (f->event && e->cpu >= 0 && e->ns >= 0)
		err = put_ftrace(p, trace, e, f);
	else
		err = wm_scene_event(&p->scene, trace, e);
	wm_export_file_added(file, before);
	return err ? err : file->err;
}

static int finish(struct perfetto *p)
{
	struct wm_export_file *f = wm_export_pieces_now(&p->pieces);
	size_t before;
	int err = 0;

	if (!p->begun)
		err = begin_piece(p);
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
	struct perfetto *p = x->own;
	int err = 0;

	if (!p)
		return 0;
	p->diag = diag;
	if (whole)
		err = finish(p);
	x->nr_files = p->pieces.nr;
	wm_export_pieces_done(&p->pieces);
	wm_scene_done(&p->scene);
	wm_perfetto_values_done(&p->values);
	wm_perfetto_names_done(&p->names);
	for (uint32_t i = 0; p->ftrace && i < x->nr_traces; i++)
		free(p->ftrace[i]);
	free(p->ftrace);
	for (uint32_t i = 0; i < p->nr_counters; i++)
		free(p->counters[i].name);
	free(p->counters);
	wm_text_done(&p->bundle);
	free(p);
	return err;
}

const struct wm_exporter_ops wm_export_perfetto = {
    .name = "perfetto",
    .suffixes = ".perfetto-trace|.pftrace|.perfetto",
    .summary = "Perfetto's format: ui.perfetto.dev, trace_processor",
    .splits = true,
    .open = perfetto_open,
    .event = perfetto_event,
    .close = perfetto_close,
};
