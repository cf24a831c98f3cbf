/* SPDX-License-Identifier: MIT */
/*
 * perfetto_int.h - declarations shared by the files of the Perfetto exporter: perfetto.c receives
 * events and writes packets, perfetto_tracks.c describes their tracks, perfetto_values.c encodes
 * values.
 */
#ifndef WM_EXPORT_TIMELINE_PERFETTO_INT_H
#define WM_EXPORT_TIMELINE_PERFETTO_INT_H

#include "export/pieces_int.h"
#include "export/timeline/perfetto_ftrace.h"
#include "export/timeline/perfetto_samples.h"
#include "export/timeline/perfetto_values.h"
#include "export/timeline/scene.h"
#include "trace/name_table.h"

#define WM_PF_SEQUENCE 1u

/* Field numbers of the messages written here. */
enum { WM_PF_TRACE_PACKET = 1 };
enum wm_perfetto_packet {
	WM_PF_FTRACE_EVENTS = 1,
	WM_PF_CLOCK_SNAPSHOT = 6,
	WM_PF_TIMESTAMP = 8,
	WM_PF_SEQUENCE_ID = 10,
	WM_PF_TRACK_EVENT = 11,
	WM_PF_INTERNED_DATA = 12,
	WM_PF_SEQUENCE_FLAGS = 13,
	WM_PF_SYSTEM_INFO = 45,
	WM_PF_TRACK_DESCRIPTOR = 60,
};
enum wm_perfetto_flags { WM_PF_STATE_CLEARED = 1, WM_PF_NEEDS_STATE = 2 };
enum wm_perfetto_track_event {
	WM_PF_CATEGORY_IIDS = 3,
	WM_PF_ANNOTATIONS = 4,
	WM_PF_TYPE = 9,
	WM_PF_NAME_IID = 10,
	WM_PF_TRACK_UUID = 11,
	WM_PF_CATEGORIES = 22,
	WM_PF_EVENT_NAME = 23,
	WM_PF_COUNTER_VALUE = 30,
	WM_PF_DOUBLE_COUNTER_VALUE = 44,
};
enum wm_perfetto_type {
	WM_PF_SLICE_BEGIN = 1,
	WM_PF_SLICE_END = 2,
	WM_PF_INSTANT = 3,
	WM_PF_COUNTER = 4
};
enum wm_perfetto_descriptor {
	WM_PF_UUID = 1,
	WM_PF_NAME = 2,
	WM_PF_PROCESS = 3,
	WM_PF_THREAD = 4,
	WM_PF_PARENT_UUID = 5,
	WM_PF_COUNTER_OF = 8
};
enum wm_perfetto_process { WM_PF_PROCESS_PID = 1, WM_PF_PROCESS_NAME = 6 };
enum wm_perfetto_thread { WM_PF_THREAD_PID = 1, WM_PF_THREAD_TID = 2, WM_PF_THREAD_NAME = 5 };
enum wm_perfetto_counter { WM_PF_COUNTER_UNIT = 3, WM_PF_COUNTER_UNIT_NAME = 6 };
enum wm_perfetto_clocks { WM_PF_REALTIME = 1, WM_PF_BOOTTIME = 6 };

/* The kind of track: the upper bits of its uuid. */
enum wm_perfetto_track {
	WM_PF_OF_PROCESS = 1,
	WM_PF_OF_THREAD,
	WM_PF_OF_CPU,
	WM_PF_OF_CPU_RUNS,
	WM_PF_OF_CPU_STOPS,
	WM_PF_OF_NOBODY,
	WM_PF_OF_LOSSES,
	WM_PF_OF_COUNTER,
	WM_PF_OF_READINGS,
	WM_PF_OF_LANE = 64, /* + number: a lane for those bars of a thread that overlap others */
};

#define WM_PF_COUNTERS_MAX 65536u

struct wm_perfetto {
	struct wm_export *x;
	struct wm_export_pieces pieces;
	struct wm_scene scene;
	struct wm_perfetto_names names;
	struct wm_perfetto_values values;
	struct wm_perfetto_ftrace **ftrace; /* indexed by trace, then by type */
	struct wm_perfetto_samples *samples;
	struct wm_text bundle; /* buffered FtraceEvents of one processor */
	int32_t bundle_cpu;
	struct wm_names counters; /* each is "PID NAME"; PID -1: no process */
	bool *told_counters;      /* by id: whether the counter was described in this file */
	uint32_t room_counters;
	struct wm_text counter; /* name of the current counter */
	struct wm_diag *diag;
	int64_t last_ns;
	bool begun;
};

/* --- packets (perfetto_tracks.c) ------------------------------------------------------------ */

/* Returns the buffer to which output is appended. */
static inline struct wm_text *wm_perfetto_out(const struct wm_perfetto *p)
{
	return &wm_export_pieces_now(&p->pieces)->buffer;
}

/*
 * Begins a packet with these flags. The result must be passed to wm_perfetto_end_packet(), which
 * also writes new names.
 */
size_t wm_perfetto_begin_packet(struct wm_perfetto *p, uint32_t flags);
int wm_perfetto_end_packet(struct wm_perfetto *p, size_t at);

/* Converts a time for output: times before the clock's origin become 0. */
static inline uint64_t wm_perfetto_time(const struct wm_perfetto *p, int64_t ns)
{
	if (ns == WM_TIME_NONE)
		ns = p->last_ns;
	return ns < 0 ? 0 : (uint64_t)ns;
}

/* --- tracks --------------------------------------------------------------------------------- */

static inline uint64_t wm_perfetto_uuid(enum wm_perfetto_track of, uint64_t n)
{
	return (uint64_t)of << 40 | n;
}
uint64_t wm_perfetto_row_uuid(const struct wm_scene_row *row);
uint64_t wm_perfetto_lane_uuid(const struct wm_scene_row *row, uint32_t lane);

/* Describes the track of a row; used in wm_scene_ops. */
int wm_perfetto_row(void *own, const struct wm_scene_row *row, uint32_t lane, const char *name);

/*
 * Returns the id of the counter track of `n`, or -errno; -ENOSPC: too many counters. Writes the
 * track's descriptor when the track is first used.
 */
int wm_perfetto_counter_track(struct wm_perfetto *p, const struct wm_scene_number *n);

#endif
