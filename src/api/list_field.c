/* SPDX-License-Identifier: MIT */
/*
 * list_field.c - an event's fields, print form and places, for
 * <waymark/list.h>. The kernel's fields come from tracefs, with one file per
 * event: the formats of the last event are cached.
 */
#include <errno.h>
#include <string.h>

#include "api/list.h"
#include "elf/usdt.h"

/* --- the kernel's fields --------------------------------------------------------------------- */

static void list_field_forget(struct wm_api_list_format *f)
{
	if (f->is_read)
		wm_event_fields_done(&f->fields);
	f->is_read = false;
}

void wm_api_list_forget_fields(struct waymark_list *l)
{
	list_field_forget(&l->begin);
	list_field_forget(&l->end);
	l->asked = WAYMARK_NO_NUMBER;
}

/* Returns the exit of a system call that was named without entry or exit; NULL: none. */
static const struct wm_event_def *list_field_end_of(const struct waymark_list *l,
						    const struct wm_event_def *d)
{
	return d + 1 < l->kernel.defs.defs + l->kernel.defs.nr && d[1].implied ? d + 1 : NULL;
}

static void read_fields(struct waymark_list *l, uint32_t i)
{
	const struct wm_event_def *d = l->entries[i].def, *end = list_field_end_of(l, d);

	if (l->asked == i)
		return;
	wm_api_list_forget_fields(l);
	l->begin.is_read = wm_event_fields_read(&l->kernel.space, d, &l->begin.fields);
	l->end.is_read = end && wm_event_fields_read(&l->kernel.space, end, &l->end.fields);
	l->asked = i;
}

static uint32_t nr_own(const struct wm_api_list_format *f)
{
	return f->is_read ? f->fields.format->nr_fields - f->fields.format->nr_common : 0;
}

static enum waymark_kind kernel_kind(const struct wm_kfield *f)
{
	if (f->flags & WM_KFIELD_CHARS)
		return WAYMARK_TEXT;
	if (!f->element_bytes)
		return WAYMARK_BYTES;
	if (f->flags & (WM_KFIELD_ARRAY | WM_KFIELD_DYNAMIC | WM_KFIELD_TAIL))
		return WAYMARK_LIST;
	if (f->flags & WM_KFIELD_BOOL)
		return WAYMARK_BOOL;
	return f->flags & WM_KFIELD_SIGNED ? WAYMARK_SIGNED : WAYMARK_UNSIGNED;
}

static int tell_kernel_field(struct waymark_list *l, uint32_t i, uint32_t k,
			     struct waymark_listed_field *ret)
{
	const struct wm_api_list_format *format = &l->begin;
	const struct wm_kfield *f;
	bool is_exit;

	read_fields(l, i);
	is_exit = k >= nr_own(&l->begin);
	if (is_exit) {
		k -= nr_own(&l->begin);
		format = &l->end;
	}
	if (k >= nr_own(format))
		return -ERANGE;
	f = &format->fields.format->fields[format->fields.format->nr_common + k];
	*ret = (struct waymark_listed_field){
	    .name = f->name,
	    .type = wm_event_fields_type(f, l->type, sizeof(l->type)),
	    .kind = kernel_kind(f),
	    .bytes = f->element_bytes,
	    .length = f->flags & (WM_KFIELD_DYNAMIC | WM_KFIELD_TAIL) ? 0 : f->length,
	    .is_exit = is_exit,
	};
	return 0;
}

/* --- programs' fields --------------------------------------------------------------------- */

static enum waymark_kind program_kind(const struct wm_field *f)
{
	static const uint8_t scalars[] = {
	    [WM_SCALAR_SIGNED] = WAYMARK_SIGNED, [WM_SCALAR_UNSIGNED] = WAYMARK_UNSIGNED,
	    [WM_SCALAR_HEX] = WAYMARK_UNSIGNED,  [WM_SCALAR_BOOL] = WAYMARK_BOOL,
	    [WM_SCALAR_FLOAT] = WAYMARK_FLOAT,   [WM_SCALAR_POINTER] = WAYMARK_UNSIGNED,
	};
	static const uint8_t shapes[] = {
	    [WM_SHAPE_STRING] = WAYMARK_TEXT,   [WM_SHAPE_CHARS] = WAYMARK_TEXT,
	    [WM_SHAPE_ARRAY] = WAYMARK_LIST,    [WM_SHAPE_BLOB] = WAYMARK_BYTES,
	    [WM_SHAPE_SEQUENCE] = WAYMARK_LIST,
	};

