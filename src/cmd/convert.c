/* SPDX-License-Identifier: MIT */
/* convert.c - waymark convert: its options, and which format is meant. */
#include "cmd/convert.h"

#include <errno.h>
#include <string.h>

#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/verb.h"

static int on_input(const struct wm_option *o, const char *argument, void *values,
		    struct wm_diag *diag)
{
	struct wm_convert_values *v = values;

	if (v->nr_inputs == WM_INPUTS_MAX)
		return wm_diag_set(diag, -EINVAL, NULL, -1, "more than %u traces", WM_INPUTS_MAX);
	v->inputs[v->nr_inputs++] = argument;
	return 0;
}

static int on_event(const struct wm_option *o, const char *argument, void *values,
		    struct wm_diag *diag)
{
	return wm_select_event(&((struct wm_convert_values *)values)->select, argument);
}

static int on_filter(const struct wm_option *o, const char *argument, void *values,
		     struct wm_diag *diag)
{
	return wm_select_filter(&((struct wm_convert_values *)values)->select, argument, diag);
}

static int choose(const struct wm_convert_values *v, struct wm_convert_format *ret)
{
	char name[32];

	if (v->to) {
		(void)wm_option_choice(&wm_cmd_convert.options[0], v->to, name, sizeof(name));
		if (wm_convert_format_named(name, ret))
			return WM_EXIT_DONE;
	} else if (wm_convert_format_of_path(v->out, ret)) {
		return WM_EXIT_DONE;
	}
	wm_say("convert: the name '%s' does not tell the format; say it with --to", v->out);
	return WM_EXIT_USAGE;
}

static int run(void *values, int nr_args, char **args)
{
	struct wm_convert_values *v = values;
	struct wm_convert_format format;
	struct wm_diag diag = {.offset = -1};
	int status;

	v->out = args[nr_args - 1];
	for (int i = 0; i + 1 < nr_args; i++)
		if (on_input(NULL, args[i], v, &diag)) {
			wm_say("convert: %s", diag.sentence);
			return WM_EXIT_USAGE;
		}
	if (!v->nr_inputs) {
		wm_say("convert: '%s' is the only name: what is to be converted, and to what?",
		       v->out);
		return WM_EXIT_USAGE;
	}
	status = choose(v, &format);
	if (!status && v->split_bytes && !(format.ops && format.ops->splits)) {
		wm_say("convert: %s is not split; leave --split-size away", format.name);
		status = WM_EXIT_USAGE;
	}
	return status ? status : wm_convert_run(v, &format);
}

static void release(void *values)
{
	wm_select_done(&((struct wm_convert_values *)values)->select);
}

#define TO(kind, member) WM_OPTION_TO_##kind(struct wm_convert_values, member)

static const struct wm_option options[] = {
    {.name = "to",
     .argument = "FORMAT",
     .choices = WM_CONVERT_CHOICES,
     .initial = "auto",
     .help = "what to write; auto: what OUT's name says",
     TO(CHOICE, to)},
    {.name = "input",
     .letter = 'i',
     .argument = "TRACE",
     .help = "also this trace: all are merged on their clocks",
     .kind = WM_OPTION_CALL,
     .call = on_input},
    {.name = "force", .letter = 'f', .help = "replace OUT when it is there", TO(FLAG, force)},
    {.name = "split-size",
     .argument = "SIZE",
     .min = 1 << 16,
     .max = INT64_MAX,
     .help = "begin another file (OUT.2, OUT.3) when one reaches this size",
     TO(SIZE, split_bytes)},
    {.name = "all",
     .letter = 'A',
     .help = "also the recorder's own events: processes, modules, losses",
     TO(FLAG, all)},
    WM_OPTION_HEADING("Which events"),
    {.name = "event",
     .letter = 'e',
     .argument = "GLOB",
     .help = "events of these names, PROVIDER:NAME",
     .kind = WM_OPTION_CALL,
     .call = on_event},
    {.name = "filter",
     .argument = "EXPR",
     .help = "those that pass, of the -e before it; before any -e: of all",
     .kind = WM_OPTION_CALL,
     .call = on_filter},
    {.name = "begin",
     .argument = "TIME",
     .help = "from this time on: seconds, hh:mm[:ss[.ns]], or with YYYY-MM-DD before",
     TO(TEXT, begin)},
    {.name = "end", .argument = "TIME", .help = "up to this time, it included", TO(TEXT, end)},
    {.name = "threads",
     .argument = "N",
     .min = 1,
     .max = 256,
     .help = "text on so many processors; without: on all",
     TO(INTEGER, threads)},
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_convert = {
    .name = "convert",
    .summary = "write traces in the format of another tool",
    .synopsis = "[TRACE...] OUT [-i TRACE]... [--to FORMAT] [-e GLOB [--filter EXPR]]...",
    .details = "TRACE: a folder or file of waymark, LTTng or another CTF tracer, perf, trace-cmd, "
	       "ftrace.\n"
	       "OUT's name says the format: .ctf, .ctf2, .dat, .data, .perfetto-trace,\n"
	       ".json (chrome), .jsonl, .csv. It is there when it is whole, and readable by\n"
	       "you alone. "
	       "Exit status 5: done, but events are missing (why is said).",
    .options = options,
    .values_bytes = sizeof(struct wm_convert_values),
    .min_args = 1,
    .max_args = WM_VERB_ANY,
    .run = run,
    .release = release,
};
