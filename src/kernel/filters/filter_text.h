/* SPDX-License-Identifier: MIT */
/*
 * filter_text.h - a filter of ours in the kernel's words, as far as both mean
 * the same: the kernel compares one field with one constant, in the field's
 * own size and sign, and joins such comparisons with &&, || and !. What it
 * would understand differently (a constant outside the field's range, -1
 * against an unsigned field, a string longer than its field) is not said.
 */
#ifndef WM_KERNEL_FILTERS_FILTER_TEXT_H
#define WM_KERNEL_FILTERS_FILTER_TEXT_H

#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"
#include "kdata/event_format.h"

#define WM_KERNEL_FILTER_NODES_MAX 1024u

/*
 * Adds to `text` those parts of the filter (bytecode of event/filter.h), joined
 * by && at its top, that the kernel evaluates as we do; nothing when there is
 * none. `ret_rest` is bytecode of the others, malloc'ed; NULL: nothing is left.
 *
 * 0; -ENOENT: the event has no field of a name (diag has which, and its
 * column); -E2BIG: the filter is too long; -EBADMSG: no valid bytecode; -ENOMEM.
 */
int wm_kernel_filter_text(const unsigned char *code, size_t bytes, const struct wm_kformat *format,
			  struct wm_text *text, unsigned char **ret_rest, size_t *ret_rest_bytes,
			  struct wm_diag *diag);

#endif