	return (enum waymark_kind)(f->shape == WM_SHAPE_SCALAR ? scalars[f->scalar]
							       : shapes[f->shape]);
}

static const struct wm_field *program_field(const struct waymark_list *l, uint32_t i, uint32_t k)
{
	const struct wm_inventory_event *event = i < l->nr ? l->entries[i].event : NULL;

	return event && k < event->class->nr_fields ? &event->class->fields[k] : NULL;
}

static int tell_program_field(struct waymark_list *l, uint32_t i, uint32_t k,
			      struct waymark_listed_field *ret)
{
	const struct wm_field *f = program_field(l, i, k);

	if (!f)
		return -ERANGE;
	*ret = (struct waymark_listed_field){
	    .name = f->name,
	    .type = wm_inventory_type(f, l->type, sizeof(l->type)),
	    .kind = program_kind(f),
	    .bytes = f->bytes,
	    .length = f->length,
	    .nr_labels = f->nr_labels,
	};
	return 0;
}

/* --- interface ---------------------------------------------------------------------------- */

WM_API int waymark_listed_field(struct waymark_list *l, uint32_t i, uint32_t k,
				struct waymark_listed_field *ret)
{
	struct waymark_listed_field field;
	int err;

	if (i >= l->nr)
		return -ERANGE;
	err = l->entries[i].event ? tell_program_field(l, i, k, &field)
				  : tell_kernel_field(l, i, k, &field);
	return err ? err : WM_API_COPY_OUT(ret, &field, reserved);
}

WM_API const char *waymark_listed_label(struct waymark_list *l, uint32_t i, uint32_t k,
					uint32_t label, int64_t *ret_value)
{
	const struct wm_field *f = program_field(l, i, k);

	if (!f || label >= f->nr_labels)
		return NULL;
	*ret_value = f->labels[label].value;
	return f->labels[label].name;
}

WM_API const char *waymark_listed_print(struct waymark_list *l, uint32_t i)
{
	const char *print;

	if (i >= l->nr)
		return NULL;
	if (l->entries[i].event)
		return l->entries[i].event->class->print;
	read_fields(l, i);
	print = l->begin.is_read ? l->begin.fields.format->print : "";
	return *print ? print : NULL;
}

static void tell_program_place(const struct wm_inventory_place *p, struct waymark_listed_place *ret)
{
	*ret = (struct waymark_listed_place){
	    .address = p->address,
	    .function = p->function ? p->function->name : NULL,
	    .source = p->source,
	    .line = p->line,
	};
}

static void tell_kernel_place(const struct wm_event_def *d, struct waymark_listed_place *ret)
{
	*ret = (struct waymark_listed_place){
	    .offset = d->offset,
	    .function = d->symbol,
	    .operands = d->operands && *d->operands ? d->operands : NULL,
	    .semaphore = d->semaphore_offset,
	};
}

WM_API int waymark_listed_place(struct waymark_list *l, uint32_t i, uint32_t k,
				struct waymark_listed_place *ret)
{
	const struct wm_api_listed *e = i < l->nr ? &l->entries[i] : NULL;
	struct waymark_listed event = WAYMARK_INIT(event);
	struct waymark_listed_place place;

	if (!e || waymark_listed(l, i, &event) || k >= event.nr_places)
		return -ERANGE;
	if (e->event && !e->event->places)
		return -ERANGE;
	if (e->event)
		tell_program_place(&e->event->places[k], &place);
	else
		tell_kernel_place(&e->def[k], &place);
	return WM_API_COPY_OUT(ret, &place, semaphore);
}
