/* SPDX-License-Identifier: MIT */
/*
 * source.h - the interface of the pump's sources: kernel events, samples, /proc counters. Only
 * program pools (pump.h) do not use it.
 *
 * A source is one file with one const struct wm_source_ops, and one line in the table of sources
 * (control/pump/sources.h). The command calls takes() and want() for each name that a user gave;
 * want() creates the source's options, which the pump inherits. The pump calls the other functions
 * from its one thread, in this order:
 *
 *   create   when the trace begins, or later when the source's events are added
 *   follow   when the recorded command is about to start; round: repeatedly
 *   stop     the recording ends: from now on the source takes no new events
 *   finish   writes everything that is left; totals are exact from now on
 *   destroy
 *
 * Sources are stopped, finished and destroyed in reverse order of the table.
 */
#ifndef WM_COLLECT_SOURCE_H
#define WM_COLLECT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loop.h"
#include "base/words.h"
#include "collect/calibrate.h"
#include "kernel/event_def.h"
#include "ring/pool.h"
#include "write/trace_writer.h"

#define WM_SOURCE_MORE_MAX 7u

struct wm_source_totals {
	uint64_t events, packets, bytes; /* written events and packets; bytes of their payload */
	/*
	 * Lost events by cause. WM_LOST_DISK: the event was read from the source but could not be
	 * written; see error.
	 */
	uint64_t lost[WM_LOST_NR];
	uint64_t filtered;     /* records that did not pass their event's filter */
	uint64_t torn;         /* records, or /proc files, that do not match their description */
	uint64_t buffer_bytes; /* current total size of all rings */
	int error;             /* -errno of the last write that failed; 0: none failed */
	/* Counters specific to a source, indexed by an enum in its header. */
	uint64_t more[WM_SOURCE_MORE_MAX];
};

/* A user's request for one name. */
struct wm_source_wanted {
	const char *name;
	const char *filter;              /* NULL: none */
	const struct wm_event_def *defs; /* events with that name in the kernel's namespace */
	size_t nr_defs;                  /* 0: the kernel's namespace does not have the name */
	uint64_t every_ns;               /* value of --every; 0: the default */
	bool sampled;                    /* requested with a rate or a call chain, as for samples */
};

/* Objects in the pump that a source may use until destroy(). */
struct wm_source_host {
	struct wm_trace_writer *writer;
	struct wm_calibrate *clock; /* the trace's clock */
	struct wm_loop *loop;
	bool all; /* record every process; else see follow() */
	const pid_t *pids;
	size_t nr_pids;
	pid_t ours[2];         /* the pump and its parent; they are not recorded */
	struct wm_words words; /* prints a message to the user immediately */
	/*
	 * Whether the reader of a live trace is behind: the source writes nothing until it has
	 * caught up.
	 */
	bool (*is_full)(const void *data);
	void *data; /* belongs to the pump, for its own sources */
};

/* A source's result, for the summary at the end of a recording. */
struct wm_source_result {
	const void *options; /* NULL when events were added during the recording */
	const struct wm_source_totals *totals;
	const char *folder; /* the trace's folder */
	bool quiet;         /* only errors */
};

enum wm_source_round {
	WM_ROUND_SOON, /* drain only rings that have enough data for a packet */
	WM_ROUND_SEAL, /* every 100 ms: write all data that has waited since the last such round */
	WM_ROUND_ALL,  /* write everything now, because a reader waits for it */
};

struct wm_source_ops {
	/* Describes the source's events in the summary, after their number: "of the kernel" */
	const char *label;

	/*
	 * Optional. Whether a name denotes events from this source. `def` is the first event with
	 * that name in the kernel's namespace, or NULL.
	 */
	bool (*takes)(const char *name, const struct wm_event_def *def);
	/*
	 * Set if takes is. Adds events to *options, which it creates if NULL. Returns the number of
	 * events or -errno.
	 */
	int (*want)(void **options, const struct wm_source_wanted *w, struct wm_diag *diag);
	/* Optional. Removes the events with that name, a glob, from the options; their number. */
	uint32_t (*exclude)(void *options, const char *name);
	/* Frees the options; set if `want` is. */
	void (*forget)(void *options);
	/*
	 * Optional. Whether a user asked for events from this source. If NULL, having options means
	 * that the user did.
	 */
	bool (*is_asked)(const void *options);
	/* Optional. Called in the command at the end: prints sentences for the user. */
	void (*explain)(const struct wm_source_result *r, const struct wm_words *words);
	/*
	 * Optional. Returns the number of descriptors that the pump must inherit, in a malloc'ed
	 * array, or -ENOMEM.
	 */
	int (*fds)(const void *options, int **ret);
	/*
	 * Optional. Called in the command after the fork: closes copies of descriptors that would
	 * keep rings alive.
	 */
	void (*forked)(void *options);

	/*
	 * Leaves nothing behind on failure. The caller keeps `options`, which outlive the source.
	 */
	int (*create)(void *options, const struct wm_source_host *host, void **ret,
		      struct wm_diag *diag);
	void (*destroy)(void *source);
	/* Optional. Starts recording this process and its future children. */
	int (*follow)(void *source, pid_t pid);
	/*
	 * Returns the number of packets written; if above 0, another round should follow soon.
	 * Errors are in the totals.
	 */
	int (*round)(void *source, enum wm_source_round what);
	void (*stop)(void *source);
	void (*finish)(void *source);
	void (*totals)(const void *source, struct wm_source_totals *ret);
};

#endif
