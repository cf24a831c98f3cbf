/* SPDX-License-Identifier: MIT */
/* scene.c - see scene.h. One function per act. */
#include "export/timeline/scene.h"
#include "base/clock.h"
#include "base/plural.h"
#include "trace/event_comm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAMILY_RUNS 0x100u /* family of the CPU_RUNS bars; action.c uses lower numbers */
#define NO_PLACE    1      /* result of give_bar(): no free lane in the row */

static const char idle[] = "idle", sched[] = "sched"; /* categories of the CPU_RUNS bars */

/* --- making it --------------------------------------------------------------------------- */

static int scene_bind_trace(struct wm_scene_trace *st, const struct wm_trace *t)
{
	st->types = calloc(t->nr_types + 1, sizeof(*st->types));
	st->comms = calloc(t->nr_types + 1, sizeof(*st->comms));
	if (!st->types || !st->comms)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nr_types; i++) {
		wm_act_bind(t, t->types[i], &st->types[i]);
		wm_comm_bind(t->types[i], &st->comms[i]);
	}
	return 0;
}

int wm_scene_init(struct wm_scene *s, const struct wm_export *x, const struct wm_scene_ops *ops,
		  void *own)
{
	struct wm_view_options options = {.format = WM_VIEW_JSONL};
	int err;

	*s = (struct wm_scene){
	    .export = x, .ops = ops, .own = own, .first_ns = INT64_MAX, .last_ns = INT64_MIN};
	err = wm_state_init(&s->state, x->traces, x->nr_traces);
	if (!err)
		err = wm_open_slices_init(&s->open);
	s->traces = calloc(x->nr_traces + 1, sizeof(*s->traces));
	s->view = wm_view_create(x->traces, x->nr_traces, &options);
	if (!err && (!s->traces || !s->view))
		err = -ENOMEM;
	for (uint32_t i = 0; i < x->nr_traces && !err; i++)
		err = scene_bind_trace(&s->traces[i], x->traces[i]);
	return err;
}

void wm_scene_done(struct wm_scene *s)
{
	if (!s->export)
		return;
	for (uint32_t i = 0; s->traces && i < s->export->nr_traces; i++) {
		free(s->traces[i].types);
		free(s->traces[i].comms);
	}
	for (uint32_t i = 0; s->lanes && i < s->room; i++)
		wm_lanes_done(&s->lanes[i]);
	for (uint32_t i = 0; s->stops && i < s->nr_cpus; i++)
		wm_lanes_done(&s->stops[i]);
	wm_lanes_done(&s->losses);
	wm_lanes_done(&s->nobodys);
	free(s->traces);
	free(s->lanes);
	free(s->told);
	free(s->stops);
	free(s->told_cpus);
	if (s->open.all)
		wm_open_slices_done(&s->open);
	wm_text_done(&s->title);
	wm_view_destroy(s->view);
	wm_state_done(&s->state);
	*s = (struct wm_scene){0};
}

/* --- points -------------------------------------------------------------------------------- */

static int give_point(struct wm_scene *s, const struct wm_scene_row *row, uint32_t trace,
		      const struct wm_event *e)
{
	const struct wm_act_type *a = &s->traces[trace].types[e->type->index];
	struct wm_scene_point p = {.row = *row,
				   .ns = e->ns,
				   .title = e->type->name,
				   .category = a->category,
				   .event = e,
				   .trace = trace};

	return s->ops->point(s->own, &p);
}

static uint64_t pack_row(const struct wm_scene_row *row)
{
	return (uint64_t)row->kind << 32 | row->index;
}

static struct wm_scene_row unpack_row(const struct wm_scene *s, uint64_t row)
{
	struct wm_scene_row r = {.kind = (enum wm_scene_row_kind)(row >> 32),
				 .index = (uint32_t)row};

	if (r.kind == WM_ROW_THREAD)
		r.task = wm_tasks_at(&s->state.tasks, r.index);
	return r;
}

static const char *scene_title_of(const struct wm_open_slice *o)
{
	return o->title ? o->title : o->label;
}

/* Outputs a begin event that has no end, or no free lane, as a point. */
static int give_alone(struct wm_scene *s, const struct wm_open_slice *o)
{
	struct wm_scene_point p = {.row = unpack_row(s, o->row),
				   .ns = o->begin_ns,
				   .title = scene_title_of(o),
				   .category = o->category,
				   .values = o->values.data ? o->values.data : "",
				   .bytes = o->values.bytes};
	int err = wm_scene_tell(s, &p.row, 0);

	return err ? err : s->ops->point(s->own, &p);
}

static int scene_drop(struct wm_scene *s, struct wm_open_slice *o)
{
	int err = give_alone(s, o);

	wm_open_slices_remove(&s->open, o);
	return err;
}

