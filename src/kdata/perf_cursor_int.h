/* SPDX-License-Identifier: MIT */
/*
 * perf_cursor_int.h - reads the bytes of one perf record, for the .c files in this room. After a
 * read beyond the end, all later reads return 0 and no bytes, and the name of the first field that
 * did not fit is recorded, so that the caller checks once at the end.
 */
#ifndef WM_KDATA_PERF_CURSOR_INT_H
#define WM_KDATA_PERF_CURSOR_INT_H

#include <errno.h>

#include "kdata/perf_record.h"

struct wm_perf_cursor {
	const unsigned char *at, *end, *start;
	const char *missing; /* name of the first field that did not fit, or NULL */
	bool swap;
};

static inline size_t wm_kperf_left(const struct wm_perf_cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline const unsigned char *wm_kperf_take(struct wm_perf_cursor *c, uint64_t bytes,
						 const char *what)
{
	const unsigned char *p = c->at;

	if (__builtin_expect(bytes > wm_kperf_left(c), 0)) {
		if (!c->missing)
			c->missing = what;
		c->end = c->at;
		return NULL;
	}
	c->at += bytes;
	return p;
}

static inline uint64_t wm_kperf_u64(struct wm_perf_cursor *c, const char *what)
{
	const unsigned char *p = wm_kperf_take(c, 8, what);

	return p ? wm_get_u64(p, c->swap) : 0;
}

static inline uint32_t wm_kperf_u32(struct wm_perf_cursor *c, const char *what)
{
	const unsigned char *p = wm_kperf_take(c, 4, what);

	return p ? wm_get_u32(p, c->swap) : 0;
}

static inline uint16_t wm_kperf_u16(struct wm_perf_cursor *c, const char *what)
{
	const unsigned char *p = wm_kperf_take(c, 2, what);

	return p ? wm_get_u16(p, c->swap) : 0;
}

static inline struct wm_perf_words wm_kperf_take_words(struct wm_perf_cursor *c, uint64_t nr,
						       const char *what)
{
	const unsigned char *p = wm_kperf_take(c, nr > SIZE_MAX / 8 ? UINT64_MAX : 8 * nr, what);

	return (struct wm_perf_words){p, p ? nr : 0};
}

static inline struct wm_perf_bytes wm_kperf_take_bytes(struct wm_perf_cursor *c, uint64_t bytes,
						       const char *what)
{
	const unsigned char *p = wm_kperf_take(c, bytes, what);

	return (struct wm_perf_bytes){p, p ? bytes : 0};
}

/* Returns 0, or -EBADMSG with an error message when a field did not fit. */
static inline int wm_kperf_cursor_verdict(const struct wm_perf_cursor *c, struct wm_diag *diag)
{
	if (__builtin_expect(!c->missing, 1))
		return 0;
	return wm_diag_set(diag, -EBADMSG, NULL, c->at - c->start, "the record ends inside its %s",
			   c->missing);
}

/* Reads the counters described by a read_format; in perf_sample.c. */
void wm_kperf_take_read(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
			struct wm_perf_read *ret);

/* Checks a record's size and sets the cursor to its body; in perf_record.c. */
int wm_kperf_cursor_open(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
			 const void *record, size_t avail, struct wm_perf_header *ret_header,
			 struct wm_diag *diag);

#endif
