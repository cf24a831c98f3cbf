/* SPDX-License-Identifier: MIT */
/*
 * own.c - reads processes, threads and losses from waymark's own traces; see own.h. The input may
 * be forged.
 */
#include "read/ctf/own.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read/ctf/trace.h"
#include "trace/trace_layout.h"

bool wm_ctf_is_own(const struct wm_ctf_metadata *m)
{
	const struct wm_ctf_pair *tracer = wm_ctf_env(m, "tracer_name");

	return tracer && tracer->text && !strcmp(tracer->text, "waymark");
}

bool wm_ctf_has_own_packets(const struct wm_ctf_metadata *m)
{
	return wm_ctf_is_own(m) && !wm_ctf_env(m, "converted_by");
}

/*
 * Returns whether this is the stream of task events: the only one whose packets each belong to a
 * single CPU and whose events have no context.
 */
static bool is_of_tasks(const struct wm_ctf_stream *s)
{
	return !s->event_context && s->packet_context &&
	       wm_ctf_member_find(s->packet_context, "cpu_id") >= 0;
}

bool wm_ctf_is_about_recording(const struct wm_ctf_metadata *m, const struct wm_ctf_stream *s)
{
	return wm_ctf_is_own(m) && (s->id == WM_STREAM_RECORDER || is_of_tasks(s));
}

/* --- fields of events about the recording ------------------------------------------------ */

const struct wm_item *wm_ctf_own_field(const struct wm_event *e, const char *name)
{
	const struct wm_part_range *part = &e->parts[WM_PART_FIELDS];

	for (uint32_t i = part->at; i < part->end; i = e->items[i].next) {
		if (e->items[i].member->name && !strcmp(e->items[i].member->name, name))
			return &e->items[i];
	}
	return NULL;
}

static uint64_t own_number(const struct wm_event *e, const char *name)
{
	const struct wm_item *i = wm_ctf_own_field(e, name);

	return i && i->member->type->kind == WM_TYPE_UNSIGNED ? i->u : 0;
}

static const char *own_text(struct wm_trace *t, const struct wm_event *e, const char *name)
{
	const struct wm_item *i = wm_ctf_own_field(e, name);
	bool is_text = i && i->member->type->kind == WM_TYPE_STRING;

	return wm_arena_copy(&t->arena, is_text ? i->text : "", is_text ? i->count : 0);
}

/* Returns a time that the recorder wrote into a field, in ticks of the event's clock. */
static int64_t own_moment(const struct wm_event *e, const char *name)
{
	const struct wm_item *i = wm_ctf_own_field(e, name);

	if (!i || i->member->type->kind != WM_TYPE_UNSIGNED || !e->stream->clock)
		return e->ns;
	return wm_ctf_ns(e->stream->clock, i->u);
}

/* --- one event -------------------------------------------------------------------------- */

struct end {
	int64_t ns;
	uint32_t pid;
};

struct hearing {
	struct wm_trace *t;
	/* ends of processes, in the trace's arena; matched to processes after reading */
	struct end *ends;
	uint32_t nr_ends;
	uint64_t lost; /* sum over all causes */
};

static int own_add_process(struct hearing *h, const struct wm_event *e)
{
	struct wm_trace *t = h->t;
	struct wm_trace_process *list, *one;

	list = wm_arena_grow(&t->arena, t->processes, t->nr_processes, sizeof(*list));
	if (!list)
		return -ENOMEM;
	t->processes = list;
	one = &list[t->nr_processes];
	*one = (struct wm_trace_process){.pid = (uint32_t)own_number(e, "pid"),
					 .ppid = (uint32_t)own_number(e, "ppid"),
					 .vpid = (uint32_t)own_number(e, "vpid"),
					 .uid = (uint32_t)own_number(e, "uid"),
					 .begin_ns = own_moment(e, "clock"),
					 .end_ns = INT64_MAX};
	one->comm = own_text(t, e, "comm");
	one->path = own_text(t, e, "path");
	if (!one->comm || !one->path)
		return -ENOMEM;
	t->nr_processes++;
	return 0;
}

static int add_end(struct hearing *h, const struct wm_event *e)
{
	struct end *ends = wm_arena_grow(&h->t->arena, h->ends, h->nr_ends, sizeof(*ends));

	if (!ends)
		return -ENOMEM;
	h->ends = ends;
	ends[h->nr_ends++] = (struct end){own_moment(e, "clock"), (uint32_t)own_number(e, "pid")};
	return 0;
}

