/* SPDX-License-Identifier: MIT */
/*
 * pen.h - fast writing into a wm_text: keeps the write position in registers.
 * The caller reserves room first, once for several small pieces. When out of
 * memory, the text is discarded, text->failed is set, and later writes remain
 * safe.
 */
#ifndef WM_VIEW_PEN_H
#define WM_VIEW_PEN_H

#include "base/digits.h"
#include "base/text.h"

#define WM_PEN_ROOM_MAX 4096u /* maximum that one call may reserve */

struct wm_pen {
	char *at, *end;
	struct wm_text *text;
};

/*
 * Begins writing; the text then has WM_PEN_ROOM_MAX bytes of room, even when false is returned (out
 * of memory).
 */
static inline bool wm_pen_open(struct wm_pen *p, struct wm_text *t)
{
	if (t->room - t->bytes <= WM_PEN_ROOM_MAX && !wm_text_reserve(t, WM_PEN_ROOM_MAX))
		return false;
	*p = (struct wm_pen){t->data + t->bytes, t->data + t->room - 1, t};
	return true;
}

static inline void wm_pen_close(struct wm_pen *p)
{
	p->text->bytes = (size_t)(p->at - p->text->data);
	*p->at = '\0';
}

void wm_pen_grow(struct wm_pen *p, size_t bytes);

/*
 * Continues after the text has been written to by other means; call wm_pen_close() before doing
 * that.
 */
void wm_pen_resume(struct wm_pen *p);

static inline void wm_pen_need(struct wm_pen *p, size_t bytes)
{
	if (__builtin_expect((size_t)(p->end - p->at) < bytes, 0))
		wm_pen_grow(p, bytes);
}

/* Writes any number of bytes; reserves the room itself. */
void wm_pen_add(struct wm_pen *p, const void *data, size_t bytes);

/* Writes bytes for which the caller has reserved room. */
static inline void wm_pen_put(struct wm_pen *p, const char *text, size_t bytes)
{
	memcpy(p->at, text, bytes);
	p->at += bytes;
}
static inline void wm_pen_char(struct wm_pen *p, char c)
{
	*p->at++ = c;
}

#define WM_PEN_PUT(p, literal) wm_pen_put(p, literal, sizeof(literal) - 1)

#endif
