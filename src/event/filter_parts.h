/* SPDX-License-Identifier: MIT */
/*
 * filter_parts.h - a filter's bytecode taken apart where && joins it at its
 * top, and put together again of some of the parts: who can evaluate only a
 * part of a filter leaves the others to somebody else. Tool side.
 */
#ifndef WM_EVENT_FILTER_PARTS_H
#define WM_EVENT_FILTER_PARTS_H

#include <stddef.h>
#include <stdint.h>

/* Of the code behind the head (filter_code.h): a whole expression. */
struct wm_filter_part {
	uint32_t from, to;
};

#define WM_FILTER_PARTS_MAX 64u /* of more, the first ones stay together */

/* In the order they were written. How many, at least one; -EBADMSG: no valid bytecode. */
int wm_filter_parts(const unsigned char *code, size_t bytes,
		    struct wm_filter_part ret[WM_FILTER_PARTS_MAX]);

/* Those parts, joined by &&, as bytecode that the caller frees. -ENOMEM, -EBADMSG. */
int wm_filter_of_parts(const unsigned char *code, size_t bytes, const struct wm_filter_part *parts,
		       uint32_t nr, unsigned char **ret_code, size_t *ret_bytes);

#endif
