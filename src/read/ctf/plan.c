/* SPDX-License-Identifier: MIT */
/* plan.c - creates the plans of a trace: every stream class and its events; see plan.h. */
#include "read/ctf/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/search.h"
#include "read/ctf/compile.h"
#include "read/ctf/item_type.h"
#include "read/ctf/own.h"
#include "trace/clock_origin.h"
#include "trace/trace_layout.h"

#define NONE            UINT32_MAX
#define IMPLICIT_HZ     WM_NS_PER_SECOND
#define MIN_ALIGN_BYTES 8u

/* First operations of an event's programs, as indices until all operations are compiled. */
struct event_begins {
	uint32_t context, fields;
};

struct stream_begins {
	uint32_t packet_header, packet_context, event_header, event_context;
	struct event_begins *events;
};

static int no_memory(struct wm_diag *diag)
{
	return wm_diag_set(diag, -ENOMEM, diag ? diag->where : NULL, -1,
			   "out of memory for "
			   "the plan");
}

/* --- clocks -------------------------------------------------------------------------- */

static const struct wm_ctf_clock *clock_named(const struct wm_ctf_metadata *m, const char *name)
{
	for (uint32_t i = 0; i < m->nr_clocks; i++) {
		if (!strcmp(m->clocks[i].id, name))
			return &m->clocks[i];
	}
	return NULL;
}

/* LTTng's monotonic clock counts from the epoch, regardless of its `absolute` attribute. */
static bool ctf_plan_is_epoch(const struct wm_ctf_metadata *m, const struct wm_ctf_clock *c)
{
	const struct wm_ctf_pair *tracer = wm_ctf_env(m, "tracer_name");

	return c->absolute || (c->name && !strcmp(c->name, "monotonic") && tracer && tracer->text &&
			       !strncmp(tracer->text, "lttng-", 6));
}

/*
 * Describes what the clock counts from. A clock without an identity belongs to its metadata only.
 */
static const char *ctf_plan_origin(struct wm_trace *t, const struct wm_ctf_metadata *m,
				   const struct wm_ctf_clock *c, const char *where)
{
	const struct wm_ctf_identity metadata = {t->path, c->id, where};
	const struct wm_ctf_identity *i = c->origin.uid     ? &c->origin
					  : c->identity.uid ? &c->identity
							    : &metadata;
	struct wm_text text;
	const char *copy;

	if (ctf_plan_is_epoch(m, c))
		return WM_ORIGIN_EPOCH;
	wm_text_init(&text);
	wm_text_f(&text, "%s\t%s\t%s\t%s",
		  i == &metadata      ? "metadata"
		  : i == &c->identity ? "clock"
				      : "origin",
		  i->space ? i->space : "", i->name ? i->name : "", i->uid);
	copy = text.failed ? NULL : wm_arena_copy(&t->arena, text.data, text.bytes);
	wm_text_done(&text);
	return copy;
}

static bool same_clock(const struct wm_trace_clock *a, const struct wm_trace_clock *b)
{
	return !strcmp(a->name, b->name) && a->hz == b->hz && a->offset_ns == b->offset_ns &&
	       a->rest == b->rest && a->is_epoch == b->is_epoch && !strcmp(a->origin, b->origin);
}

static int clock_make(struct wm_trace *t, const struct wm_ctf_metadata *m,
		      const struct wm_ctf_clock *from, const struct wm_trace_clock **ret,
		      struct wm_diag *diag)
{
	struct wm_trace_clock *c = wm_arena_get(&t->arena, sizeof(*c));
	__int128 product, offset, rest;

