/* SPDX-License-Identifier: MIT */
/*
 * inputs.h - the traces a verb reads at once: opened, the
 * window of time that people typed, and what is said at the end.
 */
#ifndef WM_CMD_INPUTS_H
#define WM_CMD_INPUTS_H

#include "trace/reader.h"

#define WM_INPUTS_MAX 1024u

struct wm_inputs {
	struct wm_trace **traces;
	uint32_t nr;
};

/* Exit statuses; what went wrong was said. */
int wm_inputs_open(struct wm_inputs *in, const char *const *paths, uint32_t nr);

/*
 * --begin and --end of the verb, NULL when not given, as a window
 * [*ret_begin_ns, *ret_end_ns) that has the end in it.
 */
int wm_inputs_window(const struct wm_inputs *in, const char *verb, const char *begin,
		     const char *end, int64_t *ret_begin_ns, int64_t *ret_end_ns);

/* Says damage and losses of all: WM_EXIT_INCOMPLETE when there are some, else `status`. */
int wm_inputs_finish(const struct wm_inputs *in, int status, bool babeltrace);

void wm_inputs_close(struct wm_inputs *in);

#endif
