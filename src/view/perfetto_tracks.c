/* SPDX-License-Identifier: MIT */
/* perfetto_tracks.c - packets of Perfetto's format, and the descriptions of tracks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "view/perfetto_int.h"

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

/* With it go the names that came up since the last one. */
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
	    [WM_ROW_LOSSES] = WM_PF_OF_LOSSES,
	};

	if (row->kind == WM_ROW_THREAD)
		return wm_perfetto_uuid(WM_PF_OF_THREAD, (uint32_t)row->task->tid);
	return wm_perfetto_uuid(tracks[row->kind], row->index);
}

/* --- tracks -------------------------------------------------------------------------------- */

static int describe(struct wm_perfetto *p, uint64_t track, uint64_t parent, const char *name)
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

	/* A process is called as its first thread; as another one while that is not known. */
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

/* A lane has a track of its own below its row's. */
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
	};
	char text[48];

	if (lane) {
		(void)snprintf(text, sizeof(text), "overlapping %u", lane);
		return describe(own, wm_perfetto_lane_uuid(row, lane), wm_perfetto_row_uuid(row),
				text);
	}
	if (row->kind == WM_ROW_THREAD)
		return describe_thread(own, row, name);
	(void)snprintf(text, sizeof(text), formats[row->kind], row->index);
	return describe(own, wm_perfetto_row_uuid(row), 0, text);
}

/* The counter's track; -ENOSPC: there are too many. */
int wm_perfetto_counter_track(struct wm_perfetto *p, const char *name, const char *unit)
{
	struct wm_text *t = wm_perfetto_out(p);
	struct wm_perfetto_counter *more;
	uint32_t i = 0;
	size_t at, inner, counter;

	while (i < p->nr_counters && strcmp(p->counters[i].name, name) != 0)
		i++;
	if (i == WM_PF_COUNTERS_MAX)
		return -ENOSPC;
	if (i == p->nr_counters) {
		more = realloc(p->counters, (i + 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		p->counters = more;
		more[i] = (struct wm_perfetto_counter){.name = strdup(name)};
		if (!more[i].name)
			return -ENOMEM;
		p->nr_counters++;
	}
	if (p->counters[i].is_told)
		return (int)i;
	p->counters[i].is_told = true;
	at = wm_perfetto_begin_packet(p, 0);
	inner = wm_pb_begin(t, WM_PF_TRACK_DESCRIPTOR);
	wm_pb_u64(t, WM_PF_UUID, wm_perfetto_uuid(WM_PF_OF_COUNTER, i));
	wm_pb_utf8(t, WM_PF_NAME, name, strlen(name));
	counter = wm_pb_begin(t, WM_PF_COUNTER_OF);
	wm_pb_string(t, 6, unit, strlen(unit)); /* unit_name */
	wm_pb_end(t, counter);
	wm_pb_end(t, inner);
	i = wm_perfetto_end_packet(p, at) ? UINT32_MAX : i;
	return i == UINT32_MAX ? -ENOMEM : (int)i;
}
