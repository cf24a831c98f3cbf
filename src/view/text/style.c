/* SPDX-License-Identifier: MIT */
/* style.c - values that all styles write the same way; see style.h. */
#include "view/style.h"

const struct wm_item *wm_style_u64(struct wm_pen *p, const struct wm_shape *s,
				   const struct wm_item *i)
{
	p->at = wm_digits_u64(p->at, i->u);
	return i + 1;
}

static const struct wm_item *style_i64(struct wm_pen *p, const struct wm_shape *s,
				       const struct wm_item *i)
{
	p->at = wm_digits_i64(p->at, i->s);
	return i + 1;
}

const struct wm_item *wm_style_bool(struct wm_pen *p, const struct wm_shape *s,
				    const struct wm_item *i)
{
	if (i->u)
		WM_PEN_PUT(p, "true");
	else
		WM_PEN_PUT(p, "false");
	return i + 1;
}

wm_shape_write *wm_style_decimal(const struct wm_type *t)
{
	return t->kind == WM_TYPE_SIGNED ? style_i64 : wm_style_u64;
}
