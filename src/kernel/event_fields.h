/* SPDX-License-Identifier: MIT */
/* event_fields.h - the fields of one kernel event, as declared in tracefs. */
#ifndef WM_KERNEL_EVENT_FIELDS_H
#define WM_KERNEL_EVENT_FIELDS_H

#include "kdata/event_format.h"
#include "kernel/event_space.h"

/* The first `nr_common` fields of the format are common to all events. */
struct wm_event_fields {
	struct wm_arena arena;
	const struct wm_kformat *format;
};

/* Returns false if the event has no fields to show. */
bool wm_event_fields_read(const struct wm_event_space *s, const struct wm_event_def *d,
			  struct wm_event_fields *ret);
void wm_event_fields_done(struct wm_event_fields *f);

/* Writes a field's type, such as "char[16]", "u8[]" or "unsigned long". Returns buf. */
const char *wm_event_fields_type(const struct wm_kfield *f, char *buf, size_t bytes);

/*
 * Writes a question with the event's own fields, and the names in `more`, that are nearest to
 * `name`, or how to list the fields. `f` and `more`, which ends with NULL, may be NULL. Returns
 * buf.
 */
const char *wm_event_fields_hint(const struct wm_kformat *f, const char *const *more,
				 const char *name, char *buf, size_t bytes);

#endif
