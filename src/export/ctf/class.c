/* SPDX-License-Identifier: MIT */
/*
 * class.c - chooses the stream classes and events of the output. For a CTF trace, the output has
 * the same classes, ids and event descriptions; for other traces, an event is described when it
 * first occurs. See ctf_int.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "export/ctf/ctf_int.h"

#define SHORT_IDS 65536u /* ids below this fit into two bytes */

/* --- folders ------------------------------------------------------------------------------ */

static int ctf_class_set_uuid(struct wm_cx_folder *f)
{
	const struct wm_ctf_metadata *m = wm_cx_source_metadata(f);

	if (m) {
		f->has_uuid = m->has_uuid;
		memcpy(f->uuid, m->uuid, sizeof(f->uuid));
		return 0;
	}
	f->has_uuid = true;
	if (getrandom(f->uuid, sizeof(f->uuid), 0) != sizeof(f->uuid))
		return -EIO;
	f->uuid[6] = (f->uuid[6] & 0x0f) | 0x40; /* version 4, random: RFC 9562 */
	f->uuid[8] = (f->uuid[8] & 0x3f) | 0x80;
	return 0;
}

/*
 * Names the folder of an input. If there are several inputs, each gets its own folder: "1-NAME".
 */
static const char *folder_name(struct wm_cx *cx, uint32_t trace, const struct wm_ctf_folder *from)
{
	const char *below = from ? wm_ctf_folder_name(from) : "",
		   *path = cx->x->traces[trace]->path;
	size_t end = strlen(path), begin;
	char name[4096];

	if (cx->x->nr_traces == 1)
		return below;
	while (end && path[end - 1] == '/')
		end--;
	for (begin = end; begin && path[begin - 1] != '/';)
		begin--;
	if (snprintf(name, sizeof(name), "%u-%.*s%s%s", trace + 1, (int)(end - begin), path + begin,
		     *below ? "/" : "", below) >= (int)sizeof(name))
		return NULL;
	return wm_arena_copy(&cx->arena, name, strlen(name));
}

static int folder_get(struct wm_cx *cx, uint32_t trace, const struct wm_ctf_folder *from,
		      struct wm_cx_folder **ret)
{
	struct wm_cx_folder **end = &cx->folders, *f;
	int err;

	for (; *end; end = &(*end)->next) {
		if ((*end)->trace == trace && (*end)->from == from) {
			*ret = *end;
			return 0;
		}
	}
	f = wm_arena_get(&cx->arena, sizeof(*f));
	if (!f)
		return -ENOMEM;
	*f = (struct wm_cx_folder){.cx = cx, .trace = trace, .from = from};
	f->name = folder_name(cx, trace, from);
	err = f->name ? ctf_class_set_uuid(f) : -ENOMEM;
	if (err)
		return err;
	*ret = *end = f;
	return 0;
}

/* --- clocks ------------------------------------------------------------------------------- */

const struct wm_ctf_metadata *wm_cx_source_metadata(const struct wm_cx_folder *f)
{
	return f->from ? wm_ctf_folder_metadata(f->from) : NULL;
}

static const char implicit_clock[] = "default";

/* Returns the clock's id in the folder's list of clocks. */
static const char *clock_id(const struct wm_ctf_stream_plan *plan, const struct wm_trace_clock *c)
{
	const char *id = plan ? wm_ctf_class_clock_id(plan) : c->name;

	return id ? id : implicit_clock;
}

static bool uses_implicit(const struct wm_cx_folder *f)
{
	for (const struct wm_cx_class *c = f->classes; c; c = c->next)
		if (c->clock_id == implicit_clock)
			return true;
	return false;
}

static bool ctf_clock(const struct wm_cx_folder *f, const struct wm_ctf_metadata *m, uint32_t i,
		      struct wm_meta_clock *ret)
{
	const struct wm_ctf_clock *c;

	if (i == m->nr_clocks && uses_implicit(f)) {
		*ret = (struct wm_meta_clock){
		    .id = implicit_clock, .name = implicit_clock, .hz = WM_NS_PER_SECOND};
		return true;
	}
	if (i >= m->nr_clocks)
		return false;
	c = &m->clocks[i];
	*ret = (struct wm_meta_clock){.id = c->id,
				      .name = c->name,
				      .description = c->description,
				      .hz = c->hz,
				      .precision = c->precision,
				      .seconds = c->offset_seconds,
				      .cycles = c->offset_cycles,
				      .is_epoch = c->absolute,
				      .identity = c->identity,
				      .origin = c->origin};
	return true;
}

