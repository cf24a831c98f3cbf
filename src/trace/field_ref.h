/* SPDX-License-Identifier: MIT */
/*
 * field_ref.h - a field of an event type, found by name once and read from each event in a few
 * instructions: a member that only plain values precede has a fixed index among the items; other
 * members are found by stepping over the preceding ones.
 */
#ifndef WM_TRACE_FIELD_REF_H
#define WM_TRACE_FIELD_REF_H

#include <stdbool.h>

#include "trace/reader.h"

struct wm_field_ref {
	const struct wm_type *type; /* NULL: the event has no such field */
	uint8_t part;               /* enum wm_part */
	bool fixed;                 /* `index` counts items, else members */
	uint32_t index;
};

/*
 * Searches the event's own fields, then its contexts, from the event's outwards. Tracers may have
 * added or removed a leading underscore in TSDL names: both spellings are found. False, with the
 * field's type NULL, when there is no such field.
 */
bool wm_field_ref_find(const struct wm_event_type *t, const char *name, struct wm_field_ref *ret);

/* The same in one part only. */
bool wm_field_ref_find_in(const struct wm_event_type *t, enum wm_part part, const char *name,
			  struct wm_field_ref *ret);

/* The field's item; NULL: the event does not have it (it was damaged). */
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

/* An integer's value; `otherwise` when the event does not have it. */
static inline int64_t wm_field_ref_integer(const struct wm_field_ref *f, const struct wm_event *e,
					   int64_t otherwise)
{
	const struct wm_item *i = f->type ? wm_field_ref_item(f, e) : NULL;

	return i && f->type->kind <= WM_TYPE_BOOL ? i->s : otherwise;
}

/* A string's bytes, not NUL-terminated; *ret_bytes is 0 when the event has no such string. */
const char *wm_field_ref_string(const struct wm_field_ref *f, const struct wm_event *e,
				size_t *ret_bytes);

#endif
