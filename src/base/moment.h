/* SPDX-License-Identifier: MIT */
/*
 * moment.h - points in time as people type them, in babeltrace2's forms:
 *
 *   2026-11-22 14:05[:30[.123456789]]   local time, or UTC with a Z behind it
 *   14:05[:30[.123456789]]              the same, of the day something began
 *   [-]1795221541[.123456789]           seconds since the clock's origin
 *
 * A T may stand between date and time. Fractions have one to nine digits.
 */
#ifndef WM_BASE_MOMENT_H
#define WM_BASE_MOMENT_H

#include <stddef.h>
#include <stdint.h>

/*
 * "2026-11-22T14:05:30Z". Takes no lock: behind fork(2) the C library's clock may
 * be held for ever, by a thread that is not there. 0 or -EINVAL: before 1970,
 * beyond the year 9999, or no room.
 */
int wm_moment_print_utc(int64_t seconds, char *buf, size_t bytes);

/*
 * `day_ns` is any time of the day that hours without a date are of. 0, -EINVAL
 * (none of the forms, or no such day or hour), -ERANGE (beyond 64 bits of
 * nanoseconds).
 */
int wm_moment_parse(const char *text, int64_t day_ns, int64_t *ret_ns);

#endif