/* --- bars ------------------------------------------------------------------------------------ */

/* Outputs a bar in a free lane. Returns 0, NO_PLACE or -errno. */
static int give_bar(struct wm_scene *s, struct wm_scene_bar *b)
{
	struct wm_lanes *l = wm_scene_lanes(s, &b->row);
	int err, lane = l ? wm_lanes_place(l, b->begin_ns, b->end_ns) : 0;

	if (lane < 0 || lane == WM_BAR_LANES_MAX)
		return lane < 0 ? lane : NO_PLACE;
	b->lane = (uint32_t)lane;
	err = wm_scene_tell(s, &b->row, b->lane);
	return err ? err : s->ops->bar(s->own, b);
}

/* Creates the bar of an open slice, without its end. */
static struct wm_scene_bar bar_of(const struct wm_scene *s, const struct wm_open_slice *o)
{
	return (struct wm_scene_bar){.row = unpack_row(s, o->row),
				     .begin_ns = o->begin_ns,
				     .id = o->key.id,
				     .title = scene_title_of(o),
				     .category = o->category,
				     .values = o->values.data ? o->values.data : "",
				     .bytes = o->values.bytes};
}

static int open_bar(struct wm_scene *s, const struct wm_open_key *key,
		    const struct wm_scene_row *row, uint32_t trace, const struct wm_event *e,
		    struct wm_open_slice **ret)
{
	struct wm_open_slice *o;
	int err = 0;

	while (!err && wm_open_slices_full(&s->open))
		err = scene_drop(s, s->open.oldest);
	if (err)
		return err;
	o = wm_open_slices_add(&s->open, key);
	if (!o)
		return -ENOMEM;
	o->begin_ns = e->ns;
	o->row = pack_row(row);
	o->category = s->traces[trace].types[e->type->index].category;
	err = s->ops->values(s->own, trace, e, &o->values);
	wm_open_slices_added(&s->open, o);
	*ret = o;
	return err ? err : o->values.failed ? -ENOMEM : 0;
}

/* Returns the title, built in `buf` or taken from the table. */
static const char *make_title(const struct wm_act_type *a, const struct wm_event *e, char *buf,
			      size_t bytes)
{
	int64_t n;

	if (!a->prefix)
		return a->title;
	n = wm_field_ref_integer(&a->label, e, 0);
	if (a->label.type->look == WM_LOOK_DECIMAL && a->prefix[0])
		(void)snprintf(buf, bytes, "%s%" PRId64, a->prefix, n);
	else
		(void)snprintf(buf, bytes, "%s0x%" PRIx64, a->prefix, (uint64_t)n);
	return buf;
}

/*
 * Finds the key of the event's bar. Returns false when the thread or processor is unknown, so that
 * the event cannot be a bar.
 */
static bool scene_key_of(const struct wm_act_type *a, const struct wm_scene_row *row,
			 const struct wm_event *e, struct wm_open_key *ret)
{
	*ret = (struct wm_open_key){.family = a->family};
	switch (a->owner) {
	case WM_ACT_OF_THREAD:
		ret->who = row->index;
		return row->kind == WM_ROW_THREAD;
	case WM_ACT_OF_CPU:
		ret->who = (uint64_t)(int64_t)e->cpu;
		return e->cpu >= 0 && (uint32_t)e->cpu < WM_STATE_CPUS_MAX;
	default:
		ret->who = (uint64_t)(int64_t)e->pid;
		ret->id = (uint64_t)wm_field_ref_integer(&a->id, e, 0);
		return ret->id != 0;
	}
}

/* Returns the row of the event's bar. */
static struct wm_scene_row bar_row(const struct wm_act_type *a, const struct wm_scene_row *row,
				   const struct wm_event *e)
{
	if (a->owner == WM_ACT_OF_CPU)
		return wm_scene_cpu_row(e->cpu, WM_ROW_CPU_STOPS);
	return row->kind == WM_ROW_THREAD ? *row : (struct wm_scene_row){.kind = WM_ROW_NOBODY};
}

static int on_begin(struct wm_scene *s, const struct wm_act_type *a, const struct wm_scene_row *row,
		    uint32_t trace, const struct wm_event *e)
{
	struct wm_scene_row at = bar_row(a, row, e);
	struct wm_open_slice *o, *before;
	struct wm_open_key key;
	const char *title;
	int err = 0;

	if (!scene_key_of(a, row, e, &key))
		return give_point(s, row, trace, e);
	before = wm_open_slices_find(&s->open, &key);
	if (before && (a->alone || key.id)) /* the end of the open slice was lost */
		err = scene_drop(s, before);
	if (!err)
		err = open_bar(s, &key, &at, trace, e, &o);
	if (err)
		return err;
	title = make_title(a, e, o->label, sizeof(o->label));
	o->title = title == o->label ? NULL : title;
	return 0;
}

