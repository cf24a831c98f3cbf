/* SPDX-License-Identifier: MIT */
/*
 * counting_choice.h - decides how requested events are counted: which kernel and program events the
 * names refer to, in which processes and on which CPUs, and whether the kernel and the runtime
 * count them (control/counting.h) or a stream of the events is recorded and counted as it is read.
 * Prints nothing.
 *
 *   choice.c           names, CPUs, and the decision
 *   choice_programs.c  program events: rules, processes
 *   choice_stream.c    the recording that a stream needs, and which of its events count
 */
#ifndef WM_CONTROL_COUNTING_CHOICE_H
#define WM_CONTROL_COUNTING_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "base/words.h"
#include "control/counting.h"
#include "control/recorder.h"
#include "kernel/count_filter.h"
#include "kernel/event_def.h"
#include "kernel/event_space.h"

/* A comma-separated list of names, and the filter that applies to it; NULL: none. */
struct wm_counting_named {
	const char *names, *filter;
};

/* What the user requested. The caller owns everything; it must live as long as the choice. */
struct wm_counting_request {
	const struct wm_counting_named *named; /* [0]: only a filter, for all events */
	size_t nr_named;                       /* 1: the default events */
	/* As in wm_counting_plan. */
	const pid_t *pids, *tids;
	size_t nr_pids, nr_tids;
	bool all, no_inherit;
	const char *cpus; /* count only on these CPUs, such as "0-3,8"; NULL: all */
	bool per_cpu, per_thread;
	bool repeats; /* CMD runs several times */
	uint64_t interval_ns, timeout_ns, delay_ns;
	char **command;
	const char *by;
	/* As in wm_recorder_plan. */
	const char *preload;
	const struct wm_words *words;
	const char *search, *runtime_dir;
	char *const *environment;
};

/* Program events: the rules that the names became; see the end of this file. */
struct wm_counting_rules;

/* How the events are counted. Points into itself: not to be copied. */
struct wm_counting_choice {
	const struct wm_counting_request *request;
	struct wm_counting_plan counting;
	struct wm_event_defs defs;
	uint32_t nr_groups; /* of events, in braces */
	struct wm_count_filters filters;
	struct wm_counting_rules *rules;
	int *cpus;
	bool stream; /* count from a stream of the events */
};

/*
 * Decides. Returns 0, or -errno with diag:
 *
 *   -ENOENT with diag->where  no event has this name
 *   -EINVAL, -E2BIG           a name, a filter or their combination is not possible; if
 *                             diag->column is set, *ret_text is the filter that it refers to
 *   others                    wm_counting_check(), memory, permissions
 *
 * In any case, call wm_counting_choice_done() afterwards.
 */
int wm_counting_choose(const struct wm_counting_request *q, const struct wm_event_space *space,
		       struct wm_counting_choice *ret, const char **ret_text, struct wm_diag *diag);
void wm_counting_choice_done(struct wm_counting_choice *c);

static inline bool wm_counting_by_default(const struct wm_counting_request *q)
{
	return q->nr_named <= 1;
}

/* --- counting from a stream ----------------------------------------------------------------- */

/*
 * Fills in a recorder's plan with the processes, threads and CPUs; the caller adds the events and
 * receives the reports.
 */
void wm_counting_stream_plan(const struct wm_counting_choice *c, struct wm_recorder_plan *ret);
/*
 * Creates the events to record, for one recording. Returns 0, or -errno with diag. The caller frees
 * the events' `single`.
 */
int wm_counting_stream_want(const struct wm_counting_choice *c, struct wm_recorder_events *ret,
			    struct wm_diag *diag);
/* Returns the event with this name in the trace; NULL: it is a program event. */
const struct wm_event_def *wm_counting_stream_def(const struct wm_counting_choice *c,
						  const char *name);
/*
 * Whether events with this name are counted, rather than only recorded along with the requested
 * ones. `choice` is a struct wm_counting_choice.
 */
bool wm_counting_stream_counts(const void *choice, const char *name);
/* Returns the fields to group by; "": one total per event. */
const char *wm_counting_stream_by(const struct wm_counting_choice *c);

/* --- events of programs --------------------------------------------------------------------- */

/* The processes and rules, even if there are no rules. */
const struct wm_recorder_plan *wm_counting_rules_whose(const struct wm_counting_rules *r);
uint32_t wm_counting_rules_nr(const struct wm_counting_rules *r);
/* The number of kernel events that were named before this rule. */
size_t wm_counting_rules_before(const struct wm_counting_rules *r, uint32_t rule);
const char *wm_counting_rules_name(const struct wm_counting_rules *r, uint32_t rule);
/* Sets the totals' `matched` to the rules that counted events match. */
void wm_counting_rules_matched(const struct wm_counting *c, struct wm_recording_totals *ret);

#endif
