/* SPDX-License-Identifier: MIT */
/* count_table.c - see count_table.h. */
#include "view/count_table.h"

#include <inttypes.h>
#include <string.h>

#define CELL_BYTES 64u

const char *wm_view_count_digits(uint64_t value, char *buf)
{
	char digits[24];
	int nr = snprintf(digits, sizeof(digits), "%" PRIu64, value), at = 0;

	for (int i = 0; i < nr; i++) {
		if (i && (nr - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = '\0';
	return buf;
}

static double in_unit(const struct wm_count_row *r)
{
	return (double)r->value * (r->scale != 0 ? r->scale : 1);
}

static const char *count_table_value_text(const struct wm_count_row *r, char *buf)
{
	if (r->unit)
		(void)snprintf(buf, CELL_BYTES, "%.2f %.12s", in_unit(r), r->unit);
	else
		(void)wm_view_count_digits(r->value, buf);
	return buf;
}

/* Returns the percentage of the time that the counter ran. */
static double ran_percent(const struct wm_count_row *r)
{
	return r->enabled_ns ? 100.0 * (double)r->running_ns / (double)r->enabled_ns : 100.0;
}

static void print_clean(FILE *out, const char *text, int width)
{
	for (; *text; text++, width--)
		(void)fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, out);
	(void)fprintf(out, "%*s", width > 0 ? width : 0, "");
}

/* ---- for users ----------------------------------------------------------------- */

static bool count_table_is_shown(const struct wm_count_row *r)
{
	return !r->reason && !(r->minor && !r->raw && !r->value);
}

void wm_view_count_fit(struct wm_count_layout *l, const struct wm_count_row *rows, size_t nr)
{
	l->value = l->value < 12 ? 12 : l->value;
	l->event = l->event < 5 ? 5 : l->event;
	for (size_t i = 0; i < nr; i++) {
		char cell[CELL_BYTES];
		size_t value = strlen(count_table_value_text(&rows[i], cell)),
		       event = strlen(rows[i].event);
		size_t where = rows[i].where ? strlen(rows[i].where) : 0;

		if (!count_table_is_shown(&rows[i]))
			continue;
		l->value = value > l->value ? (unsigned)value : l->value;
		l->event = event > l->event && event <= 60 ? (unsigned)event : l->event;
		l->where = where > l->where ? (unsigned)where : l->where;
	}
}

void wm_view_count_head(FILE *out, const struct wm_count_layout *l)
{
	if (l->time)
		(void)fprintf(out, "%12s  ", "SECONDS");
	if (l->where)
		(void)fprintf(out, "%-*s  ", (int)l->where, "WHERE");
	(void)fprintf(out, "%*s  EVENT\n", (int)l->value, "COUNT");
}

/* Writes "12.5 per second", "0.93 CPUs used", or "". */
static void rate_text(const struct wm_count_row *r, char *buf)
{
	double rate = r->elapsed_ns ? in_unit(r) * 1e9 / (double)r->elapsed_ns : 0;
	char digits[32];

	*buf = '\0';
	if (!r->value || !r->elapsed_ns || rate >= 1e15)
		return;
	if (r->cpus)
		(void)snprintf(buf, CELL_BYTES, "  %.2f CPUs used",
			       (double)r->value / (double)r->elapsed_ns);
	else if (rate < 100)
		(void)snprintf(buf, CELL_BYTES, "  %.1f per second", rate);
	else
		(void)snprintf(buf, CELL_BYTES, "  %s per second",
			       wm_view_count_digits((uint64_t)rate, digits));
}

/* Writes the text after the name: precision, rate, percentage of the time counted. */
static void count_table_note_text(const struct wm_count_row *r, char *buf, size_t bytes)
{
	bool shared = r->running_ns < r->enabled_ns;
	char spread[CELL_BYTES] = "", rate[CELL_BYTES], part[CELL_BYTES] = "";

	if (r->spread >= 0)
		(void)snprintf(spread, sizeof(spread), "  +- %.2f %%", 100 * r->spread);
	rate_text(r, rate);
	if (shared && r->running_ns)
		(void)snprintf(part, sizeof(part), "  (scaled: counted %.1f %% of the time)",
			       ran_percent(r));
	else if (shared)
		(void)snprintf(part, sizeof(part), "  (no counter was free)");
	(void)snprintf(buf, bytes, "%s%s%s", spread, rate, part);
}

static void print_row(FILE *out, const struct wm_count_layout *l, const struct wm_count_row *r)
{
	char cell[CELL_BYTES], note[3 * CELL_BYTES];

	count_table_note_text(r, note, sizeof(note));
	if (l->where)
		print_clean(out, r->where ? r->where : "", (int)l->where + 2);
	(void)fprintf(out, "%*s  ", (int)l->value, count_table_value_text(r, cell));
	print_clean(out, r->event, *note ? (int)l->event : 0);
	(void)fprintf(out, "%s\n", note);
}

static void print_time(FILE *out, const struct wm_count_layout *l, uint64_t time_ns)
{
	if (l->time)
		(void)fprintf(out, "%12.6f  ", (double)time_ns / 1e9);
}

void wm_view_count_text(FILE *out, const struct wm_count_layout *l, uint64_t time_ns,
			const struct wm_count_row *rows, size_t nr)
{
	size_t left_out = 0;

	for (size_t i = 0; i < nr; i++) {
		left_out += !rows[i].reason && !count_table_is_shown(&rows[i]);
		if (!count_table_is_shown(&rows[i]))
			continue;
		print_time(out, l, time_ns);
		print_row(out, l, &rows[i]);
	}
	if (!left_out)
		return;
	print_time(out, l, time_ns);
	if (l->where)
		(void)fprintf(out, "%*s", (int)l->where + 2, "");
	(void)fprintf(out, "%*d  for each of the %zu other events that match the wildcards\n",
		      (int)l->value, 0, left_out);
}

/* ---- for programs ---------------------------------------------------------------- */

/* perf's name for the unit: its lines have "msec" for clocks. */
static const char *perf_unit(const struct wm_count_row *r)
{
	if (r->cpus)
		return "msec";
	return r->unit ? r->unit : "";
}

void wm_view_count_separated(FILE *out, const char *separator, bool with_time, uint64_t time_ns,
			     const struct wm_count_row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct wm_count_row *r = &rows[i];

		if (with_time)
			(void)fprintf(out, "%.9f%s", (double)time_ns / 1e9, separator);
		if (r->where) {
			print_clean(out, r->where, 0);
			(void)fputs(separator, out);
		}
		if (r->reason)
			(void)fputs("<not counted>", out);
		else if (r->unit)
			(void)fprintf(out, "%.2f", in_unit(r));
		else
			(void)fprintf(out, "%" PRIu64, r->value);
		(void)fprintf(out, "%s%s%s", separator, perf_unit(r), separator);
		print_clean(out, r->event, 0);
		if (r->spread >= 0)
			(void)fprintf(out, "%s%.2f%%", separator, 100 * r->spread);
		(void)fprintf(out, "%s%" PRIu64 "%s%.2f\n", separator, r->running_ns, separator,
			      r->reason ? 0.0 : ran_percent(r));
	}
}

void wm_view_count_json(struct wm_json *j, const char *key, const struct wm_count_row *rows,
			size_t nr)
{
	wm_json_array(j, key);
	for (size_t i = 0; i < nr; i++) {
		const struct wm_count_row *r = &rows[i];

		wm_json_object(j, NULL);
		wm_json_string(j, "event", r->event);
		if (r->where)
			wm_json_string(j, "where", r->where);
		if (r->reason) {
			wm_json_string(j, "not_counted", r->reason);
			wm_json_end(j);
			continue;
		}
		wm_json_u64(j, "value", r->value);
		wm_json_bool(j, "scaled", r->running_ns < r->enabled_ns);
		if (r->running_ns < r->enabled_ns)
			wm_json_u64(j, "counted", r->raw);
		wm_json_u64(j, "enabled_ns", r->enabled_ns);
		wm_json_u64(j, "running_ns", r->running_ns);
		if (r->cpus) {
			wm_json_string(j, "unit", "ns");
		} else if (r->unit) {
			wm_json_string(j, "unit", r->unit);
			wm_json_f64(j, "value_in_unit", in_unit(r));
		}
		if (r->spread >= 0)
			wm_json_f64(j, "spread", r->spread);
		wm_json_end(j);
	}
	wm_json_end(j);
}
