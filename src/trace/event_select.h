/* SPDX-License-Identifier: MIT */
/*
 * event_select.h - chooses events by glob and filter. Rules are collected from
 * their texts (a filter belongs to the glob before it, before any glob to all
 * events), then bound to the traces that were opened. Prints nothing.
 */
#ifndef WM_TRACE_EVENT_SELECT_H
#define WM_TRACE_EVENT_SELECT_H

#include "base/diag.h"
#include "base/nearest.h"
#include "trace/reader.h"

struct wm_select_rule {
	const char *glob;    /* NULL: every event */
	const char *filter;  /* its text; NULL: none */
	unsigned char *code; /* of the filter */
	size_t code_bytes;
	uint64_t nr_matched; /* types of events */
	uint64_t nr_unfit;   /* types that the glob matched and the filter does not fit */
};

struct wm_select {
	struct wm_select_rule *rules; /* rules[0]: before any glob */
	uint32_t nr_rules;
	bool hidden;   /* also the recorder's own events */
	bool all_meta; /* those, and perf's records of tasks, whatever the rules */
	bool no_meta;  /* never those, even when a glob names them */

	/* Bound, by wm_select_bind(): */
	uint32_t nr_traces;
	struct wm_select_trace *traces;
	struct wm_want *wants;
	const struct wm_want **want_list; /* for wm_merge_options */
};

/*
 * Add a rule's glob, or the filter of the last rule. The texts stay the
 * caller's and must outlive `s`. 0 or -errno; `diag` says what is wrong with a filter.
 */
int wm_select_event(struct wm_select *s, const char *glob);
int wm_select_filter(struct wm_select *s, const char *text, struct wm_diag *diag);

/* Copies the rules of `from` to `to`, unbound. 0 or -ENOMEM. */
int wm_select_again(const struct wm_select *from, struct wm_select *to);

/*
 * Binds the rules to the traces, which outlive it. 0; -ENOMEM; or the error of
 * a filter that does not fit an event named outright: `diag` has the column and
 * *ret_rule the rule. A filter that does not fit an event matched by a pattern
 * only counts (nr_unfit), and these events are not wanted. A rule with
 * nr_matched 0 matched nothing: the caller decides what that means.
 */
int wm_select_bind(struct wm_select *s, struct wm_trace *const *traces, uint32_t nr_traces,
		   struct wm_diag *diag, const struct wm_select_rule **ret_rule);

/* Offers the names of all events of the bound traces as corrections of a glob. */
void wm_select_nearest(const struct wm_select *s, const char *glob, struct wm_nearest *ret);

/* True when the type with that index has events that the rules can choose. */
bool wm_select_is_wanted(const struct wm_select *s, uint32_t trace, uint32_t type);

/* True when the event passes. `select` is a bound struct wm_select; thread-safe. */
bool wm_select_passes(const void *select, uint32_t trace, const struct wm_event *e);

/* True when there are filters; without them, every event of a wanted type passes. */
bool wm_select_asks(const struct wm_select *s);

/* Only filters need these parts of a trace (bits 1 << enum wm_part): drops them without filters. */
void wm_select_spare(struct wm_select *s, uint32_t trace, uint32_t parts);

void wm_select_unbind(struct wm_select *s);
void wm_select_done(struct wm_select *s);

#endif
