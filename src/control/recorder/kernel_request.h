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
	struct wm_text body; /* of the message */
	uint32_t nr;
};

void wm_kernel_asks_init(struct wm_kernel_asks *a);
void wm_kernel_asks_done(struct wm_kernel_asks *a);
/* 0, -ENOMEM, or -E2BIG with diag. `filter` NULL: no filter, as for events to switch off. */
int wm_kernel_asks_add(struct wm_kernel_asks *a, const char *name, const char *filter, bool off,
		       struct wm_diag *diag);

/*
 * NUL-terminated texts follow: the command's folder, $PATH; then, nr_asks times, one byte, '+' or
 * '-', the name, the filter (empty: no filter).
 */
struct wm_msg_kernel_change {
	struct wm_msg h;
	uint32_t nr_asks;
	uint32_t reserved;
};

struct wm_msg_kernel_changed {
	struct wm_msg h;
	int32_t err;        /* 0 or -errno: nothing was changed, `sentence` is the reason; */
	uint32_t ask;       /* the request that failed, */
	uint32_t column;    /* column in the text below; 0: none */
	uint32_t in_filter; /* `column` counts in the filter, not in the name */
	uint32_t nr_on;     /* kernel events enabled now */
	uint32_t reserved;
	uint64_t matched[WM_KERNEL_ASKS_MAX / 64]; /* bit i: request i matched something */
	char sentence[WM_DIAG_SENTENCE];
	char words[WM_KERNEL_ASK_WORDS]; /* further messages, in lines */
};

/* For the recorder: the decoded request; points into the message. */
struct wm_kernel_ask {
	const char *name, *filter;
	bool off;
};
struct wm_kernel_question {
	const char *folder, *search;
	uint32_t nr;
	struct wm_kernel_ask asks[WM_KERNEL_ASKS_MAX];
};
/* False: the message is malformed. */
bool wm_kernel_question_read(const void *message, size_t bytes, struct wm_kernel_question *ret);

/*
 * Sends the request to the recorder that writes to the trace directory `dir`, and waits until it is
 * done. 0: *ret has the result, including ret->err; errors as for wm_tool_snapshot().
 */
int wm_tool_change_kernel(const char *dir, const struct wm_kernel_asks *asks, const char *search,
			  struct wm_msg_kernel_changed *ret, struct wm_diag *diag);

#endif
