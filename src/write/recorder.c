/* SPDX-License-Identifier: MIT */
/*
 * recorder.c - the recorder's own stream, waymark-0, with events about processes, their mappings
 * and losses. They are collected in memory until they fill a packet.
 */
#include <endian.h>
#include <string.h>

#include <waymark/abi.h>

#include "write/writer_int.h"

#define PACKET_BYTES  (64u << 10) /* waiting records are written at this size, */
#define WAITING_BYTES (1u << 20)  /* and dropped beyond this size if writing fails */

#define U(field_name, width)                                                                       \
	{                                                                                          \
		.name = field_name, .scalar = WM_SCALAR_UNSIGNED, .bytes = width                   \
	}
#define X(field_name)                                                                              \
	{                                                                                          \
		.name = field_name, .scalar = WM_SCALAR_HEX, .bytes = 8                            \
	}
#define S(field_name)                                                                              \
	{                                                                                          \
		.name = field_name, .shape = WM_SHAPE_STRING, .scalar = WM_SCALAR_UNSIGNED,        \
		.bytes = 1                                                                         \
	}

static const struct wm_field process_fields[] = {
    U("pid", 4), U("ppid", 4), U("vpid", 4), U("uid", 4), U("clock", 8), S("comm"), S("path"),
};
static const struct wm_field end_fields[] = {U("pid", 4), U("clock", 8)};
static const struct wm_field module_fields[] = {
    U("pid", 4),
    U("clock", 8),
    X("base"),
    X("start"),
    X("bytes"),
    {.name = "unload", .scalar = WM_SCALAR_BOOL, .bytes = 1},
    {.name = "build_id", .shape = WM_SHAPE_BLOB, .scalar = WM_SCALAR_UNSIGNED, .bytes = 1},
    S("path"),
};

/*
 * The values and names of enum wm_lost, repeated here because this room must not include
 * ring/pool.h; and "late": counters from /proc that were not read in time.
 */
static const struct wm_label causes[] = {
    {0, "full"},  {1, "too_big"}, {2, "nested"}, {3, "overwritten"}, {4, "torn"},
    {5, "early"}, {6, "disk"},    {7, "net"},    {8, "late"},        {255, "unknown"},
};
#define NR_CAUSES (sizeof(causes) / sizeof(causes[0]))

static const struct wm_field lost_fields[] = {
    U("pid", 4),
    U("begin", 8),
    U("end", 8),
    {.name = "cause",
     .scalar = WM_SCALAR_UNSIGNED,
     .bytes = 1,
     .nr_labels = NR_CAUSES,
     .labels = causes},
    U("count", 8),
    {.name = "cpu", .scalar = WM_SCALAR_SIGNED, .bytes = 4},
};

static const struct wm_field thread_fields[] = {U("pid", 4), U("tid", 4), U("clock", 8), S("comm")};

enum { PROCESS, PROCESS_END, MODULE, LOST, THREAD, NR_EVENTS };

#define CLASS(event_name, event_level, fields_of)                                                  \
	{                                                                                          \
		.provider = "waymark", .name = event_name, .file = "", .level = event_level,       \
		.nr_fields = sizeof(fields_of) / sizeof(fields_of[0]), .fields = fields_of,        \
		.payload_bytes = -1                                                                \
	}

static const struct wm_class classes[NR_EVENTS] = {
    [PROCESS] = CLASS("process", WAYMARK_INFO, process_fields),
    [PROCESS_END] = CLASS("process_end", WAYMARK_INFO, end_fields),
    [MODULE] = CLASS("module", WAYMARK_INFO, module_fields),
    [LOST] = CLASS("lost", WAYMARK_WARNING, lost_fields),
    [THREAD] = CLASS("thread", WAYMARK_INFO, thread_fields),
};

int wm_stream_recorder_init(struct wm_trace_writer *w)
{
	size_t i;
	int err = wm_stream_class_create(w, WM_STREAM_KIND_RECORDER, &w->recorder.stream);

	if (err)
		return err;
	w->recorder.last = w->meta.clock_start;
	for (i = 0; i < NR_EVENTS; i++)
		wm_describe_event(&w->declared, w->language, WM_STREAM_RECORDER, (uint32_t)i, 0,
				  &classes[i]);
	return 0;
}

void wm_stream_recorder_done(struct wm_recorder_stream *r)
{
	wm_text_done(&r->records);
}

int wm_stream_recorder_flush(struct wm_trace_writer *w)
{
	struct wm_recorder_stream *r = &w->recorder;
	struct wm_lane_packet packet = {
	    .begin = r->first,
	    .end = r->last,
	    .count = r->count,
	    .lost = r->lost,
	    .payload = r->records.data,
	    .payload_bytes = r->records.bytes,
	    .padding_bytes = r->last_padding,
	};
	struct wm_lane_file *lane;
	int err;

	if (!r->count)
		return 0;
	err = wm_stream_class_metadata(w);
	if (!err)
		err = wm_stream_class_lane(w, r->stream, packet.begin, &lane);
	if (!err)
		err = wm_lane_file_write(&w->folder, lane, &packet);
	if (err)
		return err;
	wm_text_cut(&r->records, 0);
	r->count = r->lost = r->last_padding = 0;
	r->urgent = false;
	return 0;
}

