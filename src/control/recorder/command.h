/* SPDX-License-Identifier: MIT */
/*
 * command.h - controls CMD while it runs: watches for its end, forwards signals, and kills it if it
 * does not end on request.
 *
 * CMD is a child of this process in the same process group, so the terminal's signals reach it
 * directly. Processes that CMD started are not killed.
 */
#ifndef WM_CONTROL_RECORDER_COMMAND_H
#define WM_CONTROL_RECORDER_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/child.h"
#include "base/loop.h"

#define WM_COMMAND_GRACE_NS 2000000000u /* time between the request to end and SIGKILL */

struct wm_command {
	struct wm_loop *loop;
	pid_t pid;        /* 0: not started, or it has ended */
	int status;       /* as from waitpid(2); -1: unknown, or CMD has not ended */
	uint64_t told_ns; /* time of the first signal that asks CMD to end; 0: none yet */
	struct wm_watch *end, *grace;
	void (*ended)(void *data);
	void *data;
};

/*
 * Releases a held child. The watch for its end is set up first, so that no caller waits for an end
 * that cannot be observed; `ended` is called at that end. Returns 0, or -errno if it failed and the
 * child was reaped.
 */
int wm_command_go(struct wm_command *c, struct wm_loop *loop, struct wm_child *child,
		  void (*ended)(void *data), void *data);

/*
 * Forwards a terminating signal that waymark received from process `from` (0: from the terminal,
 * which has signalled CMD, too). On the second signal CMD gets SIGKILL; returns false if there is
 * no CMD to kill. A zeroed structure means that CMD was not started.
 */
bool wm_command_signal(struct wm_command *c, int signo, pid_t from);

/*
 * Asks CMD to end with this signal (0: CMD already got one), and kills it after the grace period.
 */
void wm_command_stop(struct wm_command *c, int signo);

#endif
