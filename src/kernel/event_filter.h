/* SPDX-License-Identifier: MIT */
/*
 * event_filter.h - a filter of ours made for one event of the kernel: what the
 * kernel is told, and what is left to who reads the event's records.
 */
#ifndef WM_KERNEL_EVENT_FILTER_H
#define WM_KERNEL_EVENT_FILTER_H

#include <stddef.h>

#include "base/diag.h"

struct wm_event_filter {
	char *text;          /* in the kernel's words; NULL: nothing that it could tell */
	unsigned char *rest; /* bytecode (event/filter.h); NULL: nothing is left */
	size_t rest_bytes;
};

/*
 * `format` is the text of the event's format file. What is left is checked
 * against the fields a record has when it is transcoded (kdata/transcode.h).
 * 0, or with a sentence, and the column of `filter`: -ENOENT: the event lacks
 * a field; -EINVAL: the filter is malformed or compares what cannot be
 * compared; -E2BIG, -EBADMSG, -ENOMEM.
 */
int wm_event_filter_make(const char *filter, const char *system, const char *format,
			 size_t format_bytes, struct wm_event_filter *ret, struct wm_diag *diag);
/* Whether bytecode fits the event's fields, as that of a rest must: as above. */
int wm_event_filter_check(const unsigned char *code, size_t bytes, const char *system,
			  const char *format, size_t format_bytes, struct wm_diag *diag);
void wm_event_filter_done(struct wm_event_filter *f);

#endif