/*
 * Finds the begin event that an end event belongs to. The ends of slices opened later were lost:
 * these slices are output without an end.
 */
static int scene_find_begin(struct wm_scene *s, const struct wm_act_type *a,
			    const struct wm_event *e, const struct wm_open_key *key,
			    struct wm_open_slice **ret)
{
	struct wm_open_slice *newest = wm_open_slices_find(&s->open, key), *o = newest;
	char buf[sizeof(o->label)];
	const char *title = make_title(a, e, buf, sizeof(buf));
	int err = 0;

	while (o && a->is_named && strcmp(scene_title_of(o), title) != 0)
		o = wm_open_slices_before(o);
	while (o && newest != o && !err) {
		struct wm_open_slice *next = wm_open_slices_before(newest);

		err = scene_drop(s, newest);
		newest = next;
	}
	*ret = o;
	return err;
}

static int scene_on_end(struct wm_scene *s, const struct wm_act_type *a,
			const struct wm_scene_row *row, uint32_t trace, const struct wm_event *e)
{
	struct wm_open_slice *o = NULL;
	struct wm_open_key key;
	struct wm_scene_bar b;
	int err;

	if (!scene_key_of(a, row, e, &key))
		return give_point(s, row, trace, e);
	err = scene_find_begin(s, a, e, &key, &o);
	if (err)
		return err;
	if (!o || o->begin_ns > e->ns)
		return give_point(s, row, trace, e);
	b = bar_of(s, o);
	b.end_ns = e->ns;
	b.event = e;
	b.trace = trace;
	err = give_bar(s, &b);
	if (err != NO_PLACE) {
		wm_open_slices_remove(&s->open, o);
		return err;
	}
	err = scene_drop(s, o);
	return err ? err : give_point(s, row, trace, e);
}

/* Converts ticks of the event's clock to nanoseconds; false: out of range. */
static bool to_ns(const struct wm_event *e, uint64_t ticks, int64_t *ret)
{
	uint64_t hz = e->stream->clock ? e->stream->clock->hz : 0;
	unsigned __int128 ns = (unsigned __int128)ticks * WM_NS_PER_SECOND;

	if (!hz || ns / hz > INT64_MAX)
		return false;
	*ret = (int64_t)(ns / hz);
	return true;
}

static int on_whole(struct wm_scene *s, const struct wm_act_type *a, const struct wm_scene_row *row,
		    uint32_t trace, const struct wm_event *e)
{
	uint64_t begin = (uint64_t)wm_field_ref_integer(&a->begin, e, 0);
	uint64_t duration = (uint64_t)wm_field_ref_integer(&a->duration, e, 0);
	struct wm_scene_bar b = {.row = bar_row(a, row, e),
				 .title = a->title,
				 .category = a->category,
				 .event = e,
				 .trace = trace};
	int64_t ago, lasted;
	int err;

	if (begin > e->clock || duration > e->clock - begin || !to_ns(e, e->clock - begin, &ago) ||
	    !to_ns(e, duration, &lasted) || __builtin_sub_overflow(e->ns, ago, &b.begin_ns))
		return give_point(s, row, trace, e);
	b.end_ns = b.begin_ns + lasted;
	err = give_bar(s, &b);
	return err == NO_PLACE ? give_point(s, row, trace, e) : err;
}

static int on_switch(struct wm_scene *s, const struct wm_act_type *a,
		     const struct wm_scene_row *row, uint32_t trace, const struct wm_event *e)
{
	struct wm_scene_row at = wm_scene_cpu_row(e->cpu, WM_ROW_CPU_RUNS);
	struct wm_open_key key = {FAMILY_RUNS, at.index, 0};
	const struct wm_task *next;
	struct wm_open_slice *o;
	struct wm_scene_bar b;
	int err = 0;

	if (at.kind == WM_ROW_NOBODY || at.index >= s->state.nr_cpus ||
	    !s->state.cpus[at.index].current)
		return give_point(s, row, trace, e);
	o = wm_open_slices_find(&s->open, &key);
	if (o) {
		b = bar_of(s, o);
		b.is_idle = o->category == idle;
		b.end_ns = e->ns > o->begin_ns ? e->ns : o->begin_ns;
		err = give_bar(s, &b);
		wm_open_slices_remove(&s->open, o);
	}
	if (!err)
		err = open_bar(s, &key, &at, trace, e, &o);
	if (err)
		return err;
	next = s->state.cpus[at.index].current;
	o->category = next->tid ? sched : idle;
	o->title = next->tid ? wm_state_comm(&s->state, next) : idle;
	if (!o->title[0]) {
		(void)snprintf(o->label, sizeof(o->label), "%d", next->tid);
		o->title = NULL;
	}
	return 0;
}

