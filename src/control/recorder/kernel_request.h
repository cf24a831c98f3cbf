/* SPDX-License-Identifier: MIT */
/*
 * kernel_request.h - events of the kernel for a recording that runs, as a command asks
 * its recorder for them (tool.h): names, as people said them, with their filters.
 * The recorder finds them, from where the command stands.
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
/* 0, -ENOMEM, or -E2BIG with a sentence. `filter`: NULL: none; those switched off have none. */
int wm_kernel_asks_add(struct wm_kernel_asks *a, const char *name, const char *filter, bool off,
		       struct wm_diag *diag);

/* Texts follow, each with its NUL: the folder the command is in, $PATH; then nr_asks times
 * one byte, '+' or '-', the name, the filter (empty: none). */
struct wm_msg_kernel_change {
	struct wm_msg h;
	uint32_t nr_asks;
	uint32_t reserved;
};

struct wm_msg_kernel_changed {
	struct wm_msg h;
	int32_t err;        /* 0 or -errno: nothing was changed, `sentence` says why; */
	uint32_t ask;       /* at which of them, */
	uint32_t column;    /* where in the text below; 0: nowhere */
	uint32_t in_filter; /* that is the filter, else the name */
	uint32_t nr_on;     /* events of the kernel that are on now */
	uint32_t reserved;
	uint64_t matched[WM_KERNEL_ASKS_MAX / 64]; /* bit i: ask i meant something */
	char sentence[WM_DIAG_SENTENCE];
	char words[WM_KERNEL_ASK_WORDS]; /* what there is to say besides, in lines */
};

/* For the recorder: what was asked; it points into the message. */
struct wm_kernel_ask {
	const char *name, *filter;
	bool off;
};
struct wm_kernel_question {
	const char *folder, *search;
	uint32_t nr;
	struct wm_kernel_ask asks[WM_KERNEL_ASKS_MAX];
};
/* False: it makes no sense. */
bool wm_kernel_question_read(const void *message, size_t bytes, struct wm_kernel_question *ret);

/*
 * Asks the recorder that writes to the trace directory `dir`, and waits until it is
 * done. 0: *ret has what came of it, also ret->err; errors as of wm_tool_snapshot().
 */
int wm_tool_change_kernel(const char *dir, const struct wm_kernel_asks *asks, const char *search,
			  struct wm_msg_kernel_changed *ret, struct wm_diag *diag);

#endif
