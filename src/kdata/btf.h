/* SPDX-License-Identifier: MIT */
/*
 * btf.h - reads the kernel's description of its own types (/sys/kernel/btf/vmlinux): functions,
 * their parameters, structures. Supports only the few kinds of types that are needed, and checks
 * every byte.
 *
 *   header  magic eB9F, version, length, where types and strings are
 *   types   name, kind and number of parts, size or another type; then the
 *           parts: members, parameters. Numbered from 1; 0 is void.
 */
#ifndef WM_KDATA_BTF_H
#define WM_KDATA_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/text.h"

#define WM_BTF_BYTES_MAX (256u << 20)
#define WM_BTF_TYPES_MAX (1u << 24)

struct wm_btf {
	const unsigned char *data, *types;
	const char *strings;
	uint32_t types_bytes, strings_bytes;
	uint32_t *offsets; /* offset of type i in `types` */
	uint32_t nr;       /* number of types, including void */
};

/*
 * Reads the description; `data` must stay valid. Returns 0, -EBADMSG (diag has the offset), -EFBIG
 * or -ENOMEM. Supports only this machine's byte order.
 */
int wm_btf_init(struct wm_btf *b, const void *data, size_t bytes, struct wm_diag *diag);
void wm_btf_done(struct wm_btf *b);

enum wm_btf_kind {
	WM_BTF_OTHER, /* void, functions, and forward declarations */
	WM_BTF_UNSIGNED,
	WM_BTF_SIGNED,
	WM_BTF_POINTER,
	WM_BTF_ARRAY,
	WM_BTF_STRUCT, /* or union */
};

/* A type without typedefs and qualifiers. */
struct wm_btf_type {
	enum wm_btf_kind kind;
	uint32_t id;
	uint32_t bytes;
	uint32_t of;       /* the target type of a pointer, or the element type of an array */
	uint32_t elements; /* number of elements of an array */
	bool is_char;      /* a one-byte integer that is text */
};
void wm_btf_type(const struct wm_btf *b, uint32_t id, struct wm_btf_type *ret);

/* Appends a type as the kernel's source writes it, such as "const char *"; id 0 is "void". */
void wm_btf_type_text(const struct wm_btf *b, uint32_t id, struct wm_text *to);

/* Returns the prototype of a function, or 0 when there is no function with that name. */
uint32_t wm_btf_function(const struct wm_btf *b, const char *name);

/* Returns the type of the result; 0: void. */
uint32_t wm_btf_returned(const struct wm_btf *b, uint32_t prototype);
uint32_t wm_btf_nr_parameters(const struct wm_btf *b, uint32_t prototype);
/* Returns the name ("" if it has none) and type of a parameter, counted from 0. */
const char *wm_btf_parameter(const struct wm_btf *b, uint32_t prototype, uint32_t nr,
			     uint32_t *ret_type);

/*
 * A member of a structure, or of an unnamed member inside it. nr_bits 0: not a bit field. `offset`
 * is in bytes; for a bit field it is the offset of the unit (of the type's size) that contains it.
 * wm_btf_member() returns false when there is no such member.
 */
struct wm_btf_member {
	uint32_t type, offset, bit_offset, nr_bits;
};
bool wm_btf_member(const struct wm_btf *b, uint32_t type, const char *name,
		   struct wm_btf_member *ret);

#endif
