/* SPDX-License-Identifier: MIT */
/*
 * record.h - what `waymark record` was asked to do, shared by its files:
 *
 *   record.c        options
 *   events.c  options -> plan
 *   run.c    plan -> a recording: signals, words, exit status
 *   option.c arguments of -F, -g, --every, --stacks and the like
 *   check_names.c  "no event matches": nearest names
 *   change.c other events for a recording that runs (--change)
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
 * Has the recorder that writes to the plan's folder follow its rules, too; returns
 * the exit status.
 */
int wm_record_change(const struct wm_recorder_plan *plan);

/* -F (or -c) and -g. 0, or -EINVAL and a sentence. */
int wm_record_sample_rate(struct wm_sampling_how *how, const char *argument, bool frequency,
			  struct wm_diag *diag);
int wm_record_sample_chain(struct wm_sampling_how *how, const char *argument,
			   struct wm_diag *diag); /* NULL: the default */
/* What was said before any -e, and of one; whether anything was. */
bool wm_record_sample_join(const struct wm_sampling_how *general, const struct wm_sampling_how *own,
			   struct wm_sampling_how *ret);

/* --every. 0, or -EINVAL and a sentence. */
int wm_record_proc_every(uint64_t *every_ns, const char *argument, struct wm_diag *diag);

/* "A", "B" or "(A) && (B)"; free() it. NULL without either or without memory (-> *ret_err). */
char *wm_record_join_filters(const char *a, const char *b, int *ret_err);
/* The folder this command lies in, without a '/' at the end: its libraries are near. 0 or -errno.
 */
int wm_record_own_folder(char *buf, size_t size);
/* Whether it is one at all: 0, or -EINVAL after it was shown with a caret below the place. */
int wm_record_check_filter(const char *text);

/* Says why a recording is empty (nobody joined, or nobody has marks), and the cure. */
void wm_record_say_empty(const struct wm_recorder_plan *plan, const struct wm_recording_totals *t,
			 const struct wm_recorder *recorder);

/* Says which of the plan's globs matched nothing. Returns how many matched something. */
uint32_t wm_record_say_unmatched(const struct wm_recorder_plan *plan,
				 const struct wm_recording_totals *t);

/* "did you mean ...?" of the events of these processes (0: no more), or "". Returns buf. */
const char *wm_record_nearest(const char *glob, const uint32_t *pids, size_t nr, char *buf,
			      size_t size);

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
/*
 * Sets it up. 0, or as wm_recorder_want(); *ret_text is then what a column of
 * diag counts in, NULL: nothing.
 */
int wm_record_more_begin(const struct wm_record_more *m, struct wm_recorder_events *e,
			 const char **ret_text, struct wm_diag *diag);

#endif
