/* SPDX-License-Identifier: MIT */
/* convert.c - waymark convert: its options, and the choice of format. */
#include "cmd/convert/convert.h"

#include <errno.h>
#include <string.h>

#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/verb.h"

static int cmd_convert_choose(const struct wm_convert_values *v, struct wm_convert_format *ret)
{
	char name[32];

	if (v->to) {
		(void)wm_option_choice(&wm_cmd_convert.options[0], v->to, name, sizeof(name));
		if (wm_convert_format_named(name, ret))
			return WM_EXIT_DONE;
	} else if (wm_convert_format_of_path(v->out, ret)) {
		return WM_EXIT_DONE;
	}
	wm_say("convert: the name '%s' does not determine a format; give one with --to", v->out);
	return WM_EXIT_USAGE;
}

static int cmd_convert_run(void *values, int nr_args, char **args)
{
	struct wm_convert_values *v = values;
	struct wm_convert_format format;
	int status;

	v->out = args[nr_args - 1];
	status = wm_asked_add(&v->asked, "convert", nr_args - 1, args);
	if (status)
		return status;
	if (!v->asked.nr_inputs) {
		wm_say(
		    "convert: only one name ('%s'): give the trace to read and the file to write",
		    v->out);
		return WM_EXIT_USAGE;
	}
	status = cmd_convert_choose(v, &format);
	if (!status && v->split_bytes && !(format.ops && format.ops->splits)) {
		wm_say("convert: files of format %s cannot be split; omit --split-size",
		       format.name);
		status = WM_EXIT_USAGE;
	}
	return status ? status : wm_convert_run(v, &format);
}

#define TO(kind, member) WM_OPTION_TO_##kind(struct wm_convert_values, member)

static const struct wm_option options[] = {
    {.name = "to",
     .argument = "FORMAT",
     .choices = WM_CONVERT_CHOICES,
     .initial = "auto",
     .help = "format to write; auto: by OUT's name",
     TO(CHOICE, to)},
    WM_ASKED_INPUT(struct wm_convert_values, asked),
    WM_ASKED_CORRELATE(struct wm_convert_values, asked),
    {.name = "force", .letter = 'f', .help = "replace OUT if it exists", TO(FLAG, force)},
    {.name = "split-size",
     .argument = "SIZE",
     .min = 1 << 16,
     .max = INT64_MAX,
     .help = "start another file (OUT.2, OUT.3) when one reaches SIZE",
     TO(SIZE, split_bytes)},
    {.name = "all",
     .letter = 'A',
     .help = "also write the recorder's own events: processes, modules, losses",
     TO(FLAG, all)},
    WM_OPTION_HEADING("Which events"),
    WM_ASKED_EVENTS(struct wm_convert_values, asked),
    WM_ASKED_THREADS(struct wm_convert_values, threads, "use N processors for text; default: all"),
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_convert = {
    .name = "convert",
    .summary = "write traces in the format of another tool",
    .synopsis = "[TRACE...] OUT [-i TRACE]... [--to FORMAT] [-e GLOB [--filter EXPR]]...",
    .details =
	"TRACE: a trace folder or file from waymark, LTTng, another CTF tracer, perf, trace-cmd\n"
	"or ftrace; -: standard input.\n"
	"OUT's name determines the format: .ctf, .ctf2, .dat, .data, .perfetto-trace,\n"
	".json (chrome), .jsonl, .csv. OUT appears when it is complete, and only its owner\n"
	"can read it. Exit status 5: events are missing; a message gives the reason.",
    .options = options,
    .values_bytes = sizeof(struct wm_convert_values),
    .min_args = 1,
    .max_args = WM_VERB_ANY,
    .run = cmd_convert_run,
    WM_ASKED_RELEASE(struct wm_convert_values, asked),
};
