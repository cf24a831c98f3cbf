/* SPDX-License-Identifier: MIT */
/*
 * stat.c - reads the output of `perf stat record`: counts of events, at the end or at intervals, as
 * events named after the event counted.
 *
 * Counts precede the record of the round in which they were read, and only that record has the
 * time: so rounds are listed when the file is indexed, and the round of a count is found by its
 * offset. Counts after the last round were read at the end; they get its time, and their round is
 * "none". Times count from the start of perf stat, which is not in the file.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"

#include "read/perfdata/perfdata_int.h"

#define COMM_BYTES    16u
#define THREAD_BYTES  (8u + COMM_BYTES)
#define NR_FIELDS     6u /* fields that all counts have; unit and scale may follow */
#define ROUND_IS_NONE 2
#define CLOCK_NAME    "perf stat"

static const struct wm_type_label round_labels[] = {
    {"interval", 0, 0}, {"final", 1, 1}, {"none", ROUND_IS_NONE, ROUND_IS_NONE}};
static const struct wm_type s32 = {.kind = WM_TYPE_SIGNED, .bits = 32};
static const struct wm_type u64 = {.kind = WM_TYPE_UNSIGNED, .bits = 64};
static const struct wm_type f64 = {.kind = WM_TYPE_FLOAT, .bits = 64};
static const struct wm_type string = {.kind = WM_TYPE_STRING};
static const struct wm_type round_type = {
    .kind = WM_TYPE_UNSIGNED, .bits = 64, .is_enum = true, .nr_labels = 3, .labels = round_labels};
static const struct wm_member members[NR_FIELDS + 2] = {
    {"cpu", &s32},     {"thread", &s32},       {"value", &u64},   {"enabled", &u64},
    {"running", &u64}, {"round", &round_type}, {"unit", &string}, {"scale", &f64}};

/* --- descriptions ------------------------------------------------------------------------- */

int wm_pd_stat_seen(struct wm_pd *pd)
{
	struct wm_trace_clock *c = pd->clock;

	pd->has_counts = true;
	c->name = CLOCK_NAME;
	c->offset_ns = 0;
	c->rest = 0;
	c->error_ns = UINT64_MAX;
	c->is_epoch = false;
	return 0;
}

/* Reads u64 count, then {u64 thread, comm}. Only the first such record counts. */
int wm_pd_stat_threads(struct wm_pd *pd, struct wm_pd_bytes *b)
{
	uint64_t nr = wm_pd_u64(b);

	if (pd->threads || b->failed || nr > (uint64_t)(b->end - b->at) / THREAD_BYTES)
		return 0;
	pd->threads = wm_arena_array(&pd->trace->arena, (uint32_t)nr + 1, sizeof(*pd->threads));
	if (!pd->threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t thread = wm_pd_u64(b);

		pd->threads[i] = thread <= INT32_MAX ? (int32_t)thread : -1;
		(void)wm_pd_take(b, COMM_BYTES);
	}
	pd->nr_threads = (uint32_t)nr;
	return 0;
}

/* Adds a round. Its time must not decrease, or its counts would be sorted before earlier ones. */
int wm_pd_stat_round(struct wm_pd *pd, const struct wm_pd_walk *w)
{
	const unsigned char *body = w->record + WM_PERF_HEADER_BYTES;
	struct wm_pd_round *last = pd->nr_rounds ? &pd->rounds[pd->nr_rounds - 1] : NULL;
	struct wm_pd_round r = {.offset = w->offset,
				.final = wm_get_u64(body, pd->swap) == 1,
				.time = wm_pd_time_word(wm_get_u64(body + 8, pd->swap))};

	if (w->source != pd->sources || pd->nr_rounds >= WM_PD_ROUNDS_MAX)
		return 0;
	if (r.time == WM_TIME_NONE || (last && r.time < last->time)) {
		wm_trace_fault(pd->trace, w->source->file, w->offset,
			       "a round of counts has no time, or one before the previous round's; "
			       "its counts get the previous round's time");
		r.time = last ? last->time : 0;
	}
	if (WM_ARRAY_GROW(pd->rounds, pd->room_rounds, (size_t)pd->nr_rounds + 1))
		return -ENOMEM;
	pd->rounds[pd->nr_rounds++] = r;
	return 0;
}

/* Returns the round in which the count at that offset was read; NULL: none. */
static const struct wm_pd_round *round_of(const struct wm_pd *pd, uint64_t offset)
{
	uint32_t low = WM_SEARCH(0, pd->nr_rounds, i, pd->rounds[i].offset < offset);
	return low < pd->nr_rounds ? &pd->rounds[low] : NULL;
}

