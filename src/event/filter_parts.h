/* SPDX-License-Identifier: MIT */
/*
 * filter_parts.h - splits a filter's bytecode at its top-level && and joins a selection of the
 * parts again: an evaluator that supports only some parts leaves the others to another one. Tool
 * side.
 */
#ifndef WM_EVENT_FILTER_PARTS_H
#define WM_EVENT_FILTER_PARTS_H

#include <stddef.h>
#include <stdint.h>

/* A complete expression; offsets in the code after the head (filter_code.h). */
struct wm_filter_part {
	uint32_t from, to;
};

#define WM_FILTER_PARTS_MAX 64u /* if there are more, the first ones stay together */

/* The parts in the order they were written. Returns their number, at least 1; -EBADMSG: invalid
 * bytecode. */
int wm_filter_parts(const unsigned char *code, size_t bytes,
		    struct wm_filter_part ret[WM_FILTER_PARTS_MAX]);

/* The given parts, joined by &&, as bytecode that the caller frees. -ENOMEM, -EBADMSG. */
int wm_filter_of_parts(const unsigned char *code, size_t bytes, const struct wm_filter_part *parts,
		       uint32_t nr, unsigned char **ret_code, size_t *ret_bytes);

#endif