int64_t wm_cx_base_ns(const struct wm_trace *t, const struct wm_trace_clock *c)
{
	return t->nr_packets && t->begin_ns < c->offset_ns && t->begin_ns > INT64_MIN / 2
		   ? t->begin_ns
		   : c->offset_ns;
}

bool wm_cx_clock(const struct wm_cx_folder *f, uint32_t i, struct wm_meta_clock *ret)
{
	const struct wm_trace *t = f->cx->x->traces[f->trace];
	const struct wm_ctf_metadata *m = wm_cx_source_metadata(f);
	const struct wm_trace_clock *c;
	int64_t base;

	if (m)
		return ctf_clock(f, m, i, ret);
	if (i >= t->nr_clocks)
		return false;
	c = t->clocks[i];
	base = wm_cx_base_ns(t, c);
	*ret = (struct wm_meta_clock){
	    .id = c->name, .name = c->name, .hz = WM_NS_PER_SECOND, .is_epoch = c->is_epoch};
	ret->precision = c->error_ns == UINT64_MAX ? 0 : c->error_ns;
	ret->seconds = base / WM_NS_PER_SECOND - (base % WM_NS_PER_SECOND < 0);
	ret->cycles = base - ret->seconds * WM_NS_PER_SECOND;
	return true;
}

/* --- events ------------------------------------------------------------------------------ */

static void begin_build(struct wm_cx_build *b, const struct wm_cx_class *c)
{
	memset(b, 0, sizeof(*b));
	b->arena = &c->folder->cx->arena;
	b->language = c->folder->cx->language;
	b->metadata = wm_cx_source_metadata(c->folder);
	b->roots[WM_CTF_PACKET_CONTEXT] = c->packet_context;
	b->roots[WM_CTF_STREAM_EVENT_CONTEXT] = c->stream_context;
}

static int ctf_class_add_event(struct wm_cx_class *c, const struct wm_event_type *type,
			       struct wm_cx_event **slot)
{
	static const enum wm_ctf_scope scopes[] = {WM_CTF_STREAM_EVENT_CONTEXT,
						   WM_CTF_EVENT_CONTEXT, WM_CTF_EVENT_FIELDS};
	struct wm_cx_event *e = wm_arena_get(&c->folder->cx->arena, sizeof(*e));
	struct wm_cx_build b;
	int err = e ? 0 : -ENOMEM;

	if (err)
		return err;
	begin_build(&b, c);
	*e = (struct wm_cx_event){.type = type, .class = c, .id = c->nr_events};
	if (c->plan)
		e->id = type->id;
	for (size_t i = c->plan ? 1 : 0; !err && i < 3;
	     i++) /* enum wm_ctf_scope and enum wm_part have the same values */
		err = wm_cx_build(&b, scopes[i], type->parts[scopes[i]], &e->parts[scopes[i]]);
	if (err)
		return err;
	e->has_odd_bits = wm_cx_has_odd_bits(c->stream_context);
	for (size_t i = 0; i < 3; i++)
		e->has_odd_bits |= wm_cx_has_odd_bits(e->parts[scopes[i]]);
	c->nr_events++;
	*c->events_end = e;
	c->events_end = &e->next;
	e->next_of_type = *slot;
	*slot = e;
	return 0;
}

int wm_cx_event_get(struct wm_cx_class *c, const struct wm_event_type *type,
		    struct wm_cx_event **ret)
{
	struct wm_cx_event **slot = &c->folder->cx->events[c->folder->trace][type->index];
	int err = 0;

	for (*ret = *slot; *ret && (*ret)->class != c;)
		*ret = (*ret)->next_of_type;
	if (!*ret)
		err = ctf_class_add_event(c, type, slot);
	if (!*ret && !err)
		*ret = *slot;
	return err;
}

/* --- classes ------------------------------------------------------------------------------ */

