/* SPDX-License-Identifier: MIT */
/* stream_show.c - prints a stream's counts: tables for --by, or rows like those of counters. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/plural.h"
#include "cmd/say.h"
#include "cmd/stat/stream.h"

/* ---- --by ------------------------------------------------------------------------------- */

static void show_kind(struct wm_stat_stream *s, struct wm_apart_kind *k, unsigned parts)
{
	const struct wm_event_def *d = wm_counting_stream_def(&s->plan->choice, k->name);
	struct wm_by_row *rows;

	if (k->lacks && k->total) {
		wm_say("%" PRIu64 " %s of '%s' not in the tables, for lack of one of the fields "
		       "'%s'",
		       k->total, wm_plural(k->total, "event", "events"), d ? d->name : k->name,
		       s->plan->choice.counting.by);
		s->missing = true;
	}
	rows = k->lacks ? NULL : calloc(k->nr_rows + 1, sizeof(*rows));
	if (!rows) {
		s->err = k->lacks ? s->err : -ENOMEM;
		return;
	}
	wm_apart_sort(k);
	for (uint32_t i = 0; i < k->nr_rows; i++) {
		rows[i].count = k->rows[i].count;
		for (unsigned p = 0; p < parts; p++) {
			const struct wm_apart_part *from = &k->rows[i].parts[p];
			struct wm_by_value *to = &rows[i].values[p];

			*to = (struct wm_by_value){.name = from->name,
						   .is_text = from->is_text,
						   .is_signed = from->is_signed,
						   .number = from->number};
			memcpy(to->text, from->text, sizeof(from->text));
		}
	}
	s->missing |= !wm_stat_show_table(s->plan, d ? d->name : k->name, rows, k->nr_rows, parts,
					  k->left_over, &s->out.json);
	free(rows);
}

static void show_time(struct wm_stat_stream *s, uint64_t now_ns)
{
	if (s->plan->json) {
		wm_json_object(&s->out.json, NULL);
		wm_json_u64(&s->out.json, "time_ns", now_ns - s->start_ns);
	} else {
		(void)fprintf(s->plan->out, "%s%.6f s\n", s->plan->separator ? "# " : "\n",
			      (double)(now_ns - s->start_ns) / 1e9);
	}
}

/* Prints the tables for --by; with -I, those of this interval. */
static void show_tables(struct wm_stat_stream *s, uint64_t now_ns)
{
	bool intervals = s->plan->choice.counting.interval_ns != 0;
	struct wm_apart_kind *kinds = NULL;
	size_t nr = 0;

	if (s->apart.own)
		kinds = wm_apart_kinds(s->apart.own, &nr);
	if (intervals)
		show_time(s, now_ns);
	if (s->plan->json)
		wm_json_array(&s->out.json, "by");
	for (size_t i = 0; i < nr; i++)
		show_kind(s, &kinds[i], wm_apart_parts(s->apart.own));
	if (s->plan->json)
		wm_json_end(&s->out.json);
	if (intervals && s->plan->json)
		wm_json_end(&s->out.json);
	(void)fflush(s->plan->out);
}

/* ---- without --by -------------------------------------------------------------------------- */

/*
 * Rows under construction. elapsed_ns includes the recorder's startup and shutdown: do not compute
 * rates from it.
 */
struct rows {
	const struct wm_stat_stream *s;
	uint64_t elapsed_ns;
	struct wm_count_row *rows;
	size_t nr;
	bool failed;
};

/* Takes ownership of `where`; with `apart`, NULL means out of memory. */
static void stream_show_add_row(struct rows *r, const char *event, char *where, bool apart,
				uint64_t value)
{
	struct wm_count_row *grown = reallocarray(r->rows, r->nr + 1, sizeof(*grown));
	char *name = strdup(event);

	r->rows = grown ? grown : r->rows;
	if (!grown || !name || (apart && !where)) {
		free(name);
		free(where);
		r->failed = true;
		return;
	}
	r->rows[r->nr++] = (struct wm_count_row){.event = name,
						 .where = where,
						 .raw = value,
						 .value = value,
						 .enabled_ns = r->elapsed_ns,
						 .running_ns = r->elapsed_ns,
						 .spread = -1};
}

static uint64_t stream_show_count_of(const struct wm_apart_kind *k, int64_t number)
{
	for (uint32_t i = 0; k && i < k->nr_rows; i++) {
		if (k->rows[i].parts[0].number == number)
			return k->rows[i].count;
	}
	return 0;
}

