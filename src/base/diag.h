/* SPDX-License-Identifier: MIT */
/*
 * diag.h - where and why an input was refused: a parser fills a struct wm_diag and returns a
 * negative errno; cmd prints it. Always NUL-terminated; never allocated. Call wm_diag_keep() when
 * the memory of `where` is about to be freed.
 */
#ifndef WM_BASE_DIAG_H
#define WM_BASE_DIAG_H

#include <stdarg.h>
#include <stdint.h>

#define WM_DIAG_SENTENCE 240

struct wm_diag {
	const char *where;     /* file or input name; borrowed, may be NULL */
	int64_t offset;        /* byte offset in it; -1: unknown */
	uint32_t line, column; /* from 1; 0: unknown */
	char sentence[WM_DIAG_SENTENCE];
	char kept[WM_DIAG_SENTENCE]; /* copy of `where` made by wm_diag_keep() */
};

/* Fills `d` (NULL is fine) and returns `err`, so that callers can `return wm_diag_set(...)`. */
int wm_diag_set(struct wm_diag *d, int err, const char *where, int64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/*
 * The description of a negative errno, with a hint if there is one that always applies.
 * wm_diag_set() adds the hint to a sentence that ends with the errno's own description.
 */
const char *wm_diag_errno(int err);

/* Copies `where` into `d`, which must not be copied or moved afterwards. */
void wm_diag_keep(struct wm_diag *d);

#endif
