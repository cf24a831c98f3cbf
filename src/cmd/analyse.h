/* SPDX-License-Identifier: MIT */
/*
 * analyse.h - what all verbs that analyse share: traces to read, events to
 * look at, text or JSON to write; one pass with one analysis, and its result.
 */
#ifndef WM_CMD_ANALYSE_H
#define WM_CMD_ANALYSE_H

#include "analysis/analysis.h"
#include "cmd/inputs.h"
#include "cmd/select.h"

struct wm_analyse_values {
	bool json;
	const char *begin, *end;
	const char *symfs;
	const char *inputs[WM_INPUTS_MAX];
	uint32_t nr_inputs;
	int64_t rows; /* of a table; 0: all */
	struct wm_select select;
};

/* Options every such verb has; `type` has a member `common` of the struct above. */
#define WM_ANALYSE_OPTIONS(type)                                                                   \
	{.name = "input",                                                                          \
	 .letter = 'i',                                                                            \
	 .argument = "TRACE",                                                                      \
	 .help = "also this trace, of the same machine: all are merged on their clocks",           \
	 .kind = WM_OPTION_CALL,                                                                   \
	 .offset = offsetof(type, common),                                                         \
	 .call = wm_analyse_on_input},                                                             \
	    {.name = "event",                                                                      \
	     .letter = 'e',                                                                        \
	     .argument = "GLOB",                                                                   \
	     .help = "events of these names only, PROVIDER:NAME",                                  \
	     .kind = WM_OPTION_CALL,                                                               \
	     .offset = offsetof(type, common),                                                     \
	     .call = wm_analyse_on_event},                                                         \
	    {.name = "filter",                                                                     \
	     .argument = "EXPR",                                                                   \
	     .help = "those that pass, of the -e before it; before any -e: of all",                \
	     .kind = WM_OPTION_CALL,                                                               \
	     .offset = offsetof(type, common),                                                     \
	     .call = wm_analyse_on_filter},                                                        \
	    {.name = "begin",                                                                      \
	     .argument = "TIME",                                                                   \
	     .help = "from this time on: seconds, hh:mm[:ss[.ns]], or with YYYY-MM-DD before",     \
	     WM_OPTION_TO_TEXT(type, common.begin)},                                               \
	    {.name = "end",                                                                        \
	     .argument = "TIME",                                                                   \
	     .help = "up to this time, it included",                                               \
	     WM_OPTION_TO_TEXT(type, common.end)},                                                 \
	{                                                                                          \
		.name = "symfs", .argument = "FOLDER",                                             \
		.help = "look for the files with symbols below this folder",                       \
		WM_OPTION_TO_TEXT(type, common.symfs)                                              \
	}

int wm_analyse_on_input(const struct wm_option *o, const char *argument, void *values,
			struct wm_diag *diag);
int wm_analyse_on_event(const struct wm_option *o, const char *argument, void *values,
			struct wm_diag *diag);
int wm_analyse_on_filter(const struct wm_option *o, const char *argument, void *values,
			 struct wm_diag *diag);

/* A percentage, 0 to 100, into the double at the option's offset. */
int wm_analyse_on_percent(const struct wm_option *o, const char *argument, void *values,
			  struct wm_diag *diag);

/* Traces that were opened, a pass over them, and what it found. */
struct wm_analysing {
	struct wm_analyse_values *v;
	const char *verb;
	struct wm_inputs in;
	struct wm_pass_input *input;
	struct wm_pass *pass;
	char *builds; /* input->builds */
	void *own;    /* of the analysis */
	struct wm_result result;
};

/*
 * Opens the traces (positional arguments and -i; none: the newest here), walks
 * once and fills a->result; `values` are the analysis's own. An exit status;
 * what went wrong was said. wm_analyse_close() in any case.
 */
int wm_analyse_run(struct wm_analysing *a, const char *verb, struct wm_analyse_values *v,
		   const struct wm_analysis *analysis, const void *values, int nr_args,
		   char **args);

/* Says damage and losses, and that nothing matched: the exit status. */
int wm_analyse_finish(struct wm_analysing *a, int status);
void wm_analyse_close(struct wm_analysing *a, const struct wm_analysis *analysis);

/* A result as text or JSON on standard output. An exit status. */
int wm_analyse_show(const char *verb, const struct wm_analyse_values *v,
		    const struct wm_result *result);

/* All of it, with the result as text or JSON on standard output. */
int wm_analyse_print(const char *verb, struct wm_analyse_values *v,
		     const struct wm_analysis *analysis, const void *values, int nr_args,
		     char **args);

#endif
