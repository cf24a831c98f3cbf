/* SPDX-License-Identifier: MIT */
/* recorder_int.h - shared by the recorder's files; see recorder.h. */
#ifndef WM_CONTROL_RECORDER_RECORDER_INT_H
#define WM_CONTROL_RECORDER_RECORDER_INT_H

#include "control/recorder.h"
#include "control/session/session.h"

/* --- environment.c: CMD's environment -------------------------------------------------------- */

/*
 * Whether the plan's events need the runtime in a process. Names that match only kernel events do
 * not: the system calls that the runtime makes would be in the trace.
 */
bool wm_recorder_needs_programs(const struct wm_recorder_plan *plan);

/*
 * Builds CMD's environment: the plan's, with the session and the libraries to preload; freed by
 * wm_recorder_env_free(). Returns 0, or -errno with diag.
 */
int wm_recorder_env_make(const struct wm_recorder_plan *plan, const char *session, char ***ret,
			 struct wm_diag *diag);
void wm_recorder_env_free(char **environment); /* accepts NULL */

/* --- kernel_tasks.c: the tasks the kernel follows ------------------------------------------- */

/*
 * Returns the plan's threads, or all threads of its processes; the caller frees them. Returns 0 or
 * -ENOMEM.
 */
int wm_recorder_threads(const struct wm_recorder_plan *plan, pid_t **ret_tids, size_t *ret_nr);

/*
 * Checks that the kernel and this process use the same task ids. Returns 0, or -EOPNOTSUPP with
 * diag.
 */
int wm_recorder_check_numbers(struct wm_diag *diag);

/*
 * Call it before the recording begins: follows only the plan's tasks; with CMD alone, none yet.
 */
int wm_recorder_follow_running(const struct wm_recorder_plan *plan, pid_t pump,
			       struct wm_diag *diag);
int wm_recorder_follow_command(const struct wm_recorder_plan *plan, pid_t child,
			       struct wm_diag *diag);

/* --- targets.c: processes that already run --------------------------------------------- */

struct wm_recorder_targets;

/* Checks that all of the plan's processes can be attached to. */
int wm_recorder_targets_check(const struct wm_recorder_plan *plan, struct wm_diag *diag);

/*
 * Attaches to the plan's processes (with CMD alone, there are none) and, for `all`, keeps looking
 * for new ones. Calls `gone` when all of the plan's processes have ended. Returns 0, or the reason
 * why none could be attached to.
 */
int wm_recorder_targets_start(struct wm_loop *loop, const struct wm_recorder_plan *plan,
			      const struct wm_session *session, void (*gone)(void *data),
			      void *data, struct wm_recorder_targets **ret, struct wm_diag *diag);
/* After a rule change: attaches to targets that have not joined yet. */
void wm_recorder_targets_changed(struct wm_recorder_targets *t);
void wm_recorder_targets_joined(struct wm_recorder_targets *t, pid_t pid);
uint32_t wm_recorder_targets_say_missing(const struct wm_recorder_targets *t);
void wm_recorder_targets_done(struct wm_recorder_targets *t); /* accepts NULL */

/* --- programs_32bit.c: 32-bit programs ------------------------------------------------------ */

/* Whether CMD is a 32-bit program. */
bool wm_recorder_is_narrow(const struct wm_recorder_plan *plan);
/* Reports the limitations for 32-bit programs. */
void wm_recorder_say_narrow(const struct wm_recorder_plan *plan);

/* --- check_filters.c: whether filters fit the events ------------------------------------------ */

/*
 * Checks the filters of exactly named events against their fields in CMD's file. Returns 0 or
 * -EINVAL.
 */
int wm_recorder_check_filters(const struct wm_recorder_plan *plan, struct wm_diag *diag);

#endif
