/* SPDX-License-Identifier: MIT */
/* event.c - converts one kernel record to an event; see perfdata_int.h. */
#include <errno.h>

#include "base/plural.h"
#include "read/kernel_items_int.h"
#include "read/perfdata/perfdata_int.h"

/* One event being added. */
struct adding {
	struct wm_pd *pd;
	const struct wm_packet *packet;
	const unsigned char *record;
	struct wm_perf_header header;
	uint64_t offset; /* offset of the record */
	const struct wm_want *want;
	struct wm_batch *batch;
	struct wm_event *event; /* place in the batch; not counted yet */
	int64_t time;
	uint64_t *values; /* values of the counters that are read with samples */
};

static bool perfdata_event_wanted(const struct wm_want *w, const struct wm_event_type *t)
{
	return !w->types || w->types[t->index];
}

static void end_part(struct adding *x, enum wm_part part, uint32_t at)
{
	x->event->parts[part] = (struct wm_part_range){at, x->batch->nr_items};
}

/*
 * Reports a record that is longer than its contents: its size was damaged, and it includes other
 * records.
 */
static void check_rest(struct adding *x, const struct wm_perf_bytes *rest)
{
	if (__builtin_expect(rest->bytes < WM_PD_REST_MIN, 1))
		return;
	wm_trace_fault(x->pd->trace, x->event->stream->file, x->offset,
		       "%llu %s at the end of this record (type %u, %u bytes) %s not part of it: "
		       "events may be missing",
		       (unsigned long long)rest->bytes, wm_plural(rest->bytes, "byte", "bytes"),
		       x->header.type, x->header.size, wm_plural(rest->bytes, "is", "are"));
}

bool wm_pd_fields(const struct wm_pd *pd, const struct wm_pd_attr *a, struct wm_event *e,
		  const struct wm_want *want, struct wm_batch *b)
{
	uint32_t at = b->nr_items;

	if (!a->format || want->no_parts & 1u << WM_PART_FIELDS)
		return true;
	if (!wm_kitems_add(&pd->machine, a->type->parts[WM_PART_FIELDS],
			   a->format->fields + a->format->nr_common, e->raw, e->raw_bytes, b))
		return false;
	e->parts[WM_PART_FIELDS] = (struct wm_part_range){at, b->nr_items};
	return true;
}

/* Makes an event of type `a` from a sample parsed by `shape`. */
static int perfdata_event_make(struct adding *x, const struct wm_pd_attr *a,
			       const struct wm_perf_shape *shape, const struct wm_perf_sample *s)
{
	struct wm_event *e = x->event;
	uint32_t at = x->batch->nr_items;

	if (!perfdata_event_wanted(x->want, a->type))
		return 0;
	e->type = a->type;
	e->cpu = wm_pd_known(s->present & WM_PERF_SAMPLE_CPU, s->cpu);
	e->pid = wm_pd_known(s->present & WM_PERF_SAMPLE_TID, s->pid);
	e->tid = wm_pd_known(s->present & WM_PERF_SAMPLE_TID, s->tid);
	e->raw = s->raw.data;
	e->raw_bytes = (uint32_t)s->raw.bytes;
	if (!(x->want->no_parts & 1u << WM_PART_STREAM_CONTEXT)) {
		if (!wm_pd_sample_items(a, shape, s, x->batch))
			return -ENOMEM;
		end_part(x, WM_PART_STREAM_CONTEXT, at);
	}
	return wm_pd_fields(x->pd, a, e, x->want, x->batch) ? 1 : -ENOMEM;
}

/*
 * Makes an event for each counter that changed, as perf does; only the first of them gets the
 * record. Returns whether the last event was made, or -ENOMEM; *ret_known: whether any counter
 * belongs to an event.
 */
static int make_members(struct adding *x, const struct wm_pd_attr *leader, struct wm_perf_sample *s,
			bool *ret_known)
{
	struct wm_pd_delta d;
	int made = 0;

	*ret_known = false;
	for (uint64_t i = 0; i < s->read.nr; i++) {
		if (!wm_pd_counter_next(x->pd, leader, s, i, x->values, &d))
			continue;
		*ret_known = true;
		if (!d.period || !perfdata_event_wanted(x->want, d.attr->type))
			continue;
		if (made && ++x->batch->nr_events && !wm_batch_room(x->batch, 0))
			return -ENOMEM;
		if (made) {
			x->event = &x->batch->events[x->batch->nr_events];
			wm_pd_event_begin(x->pd, x->event, x->packet, NULL, x->header.misc,
					  x->time);
		}
		s->period = d.period;
		made = perfdata_event_make(x, d.attr, &leader->shape, s);
		if (made < 0)
			return made;
	}
	return made;
}

