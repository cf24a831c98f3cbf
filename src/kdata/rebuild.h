/* SPDX-License-Identifier: MIT */
/*
 * rebuild.h - the other way round of transcode.h: from the fields of an event
 * of a trace to the record of the kernel they were taken from, so that its
 * print form can run over it. What transcoding leaves out (holes, padding, what
 * follows a string's end) is zero. Records are those of a 64-bit little-endian
 * machine: our own traces have no others.
 */
#ifndef WM_KDATA_REBUILD_H
#define WM_KDATA_REBUILD_H

#include "event/item.h"
#include "kdata/event_format.h"

#define WM_REBUILD_BYTES_MAX 65536u /* what a word of a dynamic array can point to */

/* What every record begins with, and its class does not have. */
struct wm_rebuild_common {
	uint32_t pid;
	uint8_t flags, preempt_count;
};

/* The machine whose records these are; for the parser and the print form. */
void wm_rebuild_machine(struct wm_kmachine *ret);

/*
 * Items [at, end) of `items` are the event's own fields, in the format's order.
 * Bytes written to `out` (of WM_REBUILD_BYTES_MAX); -EBADMSG when the items are
 * not those of the format, or do not fit.
 */
int64_t wm_rebuild_record(const struct wm_kformat *f, const struct wm_item *items, uint32_t at,
			  uint32_t end, const struct wm_rebuild_common *common, unsigned char *out);

/* How many fields of the format are in its class. */
uint32_t wm_rebuild_nr_fields(const struct wm_kformat *f);

#endif
