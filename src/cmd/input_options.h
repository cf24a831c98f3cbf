/* SPDX-License-Identifier: MIT */
/*
 * input_options.h - options common to the verbs that read traces: the traces, the time window, the
 * events.
 */
#ifndef WM_CMD_INPUT_OPTIONS_H
#define WM_CMD_INPUT_OPTIONS_H

#include <limits.h>

#include "base/option.h"
#include "cmd/input_set.h"
#include "trace/event_select.h"

/* The options as typed; the strings are not copied. */
struct wm_asked {
	const char *begin, *end;
	const char *inputs[WM_INPUTS_MAX];
	uint32_t nr_inputs;
	bool correlate;        /* treat all clocks as having the same origin */
	char newest[PATH_MAX]; /* the trace used when none was named */
	struct wm_select select;
};

/* An entry of an option table; `type` must have a member `member` of type struct wm_asked. */
#define WM_ASKED_CALL(type, member, function)                                                      \
	.kind = WM_OPTION_CALL, WM_OPTION_MEMBER(type, member, struct wm_asked), .call = (function)

#define WM_ASKED_INPUT(type, member)                                                               \
	{                                                                                          \
		.name = "input", .letter = 'i', .argument = "TRACE",                               \
		.help = "read this trace, too; traces are merged by timestamp",                    \
		WM_ASKED_CALL(type, member, wm_asked_on_input)                                     \
	}

#define WM_ASKED_CORRELATE(type, member)                                                           \
	{                                                                                          \
		.name = "clock-force-correlate",                                                   \
		.help = "merge traces whose clocks count from unrelated origins, as if they had "  \
			"the same",                                                                \
		WM_OPTION_TO_FLAG(type, member.correlate)                                          \
	}

#define WM_ASKED_EVENTS(type, member)                                                              \
	{.name = "event",                                                                          \
	 .letter = 'e',                                                                            \
	 .argument = "GLOB",                                                                       \
	 .help = "only events whose PROVIDER:NAME matches GLOB; repeatable",                       \
	 WM_ASKED_CALL(type, member, wm_asked_on_event)},                                          \
	    {.name = "filter",                                                                     \
	     .argument = "EXPR",                                                                   \
	     .help = "only events of the preceding -e for which EXPR is true; before the first "   \
		     "-e: of all events",                                                          \
	     WM_ASKED_CALL(type, member, wm_asked_on_filter)},                                     \
	    {.name = "begin",                                                                      \
	     .argument = "TIME",                                                                   \
	     .help = "only events from TIME on: seconds or '[YYYY-MM-DD] hh:mm[:ss[.ns]]'",        \
	     WM_OPTION_TO_TEXT(type, member.begin)},                                               \
	{                                                                                          \
		.name = "end", .argument = "TIME", .help = "only events up to and including TIME", \
		WM_OPTION_TO_TEXT(type, member.end)                                                \
	}

#define WM_ASKED_SYMFS(type, member)                                                               \
	{                                                                                          \
		.name = "symfs", .argument = "FOLDER",                                             \
		.help = "look for files with symbols below this folder",                           \
		WM_OPTION_TO_TEXT(type, member)                                                    \
	}

#define WM_ASKED_THREADS(type, member, text)                                                       \
	{                                                                                          \
		.name = "threads", .argument = "N", .min = 1, .max = 256, .help = (text),          \
		WM_OPTION_TO_INTEGER(type, member)                                                 \
	}

/* For a verb whose values, of type `type`, have this member of type struct wm_asked. */
#define WM_ASKED_RELEASE(type, member)                                                             \
	.release = wm_asked_release,                                                               \
	.released = offsetof(type, member) +                                                       \
		    0 * sizeof(_Generic(&((type *)0)->member, struct wm_asked * : 0))

int wm_asked_on_input(const struct wm_option *o, const char *argument, void *values,
		      struct wm_diag *diag);
int wm_asked_on_event(const struct wm_option *o, const char *argument, void *values,
		      struct wm_diag *diag);
int wm_asked_on_filter(const struct wm_option *o, const char *argument, void *values,
		       struct wm_diag *diag);

/* These functions return 0, or print a message and return an exit status. */

/* Adds the traces named as positional arguments. */
int wm_asked_add(struct wm_asked *a, const char *verb, int nr_args, char **args);

/* Like wm_asked_add(), but without arguments adds the newest trace in the current folder. */
int wm_asked_find(struct wm_asked *a, const char *verb, int nr_args, char **args);

/* Frees what the options allocated; `asked` is a struct wm_asked. */
void wm_asked_release(void *asked);

#endif
