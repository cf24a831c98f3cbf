/* SPDX-License-Identifier: MIT */
/* perfetto_samples.c - see perfetto_samples.h. */
#include "export/timeline/perfetto_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pb.h"
#include "base/table.h"
#include "kdata/perf_sample.h"
#include "trace/field_ref.h"
#include "trace/name_table.h"
#include "view/writer.h"

#define FRAMES_MAX 1024u      /* frames of one chain */
#define STACKS_MAX (1u << 18) /* chains that are remembered before everything is written again */
#define CPUS_MAX   65536u

/* Numbers of fields. */
enum packet {
	TRACE_PACKET = 1,
	TIMESTAMP = 8,
	SEQUENCE_ID = 10,
	INTERNED_DATA = 12,
	SEQUENCE_FLAGS = 13,
	DEFAULTS = 59,
	PERF_SAMPLE = 66,
};
enum sample { CPU = 1, PID = 2, TID = 3, CALLSTACK_IID = 4, CPU_MODE = 5, TIMEBASE_COUNT = 6 };
enum interned { FUNCTION_NAMES = 5, FRAMES = 6, CALLSTACKS = 7, MAPPING_PATHS = 17, MAPPINGS = 19 };
enum defaults { PERF_SAMPLE_DEFAULTS = 12, TIMEBASE = 1, FREQUENCY = 2, TIMEBASE_NAME = 10 };
enum flags { CLEARED = 1, NEEDS_STATE = 2 };

struct frame {
	uint32_t symbol, file; /* ids of names + 1; 0: unknown */
	uint64_t address;
};

struct stack {
	uint32_t first, nr; /* in `pool` */
};

/* Everything that was written on one sequence. */
struct known {
	struct wm_names names;
	unsigned char *sent; /* by name: bits of enum sent */
	uint32_t room_sent;
	struct frame *frames;
	uint32_t room_frames;
	struct wm_table frame_table;
	uint32_t *pool; /* frames of chains, innermost first */
	uint32_t nr_pool, room_pool;
	struct stack *stacks;
	uint32_t room_stacks;
	struct wm_table stack_table;
};
enum sent { SENT_FUNCTION = 1, SENT_FILE = 2 };

struct sequence {
	uint32_t id;
	const char *name;
	struct wm_field_ref ip, chain, period;
	uint64_t fixed_period;
	enum wm_perfetto_sampled how;
	bool begun;
	struct known known;
	uint64_t *counts; /* by processor: sum of the periods */
	uint32_t room_counts;
};

struct wm_perfetto_samples {
	const struct wm_view_places *places;
	void *names; /* of `places`; NULL: addresses have no names */
	uint32_t nr_traces;
	struct sequence **sequences; /* by trace and type; their `id` is 0 when it is no sample */
	uint32_t *nr_types;
	struct wm_text interned;
	uint32_t chain[FRAMES_MAX];
	struct wm_named_place callers[WM_UNWIND_FRAMES_MAX];
};

/* --- what is known ---------------------------------------------------------------------- */

static int known_init(struct known *k)
{
	*k = (struct known){0};
	wm_table_init(&k->frame_table);
	wm_table_init(&k->stack_table);
	return wm_names_init(&k->names);
}

static void known_done(struct known *k)
{
	wm_names_done(&k->names);
	wm_table_done(&k->frame_table);
	wm_table_done(&k->stack_table);
	free(k->sent);
	free(k->frames);
	free(k->pool);
	free(k->stacks);
	*k = (struct known){0};
}

/* Returns the number of a name, written as {iid, text} at its first use; 0: out of memory. */
static uint32_t send_name(struct known *k, enum sent kind, uint32_t field, const char *text,
			  struct wm_text *t)
{
	uint32_t id = wm_names_id(&k->names, text, strlen(text));
	size_t at;

	if (id == WM_NAMES_NONE || WM_ARRAY_GROW_ZEROED(k->sent, k->room_sent, (size_t)id + 1))
		return 0;
	if (k->sent[id] & kind)
		return id + 1;
	k->sent[id] |= kind;
	at = wm_pb_begin(t, field);
	wm_pb_u64(t, 1, id + 1);
	wm_pb_string(t, 2, text, strlen(text));
	wm_pb_end(t, at);
	return id + 1;
}

/* The same for a file, which is a mapping with a path. */
static uint32_t send_file(struct known *k, const char *path, struct wm_text *t)
{
	uint32_t id = wm_names_id(&k->names, path, strlen(path)), iid;
	size_t at;

	if (id == WM_NAMES_NONE || WM_ARRAY_GROW_ZEROED(k->sent, k->room_sent, (size_t)id + 1))
		return 0;
	if (k->sent[id] & SENT_FILE)
		return id + 1;
	iid = send_name(k, SENT_FILE, MAPPING_PATHS, path, t);
	at = wm_pb_begin(t, MAPPINGS);
	wm_pb_u64(t, 1, iid);
	wm_pb_u64(t, 7, iid);
	wm_pb_end(t, at);
	return iid;
}