	if (!c)
		return no_memory(diag);
	product = (__int128)from->offset_cycles * WM_NS_PER_SECOND;
	offset = product / (__int128)from->hz - (product % (__int128)from->hz < 0);
	rest = product - offset * (__int128)from->hz;
	offset += (__int128)from->offset_seconds * WM_NS_PER_SECOND;
	if (offset > INT64_MAX / 2 || offset < INT64_MIN / 2) {
		wm_trace_fault(t, diag && diag->where ? diag->where : "metadata", 0,
			       "the offset of clock '%.60s' spans centuries, more than 64-bit "
			       "nanoseconds can hold: its times count from 0",
			       from->id);
		offset = rest = 0;
	}
	*c = (struct wm_trace_clock){
	    .name = from->name,
	    .hz = from->hz,
	    .offset_ns = (int64_t)offset,
	    .rest = (uint64_t)rest,
	    .error_ns = UINT64_MAX,
	    .is_epoch = ctf_plan_is_epoch(m, from) && offset,
	    .origin = ctf_plan_origin(t, m, from, diag && diag->where ? diag->where : ""),
	};
	if (!c->origin)
		return no_memory(diag);
	/* Traces with equal clocks share a single one. */
	for (uint32_t i = 0; i < t->nr_clocks; i++) {
		if (same_clock(t->clocks[i], c)) {
			*ret = t->clocks[i];
			return 0;
		}
	}
	*ret = c;
	return wm_trace_add_clock(t, c) ? no_memory(diag) : 0;
}

/*
 * Creates one wm_trace_clock for each clock in use. `made` is indexed like the metadata's clocks;
 * its last element is the implicit clock. Sets clock and clock_id of the stream.
 */
static int ctf_plan_find_clock(struct wm_trace *t, const struct wm_ctf_compiler *c,
			       const struct wm_ctf_stream *s, const struct wm_trace_clock **made,
			       struct wm_ctf_stream_plan *ret, struct wm_diag *diag)
{
	static const struct wm_ctf_clock implicit = {
	    .id = "default", .name = "default", .hz = IMPLICIT_HZ};
	const struct wm_ctf_metadata *m = c->m;
	const char *name = m->major == 2 ? s->clock : c->clock;
	const struct wm_ctf_clock *from = &implicit;
	uint32_t i = m->nr_clocks;

	if (!c->clock || !name || (!name[0] && m->nr_clocks > 1))
		return 0;
	if (name[0] || m->nr_clocks) {
		from = name[0] ? clock_named(m, name) : &m->clocks[0];
		if (!from)
			return wm_diag_set(diag, -EBADMSG, diag ? diag->where : NULL, -1,
					   "a field is mapped to clock '%.60s', which is not "
					   "described",
					   name);
		i = (uint32_t)(from - m->clocks);
	}
	if (!made[i]) {
		int err = clock_make(t, m, from, &made[i], diag);

		if (err)
			return err;
	}
	ret->clock = made[i];
	ret->clock_id = from == &implicit ? NULL : from->id;
	return 0;
}

/* --- one stream class -------------------------------------------------------------------- */

/*
 * Returns the type that readers show for a scope; NULL when out of memory or when the scope is
 * absent.
 */
static const struct wm_type *ctf_plan_shape(struct wm_ctf_compiler *c, enum wm_ctf_scope scope,
					    struct wm_ctf_type *t)
{
	const struct wm_type *s = t ? wm_ctf_shape_scope(c->m, scope, t) : NULL;

	if (t && !s)
		(void)wm_ctf_compile_fail(c, NULL, -ENOMEM, "out of memory for the plan");
	return s;
}

static uint32_t compile(struct wm_ctf_compiler *c, struct wm_ctf_stream_plan *p,
			enum wm_ctf_scope scope, struct wm_ctf_type *t, struct wm_ctf_place *at)
{
	/* Parts and scopes have the same order. */
	p->parts[scope] = ctf_plan_shape(c, scope, t);
	return wm_ctf_compile(c, scope, t, p->parts[scope], at);
}

