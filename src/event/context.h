/* SPDX-License-Identifier: MIT */
/*
 * context.h - contexts that an event can carry on request, recorded between its header and its own
 * fields, in bit order.
 */
#ifndef WM_EVENT_CONTEXT_H
#define WM_EVENT_CONTEXT_H

enum wm_context {
	WM_CONTEXT_CPU = 1u << 0,    /* "cpu": u4 */
	WM_CONTEXT_USTACK = 1u << 1, /* "ustack": q x8, return addresses, innermost first */
};

#define WM_CONTEXT_ALL 3u
#define WM_USTACK_MAX  64u /* frames */

#endif
