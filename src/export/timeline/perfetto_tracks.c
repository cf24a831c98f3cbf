/* SPDX-License-Identifier: MIT */
/* perfetto_tracks.c - writes packets in Perfetto's format, and the descriptions of tracks. */
#include <errno.h>
#include <stdio.h>

#include "base/array.h"
#include "export/timeline/perfetto_int.h"

/* --- packets ------------------------------------------------------------------------------ */

size_t wm_perfetto_begin_packet(struct wm_perfetto *p, uint32_t flags)
{
	struct wm_text *t = wm_perfetto_out(p);
	size_t at = wm_pb_begin(t, WM_PF_TRACE_PACKET);

	wm_pb_u64(t, WM_PF_SEQUENCE_ID, WM_PF_SEQUENCE);
	if (flags)
		wm_pb_u64(t, WM_PF_SEQUENCE_FLAGS, flags);
	return at;
}

/* Ends a packet, and adds the names that are new since the last one. */
int wm_perfetto_end_packet(struct wm_perfetto *p, size_t at)
{
	struct wm_text *t = wm_perfetto_out(p), *pending = &p->names.pending;

	if (pending->bytes)
		wm_pb_string(t, WM_PF_INTERNED_DATA, pending->data, pending->bytes);
	t->failed |= pending->failed;
	wm_text_cut(pending, 0);
	wm_pb_end(t, at);
	return t->failed ? -ENOMEM : 0;
}

uint64_t wm_perfetto_row_uuid(const struct wm_scene_row *row)
{
	static const enum wm_perfetto_track tracks[WM_NR_ROWS] = {
	    [WM_ROW_NOBODY] = WM_PF_OF_NOBODY,     [WM_ROW_CPU] = WM_PF_OF_CPU,
	    [WM_ROW_CPU_RUNS] = WM_PF_OF_CPU_RUNS, [WM_ROW_CPU_STOPS] = WM_PF_OF_CPU_STOPS,
	    [WM_ROW_LOSSES] = WM_PF_OF_LOSSES,     [WM_ROW_READINGS] = WM_PF_OF_READINGS,
	};

	if (row->kind == WM_ROW_THREAD)
		return wm_perfetto_uuid(WM_PF_OF_THREAD, (uint32_t)row->task->tid);
	return wm_perfetto_uuid(tracks[row->kind], row->index);
}

/* --- tracks -------------------------------------------------------------------------------- */

static int tracks_describe(struct wm_perfetto *p, uint64_t track, uint64_t parent, const char *name)
{
	struct wm_text *t = wm_perfetto_out(p);
	size_t at = wm_perfetto_begin_packet(p, 0), inner = wm_pb_begin(t, WM_PF_TRACK_DESCRIPTOR);

	wm_pb_u64(t, WM_PF_UUID, track);
	if (parent)
		wm_pb_u64(t, WM_PF_PARENT_UUID, parent);
	wm_pb_utf8(t, WM_PF_NAME, name, strlen(name));
	wm_pb_end(t, inner);
	return wm_perfetto_end_packet(p, at);
}

static int describe_process(struct wm_perfetto *p, int32_t pid, const char *name)
{
	struct wm_text *t = wm_perfetto_out(p);
	size_t at = wm_perfetto_begin_packet(p, 0), inner = wm_pb_begin(t, WM_PF_TRACK_DESCRIPTOR),
	       process;

	wm_pb_u64(t, WM_PF_UUID, wm_perfetto_uuid(WM_PF_OF_PROCESS, (uint32_t)pid));
	process = wm_pb_begin(t, WM_PF_PROCESS);
	wm_pb_u64(t, WM_PF_PROCESS_PID, (uint32_t)pid);
	if (name[0])
		wm_pb_utf8(t, WM_PF_PROCESS_NAME, name, strlen(name));
	wm_pb_end(t, process);
	wm_pb_end(t, inner);
	return wm_perfetto_end_packet(p, at);
}

static int describe_thread(struct wm_perfetto *p, const struct wm_scene_row *row, const char *name)
{
	const struct wm_task *task = row->task;
	int32_t pid = task->pid >= 0 ? task->pid : task->tid;
	struct wm_text *t = wm_perfetto_out(p);
	size_t at, inner, thread;
	int err = 0;

	/*
	 * A process is named after its main thread or, until that is known, after another thread.
	 */
	if (pid == task->tid || !wm_tasks_find(&p->scene.state.tasks, pid))
		err = describe_process(p, pid, name);
	if (err)
		return err;
	at = wm_perfetto_begin_packet(p, 0);
	inner = wm_pb_begin(t, WM_PF_TRACK_DESCRIPTOR);
	wm_pb_u64(t, WM_PF_UUID, wm_perfetto_row_uuid(row));
	wm_pb_u64(t, WM_PF_PARENT_UUID, wm_perfetto_uuid(WM_PF_OF_PROCESS, (uint32_t)pid));
	thread = wm_pb_begin(t, WM_PF_THREAD);
	wm_pb_u64(t, WM_PF_THREAD_PID, (uint32_t)pid);
	wm_pb_u64(t, WM_PF_THREAD_TID, (uint32_t)task->tid);
	if (name[0])
		wm_pb_utf8(t, WM_PF_THREAD_NAME, name, strlen(name));
	wm_pb_end(t, thread);
	wm_pb_end(t, inner);
	return wm_perfetto_end_packet(p, at);
}

