/* SPDX-License-Identifier: MIT */
/*
 * number.c - see number.h. Fractions are computed in integers, so that 1.5G is exact and the locale
 * does not affect the decimal point.
 */
#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit size_units[] = {
    {"T", 1ull << 40}, {"G", 1ull << 30}, {"M", 1ull << 20}, {"K", 1ull << 10}, {"", 1},
};

static const struct unit duration_units[] = {
    {"h", 3600000000000ull}, {"m", 60000000000ull}, {"s", 1000000000ull},
    {"ms", 1000000ull},      {"us", 1000ull},       {"ns", 1ull},
};

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static int digit_of(char c, unsigned base)
{
	int d = -1;

	if (c >= '0' && c <= '9')
		d = c - '0';
	else if (isxdigit((unsigned char)c))
		d = tolower((unsigned char)c) - 'a' + 10;
	return d >= 0 && (unsigned)d < base ? d : -1;
}

/* Reads digits at *text, at least one, and advances *text. */
static int take_digits(const char **text, unsigned base, uint64_t *ret_value)
{
	const char *p = *text;
	uint64_t value = 0;

	if (digit_of(*p, base) < 0)
		return -EINVAL;
	for (; digit_of(*p, base) >= 0; p++) {
		if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit_of(*p, base), &value))
			return -ERANGE;
	}
	*text = p;
	*ret_value = value;
	return 0;
}

int wm_number_parse_integer(const char *text, int64_t min, int64_t max, int64_t *ret_value)
{
	unsigned base = 10;
	uint64_t magnitude, limit;
	int64_t value;
	bool negative = *text == '-';
	int err;

	if (*text == '-' || *text == '+')
		text++;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		base = 16;
	else if (text[0] == '0' && (text[1] == 'o' || text[1] == 'O'))
		base = 8;
	if (base != 10)
		text += 2;
	err = take_digits(&text, base, &magnitude);
	if (err < 0)
		return err;
	if (*text)
		return -EINVAL;
	limit = negative ? 1ull << 63 : (1ull << 63) - 1;
	if (magnitude > limit)
		return -ERANGE;
	value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	if (value < min || value > max)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

/*
 * Reads a fraction such as ".25" of `factor`; up to nine digits, which cannot overflow for any
 * unit.
 */
static int take_fraction(const char **text, uint64_t factor, uint64_t *ret_value)
{
	const char *p = *text + 1;
	uint64_t digits = 0, scale = 1;

	if (digit_of(*p, 10) < 0)
		return -EINVAL;
	for (; digit_of(*p, 10) >= 0; p++) {
		if (scale == 1000000000ull)
			return -EINVAL;
		digits = digits * 10 + (uint64_t)digit_of(*p, 10);
		scale *= 10;
	}
	*ret_value = (uint64_t)((unsigned __int128)digits * factor / scale);
	*text = p;
	return 0;
}

static const struct unit *number_find_unit(const char *text, const struct unit *units, size_t nr,
					   bool sizes)
{
	for (size_t i = 0; i < nr; i++) {
		size_t length = strlen(units[i].name);
		const char *rest = text + length;

		if (strncasecmp(text, units[i].name, length))
			continue;
		if (!*rest || (sizes && !strcasecmp(rest, "B")) ||
		    (sizes && length && !strcasecmp(rest, "iB")))
			return &units[i];
	}
	return NULL;
}

static int parse_scaled(const char *text, const struct unit *units, size_t nr, bool sizes,
			uint64_t *ret_value)
{
	const char *p = text, *unit_text;
	uint64_t whole, part = 0;
	const struct unit *unit;
	int err = take_digits(&p, 10, &whole);

	if (err < 0)
		return err;
	unit_text = p + (*p == '.' ? 1 + strspn(p + 1, "0123456789") : 0);
	unit = number_find_unit(*unit_text || sizes ? unit_text : "s", units, nr, sizes);
	if (!unit)
		return -EINVAL;
	if (*p == '.') {
		err = take_fraction(&p, unit->factor, &part);
		if (err < 0)
			return err;
	}
	if (__builtin_mul_overflow(whole, unit->factor, &whole) ||
	    __builtin_add_overflow(whole, part, &whole))
		return -ERANGE;
	*ret_value = whole;
	return 0;
}

int wm_number_parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *ret_bytes)
{
	uint64_t value = 0;
	int err = parse_scaled(text, size_units, NR(size_units), true, &value);

	if (err < 0)
		return err;
	if (value < min || value > max)
		return -ERANGE;
	*ret_bytes = value;
	return 0;
}

int wm_number_parse_duration(const char *text, uint64_t min_ns, uint64_t max_ns, uint64_t *ret_ns)
{
	uint64_t value = 0;
	int err = parse_scaled(text, duration_units, NR(duration_units), false, &value);

	if (err < 0)
		return err;
	if (value < min_ns || value > max_ns)
		return -ERANGE;
	*ret_ns = value;
	return 0;
}

static const char *print_scaled(uint64_t value, const struct unit *units, size_t nr, char *buf)
{
	size_t i = 0;

	while (i + 1 < nr && (!value || value % units[i].factor))
		i++;
	(void)snprintf(buf, WM_NUMBER_TEXT, "%" PRIu64 "%s", value / units[i].factor,
		       units[i].name);
	return buf;
}

int wm_number_parse_float(const char *text, double *ret_value)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	char *end;
	double value;

	if (!c)
		return -ENOMEM;
	value = strtod_l(text, &end, c);
	freelocale(c);
	if (end == text || *end)
		return -EINVAL;
	*ret_value = value;
	return 0;
}

const char *wm_number_print_size(uint64_t bytes, char *buf)
{
	return print_scaled(bytes, size_units, NR(size_units), buf);
}

const char *wm_number_print_duration(uint64_t ns, char *buf)
{
	return print_scaled(ns, duration_units, NR(duration_units), buf);
}

const char *wm_number_print_about(uint64_t bytes, char *buf)
{
	static const char *const names[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	unsigned unit = 0;

	while (bytes >= 10240 && unit < NR(names) - 1) {
		bytes /= 1024;
		unit++;
	}
	(void)snprintf(buf, WM_NUMBER_TEXT, "%" PRIu64 " %s", bytes, names[unit]);
	return buf;
}
