/* SPDX-License-Identifier: MIT */
/*
 * text.h - a growing buffer of text or bytes. An allocation failure is sticky: later additions do
 * nothing, and the caller checks `failed` once at the end. Always NUL-terminated when not empty.
 */
#ifndef WM_BASE_TEXT_H
#define WM_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wm_text {
	char *data; /* NULL while empty */
	size_t bytes, room;
	bool failed;
};

void wm_text_init(struct wm_text *t);
void wm_text_done(struct wm_text *t);

/* Truncates the text to `bytes` and clears `failed`. Keeps the memory. */
void wm_text_cut(struct wm_text *t, size_t bytes);

/*
 * Makes room for `bytes` more bytes and a NUL, for a caller that writes at data + bytes itself.
 * Returns false, and sets `failed`, when out of memory.
 */
bool wm_text_reserve(struct wm_text *t, size_t bytes);

void wm_text_add(struct wm_text *t, const void *data, size_t bytes);
void wm_text_str(struct wm_text *t, const char *s);
void wm_text_char(struct wm_text *t, char c);
void wm_text_u64(struct wm_text *t, uint64_t value); /* decimal */
void wm_text_i64(struct wm_text *t, int64_t value);
void wm_text_f(struct wm_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