static void write_frame(uint32_t id, const struct frame *f, struct wm_text *t)
{
	size_t at = wm_pb_begin(t, FRAMES);

	wm_pb_u64(t, 1, id);
	if (f->symbol)
		wm_pb_u64(t, 2, f->symbol);
	if (f->file)
		wm_pb_u64(t, 3, f->file);
	wm_pb_u64(t, 4, f->address);
	wm_pb_end(t, at);
}

/* Returns the number of a frame, written at its first use; 0: out of memory. */
static uint32_t send_frame(struct known *k, const struct wm_named_place *n, struct wm_text *t)
{
	struct frame f = {.address = n->address};
	struct wm_table_walk w;
	uint32_t nr = k->frame_table.nr;
	uint64_t hash;

	f.symbol = n->symbol ? send_name(k, SENT_FUNCTION, FUNCTION_NAMES, n->symbol, t) : 0;
	f.file = n->file ? send_file(k, n->file, t) : 0;
	if ((n->symbol && !f.symbol) || (n->file && !f.file))
		return 0;
	hash = wm_table_hash(&k->frame_table, wm_mix(f.address, (uint64_t)f.symbol << 32 | f.file));
	w = wm_table_walk(hash);
	while (wm_table_next(&k->frame_table, &w))
		if (!memcmp(&k->frames[w.index], &f, sizeof(f)))
			return w.index + 1;
	if (WM_ARRAY_GROW(k->frames, k->room_frames, (size_t)nr + 1) ||
	    wm_table_add(&k->frame_table, hash, nr))
		return 0;
	k->frames[nr] = f;
	write_frame(nr + 1, &f, t);
	return nr + 1;
}

/* Returns the number of a chain of frames, written at its first use; 0: out of memory. */
static uint32_t send_stack(struct known *k, const uint32_t *chain, uint32_t nr, struct wm_text *t)
{
	uint64_t hash = nr;
	struct wm_table_walk w;
	uint32_t id = k->stack_table.nr;
	size_t at;

	for (uint32_t i = 0; i < nr; i++)
		hash = wm_table_hash(&k->stack_table, hash ^ chain[i]);
	w = wm_table_walk(hash);
	while (wm_table_next(&k->stack_table, &w))
		if (k->stacks[w.index].nr == nr &&
		    !memcmp(k->pool + k->stacks[w.index].first, chain, nr * sizeof(*chain)))
			return w.index + 1;
	if (WM_ARRAY_GROW(k->pool, k->room_pool, (size_t)k->nr_pool + nr) ||
	    WM_ARRAY_GROW(k->stacks, k->room_stacks, (size_t)id + 1) ||
	    wm_table_add(&k->stack_table, hash, id))
		return 0;
	memcpy(k->pool + k->nr_pool, chain, nr * sizeof(*chain));
	k->stacks[id] = (struct stack){k->nr_pool, nr};
	k->nr_pool += nr;
	at = wm_pb_begin(t, CALLSTACKS);
	wm_pb_u64(t, 1, id + 1);
	for (uint32_t i = nr; i--;) /* the outermost frame is first */
		wm_pb_u64(t, 2, chain[i]);
	wm_pb_end(t, at);
	return id + 1;
}

/* --- chains ------------------------------------------------------------------------------ */

static enum wm_event_mode mode_of_marker(uint64_t marker, enum wm_event_mode otherwise)
{
	switch (marker) {
	case WM_PERF_CONTEXT_KERNEL:
		return WM_MODE_KERNEL;
	case WM_PERF_CONTEXT_USER:
		return WM_MODE_USER;
	case WM_PERF_CONTEXT_HV:
		return WM_MODE_HYPERVISOR;
	case WM_PERF_CONTEXT_GUEST_KERNEL:
		return WM_MODE_GUEST_KERNEL;
	case WM_PERF_CONTEXT_GUEST_USER:
		return WM_MODE_GUEST_USER;
	default:
		return otherwise;
	}
}

/* Adds a frame to the chain; 0, or -errno. */
static int add_place(struct wm_perfetto_samples *s, struct known *k, uint32_t *nr,
		     const struct wm_named_place *n)
{
	uint32_t frame = *nr < FRAMES_MAX ? send_frame(k, n, &s->interned) : 1;

	if (!frame)
		return -ENOMEM;
	if (*nr < FRAMES_MAX)
		s->chain[(*nr)++] = frame;
	return 0;
}

