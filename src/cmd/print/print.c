/* SPDX-License-Identifier: MIT */
/* print.c - waymark print: its options; see print.h. */
#include "cmd/print/print.h"

#include <errno.h>
#include <stdio.h>

#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/verb.h"

static int choose_format(struct wm_print_values *v)
{
	if (v->json && v->jsonl) {
		wm_say("print: --json and --jsonl cannot be combined");
		return WM_EXIT_USAGE;
	}
	if ((v->json || v->jsonl) && v->format) {
		wm_say("print: --format and %s cannot be combined", v->json ? "--json" : "--jsonl");
		return WM_EXIT_USAGE;
	}
	if (v->columns &&
	    (v->json || v->jsonl || v->fields || (v->format && v->format != WM_VIEW_PERF))) {
		wm_say("print: -F requires perf's format and cannot be combined with --fields");
		return WM_EXIT_USAGE;
	}
	if (v->columns)
		v->format = WM_VIEW_PERF;
	if (v->limit && v->tail) {
		wm_say("print: --limit and --tail cannot be combined");
		return WM_EXIT_USAGE;
	}
	if (v->follow && v->intersection) {
		wm_say("print: --follow and --stream-intersection cannot be combined: the streams "
		       "have no ends yet");
		return WM_EXIT_USAGE;
	}
	if (v->follow && (v->tail || v->format == WM_VIEW_JSON || v->json)) {
		wm_say("print: --follow never ends: it cannot be combined with --tail or --json; "
		       "use --jsonl");
		return WM_EXIT_USAGE;
	}
	return WM_EXIT_DONE;
}

static int cmd_print_run(void *values, int nr_args, char **args)
{
	struct wm_print_values *v = values;
	int status = choose_format(v);

	if (!status)
		status = wm_asked_find(&v->asked, "print", nr_args, args);
	if (status)
		return status;
	if (v->json || v->jsonl)
		v->format = v->json ? WM_VIEW_JSON : WM_VIEW_JSONL;
	v->babeltrace_21 = v->format == WM_VIEW_BABELTRACE_21;
	if (v->babeltrace_21)
		v->format = WM_VIEW_BABELTRACE;
	return wm_print_run(v);
}

#define TO(kind, member) WM_OPTION_TO_##kind(struct wm_print_values, member)

static const struct wm_option options[] = {
    WM_ASKED_INPUT(struct wm_print_values, asked),
    WM_ASKED_CORRELATE(struct wm_print_values, asked),
    {.name = "format",
     .argument = "FORMAT",
     .choices = "waymark|babeltrace|perf|json|jsonl|csv|details|babeltrace-2.1",
     .initial = "waymark",
     .help = "output format",
     TO(CHOICE, format)},
    {.name = "json", .help = "print one JSON object with an array of events", TO(FLAG, json)},
    {.name = "jsonl", .help = "print one JSON object per line", TO(FLAG, jsonl)},
    {.name = "fields",
     .argument = "NAME,...",
     .help = "print only these fields and contexts; for csv: the columns",
     TO(TEXT, fields)},
    {.name = "columns",
     .letter = 'F',
     .argument = "LIST",
     .help = "perf's format with these columns, as in perf script: comm, tid, pid, cpu, time, "
	     "period, event, trace, ip, sym, symoff, dso, brstack, brstacksym; +NAME adds a "
	     "column, -NAME removes one",
     TO(TEXT, columns)},
    {.name = "no-symbols",
     .help = "print addresses instead of symbols, in perf's format and in kernel events",
     TO(FLAG, no_symbols)},
    WM_ASKED_SYMFS(struct wm_print_values, symfs),
    {.name = "all",
     .letter = 'A',
     .help = "also print the recorder's own events: processes, modules, losses",
     TO(FLAG, all)},
    WM_OPTION_HEADING("For the formats waymark and babeltrace"),
    {.name = "clock-seconds",
     .help = "print times as seconds since the clock's origin",
     TO(FLAG, clock_seconds)},
    {.name = "clock-cycles", .help = "print times as ticks of the clock", TO(FLAG, clock_cycles)},
    {.name = "clock-date", .help = "print the date before the time of day", TO(FLAG, clock_date)},
    {.name = "clock-gmt", .help = "print UTC instead of local time", TO(FLAG, clock_gmt)},
    {.name = "clock-offset",
     .argument = "SECONDS",
     .help = "add this to all times; in every format",
     TO(TEXT, clock_offset)},
    {.name = "no-delta", .help = "omit the time since the previous line", TO(FLAG, no_delta)},
    {.name = "names",
     .argument = "LIST",
     .help = "babeltrace: print the names of payload, context, scope, header (all, none), "
	     "separated by commas",
     TO(TEXT, names)},
    {.name = "head",
     .argument = "LIST",
     .help = "babeltrace: print these before the event's name: trace, trace:hostname, "
	     "trace:domain, trace:procname, trace:vpid, stream, loglevel (all, none); json: as "
	     "members",
     TO(TEXT, head)},
    WM_OPTION_HEADING("Which events"),
    WM_ASKED_EVENTS(struct wm_print_values, asked),
    {.name = "limit",
     .argument = "N",
     .min = 1,
     .max = INT64_MAX,
     .help = "stop after the first N events",
     TO(INTEGER, limit)},
    {.name = "tail",
     .argument = "N",
     .min = 1,
     .max = INT64_MAX,
     .help = "print only the last N events",
     TO(INTEGER, tail)},
    {.name = "stream-intersection",
     .help = "only the time in which all streams of a trace have packets",
     TO(FLAG, intersection)},
    {.name = "follow",
     .help = "continue to print what is added to a growing trace, until interrupted",
     TO(FLAG, follow)},
    WM_ASKED_THREADS(struct wm_print_values, threads, "use N processors; default: all"),
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_print = {
    .name = "print",
    .alias = "script",
    .summary = "print the events of traces in time order",
    .synopsis =
	"[TRACE...] [-e GLOB [--filter EXPR]]... [--begin TIME] [--end TIME] [--format FORMAT]",
    .details =
	"TRACE: a trace folder or file from waymark, LTTng, another CTF tracer, perf, trace-cmd\n"
	"or ftrace; -: standard input; default: the newest waymark-* trace in this folder.\n"
	"A line has: local time, time since the previous line, command:pid/tid, event,\n"
	"contexts, fields. Exit status 5: events are missing; a message gives the reason.",
    .options = options,
    .values_bytes = sizeof(struct wm_print_values),
    .max_args = WM_VERB_ANY,
    .run = cmd_print_run,
    WM_ASKED_RELEASE(struct wm_print_values, asked),
};
