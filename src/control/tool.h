/* SPDX-License-Identifier: MIT */
/*
 * tool.h - what another waymark command says to a recorder, on the same
 * socket the processes use: one message instead of HELLO, one answer. Only
 * the recorder's own user and root are answered.
 *
 * A recorder that can be asked leaves DIR/.waymark in its trace directory: the
 * path of the session folder and a newline. Readers of traces skip files that
 * begin with a dot.
 */
#ifndef WM_CONTROL_TOOL_H
#define WM_CONTROL_TOOL_H

#include <stdint.h>

#include "base/diag.h"
#include "control/rules.h"
#include "runtime/agent.h"

#define WM_TOOL_FILE ".waymark"

enum wm_tool_type {
	WM_MSG_TOOL = 64,              /* types from here on are tools' */
	WM_MSG_SNAPSHOT = WM_MSG_TOOL, /* struct wm_msg: write what the buffers hold, now */
	WM_MSG_SNAPSHOT_DONE,          /* struct wm_msg_snapshot: the answer */
	WM_MSG_CHANGE,                 /* struct wm_msg_change, then rules: from now on these too */
	WM_MSG_CHANGED,                /* struct wm_msg_changed: the answer */
	WM_MSG_CHANGE_KERNEL,  /* struct wm_msg_kernel_change, then names (kernel_request.h) */
	WM_MSG_KERNEL_CHANGED, /* struct wm_msg_kernel_changed: the answer */
};

struct wm_msg_snapshot {
	struct wm_msg h;
	int32_t err; /* 0 or -errno */
	uint32_t reserved;
	uint64_t events, bytes; /* written by this snapshot */
	uint64_t lost;          /* since the recording began, all causes */
};

/* Rules as in DIR/rules follow, `nr_rules` of them; 0: the answer alone is wanted. */
struct wm_msg_change {
	struct wm_msg h;
	uint32_t nr_rules;
	uint32_t reserved;
};

#define WM_CHANGED_PIDS 32u

struct wm_msg_changed {
	struct wm_msg h;
	int32_t err;           /* 0 or -errno: nothing was changed */
	uint32_t nr_processes; /* recorded now */
	uint32_t nr_late;      /* of these: have not said yet that they follow the rules */
	uint32_t nr_deaf;      /* of these: closed their connection, go on as before */
	uint64_t generation;
	uint32_t events_min, events_max; /* on, in one of the processes that follow */
	uint32_t pids[WM_CHANGED_PIDS];  /* of processes that follow; 0: no more */
	/* Bit i: rule i of the change names an event of a process; its filter fits not all. */
	uint64_t matched[WM_RULES_NR_MAX / 64];
	uint64_t unfit[WM_RULES_NR_MAX / 64];
};

/*
 * Asks the recorder that writes to the trace directory `dir` to follow these
 * rules, too, as one change (control/rules.h), and waits until its processes
 * do, or a second has passed. The recorder numbers them. Errors as for
 * wm_tool_snapshot(); -E2BIG: too many rules, with a sentence.
 */
int wm_tool_change(const char *dir, const struct wm_rules *rules, struct wm_msg_changed *ret,
		   struct wm_diag *diag);

/*
 * Asks the recorder that writes to the trace directory `dir` for a snapshot
 * and waits for the answer. 0; -ENOENT: nobody records there; -EPERM; or the
 * recorder's own error.
 */
int wm_tool_snapshot(const char *dir, struct wm_msg_snapshot *ret, struct wm_diag *diag);

/*
 * One question to whoever records to `dir`, and the one answer of that type and
 * size. Errors as above.
 */
int wm_tool_ask(const char *dir, const void *question, size_t bytes, uint32_t type, void *ret,
		size_t size, struct wm_diag *diag);

#endif
