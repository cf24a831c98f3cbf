/* SPDX-License-Identifier: MIT */
/*
 * fixed_sample.h - decodes samples whose parts are words at constant offsets, optionally followed
 * by a tracepoint's raw data, in one step from record to event, using the attr's plan (struct
 * wm_pd_flat). Nearly all samples in nearly all files are of this kind. A record that does not fit
 * the plan is left to event.c, which reports faults. A part of read.c.
 */
#ifndef WM_READ_PERFDATA_FIXED_SAMPLE_H
#define WM_READ_PERFDATA_FIXED_SAMPLE_H

#include <errno.h>

#include "read/perfdata/perfdata_int.h"

/* Finds the sample's raw data; false: it exceeds the record. */
static inline bool wm_pd_straight_raw(struct wm_event *e, const unsigned char *record,
				      uint32_t size, uint16_t at, bool swap)
{
	uint32_t bytes = wm_get_u32(record + at, swap);

	if (bytes > size - at - 4)
		return false;
	e->raw = record + at + 4;
	e->raw_bytes = bytes;
	return true;
}

static inline void wm_pd_straight_ids(struct wm_event *e, const struct wm_pd_flat *f,
				      const unsigned char *record, bool swap)
{
	if (f->cpu_at)
		e->cpu = wm_pd_known(true, wm_get_u32(record + f->cpu_at, swap));
	if (f->tid_at) {
		e->pid = wm_pd_known(true, wm_get_u32(record + f->tid_at, swap));
		e->tid = wm_pd_known(true, wm_get_u32(record + f->tid_at + 4, swap));
	}
}

/* Adds the items; the caller has reserved room for them. */
static inline void wm_pd_straight_items(const struct wm_pd_flat *f, const unsigned char *record,
					bool swap, struct wm_event *e, struct wm_batch *b)
{
	struct wm_item *to = &b->items[b->nr_items];
	uint32_t first = b->nr_items;

	for (uint32_t k = 0; k < f->nr_items; k++) {
		const unsigned char *from = record + f->items[k].at;

		to[k] = f->items[k].item;
		to[k].next += first;
		if (f->items[k].width == 8)
			to[k].u = wm_get_u64(from, swap);
		else if (f->items[k].width == 4)
			to[k].u = wm_get_u32(from, swap);
		else
			to[k].s = (int32_t)wm_get_u32(from, swap);
	}
	b->nr_items += f->nr_items;
	e->parts[WM_PART_STREAM_CONTEXT] = (struct wm_part_range){first, b->nr_items};
}

/*
 * Converts a sample. Returns 1 when the event was added, 0 when the record does not fit the plan
 * or is not wanted, or -ENOMEM.
 */
static inline int wm_pd_straight(const struct wm_pd *pd, const struct wm_packet *packet,
				 const unsigned char *record, int64_t time,
				 const struct wm_want *want, struct wm_batch *b)
{
	const struct wm_perf_header h = wm_kperf_header_get(record, pd->swap);
	const struct wm_pd_attr *a = wm_pd_attr_of(pd, record);
	const struct wm_pd_flat *f = a ? &a->flat : NULL;
	struct wm_event *e;

	if (h.type != WM_PERF_SAMPLE || !f || !f->bytes || h.size < f->bytes ||
	    (want->types && !want->types[a->type->index]))
		return 0;
	if (!wm_batch_room(b, f->nr_items))
		return -ENOMEM;
	e = &b->events[b->nr_events];
	wm_pd_event_begin(pd, e, packet, record, h.misc, time);
	if ((f->raw_at && !wm_pd_straight_raw(e, record, h.size, f->raw_at, pd->swap)) ||
	    h.size - f->bytes - e->raw_bytes >= WM_PD_REST_MIN)
		return 0;
	e->type = a->type;
	wm_pd_straight_ids(e, f, record, pd->swap);
	if (!(want->no_parts & 1u << WM_PART_STREAM_CONTEXT))
		wm_pd_straight_items(f, record, pd->swap, e, b);
	if (a->format && !wm_pd_fields(pd, a, e, want, b))
		return -ENOMEM;
	b->nr_events++;
	return 1;
}

#endif
