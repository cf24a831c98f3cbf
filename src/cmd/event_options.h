/* SPDX-License-Identifier: MIT */
/*
 * event_options.h - which events of traces are meant: `-e GLOB` and `--filter EXPR` as
 * people type them (a filter belongs to the -e before it, before any -e to
 * all), then bound to the traces that were opened.
 */
#ifndef WM_CMD_EVENT_OPTIONS_H
#define WM_CMD_EVENT_OPTIONS_H

#include "base/diag.h"
#include "trace/reader.h"

struct wm_select_rule {
	const char *glob;    /* NULL: every event */
	const char *filter;  /* its text; NULL: none */
	unsigned char *code; /* of the filter */
	size_t code_bytes;
	uint64_t nr_matched; /* types of events */
	uint64_t nr_unfit;   /* of those a glob matched: the filter does not fit */
};

struct wm_select {
	struct wm_select_rule *rules; /* rules[0]: before any -e */
	uint32_t nr_rules;
	bool hidden;   /* also the recorder's own events */
	bool all_meta; /* those, and what perf says of tasks, whatever the rules */

	/* Bound, by wm_select_bind(): */
	uint32_t nr_traces;
	struct wm_select_trace *traces;
	struct wm_want *wants;
	const struct wm_want **want_list; /* as merges want it */
};

/* Options: take what was typed, with `diag` filled when it is wrong. 0 or -errno. */
int wm_select_event(struct wm_select *s, const char *glob);
int wm_select_filter(struct wm_select *s, const char *text, struct wm_diag *diag);

/* What was typed for one, for another. 0 or -ENOMEM. */
int wm_select_again(const struct wm_select *from, struct wm_select *to);

/*
 * Binds the rules to the traces, which outlive it. An exit status; what is
 * wrong was said: nothing matches, a filter does not fit an event named outright.
 */
int wm_select_bind(struct wm_select *s, struct wm_trace *const *traces, uint32_t nr_traces);

/* Is the event meant? `select` is a bound one; thread-safe. */
bool wm_select_passes(const void *select, uint32_t trace, const struct wm_event *e);

/* Does it have to be asked, or is every event of wanted types meant? */
bool wm_select_asks(const struct wm_select *s);

/* Nobody but filters needs the items of these parts (bits 1 << enum wm_part) of a trace. */
void wm_select_spare(struct wm_select *s, uint32_t trace, uint32_t parts);

void wm_select_unbind(struct wm_select *s);
void wm_select_done(struct wm_select *s);

#endif
