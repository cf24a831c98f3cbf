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
#include "runtime/agent.h"

#define WM_TOOL_FILE ".waymark"

enum wm_tool_type {
	WM_MSG_TOOL = 64,              /* types from here on are tools' */
	WM_MSG_SNAPSHOT = WM_MSG_TOOL, /* struct wm_msg: write what the buffers hold, now */
	WM_MSG_SNAPSHOT_DONE,          /* struct wm_msg_snapshot: the answer */
};

struct wm_msg_snapshot {
	struct wm_msg h;
	int32_t err; /* 0 or -errno */
	uint32_t reserved;
	uint64_t events, bytes; /* written by this snapshot */
	uint64_t lost;          /* since the recording began, all causes */
};

/*
 * Asks the recorder that writes to the trace directory `dir` for a snapshot
 * and waits for the answer. 0; -ENOENT: nobody records there; -EPERM; or the
 * recorder's own error.
 */
int wm_tool_snapshot(const char *dir, struct wm_msg_snapshot *ret, struct wm_diag *diag);

#endif
