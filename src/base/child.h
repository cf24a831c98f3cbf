/* SPDX-License-Identifier: MIT */
/*
 * child.h - a child process held before its first instruction: it exists, with its pid, but has not
 * called execve(2) yet, so that its observers can be set up first. While held, only SIGKILL ends
 * it; it exits when this process does.
 */
#ifndef WM_BASE_CHILD_H
#define WM_BASE_CHILD_H

#include <signal.h>
#include <sys/types.h>

struct wm_child {
	pid_t pid;
	int hold;  /* a byte written lets it run; closing ends it */
	int error; /* the child writes the errno of a failed execve(2) here */
};

/*
 * Forks. argv is NULL-terminated and looked up as in execvp(3); `mask` is the signal mask the
 * command gets (NULL: the caller's). 0 or -errno.
 */
int wm_child_hold(char *const *argv, const sigset_t *mask, struct wm_child *ret);
/* Like wm_child_hold(), with the given NULL-terminated environment instead of the caller's. */
int wm_child_hold_with(char *const *argv, char *const *environment, const sigset_t *mask,
		       struct wm_child *ret);

/*
 * Lets the child run: 0 once it has become the command. -errno when that failed; the child is
 * reaped then.
 */
int wm_child_go(struct wm_child *c);

/* Ends and reaps a child that is still held. */
void wm_child_drop(struct wm_child *c);

#endif
