/* SPDX-License-Identifier: MIT */
/*
 * style_json.c - values as strict JSON. Integers are exact, even above 2^53; one with labels is
 * {"value":3,"label":"WARN"}, where label is null if no label matches; bytes are a string of
 * hexadecimal digits; NaN and infinities are strings; invalid UTF-8 bytes in strings become U+FFFD;
 * an option of a choice is {"NAME":value}; an absent optional is null.
 */
#include "view/style.h"

#include "view/value_text.h"

static void style_json_name(struct wm_text *t, const char *s)
{
	wm_view_json_string(t, s, strlen(s));
}

static const struct wm_item *style_json_real(struct wm_pen *p, const struct wm_shape *s,
					     const struct wm_item *i)
{
	if (i->f > 0 && i->f < 1e6 && i->f == (double)(uint32_t)i->f) {
		p->at = wm_digits_u64(p->at, (uint32_t)i->f);
		return i + 1;
	}
	wm_pen_close(p);
	wm_view_json_real(p->text, i->f, s->type->bits == 32);
	wm_pen_resume(p);
	return i + 1;
}

static const unsigned char special[256] = {
    [0 ... 31] = 1,
    [127 ... 255] = 1,
    ['\\'] = 1,
    ['"'] = 1,
};

static const struct wm_item *style_json_string(struct wm_pen *p, const struct wm_shape *s,
					       const struct wm_item *i)
{
	const char *text = i->text, *end = text + i->count;

	wm_pen_char(p, '"');
	while (text < end) {
		const char *stop = end - text > 1024 ? text + 1024 : end;

		wm_pen_need(p, 1024);
		while (text < stop && !special[(unsigned char)*text])
			wm_pen_char(p, *text++);
		if (text < stop) {
			wm_pen_close(p);
			wm_view_json_bytes(p->text, text, (size_t)(end - text));
			wm_pen_resume(p);
			break;
		}
	}
	wm_pen_need(p, 2);
	wm_pen_char(p, '"');
	return i + 1;
}

static const struct wm_item *style_json_bytes(struct wm_pen *p, const struct wm_shape *s,
					      const struct wm_item *i)
{
	static const char digits[] = "0123456789abcdef";

	wm_pen_char(p, '"');
	for (uint32_t k = 0; k < i->count; k++) {
		wm_pen_need(p, 4);
		wm_pen_char(p, digits[i->bytes[k] >> 4]);
		wm_pen_char(p, digits[i->bytes[k] & 15]);
	}
	wm_pen_need(p, 2);
	wm_pen_char(p, '"');
	return i + 1;
}

static const struct wm_item *style_json_enumeration(struct wm_pen *p, const struct wm_shape *s,
						    const struct wm_item *i)
{
	const char *label = s->type->is_flags ? NULL : wm_type_label(s->type, i);

	WM_PEN_PUT(p, "{\"value\":");
	(void)wm_style_decimal(s->type)(p, s, i);
	wm_pen_need(p, 32);
	WM_PEN_PUT(p, ",\"label\":");
	wm_pen_close(p);
	if (label)
		style_json_name(p->text, label);
	else
		wm_text_str(p->text, "null");
	wm_pen_resume(p);
	wm_pen_char(p, '}');
	return i + 1;
}

static wm_shape_write *style_json_leaf(const struct wm_type *t)
{
	static wm_shape_write *const others[WM_TYPE_NR] = {
	    [WM_TYPE_BOOL] = wm_style_bool,
	    [WM_TYPE_FLOAT] = style_json_real,
	    [WM_TYPE_STRING] = style_json_string,
	    [WM_TYPE_BYTES] = style_json_bytes,
	};

	if (t->is_enum)
		return style_json_enumeration;
	return others[t->kind] ? others[t->kind] : wm_style_decimal(t);
}

const struct wm_style wm_style_json = {
    .open = "{",
    .next = ",",
    .after = ":",
    .close = "}",
    .list_open = "[",
    .list_first = "",
    .list_next = ",",
    .list_close = "]",
    .choice_open = "{",
    .choice_after = ":",
    .choice_close = "}",
    .some_open = "",
    .some_close = "",
    .none = "null",
    .name = style_json_name,
    .leaf = style_json_leaf,
};
