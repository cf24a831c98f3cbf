/* SPDX-License-Identifier: MIT */
/* annotate.c - waymark annotate: one function, instruction by instruction. */
#include "analysis/annotate.h"

#include "cmd/analyse.h"
#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/verb.h"

struct values {
	struct wm_analyse_values common;
	struct wm_annotate_values annotate;
};

/* Explains why there is no listing. */
static int annotate_say_missing(const struct wm_result *r)
{
	for (const struct wm_result_note *n = r->notes; n; n = n->next)
		if (n->kind == WM_NOTE_PROBLEM)
			wm_say("annotate: %s", n->text);
	return WM_EXIT_NO_MATCH;
}

static int cmd_annotate_run(void *values, int nr_args, char **args)
{
	struct values *v = values;
	struct wm_analysing a;
	int status, shown = WM_EXIT_DONE;

	v->annotate.profile.keys = "sym";
	v->annotate.profile.no_children = true;
	v->annotate.what.symbol = args[0];
	status = wm_analyse_run(&a, "annotate", &v->common, &wm_analysis_annotate, &v->annotate,
				nr_args - 1, args + 1);
	if (!status && !a.result.tables && a.pass->nr_events)
		status = annotate_say_missing(&a.result);
	if (!status || (v->common.json && status == WM_EXIT_NO_MATCH))
		shown = wm_analyse_show("annotate", &v->common, &a.result);
	status = wm_analyse_finish(&a, status ? status : shown);
	wm_analyse_close(&a, &wm_analysis_annotate);
	return status;
}

#define TO(kind, member) WM_OPTION_TO_##kind(struct values, member)

static const struct wm_option options[] = {
    {.name = "dso",
     .argument = "OBJECT",
     .help = "take SYMBOL from this program or library",
     TO(TEXT, annotate.what.object)},
    {.name = "no-source",
     .help = "show instructions without source",
     TO(FLAG, annotate.what.no_source)},
    WM_PROFILE_WEIGHT(struct values, annotate.profile),
    {.name = "json", .help = "print one JSON object", TO(FLAG, common.json)},
    WM_OPTION_HEADING("Which events"),
    WM_ANALYSE_OPTIONS(struct values),
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_annotate = {
    .name = "annotate",
    .summary = "show a function's instructions and source with their share of events",
    .synopsis = "SYMBOL [TRACE...] [--dso OBJECT] [-e GLOB [--filter EXPR]]...",
    .details =
	"SYMBOL: the name of a function, as report prints it.\n"
	"TRACE: a trace folder or file from waymark, LTTng, another CTF tracer, perf or\n"
	"trace-cmd; -: standard input; default: the newest waymark-* trace in this folder. Exit\n"
	"status 5: events are missing; a message gives the reason.",
    .options = options,
    .values_bytes = sizeof(struct values),
    .min_args = 1,
    .max_args = WM_VERB_ANY,
    .run = cmd_annotate_run,
    WM_ASKED_RELEASE(struct values, common.asked),
};
