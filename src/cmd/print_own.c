/* SPDX-License-Identifier: MIT */
/*
 * print_own.c - the events of a trace of our own in order of time, as text or
 * JSON. What is damaged or was lost is said at the end.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/exit.h"
#include "cmd/print.h"
#include "cmd/say.h"
#include "cmd/trace_dir.h"
#include "view/event_text.h"

struct printing {
	const struct wm_print_values *v;
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

int wm_print_own(const struct wm_print_values *v, const char *dir)
{
	struct printing p = {.v = v};
	struct wm_trace_reader *r = NULL;
	int status = wm_trace_dir_open(dir, &r), err;

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
