/* SPDX-License-Identifier: MIT */
/*
 * attach.h - makes a running process join a session, without stopping it. See "The control page" in
 * runtime/agent.h for the handshake.
 *
 * A process with an agent thread reads the request from its control page. In a process without one,
 * no code of waymark runs: the selected events are marked and their sites switched on from outside,
 * and the first thread that passes one finds the request. Until then, nothing happens. A request
 * that was not taken is replaced after its recorder exited.
 */
#ifndef WM_CONTROL_ATTACH_H
#define WM_CONTROL_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "control/rules.h"

struct wm_attach_result {
	bool agent;         /* its agent thread handles the request */
	uint32_t nr_events; /* switched on from outside */
	uint32_t nr_sites;
	uint32_t nr_refused;   /* sites whose bytes are not waymark's */
	uint32_t nr_unpatched; /* sites that stay off: WAYMARK_NOPATCH is set in the process */
	uint32_t nr_known;     /* events the process has, selected or not */
};

/*
 * `folder` is the session's; `quick` as for wm_target_open(). 0 and the result, or a negative errno
 * with diag: those of wm_target_open(); -EAGAIN: an earlier request has not been taken yet.
 */
int wm_attach(pid_t pid, const char *folder, const struct wm_rules *rules, bool quick,
	      struct wm_attach_result *ret, struct wm_diag *diag);

/*
 * The state of a request made by wm_attach(): 1: not taken yet; 0: taken; or the process's -errno
 * when it failed to join (-ENOENT: it does not see the folder). -ESRCH also when the process
 * exited.
 */
int wm_attach_outcome(pid_t pid);

/* A site of a process, as its runtime registered it. Valid during the call. */
struct wm_attach_site {
	const struct wm_class *class;
	const void *desc; /* the description from which the class was parsed */
	size_t desc_bytes;
	uint64_t entry; /* address of its entry in its module's table */
	uint64_t event; /* address of its struct waymark_event_state */
};

/* Calls fn for every site of the process; an event may have several. 0 or -errno. */
int wm_attach_list(pid_t pid, void (*fn)(const struct wm_attach_site *s, void *data), void *data,
		   struct wm_diag *diag);

#endif
