/* SPDX-License-Identifier: MIT */
/*
 * context.h - the contexts that an event can carry on request. They are recorded between the
 * event's header and its own fields, in the order of their bits.
 */
#ifndef WM_EVENT_CONTEXT_H
#define WM_EVENT_CONTEXT_H

enum wm_context {
	WM_CONTEXT_CPU = 1u << 0, /* "cpu": u4 */
	/* "ustack": a sequence of 8-byte return addresses, innermost first. */
	WM_CONTEXT_USTACK = 1u << 1,
};

#define WM_CONTEXT_ALL 3u
#define WM_USTACK_MAX  64u /* frames */

#endif
