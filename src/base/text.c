/* SPDX-License-Identifier: MIT */
/*
 * text.c - see text.h. The capacity doubles, so building n bytes copies at most 2n.
 */
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digits.h"

void wm_text_init(struct wm_text *t)
{
	*t = (struct wm_text){0};
}

void wm_text_done(struct wm_text *t)
{
	free(t->data);
	*t = (struct wm_text){0};
}

void wm_text_cut(struct wm_text *t, size_t bytes)
{
	if (bytes < t->bytes) {
		t->bytes = bytes;
		t->data[bytes] = '\0';
	}
	t->failed = false;
}

bool wm_text_reserve(struct wm_text *t, size_t bytes)
{
	size_t need;

	if (t->failed)
		return false;
	if (t->room - t->bytes > bytes) /* plus one for the NUL */
		return true;
	if (__builtin_add_overflow(t->bytes, bytes, &need) || need >= SIZE_MAX / 2)
		goto fail;
	if (!WM_ARRAY_GROW(t->data, t->room, need + 1)) /* for the NUL */
		return true;
fail:
	t->failed = true;
	return false;
}

void wm_text_add(struct wm_text *t, const void *data, size_t bytes)
{
	if (!wm_text_reserve(t, bytes))
		return;
	if (bytes)
		memcpy(t->data + t->bytes, data, bytes);
	t->bytes += bytes;
	t->data[t->bytes] = '\0';
}

void wm_text_str(struct wm_text *t, const char *s)
{
	wm_text_add(t, s, strlen(s));
}

void wm_text_char(struct wm_text *t, char c)
{
	/* Usually there is room, including for the NUL. */
	if (t->room - t->bytes < 2 || t->failed)
		if (!wm_text_reserve(t, 1))
			return;
	t->data[t->bytes++] = c;
	t->data[t->bytes] = '\0';
}

void wm_text_u64(struct wm_text *t, uint64_t value)
{
	char digits[WM_DIGITS_MAX];

	wm_text_add(t, digits, (size_t)(wm_digits_u64(digits, value) - digits));
}

void wm_text_i64(struct wm_text *t, int64_t value)
{
	if (value < 0)
		wm_text_char(t, '-');
	wm_text_u64(t, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void wm_text_f(struct wm_text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!wm_text_reserve(t, 64))
		return;
	va_start(ap, fmt);
	n = vsnprintf(t->data + t->bytes, t->room - t->bytes, fmt, ap);
	va_end(ap);
	if (n < 0) {
		t->data[t->bytes] = '\0';
		t->failed = true;
		return;
	}
	if ((size_t)n >= t->room - t->bytes) {
		t->data[t->bytes] = '\0'; /* restores the NUL, in case growing fails */
		if (!wm_text_reserve(t, (size_t)n))
			return;
		va_start(ap, fmt);
		(void)vsnprintf(t->data + t->bytes, (size_t)n + 1, fmt, ap); /* the text fits now */
		va_end(ap);
	}
	t->bytes += (size_t)n;
}