static void add_cpus(struct rows *r, const char *event, const struct wm_apart_kind *k)
{
	const struct wm_counting_plan *p = &r->s->plan->choice.counting;

	for (size_t i = 0; i < p->nr_cpus; i++) {
		char *where;

		if (asprintf(&where, "CPU%d", p->cpus[i]) < 0)
			where = NULL;
		stream_show_add_row(r, event, where, true, stream_show_count_of(k, p->cpus[i]));
	}
}

static void stream_show_add_threads(struct rows *r, const char *event,
				    const struct wm_apart_kind *k)
{
	const struct wm_state *state = &r->s->pass.state;

	for (uint32_t i = 0; k && i < k->nr_rows; i++) {
		int32_t tid = (int32_t)k->rows[i].parts[0].number;
		const struct wm_task *task = wm_tasks_find(&state->tasks, tid);
		char *where;

		if (asprintf(&where, "%s-%d", wm_state_comm(state, task), tid) < 0)
			where = NULL;
		stream_show_add_row(r, event, where, true, k->rows[i].count);
	}
}

static void stream_show_add_kind(struct rows *r, const char *event, const struct wm_apart_kind *k)
{
	if (r->s->plan->request.per_cpu)
		add_cpus(r, event, k);
	else if (r->s->plan->request.per_thread)
		stream_show_add_threads(r, event, k);
	else
		stream_show_add_row(r, event, NULL, false, k ? k->total : 0);
}

/*
 * Returns whether an event has its own row. Further locations of a probe, and the implied exit of a
 * system call, have none.
 */
static bool has_row(const struct wm_event_defs *defs, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (!strcmp(defs->defs[k].name, defs->defs[i].name))
			return true;
	}
	return defs->defs[i].implied;
}

static int stream_show_by_name(const void *a, const void *b)
{
	const struct wm_apart_kind *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* Adds kernel events in the order of the command line, then program events by name. */
static void stream_show_add_all(struct rows *r, struct wm_apart_kind *kinds, size_t nr)
{
	const struct wm_event_defs *defs = r->s->plan->choice.counting.defs;
	const struct wm_apart_kind **sorted = calloc(nr + 1, sizeof(*sorted));
	size_t k;

	r->failed = !sorted;
	for (size_t i = 0; i < nr && sorted; i++)
		sorted[i] = &kinds[i];
	if (sorted)
		qsort(sorted, nr, sizeof(*sorted), stream_show_by_name);
	for (size_t i = 0; i < defs->nr && sorted; i++) {
		if (has_row(defs, i))
			continue;
		for (k = 0; k < nr; k++) {
			const struct wm_event_def *d =
			    wm_counting_stream_def(&r->s->plan->choice, sorted[k]->name);

			if (d && !strcmp(d->name, defs->defs[i].name))
				break;
		}
		stream_show_add_kind(r, defs->defs[i].name, k < nr ? sorted[k] : NULL);
	}
	for (k = 0; k < nr && sorted; k++) {
		if (!wm_counting_stream_def(&r->s->plan->choice, sorted[k]->name))
			stream_show_add_kind(r, sorted[k]->name, sorted[k]);
	}
	free(sorted);
}

static int stream_show_rows(struct wm_stat_stream *s, uint64_t now_ns, bool end)
{
	bool intervals = s->plan->choice.counting.interval_ns != 0;
	struct rows r = {.s = s, .elapsed_ns = now_ns - s->shown_ns};
	struct wm_apart_kind *kinds = NULL;
	size_t nr = 0;
	int err;

	if (s->apart.own)
		kinds = wm_apart_kinds(s->apart.own, &nr);
	stream_show_add_all(&r, kinds, nr);
	err = r.failed ? -ENOMEM : 0;
	if (end)
		wm_stat_out_begin_run(&s->out, now_ns - s->start_ns, 0, 0);
	if (!err && intervals)
		wm_stat_out_tick(&s->out, r.rows, r.nr, now_ns - s->start_ns);
	else if (!err)
		err = wm_stat_out_run(&s->out, r.rows, r.nr, now_ns - s->start_ns,
				      s->last || s->signo);
	wm_stat_rows_free(r.rows, r.nr);
	return err;
}

int wm_stat_stream_show(struct wm_stat_stream *s, bool end)
{
	uint64_t now_ns = wm_clock_monotonic_ns();
	int err = 0;

	if (now_ns < s->shown_ns) /* the -D delay is not over: the elapsed time is 0 */
		now_ns = s->shown_ns;
	if (s->plan->choice.counting.by)
		show_tables(s, now_ns);
	else
		err = stream_show_rows(s, now_ns, end);
	if (s->apart.own)
		wm_apart_reset(s->apart.own);
	s->shown_ns = now_ns;
	return err;
}
