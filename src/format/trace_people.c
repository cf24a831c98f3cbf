/* SPDX-License-Identifier: MIT */
/* trace_people.c - see trace_people.h. Everything read here may be forged. */
#include "format/trace_people.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PEOPLE_MEMORY_MAX (1u << 30)

void wm_trace_people_init(struct wm_trace_people *p)
{
	*p = (struct wm_trace_people){0};
	wm_arena_init(&p->arena, PEOPLE_MEMORY_MAX);
}

void wm_trace_people_done(struct wm_trace_people *p)
{
	wm_arena_done(&p->arena);
}

static bool find(const struct wm_class *class, const unsigned char *payload, size_t bytes,
		 const char *field, struct wm_value *ret)
{
	struct wm_payload_cursor c = {.class = class, .data = payload, .bytes = bytes};

	while (wm_payload_next(&c, ret) == 1) {
		if (!strcmp(ret->field->name, field))
			return true;
	}
	return false;
}

uint64_t wm_trace_people_number(const struct wm_class *class, const unsigned char *payload,
				size_t bytes, const char *field)
{
	struct wm_value v;

	if (!find(class, payload, bytes, field, &v) || v.field->shape != WM_SHAPE_SCALAR)
		return 0;
	return (uint64_t)wm_value_integer(&v, 0);
}

static const char *text(struct wm_trace_people *p, const struct wm_class *class,
			const unsigned char *payload, size_t bytes, const char *field)
{
	struct wm_value v;

	if (!find(class, payload, bytes, field, &v) || v.field->shape != WM_SHAPE_STRING)
		return "";
	return wm_arena_copy(&p->arena, v.data, v.count);
}

static int add_process(struct wm_trace_people *p, const struct wm_class *class,
		       const unsigned char *payload, size_t bytes)
{
	struct wm_trace_process *list, *one;

	list = wm_arena_grow(&p->arena, p->list, p->count, sizeof(*list));
	if (!list)
		return -ENOMEM;
	p->list = list;
	one = &list[p->count];
#define NUMBER(field) wm_trace_people_number(class, payload, bytes, field)
	*one = (struct wm_trace_process){.pid = (uint32_t)NUMBER("pid"),
					 .ppid = (uint32_t)NUMBER("ppid"),
					 .vpid = (uint32_t)NUMBER("vpid"),
					 .uid = (uint32_t)NUMBER("uid"),
					 .begin_clock = NUMBER("clock"),
					 .end_clock = UINT64_MAX};
	one->comm = text(p, class, payload, bytes, "comm");
	one->path = text(p, class, payload, bytes, "path");
	if (!one->comm || !one->path)
		return -ENOMEM;
	p->count++;
	return 0;
}

static int add_thread(struct wm_trace_people *p, const struct wm_class *class,
		      const unsigned char *payload, size_t bytes)
{
	struct wm_trace_thread *list =
	    wm_arena_grow(&p->arena, p->threads, p->nr_threads, sizeof(*list));
	const char *comm = text(p, class, payload, bytes, "comm");

	if (!list || !comm)
		return -ENOMEM;
	p->threads = list;
	list[p->nr_threads++] = (struct wm_trace_thread){NUMBER("clock"), (uint32_t)NUMBER("tid"),
							 (uint32_t)NUMBER("pid"), comm};
	return 0;
}

static int add_end(struct wm_trace_people *p, uint32_t pid, uint64_t clock)
{
	struct wm_trace_end *ends = wm_arena_grow(&p->arena, p->ends, p->nr_ends, sizeof(*ends));

	if (!ends)
		return -ENOMEM;
	p->ends = ends;
	ends[p->nr_ends++] = (struct wm_trace_end){clock, pid};
	return 0;
}

static void add_loss(struct wm_trace_people *p, uint64_t cause, uint64_t count)
{
	uint64_t *sum = cause < 8 ? &p->lost[cause] : &p->lost_unknown;

	if (__builtin_add_overflow(*sum, count, sum))
		*sum = UINT64_MAX;
	if (__builtin_add_overflow(p->lost_all, count, &p->lost_all))
		p->lost_all = UINT64_MAX;
}

int wm_trace_people_add(struct wm_trace_people *p, const struct wm_class *class,
			const unsigned char *payload, size_t bytes)
{
	if (strcmp(class->provider, "waymark") != 0)
		return 0;
	if (!strcmp(class->name, "process"))
		return add_process(p, class, payload, bytes);
	if (!strcmp(class->name, "process_end"))
		return add_end(p, (uint32_t)NUMBER("pid"), NUMBER("clock"));
	if (!strcmp(class->name, "thread"))
		return add_thread(p, class, payload, bytes);
	if (!strcmp(class->name, "lost"))
		add_loss(p, NUMBER("cause"), NUMBER("count"));
	return 0;
}

static int by_pid_and_begin(const void *a, const void *b)
{
	const struct wm_trace_process *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->begin_clock < y->begin_clock ? -1 : x->begin_clock > y->begin_clock;
}

/* Behind the last one that is not after (pid, clock). */
static uint32_t place(const struct wm_trace_people *p, uint32_t pid, uint64_t clock)
{
	uint32_t low = 0, high = p->count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct wm_trace_process *one = &p->list[mid];

		if (one->pid < pid || (one->pid == pid && one->begin_clock <= clock))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int by_tid_and_clock(const void *a, const void *b)
{
	const struct wm_trace_thread *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->clock < y->clock ? -1 : x->clock > y->clock;
}

const struct wm_trace_thread *wm_trace_people_thread(const struct wm_trace_people *p, uint32_t tid,
						     uint64_t clock)
{
	const struct wm_trace_thread key = {.tid = tid, .clock = clock}, *list = p->threads;
	uint32_t low = 0, high = p->nr_threads;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (by_tid_and_clock(&list[mid], &key) <= 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low && list[low - 1].tid == tid)
		return &list[low - 1];
	return low < p->nr_threads && list[low].tid == tid ? &list[low] : NULL;
}

void wm_trace_people_sort(struct wm_trace_people *p)
{
	if (p->nr_threads)
		qsort(p->threads, p->nr_threads, sizeof(*p->threads), by_tid_and_clock);
	if (p->count)
		qsort(p->list, p->count, sizeof(*p->list), by_pid_and_begin);
	for (uint32_t i = 0; i < p->nr_ends; i++) {
		uint32_t at = place(p, p->ends[i].pid, p->ends[i].clock);

		if (at && p->list[at - 1].pid == p->ends[i].pid)
			p->list[at - 1].end_clock = p->ends[i].clock;
	}
}

const struct wm_trace_process *wm_trace_people_find(const struct wm_trace_people *p, uint32_t pid,
						    uint64_t clock)
{
	uint32_t at = place(p, pid, clock);

	if (at && p->list[at - 1].pid == pid)
		return &p->list[at - 1];
	/* Its chunk may be older than its joining. */
	return at < p->count && p->list[at].pid == pid ? &p->list[at] : NULL;
}
