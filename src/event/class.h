/* SPDX-License-Identifier: MIT */
/*
 * class.h - an event class: an event's name and its typed fields, parsed from the pointer-free
 * description of <waymark/abi.h>. Used by tools; the guest side passes on descriptions as bytes.
 *
 * Ownership: a class owns everything it points to; it is immutable once parsed and may be shared
 * between threads.
 */
#ifndef WM_EVENT_CLASS_H
#define WM_EVENT_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define WM_CLASS_FIELDS_MAX 256u
#define WM_CLASS_NAME_MAX   255u
#define WM_CLASS_LABELS_MAX 4096u
#define WM_CLASS_ARRAY_MAX  65536u

enum wm_field_shape {
	WM_SHAPE_SCALAR,   /* one element */
	WM_SHAPE_STRING,   /* NUL-terminated */
	WM_SHAPE_CHARS,    /* a char array of exactly `length` bytes */
	WM_SHAPE_ARRAY,    /* `length` elements */
	WM_SHAPE_SEQUENCE, /* a u4 count, then the elements */
	WM_SHAPE_BLOB,     /* a u4 count, then the bytes */
};

enum wm_scalar {
	WM_SCALAR_SIGNED,
	WM_SCALAR_UNSIGNED,
	WM_SCALAR_HEX,
	WM_SCALAR_BOOL,
	WM_SCALAR_FLOAT,
	WM_SCALAR_POINTER,
};

struct wm_label {
	int64_t value;
	const char *name;
};

struct wm_field {
	const char *name;
	enum wm_field_shape shape;
	enum wm_scalar scalar; /* type of the element */
	uint8_t bytes;         /* size of the element: 1, 2, 4 or 8 */
	uint32_t length;       /* CHARS, ARRAY */
	uint32_t nr_labels;    /* above 0 for an enumeration */
	const struct wm_label *labels;
	/* From the start of the payload; -1 when an earlier field has a variable size. */
	int32_t offset;
};

struct wm_class {
	const char *provider, *name;
	const char *print; /* NULL: none */
	const char *file;  /* "": unknown */
	/* "provider:name" of the typed event that a linked marker belongs to; NULL: none. */
	const char *carrier;
	uint8_t kind;  /* enum waymark_desc_kind */
	uint8_t level; /* enum waymark_level */
	uint32_t line, flags;
	uint32_t nr_fields;
	const struct wm_field *fields;
	int32_t payload_bytes; /* size of the payload; -1 when a field has a variable size */
};

/*
 * Parses a description from untrusted bytes. `provider` replaces an empty provider and may be NULL.
 * Returns 0, -EBADMSG or -ENOMEM; on failure, `diag` (optional) holds the reason and the offset.
 */
int wm_class_parse(const void *desc, size_t bytes, const char *provider,
		   struct wm_class **ret_class, struct wm_diag *diag);
void wm_class_destroy(struct wm_class *c);

/*
 * Whether names, level and fields are equal, so that records of one class can be read as records of
 * the other.
 */
bool wm_class_equal(const struct wm_class *a, const struct wm_class *b);

#endif
