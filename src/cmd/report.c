/* SPDX-License-Identifier: MIT */
/* report.c - waymark report: which code causes events, by call chain. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile.h"
#include "cmd/analyse.h"
#include "cmd/exit.h"
#include "cmd/report_view.h"
#include "cmd/say.h"
#include "cmd/verb.h"

struct values {
	struct wm_analyse_values common;
	struct wm_profile_values profile;
	bool stdio;
	/* value of options without effect, because what they request is the default */
	bool as_it_is;
	char time_begin[64]; /* storage for --time */
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
			return wm_diag_set(diag, -EINVAL, NULL, -1, "'%s' is not a percentage",
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

static int on_inverted(const struct wm_option *o, const char *argument, void *values,
		       struct wm_diag *diag)
{
	return on_graph(o, "callee", values, diag);
}

/* --time A,B as in perf: A or B may be empty. */
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
	v->common.asked.begin = bytes ? v->time_begin : NULL;
	v->common.asked.end = comma[1] ? comma + 1 : NULL;
	return 0;
}

static int cmd_report_run(void *values, int nr_args, char **args)
{
	struct values *v = values;

	if (v->profile.branches && v->profile.graph) {
		wm_say("report: --branch-stack and --call-graph cannot be combined: a branch has "
		       "no call chain");
		return WM_EXIT_USAGE;
	}
	if (v->profile.branches && v->profile.weight) {
		wm_say("report: --branch-stack and --weight cannot be combined: a branch has the "
		       "weight 1");
		return WM_EXIT_USAGE;
	}
	if (!v->stdio && wm_report_view_fits(&v->common))
		return wm_report_view(&v->common, &v->profile, nr_args, args);
	return wm_analyse_print("report", &v->common, &wm_analysis_profile, &v->profile, nr_args,
				args);
}

#define TO(kind, member) WM_OPTION_TO_##kind(struct values, member)

static const struct wm_option options[] = {
    WM_PROFILE_KEYS(struct values, profile, "split rows by these keys: " WM_PROFILE_KEY_NAMES),
    WM_PROFILE_WEIGHT(struct values, profile),
    {.name = "call-graph",
     .letter = 'g',
     .argument = "HOW[,PERCENT]",
     .optional = true,
     .choices = "caller|callee|folded|none",
     .help = "show call chains below each row: caller (down to callees), callee (up to callers), "
	     "folded, none",
     .kind = WM_OPTION_CALL,
     .call = on_graph},
    {.name = "inverted",
     .letter = 'G',
     .help = "same as -g callee",
     .kind = WM_OPTION_CALL,
     .call = on_inverted},
    WM_PROFILE_NO_CHILDREN(struct values, profile),
    {.name = "branch-stack",
     .letter = 'b',
     .help = "count the branches in samples (perf record -b) instead of the samples; further "
	     "keys: symbol_from, symbol_to, dso_from, dso_to, srcline_from, srcline_to, "
	     "mispredict, cycles, in_tx, abort",
     TO(FLAG, profile.branches)},
    {.name = "hierarchy",
     .help = "nest rows, one level per key, each with its share",
     TO(FLAG, profile.hierarchy)},
    WM_PROFILE_INLINES(struct values, profile),
    WM_PROFILE_LIMIT(struct values, profile, "leave out rows below PERCENT"),
    WM_ANALYSE_ROWS(struct values),
    {.name = "show-total-period",
     .help = "add a column with the weight of each row",
     TO(FLAG, profile.weights)},
    WM_ASKED_THREADS(struct values, common.threads, "use N processors; default: all"),
    {.name = "stdio", .help = "print text, even on a terminal", TO(FLAG, stdio)},
    {.name = "json", .help = "print one JSON object", TO(FLAG, common.json)},
    WM_OPTION_HEADING("Which events"),
    WM_ANALYSE_OPTIONS(struct values),
    {.name = "time",
     .argument = "BEGIN,END",
     .help = "same as --begin BEGIN --end END",
     .kind = WM_OPTION_CALL,
     .call = on_time},
    {.name = "comm",
     .letter = 'c',
     .argument = "NAME,...",
     .help = "only rows of these commands; shares remain relative to all events",
     TO(TEXT, profile.comms)},
    {.name = "pid",
     .argument = "PID,...",
     .help = "only rows of these processes",
     TO(TEXT, profile.pids)},
    {.name = "dso",
     .letter = 'd',
     .argument = "OBJECT,...",
     .help = "only rows of these programs and libraries",
     TO(TEXT, profile.dsos)},
    {.name = "symbol",
     .letter = 'S',
     .argument = "NAME,...",
     .help = "only rows of these functions",
     TO(TEXT, profile.syms)},
    /*
     * The hidden options are accepted for users of perf report; some have no effect, because they
     * request the default.
     */
    {.name = "comms", .argument = "NAME,...", .hidden = true, TO(TEXT, profile.comms)},
    {.name = "dsos", .argument = "OBJECT,...", .hidden = true, TO(TEXT, profile.dsos)},
    {.name = "symbols", .argument = "NAME,...", .hidden = true, TO(TEXT, profile.syms)},
    {.name = "show-nr-samples", .letter = 'n', .hidden = true, TO(FLAG, as_it_is)},
    {.name = "children", .hidden = true, TO(FLAG, as_it_is)},
    {.name = "tui", .hidden = true, TO(FLAG, as_it_is)},
    {.name = "force", .letter = 'f', .hidden = true, TO(FLAG, as_it_is)},
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_report = {
    .name = "report",
    .summary = "show which code causes events, by call chain",
    .synopsis = "[TRACE...] [-s KEY,...] [-g] [-e GLOB [--filter EXPR]]...",
    .details =
	"TRACE: a trace folder or file from waymark, LTTng, another CTF tracer, perf, trace-cmd\n"
	"or ftrace; -: standard input; default: the newest waymark-* trace in this folder.\n"
	"Without -s, samples are split by comm,dso,sym and other events by event,comm.\n"
	"Samples are weighted by their period and have one table per event. Exit status 5:\n"
	"events are missing; a message gives the reason.",
    .options = options,
    .values_bytes = sizeof(struct values),
    .max_args = WM_VERB_ANY,
    .run = cmd_report_run,
    WM_ASKED_RELEASE(struct values, common.asked),
};
