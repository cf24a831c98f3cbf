/* SPDX-License-Identifier: MIT */
/*
 * payload_test_kit.h - for tests: reads the values of a payload one by one, using the event's
 * class. The tools read payloads with the trace reader instead.
 */
#ifndef WM_EVENT_PAYLOAD_TEST_KIT_H
#define WM_EVENT_PAYLOAD_TEST_KIT_H

#include <errno.h>
#include <string.h>

#include "event/class.h"
#include "event/schema_int.h"

/* The value of one field inside a payload. */
struct wm_value {
	const struct wm_field *field;
	const unsigned char *data; /* the elements, string or bytes, inside the payload */
	/* Number of elements, or of bytes in a string (without its NUL) or blob. */
	uint32_t count;
};

static inline const char *wm_field_label(const struct wm_field *f, int64_t value)
{
	for (uint32_t i = 0; i < f->nr_labels; i++) {
		if (f->labels[i].value == value)
			return f->labels[i].name;
	}
	return NULL;
}

/*
 * Sets the value's data. Returns the number of bytes that it occupies in [at, at + left), or
 * -EBADMSG.
 */
static inline int64_t wm_value_extent(const struct wm_field *f, const unsigned char *at,
				      size_t left, struct wm_value *v)
{
	const unsigned char *end;
	uint64_t bytes;

	v->field = f;
	v->data = at;
	switch (f->shape) {
	case WM_SHAPE_STRING:
		end = left ? memchr(at, 0, left) : NULL;
		if (!end || end - at >= UINT32_MAX)
			return -EBADMSG;
		v->count = (uint32_t)(end - at);
		return (int64_t)v->count + 1;
	case WM_SHAPE_SEQUENCE:
	case WM_SHAPE_BLOB:
		if (left < 4)
			return -EBADMSG;
		v->count = wm_load_u32(at);
		v->data = at + 4;
		bytes = 4 + (uint64_t)v->count * f->bytes;
		break;
	case WM_SHAPE_SCALAR:
		v->count = 1;
		bytes = f->bytes;
		break;
	default:
		v->count = f->length;
		bytes = (uint64_t)f->length * f->bytes;
	}
	if (bytes > left)
		return -EBADMSG;
	if (f->shape == WM_SHAPE_CHARS)
		v->count = (uint32_t)strnlen((const char *)at, f->length);
	return (int64_t)bytes;
}

/*
 * Walks over a payload. Start with index 0 and offset 0. The function below returns 1 and a value,
 * 0 at the end, and -EBADMSG when the bytes end inside a field.
 */
struct wm_payload_cursor {
	const struct wm_class *class;
	const unsigned char *data;
	size_t bytes, offset;
	uint32_t index;
};

static inline int wm_payload_next(struct wm_payload_cursor *c, struct wm_value *ret_value)
{
	struct wm_value v;
	int64_t bytes;

	if (c->index >= c->class->nr_fields)
		return 0;
	if (c->offset > c->bytes)
		return -EBADMSG;
	bytes = wm_value_extent(&c->class->fields[c->index], c->data + c->offset,
				c->bytes - c->offset, &v);
	if (bytes < 0)
		return (int)bytes;
	c->offset += (size_t)bytes;
	c->index++;
	*ret_value = v;
	return 1;
}

static inline double wm_load_float(const unsigned char *at, uint8_t bytes)
{
	double d;
	float f;

	if (bytes == 4) {
		memcpy(&f, at, sizeof(f));
		return f;
	}
	memcpy(&d, at, sizeof(d));
	return d;
}

/* Converts a double to an integer. Saturates where C leaves the result undefined; NaN becomes 0. */
static inline int64_t wm_float_to_integer(double d)
{
	if (!(d == d))
		return 0;
	if (d >= 9223372036854775808.0)
		return INT64_MAX;
	if (d < -9223372036854775808.0)
		return INT64_MIN;
	return (int64_t)d;
}

/* Returns element `i` of a value as an integer (sign-extended) or a double. */
static inline int64_t wm_value_integer(const struct wm_value *v, uint32_t i)
{
	const struct wm_field *f = v->field;
	uint64_t raw = 0;

	if (i >= v->count)
		return 0;
	if (f->scalar == WM_SCALAR_FLOAT)
		return wm_float_to_integer(wm_load_float(v->data + (size_t)i * f->bytes, f->bytes));
	memcpy(&raw, v->data + (size_t)i * f->bytes, f->bytes);
	if (f->scalar == WM_SCALAR_BOOL)
		return raw != 0;
	return wm_schema_fit((int64_t)raw, f->scalar, f->bytes);
}

static inline double wm_value_float(const struct wm_value *v, uint32_t i)
{
	const struct wm_field *f = v->field;
	int64_t n;

	if (i >= v->count)
		return 0;
	if (f->scalar == WM_SCALAR_FLOAT)
		return wm_load_float(v->data + (size_t)i * f->bytes, f->bytes);
	n = wm_value_integer(v, i);
	return f->scalar == WM_SCALAR_SIGNED ? (double)n : (double)(uint64_t)n;
}

#endif
