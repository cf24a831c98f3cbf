/* SPDX-License-Identifier: MIT */
/*
 * diag.h - where and why an input was refused: filled by parsers beside their
 * negative errno, turned into words by cmd. Always NUL-terminated; never
 * allocated.
 */
#ifndef WM_BASE_DIAG_H
#define WM_BASE_DIAG_H

#include <stdarg.h>
#include <stdint.h>

#define WM_DIAG_SENTENCE 240

struct wm_diag {
	const char *where;     /* file or input name; borrowed, may be NULL */
	int64_t offset;        /* byte offset in it; -1: none */
	uint32_t line, column; /* from 1; 0: none */
	char sentence[WM_DIAG_SENTENCE];
};

/* Fills `d` (NULL is fine) and returns `err`, so that callers can `return wm_diag_set(...)`. */
int wm_diag_set(struct wm_diag *d, int err, const char *where, int64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

#endif
