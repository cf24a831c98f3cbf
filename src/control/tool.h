/* SPDX-License-Identifier: MIT */
/*
 * tool.h - requests from another waymark command to a recorder, over the socket that processes use:
 * one message instead of HELLO, and one answer. The recorder answers only its own user and root.
 *
 * A recorder that accepts requests creates DIR/.waymark in its trace directory: the session
 * folder's path and a newline. Trace readers skip files that begin with a dot.
 */
#ifndef WM_CONTROL_TOOL_H
#define WM_CONTROL_TOOL_H

#include <stdint.h>

#include "base/diag.h"
#include "control/rules.h"
#include "runtime/agent.h"

#define WM_TOOL_FILE ".waymark"

enum wm_tool_type {
	WM_MSG_TOOL = 64,              /* the first type used for messages from tools */
	WM_MSG_SNAPSHOT = WM_MSG_TOOL, /* struct wm_msg: write the contents of the buffers now */
	WM_MSG_SNAPSHOT_DONE,          /* struct wm_msg_snapshot: the answer */
	WM_MSG_CHANGE,                 /* struct wm_msg_change, then rules to add */
	WM_MSG_CHANGED,                /* struct wm_msg_changed: the answer */
	WM_MSG_CHANGE_KERNEL,  /* struct wm_msg_kernel_change, then names (kernel_request.h) */
	WM_MSG_KERNEL_CHANGED, /* struct wm_msg_kernel_changed: the answer */
};

struct wm_msg_snapshot {
	struct wm_msg h;
	int32_t err; /* 0 or -errno */
	uint32_t reserved;
	uint64_t events, bytes; /* number of events and bytes this snapshot wrote */
	uint64_t lost;          /* losses from all causes since the recording began */
};

/*
 * Followed by `nr_rules` rules, encoded as in DIR/rules. With 0 rules, only the answer is
 * requested.
 */
struct wm_msg_change {
	struct wm_msg h;
	uint32_t nr_rules;
	uint32_t reserved;
};

#define WM_CHANGED_PIDS 32u

struct wm_msg_changed {
	struct wm_msg h;
	int32_t err;           /* 0, or -errno if nothing was changed */
	uint32_t nr_processes; /* number recorded now */
	/* How many of these have not yet reported that they follow the rules. */
	uint32_t nr_late;
	/* How many of these closed their connection and keep their old rules. */
	uint32_t nr_deaf;
	uint64_t generation;
	/* Number of enabled events per process that follows the rules. */
	uint32_t events_min, events_max;
	uint32_t pids[WM_CHANGED_PIDS]; /* processes that follow the rules; 0 ends the list */
	/* Bit i: rule i of the change matches an event in some process. */
	uint64_t matched[WM_RULES_NR_MAX / 64];
	/* Bit i: rule i's filter does not fit all events that the rule matches. */
	uint64_t unfit[WM_RULES_NR_MAX / 64];
};

/*
 * Asks the recorder that writes to the trace directory `dir` to add these rules as one change
 * (control/rules.h), and waits at most one second until its processes follow them. The recorder
 * numbers the rules. Errors as for wm_tool_snapshot(); -E2BIG with diag if there are too many
 * rules.
 */
int wm_tool_change(const char *dir, const struct wm_rules *rules, struct wm_msg_changed *ret,
		   struct wm_diag *diag);

/*
 * Requests a snapshot from the recorder that writes to the trace directory `dir` and waits for the
 * answer. Returns 0; -ENOENT if no recording writes there; -EPERM; or the recorder's own error.
 */
int wm_tool_snapshot(const char *dir, struct wm_msg_snapshot *ret, struct wm_diag *diag);

/*
 * Sends one question to `dir`'s recorder and receives an answer of that type and size. Errors as
 * above.
 */
int wm_tool_ask(const char *dir, const void *question, size_t bytes, uint32_t type, void *ret,
		size_t size, struct wm_diag *diag);

#endif
