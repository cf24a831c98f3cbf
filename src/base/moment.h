/* SPDX-License-Identifier: MIT */
/*
 * moment.h - points in time as typed by users, in babeltrace2's forms:
 *
 *   2026-11-22 14:05[:30[.123456789]]   local time, or UTC with a final Z
 *   14:05[:30[.123456789]]              the same, on a given day
 *   [-]1795221541[.123456789]           seconds since the clock's origin
 *
 * A T may separate date and time. Fractions have one to nine digits.
 */
#ifndef WM_BASE_MOMENT_H
#define WM_BASE_MOMENT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Prints a time like "2026-11-22T14:05:30Z". Takes no lock: the C library's time zone lock may be
 * held for ever in a forked child, by a thread that exists only in the parent. Returns 0, or
 * -EINVAL: before 1970, after the year 9999, or `bytes` is too small.
 */
int wm_moment_print_utc(int64_t seconds, char *buf, size_t bytes);

/*
 * Parses one of these forms. When `text` has no date, the day that contains `day_ns` is meant.
 * Returns 0, -EINVAL (not a valid form, or no such day or hour) or -ERANGE (does not fit 64 bits of
 * nanoseconds).
 */
int wm_moment_parse(const char *text, int64_t day_ns, int64_t *ret_ns);

#endif
