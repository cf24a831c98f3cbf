/* SPDX-License-Identifier: MIT */
/*
 * field_ref.h - a reference to a field of an event type: the name is looked up once, and reading
 * the field from an event then takes only a few instructions. When all preceding members are single
 * values, the field has a fixed index among the items; otherwise it is found by stepping over the
 * preceding members.
 */
#ifndef WM_TRACE_FIELD_REF_H
#define WM_TRACE_FIELD_REF_H

#include <stdbool.h>

#include "trace/reader.h"

struct wm_field_ref {
	const struct wm_type *type; /* NULL: the event has no such field */
	uint8_t part;               /* enum wm_part */
	bool fixed;                 /* true: `index` is the item's; false: the member's */
	uint32_t index;
};

/*
 * Searches the event's own fields, then its contexts, innermost first. Tracers may have added or
 * removed a leading underscore in TSDL names, so both spellings are found. Returns false, with the
 * field's type NULL, when there is no such field.
 */
bool wm_field_ref_find(const struct wm_event_type *t, const char *name, struct wm_field_ref *ret);

/* Like wm_field_ref_find(), but searches one part only. */
bool wm_field_ref_find_in(const struct wm_event_type *t, enum wm_part part, const char *name,
			  struct wm_field_ref *ret);

/* Returns the field's item, or NULL when the event lacks it because the record was damaged. */
static inline const struct wm_item *wm_field_ref_item(const struct wm_field_ref *f,
						      const struct wm_event *e)
{
	uint32_t at = e->parts[f->part].at, end = e->parts[f->part].end;

	if (f->fixed)
		at += f->index;
	else
		for (uint32_t i = 0; i < f->index && at < end; i++)
			at = e->items[at].next;
	return at < end ? &e->items[at] : NULL;
}

/* Returns the value of an integer field, or `otherwise` when the event lacks it. */
static inline int64_t wm_field_ref_integer(const struct wm_field_ref *f, const struct wm_event *e,
					   int64_t otherwise)
{
	const struct wm_item *i = f->type ? wm_field_ref_item(f, e) : NULL;

	return i && f->type->kind <= WM_TYPE_BOOL ? i->s : otherwise;
}

/*
 * Returns the bytes of a string field, not NUL-terminated; *ret_bytes is 0 when the event lacks it.
 */
const char *wm_field_ref_string(const struct wm_field_ref *f, const struct wm_event *e,
				size_t *ret_bytes);

#endif
