/* SPDX-License-Identifier: MIT */
/*
 * recording.h - the recorder's two halves: the pump process, which serves a
 * session and writes its trace, and the command's handle on it.
 *
 *   command                                   pump (child, session of its own)
 *   wm_recording_start() --fork-->             creates the trace directory
 *                       <--READY or FAILED--
 *   wm_recording_order() --STOP, SNAPSHOT-->   rounds: sockets, packets
 *                       <--TROUBLE, SNAPSHOT--
 *   wm_recording_look() --LOOK-->              live: all there is by now is written
 *                       <--LOOKED--
 *                       <--DONE--             last packets, directory closed
 *
 * They talk over a socket pair. When the command dies in any way the pump sees
 * the pair closed and ends as if told to; when the pump dies the command sees
 * the same and goes on without. The pump prints nothing and holds none of the
 * command's descriptors.
 *
 * Discard and block mode move packets to disk all the time. Overwrite mode
 * writes nothing until a snapshot or the end; of the processes that ended
 * before, the last 64 keep their buffers, those before them are written out.
 */
#ifndef WM_CONTROL_PUMP_RECORDING_H
#define WM_CONTROL_PUMP_RECORDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "control/kernel_events.h"
#include "control/pump/sources.h"
#include "control/recorder/sampling.h"
#include "control/rules.h"
#include "control/session/session.h"
#include "ring/pool.h"
#include "write/trace_writer.h"

/* Whose events, for what begins while it runs; all of it the caller's. */
struct wm_recording_whose {
	bool all;
	const pid_t *pids; /* and what they fork */
	size_t nr_pids;
	const pid_t *tids; /* only these; none: all of theirs */
	size_t nr_tids;
	const int *cpus; /* only there; none: everywhere */
	size_t nr_cpus;
};

struct wm_recording_options {
	struct wm_session *session; /* listening, rules written */
	const struct wm_rules *rules;
	const char *dir; /* the trace directory */
	enum wm_trace_format format;
	const char *command;          /* for the trace's environment block; may be NULL */
	void *sources[WM_SOURCES_NR]; /* options of each source, the caller's; NULL: not recorded */
	struct wm_recording_whose whose;
	/*
	 * Read while it runs (live.h fills these). So many bytes may wait to be
	 * read; then events wait where they are, and are lost and counted there.
	 * 0: it is no live one. The lock is of the folder, which goes with us.
	 */
	uint64_t live_bytes;
	int live_lock_fd;
};

struct wm_recording_totals {
	uint64_t events, bytes, packets;
	uint64_t lost[WM_LOST_NR];
	uint64_t filtered_missing; /* events a glob matched that lack a filter's field */
	uint64_t duration_ns;
	uint32_t nr_processes; /* that ever joined */
	uint32_t nr_changes;   /* of the rules, while it ran */
	uint32_t nr_quarantined;
	uint32_t nr_refused;                            /* connections beyond the limits */
	struct wm_source_totals sources[WM_SOURCES_NR]; /* parts of `events` and `lost` */
	uint32_t sites_refused;                         /* sites that hold somebody else's bytes */
	uint32_t nr_unpatched;                          /* processes whose code is not patched */
	uint32_t nr_unwanted;                           /* of these: with WAYMARK_NOPATCH set */
	uint32_t sites_unpatched;                       /* sites that stayed off for that */
	unsigned char matched[WM_RULES_NR_MAX / 8];     /* bit i: an event matched rule i */
};

uint64_t wm_recording_lost(const struct wm_recording_totals *t); /* all causes */

enum wm_report_kind {
	WM_REPORT_READY,    /* processes can join */
	WM_REPORT_FAILED,   /* it never began: err and sentence say why */
	WM_REPORT_TROUBLE,  /* sentence: something people should know now */
	WM_REPORT_JOINED,   /* process `pid` joined */
	WM_REPORT_SNAPSHOT, /* written: totals.events and totals.bytes are of the snapshot */
	WM_REPORT_SAMPLING, /* sampling has begun; err and sentence: or why not */
	WM_REPORT_CHANGED,  /* DIR/rules was replaced: who has not joined may be wanted now */
	WM_REPORT_LOOKED,   /* all events before `clock` are written; totals: by now */
	WM_REPORT_DONE,     /* the trace is complete; err: its last error */
};

struct wm_report {
	uint32_t kind; /* enum wm_report_kind */
	int32_t err;
	uint32_t pid;
	uint32_t reserved;
	uint64_t clock; /* of the trace's clock */
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

struct wm_recording {
	pid_t pid;
	int channel; /* -1: closed */
};

/*
 * Forks the pump and waits for its first report. 0, or the pump's error with
 * its sentence; the pump is then gone. The caller may have several threads, where the
 * C library's allocator works behind fork(2).
 */
int wm_recording_start(const struct wm_recording_options *o, struct wm_recording *ret,
		       struct wm_diag *diag);

int wm_recording_order(struct wm_recording *r, enum wm_order order);

/* Tells the pump whose samples are wanted; WM_REPORT_SAMPLING answers. -E2BIG: too many threads. */
int wm_recording_sample(struct wm_recording *r, const struct wm_sampling_whom *whom);

/* Tells the pump CMD: its counters are read, and whatever begins later is of it. */
int wm_recording_follow(struct wm_recording *r, pid_t pid);

/*
 * Of a live one: have what there is by now written; WM_REPORT_LOOKED answers.
 * `freed`: bytes that were read and are no more, of all since it began.
 */
int wm_recording_look(struct wm_recording *r, uint64_t freed);

/*
 * The next report: 1; 0 when there is none now (or, with `wait`, never again:
 * the pump is gone); -EPIPE without `wait` when it is gone.
 */
int wm_recording_read(struct wm_recording *r, bool wait, struct wm_report *ret);

void wm_recording_done(struct wm_recording *r); /* closes the channel */

/* The pump process's main; `channel` is its end of the pair. For start() and tests. */
int wm_recording_main(const struct wm_recording_options *o, int channel);

#endif
