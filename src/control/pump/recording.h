/* SPDX-License-Identifier: MIT */
/*
 * recording.h - a recording's input and outcome: its options, which the recorder gives to the pump
 * process, and its totals, which the pump process reports.
 *
 * Discard and block mode write packets continuously. Overwrite mode writes nothing until a snapshot
 * or the end. The last 64 processes to exit keep their buffers until then; the buffers of earlier
 * ones are written at once.
 */
#ifndef WM_CONTROL_PUMP_RECORDING_H
#define WM_CONTROL_PUMP_RECORDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "control/pump/sources.h"
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
	const char *dir; /* the trace's folder */
	enum wm_trace_format format;
	/* Command line for the trace's environment block; may be NULL. */
	const char *command;
	/* Each source's options, owned by the caller; NULL: not recorded. */
	void *sources[WM_SOURCES_NR];
	struct wm_recording_whose whose;
	/*
	 * For a live trace, which is read while it is written (live.h sets these). At most
	 * live_bytes may wait for the reader; further events stay in their buffers, which count
	 * those that do not fit as lost. 0: not live. The lock is the folder's; the folder is
	 * removed with the recording.
	 */
	uint64_t live_bytes;
	int live_lock_fd;
};

/* Why the pump process closed a connection, or could not accept it. */
enum wm_refusal {
	WM_REFUSED_FULL,   /* WM_RECORDING_PROCESSES_MAX processes are connected */
	WM_REFUSED_SILENT, /* it sent nothing, like too many other connections */
	WM_REFUSED_ERROR,  /* a system error: see refused_err */
	WM_REFUSED_NR
};

#define WM_RECORDING_PROCESSES_MAX 32768u

struct wm_recording_totals {
	uint64_t events, bytes, packets;
	uint64_t lost[WM_LOST_NR];
	/* Number of events that matched a glob but lack a field in its filter. */
	uint64_t filtered_missing;
	uint64_t duration_ns;
	uint32_t nr_processes; /* number of processes that ever joined */
	uint32_t nr_changes;   /* number of rule changes during the recording */
	uint32_t nr_quarantined;
	uint32_t nr_refused[WM_REFUSED_NR]; /* number of connections */
	int refused_err;                    /* the first error counted in WM_REFUSED_ERROR */
	/* The sources' shares of `events` and `lost`. */
	struct wm_source_totals sources[WM_SOURCES_NR];
	/* Number of sites that contain a debugger's or a uprobe's bytes. */
	uint32_t sites_refused;
	/* Number of processes whose code cannot be patched. */
	uint32_t nr_unpatched;
	/* Number of those that have WAYMARK_NOPATCH set. */
	uint32_t nr_unwanted;
	/* Number of sites that are off in these processes. */
	uint32_t sites_unpatched;
	unsigned char matched[WM_RULES_NR_MAX / 8]; /* bit i is set when an event matched rule i */
};

uint64_t wm_recording_lost(const struct wm_recording_totals *t); /* from all causes */

#endif
