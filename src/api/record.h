/* SPDX-License-Identifier: MIT */
/*
 * record.h - what the files behind <waymark/record.h> share: record.c makes a
 * recording and carries it out, record_live.c gives its events while it runs.
 * Counting is count.c, count_programs.c for what programs were marked with.
 */
#ifndef WM_API_RECORD_H
#define WM_API_RECORD_H

#include <waymark/record.h>

#include "api/api.h"
#include "control/live.h"
#include "control/recorder.h"

/* Reports that begin a batch, and are not looked at yet: one answer, and the last. */
#define WM_API_PENDING 2u

struct wm_api_live {
	struct wm_live *live; /* NULL: the recording has a folder */
	struct wm_report pending[WM_API_PENDING];
	uint32_t nr_pending;
	bool in_batch, asked, over;
	uint64_t next_look_ns;
	struct waymark_trace *trace; /* types of the batch's events; its trace is the live one's */
	struct waymark_event event;  /* the last one given */
};

struct waymark_recording {
	struct wm_arena arena; /* of what the options had */
	struct wm_recorder_events events;
	struct wm_recorder_plan plan;
	struct wm_words words;
	char *single;                 /* the filter for single threads and CPUs */
	pid_t *pids;                  /* of the threads, when such were named */
	struct wm_recorder *recorder; /* NULL: not started */
	const char **excluded;        /* rules that come behind all others */
	uint32_t nr_excluded;
	bool is_over; /* the trace is whole, or was never begun */
	struct wm_api_live live;
};

/* 0, or -errno with the sentence in `error`. */
int wm_api_live_create(struct waymark_recording *r, struct waymark_error *error);
void wm_api_live_done(struct waymark_recording *r);

/* The folder this library lies in, in the arena. */
char *wm_api_own_folder(struct wm_arena *a, bool *failed);

/* The recorder's reports: those that begin a batch are kept. */
void wm_api_live_report(void *data, const struct wm_report *report);

#endif
