/* SPDX-License-Identifier: MIT */
/* report.c - waymark report: who causes events, by which call chain. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile.h"
#include "cmd/analyse.h"
#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/verb.h"

struct values {
	struct wm_analyse_values common;
	struct wm_profile_values profile;
	bool stdio;
	char time_begin[64]; /* of --time */
};

/* In the order of enum wm_profile_graph. */
static const char *const graphs[] = {"none", "caller", "callee", "folded"};

/* --call-graph HOW[,PERCENT], or -g alone */
static int on_graph(const struct wm_option *o, const char *argument, void *values,
		    struct wm_diag *diag)
{
	struct wm_profile_values *p = &((struct values *)values)->profile;
	const char *how = argument ? argument : "", *comma = strchr(how, ',');
	size_t bytes = comma ? (size_t)(comma - how) : strlen(how);
	char *end;

	p->graph_percent_limit = 0.5;
	if (comma) {
		p->graph_percent_limit = strtod(comma + 1, &end);
		if (end == comma + 1 || *end || !(p->graph_percent_limit >= 0))
			return wm_diag_set(diag, -EINVAL, NULL, -1, "'%s' is no percentage",
					   comma + 1);
	}
	if (!bytes) {
		p->graph = WM_GRAPH_CALLER;
		return 0;
	}
	for (int i = 0; i < (int)(sizeof(graphs) / sizeof(graphs[0])); i++)
		if (strlen(graphs[i]) == bytes && !memcmp(graphs[i], how, bytes)) {
			p->graph = i;
			return 0;
		}
	return wm_diag_set(diag, -EINVAL, NULL, -1,
			   "'%.*s' is not one of none, caller, callee, folded", (int)bytes, how);
}

/* --time A,B as perf has it: either may be left out. */
static int on_time(const struct wm_option *o, const char *argument, void *values,
		   struct wm_diag *diag)
{
	struct values *v = values;
	const char *comma = strchr(argument, ',');
	size_t bytes = comma ? (size_t)(comma - argument) : 0;

	if (!comma || bytes >= sizeof(v->time_begin))
		return wm_diag_set(diag, -EINVAL, NULL, -1, "'%s' is not BEGIN,END", argument);
	memcpy(v->time_begin, argument, bytes);
	v->time_begin[bytes] = '\0';
	v->common.begin = bytes ? v->time_begin : NULL;
	v->common.end = comma[1] ? comma + 1 : NULL;
	return 0;
}

static int run(void *values, int nr_args, char **args)
{
	struct values *v = values;

	return wm_analyse_print("report", &v->common, &wm_analysis_profile, &v->profile, nr_args,
				args);
}

static void release(void *values)
{
	wm_select_done(&((struct values *)values)->common.select);
}

#define TO(kind, member) WM_OPTION_TO_##kind(struct values, member)

static const struct wm_option options[] = {
    {.name = "sort",
     .letter = 's',
     .argument = "KEY,...",
     .help = "split by these: comm, pid, tid, cpu, event, dso, sym, srcline, FIELD or EVENT.FIELD",
     TO(TEXT, profile.keys)},
    {.name = "weight",
     .argument = "WHAT",
     .help = "what an event counts for: count, period, FIELD or EVENT.FIELD",
     TO(TEXT, profile.weight)},
    {.letter = 'g',
     .help = "calls below each row, from it to what it called",
     .kind = WM_OPTION_CALL,
     .call = on_graph},
    {.name = "call-graph",
     .argument = "HOW[,PERCENT]",
     .help = "calls below each row: caller (to what it called), callee (to who called it), folded, "
	     "none",
     .kind = WM_OPTION_CALL,
     .call = on_graph},
    {.name = "no-children",
     .help = "count a function only where it was itself at work",
     TO(FLAG, profile.no_children)},
    {.name = "inline",
     .help = "functions that the compiler inlined, too",
     TO(FLAG, profile.inlines)},
    {.name = "percent-limit",
     .argument = "PERCENT",
     .help = "leave out rows below",
     .kind = WM_OPTION_CALL,
     .offset = offsetof(struct values, profile.percent_limit),
     .call = wm_analyse_on_percent},
    {.name = "rows",
     .argument = "N",
     .min = 1,
     .max = INT64_MAX,
     .help = "the first N rows of each table",
     TO(INTEGER, common.rows)},
    {.name = "stdio", .help = "text, also on a terminal", TO(FLAG, stdio)},
    {.name = "json", .help = "print one JSON object", TO(FLAG, common.json)},
    WM_OPTION_HEADING("Which events"),
    WM_ANALYSE_OPTIONS(struct values),
    {.name = "time",
     .argument = "BEGIN,END",
     .help = "the same as --begin and --end",
     .kind = WM_OPTION_CALL,
     .call = on_time},
    {.name = "comm",
     .argument = "NAME,...",
     .help = "rows of these commands; shares stay those of all",
     TO(TEXT, profile.comms)},
    {.name = "pid",
     .argument = "PID,...",
     .help = "rows of these processes",
     TO(TEXT, profile.pids)},
    {.name = "dso",
     .argument = "OBJECT,...",
     .help = "rows of these programs and libraries",
     TO(TEXT, profile.dsos)},
    {.name = "symbol",
     .argument = "NAME,...",
     .help = "rows of these functions",
     TO(TEXT, profile.syms)},
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_report = {
    .name = "report",
    .summary = "show who causes events, by which call chain",
    .synopsis = "[TRACE...] [-s KEY,...] [-g] [-e GLOB [--filter EXPR]]...",
    .details = "TRACE: a folder or file of waymark, LTTng or another CTF tracer, perf, trace-cmd, "
	       "ftrace.\n"
	       "Without: the newest waymark-* trace in the current folder.\n"
	       "Without -s: comm,dso,sym of samples, event,comm of other events. Samples weigh\n"
	       "their period and have a table for each event. Exit status 5: done, but events\n"
	       "are missing (why is said).",
    .options = options,
    .values_bytes = sizeof(struct values),
    .max_args = WM_VERB_ANY,
    .run = run,
    .release = release,
};
