/* SPDX-License-Identifier: MIT */
/*
 * sampled.h - the samples among the events: which types are samples, how much each one counts, and
 * the named frames of its call chain. For exporters whose formats have samples.
 */
#ifndef WM_EXPORT_TIMELINE_SAMPLED_H
#define WM_EXPORT_TIMELINE_SAMPLED_H

#include "export/export.h"
#include "trace/field_ref.h"
#include "view/writer.h"

/* How the events of a type are written. */
enum wm_sampled_how {
	WM_SAMPLED_NOT,
	WM_SAMPLED_ONLY, /* a sample has everything except numbers of registers and memory */
	WM_SAMPLED_TOO,  /* as a sample, and as an event with its values */
};

struct wm_sampled_type {
	enum wm_sampled_how how;
	struct wm_field_ref ip, chain, period;
	uint64_t fixed_period;
};

struct wm_sampled {
	const struct wm_view_places *places;
	void *names; /* from `places`; NULL: addresses have no names */
	uint32_t nr; /* number of sample types */
	uint32_t nr_traces;
	struct wm_sampled_type **types; /* by trace and type */
	struct wm_named_place callers[WM_UNWIND_FRAMES_MAX];
};

/* 0 or -ENOMEM; call wm_sampled_done() in either case. */
int wm_sampled_init(struct wm_sampled *s, const struct wm_export *x);
void wm_sampled_done(struct wm_sampled *s);

static inline const struct wm_sampled_type *
wm_sampled_type(const struct wm_sampled *s, uint32_t trace, const struct wm_event_type *t)
{
	return &s->types[trace][t->index];
}

/* Returns how much the sample counts: the period since the previous sample. */
uint64_t wm_sampled_weight(const struct wm_sampled_type *type, const struct wm_event *e);

/*
 * Calls `frame` for each frame of the sample's call chain, innermost first, or for its address when
 * it has no chain. An error from `frame` ends the calls. Returns 0, or an error from `frame` or
 * from resolving names.
 */
int wm_sampled_chain(struct wm_sampled *s, uint32_t trace, const struct wm_event *e,
		     int (*frame)(void *own, const struct wm_named_place *n), void *own);

#endif
