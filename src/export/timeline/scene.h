/* SPDX-License-Identifier: MIT */
/*
 * scene.h - events in order of time become what a timeline shows: points, bars
 * with a begin and an end, numbers; in rows of threads and processors whose
 * names are told. For writers of formats that viewers read: such a format is
 * one struct wm_scene_ops.
 *
 * A bar is given when it ends, with the values of its begin, which the format
 * encoded when it began. What is still open at the end of it all is given
 * then. Every event is in what is given exactly once: as a point, as a number
 * or several, as the begin or the end of a bar, or as all of it; only readings
 * that have words, too, are numbers and a point.
 *
 * Relies on trace/task_state.h for who runs where, and on action.h for what an
 * event does. Memory is bounded by the numbers of threads and processors, and
 * by the limits of open_slices.h.
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
	WM_ROW_NOBODY, /* neither thread nor processor are known */
	WM_ROW_THREAD,
	WM_ROW_CPU,       /* what happened there, of whatever thread */
	WM_ROW_CPU_RUNS,  /* which thread it has */
	WM_ROW_CPU_STOPS, /* interrupts */
	WM_ROW_LOSSES,
	WM_ROW_READINGS, /* of the machine, its processors and devices */
	WM_NR_ROWS
};

struct wm_scene_row {
	enum wm_scene_row_kind kind;
	uint32_t index;             /* processor; thread: task->index */
	const struct wm_task *task; /* THREAD */
};

struct wm_scene_point {
	struct wm_scene_row row;
	int64_t ns;
	const char *title, *category;
	const struct wm_event *event; /* NULL: none */
	uint32_t trace;
	const char *values; /* encoded before: of a begin whose end never came; NULL */
	size_t bytes;
};

struct wm_scene_bar {
	struct wm_scene_row row;
	uint32_t lane; /* 0: in the row itself; else below it, for it overlaps others */
	int64_t begin_ns, end_ns;
	bool is_open; /* nobody saw the end: end_ns is the last moment of all */
	bool is_idle; /* CPU_RUNS: no thread does */
	uint64_t id;  /* of a span; 0: none */
	const char *title, *category;
	const char *values; /* of its begin, as ops->values() made them; NULL: of `event` */
	size_t bytes;
	const struct wm_event *event; /* its end; or it is all of it; NULL: neither */
	uint32_t trace;
};

/* One value of a number that changes. */
struct wm_scene_number {
	struct wm_scene_row row; /* THREAD: its process's */
	const char *title;
	int64_t ns;
	enum wm_type_kind kind; /* UNSIGNED, SIGNED, BOOL, FLOAT: which of these it is: */
	union {
		uint64_t u;
		int64_t s;
		double f;
	};
	bool has_part;
	int64_t part;     /* which of several */
	const char *unit; /* "": not known */
	const struct wm_event *event;
	uint32_t trace;
};

/* All get the `own` of wm_scene_init(); 0 or -errno, which ends it all. */
struct wm_scene_ops {
	/* Adds the event's values, as the format has them, to `t`. */
	int (*values)(void *own, uint32_t trace, const struct wm_event *e, struct wm_text *t);
	/* A row (lane 0) or a lane below it that is new; or a thread is called otherwise. */
	int (*row)(void *own, const struct wm_scene_row *row, uint32_t lane, const char *name);
	int (*point)(void *own, const struct wm_scene_point *p);
	int (*bar)(void *own, const struct wm_scene_bar *b);
	int (*number)(void *own, const struct wm_scene_number *n);
};

/* What row() was told of a thread. */
struct wm_scene_told {
	uint64_t lanes; /* bits: 0 is the row itself */
	int32_t pid;
	uint32_t comm;
};

/* Of a processor: its rows' lanes, by kind. */
struct wm_scene_told_cpu {
	uint64_t lanes[WM_ROW_CPU_STOPS - WM_ROW_CPU + 1];
};

struct wm_scene_trace {
	struct wm_act_type *types;
	struct wm_field_ref *comms; /* a context that tells the thread's name; type NULL: none */
};

struct wm_scene {
	const struct wm_export *export;
	const struct wm_scene_ops *ops;
	void *own;
	struct wm_view *view; /* for print forms */
	struct wm_state state;
	struct wm_scene_trace *traces;
	struct wm_open_slices open;
	struct wm_lanes *lanes;     /* by task->index */
	struct wm_scene_told *told; /* by task->index */
	uint32_t room;              /* of both */
	struct wm_lanes *stops;     /* by processor, of CPU_STOPS */
	struct wm_scene_told_cpu *told_cpus;
	uint32_t nr_cpus;
	struct wm_lanes losses, nobodys;
	uint64_t told_rows[WM_NR_ROWS]; /* lanes of those kinds there is one row of */
	int64_t first_ns, last_ns;      /* of events; first > last: none */
	struct wm_text title;           /* of a reading */
};

/* 0 or -ENOMEM; wm_scene_done() in any case. */
int wm_scene_init(struct wm_scene *s, const struct wm_export *x, const struct wm_scene_ops *ops,
		  void *own);
void wm_scene_done(struct wm_scene *s);

/* Gives the event, or remembers it as a begin. */
int wm_scene_event(struct wm_scene *s, uint32_t trace, const struct wm_event *e);

/*
 * In place of that, for who shows the event in a way of its own: only learns
 * who runs where and how threads are called. *ret is the row it is of, told.
 */
int wm_scene_learn(struct wm_scene *s, uint32_t trace, const struct wm_event *e,
		   struct wm_scene_row *ret);

/* --- between scene.c, scene_rows.c and scene_readings.c -------------------------- */

/* Says the name of the row, and of the lane below it, if that is news. */
int wm_scene_tell(struct wm_scene *s, const struct wm_scene_row *row, uint32_t lane);

/* The lanes of the row; NULL: it has none, or no memory. */
struct wm_lanes *wm_scene_lanes(struct wm_scene *s, const struct wm_scene_row *row);

/* A processor's row; NOBODY's when the number is absurd. */
struct wm_scene_row wm_scene_cpu_row(int32_t cpu, enum wm_scene_row_kind kind);

/* The next use of each row tells it again. */
void wm_scene_forget_rows(struct wm_scene *s);

/* Gives each number of the event. */
int wm_scene_readings(struct wm_scene *s, const struct wm_act_type *a,
		      const struct wm_scene_row *row, uint32_t trace, const struct wm_event *e);

/* The last event was given: what is open, and what the traces lost. */
int wm_scene_finish(struct wm_scene *s);

#endif
