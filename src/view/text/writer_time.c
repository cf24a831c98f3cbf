/* SPDX-License-Identifier: MIT */
/* writer_time.c - the time at the start of a line, in all forms of enum wm_view_time. */
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "view/text/writer_int.h"

#define CYCLES_DIGITS 20u

/* Converts the second to the text cached in the page: "YYYY-MM-DD " and "hh:mm:ss". */
static void set_second(struct wm_view_page *page, int64_t second, bool gmt)
{
	time_t when = (time_t)second;
	struct tm tm;

	page->second = second;
	memset(page->date, '?', sizeof(page->date));
	page->date[4] = page->date[7] = '-';
	page->date[10] = ' ';
	memcpy(page->hh_mm_ss, "??:??:??", sizeof(page->hh_mm_ss));
	if (!(gmt ? gmtime_r(&when, &tm) : localtime_r(&when, &tm)))
		return;
	(void)wm_digits_pair(page->hh_mm_ss, (uint32_t)tm.tm_hour);
	(void)wm_digits_pair(page->hh_mm_ss + 3, (uint32_t)tm.tm_min);
	(void)wm_digits_pair(page->hh_mm_ss + 6, (uint32_t)tm.tm_sec);
	page->hh_mm_ss[2] = page->hh_mm_ss[5] = ':';
	if (tm.tm_year + 1900 < 0 || tm.tm_year + 1900 > 9999)
		return;
	(void)wm_digits_pair(page->date, (uint32_t)(tm.tm_year + 1900) / 100);
	(void)wm_digits_pair(page->date + 2, (uint32_t)(tm.tm_year + 1900) % 100);
	(void)wm_digits_pair(page->date + 5, (uint32_t)tm.tm_mon + 1);
	(void)wm_digits_pair(page->date + 8, (uint32_t)tm.tm_mday);
}

void wm_view_put_time(struct wm_pen *p, struct wm_view_page *page, int64_t ns,
		      const struct wm_view_options *o)
{
	int64_t second = ns / WM_NS_PER_SECOND;

	if (second != page->second)
		set_second(page, second, o->gmt);
	if (o->time == WM_VIEW_TIME_DATE)
		wm_pen_put(p, page->date, sizeof(page->date));
	wm_pen_put(p, page->hh_mm_ss, 8);
	wm_pen_char(p, '.');
	p->at = wm_digits_9(p->at, (uint32_t)(ns % WM_NS_PER_SECOND));
}

void wm_view_put_seconds(struct wm_pen *p, int64_t ns)
{
	uint64_t n = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	if (ns < 0)
		wm_pen_char(p, '-');
	p->at = wm_digits_u64(p->at, n / WM_NS_PER_SECOND);
	wm_pen_char(p, '.');
	p->at = wm_digits_9(p->at, (uint32_t)(n % WM_NS_PER_SECOND));
}

char *wm_view_padded(char *at, uint64_t n, uint32_t digits)
{
	char text[WM_DIGITS_MAX];
	uint32_t bytes = (uint32_t)(wm_digits_u64(text, n) - text);

	for (; digits > bytes; digits--)
		*at++ = '0';
	memcpy(at, text, bytes);
	return at + bytes;
}

void wm_view_put_cycles(struct wm_pen *p, uint64_t cycles)
{
	p->at = wm_view_padded(p->at, cycles, CYCLES_DIGITS);
}
