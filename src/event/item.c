/* SPDX-License-Identifier: MIT */
/* item.c - properties of single values; see item.h. */
#include "event/item.h"

#include <stdlib.h>
#include <string.h>

bool wm_type_label_holds(const struct wm_type *t, const struct wm_type_label *l,
			 const struct wm_item *i)
{
	if (t->kind == WM_TYPE_SIGNED)
		return i->s >= l->low && i->s <= l->high;
	return i->u >= (uint64_t)l->low && i->u <= (uint64_t)l->high;
}

static int item_by_name(const void *a, const void *b)
{
	const struct wm_type_label *const *x = a, *const *y = b;
	int order = strcmp((*x)->name, (*y)->name);

	return order ? order : *x < *y ? -1 : *x > *y;
}

bool wm_type_link_labels(struct wm_type_label *labels, uint32_t nr)
{
	struct wm_type_label **sorted = calloc(nr + (size_t)1, sizeof(struct wm_type_label *));

	for (uint32_t i = 0; sorted && i < nr; i++)
		sorted[i] = &labels[i];
	if (sorted)
		qsort(sorted, nr, sizeof(struct wm_type_label *), item_by_name);
	for (uint32_t i = 1; sorted && i < nr; i++)
		if (!strcmp(sorted[i - 1]->name, sorted[i]->name)) {
			sorted[i]->follows = true;
			sorted[i - 1]->twin = (uint32_t)(sorted[i] - labels) + 1;
		}
	free(sorted);
	return sorted;
}

static int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

bool wm_type_label_clip(const struct wm_type *t, const struct wm_type_label *l, int64_t *ret_low,
			int64_t *ret_high)
{
	uint32_t bits = t->bits ? t->bits : 64;
	bool is_signed = t->kind == WM_TYPE_SIGNED || t->is_flags;
	int64_t max =
	    t->is_flags ? (int64_t)bits - 1 : (int64_t)(UINT64_MAX >> (64 - bits) >> is_signed);
	int64_t min = t->is_flags ? 0 : -max - 1;

	if (!is_signed &&
	    ((uint64_t)l->low > (uint64_t)max || (uint64_t)l->low > (uint64_t)l->high))
		return false;
	if (is_signed && (l->low > max || l->high < min || l->low > l->high))
		return false;
	*ret_low = is_signed && l->low < min ? min : l->low;
	*ret_high = is_signed                           ? lesser(l->high, max)
		    : (uint64_t)l->high < (uint64_t)max ? l->high
							: max;
	return true;
}

const char *wm_type_label(const struct wm_type *t, const struct wm_item *value)
{
	for (uint32_t k = 0; k < t->nr_labels; k++)
		if (wm_type_label_holds(t, &t->labels[k], value))
			return t->labels[k].name;
	return NULL;
}
