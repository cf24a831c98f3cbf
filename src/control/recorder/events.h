/* SPDX-License-Identifier: MIT */
/*
 * events.h - what shall be recorded, name by name: each is looked up in
 * the one namespace, and becomes a rule for programs, an event of the kernel that
 * is on, something that is sampled, or more than one of these. Then a recorder
 * (recorder.h) takes all of it.
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
	struct wm_kernel_events *kernel; /* NULL: nothing of the kernel yet */
	struct wm_sampling *sampling;    /* NULL: nothing is sampled yet */
	void *options[WM_SOURCES_NR];    /* of the other sources, made by their want() */
	bool in_kernel[WM_RULES_NR_MAX]; /* by rule: it means some of the kernel, too */
	bool user_stacks;                /* programs' events come with the stack of calls */

	/* Set by who makes it; borrowed. */
	const struct wm_words *words; /* what is permitted or fetched in part only */
	const char *search;           /* where programs are looked for, $PATH */
	const int *cpus;              /* to sample; none: all */
	size_t nr_cpus;
	pid_t of;           /* files are named as this process sees them; 0: as we do */
	const char *single; /* what programs' events must pass besides; NULL: nothing */
	bool everywhere;    /* of every task of the machine */
	bool quiet;         /* nothing is said of what was chosen by default */
	bool kernel_only;   /* every name is the kernel's: programs are not asked */
	/* For a recording that runs: what of the kernel it is asked for. NULL: it begins here. */
	struct wm_kernel_asks *later;
	bool running; /* we are its pump, and `kernel` is of it: all is staged */
};

/* The rules are made; the rest stays NULL until it is needed. 0 or -ENOMEM. */
int wm_recorder_events_init(struct wm_recorder_events *e, const struct wm_rules_options *o);
void wm_recorder_events_done(struct wm_recorder_events *e);

/* Whether something is sampled: more than what tasks mapped and were called. */
static inline bool wm_recorder_events_sampled(const struct wm_recorder_events *e)
{
	return e->sampling && wm_sampling_count(e->sampling);
}

/* The options of one source; NULL: it records nothing. */
static inline void *wm_recorder_events_options(const struct wm_recorder_events *e,
					       enum wm_source_place place)
{
	if (place == WM_SOURCE_KERNEL)
		return e->kernel;
	return place == WM_SOURCE_SAMPLES ? e->sampling : e->options[place];
}

/* Whether a user asked for events of that source. */
static inline bool wm_recorder_events_asked(const struct wm_recorder_events *e,
					    enum wm_source_place place)
{
	const void *options = wm_recorder_events_options(e, place);

	return options && (!wm_sources[place]->is_asked || wm_sources[place]->is_asked(options));
}

/* Whether something but programs' events is recorded. */
static inline bool wm_recorder_events_more(const struct wm_recorder_events *e)
{
	bool more = false;

	for (unsigned i = 0; i < WM_SOURCES_NR; i++)
		more |= wm_recorder_events_asked(e, i);
	return more;
}

/* What diag->where is when diag->column counts in the name, or in the filter. */
#define WM_RECORDER_IN_NAME   "name"
#define WM_RECORDER_IN_FILTER "filter"

struct wm_recorder_wanted {
	const char *glob;
	const char *filter;         /* NULL: none */
	uint32_t contexts;          /* WM_CONTEXT_... of programs' events */
	bool sampled;               /* as `how` says, where it can be */
	bool outright;              /* also what is otherwise recorded at each hit, as probes are */
	uint64_t every_ns;          /* how often counters of /proc are read; 0: the usual */
	struct wm_sampling_how how; /* of neither period nor frequency: the usual */
};

/*
 * One more name. 0, or with a sentence: -ENOENT (nothing is called so: the
 * nearest names), -EINVAL, -EOPNOTSUPP, -E2BIG, -EILSEQ (what was typed cannot be
 * had), -EACCES, -EPERM (the cure) and others. A name that programs alone could
 * have is never refused for not being there: programs come later.
 */
int wm_recorder_want(struct wm_recorder_events *e, const struct wm_recorder_wanted *w,
		     struct wm_diag *diag);

/* Not these, whatever else is wanted. 0, or -errno with a sentence. */
int wm_recorder_exclude(struct wm_recorder_events *e, const char *glob, struct wm_diag *diag);

/*
 * Whether the pattern may mean events of the kernel, and whether of programs:
 * "kernel:" and "user:" before it decide, else what it looks like. *ret_user is
 * the pattern for programs, NULL: it means none of theirs.
 */
bool wm_recorder_is_kernels(const char *glob, const char **ret_user);

/* Samples what people mean who name no event: cycles, or the CPU's clock. As above. */
int wm_recorder_want_usual(struct wm_recorder_events *e, const struct wm_sampling_how *how,
			   struct wm_diag *diag);

/* What else the kernel can do, as of kernel_events.h. */
int wm_recorder_want_trigger(struct wm_recorder_events *e, const char *text, struct wm_diag *diag);
int wm_recorder_want_synthetic(struct wm_recorder_events *e, const char *text,
			       struct wm_diag *diag);
int wm_recorder_want_stacks(struct wm_recorder_events *e, bool of_kernel, struct wm_diag *diag);

/*
 * Single threads and CPUs: the processes of threads, each once, behind those in
 * the list (-ESRCH: a thread is not there); whether all of the CPUs are online
 * (-EINVAL); and the filter for `single`, to free(), NULL when all are meant or
 * there is no memory (-> *ret_err).
 */
int wm_recorder_processes_of(const pid_t *tids, size_t nr, pid_t **pids, size_t *nr_pids,
			     struct wm_diag *diag);
int wm_recorder_check_cpus(const int *cpus, size_t nr, struct wm_diag *diag);
char *wm_recorder_single_filter(const pid_t *tids, size_t nr_tids, const int *cpus, size_t nr_cpus,
				int *ret_err);

/*
 * What tasks mapped and were called, where it can be had: beside the kernel's events, and
 * beside stacks, whose addresses are mostly in files that no marks tell of.
 */
void wm_recorder_want_tasks(struct wm_recorder_events *e);

#endif