int64_t wm_pd_stat_time(const struct wm_pd *pd, uint64_t offset)
{
	const struct wm_pd_round *r = round_of(pd, offset);

	if (!r && pd->nr_rounds)
		r = &pd->rounds[pd->nr_rounds - 1];
	return r ? r->time : WM_TIME_NONE;
}

void wm_pd_stat_packets(struct wm_pd *pd)
{
	struct wm_trace *t = pd->trace;

	for (uint64_t i = 0; i < t->nr_packets; i++) {
		struct wm_packet *p = &t->packets[i];

		if (!(p->own & WM_PD_HAS_COUNTS))
			continue;
		p->begin_ns = wm_pd_ns(pd, wm_pd_stat_time(pd, p->offset));
		p->end_ns = wm_pd_ns(pd, wm_pd_stat_time(pd, p->offset + p->bytes - 1));
	}
}

/* --- events ---------------------------------------------------------------------------------- */

int wm_pd_stat_type(struct wm_pd *pd, uint32_t attr)
{
	struct wm_pd_attr *a = &pd->attrs[attr];
	struct wm_arena *arena = &pd->trace->arena;
	struct wm_event_type *event = wm_arena_get(arena, sizeof(*event));
	struct wm_type *fields = wm_arena_get(arena, sizeof(*fields));

	if (!a->name || !event || !fields)
		return -ENOMEM;
	fields->kind = WM_TYPE_STRUCT;
	fields->members = members;
	fields->nr_members = NR_FIELDS + (a->unit || a->scale != 0 ? 2 : 0);
	*event = (struct wm_event_type){.name = a->name,
					.provider = wm_trace_provider(pd->trace, a->name),
					.level = -1,
					.id = attr,
					.own = a};
	event->parts[WM_PART_FIELDS] = fields;
	a->counts = event;
	if (!a->type)
		a->type = event;
	return event->provider ? wm_trace_add_type(pd->trace, event) : -ENOMEM;
}

static bool perfdata_stat_put_fields(const struct wm_pd *pd, const struct wm_pd_attr *a,
				     struct wm_event *e, const unsigned char *record,
				     uint64_t offset, struct wm_batch *b)
{
	const struct wm_type *fields = a->counts->parts[WM_PART_FIELDS];
	const struct wm_pd_round *round = round_of(pd, offset);
	uint32_t at = b->nr_items;
	struct wm_item *i;

	if (!wm_batch_room(b, fields->nr_members))
		return false;
	i = &b->items[at];
	for (uint32_t k = 0; k < fields->nr_members; k++)
		(void)wm_batch_item(b, &fields->members[k]);
	i[0].s = e->cpu;
	i[1].s = e->tid;
	for (uint32_t k = 0; k < 3; k++)
		i[2 + k].u = wm_get_u64(record + 24 + 8 * k, pd->swap);
	i[5].u = round ? round->final : ROUND_IS_NONE;
	if (fields->nr_members > NR_FIELDS) {
		i[6].text = a->unit ? a->unit : "";
		i[6].count = (uint32_t)strlen(i[6].text);
		i[7].f = a->scale != 0 ? a->scale : 1;
	}
	e->parts[WM_PART_FIELDS] = (struct wm_part_range){at, b->nr_items};
	return true;
}

int wm_pd_stat_event(struct wm_pd *pd, const struct wm_packet *p, const unsigned char *record,
		     uint64_t offset, int64_t time, const struct wm_want *want, struct wm_batch *b)
{
	const struct wm_pd_attr *a = wm_pd_attr_find(pd, wm_get_u64(record + 8, pd->swap));
	uint32_t cpu = wm_get_u32(record + 16, pd->swap), thread;
	struct wm_event *e;

	if (!a) {
		wm_trace_fault(pd->trace, pd->trace->streams[p->stream]->file, offset,
			       "a count of an event without a description: it is left out");
		return 0;
	}
	if (want->types && !want->types[a->counts->index])
		return 0;
	if (!wm_batch_room(b, 0))
		return -ENOMEM;
	e = &b->events[b->nr_events];
	wm_pd_event_begin(pd, e, p, NULL, 0, time);
	thread = wm_get_u32(record + 20, pd->swap);
	e->type = a->counts;
	e->cpu = wm_pd_known(true, cpu);
	e->tid = thread < pd->nr_threads ? pd->threads[thread] : -1;
	if (!(want->no_parts & 1u << WM_PART_FIELDS) &&
	    !perfdata_stat_put_fields(pd, a, e, record, offset, b))
		return -ENOMEM;
	b->nr_events++;
	return 1;
}
