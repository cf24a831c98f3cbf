/* SPDX-License-Identifier: MIT */
/*
 * trace_people.h - what the recorder's own stream tells about the others:
 * which processes there were and when, and which events were lost.
 */
#ifndef WM_FORMAT_TRACE_PEOPLE_H
#define WM_FORMAT_TRACE_PEOPLE_H

#include "base/arena.h"
#include "format/trace_cursor.h"
#include "format/trace_reader.h"

struct wm_trace_end {
	uint64_t clock;
	uint32_t pid;
};

/* A thread the kernel's events speak of, from when it was met. */
struct wm_trace_thread {
	uint64_t clock;
	uint32_t tid, pid;
	const char *comm;
};

struct wm_trace_people {
	struct wm_arena arena;
	struct wm_trace_process *list; /* by pid, then by begin, once sorted */
	uint32_t count;
	struct wm_trace_thread *threads; /* by tid, then by clock, once sorted */
	uint32_t nr_threads;
	struct wm_trace_end *ends; /* matched with processes when sorted */
	uint32_t nr_ends;
	uint64_t lost[8], lost_unknown, lost_all;
};

void wm_trace_people_init(struct wm_trace_people *p);
void wm_trace_people_done(struct wm_trace_people *p);

/* One event of the recorder's stream; others are none of its business. 0 or -ENOMEM. */
int wm_trace_people_add(struct wm_trace_people *p, const struct wm_class *class,
			const unsigned char *payload, size_t bytes);
void wm_trace_people_sort(struct wm_trace_people *p); /* when all were added */

/* Who had that pid then; NULL: nobody ever. */
const struct wm_trace_process *wm_trace_people_find(const struct wm_trace_people *p, uint32_t pid,
						    uint64_t clock);

/* Who that thread was then, or, met later only, the first one known; NULL: nobody ever. */
const struct wm_trace_thread *wm_trace_people_thread(const struct wm_trace_people *p, uint32_t tid,
						     uint64_t clock);

/* The field's unsigned value out of an event, 0 when there is none. */
uint64_t wm_trace_people_number(const struct wm_class *class, const unsigned char *payload,
				size_t bytes, const char *field);

#endif