static int samples_add_address(struct wm_perfetto_samples *s, struct known *k, uint32_t *nr,
			       uint32_t trace, const struct wm_event *e, uint64_t address,
			       enum wm_event_mode mode)
{
	struct wm_named_place n = {.address = address};
	int err = s->names ? s->places->find(s->names, trace, e, address, mode, &n) : 0;

	return err < 0 ? err : add_place(s, k, nr, &n);
}

/* Makes the chain of an event, innermost frame first. Returns its length, or -errno. */
static int samples_chain(struct wm_perfetto_samples *s, struct sequence *q, uint32_t trace,
			 const struct wm_event *e)
{
	const struct wm_item *list = q->chain.type ? wm_field_ref_item(&q->chain, e) : NULL;
	const struct wm_item *ip = wm_field_ref_item(&q->ip, e);
	enum wm_event_mode mode = e->mode;
	uint32_t nr = 0;
	int err = 0, more = 0;

	for (uint32_t i = 1; list && i <= list->count && !err; i++) {
		if (list[i].u >= WM_PERF_CONTEXT_MAX)
			mode = mode_of_marker(list[i].u, mode);
		else
			err = samples_add_address(s, &q->known, &nr, trace, e, list[i].u, mode);
	}
	if (!err && s->names)
		more = s->places->callers(s->names, trace, e, s->callers);
	for (int i = 0; i < more && !err; i++)
		err = add_place(s, &q->known, &nr, &s->callers[i]);
	if (!err && more >= 0 && !nr && ip)
		err = samples_add_address(s, &q->known, &nr, trace, e, ip->u, e->mode);
	return err ? err : more < 0 ? more : (int)nr;
}

/* --- packets ----------------------------------------------------------------------------- */

/* Names the event, once for the sequence. */
static void put_defaults(const struct sequence *q, struct wm_text *t)
{
	size_t at = wm_pb_begin(t, DEFAULTS), samples = wm_pb_begin(t, PERF_SAMPLE_DEFAULTS),
	       timebase = wm_pb_begin(t, TIMEBASE);

	wm_pb_string(t, TIMEBASE_NAME, q->name, strlen(q->name));
	wm_pb_end(t, timebase);
	wm_pb_end(t, samples);
	wm_pb_end(t, at);
}

/* Returns the sum of the event's periods on the processor. */
static uint64_t count_of(struct sequence *q, const struct wm_event *e)
{
	const struct wm_item *period = q->period.type ? wm_field_ref_item(&q->period, e) : NULL;
	uint32_t cpu = e->cpu >= 0 && (uint32_t)e->cpu < CPUS_MAX ? (uint32_t)e->cpu : 0;

	if (WM_ARRAY_GROW_ZEROED(q->counts, q->room_counts, (size_t)cpu + 1))
		return 0;
	return q->counts[cpu] += period ? period->u : q->fixed_period;
}

static void samples_put_sample(struct sequence *q, const struct wm_event *e, int32_t pid,
			       int32_t tid, uint32_t stack, struct wm_text *t)
{
	size_t at = wm_pb_begin(t, PERF_SAMPLE);

	if (e->cpu >= 0)
		wm_pb_u64(t, CPU, (uint32_t)e->cpu);
	if (pid >= 0)
		wm_pb_u64(t, PID, (uint32_t)pid);
	if (tid >= 0)
		wm_pb_u64(t, TID, (uint32_t)tid);
	if (stack)
		wm_pb_u64(t, CALLSTACK_IID, stack);
	wm_pb_u64(t, CPU_MODE, e->mode);
	wm_pb_u64(t, TIMEBASE_COUNT, count_of(q, e));
	wm_pb_end(t, at);
}

static int sequence_forget(struct sequence *q)
{
	q->begun = false;
	known_done(&q->known);
	return known_init(&q->known);
}

static struct sequence *sequence_of(const struct wm_perfetto_samples *s, uint32_t trace,
				    const struct wm_event_type *t)
{
	return &s->sequences[trace][t->index];
}

int wm_perfetto_samples_put(struct wm_perfetto_samples *s, uint32_t trace, const struct wm_event *e,
			    uint64_t ns, int32_t pid, int32_t tid, struct wm_text *t)
{
	struct sequence *q = sequence_of(s, trace, e->type);
	uint32_t stack;
	size_t at;
	int nr, err = q->known.stack_table.nr >= STACKS_MAX ? sequence_forget(q) : 0;

	wm_text_cut(&s->interned, 0);
	nr = err ? err : samples_chain(s, q, trace, e);
	if (nr < 0)
		return nr;
	stack = nr ? send_stack(&q->known, s->chain, (uint32_t)nr, &s->interned) : 0;
	if ((nr && !stack) || s->interned.failed)
		return -ENOMEM;
	at = wm_pb_begin(t, TRACE_PACKET);
	wm_pb_u64(t, TIMESTAMP, ns);
	wm_pb_u64(t, SEQUENCE_ID, q->id);
	wm_pb_u64(t, SEQUENCE_FLAGS, q->begun ? NEEDS_STATE : CLEARED | NEEDS_STATE);
	if (!q->begun)
		put_defaults(q, t);
	q->begun = true;
	if (s->interned.bytes)
		wm_pb_string(t, INTERNED_DATA, s->interned.data, s->interned.bytes);
	samples_put_sample(q, e, pid, tid, stack, t);
	wm_pb_end(t, at);
	return t->failed ? -ENOMEM : 0;
}

