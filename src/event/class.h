/* SPDX-License-Identifier: MIT */
/*
 * class.h - an event class: an event's name and its typed fields, parsed from the pointer-free
 * description of <waymark/abi.h>. Used by tools; the guest side passes descriptions on as bytes.
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
	WM_SHAPE_CHARS,    /* char array of exactly `length` bytes */
	WM_SHAPE_ARRAY,    /* `length` elements */
	WM_SHAPE_SEQUENCE, /* u4 count, elements */
	WM_SHAPE_BLOB,     /* u4 count, bytes */
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
	enum wm_scalar scalar; /* of the element */
	uint8_t bytes;         /* of the element: 1, 2, 4, 8 */
	uint32_t length;       /* CHARS, ARRAY */
	uint32_t nr_labels;    /* > 0: an enumeration */
	const struct wm_label *labels;
	int32_t offset; /* from the payload's start when all earlier fields are static, else -1 */
};

struct wm_class {
	const char *provider, *name;
	const char *print;   /* NULL: none */
	const char *file;    /* "": unknown */
	const char *carrier; /* "provider:name" of a linked marker's typed event; NULL: none */
	uint8_t kind;        /* enum waymark_desc_kind */
	uint8_t level;       /* enum waymark_level */
	uint32_t line, flags;
	uint32_t nr_fields;
	const struct wm_field *fields;
	int32_t payload_bytes; /* if all fields are static, else -1 */
};

/*
 * Parses a description from untrusted bytes. `provider` replaces an empty provider (may be NULL).
 * On failure -EBADMSG or -ENOMEM, and `diag` (optional) holds reason and offset.
 */
int wm_class_parse(const void *desc, size_t bytes, const char *provider,
		   struct wm_class **ret_class, struct wm_diag *diag);
void wm_class_destroy(struct wm_class *c);

/* Same names, level and fields: one's records can be read as the other's. */
bool wm_class_equal(const struct wm_class *a, const struct wm_class *b);

/* Index of a field by name, or -ENOENT. */
int wm_class_field(const struct wm_class *c, const char *name);

#endif
