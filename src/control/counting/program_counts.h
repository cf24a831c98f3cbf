/* SPDX-License-Identifier: MIT */
/*
 * program_counts.h - counts of programs' events: a session whose processes count instead of
 * recording (ring/counts.h), and the sums over them. Nothing is written to disk; a count survives
 * the process that made it, however it ended.
 *
 * An event is counted if a recording with the same rules would hold it; an event that a recording
 * would lose because no pool or level was available is counted as lost.
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
	struct wm_rules *rules; /* created with wm_tally_rules_options(); outlive the tally */
	/*
	 * Threads to count separately, by ids of this process's PID namespace; `only`: no others.
	 */
	const pid_t *tids;
	size_t nr_tids;
	bool only;
	void (*joined)(pid_t pid, void *data); /* may be NULL */
	/* A process is not counted, or not to its end; `why` is the reason. */
	void (*refused)(pid_t pid, const char *why, void *data);
	void *data;
};

struct wm_rules_options wm_tally_rules_options(void);

/* Creates the session folder. Processes may join from now on; wm_tally_serve() serves them. */
int wm_tally_create(struct wm_rules *rules, const char *runtime_dir, struct wm_tally **ret,
		    struct wm_diag *diag);
int wm_tally_serve(struct wm_tally *t, const struct wm_tally_options *o, struct wm_loop *loop);
/* Call before wm_tally_serve(): events until wm_tally_begin() are not counted. */
void wm_tally_hold(struct wm_tally *t);
void wm_tally_begin(struct wm_tally *t);
const struct wm_session *wm_tally_session(const struct wm_tally *t);
void wm_tally_destroy(struct wm_tally *t); /* accepts NULL */

/* Updates the sums. */
void wm_tally_read(struct wm_tally *t);

/*
 * Computes the last sums: removes the folder, handles all messages of connected processes, detaches
 * those that live on. Steps the loop. Later calls do nothing.
 */
void wm_tally_end(struct wm_tally *t);

/* Events found up to now, sorted by name; indexes change when one is added. */
size_t wm_tally_nr(const struct wm_tally *t);
const char *wm_tally_name(const struct wm_tally *t, size_t event); /* "provider:name" */
uint32_t wm_tally_rule(const struct wm_tally *t, size_t event); /* the first rule that matches it */
/* As of the last read; of the thread tids[thread], or WM_TALLY_ALL for the total. */
uint64_t wm_tally_count(const struct wm_tally *t, size_t event, size_t thread);
/* The increase since the last wm_tally_since() of this event and thread. */
uint64_t wm_tally_since(struct wm_tally *t, size_t event, size_t thread);

struct wm_tally_totals {
	uint32_t nr_processes;     /* that joined */
	uint64_t lost;             /* events that could not be counted, of all processes */
	uint64_t filtered_missing; /* events that match a glob but lack a field of its filter */
	uint32_t nr_unpatched;     /* processes whose code is not patched */
	uint64_t sites_unpatched;  /* sites that stayed off for that reason */
	uint32_t sites_refused;    /* sites whose bytes are not waymark's */
};
void wm_tally_totals(const struct wm_tally *t, struct wm_tally_totals *ret);

#endif
