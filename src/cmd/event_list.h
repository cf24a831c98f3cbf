/* SPDX-License-Identifier: MIT */
/*
 * event_list.h - the events named by -e and -x, with the options that apply to them, for verbs that
 * record or count. An option such as --filter applies to the preceding -e; before the first -e, it
 * applies to all events. Nothing is resolved here. Verbs that read traces collect theirs in
 * trace/event_select.h.
 */
#ifndef WM_CMD_EVENT_LIST_H
#define WM_CMD_EVENT_LIST_H

#include "base/option.h"
#include "control/recorder.h"

/* The argument of one -e or -x, and its options; the strings point into argv. */
struct wm_listed_event {
	const char *names;  /* NULL: the options given before any -e */
	const char *filter; /* NULL: none */
	bool exclude;       /* from -x */
	uint32_t contexts;
	struct wm_sampling_how how;
	uint64_t every_ns; /* interval between /proc readings; 0: not given */
};

struct wm_event_list {
	struct wm_listed_event *events; /* [0] holds the options before any -e */
	uint32_t nr;                    /* 0: no option of this list was given */
};

/* For option tables; `type` has a member `member` of the struct above. */
#define WM_EVENT_LIST_CALL(type, member, function)                                                 \
	.kind = WM_OPTION_CALL, WM_OPTION_MEMBER(type, member, struct wm_event_list),              \
	.call = (function)
#define WM_EVENT_LIST_EVENT(type, member, word, limit, text)                                       \
	{                                                                                          \
		.name = "event", .letter = 'e', .argument = (word), .max = (limit),                \
		.help = (text), WM_EVENT_LIST_CALL(type, member, wm_listed_on_event)               \
	}
#define WM_EVENT_LIST_EXCLUDE(type, member, limit, text)                                           \
	{                                                                                          \
		.name = "exclude", .letter = 'x', .argument = "GLOB", .max = (limit),              \
		.help = (text), WM_EVENT_LIST_CALL(type, member, wm_listed_on_exclude)             \
	}
#define WM_EVENT_LIST_FILTER(type, member, text)                                                   \
	{                                                                                          \
		.name = "filter", .argument = "EXPR", .help = (text),                              \
		WM_EVENT_LIST_CALL(type, member, wm_listed_on_filter)                              \
	}

int wm_listed_on_event(const struct wm_option *o, const char *argument, void *values,
		       struct wm_diag *diag);
int wm_listed_on_exclude(const struct wm_option *o, const char *argument, void *values,
			 struct wm_diag *diag);
int wm_listed_on_filter(const struct wm_option *o, const char *argument, void *values,
			struct wm_diag *diag);

/* Ensures that events[0] exists. Returns 0 or -ENOMEM. */
int wm_listed_init(struct wm_event_list *l);

/*
 * Finds the list entry that option `o` applies to. Returns 0, -ENOMEM, or -EINVAL with diag when
 * that entry is an -x.
 */
int wm_listed_last(const struct wm_option *o, void *values, struct wm_listed_event **ret,
		   struct wm_diag *diag);

void wm_listed_done(struct wm_event_list *l);

#endif
