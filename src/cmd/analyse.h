/* SPDX-License-Identifier: MIT */
/*
 * analyse.h - what all verbs that analyse share: traces to read, events to
 * look at, text or JSON to write; one pass with one analysis, and its result.
 */
#ifndef WM_CMD_ANALYSE_H
#define WM_CMD_ANALYSE_H

#include "analysis/analysis.h"
#include "cmd/input_options.h"

struct wm_analyse_values {
	bool json;
	const char *symfs;
	int64_t rows;    /* of a table; 0: all */
	int64_t threads; /* 0: as many as there are processors */
	struct wm_asked asked;
	/* Told how far it is, 0 .. 1; NULL: a line on standard error. */
	void (*progress)(void *data, double done);
	void *progress_data;
};

/* Options every such verb has; `type` has a member `common` of the struct above. */
#define WM_ANALYSE_OPTIONS(type)                                                                   \
	WM_ASKED_INPUT(type, common.asked), WM_ASKED_EVENTS(type, common.asked),                   \
	{                                                                                          \
		.name = "symfs", .argument = "FOLDER",                                             \
		.help = "look for the files with symbols below this folder",                       \
		WM_OPTION_TO_TEXT(type, common.symfs)                                              \
	}

/* Options of verbs with a profile; `member` is a struct wm_profile_values of `type`. */
#define WM_PROFILE_WEIGHT(type, member)                                                            \
	{                                                                                          \
		.name = "weight", .argument = "WHAT",                                              \
		.help = "what an event counts for: count, period, FIELD or EVENT.FIELD",           \
		WM_OPTION_TO_TEXT(type, member.weight)                                             \
	}
#define WM_PROFILE_NO_CHILDREN(type, member)                                                       \
	{                                                                                          \
		.name = "no-children",                                                             \
		.help = "count a function only where it was itself at work",                       \
		WM_OPTION_TO_FLAG(type, member.no_children)                                        \
	}
#define WM_PROFILE_INLINES(type, member)                                                           \
	{                                                                                          \
		.name = "inline", .help = "functions that the compiler inlined, too",              \
		WM_OPTION_TO_FLAG(type, member.inlines)                                            \
	}

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
