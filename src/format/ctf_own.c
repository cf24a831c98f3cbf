/* SPDX-License-Identifier: MIT */
/*
 * ctf_own.c - what waymark's own traces say beyond what any CTF trace does: the
 * recorder's stream tells who the processes were, and when, and what they had
 * mapped. Read once, while the trace is opened; the rest of it are ordinary events.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/ctf_trace.h"
#include "format/trace_layout.h"

bool wm_ctf_is_own(const struct wm_ctf_metadata *m)
{
	const struct wm_ctf_pair *tracer = wm_ctf_env(m, "tracer_name");

	return tracer && tracer->text && !strcmp(tracer->text, "waymark");
}

/* Only that of the tasks has packets of a CPU and no context before the fields. */
static bool is_of_tasks(const struct wm_ctf_stream *s)
{
	return !s->event_context && s->packet_context &&
	       wm_ctf_member_find(s->packet_context, "cpu_id") >= 0;
}

bool wm_ctf_is_about_recording(const struct wm_ctf_metadata *m, const struct wm_ctf_stream *s)
{
	return wm_ctf_is_own(m) && (s->id == WM_STREAM_RECORDER || is_of_tasks(s));
}

static const struct wm_item *field(const struct wm_event *e, const char *name)
{
	const struct wm_part_range *part = &e->parts[WM_PART_FIELDS];

	for (uint32_t i = part->at; i < part->end; i = e->items[i].next) {
		if (e->items[i].member->name && !strcmp(e->items[i].member->name, name))
			return &e->items[i];
	}
	return NULL;
}

static int add_person(struct wm_trace *t, const struct wm_event *e)
{
	struct wm_ctf_trace *c = t->own;
	const struct wm_item *comm = field(e, "comm");
	struct wm_ctf_person *more;

	if (e->pid < 0 || !comm || comm->member->type->kind != WM_TYPE_STRING)
		return 0;
	more = wm_arena_grow(&t->arena, c->people, c->nr_people, sizeof(*more));
	if (!more)
		return -ENOMEM;
	c->people = more;
	more[c->nr_people].comm = wm_arena_copy(&t->arena, comm->text, comm->count);
	more[c->nr_people].pid = e->pid;
	more[c->nr_people].ns = e->ns;
	return more[c->nr_people].comm ? (int)(c->nr_people++, 0) : -ENOMEM;
}

/* Of a blob, which CTF 1.8 calls a sequence of numbers. How many bytes. */
static uint32_t get_bytes(const struct wm_event *e, const char *name,
			  unsigned char to[WM_BUILD_ID_MAX])
{
	const struct wm_item *i = field(e, name);
	uint32_t n = i && i->count <= WM_BUILD_ID_MAX ? i->count : 0;

	if (n && i->member->type->kind == WM_TYPE_BYTES) {
		memcpy(to, i->bytes, n);
		return n;
	}
	if (!n || i->member->type->kind != WM_TYPE_LIST ||
	    i->next != (uint32_t)(i - e->items) + n + 1) /* each is one item */
		return 0;
	for (uint32_t k = 0; k < n; k++)
		to[k] = (unsigned char)i[k + 1].u;
	return n;
}

static int add_binary(struct wm_trace *t, const struct wm_event *e, const char *path_name)
{
	const struct wm_item *path = field(e, path_name), *pid = field(e, "pid");
	unsigned char id[WM_BUILD_ID_MAX];
	uint32_t bytes = get_bytes(e, "build_id", id);

	if (!path || path->member->type->kind != WM_TYPE_STRING)
		return 0;
	return wm_trace_add_binary(t, path->text, path->count, id, bytes,
				   pid && pid->member->type->kind == WM_TYPE_SIGNED &&
				       pid->s == -1);
}

static int add_module(struct wm_trace *t, const struct wm_event *e)
{
	return add_binary(t, e, "path");
}

/* Of the kernel and its modules where there is no process. */
static int add_mmap(struct wm_trace *t, const struct wm_event *e)
{
	return add_binary(t, e, "filename");
}

/* What of the events about the recording is kept. */
static const struct {
	const char *name;
	int (*add)(struct wm_trace *t, const struct wm_event *e);
} kept[] = {
    {"waymark:process", add_person},
    {"waymark:module", add_module},
    {"perf:mmap2", add_mmap},
};
#define NR_KEPT (sizeof(kept) / sizeof(kept[0]))

static int by_pid_and_time(const void *a, const void *b)
{
	const struct wm_ctf_person *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static int keep(struct wm_trace *t, const struct wm_event *e)
{
	for (size_t i = 0; i < NR_KEPT; i++)
		if (!strcmp(e->type->name, kept[i].name))
			return kept[i].add(t, e);
	return 0;
}

static bool is_kept(const struct wm_event_type *type)
{
	for (size_t i = 0; i < NR_KEPT; i++)
		if (type->meta && !strcmp(type->name, kept[i].name))
			return true;
	return false;
}

static int read_packet(struct wm_trace *t, struct wm_packet_reader *r, const struct wm_packet *p,
		       struct wm_batch *b)
{
	int got = wm_ctf_reader_begin(r, p);

	while (got >= 0 && (got = wm_batch_read(t, r, b)) > 0) {
		for (uint32_t i = 0; i < b->nr_events && got >= 0; i++)
			got = keep(t, &b->events[i]);
	}
	return got == -ENOMEM ? got : 0;
}

static bool is_about_recording(const struct wm_trace *t, const struct wm_packet *p)
{
	const struct wm_ctf_file *f = (const struct wm_ctf_file *)t->streams[p->stream];

	return wm_ctf_is_about_recording(f->plan->metadata, f->plan->class);
}

/* Faults met here are told again by who reads the packet, so here they are not. */
int wm_ctf_own_read(struct wm_trace *t)
{
	struct wm_ctf_trace *c = t->own;
	bool *types = calloc(t->nr_types + 1u, sizeof(*types));
	struct wm_want want = {.types = types, .no_parts = ~(1u << WM_PART_FIELDS)};
	struct wm_packet_reader *r = wm_ctf_reader_create(t, &want);
	uint32_t nr_faults = t->nr_faults;
	uint64_t nr_more = t->nr_faults_more;
	struct wm_batch b = {0};
	int err = types && r ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < t->nr_types; i++)
		types[i] = is_kept(t->types[i]);
	for (uint64_t i = 0; !err && i < t->nr_packets; i++) {
		if (is_about_recording(t, &t->packets[i]))
			err = read_packet(t, r, &t->packets[i], &b);
	}
	if (c->nr_people)
		qsort(c->people, c->nr_people, sizeof(*c->people), by_pid_and_time);
	t->nr_faults = nr_faults;
	t->nr_faults_more = nr_more;
	wm_batch_done(&b);
	wm_ctf_reader_destroy(r);
	free(types);
	return err;
}

/* Who had that pid then; before the first of them was seen, that one: its events are older. */
const char *wm_ctf_own_comm(const struct wm_trace *t, int32_t pid, int32_t tid, int64_t ns)
{
	const struct wm_ctf_trace *c = t->own;
	uint32_t low = 0, high = c->nr_people;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct wm_ctf_person *one = &c->people[mid];

		if (one->pid < pid || (one->pid == pid && one->ns <= ns))
			low = mid + 1;
		else
			high = mid;
	}
	if (low && c->people[low - 1].pid == pid)
		return c->people[low - 1].comm;
	return low < c->nr_people && c->people[low].pid == pid ? c->people[low].comm : "";
}
