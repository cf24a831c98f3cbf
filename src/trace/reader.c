/* SPDX-License-Identifier: MIT */
/*
 * reader.c - the lists, faults and batches of an open trace, for all formats; see reader.h.
 * read/open.c opens traces.
 */
#include "trace/reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define ARENA_MAX       ((size_t)1 << 30)
#define FAULT_ARENA_MAX ((size_t)1 << 20)

struct wm_trace *wm_trace_create(const char *path)
{
	struct wm_trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	wm_arena_init(&t->arena, ARENA_MAX);
	wm_arena_init(&t->fault_arena, FAULT_ARENA_MAX);
	wm_table_init(&t->binary_table);
	pthread_mutex_init(&t->fault_lock, NULL);
	t->begin_ns = INT64_MAX;
	t->end_ns = INT64_MIN;
	t->path = strdup(path);
	if (!t->path) {
		wm_trace_close(t);
		return NULL;
	}
	return t;
}

void wm_trace_close(struct wm_trace *t)
{
	if (!t)
		return;
	if (t->ops)
		t->ops->close(t);
	free(t->packets);
	wm_table_done(&t->binary_table);
	free(t->kallsyms);
	free(t->path);
	wm_arena_done(&t->arena);
	wm_arena_done(&t->fault_arena);
	pthread_mutex_destroy(&t->fault_lock);
	free(t);
}

/* A list of faults or of warnings. */
struct fault_list {
	struct wm_fault **at;
	uint32_t *nr;
	uint64_t *nr_more; /* faults that are not stored */
};

/*
 * Finds a fault that was recorded before: a packet can be read more than once, first to find its
 * start time, then for slices of time.
 */
static bool trace_reader_is_known(const struct fault_list *l, const struct wm_fault *wanted)
{
	for (uint32_t i = 0; i < *l->nr; i++) {
		const struct wm_fault *f = &(*l->at)[i];

		if (f->offset == wanted->offset && !strcmp(f->reason, wanted->reason) &&
		    !strcmp(f->file, wanted->file))
			return true;
	}
	return false;
}

static void fault_list_add(struct wm_arena *arena, const struct fault_list *l,
			   const struct wm_fault *f)
{
	struct wm_fault *more = NULL, copy = *f;

	copy.file = wm_arena_copy(arena, f->file, strlen(f->file));
	copy.reason = wm_arena_copy(arena, f->reason, strlen(f->reason));
	if (copy.file && copy.reason && *l->nr < WM_TRACE_FAULTS)
		more = wm_arena_grow(arena, *l->at, *l->nr, sizeof(copy));
	if (!more) {
		++*l->nr_more;
		return;
	}
	*l->at = more;
	more[(*l->nr)++] = copy;
}

static void fault_list_say(struct wm_trace *t, const struct fault_list *l, const char *file,
			   uint64_t offset, const char *fmt, va_list args)
{
	char reason[WM_DIAG_SENTENCE];
	struct wm_fault fault = {file[0] ? file : t->path, offset, reason};

	(void)vsnprintf(reason, sizeof(reason), fmt, args);
	pthread_mutex_lock(&t->fault_lock);
	if (!trace_reader_is_known(l, &fault))
		fault_list_add(&t->fault_arena, l, &fault);
	pthread_mutex_unlock(&t->fault_lock);
}

void wm_trace_fault(struct wm_trace *t, const char *file, uint64_t offset, const char *fmt, ...)
{
	const struct fault_list l = {&t->faults, &t->nr_faults, &t->nr_faults_more};
	va_list args;

	va_start(args, fmt);
	fault_list_say(t, &l, file, offset, fmt, args);
	va_end(args);
}

void wm_trace_warn(struct wm_trace *t, const char *file, uint64_t offset, const char *fmt, ...)
{
	const struct fault_list l = {&t->warnings, &t->nr_warnings, &t->nr_warnings_more};
	va_list args;

	va_start(args, fmt);
	fault_list_say(t, &l, file, offset, fmt, args);
	va_end(args);
}

static int trace_reader_by_place(const void *a, const void *b)
{
	const struct wm_fault *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	if (order)
		return order;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return strcmp(x->reason, y->reason);
}

void wm_trace_sort_faults(struct wm_trace *t, uint32_t first)
{
	if (first < t->nr_faults)
		qsort(t->faults + first, t->nr_faults - first, sizeof(*t->faults),
		      trace_reader_by_place);
}

/* Adds a pointer to one of the trace's lists. */
static int add_pointer(struct wm_trace *t, void *list, uint32_t *count, void *what)
{
	void **old = *(void ***)list, **more;

	more = wm_arena_grow(&t->arena, old, *count, sizeof(void *));
	if (!more)
		return -ENOMEM;
	more[(*count)++] = what;
	*(void ***)list = more;
	return 0;
}

