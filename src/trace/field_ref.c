/* SPDX-License-Identifier: MIT */
/* field_ref.c - see field_ref.h. */
#include "trace/field_ref.h"

#include <string.h>

static bool field_ref_is_plain(const struct wm_type *t)
{
	return t->kind <= WM_TYPE_BYTES;
}

static bool same_name(const char *member, const char *name)
{
	return member && (!strcmp(member, name) || (member[0] == '_' && !strcmp(member + 1, name)));
}

bool wm_field_ref_find_in(const struct wm_event_type *t, enum wm_part part, const char *name,
			  struct wm_field_ref *ret)
{
	const struct wm_type *s = t->parts[part];
	bool fixed = true;

	*ret = (struct wm_field_ref){0};
	for (uint32_t i = 0; s && i < s->nr_members; i++) {
		if (same_name(s->members[i].name, name)) {
			*ret = (struct wm_field_ref){s->members[i].type, (uint8_t)part, fixed, i};
			return true;
		}
		fixed &= field_ref_is_plain(s->members[i].type);
	}
	return false;
}

bool wm_field_ref_find(const struct wm_event_type *t, const char *name, struct wm_field_ref *ret)
{
	for (int part = WM_NR_PARTS - 1; part >= 0; part--)
		if (wm_field_ref_find_in(t, (enum wm_part)part, name, ret))
			return true;
	return false;
}

const char *wm_field_ref_string(const struct wm_field_ref *f, const struct wm_event *e,
				size_t *ret_bytes)
{
	const struct wm_item *i = f->type ? wm_field_ref_item(f, e) : NULL;

	*ret_bytes = 0;
	if (!i || f->type->kind != WM_TYPE_STRING)
		return "";
	*ret_bytes = i->count;
	return i->text;
}
