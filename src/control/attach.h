/* SPDX-License-Identifier: MIT */
/*
 * attach.h - makes a running process join a session, without stopping it. See "The control page" in
 * runtime/agent.h for the handshake.
 *
 * A process with an agent thread reads the request from its control page. In a process without one,
 * no waymark code runs: the selected events are marked and their sites switched on from outside,
 * and the first thread that passes one of them finds the request. Until then, nothing happens. A
 * pending request may be replaced after its recorder has exited.
 */
#ifndef WM_CONTROL_ATTACH_H
#define WM_CONTROL_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "control/rules.h"

struct wm_attach_result {
	bool agent;         /* the process's agent thread handles the request */
	uint32_t nr_events; /* number of events switched on from outside */
	uint32_t nr_sites;
	uint32_t nr_refused; /* number of sites whose bytes are not waymark's */
	uint32_t nr_failed;  /* number of sites that could not be read or written */
	int failed_err;      /* the first error among these */
	/* Number of sites that stay off because WAYMARK_NOPATCH is set in the process. */
	uint32_t nr_unpatched;
	uint32_t nr_known; /* number of events that the process has, selected or not */
};

/*
 * Makes a request. `folder` is the session's; `quick` as for wm_target_open(). Returns 0 and the
 * result, or -errno with diag: an error from wm_target_open(), or -EAGAIN if an earlier request is
 * still pending.
 */
int wm_attach(pid_t pid, const char *folder, const struct wm_rules *rules, bool quick,
	      struct wm_attach_result *ret, struct wm_diag *diag);

/*
 * Called once for each process, in any order. `err` is what wm_attach() returns; if it is 0,
 * `result` is set, else `diag`. Both are valid during the call.
 */
typedef void wm_attach_done(pid_t pid, int err, const struct wm_attach_result *result,
			    const struct wm_diag *diag, void *data);

/*
 * Like wm_attach() for many processes. All requests are made first; then the agents are waited for
 * together, so that many stopped processes delay the recorder no longer than one.
 */
void wm_attach_many(const pid_t *pids, size_t nr, const char *folder, const struct wm_rules *rules,
		    bool quick, wm_attach_done *done, void *data);

/*
 * The state of a request made by wm_attach(). Returns 1 while it is pending, 0 once the process has
 * joined, or the process's -errno if it failed to join (-ENOENT: it does not see the folder). Also
 * returns -ESRCH if the process has exited.
 */
int wm_attach_outcome(pid_t pid);

/* A site in a process, as its runtime registered it. Valid during the call. */
struct wm_attach_site {
	const struct wm_class *class;
	const void *desc; /* the description from which the class was parsed */
	size_t desc_bytes;
	uint64_t entry; /* address of the site's entry in its module's table */
	uint64_t event; /* address of the event's struct waymark_event_state */
};

/* Calls fn for every site in the process; an event may have several sites. Returns 0 or -errno. */
int wm_attach_list(pid_t pid, void (*fn)(const struct wm_attach_site *s, void *data), void *data,
		   struct wm_diag *diag);

#endif
