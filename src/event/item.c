/* SPDX-License-Identifier: MIT */
/* item.c - questions about single values; see item.h. */
#include "event/item.h"

#include <math.h>

bool wm_type_label_holds(const struct wm_type *t, const struct wm_type_label *l,
			 const struct wm_item *i)
{
	if (t->kind == WM_TYPE_SIGNED)
		return i->s >= l->low && i->s <= l->high;
	return i->u >= (uint64_t)l->low && i->u <= (uint64_t)l->high;
}

const char *wm_type_label(const struct wm_type *t, const struct wm_item *value)
{
	for (uint32_t k = 0; k < t->nr_labels; k++)
		if (wm_type_label_holds(t, &t->labels[k], value))
			return t->labels[k].name;
	return NULL;
}

double wm_item_number(const struct wm_item *i)
{
	switch (i->member->type->kind) {
	case WM_TYPE_UNSIGNED:
	case WM_TYPE_BOOL:
		return (double)i->u;
	case WM_TYPE_SIGNED:
		return (double)i->s;
	case WM_TYPE_FLOAT:
		return i->f;
	default:
		return NAN;
	}
}

bool wm_item_integer(const struct wm_item *i, int64_t *ret)
{
	switch (i->member->type->kind) {
	case WM_TYPE_UNSIGNED:
	case WM_TYPE_BOOL:
		if (i->u > INT64_MAX)
			return false;
		*ret = (int64_t)i->u;
		return true;
	case WM_TYPE_SIGNED:
		*ret = i->s;
		return true;
	default:
		return false;
	}
}