static int perfdata_event_add_sample(struct adding *x, const struct wm_pd_attr *a,
				     struct wm_diag *diag)
{
	bool known;
	struct wm_perf_sample s;
	int err, made;

	if (a->type == a->counts) /* the index found no sample of this attr */
		return wm_diag_set(diag, -EBADMSG, NULL, 0, "the file changed while it was read");
	if (!wm_pd_reads(a) && !perfdata_event_wanted(x->want, a->type))
		return 0;
	err = wm_kperf_sample_parse(&a->shape, x->record, x->header.size, &s, diag);
	if (err)
		return err;
	if (!(a->shape.sample_type & ~(uint64_t)WM_PERF_SAMPLE_KNOWN))
		check_rest(x, &s.rest);
	if (wm_pd_reads(a)) {
		made = make_members(x, a, &s, &known);
		if (known)
			return made;
		s.period = s.present & WM_PERF_SAMPLE_PERIOD ? s.period : a->attr.period;
	}
	return perfdata_event_make(x, a, &a->shape, &s);
}

static int add_meta(struct adding *x, const struct wm_pd_attr *a, struct wm_diag *diag)
{
	const struct wm_event_type *type =
	    x->header.type < WM_PERF_KIND_NR ? x->pd->meta[x->header.type] : NULL;
	struct wm_event *e = x->event;
	uint32_t at = x->batch->nr_items;
	struct wm_perf_record r;
	int got;

	if (type && !perfdata_event_wanted(x->want, type))
		return 0;
	got = wm_kperf_record_parse(&a->shape, x->record, x->header.size, &r, diag);
	if (got < 0)
		return got;
	if (!got || !type)
		return wm_diag_set(diag, -EBADMSG, NULL, 0, "a record of type %u, which is unknown",
				   x->header.type);
	check_rest(x, &r.rest);
	e->type = type;
	e->cpu = wm_pd_known(r.id.present & WM_PERF_SAMPLE_CPU, r.id.cpu);
	e->pid = wm_pd_known(r.id.present & WM_PERF_SAMPLE_TID, r.id.pid);
	e->tid = wm_pd_known(r.id.present & WM_PERF_SAMPLE_TID, r.id.tid);
	if (x->want->no_parts & 1u << WM_PART_FIELDS)
		return 1;
	if (!wm_pd_meta_items(type, &r, x->batch))
		return -ENOMEM;
	end_part(x, WM_PART_FIELDS, at);
	return 1;
}

/* Adds the record; reports damage as a fault. */
static int add_any(struct adding *x, const struct wm_pd_attr *a)
{
	struct wm_diag diag = {.offset = -1};
	int got = x->header.type == WM_PERF_SAMPLE ? perfdata_event_add_sample(x, a, &diag)
						   : add_meta(x, a, &diag);

	if (got >= 0 || got == -ENOMEM)
		return got;
	wm_trace_fault(x->pd->trace, x->event->stream->file,
		       x->offset + (diag.offset > 0 ? (uint64_t)diag.offset : 0), "%s",
		       diag.sentence);
	return 0;
}

int wm_pd_event(struct wm_pd *pd, const struct wm_packet *p, const unsigned char *record,
		uint64_t offset, int64_t time, uint64_t *values, const struct wm_want *want,
		struct wm_batch *b)
{
	struct adding x = {.pd = pd,
			   .packet = p,
			   .record = record,
			   .offset = offset,
			   .want = want,
			   .batch = b,
			   .time = time,
			   .values = values};
	const struct wm_pd_attr *a = wm_pd_attr_of(pd, record);
	int got;

	x.header = wm_kperf_header_get(record, pd->swap);
	if (!a)
		return 0;
	if (!wm_batch_room(b, 0))
		return -ENOMEM;
	x.event = &b->events[b->nr_events];
	wm_pd_event_begin(pd, x.event, p, record, x.header.misc, time);
	got = add_any(&x, a);
	if (got == 1)
		b->nr_events++;
	return got;
}