static void ctf_plan_event_type(struct wm_trace *t, struct wm_ctf_compiler *c,
				const struct wm_ctf_stream_plan *p, const struct wm_ctf_event *e,
				struct wm_ctf_event_plan *plan)
{
	struct wm_event_type *type = wm_arena_get(&t->arena, sizeof(*type));
	const struct wm_type *context = ctf_plan_shape(c, WM_CTF_EVENT_CONTEXT, e->context);
	const struct wm_type *fields = ctf_plan_shape(c, WM_CTF_EVENT_FIELDS, e->fields);

	if (type) {
		type->name = e->name ? e->name : "";
		type->provider = wm_trace_provider(t, type->name);
	}
	if (!type || !type->provider) {
		(void)wm_ctf_compile_fail(c, NULL, -ENOMEM, "out of memory for the plan");
		return;
	}
	type->level = e->level >= 0 && e->level <= INT32_MAX ? (int)e->level : -1;
	type->id = plan->id = e->id;
	memcpy(type->parts, p->parts, sizeof(type->parts));
	type->parts[WM_PART_CONTEXT] = context;
	type->parts[WM_PART_FIELDS] = fields;
	type->own = e;
	type->meta = wm_ctf_is_about_recording(c->m, p->class);
	if (p->is_own && wm_ctf_own_note(t, e, type))
		(void)wm_ctf_compile_fail(c, NULL, -ENOMEM, "out of memory for the plan");
	plan->type = type;
	if (wm_trace_add_type(t, type))
		(void)wm_ctf_compile_fail(c, NULL, -ENOMEM, "out of memory for the plan");
}

static void events(struct wm_trace *t, struct wm_ctf_compiler *c, struct wm_ctf_stream_plan *p,
		   struct stream_begins *begins, struct wm_ctf_event *const *list,
		   const struct wm_ctf_place *after)
{
	for (uint32_t i = 0; i < p->nr_events && !c->err; i++) {
		const struct wm_ctf_event *e = list[i];
		struct wm_ctf_event_plan *plan = &p->events[i];
		struct wm_ctf_place place = *after;
		uint32_t nr_slots = c->nr_slots;

		c->event_op = c->nr_ops;
		c->keeps_slots = false;
		ctf_plan_event_type(t, c, p, e, plan);
		if (c->err)
			return;
		begins->events[i].context =
		    wm_ctf_compile(c, WM_CTF_EVENT_CONTEXT, e->context,
				   plan->type->parts[WM_PART_CONTEXT], &place);
		begins->events[i].fields = wm_ctf_compile(
		    c, WM_CTF_EVENT_FIELDS, e->fields, plan->type->parts[WM_PART_FIELDS], &place);
		wm_ctf_compile_event_end(c);
		/* Slots that only this event uses can be reused for the next one. */
		if (!c->keeps_slots)
			c->nr_slots = nr_slots;
		if (p->nr_dense == i && e->id == i)
			p->nr_dense++;
	}
}

/* Marks runs in which no value is needed, so that they can be skipped in one step. */
static void mark_runs(struct wm_ctf_op *ops, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t n = 0;
		bool pure = true;

		if (ops[i].code != WM_CTF_OP_RUN)
			continue;
		while (i + n + 1 < count && ops[i + n + 1].code > WM_CTF_OP_RUN &&
		       ops[i + n + 1].code <= WM_CTF_OP_STRUCT) {
			const struct wm_ctf_op *op = &ops[i + ++n];

			pure &= !op->role && !(op->flags & WM_CTF_FLAG_CLOCK) &&
				(!op->slot || (op->flags & WM_CTF_FLAG_INPUT));
		}
		ops[i].at = pure ? n : 0;
	}
}

static const struct wm_ctf_op *program(const struct wm_ctf_op *ops, uint32_t begin)
{
	return begin == NONE ? NULL : ops + begin;
}

