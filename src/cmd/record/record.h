/* SPDX-License-Identifier: MIT */
/*
 * record.h - the options of `waymark record`, shared by its files:
 *
 *   record.c         option table, --snapshot
 *   events.c         options -> plan
 *   run.c            plan -> a recording: signals, messages, exit status
 *   arguments.c      arguments of -F, -g, --every, --stacks and the like
 *   check_names.c    "no event matched": closest names
 *   change.c         changes the events of a running recording (--change)
 *   explain_empty.c  why nothing was recorded
 *
 * The recording itself is control/recorder.h.
 */
#ifndef WM_CMD_RECORD_RECORD_H
#define WM_CMD_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "control/recorder.h"

struct wm_record_plan {
	struct wm_recorder_plan recorder;
	bool fail_on_loss;
};

/* Records; returns the exit status. */
int wm_record_run(const struct wm_record_plan *plan);

/*
 * Makes the recorder that is writing to plan->dir also apply the plan's rules. Returns the exit
 * status.
 */
int wm_record_change(const struct wm_recorder_plan *plan);

/* Parse the arguments of -F, -c and -g. Return 0, or -EINVAL with a message in diag. */
int wm_record_sample_rate(struct wm_sampling_how *how, const char *argument, bool frequency,
			  struct wm_diag *diag);
int wm_record_sample_chain(struct wm_sampling_how *how, const char *argument,
			   struct wm_diag *diag); /* NULL: the default */
/*
 * Fills the fields missing in `own` from `general` (given before any -e). Returns
 * whether any field is set.
 */
bool wm_record_sample_join(const struct wm_sampling_how *general, const struct wm_sampling_how *own,
			   struct wm_sampling_how *ret);

/* Parses the argument of --every. Returns 0, or -EINVAL with a message in diag. */
int wm_record_proc_every(uint64_t *every_ns, const char *argument, struct wm_diag *diag);

/* Reports why a recording is empty (no process joined, or none has marks), with a hint. */
void wm_record_say_empty(const struct wm_recorder_plan *plan, const struct wm_recording_totals *t,
			 const struct wm_recorder *recorder);

/* Reports which of the plan's globs matched nothing. Returns the number of globs that matched. */
uint32_t wm_record_say_unmatched(const struct wm_recorder_plan *plan,
				 const struct wm_recording_totals *t);

/*
 * Writes "did you mean ...?" with events of these processes (a pid of 0 ends the list), or "".
 * Returns buf.
 */
const char *wm_record_nearest(const char *glob, const uint32_t *pids, size_t nr, char *buf,
			      size_t size);

/* Further requests to the kernel: --trigger, --synthetic, --stacks. */
#define WM_RECORD_MORE_MAX 32u
struct wm_record_more {
	const char *triggers[WM_RECORD_MORE_MAX], *synthetics[WM_RECORD_MORE_MAX];
	unsigned nr_triggers, nr_synthetics;
	bool kernel_stacks, user_stacks;
};
int wm_record_more_trigger(struct wm_record_more *m, const char *argument, struct wm_diag *diag);
int wm_record_more_synthetic(struct wm_record_more *m, const char *argument, struct wm_diag *diag);
int wm_record_more_stacks(struct wm_record_more *m, const char *argument, struct wm_diag *diag);
/*
 * Adds the requests to `e`. Returns errors like wm_recorder_want(). On error, *ret_text is the text
 * that diag->column refers to, or NULL.
 */
int wm_record_more_begin(const struct wm_record_more *m, struct wm_recorder_events *e,
			 const char **ret_text, struct wm_diag *diag);

#endif
