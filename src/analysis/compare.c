/* SPDX-License-Identifier: MIT */
/*
 * compare.c - see compare.h. A row is identified by its table's subject and its text cells; it has
 * a share, a rate and a count in each recording.
 */
#include "analysis/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_int.h"
#include "analysis/significance_int.h"
#include "base/array.h"
#include "base/text.h"
#include "trace/name_table.h"

#define FIXED_MAX (1 + 4 * WM_COMPARE_SIDES_MAX) /* maximum number of columns before the keys */

struct value {
	double share, rate;
	uint64_t count;
};

struct comparing {
	const struct wm_compare *c;
	struct wm_result *r;
	struct wm_names names;
	struct wm_buckets rows; /* words: subject, key */
	struct value *values;   /* nr_recordings values per row */
	uint32_t room;          /* capacity of `values`, in rows */
	/* per recording: events of the current subject */
	uint64_t *totals;
	/* per row: a table that has the row's columns */
	const struct wm_result_table **likeness;
	const struct wm_result_row **sources; /* per row: a row that has its text cells */
	uint32_t *order;
};

/* --- collecting rows ----------------------------------------------------------------------- */

static bool compare_is_key(const struct wm_result_column *c)
{
	return c->kind == WM_CELL_TEXT;
}

static uint32_t compare_key_of(struct comparing *x, const struct wm_result_table *t,
			       const struct wm_result_row *row)
{
	struct wm_text text;
	uint32_t id;

	wm_text_init(&text);
	for (uint32_t i = 0; i < t->nr_columns; i++)
		if (compare_is_key(&t->columns[i])) {
			wm_text_str(&text, row->cells[i].text ? row->cells[i].text : "");
			wm_text_char(&text, '\0');
		}
	id = text.failed ? WM_NAMES_NONE : wm_names_id(&x->names, text.data, text.bytes);
	wm_text_done(&text);
	return id;
}

static bool compare_grow(struct comparing *x)
{
	uint32_t room = x->rows.room, nr = x->c->nr_recordings, likeness = x->room,
		 sources = x->room;
	size_t values = (size_t)x->room * nr;

	if (WM_ARRAY_GROW_ZEROED(x->values, values, (size_t)room * nr) ||
	    WM_ARRAY_GROW(x->likeness, likeness, room) || WM_ARRAY_GROW(x->sources, sources, room))
		return false;
	if (x->room < room)
		x->room = room;
	return true;
}

static uint64_t compare_count_of(const struct wm_result_table *t, const struct wm_result_row *row)
{
	for (uint32_t i = 0; i < t->nr_columns; i++)
		if (t->columns[i].kind == WM_CELL_COUNT)
			return row->cells[i].u;
	return 0;
}

static int compare_add_row(struct comparing *x, uint32_t recording, const struct wm_result_table *t,
			   const struct wm_result_row *row)
{
	const struct wm_compare_recording *rec = &x->c->recordings[recording];
	const char *subject = t->subject ? t->subject : "";
	uint64_t words[2] = {wm_names_id(&x->names, subject, strlen(subject)),
			     compare_key_of(x, t, row)};
	uint32_t i = wm_buckets_get(&x->rows, words);
	struct value *v;

	if (words[0] == WM_NAMES_NONE || words[1] == WM_NAMES_NONE || i == UINT32_MAX ||
	    !compare_grow(x))
		return -ENOMEM;
	x->likeness[i] = t;
	x->sources[i] = row;
	v = &x->values[(size_t)i * x->c->nr_recordings + recording];
	v->share += row->share;
	v->rate += rec->seconds > 0 ? (double)row->weight / rec->seconds : 0;
	v->count += compare_count_of(t, row);
	return 0;
}

static int add_recordings(struct comparing *x)
{
	int err = 0;

	for (uint32_t i = 0; i < x->c->nr_recordings && !err; i++) {
		const struct wm_result_table *t = x->c->recordings[i].result->tables;

		for (; t && !err; t = t->next)
			for (const struct wm_result_row *row = t->first; row && !err;
			     row = row->next)
				err = compare_add_row(x, i, t, row);
	}
	return err;
}

