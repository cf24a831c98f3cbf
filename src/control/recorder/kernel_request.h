/* SPDX-License-Identifier: MIT */
/*
 * kernel_request.h - a command's request to a running recorder (tool.h) to change kernel events:
 * names as the user wrote them, with their filters. The recorder resolves them relative to the
 * command's folder and $PATH.
 */
#ifndef WM_CONTROL_RECORDER_KERNEL_REQUEST_H
#define WM_CONTROL_RECORDER_KERNEL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/text.h"
#include "runtime/agent.h"

#define WM_KERNEL_ASKS_MAX  256u
#define WM_KERNEL_ASK_WORDS 4096u

struct wm_kernel_asks {
	struct wm_text body; /* the message's body */
	uint32_t nr;
};

void wm_request_init(struct wm_kernel_asks *a);
void wm_request_done(struct wm_kernel_asks *a);
/*
 * Adds a request. Returns 0, -ENOMEM, or -E2BIG with diag. `filter` is NULL for no filter, and for
 * events to disable.
 */
int wm_request_add(struct wm_kernel_asks *a, const char *name, const char *filter, bool off,
		   struct wm_diag *diag);

/*
 * Followed by NUL-terminated strings: the command's folder, $PATH; then, nr_asks times: one byte,
 * '+' or '-', the name, the filter (empty: no filter).
 */
struct wm_msg_kernel_change {
	struct wm_msg h;
	uint32_t nr_asks;
	uint32_t reserved;
};

struct wm_msg_kernel_changed {
	struct wm_msg h;
	int32_t err;        /* 0, or -errno if nothing was changed; `sentence` tells why */
	uint32_t ask;       /* the request that failed */
	uint32_t column;    /* column in the name or filter; 0: none */
	uint32_t in_filter; /* whether `column` is in the filter rather than the name */
	uint32_t nr_on;     /* number of kernel events now enabled */
	uint32_t reserved;
	/* Bit i is set when request i matched something. */
	uint64_t matched[WM_KERNEL_ASKS_MAX / 64];
	char sentence[WM_DIAG_SENTENCE];
	char words[WM_KERNEL_ASK_WORDS]; /* messages, one per line */
};

/* For the recorder: a decoded request; it points into the message. */
struct wm_kernel_ask {
	const char *name, *filter;
	bool off;
};
struct wm_kernel_question {
	const char *folder, *search;
	uint32_t nr;
	struct wm_kernel_ask asks[WM_KERNEL_ASKS_MAX];
};
/* Decodes a message; returns false if it is malformed. */
bool wm_request_read(const void *message, size_t bytes, struct wm_kernel_question *ret);

/*
 * Sends the request to the recorder that writes to the trace directory `dir`, and waits until it is
 * done. Returns 0 and the result in *ret, including ret->err; errors as for wm_tool_snapshot().
 */
int wm_tool_change_kernel(const char *dir, const struct wm_kernel_asks *asks, const char *search,
			  struct wm_msg_kernel_changed *ret, struct wm_diag *diag);

#endif
