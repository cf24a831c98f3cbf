/* SPDX-License-Identifier: MIT */
/* perfetto_samples.c - see perfetto_samples.h. */
#include "export/timeline/perfetto_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pb.h"
#include "base/table.h"
#include "trace/name_table.h"
#include "view/writer.h"

#define FRAMES_MAX 1024u      /* frames of one chain */
#define STACKS_MAX (1u << 18) /* chains remembered before everything is written again */
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

/* Everything that has been written on one sequence. */
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
	bool begun;
	struct known known;
	uint64_t *counts; /* by processor: sum of the periods */
	uint32_t room_counts;
};

struct wm_perfetto_samples {
	struct wm_sampled sampled;
	uint32_t nr_traces;
	struct sequence **sequences; /* by trace and type; `id` is 0 if it is no sample */
	uint32_t *nr_types;
	struct wm_text interned;
	struct known *known;        /* of the sample being written */
	uint32_t chain[FRAMES_MAX]; /* its frames */
	uint32_t nr_chain;
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

/*
 * Returns the number of a name, which is written as {iid, text} when first used; 0: out of memory.
 */
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

/* Does the same for a file, which is a mapping with a path. */
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

/* Returns the number of a frame, which is written when first used; 0: out of memory. */
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

/* Returns the number of a chain of frames, which is written when first used; 0: out of memory. */
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

/* Adds a frame to the chain; 0 or -ENOMEM. */
static int add_place(void *own, const struct wm_named_place *n)
{
	struct wm_perfetto_samples *s = own;
	uint32_t frame;

	if (s->nr_chain == FRAMES_MAX)
		return 0;
	frame = send_frame(s->known, n, &s->interned);
	if (!frame)
		return -ENOMEM;
	s->chain[s->nr_chain++] = frame;
	return 0;
}

/* --- packets ----------------------------------------------------------------------------- */

/* Names the event, once per sequence. */
static void put_defaults(const struct sequence *q, struct wm_text *t)
{
	size_t at = wm_pb_begin(t, DEFAULTS), samples = wm_pb_begin(t, PERF_SAMPLE_DEFAULTS),
	       timebase = wm_pb_begin(t, TIMEBASE);

	wm_pb_string(t, TIMEBASE_NAME, q->name, strlen(q->name));
	wm_pb_end(t, timebase);
	wm_pb_end(t, samples);
	wm_pb_end(t, at);
}

/* Returns the sum of the event's periods on the processor, including this sample's. */
static uint64_t count_of(struct sequence *q, const struct wm_event *e, uint64_t weight)
{
	uint32_t cpu = e->cpu >= 0 && (uint32_t)e->cpu < CPUS_MAX ? (uint32_t)e->cpu : 0;

	if (WM_ARRAY_GROW_ZEROED(q->counts, q->room_counts, (size_t)cpu + 1))
		return 0;
	return q->counts[cpu] += weight;
}

static void samples_put_sample(const struct wm_event *e, int32_t pid, int32_t tid, uint32_t stack,
			       uint64_t count, struct wm_text *t)
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
	wm_pb_u64(t, TIMEBASE_COUNT, count);
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
	uint64_t count;
	uint32_t stack;
	size_t at;
	int err = q->known.stack_table.nr >= STACKS_MAX ? sequence_forget(q) : 0;

	wm_text_cut(&s->interned, 0);
	s->known = &q->known;
	s->nr_chain = 0;
	if (!err)
		err = wm_sampled_chain(&s->sampled, trace, e, add_place, s);
	if (err)
		return err;
	stack = s->nr_chain ? send_stack(&q->known, s->chain, s->nr_chain, &s->interned) : 0;
	if ((s->nr_chain && !stack) || s->interned.failed)
		return -ENOMEM;
	count = count_of(q, e, wm_sampled_weight(wm_sampled_type(&s->sampled, trace, e->type), e));
	at = wm_pb_begin(t, TRACE_PACKET);
	wm_pb_u64(t, TIMESTAMP, ns);
	wm_pb_u64(t, SEQUENCE_ID, q->id);
	wm_pb_u64(t, SEQUENCE_FLAGS, q->begun ? NEEDS_STATE : CLEARED | NEEDS_STATE);
	if (!q->begun)
		put_defaults(q, t);
	q->begun = true;
	if (s->interned.bytes)
		wm_pb_string(t, INTERNED_DATA, s->interned.data, s->interned.bytes);
	samples_put_sample(e, pid, tid, stack, count, t);
	wm_pb_end(t, at);
	return t->failed ? -ENOMEM : 0;
}

/* --- types ------------------------------------------------------------------------------ */

/* Begins a sequence for each type of sample in the next trace. */
static int samples_bind(struct wm_perfetto_samples *s, const struct wm_trace *t, uint32_t *next_id)
{
	uint32_t trace = s->nr_traces;
	struct sequence *all = calloc(t->nr_types + 1, sizeof(*all));
	int err = 0;

	if (!all)
		return -ENOMEM;
	s->sequences[trace] = all;
	s->nr_types[trace] = t->nr_types;
	s->nr_traces++;
	for (uint32_t k = 0; k < t->nr_types && !err; k++) {
		if (wm_sampled_type(&s->sampled, trace, t->types[k])->how == WM_SAMPLED_NOT)
			continue;
		all[k].name = t->types[k]->name;
		all[k].id = (*next_id)++;
		err = known_init(&all[k].known);
	}
	return err;
}

int wm_perfetto_samples_create(const struct wm_export *x, uint32_t first_sequence,
			       struct wm_perfetto_samples **ret)
{
	struct wm_perfetto_samples *s = calloc(1, sizeof(*s));
	int err;

	*ret = s;
	if (!s)
		return -ENOMEM;
	wm_text_init(&s->interned);
	err = wm_sampled_init(&s->sampled, x);
	s->sequences = calloc(x->nr_traces + 1, sizeof(*s->sequences));
	s->nr_types = calloc(x->nr_traces + 1, sizeof(*s->nr_types));
	if (!s->sequences || !s->nr_types)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->nr_traces && !err; i++)
		err = samples_bind(s, x->traces[i], &first_sequence);
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
	wm_sampled_done(&s->sampled);
	wm_text_done(&s->interned);
	free(s);
}

enum wm_sampled_how wm_perfetto_samples_take(const struct wm_perfetto_samples *s, uint32_t trace,
					     const struct wm_event_type *t)
{
	return wm_sampled_type(&s->sampled, trace, t)->how;
}

void wm_perfetto_samples_again(struct wm_perfetto_samples *s)
{
	for (uint32_t i = 0; i < s->nr_traces; i++)
		for (uint32_t k = 0; k < s->nr_types[i]; k++)
			if (s->sequences[i][k].begun)
				(void)sequence_forget(&s->sequences[i][k]);
}