/* --- values of a row ------------------------------------------------------------------ */

/* Stores a row's values on one side; returns their number. */
static uint32_t side_values(const struct comparing *x, uint32_t row, uint32_t side, bool rate,
			    double *ret)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < x->c->nr_recordings; i++) {
		const struct value *v = &x->values[(size_t)row * x->c->nr_recordings + i];

		if (x->c->recordings[i].side == side)
			ret[nr++] = rate ? v->rate : v->share;
	}
	return nr;
}

static double side_mean(const struct comparing *x, uint32_t row, uint32_t side, bool rate)
{
	double values[WM_COMPARE_RECORDINGS_MAX], sum = 0;
	uint32_t nr = side_values(x, row, side, rate, values);

	for (uint32_t i = 0; i < nr; i++)
		sum += values[i];
	return nr ? sum / nr : NAN;
}

static void side_counts(const struct comparing *x, uint32_t row, uint32_t side, uint64_t *ret_count,
			uint64_t *ret_total)
{
	*ret_count = *ret_total = 0;
	for (uint32_t i = 0; i < x->c->nr_recordings; i++)
		if (x->c->recordings[i].side == side) {
			*ret_count += x->values[(size_t)row * x->c->nr_recordings + i].count;
			*ret_total += x->totals[i];
		}
}

static double chance(const struct comparing *x, uint32_t row, uint32_t side)
{
	double a[WM_COMPARE_RECORDINGS_MAX], b[WM_COMPARE_RECORDINGS_MAX];
	uint32_t nr_a = side_values(x, row, 0, x->c->by_rate, a);
	uint32_t nr_b = side_values(x, row, side, x->c->by_rate, b);
	uint64_t count_a, count_b, total_a, total_b;

	if (nr_a > 1 && nr_b > 1)
		return wm_significance_means(a, nr_a, b, nr_b);
	side_counts(x, row, 0, &count_a, &total_a);
	side_counts(x, row, side, &count_b, &total_b);
	return wm_significance_counts(count_a, total_a, count_b, total_b);
}

/* Returns the largest change of any side, relative for rates. */
static double change_of(const struct comparing *x, uint32_t row)
{
	double most = 0, before = side_mean(x, row, 0, x->c->by_rate);

	for (uint32_t s = 1; s < x->c->nr_sides; s++) {
		double d = fabs(side_mean(x, row, s, x->c->by_rate) - before);

		if (d > most)
			most = d;
	}
	return most;
}

static bool compare_is_shown(const struct comparing *x, uint32_t row)
{
	for (uint32_t s = 0; s < x->c->nr_sides; s++)
		if (side_mean(x, row, s, false) * 100 >= x->c->percent_limit)
			return true;
	return false;
}

/* --- tables --------------------------------------------------------------------------- */

static int by_subject_and_change(const void *a, const void *b, void *data)
{
	const struct comparing *x = data;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	uint64_t p = wm_buckets_words(&x->rows, i)[0], q = wm_buckets_words(&x->rows, k)[0];
	double c, d;

	if (p != q)
		return p < q ? -1 : 1;
	c = change_of(x, i);
	d = change_of(x, k);
	return c < d ? 1 : c > d ? -1 : i < k ? -1 : i > k;
}

/*
 * Creates the columns: the share before; for each other side share, change, chance; rates at the
 * end.
 */
static struct wm_result_table *
compare_make_table(struct comparing *x, const struct wm_result_table *like, const char *subject)
{
	struct wm_result_column *c =
	    wm_arena_array(&x->r->arena, FIXED_MAX + like->nr_columns, sizeof(*c));
	struct wm_result_table *t;
	uint32_t nr = 0;

	if (!c)
		return NULL;
	c[nr++] = (struct wm_result_column){"before", "Before", WM_CELL_SHARE};
	for (uint32_t s = 1; s < x->c->nr_sides; s++) {
		const char *n = x->c->nr_sides > 2 ? wm_result_format(x->r, "_%u", s) : "";

		c[nr++] = (struct wm_result_column){wm_result_format(x->r, "after%s", n), "After",
						    WM_CELL_SHARE};
		c[nr++] = (struct wm_result_column){wm_result_format(x->r, "change%s", n), "Change",
						    WM_CELL_CHANGE};
		c[nr++] = (struct wm_result_column){wm_result_format(x->r, "rate_change%s", n),
						    "Rate", WM_CELL_CHANGE};
		c[nr++] = (struct wm_result_column){wm_result_format(x->r, "chance%s", n), "Chance",
						    WM_CELL_CHANCE};
	}
	for (uint32_t i = 0; i < like->nr_columns; i++)
		if (compare_is_key(&like->columns[i]))
			c[nr++] = like->columns[i];
	t = wm_result_table(x->r, "compare", subject[0] ? subject : NULL, c, nr);
	if (t)
		t->subject = subject;
	return t;
}

