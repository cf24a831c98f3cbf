/* SPDX-License-Identifier: MIT */
/*
 * reader.c - returns events for <waymark/read.h>: merged by timestamp, or packet by packet in no
 * particular order. An event is copied to the installed structure; its values remain in the
 * decoder.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "trace/clock_origin.h"

void wm_api_give(const struct waymark_trace *t, uint32_t trace, const struct wm_event *e,
		 struct waymark_event *ret)
{
	ret->time_ns = e->ns;
	ret->clock = e->clock;
	ret->type = &t->types[t->first_type[trace] + e->type->index];
	ret->values = (const struct waymark_value *)e->items;
	for (int i = 0; i < WM_NR_PARTS; i++) {
		ret->parts[i].begin = e->parts[i].at;
		ret->parts[i].end = e->parts[i].end;
	}
	ret->cpu = e->cpu;
	ret->pid = e->pid;
	ret->tid = e->tid;
	ret->stream = t->first_stream[trace] + e->stream->index;
	ret->own = e->packet;
}

/* --- in order ------------------------------------------------------------------------------ */

static int api_reader_begin_merge(struct waymark_reader *r, int64_t begin_ns)
{
	const struct wm_merge_options o = {begin_ns, r->end_ns, r->select.events.want_list, 1};

	wm_merge_destroy(r->merge);
	r->merge = wm_merge_create_on(r->trace->timeline, &o);
	return r->merge ? 0 : -ENOMEM;
}

static int next_merged(struct waymark_reader *r, const struct waymark_event **ret)
{
	const struct wm_event *e;
	int got;

	while ((got = wm_merge_next(r->merge, &e)) == 1) {
		uint32_t trace = wm_merge_trace(r->merge);

		if (!wm_api_passes(r, trace, e))
			continue;
		wm_api_give(r->trace, trace, e, &r->event);
		*ret = &r->event;
		return 1;
	}
	return got;
}

/* --- packet by packet ------------------------------------------------------------------------ */

static void walk_done(struct waymark_reader *r)
{
	struct wm_api_walk *w = &r->walk;

	if (w->reader)
		r->trace->traces[w->trace]->ops->reader_destroy(w->reader);
	wm_batch_done(&w->batch);
	free(w->events);
	*w = (struct wm_api_walk){0};
}

static void begin_walk(struct waymark_reader *r)
{
	walk_done(r);
	r->walk.step = r->nr_shares ? r->nr_shares : 1;
	r->walk.packet = r->nr_shares ? r->share : 0;
}

static bool api_reader_is_wanted(const struct waymark_reader *r, const struct wm_packet *p)
{
	const struct wm_api_walk *w = &r->walk;

	if (r->select.stream != WAYMARK_NO_NUMBER &&
	    r->select.stream != r->trace->first_stream[w->trace] + p->stream)
		return false;
	return p->end_ns >= r->begin_ns && (p->begin_ns < r->end_ns || r->end_ns == INT64_MAX);
}

/* Opens the next packet. Returns 1, 0 when there are no more, or -errno. */
static int next_packet(struct waymark_reader *r)
{
	struct wm_api_walk *w = &r->walk;
	struct wm_trace *t;

	for (;;) {
		t = r->trace->traces[w->trace];
		for (; w->packet < t->nr_packets; w->packet += w->step)
			if (api_reader_is_wanted(r, &t->packets[w->packet]))
				break;
		if (w->packet < t->nr_packets)
			break;
		if (w->trace + 1 == r->trace->nr_traces)
			return 0;
		if (w->reader)
			t->ops->reader_destroy(w->reader);
		w->reader = NULL;
		/* the reader's share of packets continues in the next trace */
		w->packet -= t->nr_packets;
		w->trace++;
	}
	if (!w->reader)
		w->reader = t->ops->reader_create(t, &r->select.events.wants[w->trace]);
	if (!w->reader)
		return -ENOMEM;
	w->open = true;
	w->packet += w->step;
	return t->ops->reader_begin(w->reader, &t->packets[w->packet - w->step]) ?: 1;
}

static int api_reader_make_room(struct wm_api_walk *w)
{
	struct waymark_event *more;

	if (w->batch.nr_events <= w->room_events)
		return 0;
	more = realloc(w->events, w->batch.room_events * sizeof(*more));
	if (!more)
		return -ENOMEM;
	w->events = more;
	w->room_events = w->batch.room_events;
	return 0;
}

static int api_reader_take_batch(struct waymark_reader *r)
{
	struct wm_api_walk *w = &r->walk;
	int err = api_reader_make_room(w);

	w->nr_events = w->at = 0;
	for (uint32_t i = 0; !err && i < w->batch.nr_events; i++) {
		const struct wm_event *e = &w->batch.events[i];
		bool inside =
		    e->ns == WM_TIME_NONE ||
		    (e->ns >= r->begin_ns && (e->ns < r->end_ns || r->end_ns == INT64_MAX));

		if (inside && wm_api_passes(r, w->trace, e))
			wm_api_give(r->trace, w->trace, e, &w->events[w->nr_events++]);
	}
	return err;
}

/*
 * Reads the next batch that contains an event. Returns the number of events, 0
 * at the end, -errno.
 */
static int64_t next_walked(struct waymark_reader *r)
{
	struct wm_api_walk *w = &r->walk;

	for (;;) {
		int got =
		    w->open ? wm_batch_read(r->trace->traces[w->trace], w->reader, &w->batch) : 0;

		if (got > 0)
			got = api_reader_take_batch(r) ?: 1;
		if (got < 0)
			return got;
		if (got && w->nr_events)
			return w->nr_events;
		if (got)
			continue;
		w->open = false;
		got = next_packet(r);
		if (got <= 0)
			return got;
	}
}

