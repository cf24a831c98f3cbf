/* SPDX-License-Identifier: MIT */
/*
 * print.c - waymark print: the events of a trace in order of time, as text or
 * JSON. What is damaged or was lost is said at the end.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/trace_dir.h"
#include "cmd/verb.h"
#include "view/event_text.h"

struct values {
	bool json, jsonl, all;
};

struct printing {
	const struct values *v;
	struct wm_text out;
	struct wm_view_clock clock;
	uint64_t events;
};

static void print_one(struct printing *p, const struct wm_trace_event *e)
{
	if (p->v->jsonl) {
		wm_view_event_json(&p->out, e);
		wm_text_char(&p->out, '\n');
	} else if (p->v->json) {
		wm_text_str(&p->out, p->events ? ",\n" : "\n");
		wm_view_event_json(&p->out, e);
	} else {
		wm_view_event(&p->out, &p->clock, e);
	}
	p->events++;
}

static int print_all(struct printing *p, struct wm_trace_reader *r)
{
	struct wm_trace_event e;
	int got, err = 0;

	if (p->v->json)
		wm_text_char(&p->out, '[');
	while (!err && (got = wm_trace_reader_next(r, &e)) == 1) {
		if (e.recorder && !p->v->all)
			continue;
		print_one(p, &e);
		if (p->out.bytes >= WM_TRACE_DIR_BUFFER)
			err = wm_trace_dir_flush(&p->out);
	}
	if (!err && got < 0)
		err = got;
	if (p->v->json)
		wm_text_str(&p->out, "\n]\n");
	return err ? err : wm_trace_dir_flush(&p->out);
}

static int run(void *values, int nr_args, char **args)
{
	struct printing p = {.v = values};
	struct wm_trace_reader *r = NULL;
	char dir[PATH_MAX];
	int status, err;

	if (p.v->json && p.v->jsonl) {
		wm_say("print: --json and --jsonl exclude each other");
		return WM_EXIT_USAGE;
	}
	status = wm_trace_dir_find(nr_args, args, dir);
	if (!status)
		status = wm_trace_dir_open(dir, &r);
	if (status)
		return status;
	wm_text_init(&p.out);
	wm_view_clock_init(&p.clock);
	err = print_all(&p, r);
	wm_text_done(&p.out);
	if (err && err != -EPIPE) {
		wm_say_cannot("print", dir, err);
		status = wm_exit_of(err);
	} else if (!err && !p.events) {
		wm_say("'%s' holds no events", dir);
		status = WM_EXIT_NO_MATCH;
	}
	status = wm_trace_dir_finish(r, status);
	wm_trace_reader_close(r);
	return status;
}

static const struct wm_option options[] = {
    {.name = "json",
     .help = "print one JSON array of events",
     WM_OPTION_TO_FLAG(struct values, json)},
    {.name = "jsonl",
     .help = "print one JSON object per line",
     WM_OPTION_TO_FLAG(struct values, jsonl)},
    {.name = "all",
     .letter = 'A',
     .help = "also the recorder's own events: processes, modules, losses",
     WM_OPTION_TO_FLAG(struct values, all)},
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_print = {
    .name = "print",
    .alias = "script",
    .summary = "print the events of a trace in order of time",
    .synopsis = "[DIR] [--json|--jsonl] [--all]",
    .details = "Without DIR: the newest waymark-* trace in the current folder.\n"
	       "A line is: local time, time since the line before, command:pid/tid, event,\n"
	       "contexts, fields. Exit status 5: done, but events are missing (why is said).",
    .options = options,
    .values_bytes = sizeof(struct values),
    .max_args = 1,
    .run = run,
};