static int keep_thread(struct hearing *h, const struct wm_ctf_thread *thread)
{
	struct wm_ctf_trace *c = h->t->own;
	struct wm_ctf_thread *list =
	    wm_arena_grow(&h->t->arena, c->threads, c->nr_threads, sizeof(*list));

	if (!list)
		return -ENOMEM;
	c->threads = list;
	list[c->nr_threads++] = *thread;
	return 0;
}

static int add_thread(struct hearing *h, const struct wm_event *e)
{
	struct wm_ctf_thread one = {.ns = own_moment(e, "clock"),
				    .tid = (int32_t)own_number(e, "tid"),
				    .pid = (int32_t)own_number(e, "pid"),
				    .comm = own_text(h->t, e, "comm"),
				    .asked = true};

	return one.comm ? keep_thread(h, &one) : -ENOMEM;
}

/*
 * Returns an id from the kernel's records, which is signed: a thread in another pid namespace has
 * -1.
 */
static int32_t id(const struct wm_event *e, const char *name)
{
	const struct wm_item *i = wm_ctf_own_field(e, name);

	return i && i->member->type->kind == WM_TYPE_SIGNED ? (int32_t)i->s : -1;
}

static int add_comm(struct hearing *h, const struct wm_event *e)
{
	struct wm_ctf_thread one = {.ns = e->ns,
				    .tid = id(e, "tid"),
				    .pid = id(e, "pid"),
				    .comm = own_text(h->t, e, "comm")};

	return one.comm ? keep_thread(h, &one) : -ENOMEM;
}

static int add_fork(struct hearing *h, const struct wm_event *e)
{
	return keep_thread(
	    h, &(struct wm_ctf_thread){
		   .ns = e->ns, .tid = id(e, "tid"), .pid = id(e, "pid"), .parent = id(e, "ptid")});
}

static void own_count(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

static struct wm_trace_cause *cause_named(struct wm_trace *t, const char *name)
{
	for (uint32_t i = 0; i < t->nr_causes; i++) {
		if (!strcmp(t->causes[i].name, name))
			return &t->causes[i];
	}
	return NULL;
}

static int own_add_loss(struct hearing *h, const struct wm_event *e)
{
	const struct wm_item *i = wm_ctf_own_field(e, "cause");
	const char *name = i && i->member->type->is_enum ? wm_type_label(i->member->type, i) : NULL;
	struct wm_trace_cause *cause = cause_named(h->t, name ? name : WM_CAUSE_UNKNOWN);

	if (cause)
		own_count(&cause->count, own_number(e, "count"));
	own_count(&h->lost, own_number(e, "count"));
	return 0;
}

static int add_module(struct hearing *h, const struct wm_event *e)
{
	return wm_ctf_own_module(h->t, e);
}

static int add_mmap(struct hearing *h, const struct wm_event *e)
{
	return wm_ctf_own_mmap(h->t, e);
}

static const struct {
	const char *name;
	int (*hear)(struct hearing *h, const struct wm_event *e);
} heard[] = {
    {"waymark:process", own_add_process},
    {"waymark:process_end", add_end},
    {"waymark:thread", add_thread},
    {"waymark:lost", own_add_loss},
    {"perf:comm", add_comm},
    {"perf:fork", add_fork},
    {"waymark:module", add_module},
    {"perf:mmap2", add_mmap},
};

#define NR_HEARD (sizeof(heard) / sizeof(heard[0]))

static int hear(struct hearing *h, const struct wm_event *e)
{
	for (size_t i = 0; i < NR_HEARD; i++) {
		if (!strcmp(e->type->name, heard[i].name))
			return heard[i].hear(h, e);
	}
	return 0;
}

/* --- causes ------------------------------------------------------------------------------- */

static int add_cause(struct wm_trace *t, const char *name)
{
	struct wm_trace_cause *more =
	    wm_arena_grow(&t->arena, t->causes, t->nr_causes, sizeof(*more));

	if (!more)
		return -ENOMEM;
	t->causes = more;
	more[t->nr_causes++] = (struct wm_trace_cause){name, 0};
	return 0;
}

/* Adds a cause for each label of the `cause` field, sorted by value. */
static int add_causes_of(struct wm_trace *t, const struct wm_type *cause)
{
	int err = 0;

	for (int64_t value = 0; value <= UINT8_MAX && !err; value++) {
		const struct wm_item item = {.u = (uint64_t)value};
		const char *name = cause->is_enum ? wm_type_label(cause, &item) : NULL;

		if (name && !cause_named(t, name) && strcmp(name, WM_CAUSE_UNKNOWN) != 0)
			err = add_cause(t, name);
	}
	return err;
}

/* Lists all causes that the recorder has names for; unknown ones come last. */
static int list_causes(struct wm_trace *t)
{
	int err = 0;

	for (uint32_t i = 0; i < t->nr_types && !err; i++) {
		const struct wm_type *fields = t->types[i]->parts[WM_PART_FIELDS];

		if (!t->types[i]->meta || strcmp(t->types[i]->name, "waymark:lost") != 0)
			continue;
		for (uint32_t k = 0; fields && k < fields->nr_members && !err; k++)
			if (!strcmp(fields->members[k].name, "cause"))
				err = add_causes_of(t, fields->members[k].type);
	}
	return err ? err : add_cause(t, WM_CAUSE_UNKNOWN);
}

/*
 * Raises the number of lost events to the sum of the packets' counters, if the recorder's stream
 * reports fewer because it is damaged.
 */
static void believe_counters(struct hearing *h)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < h->t->nr_losses; i++) {
		if (!h->t->losses[i].packets)
			own_count(&sum, h->t->losses[i].count);
	}
	if (sum > h->lost)
		own_count(&cause_named(h->t, WM_CAUSE_UNKNOWN)->count, sum - h->lost);
}

