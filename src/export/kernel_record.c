/* SPDX-License-Identifier: MIT */
/* kernel_record.c - writes items as kernel records; see kernel_record_int.h. */
#include "export/kernel_record_int.h"

#include <errno.h>
#include <string.h>

struct making {
	const struct wm_kmachine *machine;
	const struct wm_kfield *field, *end; /* next field; end of the array */
	const struct wm_item *items;
	struct wm_text *scratch, *out;
	bool too_long;
};

static void kernel_record_put_number(unsigned char *p, uint64_t value, uint32_t bytes,
				     bool big_endian)
{
	for (uint32_t i = 0; i < bytes; i++)
		p[big_endian ? bytes - 1 - i : i] = (unsigned char)(i < 8 ? value >> 8 * i : 0);
}

static void kernel_record_number(const struct making *x, uint32_t at, uint64_t value,
				 uint32_t bytes)
{
	kernel_record_put_number((unsigned char *)x->out->data + at, value, bytes,
				 x->machine->big_endian);
}

/* --- values as text, for fields that hold only text -------------------------------------- */

static void kernel_record_text_of(struct wm_text *t, const struct wm_item *items,
				  const struct wm_item *i);

static void text_of_parts(struct wm_text *t, const struct wm_item *items, const struct wm_item *i)
{
	const struct wm_item *part = i + 1, *end = items + i->next;
	bool is_list = i->member->type->kind == WM_TYPE_LIST;

	wm_text_char(t, is_list ? '[' : '{');
	for (; part < end; part = items + part->next) {
		wm_text_str(t, part == i + 1 ? " " : ", ");
		if (part->member->name)
			wm_text_f(t, "%s = ", part->member->name);
		kernel_record_text_of(t, items, part);
	}
	wm_text_str(t, is_list ? " ]" : " }");
}

static void kernel_record_text_of(struct wm_text *t, const struct wm_item *items,
				  const struct wm_item *i)
{
	switch (i->member->type->kind) {
	case WM_TYPE_FLOAT:
		wm_text_f(t, "%.17g", i->f);
		break;
	case WM_TYPE_SIGNED:
		wm_text_i64(t, i->s);
		break;
	case WM_TYPE_STRING:
		wm_text_add(t, i->text, i->count);
		break;
	case WM_TYPE_BYTES:
		for (uint32_t k = 0; k < i->count; k++)
			wm_text_f(t, "%02x", i->bytes[k]);
		break;
	case WM_TYPE_UNSIGNED:
	case WM_TYPE_BOOL:
		wm_text_u64(t, i->u);
		break;
	default:
		text_of_parts(t, items, i);
	}
}

/* --- fields ---------------------------------------------------------------------------------- */

/* Appends aligned space for elements of that width to the record. Returns its offset. */
static uint32_t kernel_record_grow(struct making *x, uint32_t bytes, uint32_t width)
{
	uint32_t at = (uint32_t)x->out->bytes, pad = width ? -at & (width - 1) : 0;

	if (at + pad > WM_KERNEL_RECORD_MAX || bytes > WM_KERNEL_RECORD_MAX - at - pad) {
		x->too_long = true;
		return 0;
	}
	if (!wm_text_reserve(x->out, pad + bytes))
		return 0;
	memset(x->out->data + at, 0, pad + bytes);
	x->out->bytes += pad + bytes;
	return at + pad;
}

/*
 * Returns the offset of a field's elements, in the record's fixed part or appended to it. Reduces
 * `bytes` to the size of a fixed field.
 */
