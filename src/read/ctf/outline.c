/* SPDX-License-Identifier: MIT */
/* outline.c - what an open CTF trace consists of, for exporters; see read/ctf.h. */
#include "read/ctf.h"
#include "read/ctf/trace.h"

const struct wm_ctf_folder *wm_ctf_folder_at(const struct wm_trace *t, uint32_t i)
{
	const struct wm_ctf_trace *c = t->own;

	return i < c->nr_folders ? &c->folders[i] : NULL;
}

const struct wm_ctf_folder *wm_ctf_folder_of(const struct wm_stream *s)
{
	return ((const struct wm_ctf_file *)s)->folder;
}

const char *wm_ctf_folder_name(const struct wm_ctf_folder *f)
{
	return f->origin.name;
}

const struct wm_ctf_metadata *wm_ctf_folder_metadata(const struct wm_ctf_folder *f)
{
	return f->plan ? f->plan->metadata : NULL;
}

const struct wm_ctf_stream_plan *wm_ctf_class_at(const struct wm_ctf_folder *f, uint32_t i)
{
	return f->plan && i < f->plan->nr_streams ? &f->plan->streams[i] : NULL;
}

const struct wm_ctf_stream_plan *wm_ctf_class_of(const struct wm_stream *s)
{
	return ((const struct wm_ctf_file *)s)->plan;
}

bool wm_ctf_packet_ticks(const struct wm_trace *t, const struct wm_packet *p, uint64_t *ret_begin,
			 uint64_t *ret_end)
{
	const struct wm_ctf_trace *c = t->own;

	if (!p->part)
		return false;
	*ret_begin = c->ticks[p->part - 1].begin;
	*ret_end = c->ticks[p->part - 1].end;
	return true;
}

uint64_t wm_ctf_class_id(const struct wm_ctf_stream_plan *c)
{
	return c->class->id;
}

const char *wm_ctf_class_clock_id(const struct wm_ctf_stream_plan *c)
{
	return c->clock_id;
}

const struct wm_trace_clock *wm_ctf_class_clock(const struct wm_ctf_stream_plan *c)
{
	return c->clock;
}

const struct wm_type *wm_ctf_class_part(const struct wm_ctf_stream_plan *c, enum wm_part part)
{
	return c->parts[part];
}

const struct wm_event_type *wm_ctf_class_event(const struct wm_ctf_stream_plan *c, uint32_t i,
					       uint64_t *ret_id)
{
	if (i >= c->nr_events)
		return NULL;
	*ret_id = c->events[i].id;
	return c->events[i].type;
}
