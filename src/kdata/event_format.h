/* SPDX-License-Identifier: MIT */
/*
 * event_format.h - parses the kernel's description of one of its events, a `format` file in
 * tracefs. These files are also stored in traces, so their text is untrusted.
 *
 *   name: sched_switch
 *   ID: 314
 *   format:
 *       field:unsigned short common_type;  offset:0;  size:2;  signed:0;
 *       ...
 *       field:char prev_comm[16];  offset:8;  size:16;  signed:0;
 *   print fmt: "prev_comm=%s ...", REC->prev_comm, ...
 *
 * A record begins with the common fields and is at least as long as its fixed part. A dynamic array
 * (__data_loc, __rel_loc) has a word in the fixed part that locates its elements: length << 16 |
 * offset, counted from the record's start (__data_loc) or from the end of the word (__rel_loc).
 */
#ifndef WM_KDATA_EVENT_FORMAT_H
#define WM_KDATA_EVENT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/order.h"

#define WM_KFORMAT_TEXT_MAX   (1u << 20)
#define WM_KFORMAT_FIELDS_MAX 256u
#define WM_KFORMAT_RECORD_MAX (1u << 20) /* upper bound on the end of a fixed field */

#define WM_KFIELD_SIGNED   1u
#define WM_KFIELD_ARRAY    2u  /* an array: of `length` elements, or dynamic */
#define WM_KFIELD_POINTER  4u  /* an address in the kernel or a program, as a number */
#define WM_KFIELD_CHARS    8u  /* an array of char that is text */
#define WM_KFIELD_DATA_LOC 16u /* dynamic: the offset is relative to the start of the record */
#define WM_KFIELD_REL_LOC  32u /* dynamic: the offset is relative to the end of the word */
#define WM_KFIELD_BITMASK  64u /* dynamic: words of the kernel's long type, lowest first */
#define WM_KFIELD_BOOL     128u
#define WM_KFIELD_TAIL     256u /* an array that extends to the end of the record */
#define WM_KFIELD_DYNAMIC  (WM_KFIELD_DATA_LOC | WM_KFIELD_REL_LOC)

struct wm_kfield {
	const char *name;
	/* As in the file, without name and [length], for example "unsigned short" */
	const char *type;
	/* Position in the record; for a dynamic array, the position of its word (4 bytes) */
	uint32_t offset, bytes;
	uint32_t length;       /* number of elements of an ARRAY that is not dynamic */
	uint8_t element_bytes; /* 1, 2, 4 or 8; 0: any other size */
	uint16_t flags;
};

struct wm_kformat {
	const char *system, *name;
	uint32_t id;
	/* The number of all fields, and of the common fields, which come first. */
	uint16_t nr_fields, nr_common;
	const struct wm_kfield *fields;
	const char *print;    /* the trimmed text after "print fmt:"; "" when there is none */
	uint32_t fixed_bytes; /* end of the last fixed field */
};

/* The properties of the machine that wrote the records. */
struct wm_kmachine {
	uint8_t long_bytes; /* 4 or 8 */
	bool big_endian, swap;
};
void wm_kmachine_init(struct wm_kmachine *m, unsigned long_bytes, bool big_endian);

/*
 * Parses a format file (`text` need not be NUL-terminated) into the arena.
 * -EBADMSG with `diag` (optional; its offset is in the text), or -ENOMEM.
 */
int wm_kformat_parse(struct wm_arena *arena, const struct wm_kmachine *m, const char *system,
		     const char *text, size_t bytes, const struct wm_kformat **ret,
		     struct wm_diag *diag);

/*
 * Number of low bits of a field that have its value; the value is signed, but the writer did not
 * extend it. Such a field has a type "sbitsN"; 0: any other.
 */
unsigned wm_kfield_sign_bits(const struct wm_kfield *f);

/* returns NULL when no field has that name */
const struct wm_kfield *wm_kformat_field(const struct wm_kformat *f, const char *name);

/*
 * Returns the bytes of a field in a record; for a dynamic array, its elements. Returns NULL and 0
 * when some of them are outside the record.
 */
static inline const unsigned char *wm_kfield_bytes(const struct wm_kfield *f, bool swap,
						   const unsigned char *record, uint32_t bytes,
						   uint32_t *ret_bytes)
{
	uint32_t word, at, length;

	*ret_bytes = 0;
	if (f->offset > bytes || f->bytes > bytes - f->offset)
		return NULL;
	if (f->flags & WM_KFIELD_TAIL) {
		*ret_bytes = bytes - f->offset;
		return record + f->offset;
	}
	if (!(f->flags & WM_KFIELD_DYNAMIC)) {
		*ret_bytes = f->bytes;
		return record + f->offset;
	}
	word = wm_get_u32(record + f->offset, swap);
	at = word & 0xffff;
	length = word >> 16;
	if (f->flags & WM_KFIELD_REL_LOC)
		at += f->offset + f->bytes;
	if (at > bytes || length > bytes - at)
		return NULL;
	*ret_bytes = length;
	return record + at;
}

/*
 * Returns a scalar field as a number, sign-extended; 0 when some of its bytes are outside the
 * record.
 */
static inline uint64_t wm_kfield_number(const struct wm_kfield *f, bool swap,
					const unsigned char *record, uint32_t bytes)
{
	if (f->offset > bytes || f->bytes > bytes - f->offset)
		return 0;
	if (f->flags & WM_KFIELD_SIGNED)
		return (uint64_t)wm_get_int(record + f->offset, f->bytes, swap);
	return wm_get_uint(record + f->offset, f->bytes, swap);
}

#endif