/* Converts indices to pointers. */
static int ctf_plan_finish(struct wm_ctf_compiler *c, struct wm_ctf_stream_plan *p,
			   const struct stream_begins *b)
{
	struct wm_ctf_op *ops =
	    wm_arena_copy(&c->m->arena, c->ops ? (void *)c->ops : "", c->nr_ops * sizeof(*ops));

	if (!ops)
		return no_memory(c->diag);
	mark_runs(ops, c->nr_ops);
	p->ops = ops;
	p->packet_header.ops = program(ops, b->packet_header);
	p->packet_context.ops = program(ops, b->packet_context);
	p->event_header.ops = program(ops, b->event_header);
	p->event_context.ops = program(ops, b->event_context);
	for (uint32_t i = 0; i < p->nr_events; i++) {
		const struct wm_ctf_op **body = p->events[i].body;

		body[0] = p->event_context.ops;
		body[1] = program(ops, b->events[i].context);
		body[2] = program(ops, b->events[i].fields);
	}
	p->nr_slots = c->max_slots;
	p->ids_in_events = c->ids_in_events;
	p->uuid = c->uuid;
	memcpy(p->has, c->has, sizeof(p->has));
	memcpy(p->bits, c->bits, sizeof(p->bits));
	wm_ctf_quick_make(p);
	return 0;
}

static int ctf_plan_stream(struct wm_trace *t, struct wm_ctf_compiler *c,
			   struct wm_ctf_stream_plan *p, struct wm_ctf_event *const *list,
			   uint32_t nr_events, const struct wm_trace_clock **clocks)
{
	struct wm_ctf_place place = {.known = 1u << 20}, body = {.known = 1};
	const struct wm_ctf_stream *s = p->class;
	struct stream_begins b = {0};
	int err;

	p->metadata = c->m;
	p->is_own = c->is_own = wm_ctf_is_own(c->m);
	p->has_own_packets = wm_ctf_has_own_packets(c->m);
	p->is_of_cpu =
	    p->is_own && s->packet_context && wm_ctf_member_find(s->packet_context, "cpu_id") >= 0;
	c->fields_say_pid = wm_ctf_is_about_recording(c->m, s);
	p->nr_events = nr_events;
	p->events = wm_arena_array(&c->m->arena, nr_events + (size_t)1, sizeof(*p->events));
	b.events = calloc(nr_events + (size_t)1, sizeof(*b.events));
	if (!p->events || !b.events) {
		free(b.events);
		return no_memory(c->diag);
	}
	b.packet_header = compile(c, p, WM_CTF_PACKET_HEADER, c->m->packet_header, &place);
	b.packet_context = compile(c, p, WM_CTF_PACKET_CONTEXT, s->packet_context, &place);
	c->ids_in_events = false;
	b.event_header = compile(c, p, WM_CTF_EVENT_HEADER, s->event_header, &body);
	b.event_context = compile(c, p, WM_CTF_STREAM_EVENT_CONTEXT, s->event_context, &body);
	err = c->err ? c->err : ctf_plan_find_clock(t, c, s, clocks, p, c->diag);
	if (!err)
		events(t, c, p, &b, list, &body);
	if (!err)
		err = c->err ? c->err : ctf_plan_finish(c, p, &b);
	free(b.events);
	return err;
}

/* --- the whole ------------------------------------------------------------------------------ */

static int by_stream_and_id(const void *a, const void *b)
{
	const struct wm_ctf_event *const *x = a, *const *y = b;

	if ((*x)->stream_id != (*y)->stream_id)
		return (*x)->stream_id < (*y)->stream_id ? -1 : 1;
	return (*x)->id < (*y)->id ? -1 : (*x)->id > (*y)->id;
}

static int by_id(const void *a, const void *b)
{
	const struct wm_ctf_stream_plan *x = a, *y = b;

	return x->class->id < y->class->id ? -1 : x->class->id > y->class->id;
}

static uint32_t strictest(const struct wm_ctf_metadata *m)
{
	uint32_t align = MIN_ALIGN_BYTES * 8;

	for (const struct wm_ctf_type *type = m->types; type; type = type->next)
		align = type->align > align ? type->align : align;
	return align / 8;
}

