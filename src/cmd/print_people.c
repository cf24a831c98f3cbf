/* SPDX-License-Identifier: MIT */
/* print_people.c - see print_people.h. */
#include "cmd/print_people.h"

#include <stdlib.h>
#include <string.h>

#include "format/trace_reader.h"

/* Those of one trace, in order of pid. */
struct people {
	struct wm_trace_reader *reader; /* owns them; NULL: none */
	const struct wm_trace_process **list;
	uint32_t nr;
};

struct wm_print_people {
	uint32_t nr_traces;
	struct people traces[];
};

static int by_pid(const void *a, const void *b)
{
	const struct wm_trace_process *x = *(const struct wm_trace_process *const *)a;
	const struct wm_trace_process *y = *(const struct wm_trace_process *const *)b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static void meet(struct people *p, const struct wm_trace *t)
{
	const char *tracer = wm_trace_word(t, "tracer_name");
	uint32_t nr;

	if (!tracer || strcmp(tracer, "waymark") || wm_trace_reader_open(t->path, &p->reader, NULL))
		return;
	nr = wm_trace_reader_nr_processes(p->reader);
	p->list = calloc(nr + 1, sizeof(*p->list));
	for (uint32_t i = 0; p->list && i < nr; i++)
		p->list[p->nr++] = wm_trace_reader_process(p->reader, i);
	if (p->list)
		qsort(p->list, p->nr, sizeof(*p->list), by_pid);
}

struct wm_print_people *wm_print_people_create(struct wm_trace *const *traces, uint32_t nr_traces)
{
	struct wm_print_people *p = calloc(1, sizeof(*p) + nr_traces * sizeof(p->traces[0]));

	if (!p)
		return NULL;
	p->nr_traces = nr_traces;
	for (uint32_t i = 0; i < nr_traces; i++)
		meet(&p->traces[i], traces[i]);
	return p;
}

void wm_print_people_destroy(struct wm_print_people *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->nr_traces; i++) {
		wm_trace_reader_close(p->traces[i].reader);
		free(p->traces[i].list);
	}
	free(p);
}

/* The first of that pid, or where it would be. */
static uint32_t find(const struct people *p, uint32_t pid)
{
	uint32_t low = 0, high = p->nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (p->list[middle]->pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *wm_print_people_comm(const void *people, uint32_t trace, const struct wm_event *e)
{
	const struct wm_print_people *all = people;
	const struct people *p;
	const char *comm = "";

	if (!all || trace >= all->nr_traces || e->pid < 0)
		return comm;
	p = &all->traces[trace];
	for (uint32_t i = find(p, (uint32_t)e->pid);
	     i < p->nr && p->list[i]->pid == (uint32_t)e->pid; i++) {
		comm = p->list[i]->comm; /* a pid can come again: the one of that time */
		if (e->clock >= p->list[i]->begin_clock && e->clock <= p->list[i]->end_clock)
			break;
	}
	return comm;
}
