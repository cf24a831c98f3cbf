/* SPDX-License-Identifier: MIT */
/*
 * action.h - what an event does on a timeline: a point, the begin or end of a
 * bar, a whole bar, another thread on a processor, a number that changed. One
 * table of the events that tracers have for it (action.c), and the rules of
 * doc/format/span.md; bound to a kind of event once.
 */
#ifndef WM_EXPORT_TIMELINE_ACTION_H
#define WM_EXPORT_TIMELINE_ACTION_H

#include "trace/field_ref.h"

enum wm_act {
	WM_ACT_POINT,
	WM_ACT_BEGIN,
	WM_ACT_END,
	WM_ACT_WHOLE,  /* begin and duration are in it */
	WM_ACT_SWITCH, /* the processor has another thread */
	WM_ACT_NUMBER,
	WM_ACT_READINGS, /* each of its numbers is one that changed */
};

/* Whose a bar is: which begin an end belongs to. */
enum wm_act_owner {
	WM_ACT_OF_THREAD, /* the last begin of its thread */
	WM_ACT_OF_CPU,    /* the last begin on its processor */
	WM_ACT_OF_SPAN,   /* the begin with its id, whatever thread ends it */
};

struct wm_act_type {
	uint8_t act, owner;
	uint8_t family;    /* begins and ends of one family belong together */
	const char *title; /* of the bar; the event's name where nothing is better */
	const char
	    *prefix; /* of a title made with `label`'s value: "irq 16"; NULL: it is not made */
	const char *category;
	bool is_named;                       /* an end: it ends what has the same title */
	bool alone;                          /* a begin: there is no second one inside it */
	struct wm_field_ref label;           /* type NULL: none */
	struct wm_field_ref id;              /* OF_SPAN */
	struct wm_field_ref begin, duration; /* WHOLE: in ticks of the event's clock */
	struct wm_field_ref value,
	    part; /* NUMBER, READINGS: which of several it is of; part.type NULL: one */
	const char *unit;
	bool has_words; /* READINGS: not all of its values are numbers, or `part` */
};

void wm_act_bind(const struct wm_trace *trace, const struct wm_event_type *t,
		 struct wm_act_type *ret);

#endif