/* Copies the whole description of a class from a CTF trace. */
static int take_plan(struct wm_cx_class *c)
{
	const struct wm_ctf_stream_plan *p = c->plan;
	const struct wm_event_type *type;
	struct wm_cx_event *e;
	struct wm_cx_build b;
	uint64_t id;
	int err;

	begin_build(&b, c);
	err = wm_cx_build(&b, WM_CTF_PACKET_CONTEXT, wm_ctf_class_part(p, WM_PART_PACKET_CONTEXT),
			  &c->packet_context);
	if (!err)
		err = wm_cx_build(&b, WM_CTF_STREAM_EVENT_CONTEXT,
				  wm_ctf_class_part(p, WM_PART_STREAM_CONTEXT), &c->stream_context);
	for (uint32_t i = 0; !err && (type = wm_ctf_class_event(p, i, &id)); i++) {
		err = wm_cx_event_get(c, type, &e);
		if (id >= SHORT_IDS)
			c->id_bytes = 8;
	}
	return err;
}

static int class_get(struct wm_cx_folder *f, uint64_t id, const struct wm_ctf_stream_plan *plan,
		     const struct wm_trace_clock *clock, bool has_cpu, struct wm_cx_class **ret)
{
	const struct wm_trace *t = f->cx->x->traces[f->trace];
	struct wm_cx_class **end = &f->classes, *c;

	for (; *end; end = &(*end)->next) {
		if ((*end)->id == id) {
			*ret = *end;
			return 0;
		}
	}
	c = wm_arena_get(&f->cx->arena, sizeof(*c));
	if (!c)
		return -ENOMEM;
	*c = (struct wm_cx_class){.folder = f,
				  .id = id,
				  .plan = plan,
				  .clock = clock,
				  .has_cpu = has_cpu,
				  .id_bytes = !plan && t->nr_types > SHORT_IDS ? 8 : 2};
	c->events_end = &c->events;
	if (clock)
		c->clock_id = clock_id(plan, clock);
	*ret = *end = c;
	return plan ? take_plan(c) : 0;
}

int wm_cx_class_get(struct wm_cx *cx, uint32_t trace, const struct wm_stream *s,
		    struct wm_cx_class **ret)
{
	bool is_ctf = cx->x->traces[trace]->ops == &wm_ctf_ops;
	struct wm_cx_folder *f;
	int err = folder_get(cx, trace, is_ctf ? wm_ctf_folder_of(s) : NULL, &f);

	if (err)
		return err;
	return class_get(f, s->class_id, is_ctf ? wm_ctf_class_of(s) : NULL, s->clock,
			 !is_ctf && s->cpu >= 0, ret);
}

int wm_cx_folders(struct wm_cx *cx, uint32_t trace)
{
	const struct wm_trace *t = cx->x->traces[trace];
	const struct wm_ctf_folder *from;
	const struct wm_ctf_stream_plan *p;
	struct wm_cx_folder *f;
	struct wm_cx_class *c;
	int err = 0;

	if (t->ops != &wm_ctf_ops)
		return folder_get(cx, trace, NULL, &f);
	for (uint32_t i = 0; !err && (from = wm_ctf_folder_at(t, i)); i++) {
		if (!wm_ctf_folder_metadata(from))
			continue;
		err = folder_get(cx, trace, from, &f);
		for (uint32_t k = 0; !err && (p = wm_ctf_class_at(from, k)); k++)
			err = class_get(f, wm_ctf_class_id(p), p, wm_ctf_class_clock(p), false, &c);
	}
	return err;
}

int wm_cx_class_finish(struct wm_cx_class *c)
{
	const struct wm_cx *cx = c->folder->cx;
	bool same = true;
	int err = 0;

	if (c->plan || !c->events)
		return 0;
	for (const struct wm_cx_event *e = c->events; e; e = e->next)
		same &= wm_cx_same(e->parts[WM_PART_STREAM_CONTEXT],
				   c->events->parts[WM_PART_STREAM_CONTEXT]);
	if (same) {
		c->stream_context = c->events->parts[WM_PART_STREAM_CONTEXT];
		return 0;
	}
	for (struct wm_cx_event *e = c->events; !err && e; e = e->next) {
		struct wm_meta_field *common = e->parts[WM_PART_STREAM_CONTEXT];

		e->common_in_fields =
		    cx->language == WM_META_TSDL && common && wm_cx_has_sequence(common);
		if (e->common_in_fields && e->parts[WM_PART_FIELDS])
			err = wm_cx_make_apart(&c->folder->cx->arena, common,
					       e->parts[WM_PART_FIELDS]);
	}
	return err;
}