static uint32_t kernel_record_place(struct making *x, const struct wm_kfield *f, uint32_t *bytes)
{
	uint32_t at, width = f->element_bytes ? f->element_bytes : 1, word;

	if (f->flags & WM_KFIELD_BITMASK)
		width = x->machine->long_bytes;
	if (!(f->flags & (WM_KFIELD_DYNAMIC | WM_KFIELD_TAIL))) {
		*bytes = *bytes < f->bytes ? *bytes : f->bytes;
		return f->offset;
	}
	if (f->flags & WM_KFIELD_TAIL) {
		at = kernel_record_grow(x, *bytes, 1);
		return at;
	}
	at = kernel_record_grow(x, *bytes, width);
	word = at - (f->flags & WM_KFIELD_REL_LOC ? f->offset + f->bytes : 0);
	kernel_record_number(x, f->offset, *bytes << 16 | word, f->bytes);
	return at;
}

/*
 * Writes a string or bytes. A string in a dynamic or tail field ends with a NUL; one that fills its
 * array does not.
 */
static void kernel_record_put_bytes(struct making *x, const struct wm_kfield *f, const void *data,
				    uint32_t count, bool is_text)
{
	bool is_fixed = !(f->flags & (WM_KFIELD_DYNAMIC | WM_KFIELD_TAIL));
	uint32_t bytes = count + (is_text && !is_fixed), at = kernel_record_place(x, f, &bytes);

	if (!x->too_long && !x->out->failed && count)
		memcpy(x->out->data + at, data, count < bytes ? count : bytes);
}

static void kernel_record_put_list(struct making *x, const struct wm_kfield *f,
				   const struct wm_item *list)
{
	bool is_mask = f->flags & WM_KFIELD_BITMASK;
	uint32_t width = is_mask ? 8 : f->element_bytes, bytes, at;
	const struct wm_item *i = list + 1;

	if (!width || (uint64_t)list->count * width > WM_KERNEL_RECORD_MAX) {
		x->too_long |= width != 0;
		return;
	}
	bytes = list->count * width;
	at = kernel_record_place(x, f, &bytes);
	for (uint32_t k = 0; !x->too_long && !x->out->failed && k < bytes / width; k++) {
		uint64_t value = i[k].u;

		/* A mask is written as kernel longs, the lowest first. */
		if (is_mask && x->machine->long_bytes == 4) {
			kernel_record_number(x, at + 8 * k, value & UINT32_MAX, 4);
			kernel_record_number(x, at + 8 * k + 4, value >> 32, 4);
		} else {
			kernel_record_number(x, at + width * k, value, width);
		}
	}
}

static bool kernel_record_is_number(const struct wm_type *t)
{
	return t->kind == WM_TYPE_UNSIGNED || t->kind == WM_TYPE_SIGNED || t->kind == WM_TYPE_BOOL;
}

static bool is_number_list(const struct wm_type *t)
{
	return t->kind == WM_TYPE_LIST && kernel_record_is_number(t->element.type);
}

static void kernel_record_put_field(struct making *x, const struct wm_kfield *f,
				    const struct wm_item *i)
{
	const struct wm_type *t = i->member->type;
	bool is_array =
	    f->flags & WM_KFIELD_ARRAY || f->flags & (WM_KFIELD_DYNAMIC | WM_KFIELD_TAIL);

	if (f->flags & WM_KFIELD_CHARS && t->kind != WM_TYPE_STRING) {
		wm_text_cut(x->scratch, 0);
		kernel_record_text_of(x->scratch, x->items, i);
		kernel_record_put_bytes(x, f, x->scratch->data, (uint32_t)x->scratch->bytes, true);
		x->out->failed |= x->scratch->failed;
	} else if (t->kind == WM_TYPE_STRING || t->kind == WM_TYPE_BYTES) {
		kernel_record_put_bytes(x, f, i->bytes, i->count, t->kind == WM_TYPE_STRING);
	} else if (is_array && is_number_list(t)) {
		kernel_record_put_list(x, f, i);
	} else if (!is_array && kernel_record_is_number(t)) {
		kernel_record_number(x, f->offset, i->u, f->bytes);
	}
}

