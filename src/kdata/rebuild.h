/* SPDX-License-Identifier: MIT */
/*
 * rebuild.h - the inverse of transcode.h: rebuilds the kernel's record from the fields of an event
 * in a trace, so that its print form can be run on it. Bytes that transcoding drops (holes,
 * padding, bytes after a string's end) are zero. Records are those of a 64-bit little-endian
 * machine, like all of waymark's traces.
 */
#ifndef WM_KDATA_REBUILD_H
#define WM_KDATA_REBUILD_H

#include "event/item.h"
#include "kdata/event_format.h"

#define WM_REBUILD_BYTES_MAX 65536u /* limited by the offset in a dynamic array's word */

/* The common fields of every record, which the event's class lacks. */
struct wm_rebuild_common {
	uint32_t pid;
	uint8_t flags, preempt_count;
};

/* Describes the machine that these records imitate, for the parser and the print form. */
void wm_rebuild_machine(struct wm_kmachine *ret);

/*
 * Rebuilds a record. The items [at, end) are the event's own fields, in the format's order. Returns
 * the number of bytes written to `out` (of WM_REBUILD_BYTES_MAX); -EBADMSG when the items do not
 * match the format or the record becomes too large.
 */
int64_t wm_rebuild_record(const struct wm_kformat *f, const struct wm_item *items, uint32_t at,
			  uint32_t end, const struct wm_rebuild_common *common, unsigned char *out);

/* Returns the number of the format's fields that the event's class has. */
uint32_t wm_rebuild_nr_fields(const struct wm_kformat *f);

#endif
