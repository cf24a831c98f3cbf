/* SPDX-License-Identifier: MIT */
/*
 * event_filter.h - splits a waymark filter for one kernel event: a part that
 * the kernel evaluates, and a rest that the reader of the event's records evaluates.
 */
#ifndef WM_KERNEL_EVENT_FILTER_H
#define WM_KERNEL_EVENT_FILTER_H

#include <stddef.h>

#include "base/diag.h"

struct wm_event_filter {
	/* The kernel's part in its filter language; NULL: the kernel can evaluate no part. */
	char *text;
	unsigned char
	    *rest; /* bytecode (event/filter.h) of the rest; NULL: the kernel evaluates all */
	size_t rest_bytes;
};

/*
 * Splits `filter`; `format` is the text of the event's format file. The rest is checked against the
 * fields that a transcoded record has (kdata/transcode.h). Returns 0, or with a sentence and the
 * column of `filter`: -ENOENT: the event lacks a field; -EINVAL: the filter is malformed or
 * compares values that cannot be compared; -E2BIG, -EBADMSG, -ENOMEM.
 */
int wm_event_filter_make(const char *filter, const char *system, const char *format,
			 size_t format_bytes, struct wm_event_filter *ret, struct wm_diag *diag);
/*
 * Checks a `rest` that was received in a message: its bytecode must be valid, and use only fields
 * of the event. Errors as for wm_event_filter_make().
 */
int wm_event_filter_check(const unsigned char *code, size_t bytes, const char *system,
			  const char *format, size_t format_bytes, struct wm_diag *diag);
void wm_event_filter_done(struct wm_event_filter *f);

#endif
