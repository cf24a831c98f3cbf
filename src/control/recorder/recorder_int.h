/* SPDX-License-Identifier: MIT */
/* recorder_int.h - what the files of a recorder share; see recorder.h. */
#ifndef WM_CONTROL_RECORDER_RECORDER_INT_H
#define WM_CONTROL_RECORDER_RECORDER_INT_H

#include "control/recorder.h"
#include "control/session/session.h"

/* --- environment.c: what CMD finds in its environment ------------------------------------ */

/*
 * The plan's environment with the session and the libraries to load first, for
 * wm_recorder_env_free(). 0, or a negative errno with a sentence.
 */
int wm_recorder_env_make(const struct wm_recorder_plan *plan, const char *session, char ***ret,
			 struct wm_diag *diag);
void wm_recorder_env_free(char **environment); /* accepts NULL */

/* --- kernel_tasks.c: whose tasks the kernel follows -------------------------------------- */

/* The plan's threads, or all of its processes; free() them. 0 or -ENOMEM. */
int wm_recorder_threads(const struct wm_recorder_plan *plan, pid_t **ret_tids, size_t *ret_nr);

/* Whether the kernel can be told tasks by the numbers we see: 0, or -EOPNOTSUPP with words. */
int wm_recorder_check_numbers(struct wm_diag *diag);

/* Before the recording begins: only the tasks of the plan; with CMD alone, none yet. */
int wm_recorder_follow_running(const struct wm_recorder_plan *plan, pid_t pump,
			       struct wm_diag *diag);
int wm_recorder_follow_command(const struct wm_recorder_plan *plan, pid_t child,
			       struct wm_diag *diag);

/* --- targets.c: processes that run already ------------------------------------------- */

struct wm_recorder_targets;

/* Whether all of the plan's processes can be attached to. */
int wm_recorder_targets_check(const struct wm_recorder_plan *plan, struct wm_diag *diag);

/*
 * Attaches to the plan's processes (with a CMD alone there are none), and, for
 * all, goes on looking for new ones. `gone` is called when all that were named
 * have ended. 0, or why none could be attached.
 */
int wm_recorder_targets_start(struct wm_loop *loop, const struct wm_recorder_plan *plan,
			      const struct wm_session *session, void (*gone)(void *data),
			      void *data, struct wm_recorder_targets **ret, struct wm_diag *diag);
/* The session's rules are others now: reaches who has not joined. */
void wm_recorder_targets_changed(struct wm_recorder_targets *t);
void wm_recorder_targets_joined(struct wm_recorder_targets *t, pid_t pid);
uint32_t wm_recorder_targets_say_missing(const struct wm_recorder_targets *t);
void wm_recorder_targets_done(struct wm_recorder_targets *t); /* accepts NULL */

/* --- programs_32bit.c: 32-bit programs ---------------------------------------------------------
 */

bool wm_recorder_is_narrow(const struct wm_recorder_plan *plan);  /* CMD */
void wm_recorder_say_narrow(const struct wm_recorder_plan *plan); /* what is not to be had of it */

/* --- check_filters.c: whether filters fit ---------------------------------------------------- */

/* Those of events named outright, by the fields they have in CMD's file: 0 or -EINVAL. */
int wm_recorder_check_filters(const struct wm_recorder_plan *plan, struct wm_diag *diag);

#endif
