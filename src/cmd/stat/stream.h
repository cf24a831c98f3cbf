/* SPDX-License-Identifier: MIT */
/* stream.h - declarations shared by stream.c and stream_show.c, which count from a stream. */
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
	struct wm_recorder_events events; /* events of this run */
	struct wm_recorder *run;
	struct wm_live *live;
	struct wm_trace *trace;
	struct wm_pass_input input;
	struct wm_pass pass;
	bool begun; /* the pass is initialized */
	struct wm_apart_values values;
	struct wm_pass_run apart;
	struct wm_followed followed; /* tasks whose kernel events are counted; unused with -a */
	bool told;                   /* the kernel reports tasks */
	int told_err;                /* why it does not: -errno; 0: unknown */
	struct wm_stat_out out;
	uint64_t start_ns,
	    /*
	     * start of the interval shown: of this run or, with --by, of all runs; in the future
	     * during -D
	     */
	    shown_ns;
	uint64_t counts_ns; /* time at which counting starts; 0: from the start, or never */
	int64_t begin_ns;   /* counts_ns in the clock of the events */
	int err, signo, status, unwanted;
	bool missing, last; /* `last`: this is the last run */
	bool none;          /* only program events were named, and none matched */
};

/*
 * Prints the counts since the last call: for an interval or, at its `end`, for a run. Returns 0 or
 * -ENOMEM.
 */
int wm_stat_stream_show(struct wm_stat_stream *s, bool end);

#endif
