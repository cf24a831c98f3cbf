/* SPDX-License-Identifier: MIT */
/*
 * kernel_items_int.h - converts fields of the kernel's records (kdata/event_format.h) to items, for
 * all file formats with such records.
 */
#ifndef WM_READ_KERNEL_ITEMS_INT_H
#define WM_READ_KERNEL_ITEMS_INT_H

#include "kdata/event_format.h"
#include "kdata/print.h"
#include "trace/reader.h"

/*
 * Creates the structure type for these fields; field i is hexadecimal if hex[i] is set, see
 * wm_kprint_hex(). 0 or -ENOMEM.
 */
int wm_kitems_part(struct wm_arena *arena, const bool *hex, const struct wm_kfield *fields,
		   uint32_t nr, const struct wm_type **ret);

/* Adds the items of a record's fields, as many as `part` has members; false: out of memory. */
bool wm_kitems_add(const struct wm_kmachine *k, const struct wm_type *part,
		   const struct wm_kfield *fields, const unsigned char *record, uint32_t bytes,
		   struct wm_batch *b);

#endif
