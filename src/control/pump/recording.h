/* SPDX-License-Identifier: MIT */
/*
 * recording.h - the two halves of a recorder: the pump process, which serves a session and writes
 * its trace, and the command's interface to it.
 *
 *   command                                   pump (child, session of its own)
 *   wm_recording_start() --fork-->             creates the trace directory
 *                       <--READY or FAILED--
 *   wm_recording_order() --STOP, SNAPSHOT-->   rounds: sockets, packets
 *                       <--TROUBLE, SNAPSHOT--
 *   wm_recording_look() --LOOK-->              live: everything recorded by now is written
 *                       <--LOOKED--
 *                       <--DONE--             last packets, directory closed
 *
 * They communicate over a socket pair. When the command dies, the pump sees the pair
 * closed and ends as after STOP; when the pump dies, the command sees the same and
 * continues without it. The pump prints nothing and inherits only the descriptors of the command
 * that it needs.
 *
 * Discard and block mode write packets continuously. Overwrite mode writes nothing
 * until a snapshot or the end. The last 64 processes that exited keep their buffers
 * until then; the buffers of earlier ones are written at once.
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

/*
 * The tasks to record, for events that are added during the recording. The caller owns everything.
 */
struct wm_recording_whose {
	bool all;
	const pid_t *pids; /* record these processes and their children */
	size_t nr_pids;
	const pid_t *tids; /* record only these threads; nr_tids 0: all threads */
	size_t nr_tids;
	const int *cpus; /* record only these CPUs; nr_cpus 0: all CPUs */
	size_t nr_cpus;
};

struct wm_recording_options {
	struct wm_session *session; /* already listening, with rules written */
	const struct wm_rules *rules;
	const char *dir; /* folder of the trace */
	enum wm_trace_format format;
	/* Command line for the trace's environment block; may be NULL. */
	const char *command;
	/* Options of each source, owned by the caller; NULL: not recorded. */
	void *sources[WM_SOURCES_NR];
	struct wm_recording_whose whose;
	/*
	 * For a live trace, which is read while it is written (live.h sets these). At most
	 * live_bytes may wait for the reader; further events stay in their buffers, which count
	 * those that do not fit as lost. 0: not live. The lock is that of the folder, which is
	 * removed with the recording.
	 */
	uint64_t live_bytes;
	int live_lock_fd;
};

/* Why the pump process closed a connection, or could not accept it. */
enum wm_refusal {
	WM_REFUSED_FULL,   /* WM_RECORDING_PROCESSES_MAX processes are connected */
	WM_REFUSED_SILENT, /* it sent nothing, and too many other connections did not either */
	WM_REFUSED_ERROR,  /* an error of the system: see refused_err */
	WM_REFUSED_NR
};

#define WM_RECORDING_PROCESSES_MAX 32768u

struct wm_recording_totals {
	uint64_t events, bytes, packets;
	uint64_t lost[WM_LOST_NR];
	/* Number of events that a glob matched and that lack a field of its filter. */
	uint64_t filtered_missing;
	uint64_t duration_ns;
	uint32_t nr_processes; /* number of all processes that joined */
	uint32_t nr_changes;   /* number of rule changes during the recording */
	uint32_t nr_quarantined;
	uint32_t nr_refused[WM_REFUSED_NR]; /* number of connections */
	int refused_err;                    /* the first error counted in WM_REFUSED_ERROR */
	/* The sources' parts of `events` and `lost`. */
	struct wm_source_totals sources[WM_SOURCES_NR];
	/* Number of sites with bytes of a debugger or a uprobe. */
	uint32_t sites_refused;
	/* Number of processes whose code cannot be patched. */
	uint32_t nr_unpatched;
	/* Number of those that have WAYMARK_NOPATCH set. */
	uint32_t nr_unwanted;
	/* Number of sites that are off in such processes. */
	uint32_t sites_unpatched;
	unsigned char matched[WM_RULES_NR_MAX / 8]; /* bit i is set when an event matched rule i */
};

uint64_t wm_recording_lost(const struct wm_recording_totals *t); /* all causes */

enum wm_report_kind {
	WM_REPORT_READY,   /* from now on processes can join */
	WM_REPORT_FAILED,  /* the recording did not begin; err and sentence have the reason */
	WM_REPORT_TROUBLE, /* sentence: a message for the user, to be shown at once */
	WM_REPORT_JOINED,  /* process `pid` joined */
	/* A snapshot is written: totals.events and totals.bytes are those of the snapshot. */
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

struct wm_recording {
	pid_t pid;
	int channel; /* -1: closed */
};

/*
 * Forks the pump and waits for its first report. 0, or the pump's error with its
 * sentence; then the pump has exited. The caller may have several threads if the C
 * library's allocator works in the child of fork(2).
 */
int wm_recording_start(const struct wm_recording_options *o, struct wm_recording *ret,
		       struct wm_diag *diag);

int wm_recording_order(struct wm_recording *r, enum wm_order order);

/* Begins sampling of these tasks; the answer is WM_REPORT_SAMPLING. -E2BIG: too many threads. */
int wm_recording_sample(struct wm_recording *r, const struct wm_sampling_whom *whom);

/*
 * Tells the pump the process of CMD: its counters are read, and events that are added later are
 * recorded for it.
 */
int wm_recording_follow(struct wm_recording *r, pid_t pid);

/*
 * For a live trace: requests that everything recorded so far is written; the answer is
 * WM_REPORT_LOOKED. `freed` is the number of bytes that the reader has removed from the files since
 * the beginning.
 */
int wm_recording_look(struct wm_recording *r, uint64_t freed);

/*
 * Reads a report. Returns 1: *ret is the next report. Without `wait`, 0: no report is queued;
 * -EPIPE: the pump has exited. With `wait`, 0: the pump has exited.
 */
int wm_recording_read(struct wm_recording *r, bool wait, struct wm_report *ret);

void wm_recording_done(struct wm_recording *r); /* closes the channel */

/* The pump's main(); `channel` is its end of the pair. For wm_recording_start() and tests. */
int wm_recording_main(const struct wm_recording_options *o, int channel);

#endif
