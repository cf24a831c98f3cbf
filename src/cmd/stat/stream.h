/* SPDX-License-Identifier: MIT */
/* stream.h - counting from a stream: private to stat_stream*.c. */
#ifndef WM_CMD_STAT_STREAM_H
#define WM_CMD_STAT_STREAM_H

#include "analysis/group_count.h"
#include "analysis/pass.h"
#include "analysis/task_filter.h"
#include "cmd/stat/stat.h"
#include "control/live.h"
#include "control/recorder.h"

struct wm_stat_stream {
	const struct wm_stat_plan *plan;
	struct wm_recorder_plan recorder;
	struct wm_recorder_events events; /* of this run */
	struct wm_recorder *run;
	struct wm_live *live;
	struct wm_trace *trace;
	struct wm_pass_input input;
	struct wm_pass pass;
	bool begun; /* the pass is there */
	struct wm_apart_values values;
	struct wm_pass_run apart;
	struct wm_followed followed; /* whose events of the kernel are counted; -a: not asked */
	bool told;                   /* the kernel tells of tasks */
	struct wm_stat_out out;
	uint64_t start_ns, shown_ns; /* of this run, or with --by of all; -D: in the future */
	uint64_t counts_ns;          /* since then; 0: from the start, or never */
	int64_t begin_ns;            /* the same as events have it */
	int err, signo, status, unwanted;
	bool missing, last; /* the last run */
	bool none;          /* only events of programs were asked for, and none was there */
};

/* What is to be recorded, of whom. 0 or an exit status, which was said. */
int wm_stat_stream_want(struct wm_stat_stream *s);
/* The event of the plan that the trace calls so; NULL: a program's. */
const struct wm_event_def *wm_stat_stream_def(const struct wm_stat_stream *s, const char *name);
/* Whether a kind of events is counted: not what comes along with what was named. */
bool wm_stat_stream_counts(const void *stream, const char *name);
/* By what; "": all of a kind together. */
const char *wm_stat_stream_by(const struct wm_stat_plan *plan);

/* What came since the last time: of an interval, of a run that is at its `end`. 0 or -ENOMEM. */
int wm_stat_stream_show(struct wm_stat_stream *s, bool end);

#endif
