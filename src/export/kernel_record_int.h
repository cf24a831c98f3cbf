/* SPDX-License-Identifier: MIT */
/*
 * kernel_record_int.h - converts items back to kernel records, the inverse of kernel_items_int.h,
 * for exporters whose files contain such records. Structures in an event are flattened in order:
 * field i of the format is the i-th value.
 */
#ifndef WM_EXPORT_KERNEL_RECORD_INT_H
#define WM_EXPORT_KERNEL_RECORD_INT_H

#include "base/text.h"
#include "kdata/event_format.h"
#include "trace/reader.h"

#define WM_KERNEL_RECORD_MAX 65532u /* offsets in a record have 16 bits */

/* The fields that begin every record. */
struct wm_kernel_common {
	int32_t pid;
	uint8_t flags, preempt_count;
};

/*
 * Returns whether a member is the length that CTF needs before a list
 * ("_x_length" of "x"). A record stores this length differently.
 */
bool wm_export_kernel_is_length(const struct wm_member *m, const struct wm_member *next);

/*
 * Replaces `out` with the record of the items [at, end) of one or more parts. Returns 0, -ENOMEM,
 * or -E2BIG when it is longer than a record can be. `scratch` is overwritten.
 */
int wm_export_kernel_record(const struct wm_kmachine *k, const struct wm_kformat *f,
			    const struct wm_kernel_common *common, const struct wm_item *items,
			    const struct wm_part_range *parts, uint32_t nr_parts,
			    struct wm_text *scratch, struct wm_text *out);

/* Returns whether the part's members match records of the format, by name and kind. */
bool wm_export_kernel_fits(const struct wm_kformat *f, const struct wm_type *part);

#endif