bool wm_export_kernel_is_length(const struct wm_member *m, const struct wm_member *next)
{
	size_t bytes = next && next->name ? strlen(next->name) : 0;

	if (!bytes || !m->name || m->type->kind != WM_TYPE_UNSIGNED || m->name[0] != '_' ||
	    strncmp(m->name + 1, next->name, bytes) || strcmp(m->name + 1 + bytes, "_length"))
		return false;
	return next->type->kind == WM_TYPE_LIST || next->type->kind == WM_TYPE_BYTES ||
	       next->type->kind == WM_TYPE_STRING;
}

static void kernel_record_put_all(struct making *x, uint32_t at, uint32_t end)
{
	while (at < end && x->field < x->end) {
		const struct wm_item *i = &x->items[at];
		const struct wm_item *next = i->next < end ? &x->items[i->next] : NULL;

		if (next && wm_export_kernel_is_length(i->member, next->member)) {
			at = i->next;
			continue;
		}
		if (i->member->type->kind == WM_TYPE_STRUCT)
			kernel_record_put_all(x, at + 1, i->next);
		else
			kernel_record_put_field(x, x->field++, i);
		at = i->next;
	}
}

static void kernel_record_put_common(struct making *x, const struct wm_kformat *f,
				     const struct wm_kernel_common *common)
{
	const struct {
		const char *name;
		uint64_t value;
	} values[] = {
	    {"common_type", f->id},
	    {"common_pid", (uint32_t)common->pid},
	    {"common_flags", common->flags},
	    {"common_preempt_count", common->preempt_count},
	};

	for (uint32_t i = 0; i < f->nr_common; i++)
		for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++)
			if (!strcmp(f->fields[i].name, values[k].name))
				kernel_record_number(x, f->fields[i].offset, values[k].value,
						     f->fields[i].bytes);
}

int wm_export_kernel_record(const struct wm_kmachine *k, const struct wm_kformat *f,
			    const struct wm_kernel_common *common, const struct wm_item *items,
			    const struct wm_part_range *parts, uint32_t nr_parts,
			    struct wm_text *scratch, struct wm_text *out)
{
	struct making x = {.machine = k,
			   .field = f->fields + f->nr_common,
			   .end = f->fields + f->nr_fields,
			   .items = items,
			   .scratch = scratch,
			   .out = out};

	wm_text_cut(out, 0);
	(void)kernel_record_grow(&x, f->fixed_bytes, 1);
	if (x.too_long || out->failed)
		return out->failed ? -ENOMEM : -E2BIG;
	kernel_record_put_common(&x, f, common);
	for (uint32_t p = 0; p < nr_parts; p++)
		kernel_record_put_all(&x, parts[p].at, parts[p].end);
	return out->failed ? -ENOMEM : x.too_long ? -E2BIG : 0;
}

/* --- matching formats ----------------------------------------------------------------- */

static bool field_fits(const struct wm_kfield *f, const struct wm_type *t)
{
	bool is_array = f->flags & (WM_KFIELD_ARRAY | WM_KFIELD_DYNAMIC | WM_KFIELD_TAIL);

	if (f->flags & WM_KFIELD_CHARS)
		return t->kind == WM_TYPE_STRING;
	if (!f->element_bytes)
		return t->kind == WM_TYPE_BYTES ||
		       (is_number_list(t) && t->element.type->bits == 8);
	if (is_array)
		return is_number_list(t) || t->kind == WM_TYPE_BYTES;
	return kernel_record_is_number(t);
}

bool wm_export_kernel_fits(const struct wm_kformat *f, const struct wm_type *part)
{
	uint32_t nr = f->nr_fields - f->nr_common, m = 0;

	for (uint32_t i = 0; i < nr; i++, m++) {
		const struct wm_kfield *field = &f->fields[f->nr_common + i];

		if (part && m + 1 < part->nr_members &&
		    wm_export_kernel_is_length(&part->members[m], &part->members[m + 1]))
			m++;
		if (!part || m >= part->nr_members ||
		    strcmp(field->name, part->members[m].name) != 0 ||
		    !field_fits(field, part->members[m].type))
			return false;
	}
	return !part || m == part->nr_members;
}
