/* SPDX-License-Identifier: MIT */
/*
 * item.h - the values of an event from any tracer, as a flat list.
 *
 * A decoder turns an event's bytes into items, outermost first, members in order: a structure's
 * item gives the number of members that follow, a list's item the number of elements. A caller that
 * does not need an item's contents skips them with `next`. There is no object, no allocation and no
 * call per value.
 *
 *   { a = 1, b = { c = "x", d = [ 7, 8 ] } }
 *   [0] a 1   [1] b STRUCT 2, next 6   [2] c "x"   [3] d LIST 2, next 6   [4] 7   [5] 8
 *
 * Types are immutable once created, belong to the trace, and may be shared between threads. A type
 * may be used by several members; there are no cycles.
 */
#ifndef WM_EVENT_ITEM_H
#define WM_EVENT_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wm_type_kind {
	WM_TYPE_UNSIGNED, /* item.u */
	WM_TYPE_SIGNED,   /* item.s */
	WM_TYPE_BOOL,     /* item.u is 0 or 1 */
	WM_TYPE_FLOAT,    /* item.f, also for 32-bit floats */
	WM_TYPE_STRING,   /* item.text, item.count bytes; not NUL-terminated, no NUL inside */
	WM_TYPE_BYTES,    /* item.bytes, item.count */
	WM_TYPE_STRUCT,   /* item.count members follow */
	WM_TYPE_LIST,     /* item.count elements follow, all with the type `element` */
	WM_TYPE_CHOICE,   /* one of `members` follows: members[item.u]; item.count is 1 */
	WM_TYPE_OPTIONAL, /* item.count (0 or 1) values of `element` follow */
	WM_TYPE_NR
};

/* The preferred base of a number when printed. */
enum wm_type_look {
	WM_LOOK_DECIMAL,
	WM_LOOK_HEX,
	WM_LOOK_OCTAL,
	WM_LOOK_BINARY,
	WM_LOOK_POINTER, /* an address in the traced program; hexadecimal */
};

struct wm_type_label {
	const char *name;
	/* Bounds of a range, as unsigned numbers when the type is unsigned; ranges may overlap. */
	int64_t low, high;
	/* Labels with the same name: 1 + index of the next; 0: none, or not linked. */
	uint32_t twin;
	bool follows; /* preceded by another label with that name */
};

struct wm_type;

struct wm_member {
	const char *name; /* NULL for an element of a list or the value of an optional */
	const struct wm_type *type;
};

struct wm_type {
	uint8_t kind;  /* enum wm_type_kind */
	uint8_t look;  /* enum wm_type_look, for numbers */
	uint8_t bits;  /* for numbers: the width as recorded, 1..64; 64 for LEB128 */
	bool fixed;    /* for LIST: it always has `length` elements */
	bool is_enum;  /* `labels` names the values; it may be empty */
	bool is_flags; /* `labels` names ranges of bits instead of values */
	/* For BOOL and BYTES: stored as a plain number or a list of numbers, as in CTF 1.8. */
	bool is_bare;
	uint32_t length; /* for a fixed LIST */
	uint32_t nr_members;
	const struct wm_member *members; /* STRUCT, CHOICE */
	struct wm_member element;        /* for LIST and OPTIONAL; the member's name is NULL */
	uint32_t nr_labels;
	const struct wm_type_label *labels;
	const void *own; /* private data of this format's reader */
};

struct wm_item {
	const struct wm_member *member; /* name and type of the value */
	union {
		uint64_t u;
		int64_t s;
		double f;
		const char *text;           /* valid as long as the event */
		const unsigned char *bytes; /* valid as long as the event */
	};
	uint32_t count;
	uint32_t next; /* index of the first item after this one and everything inside it */
};

/*
 * The parts (scopes) of an event, in the order in which CTF stores them. Readers of other formats
 * use STREAM_CONTEXT for the fields that every event of a stream has (a sample's fields, ftrace's
 * common fields) and FIELDS for the event's own.
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

/* Whether the value is in the label's range. For types with is_enum. */
bool wm_type_label_holds(const struct wm_type *t, const struct wm_type_label *l,
			 const struct wm_item *value);

/* Sets `twin` and `follows` in all labels of a type. False: out of memory. */
bool wm_type_link_labels(struct wm_type_label *labels, uint32_t nr);

/*
 * Clips the label's range to the values that the type can have, or to its bits; a label may name
 * others, too. Returns false when nothing is left.
 */
bool wm_type_label_clip(const struct wm_type *t, const struct wm_type_label *l, int64_t *ret_low,
			int64_t *ret_high);

/*
 * Returns the first label whose range contains the value, or NULL. Values of unsigned types are
 * compared as unsigned numbers.
 */
const char *wm_type_label(const struct wm_type *t, const struct wm_item *value);

#endif