static int all_streams(struct wm_trace *t, struct wm_ctf_plan *p, struct wm_ctf_event *const *list,
		       const struct wm_trace_clock **clocks, struct wm_diag *diag)
{
	struct wm_ctf_compiler *c = malloc(sizeof(*c));
	uint32_t e = 0;
	int err = c ? 0 : no_memory(diag);

	for (uint32_t i = 0; i < p->nr_streams && !err; i++) {
		struct wm_ctf_stream_plan *s = &p->streams[i];
		uint32_t begin = e;

		while (e < p->metadata->nr_events && list[e]->stream_id == s->class->id)
			e++;
		wm_ctf_compiler_init(c, p->metadata, (uint32_t)(WM_CTF_OPS_MAX - p->nr_ops), diag);
		err = ctf_plan_stream(t, c, s, list + begin, e - begin, clocks);
		p->nr_ops += c->nr_ops;
		wm_ctf_compiler_done(c);
	}
	free(c);
	return err;
}

static int ctf_plan_create(struct wm_trace *t, struct wm_ctf_plan *p, struct wm_diag *diag)
{
	struct wm_ctf_metadata *m = p->metadata;
	struct wm_ctf_event **list =
	    calloc(m->nr_events + (size_t)1, sizeof(struct wm_ctf_event *));
	const struct wm_trace_clock **clocks =
	    calloc(m->nr_clocks + (size_t)1, sizeof(const struct wm_trace_clock *));
	int err = no_memory(diag);

	p->streams = wm_arena_array(&m->arena, m->nr_streams + (size_t)1, sizeof(*p->streams));
	if (list && clocks && p->streams) {
		p->nr_streams = m->nr_streams;
		for (uint32_t i = 0; i < m->nr_streams; i++)
			p->streams[i].class = &m->streams[i];
		for (uint32_t i = 0; i < m->nr_events; i++)
			list[i] = &m->events[i];
		qsort(p->streams, p->nr_streams, sizeof(*p->streams), by_id);
		qsort(list, m->nr_events, sizeof(*list), by_stream_and_id);
		p->align_bytes = strictest(m);
		err = all_streams(t, p, list, clocks, diag);
	}
	free(list);
	free(clocks);
	return err;
}

int wm_ctf_plan_create(struct wm_trace *t, struct wm_ctf_metadata *m, struct wm_ctf_plan **ret,
		       struct wm_diag *diag)
{
	struct wm_ctf_plan *p = calloc(1, sizeof(*p));
	int err;

	if (!p) {
		wm_ctf_metadata_destroy(m);
		return no_memory(diag);
	}
	p->metadata = m;
	if (m->major != 2 && wm_ctf_is_own(m))
		wm_ctf_own_types(m);
	err = ctf_plan_create(t, p, diag);
	if (err) {
		wm_ctf_plan_destroy(p);
		return err;
	}
	*ret = p;
	return 0;
}

void wm_ctf_plan_destroy(struct wm_ctf_plan *p)
{
	if (!p)
		return;
	wm_ctf_metadata_destroy(p->metadata);
	free(p);
}

const struct wm_ctf_stream_plan *wm_ctf_plan_stream(const struct wm_ctf_plan *p, uint64_t id)
{
	uint32_t low = WM_SEARCH(0, p->nr_streams, i, p->streams[i].class->id < id);
	return low < p->nr_streams && p->streams[low].class->id == id ? &p->streams[low] : NULL;
}

const struct wm_ctf_event_plan *wm_ctf_plan_event_search(const struct wm_ctf_stream_plan *s,
							 uint64_t id)
{
	uint32_t low = WM_SEARCH(s->nr_dense, s->nr_events, i, s->events[i].id < id);
	return low < s->nr_events && s->events[low].id == id ? &s->events[low] : NULL;
}
