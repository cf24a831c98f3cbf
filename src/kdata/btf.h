/* SPDX-License-Identifier: MIT */
/*
 * btf.h - the types of a kernel as it describes them itself
 * (/sys/kernel/btf/vmlinux): functions, their parameters, structures. Own
 * reader: a few kinds are needed, of bytes that are checked one by one.
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

#define WM_BTF_BYTES_MAX (256u << 20)
#define WM_BTF_TYPES_MAX (1u << 24)

struct wm_btf {
	const unsigned char *data, *types;
	const char *strings;
	uint32_t types_bytes, strings_bytes;
	uint32_t *offsets; /* of type i, among the types */
	uint32_t nr;       /* types, void counted */
};

/* Borrows `data`. 0, -EBADMSG with its offset, -EFBIG, -ENOMEM. This machine's byte order only. */
int wm_btf_init(struct wm_btf *b, const void *data, size_t bytes, struct wm_diag *diag);
void wm_btf_done(struct wm_btf *b);

enum wm_btf_kind {
	WM_BTF_OTHER, /* void, functions, declarations alone */
	WM_BTF_UNSIGNED,
	WM_BTF_SIGNED,
	WM_BTF_POINTER,
	WM_BTF_ARRAY,
	WM_BTF_STRUCT, /* or union */
};

/* A type without typedef, const and the like. */
struct wm_btf_type {
	enum wm_btf_kind kind;
	uint32_t id;
	uint32_t bytes;
	uint32_t of;       /* what a pointer points to, an array has */
	uint32_t elements; /* of an array */
	bool is_char;      /* an integer of one byte that is text */
};
void wm_btf_type(const struct wm_btf *b, uint32_t id, struct wm_btf_type *ret);

/* The function's prototype; 0: there is no function of that name. */
uint32_t wm_btf_function(const struct wm_btf *b, const char *name);

uint32_t wm_btf_returned(const struct wm_btf *b, uint32_t prototype); /* type; 0: nothing */
uint32_t wm_btf_nr_parameters(const struct wm_btf *b, uint32_t prototype);
/* Name ("" none) and type of a parameter, from 0. */
const char *wm_btf_parameter(const struct wm_btf *b, uint32_t prototype, uint32_t nr,
			     uint32_t *ret_type);

/*
 * A member of a structure, also of those without a name in it. False: there is
 * none. nr_bits 0: it is no bit field; `offset` is in bytes, of a bit field
 * that of the unit (of the type's size) it is in.
 */
struct wm_btf_member {
	uint32_t type, offset, bit_offset, nr_bits;
};
bool wm_btf_member(const struct wm_btf *b, uint32_t type, const char *name,
		   struct wm_btf_member *ret);

#endif
