/* SPDX-License-Identifier: MIT */
/*
 * child.h - a command of our own that is held before its first instruction:
 * the process exists, with its pid, but has not called execve(2) yet, so that
 * whatever watches it can be set up first. SIGKILL is the only way it can end
 * while held; it ends by itself when we do.
 */
#ifndef WM_BASE_CHILD_H
#define WM_BASE_CHILD_H

#include <signal.h>
#include <sys/types.h>

struct wm_child {
	pid_t pid;
	int hold;  /* written to: go on; closed: end */
	int error; /* read from: the errno of execve(2) */
};

/*
 * Forks. argv is NULL-terminated and looked up as execvp(3) does; `mask` is
 * the signal mask the command gets (NULL: ours). 0 or -errno.
 */
int wm_child_hold(char *const *argv, const sigset_t *mask, struct wm_child *ret);
/* The same in another environment than ours, NULL-terminated. */
int wm_child_hold_with(char *const *argv, char *const *environment, const sigset_t *mask,
		       struct wm_child *ret);

/*
 * Lets it run: 0 once it has become the command. -errno when that failed; it
 * is reaped then.
 */
int wm_child_go(struct wm_child *c);

/* Ends and reaps one that is held still. */
void wm_child_drop(struct wm_child *c);

#endif
