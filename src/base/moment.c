/* SPDX-License-Identifier: MIT */
/* moment.c - see moment.h. */
#include "base/moment.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

/* Reads exactly `digits` digits and advances *s. */
static bool moment_number(const char **s, int digits, int *ret)
{
	int n = 0;

	for (int i = 0; i < digits; i++, ++*s) {
		if (**s < '0' || **s > '9')
			return false;
		n = 10 * n + (**s - '0');
	}
	*ret = n;
	return true;
}

/* Reads a fraction such as ".123" after the seconds, if present. */
static bool moment_fraction(const char **s, int64_t *ret_ns)
{
	int64_t scale = WM_NS_PER_SECOND, ns = 0;

	*ret_ns = 0;
	if (**s != '.')
		return true;
	++*s;
	if (**s < '0' || **s > '9')
		return false;
	while (**s >= '0' && **s <= '9') {
		if (scale == 1)
			return false; /* the fraction is finer than a nanosecond */
		scale /= 10;
		ns += (*(*s)++ - '0') * scale;
	}
	*ret_ns = ns;
	return true;
}

static int moment_seconds(const char *s, int64_t *ret_ns)
{
	bool negative = *s == '-';
	int64_t n = 0, ns;

	if (negative)
		s++;
	if (*s < '0' || *s > '9')
		return -EINVAL;
	for (; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *s - '0', &n))
			return -ERANGE;
	if (!moment_fraction(&s, &ns) || *s)
		return -EINVAL;
	if (__builtin_mul_overflow(n, WM_NS_PER_SECOND, &n) || __builtin_add_overflow(n, ns, &n))
		return -ERANGE;
	*ret_ns = negative ? -n : n;
	return 0;
}

/* Reads YYYY-MM-DD and a space or T, if present. Returns false for a malformed date. */
static bool date(const char **s, struct tm *tm, bool *ret_has)
{
	const char *at = *s;

	*ret_has = strlen(at) > 5 && at[4] == '-';
	if (!*ret_has)
		return true;
	if (!moment_number(&at, 4, &tm->tm_year) || *at++ != '-' ||
	    !moment_number(&at, 2, &tm->tm_mon) || *at++ != '-' ||
	    !moment_number(&at, 2, &tm->tm_mday) || (*at != ' ' && *at != 'T'))
		return false;
	tm->tm_year -= 1900;
	tm->tm_mon--;
	*s = at + 1;
	return tm->tm_mon >= 0 && tm->tm_mon < 12 && tm->tm_mday >= 1 && tm->tm_mday <= 31;
}

static bool clock_time(const char **s, struct tm *tm, int64_t *ret_ns)
{
	*ret_ns = 0;
	tm->tm_sec = 0;
	if (!moment_number(s, 2, &tm->tm_hour) || *(*s)++ != ':' ||
	    !moment_number(s, 2, &tm->tm_min))
		return false;
	if (**s == ':') {
		++*s;
		if (!moment_number(s, 2, &tm->tm_sec) || !moment_fraction(s, ret_ns))
			return false;
	}
	return tm->tm_hour < 24 && tm->tm_min < 60 && tm->tm_sec <= 60;
}

static bool is_utc(const char **s)
{
	if (**s != 'Z')
		return false;
	++*s;
	return true;
}

/* mktime() would turn the 31st of February into a day of March, so such dates are refused here. */
static int combine(struct tm *tm, bool utc, int64_t ns, int64_t *ret_ns)
{
	int day = tm->tm_mday, month = tm->tm_mon;
	time_t when;

	tm->tm_isdst = -1;
	when = utc ? timegm(tm) : mktime(tm);
	if (tm->tm_mday != day || tm->tm_mon != month)
		return -EINVAL;
	if (__builtin_mul_overflow((int64_t)when, WM_NS_PER_SECOND, &when) ||
	    __builtin_add_overflow(when, ns, &when))
		return -ERANGE;
	*ret_ns = when;
	return 0;
}

int wm_moment_parse(const char *text, int64_t day_ns, int64_t *ret_ns)
{
	time_t day = (time_t)(day_ns / WM_NS_PER_SECOND);
	bool has_date, utc = strchr(text, 'Z');
	struct tm tm;
	int64_t ns;

	if (!strchr(text, ':'))
		return moment_seconds(text, ret_ns);
	if (!(utc ? gmtime_r(&day, &tm) : localtime_r(&day, &tm)))
		return -ERANGE;
	if (!date(&text, &tm, &has_date) || !clock_time(&text, &tm, &ns))
		return -EINVAL;
	if (utc != is_utc(&text) || *text)
		return -EINVAL;
	return combine(&tm, utc, ns, ret_ns);
}

static int days_of_year(int year)
{
	return 365 + ((year % 4 == 0 && year % 100 != 0) || year % 400 == 0);
}

int wm_moment_print_utc(int64_t seconds, char *buf, size_t bytes)
{
	static const int months[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int64_t days = seconds / 86400;
	int year = 1970, month = 0, leap, of_day = (int)(seconds % 86400), n;

	if (seconds < 0 || days > 366 * 8030)
		return -EINVAL;
	for (; days >= days_of_year(year); year++)
		days -= days_of_year(year);
	leap = days_of_year(year) - 365;
	for (; days >= months[month] + (month == 1 ? leap : 0); month++)
		days -= months[month] + (month == 1 ? leap : 0);
	if (year > 9999)
		return -EINVAL;
	n = snprintf(buf, bytes, "%04d-%02d-%02dT%02d:%02d:%02dZ", year, month + 1, (int)days + 1,
		     of_day / 3600, of_day / 60 % 60, of_day % 60);
	return n < 0 || (size_t)n >= bytes ? -EINVAL : 0;
}
