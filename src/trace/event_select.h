/* SPDX-License-Identifier: MIT */
/*
 * event_select.h - selects events by glob and filter. Rules are first collected as strings: a
 * filter applies to the glob given before it, and a filter given before any glob applies to all
 * events. Then they are bound to the traces that were opened.
 */
#ifndef WM_TRACE_EVENT_SELECT_H
#define WM_TRACE_EVENT_SELECT_H

#include "base/diag.h"
#include "base/nearest.h"
#include "trace/reader.h"

struct wm_select_rule {
	const char *glob;    /* NULL: every event */
	const char *filter;  /* the filter's text; NULL: none */
	unsigned char *code; /* the compiled filter */
	size_t code_bytes;
	uint64_t nr_matched; /* event types that the glob matched */
	uint64_t nr_unfit;   /* matched types whose fields the filter does not fit */
	char question[120];  /* names near to a missing field, of one of these types; "" if none */
};

struct wm_select {
	struct wm_select_rule *rules; /* rules[0] holds the filter given before any glob */
	uint32_t nr_rules;
	bool hidden;   /* also choose the recorder's own events */
	bool all_meta; /* always choose the recorder's own events and perf's records of tasks */
	bool headers;  /* packet and event headers are wanted, too */
	bool no_meta;  /* never choose the recorder's own events, even when a glob names them */

	/* Set by wm_select_bind(): */
	uint32_t nr_traces;
	struct wm_select_trace *traces;
	struct wm_want *wants;
	const struct wm_want **want_list; /* for wm_merge_options */
};

/*
 * wm_select_event() adds a rule for a glob, wm_select_filter() sets the filter of the last rule.
 * The strings are not copied and must outlive `s`. Both return 0 or -errno; `diag` describes an
 * error in a filter.
 */
int wm_select_event(struct wm_select *s, const char *glob);
int wm_select_filter(struct wm_select *s, const char *text, struct wm_diag *diag);

/* Copies the rules of `from` to `to`, but not their binding to traces. 0 or -ENOMEM. */
int wm_select_again(const struct wm_select *from, struct wm_select *to);

/*
 * Binds the rules to the traces, which must outlive the binding. Fails with
 * -ENOMEM, or when a filter does not fit an event named without wildcards: then
 * `diag` has the column and *ret_rule the rule. When a filter does not fit an
 * event type matched by a pattern, the type is counted in nr_unfit and its
 * events are not chosen. A rule that matched no event type has nr_matched 0,
 * which is not an error here.
 */
int wm_select_bind(struct wm_select *s, struct wm_trace *const *traces, uint32_t nr_traces,
		   struct wm_diag *diag, const struct wm_select_rule **ret_rule);

/* Adds the names of all events of the bound traces to the candidates for correcting a glob. */
void wm_select_nearest(const struct wm_select *s, const char *glob, struct wm_nearest *ret);

/* Returns true when the type with that index has events that the rules can select. */
bool wm_select_is_wanted(const struct wm_select *s, uint32_t trace, uint32_t type);

/* Returns true when the event passes. `select` is a bound struct wm_select; thread-safe. */
bool wm_select_passes(const void *select, uint32_t trace, const struct wm_event *e);

/*
 * Returns whether any rule has a filter. Otherwise every event of a wanted type passes, and callers
 * need not call wm_select_passes().
 */
bool wm_select_asks(const struct wm_select *s);

/*
 * Declares that the caller itself does not need these parts of a trace (bits 1 << enum wm_part), so
 * that they are decoded only when there is a filter.
 */
void wm_select_spare(struct wm_select *s, uint32_t trace, uint32_t parts);

void wm_select_unbind(struct wm_select *s);
void wm_select_done(struct wm_select *s);

#endif
