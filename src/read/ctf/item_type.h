/* SPDX-License-Identifier: MIT */
/*
 * item_type.h - converts types of CTF metadata to the types of event/item.h, which all readers use.
 * Each is made once and kept in the metadata's arena; its `own` is the wm_ctf_type.
 */
#ifndef WM_READ_CTF_ITEM_TYPE_H
#define WM_READ_CTF_ITEM_TYPE_H

#include "event/item.h"
#include "read/ctf/meta/type.h"

/* NULL: out of memory. */
const struct wm_type *wm_ctf_shape(struct wm_ctf_metadata *m, struct wm_ctf_type *t);

/*
 * The structure of a scope. Members with a role that describe the packet (sizes, times, counters)
 * are left out of the packet context: struct wm_packet has them. NULL: out of memory.
 */
const struct wm_type *wm_ctf_shape_scope(struct wm_ctf_metadata *m, enum wm_ctf_scope scope,
					 struct wm_ctf_type *t);

/* Returns whether that member of a scope's structure is shown. */
bool wm_ctf_is_shown(const struct wm_ctf_metadata *m, enum wm_ctf_scope scope,
		     const struct wm_ctf_member *member);

#endif