static int compare_put_row(struct comparing *x, uint32_t row, struct wm_result_table *t)
{
	const struct wm_result_table *like = x->likeness[row];
	double before = side_mean(x, row, 0, false), rate = side_mean(x, row, 0, true);
	union wm_cell *cell;
	struct wm_result_row *made = wm_result_row(x->r, t, NULL, &cell);

	if (!made)
		return -ENOMEM;
	(cell++)->f = before;
	for (uint32_t s = 1; s < x->c->nr_sides; s++) {
		double after = side_mean(x, row, s, false), now = side_mean(x, row, s, true);

		(cell++)->f = after;
		(cell++)->f = after - before;
		(cell++)->f = rate > 0 ? now / rate - 1 : NAN;
		(cell++)->f = chance(x, row, s);
	}
	for (uint32_t i = 0; i < like->nr_columns; i++)
		if (compare_is_key(&like->columns[i])) {
			const char *text = x->sources[row]->cells[i].text;

			(cell++)->text = text ? wm_result_text(x->r, text, strlen(text)) : NULL;
		}
	made->share = before;
	return 0;
}

static void compare_add_up(struct comparing *x, uint64_t subject)
{
	uint32_t nr = x->c->nr_recordings;

	memset(x->totals, 0, nr * sizeof(*x->totals));
	for (uint32_t row = 0; row < x->rows.nr; row++)
		for (uint32_t i = 0; i < nr; i++)
			if (wm_buckets_words(&x->rows, row)[0] == subject)
				x->totals[i] += x->values[(size_t)row * nr + i].count;
}

static int put_tables(struct comparing *x)
{
	struct wm_result_table *t = NULL;
	uint64_t subject = UINT64_MAX;
	int err = 0;

	for (uint32_t i = 0; i < x->rows.nr && !err; i++) {
		uint32_t row = x->order[i];
		uint64_t its = wm_buckets_words(&x->rows, row)[0];

		if (its != subject) {
			const char *name = wm_names_text(&x->names, (uint32_t)its);

			t = compare_make_table(x, x->likeness[row],
					       wm_result_text(x->r, name, strlen(name)));
			subject = its;
			compare_add_up(x, subject);
		}
		if (!t)
			err = -ENOMEM;
		else if (compare_is_shown(x, row))
			err = compare_put_row(x, row, t);
		else
			t->nr_left_out++;
	}
	return err;
}

int wm_compare(const struct wm_compare *c, struct wm_result *r)
{
	struct comparing x = {.c = c, .r = r};
	int err = wm_names_init(&x.names);

	wm_buckets_init(&x.rows, 2);
	if (!err)
		err = add_recordings(&x);
	x.totals = calloc(c->nr_recordings + 1, sizeof(*x.totals));
	x.order = malloc((x.rows.nr + 1) * sizeof(*x.order));
	if (!x.totals || !x.order)
		err = -ENOMEM;
	for (uint32_t i = 0; !err && i < x.rows.nr; i++)
		x.order[i] = i;
	if (!err) {
		qsort_r(x.order, x.rows.nr, sizeof(*x.order), by_subject_and_change, &x);
		err = put_tables(&x);
	}
	free(x.order);
	free(x.totals);
	free(x.values);
	free(x.likeness);
	free(x.sources);
	wm_buckets_done(&x.rows);
	wm_names_done(&x.names);
	return err ? err : r->failed ? -ENOMEM : 0;
}
