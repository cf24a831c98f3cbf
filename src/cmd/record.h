/* SPDX-License-Identifier: MIT */
/*
 * record.h - what `waymark record` was asked to do, shared by its files:
 *
 *   record.c        options -> plan
 *   record_run.c    plan -> a recording: the loop around CMD and the pump
 *   record_env.c    what CMD finds in its environment
 *   record_target.c processes that run already (-p, -a)
 *   record_kernel.c events of the kernel
 *   record_sample.c sampling
 *   record_more.c   triggers, synthetic events, stacks, functions of the kernel
 *   record_names.c  "no event matches": nearest names
 *   record_change.c other events for a recording that runs (--change)
 *   record_empty.c  why nothing was recorded
 */
#ifndef WM_CMD_RECORD_H
#define WM_CMD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loop.h"
#include "control/kernel_events.h"
#include "control/recording.h"
#include "control/rules.h"
#include "control/sampling.h"
#include "control/session.h"

#define WM_RECORD_TARGETS_MAX 1024u

struct wm_record_plan {
	struct wm_rules *rules;
	uint32_t nr_asked; /* rules people gave with -e, the first; 0: all events, by default */
	const char *dir;   /* of the trace; with --change, of another's */
	enum wm_trace_format format;
	const char *preload; /* "malloc,pthread", "none"; NULL: nothing but the runtime */
	bool all, quiet, fail_on_loss;
	struct wm_kernel_events *kernel; /* NULL: nothing of the kernel */
	/* NULL: nothing is sampled; without events: what tasks do, beside the kernel's events. */
	struct wm_sampling *sampling;
	const bool *in_kernel; /* rule i matched events of the kernel, too */
	const pid_t *pids;
	size_t nr_pids;
	char **command; /* NULL-terminated; NULL: none */
};

/* Records; returns the exit status. */
int wm_record_run(const struct wm_record_plan *plan);

/* Has the recorder that writes to plan->dir follow plan->rules, too; returns the exit status. */
int wm_record_change(const struct wm_record_plan *plan);

/*
 * The environment CMD gets: sets $WAYMARK_SESSION and $LD_PRELOAD in this
 * process. 0, or a negative errno with a sentence.
 */
int wm_record_env_check(const char *command, const char *preload, struct wm_diag *diag);
int wm_record_env_set(const char *session, const char *command, const char *preload,
		      struct wm_diag *diag);

/* Processes that run already. */
struct wm_record_targets;

/* Whether all of the plan's processes can be attached to: 0, or an exit status after words. */
int wm_record_targets_check(const struct wm_record_plan *plan);

/*
 * Attaches to the plan's processes (with a CMD alone there are none), and with
 * -a goes on looking for new ones. `gone` is called when all of -p have ended.
 * 0, or an exit status after it said why none could be attached.
 */
int wm_record_targets_start(struct wm_loop *loop, const struct wm_record_plan *plan,
			    const struct wm_session *session, void (*gone)(void *data), void *data,
			    struct wm_record_targets **ret);
/* The session's rules are others now: reaches who has not joined. */
void wm_record_targets_changed(struct wm_record_targets *t);
void wm_record_targets_joined(struct wm_record_targets *t, pid_t pid);
/* At the end: says why those of -p that never joined did not. Returns how many. */
uint32_t wm_record_targets_say_missing(const struct wm_record_targets *t);
void wm_record_targets_done(struct wm_record_targets *t); /* accepts NULL */

/*
 * Before CMD runs: whether the filters of events named outright fit the
 * fields they have in CMD's file. 0, or -EINVAL after it said why not.
 */
int wm_record_check_filters(const struct wm_record_plan *plan);

/*
 * Whether the pattern of an -e may mean events of the kernel, and whether of
 * programs: "kernel:" and "user:" before it decide, else what it looks like.
 * *ret_user is the pattern for programs, NULL: it means none of theirs.
 */
bool wm_record_kernel_pattern(const char *glob, const char **ret_user);

