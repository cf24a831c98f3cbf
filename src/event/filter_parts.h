/* SPDX-License-Identifier: MIT */
/*
 * filter_parts.h - splits a filter's bytecode at its top-level && and joins selected parts again,
 * for evaluators that support only some parts and leave the others to another evaluator. Tool side.
 */
#ifndef WM_EVENT_FILTER_PARTS_H
#define WM_EVENT_FILTER_PARTS_H

#include <stddef.h>
#include <stdint.h>

/*
 * A part: a complete expression. Offsets are relative to the code after the head (filter_code.h).
 */
struct wm_filter_part {
	uint32_t from, to;
};

#define WM_FILTER_PARTS_MAX 64u /* if there are more, the first parts are not separated */

/*
 * Finds the parts, in the order in which they were written. Returns their number, at least 1, or
 * -EBADMSG for invalid bytecode.
 */
int wm_filter_parts(const unsigned char *code, size_t bytes,
		    struct wm_filter_part ret[WM_FILTER_PARTS_MAX]);

/*
 * Joins the given parts with && into bytecode that the caller frees. Returns 0, -ENOMEM or
 * -EBADMSG.
 */
int wm_filter_of_parts(const unsigned char *code, size_t bytes, const struct wm_filter_part *parts,
		       uint32_t nr, unsigned char **ret_code, size_t *ret_bytes);

#endif
