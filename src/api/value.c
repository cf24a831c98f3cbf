/* SPDX-License-Identifier: MIT */
/* value.c - fields, event types and values: <waymark/read.h> on top of item.h. */
#include <assert.h>
#include <string.h>

#include "api/api.h"

/* The installed structures have the same layout as the reader's, with other names. */
static_assert(sizeof(struct waymark_value) == sizeof(struct wm_item), "layouts differ");
static_assert(offsetof(struct waymark_value, field) == offsetof(struct wm_item, member), "");
static_assert(offsetof(struct waymark_value, u) == offsetof(struct wm_item, u), "");
static_assert(offsetof(struct waymark_value, count) == offsetof(struct wm_item, count), "");
static_assert(offsetof(struct waymark_value, next) == offsetof(struct wm_item, next), "");
static_assert((int)WAYMARK_UNSIGNED == (int)WM_TYPE_UNSIGNED, "");
static_assert((int)WAYMARK_TEXT == (int)WM_TYPE_STRING, "");
static_assert((int)WAYMARK_OPTIONAL == (int)WM_TYPE_OPTIONAL, "");
static_assert((int)WAYMARK_NR_PARTS == (int)WM_NR_PARTS, "");

static const struct wm_member *member_of(const struct waymark_field *f)
{
	return (const struct wm_member *)f;
}

static const struct waymark_field *api_value_field_of(const struct wm_member *m)
{
	return (const struct waymark_field *)m;
}

WM_API const char *waymark_field_name(const struct waymark_field *field)
{
	return member_of(field)->name;
}

WM_API enum waymark_kind waymark_field_kind(const struct waymark_field *field)
{
	return (enum waymark_kind)member_of(field)->type->kind;
}

WM_API uint32_t waymark_field_bits(const struct waymark_field *field)
{
	return member_of(field)->type->bits;
}

WM_API uint32_t waymark_field_base(const struct waymark_field *field)
{
	static const uint8_t bases[] = {[WM_LOOK_DECIMAL] = 10,
					[WM_LOOK_HEX] = 16,
					[WM_LOOK_OCTAL] = 8,
					[WM_LOOK_BINARY] = 2,
					[WM_LOOK_POINTER] = 16};

	return bases[member_of(field)->type->look];
}

WM_API uint32_t waymark_field_nr_inside(const struct waymark_field *field)
{
	const struct wm_type *t = member_of(field)->type;

	if (t->kind == WM_TYPE_LIST || t->kind == WM_TYPE_OPTIONAL)
		return 1;
	return t->kind == WM_TYPE_STRUCT || t->kind == WM_TYPE_CHOICE ? t->nr_members : 0;
}

WM_API const struct waymark_field *waymark_field_inside(const struct waymark_field *field,
							uint32_t i)
{
	const struct wm_type *t = member_of(field)->type;

	if (i >= waymark_field_nr_inside(field))
		return NULL;
	return api_value_field_of(
	    t->kind == WM_TYPE_LIST || t->kind == WM_TYPE_OPTIONAL ? &t->element : &t->members[i]);
}

WM_API int waymark_field_is_enum(const struct waymark_field *field)
{
	return member_of(field)->type->is_enum;
}

WM_API const char *waymark_value_label(const struct waymark_value *value)
{
	const struct wm_item *i = (const struct wm_item *)value;

	return i->member->type->is_enum ? wm_type_label(i->member->type, i) : NULL;
}

/* --- types -------------------------------------------------------------------------------- */

WM_API uint32_t waymark_type_number(const struct waymark_type *type)
{
	return type->number;
}

WM_API const char *waymark_type_name(const struct waymark_type *type)
{
	return type->name;
}

WM_API int waymark_type_level(const struct waymark_type *type)
{
	return type->type->level;
}

WM_API int waymark_type_is_meta(const struct waymark_type *type)
{
	return type->type->meta;
}

static const struct wm_type *part_of(const struct waymark_type *type, enum waymark_part part)
{
	return (unsigned)part < WM_NR_PARTS ? type->type->parts[part] : NULL;
}

WM_API uint32_t waymark_type_nr_fields(const struct waymark_type *type, enum waymark_part part)
{
	const struct wm_type *t = part_of(type, part);

	return t ? t->nr_members : 0;
}

WM_API const struct waymark_field *waymark_type_field(const struct waymark_type *type,
						      enum waymark_part part, uint32_t i)
{
	const struct wm_type *t = part_of(type, part);

	return t && i < t->nr_members ? api_value_field_of(&t->members[i]) : NULL;
}

WM_API enum waymark_role waymark_type_role(const struct waymark_type *type, enum waymark_part part,
					   uint32_t i)
{
	const struct wm_type *t = part_of(type, part);

	if (!t || i >= t->nr_members)
		return WAYMARK_IS_DATA;
	if (wm_member_is_length(t, &t->members[i]))
		return WAYMARK_IS_LENGTH;
	return part == WAYMARK_FIELDS && i < type->type->nr_contexts ? WAYMARK_IS_CONTEXT
								     : WAYMARK_IS_DATA;
}

/* --- values of an event ------------------------------------------------------------------- */

static const struct waymark_value *api_value_find(const struct waymark_event *e, int part,
						  const char *name)
{
	for (uint32_t i = e->parts[part].begin; i < e->parts[part].end; i = e->values[i].next) {
		const char *its = member_of(e->values[i].field)->name;

		if (its && !strcmp(its, name))
			return &e->values[i];
	}
	return NULL;
}

WM_API const struct waymark_value *waymark_get(const struct waymark_event *event, const char *field)
{
	for (int part = WM_NR_PARTS - 1; part >= 0; part--) {
		const struct waymark_value *value = api_value_find(event, part, field);

		if (value)
			return value;
	}
	return NULL;
}