/* Returns the track of a lane, which is below the track of its row. */
uint64_t wm_perfetto_lane_uuid(const struct wm_scene_row *row, uint32_t lane)
{
	return wm_perfetto_row_uuid(row) + ((uint64_t)WM_PF_OF_LANE * lane << 40);
}

int wm_perfetto_row(void *own, const struct wm_scene_row *row, uint32_t lane, const char *name)
{
	static const char *const formats[WM_NR_ROWS] = {
	    [WM_ROW_NOBODY] = "Events of unknown threads",
	    [WM_ROW_CPU] = "CPU %u events",
	    [WM_ROW_CPU_RUNS] = "CPU %u",
	    [WM_ROW_CPU_STOPS] = "CPU %u interrupts",
	    [WM_ROW_LOSSES] = "Lost events",
	    [WM_ROW_READINGS] = "Counters",
	};
	char text[48];

	if (lane) {
		(void)snprintf(text, sizeof(text), "overlapping %u", lane);
		return tracks_describe(own, wm_perfetto_lane_uuid(row, lane),
				       wm_perfetto_row_uuid(row), text);
	}
	if (row->kind == WM_ROW_THREAD)
		return describe_thread(own, row, name);
	(void)snprintf(text, sizeof(text), formats[row->kind], row->index);
	return tracks_describe(own, wm_perfetto_row_uuid(row), 0, text);
}

/* --- counters ------------------------------------------------------------------------------- */

static int32_t tracks_process_of(const struct wm_scene_row *row)
{
	if (row->kind != WM_ROW_THREAD)
		return -1;
	return row->task->pid >= 0 ? row->task->pid : row->task->tid;
}

/* Returns the parent track of a counter; 0: none. */
static uint64_t counter_parent(const struct wm_scene_row *row)
{
	if (row->kind == WM_ROW_THREAD)
		return wm_perfetto_uuid(WM_PF_OF_PROCESS, (uint32_t)tracks_process_of(row));
	return row->kind == WM_ROW_READINGS ? wm_perfetto_row_uuid(row) : 0;
}

static void put_unit(struct wm_text *t, const char *unit)
{
	static const struct {
		const char *name;
		uint32_t unit; /* value of CounterDescriptor.Unit */
	} units[] = {{"ns", 1}, {"bytes", 3}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit, units[i].name)) {
			wm_pb_u64(t, WM_PF_COUNTER_UNIT, units[i].unit);
			return;
		}
	if (unit[0])
		wm_pb_string(t, WM_PF_COUNTER_UNIT_NAME, unit, strlen(unit));
}

static int describe_counter(struct wm_perfetto *p, uint32_t id, const struct wm_scene_number *n,
			    const char *name)
{
	struct wm_text *t = wm_perfetto_out(p);
	size_t at = wm_perfetto_begin_packet(p, 0), inner = wm_pb_begin(t, WM_PF_TRACK_DESCRIPTOR),
	       counter;
	uint64_t parent = counter_parent(&n->row);

	wm_pb_u64(t, WM_PF_UUID, wm_perfetto_uuid(WM_PF_OF_COUNTER, id));
	if (parent)
		wm_pb_u64(t, WM_PF_PARENT_UUID, parent);
	wm_pb_utf8(t, WM_PF_NAME, name, strlen(name));
	counter = wm_pb_begin(t, WM_PF_COUNTER_OF);
	put_unit(t, n->unit);
	wm_pb_end(t, counter);
	wm_pb_end(t, inner);
	return wm_perfetto_end_packet(p, at);
}

int wm_perfetto_counter_track(struct wm_perfetto *p, const struct wm_scene_number *n)
{
	size_t name_at;
	uint32_t id;
	int err;

	wm_text_cut(&p->counter, 0);
	wm_text_f(&p->counter, "%d ", tracks_process_of(&n->row));
	name_at = p->counter.bytes;
	wm_text_str(&p->counter, n->title);
	if (n->has_part)
		wm_text_f(&p->counter, " %lld", (long long)n->part);
	wm_text_char(&p->counter, '\0');
	if (p->counter.failed)
		return -ENOMEM;
	id = wm_names_id(&p->counters, p->counter.data, p->counter.bytes - 1);
	if (id == WM_NAMES_NONE)
		return -ENOMEM;
	if (id > WM_PF_COUNTERS_MAX)
		return -ENOSPC;
	if (WM_ARRAY_GROW_ZEROED(p->told_counters, p->room_counters, (size_t)id + 1))
		return -ENOMEM;
	if (p->told_counters[id])
		return (int)id;
	p->told_counters[id] = true;
	err = describe_counter(p, id, n, p->counter.data + name_at);
	return err ? err : (int)id;
}
