/* SPDX-License-Identifier: MIT */
/*
 * command.h - CMD while it runs: its end is watched, signals are passed on, and
 * what does not end when it is told to is killed.
 *
 * It is our child in our process group: the terminal's signals reach it by
 * themselves. What it started itself is not ours to kill.
 */
#ifndef WM_CONTROL_RECORDER_COMMAND_H
#define WM_CONTROL_RECORDER_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/child.h"
#include "base/loop.h"

#define WM_COMMAND_GRACE_NS 2000000000u /* told to end, it has so long */

struct wm_command {
	struct wm_loop *loop;
	pid_t pid;        /* 0: it has not begun, or has ended */
	int status;       /* as from waitpid(2); -1: unknown, or it has not ended */
	uint64_t told_ns; /* when the first signal came that ends it; 0: none yet */
	struct wm_watch *end, *grace;
	void (*ended)(void *data);
	void *data;
};

/*
 * Lets a child that is held go, once its end is watched: nobody waits for what
 * cannot be seen to end. `ended` is called then. 0; -errno: it is reaped.
 */
int wm_command_go(struct wm_command *c, struct wm_loop *loop, struct wm_child *child,
		  void (*ended)(void *data), void *data);

/*
 * A signal that ends programs came to us, from `from` (0: the terminal, which told
 * CMD, too): it is passed on. Who sends a second one does not want to wait: CMD
 * gets SIGKILL. False: it was the second, and no CMD is there to be killed. All 0
 * is a CMD that has not begun.
 */
bool wm_command_signal(struct wm_command *c, int signo, pid_t from);

/* It is to end: by this signal (0: it has one already), or by SIGKILL after the grace. */
void wm_command_stop(struct wm_command *c, int signo);

#endif