/* --- interface ---------------------------------------------------------------------------- */

static int api_reader_check(const struct waymark_options *o, struct waymark_error *error)
{
	bool unordered = o->flags & WAYMARK_READ_UNORDERED;

	if (o->flags & ~(WAYMARK_READ_META | WAYMARK_READ_UNORDERED | WAYMARK_READ_CORRELATE))
		return wm_api_fail(error, -EINVAL, "unknown flag");
	if ((o->nr_events && !o->events) || (o->nr_fields && !o->fields))
		return wm_api_fail(error, -EINVAL,
				   "the list of names is NULL, but its count is not 0");
	for (uint32_t i = 0; i < o->nr_events; i++)
		if (!o->events[i])
			return wm_api_fail(error, -EINVAL, "name %u of events is NULL", i);
	if (o->nr_shares && (!unordered || o->share >= o->nr_shares))
		return wm_api_fail(error, -EINVAL, "%s",
				   unordered ? "the share must be less than the number of shares"
					     : "only unordered readers can have shares");
	return 0;
}

/* Events from clocks with unrelated origins have no common order. */
static int api_reader_check_clocks(const struct waymark_trace *t, const struct waymark_options *o,
				   struct waymark_error *error)
{
	struct wm_origin_pair p;

	if (o->flags & (WAYMARK_READ_UNORDERED | WAYMARK_READ_CORRELATE) || o->stream_plus_1 ||
	    !wm_origins_differ(t->traces, t->nr_traces, &p))
		return 0;
	return wm_api_fail(error, -EDOM,
			   "clock '%.64s' of '%.100s' and clock '%.64s' of '%.100s' count from "
			   "unrelated origins, so their events have no common order",
			   p.clocks[0]->name, p.traces[0]->path, p.clocks[1]->name,
			   p.traces[1]->path);
}

WM_API int waymark_read(struct waymark_trace *trace, const struct waymark_options *options,
			struct waymark_reader **ret, struct waymark_error *error)
{
	struct waymark_options o = WAYMARK_INIT(o);
	struct waymark_reader *r;
	int err = wm_api_error_begin(error);

	if (!err && options)
		err = WM_API_COPY_IN(&o, options, flags, "options", error);
	if (!err)
		err = api_reader_check(&o, error);
	if (!err)
		err = api_reader_check_clocks(trace, &o, error);
	if (err)
		return err;
	r = calloc(1, sizeof(*r));
	if (!r)
		return wm_api_fail(error, -ENOMEM, "out of memory");
	r->trace = trace;
	r->begin_ns = o.has_begin ? o.begin_ns : INT64_MIN;
	r->end_ns = o.has_end ? o.end_ns : INT64_MAX;
	r->unordered = o.flags & WAYMARK_READ_UNORDERED;
	r->share = o.share;
	r->nr_shares = o.nr_shares;
	err = wm_api_select(trace, &o, &r->select, error);
	if (!err && r->unordered)
		begin_walk(r);
	else if (!err && (err = api_reader_begin_merge(r, r->begin_ns)))
		(void)wm_api_fail(error, err, "out of memory");
	if (err) {
		waymark_reader_close(r);
		return err;
	}
	*ret = r;
	return 0;
}

WM_API void waymark_reader_close(struct waymark_reader *r)
{
	if (!r)
		return;
	wm_merge_destroy(r->merge);
	walk_done(r);
	wm_api_select_done(&r->select);
	free(r);
}

WM_API int waymark_next(struct waymark_reader *r, const struct waymark_event **ret)
{
	int64_t got;

	if (r->err)
		return r->err;
	if (!r->unordered) {
		got = next_merged(r, ret);
	} else {
		got = r->walk.at < r->walk.nr_events ? 1 : next_walked(r);
		if (got > 0)
			*ret = &r->walk.events[r->walk.at++];
	}
	if (got < 0)
		r->err = (int)got;
	return got > 0 ? 1 : (int)got;
}

WM_API int64_t waymark_next_batch(struct waymark_reader *r, const struct waymark_event **ret)
{
	struct wm_api_walk *w = &r->walk;
	int64_t got;

	if (!r->unordered)
		return -EINVAL;
	if (r->err)
		return r->err;
	got = w->at < w->nr_events ? w->nr_events - w->at : next_walked(r);
	if (got < 0)
		r->err = (int)got;
	if (got <= 0)
		return got;
	*ret = &w->events[w->at];
	w->at = w->nr_events;
	return got;
}

WM_API int waymark_seek(struct waymark_reader *r, int64_t time_ns)
{
	int err = 0;

	if (r->unordered) {
		r->begin_ns = time_ns;
		begin_walk(r);
	} else {
		err = api_reader_begin_merge(r, time_ns);
	}
	r->err = err;
	return err;
}

const char *wm_api_event_comm(const struct waymark_trace *t, const struct waymark_event *event,
			      uint32_t *ret_bytes)
{
	const struct waymark_type *type = event->type;
	uint32_t stream = event->stream - t->first_stream[type->trace];
	struct wm_event e = {
	    .ns = event->time_ns,
	    .clock = event->clock,
	    .type = type->type,
	    .stream = t->traces[type->trace]->streams[stream],
	    .packet = event->own,
	    .cpu = event->cpu,
	    .pid = event->pid,
	    .tid = event->tid,
	    .items = (const struct wm_item *)event->values,
	};

	for (int i = 0; i < WM_NR_PARTS; i++)
		e.parts[i] = (struct wm_part_range){event->parts[i].begin, event->parts[i].end};
	return wm_api_comm(t, type, &e, ret_bytes);
}

WM_API const char *waymark_comm(struct waymark_reader *r, const struct waymark_event *event,
				uint32_t *ret_bytes)
{
	return wm_api_event_comm(r->trace, event, ret_bytes);
}
