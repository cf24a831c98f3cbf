/* SPDX-License-Identifier: MIT */
/* item.c - properties of single values; see item.h. */
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
