/* SPDX-License-Identifier: MIT */
/*
 * program_counts.h - counts program events: a session whose processes count instead of recording
 * (ring/counts.h), and the sums of their counts. Nothing is written to disk; a process's counts
 * survive its end, even if it is killed.
 *
 * An event is counted if a recording with the same rules would contain it; an event that a
 * recording would lose because no pool or level was available is counted as lost.
 */
#ifndef WM_CONTROL_COUNTING_PROGRAM_COUNTS_H
#define WM_CONTROL_COUNTING_PROGRAM_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "base/loop.h"
#include "control/rules.h"
#include "control/session/session.h"

#define WM_TALLY_EVENTS_MAX 65536u /* distinct names */
#define WM_TALLY_ALL        SIZE_MAX

struct wm_tally;

struct wm_tally_options {
	struct wm_rules *rules; /* created with wm_tally_rules_options(); must outlive the tally */
	/*
	 * Threads to count separately, by their ids in this process's PID namespace. `only`: count
	 * no other threads.
	 */
	const pid_t *tids;
	size_t nr_tids;
	bool only;
	void (*joined)(pid_t pid, void *data); /* may be NULL */
	/*
	 * Called for a process that is not counted, or not counted to its end; `why` is the reason.
	 */
	void (*refused)(pid_t pid, const char *why, void *data);
	void *data;
};

struct wm_rules_options wm_tally_rules_options(void);

/* Creates the session folder. Processes may join from now on; wm_tally_serve() serves them. */
int wm_tally_create(struct wm_rules *rules, const char *runtime_dir, struct wm_tally **ret,
		    struct wm_diag *diag);
int wm_tally_serve(struct wm_tally *t, const struct wm_tally_options *o, struct wm_loop *loop);
/* Must be called before wm_tally_serve(): events before wm_tally_begin() are not counted. */
void wm_tally_hold(struct wm_tally *t);
void wm_tally_begin(struct wm_tally *t);
const struct wm_session *wm_tally_session(const struct wm_tally *t);
void wm_tally_destroy(struct wm_tally *t); /* accepts NULL */

/* Updates the sums. */
void wm_tally_read(struct wm_tally *t);

/*
 * Computes the final sums: removes the folder, handles all messages from connected processes, and
 * detaches processes that are still running. Steps the loop. Later calls do nothing.
 */
void wm_tally_end(struct wm_tally *t);

/* Number of events found so far. They are sorted by name, so indexes change when one is added. */
size_t wm_tally_nr(const struct wm_tally *t);
const char *wm_tally_name(const struct wm_tally *t, size_t event); /* "provider:name" */
/* The first rule that matches the event. */
uint32_t wm_tally_rule(const struct wm_tally *t, size_t event);
/* The count at the last read, for the thread tids[thread] or, with WM_TALLY_ALL, in total. */
uint64_t wm_tally_count(const struct wm_tally *t, size_t event, size_t thread);
/* The increase since the last call to wm_tally_since() for this event and thread. */
uint64_t wm_tally_since(struct wm_tally *t, size_t event, size_t thread);

struct wm_tally_totals {
	uint32_t nr_processes; /* number that joined */
	uint64_t lost;         /* number of events, in all processes, that could not be counted */
	/* Number of events that matched a glob but lack a field in its filter. */
	uint64_t filtered_missing;
	uint32_t nr_unpatched;    /* number of processes whose code is not patched */
	uint64_t sites_unpatched; /* number of sites that are off for that reason */
	uint32_t sites_refused;   /* number of sites whose bytes are not waymark's */
};
void wm_tally_totals(const struct wm_tally *t, struct wm_tally_totals *ret);

#endif
