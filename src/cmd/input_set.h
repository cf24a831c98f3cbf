/* SPDX-License-Identifier: MIT */
/*
 * input_set.h - the set of traces that a verb reads: opens them, converts --begin and --end, and
 * finally reports their faults.
 */
#ifndef WM_CMD_INPUT_SET_H
#define WM_CMD_INPUT_SET_H

#include "trace/reader.h"

#define WM_INPUTS_MAX 1024u

struct wm_input_set {
	struct wm_trace **traces;
	uint32_t nr;
};

/* These functions return 0, or print a message and return an exit status. */
int wm_input_set_open(struct wm_input_set *in, const char *const *paths, uint32_t nr);

/*
 * Refuses traces whose clocks count from unrelated origins: their events have no common order. With
 * `correlate`, their origins are treated as the same.
 */
int wm_input_set_check_clocks(const struct wm_input_set *in, const char *verb, bool correlate);

/*
 * Converts the verb's --begin and --end (NULL: not given) to the window [*ret_begin_ns,
 * *ret_end_ns), which includes the time of --end.
 */
int wm_input_set_window(const struct wm_input_set *in, const char *verb, const char *begin,
			const char *end, int64_t *ret_begin_ns, int64_t *ret_end_ns);

/*
 * Reports damage and losses in all traces. Returns WM_EXIT_INCOMPLETE if there are any, else
 * `status`.
 */
int wm_input_set_report_missing(const struct wm_input_set *in, int status, bool babeltrace);

void wm_input_set_close(struct wm_input_set *in);

#endif
