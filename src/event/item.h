/* SPDX-License-Identifier: MIT */
/*
 * item.h - the values of an event that any tracer wrote, as a flat list.
 *
 * A decoder turns an event's bytes into items, outermost first, members in
 * their order: a structure's item says how many members follow, a list's how
 * many elements. Who wants the fourth field and not what is inside the third
 * jumps by `next`. No object, no allocation and no call for each value.
 *
 *   { a = 1, b = { c = "x", d = [ 7, 8 ] } }
 *   [0] a 1   [1] b STRUCT 2, next 6   [2] c "x"   [3] d LIST 2, next 6   [4] 7   [5] 8
 *
 * Types are immutable once made, belong to the trace and may be shared between
 * threads. A type may be used by several members; there are no cycles.
 */
#ifndef WM_EVENT_ITEM_H
#define WM_EVENT_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wm_type_kind {
	WM_TYPE_UNSIGNED, /* item.u */
	WM_TYPE_SIGNED,   /* item.s */
	WM_TYPE_BOOL,     /* item.u: 0 or 1 */
	WM_TYPE_FLOAT,    /* item.f; of 32 bits too */
	WM_TYPE_STRING,   /* item.text, item.count bytes; not NUL-terminated, no NUL inside */
	WM_TYPE_BYTES,    /* item.bytes, item.count */
	WM_TYPE_STRUCT,   /* item.count members follow */
	WM_TYPE_LIST,     /* item.count elements follow, all of `element` */
	WM_TYPE_CHOICE,   /* one option follows: members[item.u]; count 1 */
	WM_TYPE_OPTIONAL, /* item.count, 0 or 1, of `element` follow */
	WM_TYPE_NR
};

/* How people want to see a number. */
enum wm_type_look {
	WM_LOOK_DECIMAL,
	WM_LOOK_HEX,
	WM_LOOK_OCTAL,
	WM_LOOK_BINARY,
	WM_LOOK_POINTER, /* an address of the traced memory; hexadecimal */
};

struct wm_type_label {
	const char *name;
	int64_t low, high; /* as unsigned when the type is; ranges may overlap */
};

struct wm_type;

struct wm_member {
	const char *name; /* NULL: an element of a list, or an optional's value */
	const struct wm_type *type;
};

struct wm_type {
	uint8_t kind;  /* enum wm_type_kind */
	uint8_t look;  /* enum wm_type_look, of numbers */
	uint8_t bits;  /* of numbers: as recorded, 1..64; LEB128: 64 */
	bool fixed;    /* LIST: every one has `length` elements */
	bool is_enum;  /* labels name the values, though there may be none of them */
	bool is_flags; /* labels name bit ranges instead */
	bool
	    is_bare; /* BOOL, BYTES: in the file a number, a list of numbers, as CTF 1.8 has them */
	uint32_t length; /* LIST, when fixed */
	uint32_t nr_members;
	const struct wm_member *members; /* STRUCT, CHOICE */
	struct wm_member element;        /* LIST, OPTIONAL; its name is NULL */
	uint32_t nr_labels;
	const struct wm_type_label *labels;
	const void *own; /* the format's */
};

struct wm_item {
	const struct wm_member *member; /* its name and type */
	union {
		uint64_t u;
		int64_t s;
		double f;
		const char *text;           /* valid as long as the event */
		const unsigned char *bytes; /* valid as long as the event */
	};
	uint32_t count;
	uint32_t next; /* index of the first item behind this one and all inside it */
};

/*
 * The scopes of an event's items, in the order they are kept: those of CTF.
 * Other formats: what every event of a stream carries (a sample's fields, the
 * common fields of ftrace) is STREAM_CONTEXT, its own are FIELDS.
 */
enum wm_part {
	WM_PART_PACKET_HEADER,
	WM_PART_PACKET_CONTEXT,
	WM_PART_HEADER,
	WM_PART_STREAM_CONTEXT,
	WM_PART_CONTEXT,
	WM_PART_FIELDS,
	WM_NR_PARTS
};

/* Whether the value is in the label's range; of a type that is_enum. */
bool wm_type_label_holds(const struct wm_type *t, const struct wm_type_label *l,
			 const struct wm_item *value);

/* The first label that holds the value, or NULL. Unsigned types compare as such. */
const char *wm_type_label(const struct wm_type *t, const struct wm_item *value);

#endif
