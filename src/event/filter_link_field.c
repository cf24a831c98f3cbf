/* SPDX-License-Identifier: MIT */
/*
 * filter_link_field.c - how the linker translates the leaves of a filter: fields, their elements,
 * and contexts become instructions that load them. See filter_link.c.
 */
#include "event/filter_linker_int.h"

#include "base/glob.h"
#include "event/filter_program_int.h"
#include "event/schema_int.h"

/*
 * If name[0, bytes) ends in "_<count>" with count > 1, returns the length without that suffix, else
 * 0.
 */
static uint32_t split_count(const char *name, uint32_t bytes, uint32_t *ret_count)
{
	uint32_t i = bytes, scale = 1, count = 0;

	while (i && name[i - 1] >= '0' && name[i - 1] <= '9' && bytes - i < 4) {
		count += (uint32_t)(name[--i] - '0') * scale;
		scale *= 10;
	}
	if (i < 2 || name[i - 1] != '_' || name[i] == '0' || count < 2)
		return 0;
	*ret_count = count;
	return i - 1;
}

/*
 * Finds a field by name, using the naming rules of class.c. Uses unwritten instructions as scratch
 * memory.
 */
static int link_field_find(struct linker *l, const char *name, uint32_t bytes, struct place *ret)
{
	char *base = (char *)&l->insns[l->nr];
	uint32_t count = 0, stem = split_count(name, bytes, &count), n;
	struct wm_schema s;

	ret->anchor = ret->offset = 0;
	if ((l->max - l->nr) * sizeof(*l->insns) <= WM_SCHEMA_NAME_MAX)
		return -ENOSPC;
	if (wm_schema_open(&s, l->desc, l->desc_bytes))
		return -ENOENT; /* cannot happen, because the description was walked before */
	for (; wm_schema_next(&s, &ret->field) > 0; step_over(ret)) {
		n = wm_schema_base_name(&ret->field, base);
		if (linker_same(base, n, name, bytes))
			return 0;
		if (stem && linker_same(base, n, name, stem) && --count == 0)
			return 0;
	}
	return -ENOENT;
}

/*
 * Finds the field that a step names. Returns false and records a fault when the event has no such
 * field.
 */
static bool link_field_find_place(struct linker *l, const struct wm_filter_step *step,
				  struct place *ret)
{
	int err = link_field_find(l, step->text, step->text_bytes, ret);

	if (err)
		fail_name(l, err, err == -ENOENT ? WM_FAULT_NO_FIELD : WM_FAULT_SPACE, step);
	return !err;
}

/* The WM_INSN_LOAD_* that loads an element; F4 loads the bits of a float. */
static uint8_t load_kind(const struct wm_schema_field *f)
{
	uint8_t width = f->bytes == 1 ? 0 : f->bytes == 2 ? 2 : 4;

	if (f->bytes == 8)
		return WM_INSN_LOAD_W8;
	if (f->scalar == WM_SCALAR_BOOL)
		return WM_INSN_LOAD_B1;
	return (uint8_t)(WM_INSN_LOAD_I1 + width + (f->scalar != WM_SCALAR_SIGNED));
}

/* Pushes the type of a value that was just loaded from this field. */
static void push_element(struct linker *l, const struct wm_schema_field *f, uint8_t flags)
{
	enum type type = TYPE_INT;

	if (f->scalar == WM_SCALAR_FLOAT) {
		type = TYPE_FLOAT;
		if (f->bytes == 4) {
			(void)linker_emit(l, WM_INSN_FLOAT_WIDEN);
			flags = 0;
		}
	} else if (f->bytes == 8 && f->scalar != WM_SCALAR_SIGNED) {
		type = TYPE_UINT;
	}
	if (f->nr_labels)
		flags |= VALUE_ENUM;
	linker_push(l, type, flags);
	if (!l->err)
		l->stack[l->depth - 1].field = (uint8_t)f->index;
}

static void use_anchor(struct linker *l, uint32_t anchor)
{
	if (anchor > l->nr_anchors)
		l->nr_anchors = anchor;
}

/* Loads the scalar at a place. It is a leaf when no variable-size field precedes it. */
static void load_place(struct linker *l, const struct place *p)
{
	struct wm_filter_insn *insn =
	    linker_emit(l, p->anchor ? WM_INSN_LOAD_FAR : load_kind(&p->field));

	insn->kind = load_kind(&p->field);
	insn->anchor = (uint16_t)p->anchor;
	insn->offset = p->offset;
	use_anchor(l, p->anchor);
	push_element(l, &p->field, p->anchor ? 0 : VALUE_LEAF);
}

void wm_filter_link_field(struct linker *l, const struct wm_filter_step *step)
{
	struct place p;
	enum wm_operand_kind kind;

	if (!link_field_find_place(l, step, &p))
		return;
	switch (p.field.shape) {
	case WM_SHAPE_SCALAR:
		before_push(l);
		load_place(l, &p);
		return;
	case WM_SHAPE_STRING:
	case WM_SHAPE_CHARS:
		kind = p.field.shape == WM_SHAPE_STRING ? WM_OPERAND_STRING : WM_OPERAND_CHARS;
		use_anchor(l, p.anchor);
		if (kind == WM_OPERAND_CHARS && !p.field.length)
			push_string(l, wm_operand_make(WM_OPERAND_TEXT, 0, 0, 0)); /* "" */
		else
			push_string(l,
				    wm_operand_make(kind, p.anchor, p.field.length - 1, p.offset));
		return;
	default:
		fail_name(l, -EINVAL, WM_FAULT_WHOLE, step);
	}
}

void wm_filter_link_element(struct linker *l, const struct wm_filter_step *step)
{
	struct value index = linker_pop(l);
	struct wm_filter_insn *insn;
	bool fixed;
	struct place p;

	if (!link_field_find_place(l, step, &p))
		return;
	if (p.field.shape == WM_SHAPE_SCALAR)
		fail_name(l, -EINVAL, WM_FAULT_NOT_INDEXED, step);
	if (!linker_is_int(&index))
		fail_name(l, -EINVAL, WM_FAULT_INDEX, step);
	if (l->err)
		return;
	fixed = p.field.shape == WM_SHAPE_ARRAY || p.field.shape == WM_SHAPE_CHARS;
	if (fixed && is_const(l, &index, 1)) {
		if (last(l)->x >= p.field.length) {
			fail_name(l, -EINVAL, WM_FAULT_INDEX_RANGE, step);
			return;
		}
		p.offset += (uint32_t)last(l)->x * p.field.bytes;
		l->nr--;
		load_place(l, &p);
		return;
	}
	insn = linker_emit(l, WM_INSN_ELEMENT);
	insn->kind = load_kind(&p.field);
	insn->anchor = (uint16_t)p.anchor;
	insn->offset = p.offset;
	insn->x = p.field.length;
	insn->y = p.field.shape;
	use_anchor(l, p.anchor);
	push_element(l, &p.field, 0);
}

void wm_filter_link_context(struct linker *l, uint8_t bit)
{
	if (bit > 4) {
		linker_fail(l, -EBADMSG, WM_FAULT_CODE);
		return;
	}
	l->f->needs |= 1u << bit;
	if (1u << bit == WM_FILTER_COMM) {
		push_string(l, wm_operand_make(WM_OPERAND_COMM, 0, 0, 0));
		return;
	}
	before_push(l);
	linker_emit(l, WM_INSN_CONTEXT)->kind = bit;
	linker_push(l, TYPE_INT, 0);
}
