/* SPDX-License-Identifier: MIT */
/*
 * action.h - what an event means on a timeline: a point, the beginning or end of a bar, a whole
 * bar, a thread switch on a processor, a new value of a number. This comes from one table of
 * tracers' events (action.c) and the rules of doc/format/span.md, and is bound to an event type
 * once.
 */
#ifndef WM_EXPORT_TIMELINE_ACTION_H
#define WM_EXPORT_TIMELINE_ACTION_H

#include "trace/field_ref.h"

enum wm_act {
	WM_ACT_POINT,
	WM_ACT_BEGIN,
	WM_ACT_END,
	WM_ACT_WHOLE,  /* the event has a begin and a duration */
	WM_ACT_SWITCH, /* the processor switches to another thread */
	WM_ACT_NUMBER,
	WM_ACT_READINGS, /* each numeric field is a new value */
};

/* Determines which BEGIN an END belongs to. */
enum wm_act_owner {
	WM_ACT_OF_THREAD, /* the last one of its thread */
	WM_ACT_OF_CPU,    /* the last one on its processor */
	WM_ACT_OF_SPAN,   /* the one with its id, on any thread */
};

struct wm_act_type {
	uint8_t act, owner;
	uint8_t family;    /* an END belongs to a BEGIN of the same family */
	const char *title; /* title of the bar; by default the event's name */
	/* prefix of a title that ends with the value of `label`: "irq 16"; NULL: `title` is used */
	const char *prefix;
	const char *category;
	/* END: belongs to the BEGIN with the same title */
	bool is_named;
	bool alone;                          /* BEGIN: bars do not nest */
	struct wm_field_ref label;           /* label.type is NULL when there is no label */
	struct wm_field_ref id;              /* OF_SPAN */
	struct wm_field_ref begin, duration; /* WHOLE: in ticks of the event's clock */
	struct wm_field_ref value,
	    part; /* NUMBER, READINGS: which of several numbers; part.type NULL: only one */
	const char *unit;
	bool has_words; /* READINGS: the event also has fields other than numbers and `part` */
};

void wm_act_bind(const struct wm_trace *trace, const struct wm_event_type *t,
		 struct wm_act_type *ret);

#endif