bool wm_stream_recorder_due(const struct wm_trace_writer *w, uint64_t clock)
{
	const struct wm_recorder_stream *r = &w->recorder;

	return r->count && (r->urgent || r->records.bytes >= PACKET_BYTES ||
			    (clock > r->first && clock - r->first >= w->meta.clock_hz));
}

static void recorder_stream_put(struct wm_text *t, uint64_t value, uint32_t bytes)
{
	value = htole64(value);
	wm_text_add(t, &value, bytes);
}

static void recorder_stream_put_string(struct wm_text *t, const char *s)
{
	wm_text_add(t, s ? s : "", (s ? strlen(s) : 0) + 1);
}

/* Begins a record; returns its offset, for end_record(). */
static size_t begin_record(struct wm_trace_writer *w, uint16_t id, uint64_t clock)
{
	struct wm_recorder_stream *r = &w->recorder;

	if (clock < r->last)
		clock = r->last;
	if (r->count && clock - r->first >= WM_PACKET_SPAN_MAX && wm_stream_recorder_flush(w))
		clock = r->last; /* a wrong time is better than an unreadable packet */
	if (!r->count)
		r->first = clock;
	r->last = clock;
	recorder_stream_put(&r->records, wm_header_make(id, clock), WM_RECORD_HEADER_BYTES);
	return r->records.bytes - (r->records.failed ? 0 : WM_RECORD_HEADER_BYTES);
}

static void end_record(struct wm_trace_writer *w, size_t begin, bool urgent)
{
	static const char zeros[WM_RECORD_ALIGN];
	struct wm_recorder_stream *r = &w->recorder;
	size_t padding = -(r->records.bytes - begin) & (WM_RECORD_ALIGN - 1);

	wm_text_add(&r->records, zeros, padding);
	if (r->records.failed || r->records.bytes > WAITING_BYTES) {
		wm_text_cut(&r->records, begin);
		r->lost++;
		return;
	}
	r->last_padding = padding;
	r->count++;
	r->urgent |= urgent;
	if (r->records.bytes >= PACKET_BYTES)
		(void)wm_stream_recorder_flush(w); /* on failure the events remain queued */
}

void wm_stream_recorder_process(struct wm_trace_writer *w, const struct wm_producer_info *info)
{
	struct wm_text *t = &w->recorder.records;
	size_t begin = begin_record(w, PROCESS, info->clock);

	recorder_stream_put(t, info->pid, 4);
	recorder_stream_put(t, info->ppid, 4);
	recorder_stream_put(t, info->vpid, 4);
	recorder_stream_put(t, info->uid, 4);
	recorder_stream_put(t, info->clock, 8);
	recorder_stream_put_string(t, info->comm);
	recorder_stream_put_string(t, info->path);
	end_record(w, begin, true);
}

void wm_stream_recorder_process_end(struct wm_trace_writer *w, uint32_t pid, uint64_t clock)
{
	size_t begin = begin_record(w, PROCESS_END, clock);

	recorder_stream_put(&w->recorder.records, pid, 4);
	recorder_stream_put(&w->recorder.records, clock, 8);
	end_record(w, begin, false);
}

void wm_stream_recorder_thread(struct wm_trace_writer *w, uint32_t pid, uint32_t tid,
			       uint64_t clock, const char *comm)
{
	struct wm_text *t = &w->recorder.records;
	size_t begin = begin_record(w, THREAD, clock);

	recorder_stream_put(t, pid, 4);
	recorder_stream_put(t, tid, 4);
	recorder_stream_put(t, clock, 8);
	recorder_stream_put_string(t, comm);
	end_record(w, begin, false);
}

void wm_stream_recorder_module(struct wm_trace_writer *w, uint32_t pid,
			       const struct wm_module_info *m)
{
	struct wm_text *t = &w->recorder.records;
	size_t begin = begin_record(w, MODULE, m->clock);

	recorder_stream_put(t, pid, 4);
	recorder_stream_put(t, m->clock, 8);
	recorder_stream_put(t, m->base, 8);
	recorder_stream_put(t, m->start, 8);
	recorder_stream_put(t, m->bytes, 8);
	recorder_stream_put(t, m->unload, 1);
	recorder_stream_put(t, m->build_id_bytes, 4);
	wm_text_add(t, m->build_id, m->build_id_bytes);
	recorder_stream_put_string(t, m->path);
	end_record(w, begin, true);
}

void wm_stream_recorder_lost(struct wm_trace_writer *w, const struct wm_recorder_loss *l)
{
	const char *cause = l->cause ? l->cause : "";
	struct wm_text *t = &w->recorder.records;
	size_t begin = begin_record(w, LOST, l->to), i;

	for (i = 0; i < NR_CAUSES - 1 && strcmp(causes[i].name, cause); i++)
		;
	recorder_stream_put(t, l->pid, 4);
	recorder_stream_put(t, l->from, 8);
	recorder_stream_put(t, l->to, 8);
	recorder_stream_put(t, (uint64_t)causes[i].value, 1);
	recorder_stream_put(t, l->count, 8);
	recorder_stream_put(t, (uint32_t)l->cpu, 4);
	end_record(w, begin, false);
}