/* --- all of them ---------------------------------------------------------------------------- */

static int read_packet(struct hearing *h, struct wm_packet_reader *r, const struct wm_packet *p,
		       struct wm_batch *b)
{
	int got = wm_ctf_reader_begin(r, p);

	while (got >= 0 && (got = wm_batch_read(h->t, r, b)) > 0) {
		for (uint32_t i = 0; i < b->nr_events && got >= 0; i++)
			got = hear(h, &b->events[i]);
	}
	return got == -ENOMEM ? got : 0;
}

/* Reads the packets from `first` on. Reports no faults: whoever reads a packet reports them. */
static int read_recorder(struct hearing *h, uint64_t first)
{
	struct wm_trace *t = h->t;
	bool *types = calloc(t->nr_types + 1u, sizeof(*types));
	struct wm_want want = {.types = types, .no_parts = ~(1u << WM_PART_FIELDS)};
	struct wm_packet_reader *r = wm_ctf_reader_create(t, &want);
	uint32_t nr_faults = t->nr_faults;
	uint64_t nr_more = t->nr_faults_more;
	struct wm_batch b = {0};
	int err = types && r ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < t->nr_types; i++)
		for (size_t k = 0; t->types[i]->meta && k < NR_HEARD; k++)
			types[i] |= !strcmp(t->types[i]->name, heard[k].name);
	for (uint64_t i = first; !err && i < t->nr_packets; i++) {
		if (t->streams[t->packets[i].stream]->meta)
			err = read_packet(h, r, &t->packets[i], &b);
	}
	t->nr_faults = nr_faults;
	t->nr_faults_more = nr_more;
	wm_batch_done(&b);
	wm_ctf_reader_destroy(r);
	free(types);
	return err;
}

/* Sorts processes and threads, and sets the end times of processes. */
static int sort(struct hearing *h)
{
	int err = wm_ctf_own_sort(h->t);

	for (uint32_t i = 0; i < h->nr_ends && !err; i++) {
		struct wm_trace_process *one =
		    wm_ctf_own_process(h->t, h->ends[i].pid, h->ends[i].ns);

		if (one)
			one->end_ns = h->ends[i].ns;
	}
	return err;
}

/* Sets the error of the wall clock to the value that the recorder measured. */
static void mend_clocks(struct wm_trace *t)
{
	const char *error = wm_trace_word(t, "clock_error_ns");
	char *end;
	uint64_t ns = error ? strtoull(error, &end, 10) : 0;

	for (uint32_t i = 0; error && end != error && i < t->nr_clocks; i++)
		t->clocks[i]->error_ns = ns;
}

int wm_ctf_own_begin(struct wm_trace *t)
{
	t->is_own = true;
	mend_clocks(t);
	return list_causes(t);
}

int wm_ctf_own_hear(struct wm_trace *t, uint64_t first)
{
	struct hearing h = {.t = t};
	int err = read_recorder(&h, first);

	return err ? err : sort(&h);
}

int wm_ctf_own_read(struct wm_trace *t)
{
	struct hearing h = {.t = t};
	int err = wm_ctf_own_begin(t);

	if (!err)
		err = read_recorder(&h, 0);
	if (err)
		return err;
	believe_counters(&h);
	return sort(&h);
}
