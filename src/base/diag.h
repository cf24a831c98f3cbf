/* SPDX-License-Identifier: MIT */
/*
 * diag.h - where and why an input was refused: filled by parsers beside their
 * negative errno, turned into words by cmd. Always NUL-terminated; never
 * allocated. Who names a place in memory that goes away says wm_diag_keep().
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
	char kept[WM_DIAG_SENTENCE]; /* what `where` may point to */
};

/* Fills `d` (NULL is fine) and returns `err`, so that callers can `return wm_diag_set(...)`. */
int wm_diag_set(struct wm_diag *d, int err, const char *where, int64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/*
 * What a negative errno says, and what there is to do about it where that is the
 * same everywhere. A sentence that wm_diag_set() is given with the errno's own
 * words at its end gets the cure behind them.
 */
const char *wm_diag_errno(int err);

/* Copies the name of the place into `d` itself, which must not be copied from now on. */
void wm_diag_keep(struct wm_diag *d);

#endif
