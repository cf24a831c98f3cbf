/* SPDX-License-Identifier: MIT */
/*
 * attach.h - makes a running process join a session, without stopping it.
 * See "The control page" in runtime/agent.h for the handshake.
 *
 * A process that has an agent thread takes the request from its control page.
 * In one that has none, nothing of waymark runs: there the wanted events are
 * marked and their sites switched on from outside, and the first thread that
 * passes one finds the request. Until then, nothing happens. A request nobody has
 * taken is replaced when its recorder is gone.
 */
#ifndef WM_CONTROL_ATTACH_H
#define WM_CONTROL_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "control/rules.h"

struct wm_attach_result {
	bool agent;         /* its agent thread will do it */
	uint32_t nr_events; /* switched on from outside */
	uint32_t nr_sites;
	uint32_t nr_refused;   /* sites that hold somebody else's bytes */
	uint32_t nr_unpatched; /* sites that stay off: WAYMARK_NOPATCH is set there */
	uint32_t nr_known;     /* events the process has, wanted or not */
};

/*
 * `folder` is the session's; `quick` as in wm_target_open(). 0 and the result,
 * or a negative errno with a sentence: those of wm_target_open(); -EAGAIN: an
 * earlier request has not been taken yet.
 */
int wm_attach(pid_t pid, const char *folder, const struct wm_rules *rules, bool quick,
	      struct wm_attach_result *ret, struct wm_diag *diag);

/*
 * What became of a request that wm_attach() left: 1: nobody has taken it yet;
 * 0: taken; or why the process could not join, -errno as it met it (-ENOENT:
 * it does not see the folder). -ESRCH also when the process is gone.
 */
int wm_attach_outcome(pid_t pid);

/* A marked place of a process, as the runtime in it knows it. Valid during the call. */
struct wm_attach_site {
	const struct wm_class *class;
	const void *desc; /* what the class was parsed from */
	size_t desc_bytes;
	uint64_t entry; /* address of its entry in the table of its module */
	uint64_t event; /* address of its struct waymark_event_state */
};

/* Calls fn for every marked place the process has; an event may have several. 0 or -errno. */
int wm_attach_list(pid_t pid, void (*fn)(const struct wm_attach_site *s, void *data), void *data,
		   struct wm_diag *diag);

#endif
