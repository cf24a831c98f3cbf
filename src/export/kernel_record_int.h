/* SPDX-License-Identifier: MIT */
/*
 * kernel_record_int.h - items back to records of the kernel, as kernel_items_int.h
 * makes them of those: for who writes files of such records. What an event has
 * in structures is laid flat, in order: field i of the format is the i-th value.
 */
#ifndef WM_EXPORT_KERNEL_RECORD_INT_H
#define WM_EXPORT_KERNEL_RECORD_INT_H

#include "base/text.h"
#include "kdata/event_format.h"
#include "trace/reader.h"

#define WM_KERNEL_RECORD_MAX 65532u /* places in a record have 16 bits */

/* What all records begin with. */
struct wm_kernel_common {
	int32_t pid;
	uint8_t flags, preempt_count;
};

/* A length that CTF needs before a list ("_x_length" of "x"): a record says it in another way. */
bool wm_kernel_is_length(const struct wm_member *m, const struct wm_member *next);

/*
 * Replaces `out` by the record of the items [at, end) of one or more parts.
 * 0; -E2BIG: it is longer than a record can be; -ENOMEM. `scratch` is emptied.
 */
int wm_kernel_record(const struct wm_kmachine *k, const struct wm_kformat *f,
		     const struct wm_kernel_common *common, const struct wm_item *items,
		     const struct wm_part_range *parts, uint32_t nr_parts, struct wm_text *scratch,
		     struct wm_text *out);

/* Whether records of the format can be made of the part's members, by name and kind. */
bool wm_kernel_fits(const struct wm_kformat *f, const struct wm_type *part);

#endif
