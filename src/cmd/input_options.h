/* SPDX-License-Identifier: MIT */
/*
 * input_options.h - what every verb that reads traces is asked for: which traces, what
 * window of time, which events; its options, and the traces opened.
 */
#ifndef WM_CMD_INPUT_OPTIONS_H
#define WM_CMD_INPUT_OPTIONS_H

#include <limits.h>

#include "base/option.h"
#include "cmd/inputs.h"
#include "trace/event_select.h"

/* As typed; what it points to is borrowed. */
struct wm_asked {
	const char *begin, *end;
	const char *inputs[WM_INPUTS_MAX];
	uint32_t nr_inputs;
	char newest[PATH_MAX]; /* the trace that was meant when none was named */
	struct wm_select select;
};

/* For option tables; `type` has a member `member` of the struct above. */
#define WM_ASKED_CALL(type, member, function)                                                      \
	.kind = WM_OPTION_CALL, WM_OPTION_MEMBER(type, member, struct wm_asked), .call = (function)

#define WM_ASKED_INPUT(type, member)                                                               \
	{                                                                                          \
		.name = "input", .letter = 'i', .argument = "TRACE",                               \
		.help = "also this trace: all are merged on their clocks",                         \
		WM_ASKED_CALL(type, member, wm_asked_on_input)                                     \
	}

#define WM_ASKED_EVENTS(type, member)                                                              \
	{.name = "event",                                                                          \
	 .letter = 'e',                                                                            \
	 .argument = "GLOB",                                                                       \
	 .help = "events of these names, PROVIDER:NAME",                                           \
	 WM_ASKED_CALL(type, member, wm_asked_on_event)},                                          \
	    {.name = "filter",                                                                     \
	     .argument = "EXPR",                                                                   \
	     .help = "those that pass, of the -e before it; before any -e: of all",                \
	     WM_ASKED_CALL(type, member, wm_asked_on_filter)},                                     \
	    {.name = "begin",                                                                      \
	     .argument = "TIME",                                                                   \
	     .help = "from this time on: seconds, hh:mm[:ss[.ns]], or with YYYY-MM-DD before",     \
	     WM_OPTION_TO_TEXT(type, member.begin)},                                               \
	{                                                                                          \
		.name = "end", .argument = "TIME", .help = "up to this time, it included",         \
		WM_OPTION_TO_TEXT(type, member.end)                                                \
	}

int wm_asked_on_input(const struct wm_option *o, const char *argument, void *values,
		      struct wm_diag *diag);
int wm_asked_on_event(const struct wm_option *o, const char *argument, void *values,
		      struct wm_diag *diag);
int wm_asked_on_filter(const struct wm_option *o, const char *argument, void *values,
		       struct wm_diag *diag);

/* Exit statuses; what went wrong was said. */

/* The traces named as positional arguments, too. */
int wm_asked_add(struct wm_asked *a, const char *verb, int nr_args, char **args);

/* That, and when none was named in any way: the newest trace here. */
int wm_asked_find(struct wm_asked *a, const char *verb, int nr_args, char **args);

#endif
