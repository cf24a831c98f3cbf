/* SPDX-License-Identifier: MIT */
/*
 * record.h - declarations shared by the files that implement <waymark/record.h>: record.c creates
 * and runs a recording, record_live.c returns its events while it runs. count.c does the counting,
 * with count_programs.c for program events.
 */
#ifndef WM_API_RECORD_H
#define WM_API_RECORD_H

#include <waymark/record.h>

#include "api/api.h"
#include "control/live.h"
#include "control/recorder.h"

/*
 * Maximum number of unread reports that begin a batch: the answer to one request, and the last
 * report.
 */
#define WM_API_PENDING 2u

struct wm_api_live {
	struct wm_live *live; /* NULL: the recording has a folder */
	struct wm_report pending[WM_API_PENDING];
	uint32_t nr_pending;
	bool in_batch, asked, over;
	uint64_t next_look_ns;
	struct waymark_trace *trace; /* types of the batch's events; borrows the live trace */
	struct waymark_event event;  /* the last event returned */
};

struct waymark_recording {
	struct wm_arena arena; /* holds copies of the options */
	struct wm_recorder_events events;
	struct wm_recorder_plan plan;
	struct wm_words words;
	char *single;                 /* the filter for single threads and CPUs */
	pid_t *pids;                  /* the threads' processes, if threads were given */
	struct wm_recorder *recorder; /* NULL: not started */
	const char **excluded;        /* rules that are applied after all others */
	uint32_t nr_excluded;
	bool is_over; /* the trace is complete, or recording never began */
	struct wm_api_live live;
};

/* Returns 0, or -errno with a message in `error`. */
int wm_api_live_create(struct waymark_recording *r, struct waymark_error *error);
void wm_api_live_done(struct waymark_recording *r);

/* Returns this library's folder, allocated in the arena. */
char *wm_api_own_folder(struct wm_arena *a, bool *failed);

#endif
