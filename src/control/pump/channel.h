/* SPDX-License-Identifier: MIT */
/*
 * channel.h - the command's end of the channel to a pump process: orders go to it, reports come
 * back. The channel is a socket pair. When the command dies, the pump process sees the pair closed
 * and ends as it does after STOP; when the pump process dies, the command sees the same and
 * continues without it.
 */
#ifndef WM_CONTROL_PUMP_CHANNEL_H
#define WM_CONTROL_PUMP_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "control/pump/recording.h"
#include "control/recorder/sampling.h"

enum wm_report_kind {
	WM_REPORT_READY,   /* from now on processes can join */
	WM_REPORT_FAILED,  /* the recording did not begin; err and sentence tell why */
	WM_REPORT_TROUBLE, /* sentence: a message for the user, to be shown at once */
	WM_REPORT_JOINED,  /* process `pid` joined */
	/* A snapshot has been written: totals.events and totals.bytes are the snapshot's. */
	WM_REPORT_SNAPSHOT,
	WM_REPORT_SAMPLING, /* sampling has begun, or failed: see err and sentence */
	/* DIR/rules was replaced: processes that have not joined may match now. */
	WM_REPORT_CHANGED,
	WM_REPORT_LOOKED, /* all events before `clock` are written; totals are current */
	WM_REPORT_DONE,   /* the trace is complete; err is its last error */
};

struct wm_report {
	uint32_t kind; /* enum wm_report_kind */
	int32_t err;
	uint32_t pid;
	uint32_t reserved;
	uint64_t clock; /* a value of the trace's clock */
	struct wm_recording_totals totals;
	char sentence[WM_DIAG_SENTENCE];
};

enum wm_order {
	WM_ORDER_STOP = 1,
	WM_ORDER_SNAPSHOT,
	WM_ORDER_SAMPLE,
	WM_ORDER_LOOK,
	WM_ORDER_FOLLOW,
};

struct wm_channel {
	pid_t pid; /* the pump process's pid */
	int fd;    /* -1: closed */
};

int wm_channel_order(struct wm_channel *c, enum wm_order order);

/*
 * Begins sampling these tasks; the answer is WM_REPORT_SAMPLING. Returns -E2BIG if there are too
 * many threads.
 */
int wm_channel_sample(struct wm_channel *c, const struct wm_sampling_whom *whom);

/*
 * Tells the pump process which process is CMD: its counters are read, and events that are added
 * later are recorded for it.
 */
int wm_channel_follow(struct wm_channel *c, pid_t pid);

/*
 * For a live trace: requests that everything recorded so far be written; the answer is
 * WM_REPORT_LOOKED. `freed` is the number of bytes that the reader has removed from the files since
 * the beginning.
 */
int wm_channel_look(struct wm_channel *c, uint64_t freed);

/*
 * Reads a report. Returns 1: *ret is the next report. Without `wait`, 0 means that no report is
 * queued, and -EPIPE that the pump process has exited. With `wait`, 0 means that it has exited.
 */
int wm_channel_read(struct wm_channel *c, bool wait, struct wm_report *ret);

void wm_channel_done(struct wm_channel *c); /* closes the channel */

#endif
