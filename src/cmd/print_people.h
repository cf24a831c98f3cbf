/* SPDX-License-Identifier: MIT */
/* print_people.h - names of the processes in traces of our own, as the recorder noted them. */
#ifndef WM_CMD_PRINT_PEOPLE_H
#define WM_CMD_PRINT_PEOPLE_H

#include "format/reader.h"

struct wm_print_people;

/* NULL: no memory. Traces of other tracers have none. */
struct wm_print_people *wm_print_people_create(struct wm_trace *const *traces, uint32_t nr_traces);
void wm_print_people_destroy(struct wm_print_people *p);

/* The name of the event's process at that time, or "". `people` may be NULL; thread-safe. */
const char *wm_print_people_comm(const void *people, uint32_t trace, const struct wm_event *e);

#endif
