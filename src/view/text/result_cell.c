/* SPDX-License-Identifier: MIT */
/* result_cell.c - one cell of a result as text for users; see result_view.h. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "view/result_view.h"
#include "view/value_text.h"

static void text_cell(struct wm_text *t, const union wm_cell *c)
{
	if (c->text)
		wm_view_safe(t, c->text, strlen(c->text), false);
}

static void count_cell(struct wm_text *t, const union wm_cell *c)
{
	wm_text_u64(t, c->u);
}

/* Writes three significant digits and a unit. */
static void scaled(struct wm_text *t, double v, const char *const *units, double step)
{
	bool below = v < 0;

	v = fabs(v);
	while (units[1] && v >= step) {
		v /= step;
		units++;
	}
	wm_text_f(t, "%s%.*f %s", below ? "-" : "", v < 10 ? 2 : v < 100 ? 1 : 0, v, units[0]);
}

static void bytes_cell(struct wm_text *t, const union wm_cell *c)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", NULL};

	if (c->u < 1024)
		wm_text_f(t, "%" PRIu64 " B", c->u);
	else
		scaled(t, (double)c->u, units, 1024);
}

static void ns_cell(struct wm_text *t, const union wm_cell *c)
{
	static const char *const units[] = {"ns", "us", "ms", "s", NULL};

	scaled(t, (double)c->s, units, 1000);
}

static void time_cell(struct wm_text *t, const union wm_cell *c)
{
	uint64_t v = c->s < 0 ? -(uint64_t)c->s : (uint64_t)c->s;

	wm_text_f(t, "%s%" PRIu64 ".%09" PRIu64, c->s < 0 ? "-" : "", v / WM_NS_PER_SECOND,
		  v % WM_NS_PER_SECOND);
}

static void address_cell(struct wm_text *t, const union wm_cell *c)
{
	wm_text_f(t, "0x%016" PRIx64, c->u);
}

static void share_cell(struct wm_text *t, const union wm_cell *c)
{
	if (!isnan(c->f))
		wm_text_f(t, "%.2f%%", c->f * 100);
}

static void change_cell(struct wm_text *t, const union wm_cell *c)
{
	if (!isnan(c->f))
		wm_text_f(t, "%+.2f%%", c->f * 100);
}

static void number_cell(struct wm_text *t, const union wm_cell *c)
{
	if (!isnan(c->f))
		wm_text_f(t, "%.6g", c->f);
}

/* The estimate is meaningless below this value. */
#define CHANCE_LEAST 0.0001

static void chance_cell(struct wm_text *t, const union wm_cell *c)
{
	if (c->f < CHANCE_LEAST)
		wm_text_f(t, "<%.4f", CHANCE_LEAST);
	else if (!isnan(c->f))
		wm_text_f(t, "%.4f", c->f);
}

static void (*const cells[])(struct wm_text *t, const union wm_cell *c) = {
    [WM_CELL_TEXT] = text_cell,       [WM_CELL_COUNT] = count_cell,
    [WM_CELL_BYTES] = bytes_cell,     [WM_CELL_NS] = ns_cell,
    [WM_CELL_TIME] = time_cell,       [WM_CELL_SHARE] = share_cell,
    [WM_CELL_ADDRESS] = address_cell, [WM_CELL_CHANGE] = change_cell,
    [WM_CELL_NUMBER] = number_cell,   [WM_CELL_CHANCE] = chance_cell,
};

void wm_view_result_cell(struct wm_text *t, enum wm_cell_kind kind, const union wm_cell *c)
{
	cells[kind](t, c);
}
