/* SPDX-License-Identifier: MIT */
/*
 * child.h - a child process held before its first instruction: it exists, with its pid, but has not
 * called execve(2) yet, so that its observers can be set up first. While held, only SIGKILL ends
 * it; it exits when this process does.
 */
#ifndef WM_BASE_CHILD_H
#define WM_BASE_CHILD_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"

/*
 * When the command began: the time just before its execve(2), 0 until then. It is in memory shared
 * with the child and with all processes forked after wm_child_exec_create(). Load it (acquire)
 * after reading what was recorded: a record that was read while the time was 0 is older.
 */
struct wm_child_exec {
	enum wm_clock_kind clock;
	_Atomic uint64_t time;
};

int wm_child_exec_create(enum wm_clock_kind clock, struct wm_child_exec **ret);
void wm_child_exec_destroy(struct wm_child_exec *e); /* accepts NULL */

struct wm_child {
	pid_t pid;
	int hold;  /* writing a byte lets it run; closing ends it */
	int error; /* the child writes the errno of a failed execve(2) here */
};

/*
 * Forks. argv is NULL-terminated and looked up in $PATH, before the fork, so that the child calls
 * execve(2) only once; a file without a known format is run by the shell, as by execvp(3). `mask`
 * is the command's signal mask (NULL: the caller's). Returns 0 or -errno.
 */
int wm_child_hold(char *const *argv, const sigset_t *mask, struct wm_child *ret);
/*
 * Like wm_child_hold(), but with the given NULL-terminated environment instead of the caller's. The
 * child stores the time of its execve() in `exec` (NULL: not needed).
 */
int wm_child_hold_with(char *const *argv, char *const *environment, const sigset_t *mask,
		       struct wm_child_exec *exec, struct wm_child *ret);

/*
 * Lets the child run. Returns 0 once it has become the command, or -errno when that failed, after
 * reaping the child.
 */
int wm_child_go(struct wm_child *c);

/* Ends and reaps a child that is still held. */
void wm_child_drop(struct wm_child *c);

#endif
