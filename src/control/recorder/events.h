/* SPDX-License-Identifier: MIT */
/*
 * events.h - the events to record. Each name is looked up in the common namespace and becomes a
 * rule for programs, an enabled kernel event, a sampled event, or several of these. A recorder
 * (recorder.h) then uses all of them.
 */
#ifndef WM_CONTROL_RECORDER_EVENTS_H
#define WM_CONTROL_RECORDER_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/words.h"
#include "control/kernel_events.h"
#include "control/pump/sources.h"
#include "control/recorder/kernel_request.h"
#include "control/recorder/sampling.h"
#include "control/rules.h"

struct wm_recorder_events {
	struct wm_rules *rules;
	struct wm_recorder_kernel *kernel; /* NULL: no kernel event has been requested */
	struct wm_sampling *sampling;      /* NULL: nothing is sampled yet */
	void *options[WM_SOURCES_NR];      /* the other sources' options, created by their want() */
	/* By rule index: the name matches kernel events, too. */
	bool in_kernel[WM_RULES_NR_MAX];
	enum wm_clock_kind clock; /* the clock for all events in the recording */
	bool user_stacks;         /* program events are recorded with call stacks */

	/* Set by the caller; borrowed. */
	/* Receives messages about events that are only partly permitted or fetched. */
	const struct wm_words *words;
	const char *search; /* $PATH, to find programs */
	/* CMD, whose own events are not taken for misspelt ones of the kernel; NULL: none */
	char *const *command;
	const int *cpus; /* CPUs to sample on; NULL: all */
	size_t nr_cpus;
	pid_t of; /* file names are resolved as this process sees them; 0: as waymark sees them */
	const char *single;    /* additional filter for all program events; NULL: none */
	uint64_t kernel_bytes; /* size of the kernel's rings for all CPUs; 0: the default */
	bool everywhere;       /* record events from every task on the machine */
	bool quiet;            /* no messages about events chosen by default */
	bool kernel_only;      /* look up names only in the kernel, not in programs */
	bool has_times;        /* a histogram records times, on CLOCK_MONOTONIC */
	/*
	 * To change a running recording: collects requests for kernel events. NULL for a new
	 * recording.
	 */
	struct wm_kernel_asks *later;
	bool running; /* this is the pump process, which owns `kernel`: events are staged */
};

/* Creates the rules; other members stay NULL until needed. Returns 0 or -ENOMEM. */
int wm_recorder_events_init(struct wm_recorder_events *e, const struct wm_rules_options *o);
void wm_recorder_events_done(struct wm_recorder_events *e);

/* Whether any events are sampled, apart from the records of task mappings and names. */
static inline bool wm_recorder_events_sampled(const struct wm_recorder_events *e)
{
	return e->sampling && wm_sampling_count(e->sampling);
}

/* A source's options; NULL: it records nothing. */
static inline void *wm_recorder_events_options(const struct wm_recorder_events *e,
					       enum wm_source_place place)
{
	if (place == WM_SOURCE_KERNEL)
		return e->kernel;
	return place == WM_SOURCE_SAMPLES ? e->sampling : e->options[place];
}

/* Whether the user requested events from this source. */
static inline bool wm_recorder_events_asked(const struct wm_recorder_events *e,
					    enum wm_source_place place)
{
	const void *options = wm_recorder_events_options(e, place);

	return options && (!wm_sources[place]->is_asked || wm_sources[place]->is_asked(options));
}

/* Whether anything besides program events is recorded. */
static inline bool wm_recorder_events_more(const struct wm_recorder_events *e)
{
	bool more = false;

	for (unsigned i = 0; i < WM_SOURCES_NR; i++)
		more |= wm_recorder_events_asked(e, i);
	return more;
}

/* Why a recording in overwrite mode takes only program events. */
#define WM_RECORDER_NO_FLIGHT                                                                      \
	"overwrite mode keeps only program events in memory: record kernel events, "               \
	"samples and /proc separately, in discard mode"

/* Values for diag->where: diag->column is a column in the name, or in the filter. */
#define WM_RECORDER_IN_NAME   "name"
#define WM_RECORDER_IN_FILTER "filter"

struct wm_recorder_wanted {
	const char *glob;
	const char *filter; /* NULL: no filter */
	uint32_t contexts;  /* WM_CONTEXT_... to record with program events */
	bool sampled;       /* sample as described by `how`, where possible */
	/* Also sample events that are recorded at each hit, such as probes. */
	bool outright;
	uint64_t every_ns;          /* interval for reading /proc counters; 0: the default */
	struct wm_sampling_how how; /* the default rate if neither period nor frequency is set */
};

/*
 * Adds a name. Returns 0, or with diag: -ENOENT (no such event: the nearest names), -EINVAL,
 * -EOPNOTSUPP, -E2BIG, -EILSEQ (the event exists but not with these parameters), -EACCES, -EPERM
 * (the hint) and others. A name that only programs can have is never rejected as missing, because
 * programs may start later.
 */
int wm_recorder_want(struct wm_recorder_events *e, const struct wm_recorder_wanted *w,
		     struct wm_diag *diag);

/* Excludes events, even if other names request them. Returns 0, or -errno with diag. */
int wm_recorder_exclude(struct wm_recorder_events *e, const char *glob, struct wm_diag *diag);

/*
 * Whether the pattern may match kernel events, and program events: a leading "kernel:" or "user:"
 * decides, otherwise its form does. *ret_user is the pattern for programs; NULL if it matches none
 * of their events.
 */
bool wm_recorder_is_kernels(const char *glob, const char **ret_user);

/* Samples the default event: cycles or, if there is none, the CPU clock. Errors as above. */
int wm_recorder_want_usual(struct wm_recorder_events *e, const struct wm_sampling_how *how,
			   struct wm_diag *diag);

/*
 * Puts the whole recording on a clock, before any part of it has begun. Returns 0, or -EOPNOTSUPP
 * with diag if the kernel's tracing does not have the clock.
 */
int wm_recorder_want_clock(struct wm_recorder_events *e, enum wm_clock_kind clock,
			   struct wm_diag *diag);

/* Request the kernel's other facilities; see kernel_events.h. */
int wm_recorder_want_trigger(struct wm_recorder_events *e, const char *text, struct wm_diag *diag);
int wm_recorder_want_synthetic(struct wm_recorder_events *e, const char *text,
			       struct wm_diag *diag);
int wm_recorder_want_stacks(struct wm_recorder_events *e, bool of_kernel, struct wm_diag *diag);

/*
 * For single threads and CPUs. The first appends the threads' processes to a list, each once
 * (-ESRCH: no such thread). The second checks that all CPUs are online (-EINVAL). The third creates
 * the filter for `single`, which the caller frees; NULL: all threads and CPUs are selected, or
 * *ret_err is an error.
 */
int wm_recorder_processes_of(const pid_t *tids, size_t nr, pid_t **pids, size_t *nr_pids,
			     struct wm_diag *diag);
int wm_recorder_check_cpus(const int *cpus, size_t nr, struct wm_diag *diag);
char *wm_recorder_single_filter(const pid_t *tids, size_t nr_tids, const int *cpus, size_t nr_cpus,
				int *ret_err);

/*
 * Returns "A", "B" or "(A) && (B)", malloc'ed; NULL if both are NULL, or when out of memory
 * (*ret_err).
 */
char *wm_recorder_join_filters(const char *a, const char *b, int *ret_err);

/*
 * Also records the mappings and names of tasks, where permitted. Needed for kernel events, and for
 * stacks, whose addresses are mostly in files without marks.
 */
void wm_recorder_want_tasks(struct wm_recorder_events *e);

#endif