/* --- types ------------------------------------------------------------------------------ */

/* Whether the samples' fields are only what the chain is made of. */
static bool has_only_chain(const struct wm_type *fields)
{
	static const char *const parts[] = {"callchain", "regs_user", "stack_user"};

	for (uint32_t i = 0; fields && i < fields->nr_members; i++) {
		const char *name = fields->members[i].name;
		bool found = false;

		for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
			found |= name && strstr(name, parts[k]);
		if (!found)
			return false;
	}
	return true;
}

static bool is_address(const struct wm_type *t)
{
	return t->kind == WM_TYPE_UNSIGNED || t->kind == WM_TYPE_SIGNED;
}

static int samples_bind(struct sequence *q, const struct wm_event_type *t, uint32_t *next_id)
{
	if (t->meta || !wm_field_ref_find_in(t, WM_PART_STREAM_CONTEXT, "ip", &q->ip) ||
	    !is_address(q->ip.type))
		return 0;
	if (wm_field_ref_find(t, "callchain", &q->chain) &&
	    (q->chain.type->kind != WM_TYPE_LIST || !is_address(q->chain.type->element.type)))
		q->chain = (struct wm_field_ref){0};
	if (wm_field_ref_find_in(t, WM_PART_STREAM_CONTEXT, "period", &q->period) &&
	    !is_address(q->period.type))
		q->period = (struct wm_field_ref){0};
	q->fixed_period = t->period ? t->period : 1;
	q->how =
	    has_only_chain(t->parts[WM_PART_FIELDS]) ? WM_PERFETTO_SAMPLE : WM_PERFETTO_SAMPLE_TOO;
	q->name = t->name;
	q->id = (*next_id)++;
	return known_init(&q->known);
}

int wm_perfetto_samples_create(const struct wm_export *x, uint32_t first_sequence,
			       struct wm_perfetto_samples **ret)
{
	struct wm_perfetto_samples *s = calloc(1, sizeof(*s));
	uint32_t next = first_sequence;
	int err = 0;

	*ret = s;
	if (!s)
		return -ENOMEM;
	wm_text_init(&s->interned);
	s->sequences = calloc(x->nr_traces + 1, sizeof(*s->sequences));
	s->nr_types = calloc(x->nr_traces + 1, sizeof(*s->nr_types));
	if (!s->sequences || !s->nr_types)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->nr_traces && !err; i++) {
		const struct wm_trace *t = x->traces[i];

		s->sequences[i] = calloc(t->nr_types + 1, sizeof(**s->sequences));
		if (!s->sequences[i])
			return -ENOMEM;
		s->nr_traces = i + 1;
		s->nr_types[i] = t->nr_types;
		for (uint32_t k = 0; k < t->nr_types && !err; k++)
			err = samples_bind(&s->sequences[i][k], t->types[k], &next);
	}
	s->places = x->options.places;
	if (!err && s->places && next != first_sequence) {
		s->names = s->places->open(s->places->data);
		err = s->names ? 0 : -ENOMEM;
	}
	return err;
}

void wm_perfetto_samples_destroy(struct wm_perfetto_samples *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nr_traces; i++) {
		for (uint32_t k = 0; k < s->nr_types[i]; k++) {
			if (s->sequences[i][k].id)
				known_done(&s->sequences[i][k].known);
			free(s->sequences[i][k].counts);
		}
		free(s->sequences[i]);
	}
	free(s->sequences);
	free(s->nr_types);
	if (s->names)
		s->places->close(s->names);
	wm_text_done(&s->interned);
	free(s);
}

enum wm_perfetto_sampled wm_perfetto_samples_take(const struct wm_perfetto_samples *s,
						  uint32_t trace, const struct wm_event_type *t)
{
	return sequence_of(s, trace, t)->how;
}

void wm_perfetto_samples_again(struct wm_perfetto_samples *s)
{
	for (uint32_t i = 0; i < s->nr_traces; i++)
		for (uint32_t k = 0; k < s->nr_types[i]; k++)
			if (s->sequences[i][k].begun)
				(void)sequence_forget(&s->sequences[i][k]);
}