static int scene_on_number(struct wm_scene *s, const struct wm_act_type *a,
			   const struct wm_scene_row *row, uint32_t trace, const struct wm_event *e)
{
	struct wm_scene_number n = {.row = {.kind = WM_ROW_CPU},
				    .title = a->title,
				    .ns = e->ns,
				    .kind = WM_TYPE_SIGNED,
				    .s = wm_field_ref_integer(&a->value, e, 0),
				    .has_part = a->part.type != NULL,
				    .part = wm_field_ref_integer(&a->part, e, 0),
				    .unit = a->unit,
				    .event = e,
				    .trace = trace};

	if (a->value.type->bits == 32 && n.s == UINT32_MAX)
		n.s = -1; /* the kernel writes -1 as an unsigned number */
	return s->ops->number(s->own, &n);
}

/*
 * Outputs the numbers of a reading. If it also has text, outputs a point with all its values, too.
 */
static int on_readings(struct wm_scene *s, const struct wm_act_type *a,
		       const struct wm_scene_row *row, uint32_t trace, const struct wm_event *e)
{
	int err = wm_scene_readings(s, a, row, trace, e);

	if (!err && a->has_words)
		err = wm_scene_tell(s, row, 0);
	return err || !a->has_words ? err : give_point(s, row, trace, e);
}

static int scene_on_point(struct wm_scene *s, const struct wm_act_type *a,
			  const struct wm_scene_row *row, uint32_t trace, const struct wm_event *e)
{
	return give_point(s, row, trace, e);
}

int wm_scene_event(struct wm_scene *s, uint32_t trace, const struct wm_event *e)
{
	static int (*const acts[])(struct wm_scene * s, const struct wm_act_type *a,
				   const struct wm_scene_row *row, uint32_t trace,
				   const struct wm_event *e) = {
	    [WM_ACT_POINT] = scene_on_point, [WM_ACT_BEGIN] = on_begin,
	    [WM_ACT_END] = scene_on_end,     [WM_ACT_WHOLE] = on_whole,
	    [WM_ACT_SWITCH] = on_switch,     [WM_ACT_NUMBER] = scene_on_number,
	    [WM_ACT_READINGS] = on_readings,
	};
	const struct wm_act_type *a = &s->traces[trace].types[e->type->index];
	struct wm_scene_row row;
	int err = wm_scene_learn(s, trace, e, &row);

	if (err)
		return err;
	if (e->ns == WM_TIME_NONE)
		return give_point(s, &row, trace, e);
	if (e->ns < s->first_ns)
		s->first_ns = e->ns;
	if (e->ns > s->last_ns)
		s->last_ns = e->ns;
	return acts[a->act](s, a, &row, trace, e);
}

/* --- the end -------------------------------------------------------------------------- */

static int give_loss(struct wm_scene *s, const struct wm_trace_loss *l)
{
	char title[96];
	struct wm_scene_bar b = {
	    .row = {.kind = WM_ROW_LOSSES}, .title = title, .category = "lost", .values = ""};
	int err;

	b.begin_ns = l->begin_ns > s->first_ns ? l->begin_ns : s->first_ns;
	b.end_ns = l->end_ns < s->last_ns ? l->end_ns : s->last_ns;
	if (b.begin_ns > b.end_ns)
		return 0; /* the loss is outside the time range of the events */
	if (l->count == UINT64_MAX)
		(void)snprintf(title, sizeof(title), "events lost");
	else
		(void)snprintf(title, sizeof(title), "%" PRIu64 " %s lost%s%.40s", l->count,
			       l->packets ? wm_plural(l->count, "packet", "packets")
					  : wm_plural(l->count, "event", "events"),
			       l->cause && l->cause[0] ? ": " : "", l->cause ? l->cause : "");
	err = give_bar(s, &b);
	/* a row has room for 64 overlapping losses; more are not shown */
	return err == NO_PLACE ? 0 : err;
}

int wm_scene_finish(struct wm_scene *s)
{
	int err = 0;

	/* From the innermost slice outwards, so that they nest. */
	for (struct wm_open_slice *o = s->open.newest; o && !err; o = o->older) {
		struct wm_scene_bar b = bar_of(s, o);

		b.end_ns = s->last_ns > b.begin_ns ? s->last_ns : b.begin_ns;
		b.is_open = true;
		b.is_idle = o->category == idle;
		err = give_bar(s, &b);
		if (err == NO_PLACE)
			err = give_alone(s, o);
	}
	for (uint32_t t = 0; t < s->export->nr_traces && !err; t++)
		for (uint32_t i = 0; i < s->export->traces[t]->nr_losses && !err; i++)
			err = give_loss(s, &s->export->traces[t]->losses[i]);
	return err;
}
