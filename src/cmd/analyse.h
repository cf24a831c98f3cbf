/* SPDX-License-Identifier: MIT */
/*
 * analyse.h - shared by all verbs that analyse traces: opens the traces, selects
 * events, runs one pass with one analysis, and prints the result as text or JSON.
 */
#ifndef WM_CMD_ANALYSE_H
#define WM_CMD_ANALYSE_H

#include "analysis/analysis.h"
#include "cmd/input_options.h"

struct wm_analyse_values {
	bool json;
	const char *symfs;
	int64_t rows;    /* maximum rows per table; 0: no limit */
	int64_t threads; /* 0: one per CPU */
	struct wm_asked asked;
	/* Reports progress, 0 .. 1; NULL: progress is drawn on standard error. */
	void (*progress)(void *data, double done);
	void *progress_data;
};

/*
 * Options of every verb that analyses traces; `type` must have a member `common` of type struct
 * wm_analyse_values.
 */
#define WM_ANALYSE_OPTIONS(type)                                                                   \
	WM_ASKED_INPUT(type, common.asked), WM_ASKED_EVENTS(type, common.asked),                   \
	    WM_ASKED_SYMFS(type, common.symfs)
#define WM_ANALYSE_ROWS(type)                                                                      \
	{                                                                                          \
		.name = "rows", .argument = "N", .min = 1, .max = INT64_MAX,                       \
		.help = "print the first N rows of each table",                                    \
		WM_OPTION_TO_INTEGER(type, common.rows)                                            \
	}

/* Options of verbs with a profile; `member` is a struct wm_profile_values in `type`. */
#define WM_PROFILE_KEY_NAMES "comm, pid, tid, cpu, event, dso, sym, srcline, FIELD or EVENT.FIELD"
#define WM_PROFILE_KEYS(type, member, text)                                                        \
	{                                                                                          \
		.name = "sort", .letter = 's', .argument = "KEY,...", .help = (text),              \
		WM_OPTION_TO_TEXT(type, member.keys)                                               \
	}
#define WM_PROFILE_LIMIT(type, member, text)                                                       \
	{                                                                                          \
		.name = "percent-limit", .argument = "PERCENT", .help = (text),                    \
		.kind = WM_OPTION_CALL, .offset = offsetof(type, member.percent_limit),            \
		.call = wm_analyse_on_percent                                                      \
	}
#define WM_PROFILE_WEIGHT(type, member)                                                            \
	{                                                                                          \
		.name = "weight", .argument = "WHAT",                                              \
		.help = "weight of an event: count, period, FIELD or EVENT.FIELD",                 \
		WM_OPTION_TO_TEXT(type, member.weight)                                             \
	}
#define WM_PROFILE_NO_CHILDREN(type, member)                                                       \
	{                                                                                          \
		.name = "no-children",                                                             \
		.help = "attribute an event only to the executing function, not to its callers",   \
		WM_OPTION_TO_FLAG(type, member.no_children)                                        \
	}
#define WM_PROFILE_INLINES(type, member)                                                           \
	{                                                                                          \
		.name = "inline", .help = "show functions that the compiler inlined",              \
		WM_OPTION_TO_FLAG(type, member.inlines)                                            \
	}

/* Parses a percentage, 0 to 100, into the double at the option's offset. */
int wm_analyse_on_percent(const struct wm_option *o, const char *argument, void *values,
			  struct wm_diag *diag);

/* The opened traces, a pass over them, and its result. */
struct wm_analysing {
	struct wm_analyse_values *v;
	const char *verb;
	struct wm_input_set in;
	struct wm_pass_input *input;
	struct wm_pass *pass;
	char *builds; /* allocated for input->builds */
	void *own;    /* state of the analysis */
	struct wm_result result;
};

/*
 * Opens the traces (positional arguments and -i; without any: the newest in the current folder),
 * runs one pass and fills a->result; `values` is passed to the analysis. On failure, prints a
 * message and returns an exit status. Call wm_analyse_close() in either case.
 */
int wm_analyse_run(struct wm_analysing *a, const char *verb, struct wm_analyse_values *v,
		   const struct wm_analysis *analysis, const void *values, int nr_args,
		   char **args);

/* Reports damage, losses, and whether no event matched; returns the exit status. */
int wm_analyse_finish(struct wm_analysing *a, int status);
void wm_analyse_close(struct wm_analysing *a, const struct wm_analysis *analysis);

/* Prints a result as text or JSON on standard output; returns an exit status. */
int wm_analyse_show(const char *verb, const struct wm_analyse_values *v,
		    const struct wm_result *result);

/* Calls all functions above: analyses the traces and prints the result as text or JSON. */
int wm_analyse_print(const char *verb, struct wm_analyse_values *v,
		     const struct wm_analysis *analysis, const void *values, int nr_args,
		     char **args);

#endif
