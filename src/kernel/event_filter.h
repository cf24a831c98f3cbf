/* SPDX-License-Identifier: MIT */
/*
 * event_filter.h - splits a waymark filter for one kernel event into a part that the kernel
 * evaluates and a rest that the reader of the event's records evaluates.
 */
#ifndef WM_KERNEL_EVENT_FILTER_H
#define WM_KERNEL_EVENT_FILTER_H

#include <stddef.h>

#include "base/diag.h"

struct wm_event_filter {
	/* The kernel's part, in its filter language; NULL: the kernel cannot evaluate any part. */
	char *text;
	unsigned char *rest; /* the rest as bytecode (event/filter.h); NULL: none */
	size_t rest_bytes;
};

/*
 * Splits `filter`; `format` is the text of the event's format file. The rest is checked against the
 * fields that a transcoded record has (kdata/transcode.h). Returns 0, or an error with a message
 * and the column in `filter`: -ENOENT if the event lacks a field; -EINVAL if the filter is
 * malformed or compares values that cannot be compared; -E2BIG, -EBADMSG, -ENOMEM.
 */
int wm_event_filter_make(const char *filter, const char *system, const char *format,
			 size_t format_bytes, struct wm_event_filter *ret, struct wm_diag *diag);
/*
 * Checks a `rest` received in a message: its bytecode must be valid and use only the event's
 * fields. Errors as for wm_event_filter_make().
 */
int wm_event_filter_check(const unsigned char *code, size_t bytes, const char *system,
			  const char *format, size_t format_bytes, struct wm_diag *diag);
void wm_event_filter_done(struct wm_event_filter *f);

#endif