int wm_trace_add_type(struct wm_trace *t, struct wm_event_type *type)
{
	type->index = t->nr_types;
	return add_pointer(t, &t->types, &t->nr_types, type);
}

int wm_trace_add_stream(struct wm_trace *t, struct wm_stream *stream)
{
	stream->index = t->nr_streams;
	return add_pointer(t, &t->streams, &t->nr_streams, stream);
}

int wm_trace_add_clock(struct wm_trace *t, struct wm_trace_clock *clock)
{
	return add_pointer(t, &t->clocks, &t->nr_clocks, clock);
}

int wm_trace_add_packet(struct wm_trace *t, const struct wm_packet *p)
{
	if (WM_ARRAY_GROW(t->packets, t->room_packets, t->nr_packets + 1))
		return -ENOMEM;
	t->packets[t->nr_packets++] = *p;
	if (p->begin_ns > INT64_MIN && p->begin_ns < t->begin_ns)
		t->begin_ns = p->begin_ns;
	if (p->end_ns < INT64_MAX && p->end_ns > t->end_ns)
		t->end_ns = p->end_ns;
	return 0;
}

int wm_trace_add_loss(struct wm_trace *t, const struct wm_trace_loss *loss)
{
	struct wm_trace_loss *more =
	    wm_arena_grow(&t->arena, t->losses, t->nr_losses, sizeof(*more));

	if (!more)
		return -ENOMEM;
	t->losses = more;
	t->losses[t->nr_losses++] = *loss;
	return 0;
}

int wm_trace_add_word(struct wm_trace *t, const char *key, const char *text)
{
	struct wm_trace_word *more = wm_arena_grow(&t->arena, t->words, t->nr_words, sizeof(*more));
	char *k = wm_arena_copy(&t->arena, key, strlen(key));
	char *v = wm_arena_copy(&t->arena, text, strlen(text));

	if (!more || !k || !v)
		return -ENOMEM;
	t->words = more;
	t->words[t->nr_words++] = (struct wm_trace_word){k, v};
	return 0;
}

static const char *find_word(const struct wm_trace_word *words, uint32_t nr, const char *key)
{
	for (uint32_t i = 0; i < nr; i++)
		if (!strcmp(words[i].key, key))
			return words[i].text;
	return NULL;
}

const char *wm_trace_provider(struct wm_trace *t, const char *name)
{
	const char *colon = strchr(name, ':');

	return colon ? wm_arena_copy(&t->arena, name, (size_t)(colon - name)) : "";
}

const char *wm_trace_word(const struct wm_trace *t, const char *key)
{
	return find_word(t->words, t->nr_words, key);
}

const char *wm_trace_stream_word(const struct wm_trace *t, const struct wm_stream *s,
				 const char *key)
{
	const char *own = s->origin ? find_word(s->origin->words, s->origin->nr_words, key) : NULL;

	return own ? own : wm_trace_word(t, key);
}

bool wm_member_is_length(const struct wm_type *t, const struct wm_member *m)
{
	const struct wm_member *list = m + 1;
	size_t bytes = strlen(m->name);

	return list < t->members + t->nr_members && m->name[0] == '_' && bytes > 8 &&
	       (list->type->kind == WM_TYPE_LIST || list->type->kind == WM_TYPE_BYTES) &&
	       strlen(list->name) == bytes - 8 && !strncmp(m->name + 1, list->name, bytes - 8) &&
	       !strcmp(m->name + bytes - 7, "_length");
}

bool wm_batch_grow(struct wm_batch *b, uint32_t nr_items)
{
	size_t events = b->room_events ? (size_t)b->nr_events + 1 : WM_BATCH_EVENTS;
	size_t items = (size_t)b->nr_items + nr_items;

	if (!b->room_items && items < 8 * WM_BATCH_EVENTS)
		items = 8 * WM_BATCH_EVENTS;
	return !WM_ARRAY_GROW(b->events, b->room_events, events) &&
	       !WM_ARRAY_GROW(b->items, b->room_items, items);
}

int wm_batch_read(struct wm_trace *t, struct wm_packet_reader *r, struct wm_batch *b)
{
	int got;

	b->nr_events = b->nr_items = 0;
	got = t->ops->reader_read(r, b);
	for (uint32_t i = 0; i < b->nr_events; i++)
		b->events[i].items = b->items;
	return got;
}

void wm_batch_done(struct wm_batch *b)
{
	free(b->events);
	free(b->items);
	*b = (struct wm_batch){0};
}
