/* SPDX-License-Identifier: MIT */
/*
 * source.h - the interface of the pump's sources: the kernel's events, samples,
 * counters of /proc. Only the pools of programs (pump.h) do not use it.
 *
 * A source is one file with one const struct wm_source_ops, and one line in the
 * table of sources (control/pump/sources.h). The command calls takes() and want()
 * for each name that a user gave; that makes the source's options, which the pump
 * inherits. The pump calls the other functions from its one thread, in this order:
 *
 *   create   when the trace begins, or later when the source's events are added
 *   follow   when the recorded command is about to start; round: again and again
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

#define WM_SOURCE_MORE_MAX 6u

struct wm_source_totals {
	uint64_t events, packets, bytes; /* written; bytes of payload */
	/* By cause; WM_LOST_DISK: read from the source, but not written, see error. */
	uint64_t lost[WM_LOST_NR];
	uint64_t filtered;     /* records that did not pass their event's filter */
	uint64_t torn;         /* records or texts that do not match their description */
	uint64_t buffer_bytes; /* of all rings, now */
	int error;             /* the last write that failed: -errno; 0: none did */
	uint64_t more[WM_SOURCE_MORE_MAX]; /* counters of one source, by an enum of its header */
};

/* The request of a user for one name. */
struct wm_source_wanted {
	const char *name;
	const char *filter;              /* NULL: none */
	const struct wm_event_def *defs; /* events of the kernel's namespace with that name */
	size_t nr_defs;                  /* 0: it is not in there */
	uint64_t every_ns;               /* --every; 0: the default */
	bool sampled;                    /* with a rate or a call chain, as samples have */
};

/* Objects of the pump that a source may use until destroy(). */
struct wm_source_host {
	struct wm_trace_writer *writer;
	struct wm_calibrate *clock; /* of the trace */
	struct wm_loop *loop;
	bool all; /* record every process, else: */
	const pid_t *pids;
	size_t nr_pids;
	pid_t ours[2];         /* the pump and its parent, which are not recorded */
	struct wm_words words; /* sentences for the user, at once */
	/* The reader of a live trace is late: write nothing now, and try again later. */
	bool (*is_full)(const void *data);
	void *data; /* of the pump, for its own sources */
};

/* The result of a source, for the summary of a recording. */
struct wm_source_result {
	const void *options; /* NULL: events were added while the recording ran */
	const struct wm_source_totals *totals;
	const char *folder; /* of the trace */
	bool quiet;         /* only errors */
};

enum wm_source_round {
	WM_ROUND_SOON, /* only rings that are full enough for a packet */
	WM_ROUND_SEAL, /* every 100 ms: everything that has waited since the last one */
	WM_ROUND_ALL,  /* everything, now: a reader waits for it */
};

struct wm_source_ops {
	const char *label; /* its events in the summary, after their number: "of the kernel" */

	/*
	 * Optional. Whether a name means events of this source; `def`: the first event
	 * of the kernel's namespace with that name, or NULL.
	 */
	bool (*takes)(const char *name, const struct wm_event_def *def);
	/* With takes(). Adds events to *options, makes these when NULL. How many, or -errno. */
	int (*want)(void **options, const struct wm_source_wanted *w, struct wm_diag *diag);
	/* With want(). Frees the options. */
	void (*forget)(void *options);
	/* Optional. Whether a user asked for events of the source; NULL: when it has options. */
	bool (*is_asked)(const void *options);
	/* Optional. Sentences for the user, in the command, at the end. */
	void (*explain)(const struct wm_source_result *r, const struct wm_words *words);
	/* Optional. Descriptors that the pump inherits, malloc'ed: their number or -ENOMEM. */
	int (*fds)(const void *options, int **ret);
	/* Optional. After the fork, in the command: closes copies that keep rings alive. */
	void (*forked)(void *options);

	/* On failure nothing is left. `options` stay the caller's and outlive the source. */
	int (*create)(void *options, const struct wm_source_host *host, void **ret,
		      struct wm_diag *diag);
	void (*destroy)(void *source);
	/* Optional. Records this process, and its children from now on. */
	int (*follow)(void *source, pid_t pid);
	/* Above 0: packets moved, another round should follow soon. Errors are in the totals. */
	int (*round)(void *source, enum wm_source_round what);
	void (*stop)(void *source);
	void (*finish)(void *source);
	void (*totals)(const void *source, struct wm_source_totals *ret);
};

#endif
