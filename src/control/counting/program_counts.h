/* SPDX-License-Identifier: MIT */
/*
 * program_counts.h - counts of programs' events: a session whose processes count
 * instead of recording (ring/counts.h), and the sums over them. Nothing is
 * written anywhere; a count survives the process that made it, however that
 * ended.
 *
 * What is counted is what a recording of the same rules would hold, and what it
 * would have lost for want of a pool or a level is counted as lost here, too.
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

#define WM_TALLY_EVENTS_MAX 65536u /* different names */
#define WM_TALLY_ALL        SIZE_MAX

struct wm_tally;

struct wm_tally_options {
	struct wm_rules *rules; /* made with wm_tally_rules_options(); they outlive the tally */
	/* Threads that are counted apart, as this process numbers them; `only`: nobody else's. */
	const pid_t *tids;
	size_t nr_tids;
	bool only;
	void (*joined)(pid_t pid, void *data); /* may be NULL */
	/* A process is not counted, or not to its end; why. */
	void (*refused)(pid_t pid, const char *why, void *data);
	void *data;
};

struct wm_rules_options wm_tally_rules_options(void);

/* Makes the session folder. Processes may join from now on; they are served by wm_tally_serve(). */
int wm_tally_create(struct wm_rules *rules, const char *runtime_dir, struct wm_tally **ret,
		    struct wm_diag *diag);
int wm_tally_serve(struct wm_tally *t, const struct wm_tally_options *o, struct wm_loop *loop);
/* Before anybody is served: what happens until wm_tally_begin() is in no count. */
void wm_tally_hold(struct wm_tally *t);
void wm_tally_begin(struct wm_tally *t);
const struct wm_session *wm_tally_session(const struct wm_tally *t);
void wm_tally_destroy(struct wm_tally *t); /* accepts NULL */

/* Sums up what has been counted until now. */
void wm_tally_read(struct wm_tally *t);

/*
 * The last sums: the folder goes, whoever has connected is heard to the end,
 * processes that live on are let go. Steps the loop. Once; later calls do nothing.
 */
void wm_tally_end(struct wm_tally *t);

/* Events by name, as found so far; the order changes when one is found. */
size_t wm_tally_nr(const struct wm_tally *t);
const char *wm_tally_name(const struct wm_tally *t, size_t event); /* "provider:name" */
uint32_t wm_tally_rule(const struct wm_tally *t, size_t event);    /* the first that names it */
/* As of the last read; of the thread tids[thread], or WM_TALLY_ALL that are counted. */
uint64_t wm_tally_count(const struct wm_tally *t, size_t event, size_t thread);
/* What the last wm_tally_since() of this place gave is taken off. */
uint64_t wm_tally_since(struct wm_tally *t, size_t event, size_t thread);

struct wm_tally_totals {
	uint32_t nr_processes;     /* that joined */
	uint64_t lost;             /* events that could not be counted, of all processes */
	uint64_t filtered_missing; /* events a glob matched that lack the filter's field */
	uint32_t nr_unpatched;     /* processes whose code is not patched */
	uint64_t sites_unpatched;  /* sites that stayed off for that */
	uint32_t sites_refused;    /* sites that hold somebody else's bytes */
};
void wm_tally_totals(const struct wm_tally *t, struct wm_tally_totals *ret);

#endif
