/* SPDX-License-Identifier: MIT */
/*
 * scene.h - turns events in time order into the contents of a timeline: points, bars with a
 * beginning and an end, and numbers, in named rows of threads and processors. For exporters to
 * formats that timeline viewers read: each such format is one struct wm_scene_ops.
 *
 * A bar is output when it ends, with the values of its begin event, which the format encoded when
 * the bar began. Bars still open at the end of the traces are output then. Every event is output
 * exactly once: as a point, as one or more numbers, as the beginning or the end of a bar, or as a
 * whole bar. The exception is a reading that also has text: it becomes numbers and a point.
 *
 * Relies on trace/task_state.h to know which thread runs where, and on action.h for the meaning of
 * an event. Memory is bounded by the numbers of threads and processors, and by the limits of
 * open_slices.h.
 */
#ifndef WM_EXPORT_TIMELINE_SCENE_H
#define WM_EXPORT_TIMELINE_SCENE_H

#include "export/export.h"
#include "export/timeline/action.h"
#include "export/timeline/bar_lanes.h"
#include "export/timeline/open_slices.h"
#include "trace/task_state.h"
#include "view/writer.h"

enum wm_scene_row_kind {
	WM_ROW_NOBODY, /* for events whose thread and processor are unknown */
	WM_ROW_THREAD,
	WM_ROW_CPU,       /* a processor: events of all threads */
	WM_ROW_CPU_RUNS,  /* a processor: the running thread */
	WM_ROW_CPU_STOPS, /* a processor: interrupts */
	WM_ROW_LOSSES,
	WM_ROW_READINGS, /* readings of the machine, its processors and devices */
	WM_NR_ROWS
};

struct wm_scene_row {
	enum wm_scene_row_kind kind;
	uint32_t index;             /* processor number; for a thread: task->index */
	const struct wm_task *task; /* set for THREAD */
};

struct wm_scene_point {
	struct wm_scene_row row;
	int64_t ns;
	const char *title, *category;
	const struct wm_event *event; /* may be NULL: see `values` */
	uint32_t trace;
	const char *values; /* encoded values of a begin event without an end; or NULL */
	size_t bytes;
};

struct wm_scene_bar {
	struct wm_scene_row row;
	/* 0: the row itself; else a lane below it, because the bar overlaps others */
	uint32_t lane;
	int64_t begin_ns, end_ns;
	bool is_open; /* no end was seen: end_ns is the end of the traces */
	bool is_idle; /* CPU_RUNS: no thread is running */
	uint64_t id;  /* id of a span; 0: none */
	const char *title, *category;
	/* values of its begin event, encoded by ops->values(); NULL: use `event` */
	const char *values;
	size_t bytes;
	/* the event that ends the bar, or is the whole bar; NULL: none */
	const struct wm_event *event;
	uint32_t trace;
};

/* A new value of a number. */
struct wm_scene_number {
	struct wm_scene_row row; /* THREAD: the number belongs to the thread's process */
	const char *title;
	int64_t ns;
	enum wm_type_kind kind; /* selects the union member: UNSIGNED, SIGNED, BOOL, FLOAT */
	union {
		uint64_t u;
		int64_t s;
		double f;
	};
	bool has_part;
	int64_t part;     /* which of several numbers with this title */
	const char *unit; /* "": unknown */
	const struct wm_event *event;
	uint32_t trace;
};

/*
 * The functions receive the `own` passed to wm_scene_init(). They return 0, or -errno, which ends
 * the export.
 */
struct wm_scene_ops {
	/* Appends the event's values to `t`, encoded in the output format. */
	int (*values)(void *own, uint32_t trace, const struct wm_event *e, struct wm_text *t);
	/*
	 * Called for a new row (lane 0) or a new lane below it, and when a thread's name has
	 * changed.
	 */
	int (*row)(void *own, const struct wm_scene_row *row, uint32_t lane, const char *name);
	int (*point)(void *own, const struct wm_scene_point *p);
	int (*bar)(void *own, const struct wm_scene_bar *b);
	int (*number)(void *own, const struct wm_scene_number *n);
};

/* For a thread: the lanes, name and process for which row() was last called. */
struct wm_scene_told {
	uint64_t lanes; /* bit set; bit 0 is the row itself */
	int32_t pid;
	uint32_t comm;
};

/* For a processor: the lanes for which row() was called, by kind of row. */
struct wm_scene_told_cpu {
	uint64_t lanes[WM_ROW_CPU_STOPS - WM_ROW_CPU + 1];
};

struct wm_scene_trace {
	struct wm_act_type *types;
	struct wm_field_ref *comms; /* the context with the thread's name; type NULL: none */
};

struct wm_scene {
	const struct wm_export *export;
	const struct wm_scene_ops *ops;
	void *own;
	struct wm_view *view; /* formats print forms */
	struct wm_state state;
	struct wm_scene_trace *traces;
	struct wm_open_slices open;
	struct wm_lanes *lanes;     /* indexed by task->index */
	struct wm_scene_told *told; /* indexed by task->index */
	uint32_t room;              /* capacity of both arrays */
	struct wm_lanes *stops;     /* lanes of CPU_STOPS, indexed by processor */
	struct wm_scene_told_cpu *told_cpus;
	uint32_t nr_cpus;
	struct wm_lanes losses, nobodys;
	uint64_t told_rows[WM_NR_ROWS]; /* announced lanes, for the kinds that have only one row */
	int64_t first_ns, last_ns;      /* time range of the events; first > last: none yet */
	struct wm_text title;           /* title of a reading */
};

/* 0 or -ENOMEM; call wm_scene_done() in either case. */
int wm_scene_init(struct wm_scene *s, const struct wm_export *x, const struct wm_scene_ops *ops,
		  void *own);
void wm_scene_done(struct wm_scene *s);

/* Outputs the event, or stores it as the beginning of a bar. */
int wm_scene_event(struct wm_scene *s, uint32_t trace, const struct wm_event *e);

/*
 * Called instead of wm_scene_event() by an exporter that shows the event itself: only updates the
 * threads' names and processors. *ret is the event's row, for which row() was called if needed.
 */
int wm_scene_learn(struct wm_scene *s, uint32_t trace, const struct wm_event *e,
		   struct wm_scene_row *ret);

/* --- between scene.c, scene_rows.c and scene_readings.c -------------------------- */

/* Calls row() for a row, or a lane below it, that is new or has a new name. */
int wm_scene_tell(struct wm_scene *s, const struct wm_scene_row *row, uint32_t lane);

/* Returns the lanes of the row; NULL: it has none, or out of memory. */
struct wm_lanes *wm_scene_lanes(struct wm_scene *s, const struct wm_scene_row *row);

/* Returns a row of the processor; the row of NOBODY when the number is out of range. */
struct wm_scene_row wm_scene_cpu_row(int32_t cpu, enum wm_scene_row_kind kind);

/* Causes row() to be called again when a row is next used. */
void wm_scene_forget_rows(struct wm_scene *s);

/* Outputs each number of the event. */
int wm_scene_readings(struct wm_scene *s, const struct wm_act_type *a,
		      const struct wm_scene_row *row, uint32_t trace, const struct wm_event *e);

/* Called after the last event: outputs open bars and the traces' losses. */
int wm_scene_finish(struct wm_scene *s);

#endif
