/* SPDX-License-Identifier: MIT */
/*
 * show_by.c - prints the counts for --by: a table for each event, largest count first. See stat.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "cmd/say.h"
#include "cmd/stat/stat.h"
#include "kernel/count_by.h"

static const char *stat_by_value_text(const struct wm_by_value *v, char *buf, size_t bytes)
{
	if (v->is_text)
		(void)snprintf(buf, bytes, "%s", v->text);
	else if (v->is_signed)
		(void)snprintf(buf, bytes, "%" PRId64, v->number);
	else
		(void)snprintf(buf, bytes, "%" PRIu64, (uint64_t)v->number);
	return buf;
}

struct table {
	const struct wm_stat_plan *plan;
	const char *event;
	const struct wm_by_row *rows;
	size_t nr;
	unsigned parts;
};

/* Returns the width of a column; the last one is not padded. */
static int stat_by_width_of(const struct table *t, unsigned part)
{
	char text[WM_BY_TEXT_BYTES + 1];
	size_t width = strlen(t->rows[0].values[part].name);

	if (part + 1 == t->parts)
		return 0;
	for (size_t i = 0; i < t->nr; i++) {
		size_t bytes =
		    strlen(stat_by_value_text(&t->rows[i].values[part], text, sizeof(text)));

		width = bytes > width ? bytes : width;
	}
	return (int)width;
}

static void print_value(const struct table *t, const struct wm_by_value *v, int width)
{
	char text[WM_BY_TEXT_BYTES + 1];
	int pad = width - (int)strlen(stat_by_value_text(v, text, sizeof(text)));

	wm_say_clean(t->plan->out, text);
	(void)fprintf(t->plan->out, "%*s", pad > 0 ? pad : 0, "");
}

static void stat_by_print_text(const struct table *t)
{
	FILE *out = t->plan->out;
	int widths[WM_BY_PARTS_MAX];
	char digits[32];

	(void)fprintf(out, "\n%s:\n", t->event);
	if (!t->nr)
		return;
	(void)fprintf(out, "%12s", "COUNT");
	for (unsigned p = 0; p < t->parts; p++) {
		widths[p] = stat_by_width_of(t, p);
		(void)fprintf(out, "  %-*s", widths[p], t->rows[0].values[p].name);
	}
	(void)fputc('\n', out);
	for (size_t i = 0; i < t->nr; i++) {
		(void)fprintf(out, "%12s", wm_view_count_digits(t->rows[i].count, digits));
		for (unsigned p = 0; p < t->parts; p++) {
			(void)fputs("  ", out);
			print_value(t, &t->rows[i].values[p], widths[p]);
		}
		(void)fputc('\n', out);
	}
}

static void print_separated(const struct table *t)
{
	FILE *out = t->plan->out;

	for (size_t i = 0; i < t->nr; i++) {
		(void)fprintf(out, "%" PRIu64 "%s%s", t->rows[i].count, t->plan->separator,
			      t->event);
		for (unsigned p = 0; p < t->parts; p++) {
			(void)fputs(t->plan->separator, out);
			print_value(t, &t->rows[i].values[p], 0);
		}
		(void)fputc('\n', out);
	}
}

static void stat_by_print_json(const struct table *t, uint64_t left_over, struct wm_json *j)
{
	wm_json_object(j, NULL);
	wm_json_string(j, "event", t->event);
	wm_json_u64(j, "left_over", left_over);
	wm_json_array(j, "rows");
	for (size_t i = 0; i < t->nr; i++) {
		wm_json_object(j, NULL);
		wm_json_u64(j, "count", t->rows[i].count);
		wm_json_object(j, "by");
		for (unsigned p = 0; p < t->parts; p++) {
			const struct wm_by_value *v = &t->rows[i].values[p];

			if (v->is_text)
				wm_json_string(j, v->name, v->text);
			else if (v->is_signed)
				wm_json_i64(j, v->name, v->number);
			else
				wm_json_u64(j, v->name, (uint64_t)v->number);
		}
		wm_json_end(j);
		wm_json_end(j);
	}
	wm_json_end(j);
	wm_json_end(j);
}

static bool show_one(const struct wm_stat_plan *plan, const char *event,
		     const struct wm_count_by *by, struct wm_json *j)
{
	struct wm_by_row *rows;
	size_t nr;
	bool all;
	int err = wm_count_by_read(by, &rows, &nr);

	if (err < 0) {
		wm_say("stat: %s", wm_diag_errno(err));
		return false;
	}
	all = wm_stat_show_table(plan, event, rows, nr, wm_count_by_parts(by),
				 wm_count_by_left_over(by), j);
	free(rows);
	return all;
}

bool wm_stat_show_table(const struct wm_stat_plan *plan, const char *event,
			const struct wm_by_row *rows, size_t nr, unsigned parts, uint64_t left_over,
			struct wm_json *j)
{
	const struct table t = {plan, event, rows, nr, parts};

	if (plan->json)
		stat_by_print_json(&t, left_over, j);
	else if (plan->separator)
		print_separated(&t);
	else
		stat_by_print_text(&t);
	if (left_over)
		wm_say("%" PRIu64
		       " %s of '%s' not in any row: there were more than %u different keys, "
		       "or the event occurred while another event was being counted",
		       left_over, wm_plural(left_over, "event", "events"), event, WM_BY_KEYS_MAX);
	return left_over == 0;
}

bool wm_stat_show_by(const struct wm_stat_plan *plan, const struct wm_counting *c,
		     struct wm_json *j)
{
	bool all = true;

	if (plan->json)
		wm_json_array(j, "by");
	for (size_t i = 0; i < c->nr_by; i++) {
		if (c->by[i])
			all &= show_one(plan, wm_counters_event(c->counters, i)->def->name,
					c->by[i], j);
	}
	if (plan->json)
		wm_json_end(j);
	return all;
}
