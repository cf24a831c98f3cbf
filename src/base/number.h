/* SPDX-License-Identifier: MIT */
/*
 * number.h - numbers as typed by users: integers with bounds, sizes with K, M, G, T (powers of
 * 1024), durations with ns, us, ms, s, m, h. The whole string must be the number; overflow is an
 * error.
 *
 * All return 0, -EINVAL (malformed) or -ERANGE (out of bounds).
 */
#ifndef WM_BASE_NUMBER_H
#define WM_BASE_NUMBER_H

#include <stdint.h>

/*
 * Parses a decimal, hexadecimal (0x) or octal (0o) integer with an optional sign; a leading 0 alone
 * does not mean octal.
 */
int wm_number_parse_integer(const char *text, int64_t min, int64_t max, int64_t *ret_value);

/* "64M", "64MiB", "64MB", "1.5G", "4096". Always powers of 1024. */
int wm_number_parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *ret_bytes);

/* "100ms", "1.5s", "2m"; a number without a unit is seconds. */
int wm_number_parse_duration(const char *text, uint64_t min_ns, uint64_t max_ns, uint64_t *ret_ns);

/* "2.3e-10", with a dot in any locale. */
int wm_number_parse_float(const char *text, double *ret_value);

/*
 * Prints an approximate size such as "12 KiB": at least two digits, rounded down. `buf` has
 * WM_NUMBER_TEXT bytes.
 */
const char *wm_number_print_about(uint64_t bytes, char *buf);

/*
 * The shortest exact form of a size ("64M") or duration ("100ms"). `buf` has WM_NUMBER_TEXT bytes.
 */
#define WM_NUMBER_TEXT 32
const char *wm_number_print_size(uint64_t bytes, char *buf);
const char *wm_number_print_duration(uint64_t ns, char *buf);

#endif
