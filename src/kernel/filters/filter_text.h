/* SPDX-License-Identifier: MIT */
/*
 * filter_text.h - translates a waymark filter to the kernel's filter language, where the two have
 * the same meaning. The kernel compares one field with one constant, in the field's own size and
 * sign, and joins such comparisons with &&, || and !. A comparison that the kernel would evaluate
 * differently (a constant outside the field's range, -1 against an unsigned field, a string longer
 * than its field) is not translated.
 */
#ifndef WM_KERNEL_FILTERS_FILTER_TEXT_H
#define WM_KERNEL_FILTERS_FILTER_TEXT_H

#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"
#include "kdata/event_format.h"

#define WM_KERNEL_FILTER_NODES_MAX 1024u

/*
 * Splits the filter (event/filter.h bytecode) at its top-level && and appends to `text` the parts,
 * if any, that the kernel evaluates as waymark does. `ret_rest` is the bytecode of the other parts,
 * malloc'ed; NULL: nothing is left. Returns 0; -ENOENT if the event lacks a field (diag has its
 * name and column); -E2BIG if the filter is too long; -EBADMSG for invalid bytecode; -ENOMEM.
 */
int wm_kernel_filter_text(const unsigned char *code, size_t bytes, const struct wm_kformat *format,
			  struct wm_text *text, unsigned char **ret_rest, size_t *ret_rest_bytes,
			  struct wm_diag *diag);

#endif
