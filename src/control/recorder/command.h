/* SPDX-License-Identifier: MIT */
/*
 * command.h - CMD while it runs: watches for its end, forwards signals, and kills it if it does not
 * end on request.
 *
 * CMD is our child in our process group, so the terminal's signals reach it directly. Processes
 * that CMD started are not killed.
 */
#ifndef WM_CONTROL_RECORDER_COMMAND_H
#define WM_CONTROL_RECORDER_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/child.h"
#include "base/loop.h"

#define WM_COMMAND_GRACE_NS 2000000000u /* from the request to end until SIGKILL */

struct wm_command {
	struct wm_loop *loop;
	pid_t pid;        /* 0: not started, or ended */
	int status;       /* as from waitpid(2); -1: unknown, or not ended */
	uint64_t told_ns; /* time of the first terminating signal; 0: none yet */
	struct wm_watch *end, *grace;
	void (*ended)(void *data);
	void *data;
};

/*
 * Releases a held child after its end is watched, so that no caller waits for an end that cannot be
 * observed. `ended` is called at the end. 0; -errno: the child was reaped.
 */
int wm_command_go(struct wm_command *c, struct wm_loop *loop, struct wm_child *child,
		  void (*ended)(void *data), void *data);

/*
 * Handles a terminating signal that waymark received from `from` (0: the terminal, which signalled
 * CMD, too): forwards it. On a second one CMD gets SIGKILL. Returns false on a second one without a
 * CMD to kill. A zeroed structure is a CMD that was not started.
 */
bool wm_command_signal(struct wm_command *c, int signo, pid_t from);

/*
 * Requests CMD to end: by this signal (0: it already got one), or by SIGKILL after the grace
 * period.
 */
void wm_command_stop(struct wm_command *c, int signo);

#endif
