/* SPDX-License-Identifier: MIT */
/*
 * btf.h - the types of a kernel from its own description
 * (/sys/kernel/btf/vmlinux): functions, their parameters, structures. An own
 * reader: only a few kinds are needed, and every byte is checked.
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
	uint32_t *offsets; /* offset of type i in `types` */
	uint32_t nr;       /* number of types, including void */
};

/*
 * Keeps a pointer to `data`. 0, -EBADMSG with its offset, -EFBIG, -ENOMEM.
 * Native byte order only.
 */
int wm_btf_init(struct wm_btf *b, const void *data, size_t bytes, struct wm_diag *diag);
void wm_btf_done(struct wm_btf *b);

enum wm_btf_kind {
	WM_BTF_OTHER, /* void, functions, forward declarations */
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
	uint32_t of;       /* a pointer's target type, an array's element type */
	uint32_t elements; /* of an array */
	bool is_char;      /* a one-byte integer that is text */
};
void wm_btf_type(const struct wm_btf *b, uint32_t id, struct wm_btf_type *ret);

/* The function's prototype; 0: no function has that name. */
uint32_t wm_btf_function(const struct wm_btf *b, const char *name);

uint32_t wm_btf_returned(const struct wm_btf *b, uint32_t prototype); /* type; 0: void */
uint32_t wm_btf_nr_parameters(const struct wm_btf *b, uint32_t prototype);
/* Name ("" if it has none) and type of a parameter, counted from 0. */
const char *wm_btf_parameter(const struct wm_btf *b, uint32_t prototype, uint32_t nr,
			     uint32_t *ret_type);

/*
 * A member of a structure, also one inside an unnamed member. False: not found.
 * nr_bits 0: not a bit field; `offset` is in bytes, for a bit field that of the
 * unit (of the type's size) that contains it.
 */
struct wm_btf_member {
	uint32_t type, offset, bit_offset, nr_bits;
};
bool wm_btf_member(const struct wm_btf *b, uint32_t type, const char *name,
		   struct wm_btf_member *ret);

#endif
