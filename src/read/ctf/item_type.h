/* SPDX-License-Identifier: MIT */
/*
 * item_type.h - converts the types of CTF metadata to the types of event/item.h, which all readers
 * use. A type is converted once; the result is in the metadata's arena, and its `own` is the
 * wm_ctf_type.
 */
#ifndef WM_READ_CTF_ITEM_TYPE_H
#define WM_READ_CTF_ITEM_TYPE_H

#include "event/item.h"
#include "read/ctf/meta/type.h"

/*
 * Returns the converted structure of a scope; NULL: out of memory. A packet context lacks the
 * members that describe the packet (sizes, times, counters), because struct wm_packet has their
 * values.
 */
const struct wm_type *wm_ctf_shape_scope(struct wm_ctf_metadata *m, enum wm_ctf_scope scope,
					 struct wm_ctf_type *t);

#endif
