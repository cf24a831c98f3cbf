/* SPDX-License-Identifier: MIT */
/* metadata_int.h - shared by the printers of both metadata languages; see metadata.h. */
#ifndef WM_WRITE_METADATA_INT_H
#define WM_WRITE_METADATA_INT_H

#include "write/metadata.h"

/* --- metadata_tsdl.c, metadata_json.c --------------------------------------- */

void wm_meta_tsdl_trace(struct wm_text *t, const struct wm_meta_trace *trace);
void wm_meta_tsdl_stream(struct wm_text *t, const struct wm_meta_stream *stream);
void wm_meta_tsdl_event(struct wm_text *t, const struct wm_meta_event *event);
void wm_meta_json_trace(struct wm_text *t, const struct wm_meta_trace *trace);
void wm_meta_json_stream(struct wm_text *t, const struct wm_meta_stream *stream);
void wm_meta_json_event(struct wm_text *t, const struct wm_meta_event *event);

/* --- metadata_text.c ------------------------------------------------------- */

void wm_meta_uuid(struct wm_text *t, const unsigned char uuid[WM_TRACE_UUID_BYTES]);

/*
 * Returns the length of the well-formed UTF-8 character at `s`, or 0 when it is not well-formed. At
 * least one byte must be readable.
 */
uint32_t wm_meta_utf8(const char *s);

/* Returns whether the field is a string of exactly f->length bytes. */
static inline bool wm_meta_is_fixed_text(const struct wm_meta_field *f)
{
	return f->type->kind == WM_TYPE_STRING && f->alias;
}

/*
 * Returns whether any label names a value, or a bit, that the number can have. Other labels are not
 * written.
 */
bool wm_meta_has_labels(const struct wm_type *type);

#endif