/* How events are to be sampled, and of whom; the first that is makes *sampling. */
struct wm_record_sampled {
	struct wm_sampling_how how;
	bool outright; /* said of this -e alone, and not of all */
	bool everywhere;
	const int *cpus; /* none: all */
	size_t nr_cpus;
	struct wm_sampling **sampling;
};

/* -F (or -c) and -g. 0, or -EINVAL and a sentence. */
int wm_record_sample_rate(struct wm_sampling_how *how, const char *argument, bool frequency,
			  struct wm_diag *diag);
int wm_record_sample_chain(struct wm_sampling_how *how, const char *argument,
			   struct wm_diag *diag); /* NULL: the default */
/* What was said before any -e, and of one; whether anything was. */
bool wm_record_sample_join(const struct wm_sampling_how *general, const struct wm_sampling_how *own,
			   struct wm_sampling_how *ret);
/* 0, or the kernel's refusal with its sentence; says it when only a part is permitted. */
int wm_record_sample_add(struct wm_record_sampled *s, const struct wm_event_def *def,
			 const char *filter, struct wm_diag *diag);
/* No event was named: says which it takes. 0, or an exit status, negative, after words. */
int wm_record_sample_default(struct wm_record_sampled *s, bool quiet);

/*
 * Switches on what `glob` means in the kernel; the first makes *kernel, or,
 * with `sampled`, *sampled->sampling. How many events, 0: none is called so,
 * or an exit status, negative, after words.
 */
struct wm_record_kernel_to {
	struct wm_kernel_events **kernel;
	struct wm_record_sampled *sampled; /* NULL: not sampled */
	pid_t of; /* files are named as this process sees them; 0: as we do */
};
int wm_record_kernel_add(const char *glob, const char *filter,
			 const struct wm_record_kernel_to *to);

/* All threads of the plan's processes; free() them. 0 or -ENOMEM. */
int wm_record_threads(const struct wm_record_plan *plan, pid_t **ret_tids, size_t *ret_nr);

/* Before the recording begins: only the tasks of the plan. 0 or -errno after words. */
int wm_record_kernel_begin(const struct wm_record_plan *plan, pid_t pump);
/* The command that will run is this child of ours. */
int wm_record_kernel_command(const struct wm_record_plan *plan, pid_t child);

/* Says why a recording is empty (nobody joined, or nobody has marks), and the cure. */
void wm_record_say_empty(const struct wm_record_plan *plan, const struct wm_recording_totals *t,
			 const struct wm_record_targets *targets);

/* Says which of the plan's globs matched nothing. Returns how many matched something. */
uint32_t wm_record_say_unmatched(const struct wm_record_plan *plan,
				 const struct wm_recording_totals *t);

/* "did you mean ...?" of the events of these processes (0: no more), or "". Returns buf. */
const char *wm_record_nearest(const char *glob, const uint32_t *pids, size_t nr, char *buf,
			      size_t size);

/* "12 KiB": what a trace takes, for people. */
const char *wm_record_size_text(uint64_t bytes, char buf[32]);

/* What else of the kernel is taken: --trigger, --synthetic, --stacks. */
#define WM_RECORD_MORE_MAX 32u
struct wm_record_more {
	const char *triggers[WM_RECORD_MORE_MAX], *synthetics[WM_RECORD_MORE_MAX];
	unsigned nr_triggers, nr_synthetics;
	bool kernel_stacks, user_stacks;
};
int wm_record_more_trigger(struct wm_record_more *m, const char *argument, struct wm_diag *diag);
int wm_record_more_synthetic(struct wm_record_more *m, const char *argument, struct wm_diag *diag);
int wm_record_more_stacks(struct wm_record_more *m, const char *argument, struct wm_diag *diag);
/* Sets it up; the first makes *kernel. 0, or an exit status, negative, after words. */
int wm_record_more_begin(const struct wm_record_more *m, struct wm_kernel_events **kernel);

/* "func:kernel:GLOB", by the kernel's function tracer (with ":graph" the other one). */
bool wm_record_more_is_functions(const char *glob);
int wm_record_more_functions(const char *glob, struct wm_kernel_events *k, struct wm_diag *diag);

#endif
