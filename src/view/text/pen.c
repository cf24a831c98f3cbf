/* SPDX-License-Identifier: MIT */
/* pen.c - a pen's slow path, when the room is exhausted; see pen.h. */
#include "view/pen.h"

static void reopen(struct wm_pen *p, size_t bytes)
{
	struct wm_text *t = p->text;

	if (t->failed || !wm_text_reserve(t, bytes)) {
		wm_text_cut(t, 0);
		t->failed = true;
	}
	p->at = t->data + t->bytes;
	p->end = t->data + t->room - 1;
}

void wm_pen_grow(struct wm_pen *p, size_t bytes)
{
	wm_pen_close(p);
	reopen(p, bytes);
}

void wm_pen_resume(struct wm_pen *p)
{
	reopen(p, WM_PEN_ROOM_MAX);
}

void wm_pen_add(struct wm_pen *p, const void *data, size_t bytes)
{
	const char *from = data;

	while (bytes) {
		size_t n = bytes < WM_PEN_ROOM_MAX ? bytes : WM_PEN_ROOM_MAX;

		wm_pen_need(p, n);
		wm_pen_put(p, from, n);
		from += n;
		bytes -= n;
	}
}
