/* SPDX-License-Identifier: MIT */
/*
 * flame.c - waymark flame: call chains as an HTML page for any browser, or as folded
 * lines.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/folded.h"
#include "analysis/profile.h"
#include "base/diag.h"
#include "base/file.h"
#include "cmd/analyse.h"
#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/verb.h"
#include "export/file.h"
#include "view/flame.h"

struct values {
	struct wm_analyse_values common;
	struct wm_profile_values profile;
	bool icicle, folded, force, off_cpu, wakeups;
	const char *out, *title, *before;
};

static const struct wm_analysis *analysis_of(const struct values *v)
{
	return wm_analysis_find(v->off_cpu ? "off-cpu" : v->wakeups ? "wakeups" : "profile");
}

/* --- trees ------------------------------------------------------------------------------ */

/* A tree to draw, from an analysis of traces or from folded lines. */
struct tree {
	struct wm_analysing a;
	const struct wm_analysis *analysis; /* NULL: the tree is from folded lines */
	struct wm_result lines;
	const struct wm_result *result;
	const struct wm_result_table *table;
};

static uint64_t cmd_flame_weight_of(const struct wm_result_table *t)
{
	uint64_t sum = 0;

	for (const struct wm_result_row *row = t->first; row; row = row->next)
		sum += row->weight;
	return sum;
}

/*
 * Chooses the table to draw: weights of different events cannot be added, so only the event with
 * the largest total is drawn.
 */
static int choose_table(struct tree *t, const char *verb)
{
	uint64_t most = 0;

	for (const struct wm_result_table *i = t->result->tables; i; i = i->next)
		if (!t->table || cmd_flame_weight_of(i) > most) {
			t->table = i;
			most = cmd_flame_weight_of(i);
		}
	if (!t->table || !most) {
		for (const struct wm_result_note *n = t->result->notes; n; n = n->next)
			if (n->kind == WM_NOTE_PROBLEM)
				wm_say("%s: %s", verb, n->text);
		wm_say("%s: nothing to draw: the weight of all selected events is 0", verb);
		return t->result->untold ? WM_EXIT_INCOMPLETE : WM_EXIT_NO_MATCH;
	}
	for (const struct wm_result_note *n = t->result->notes; n; n = n->next)
		if (!strcmp(n->name, "broken"))
			wm_say("%s: %s", verb, n->text);
	if (t->result->tables->next)
		wm_say("%s: several events were sampled; drawing '%s'; -e selects another", verb,
		       t->table->title);
	return WM_EXIT_DONE;
}

static int tree_of_lines(struct tree *t, const char *path)
{
	struct wm_diag diag = {.offset = -1};
	int err;

	wm_result_init(&t->lines, "folded");
	t->result = &t->lines;
	err = wm_folded_read(path, &t->lines, &diag);
	if (!err)
		return choose_table(t, "flame");
	wm_say_diag("read", path, err, &diag);
	return wm_exit_of(err);
}

static int tree_of_traces(struct tree *t, struct values *v, int nr_args, char **args)
{
	int status;

	t->analysis = analysis_of(v);
	status =
	    wm_analyse_run(&t->a, "flame", &v->common, t->analysis, &v->profile, nr_args, args);
	t->result = &t->a.result;
	return status ? status : choose_table(t, "flame");
}

static int tree_finish(struct tree *t, int status)
{
	return t->analysis ? wm_analyse_finish(&t->a, status) : status;
}

static void tree_close(struct tree *t)
{
	if (t->analysis)
		wm_analyse_close(&t->a, t->analysis);
	else
		wm_result_done(&t->lines);
}

/* --- output ------------------------------------------------------------------------------- */

static int write_page(const struct values *v, const struct wm_text *t)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_export_file file;
	int err = wm_export_file_create(&file, v->out, v->force, &diag);

	if (!err)
		wm_export_file_write(&file, t->data, t->bytes);
	if (!err)
		err = wm_export_file_publish(&file, &diag);
	wm_export_file_done(&file);
	if (!err)
		return WM_EXIT_DONE;
	wm_say_diag("write", v->out, err, &diag);
	return wm_exit_of(err);
}

static int cmd_flame_draw(const struct values *v, const struct tree *now, const struct tree *before)
{
	struct wm_flame f = {.title = v->title ? v->title : now->table->title,
			     .unit = v->off_cpu || v->wakeups ? "ns" : "",
			     .icicle = v->icicle,
			     .notes = now->result->notes,
			     .table = now->table,
			     .before = before ? before->table : NULL};
	struct wm_text t;
	int err, status;

	wm_text_init(&t);
	err = v->folded ? wm_flame_folded(&t, now->table) : wm_flame_page(&t, &f);
	if (!err && v->folded)
		err = wm_file_write(STDOUT_FILENO, t.data ? t.data : "", t.bytes);
	if (err && err != -EPIPE) {
		wm_say("flame: %s", wm_diag_errno(err));
		status = wm_exit_of(err);
	} else {
		status = v->folded ? WM_EXIT_DONE : write_page(v, &t);
	}
	wm_text_done(&t);
	return status;
}

/* Adds the tree to compare with: the same analysis on another trace, or other folded lines. */
static int draw_compared(struct values *v, const struct tree *now)
{
	struct values then = *v;
	struct tree before = {0};
	char *paths[] = {(char *)v->before, NULL};
	int status;

	if (!v->before)
		return cmd_flame_draw(v, now, NULL);
	then.common.asked.nr_inputs = 0;
	memset(&then.common.asked.select, 0, sizeof(then.common.asked.select));
	status = wm_select_again(&v->common.asked.select, &then.common.asked.select);
	if (!status)
		status = wm_folded_is(v->before) ? tree_of_lines(&before, v->before)
						 : tree_of_traces(&before, &then, 1, paths);
	if (!status)
		status = cmd_flame_draw(v, now, &before);
	status = tree_finish(&before, status);
	tree_close(&before);
	wm_select_done(&then.common.asked.select);
	return status;
}

static int cmd_flame_run(void *values, int nr_args, char **args)
{
	struct values *v = values;
	struct tree now = {0};
	int status;

	if (v->off_cpu && v->wakeups) {
		wm_say("flame: --off-cpu and --wakeups cannot be combined");
		return WM_EXIT_USAGE;
	}
	v->profile.graph = WM_GRAPH_CALLER;
	status = nr_args == 1 && wm_folded_is(args[0]) ? tree_of_lines(&now, args[0])
						       : tree_of_traces(&now, v, nr_args, args);
	if (!status)
		status = draw_compared(v, &now);
	if (!status && !v->folded)
		wm_say("wrote %s", v->out);
	status = tree_finish(&now, status);
	tree_close(&now);
	return status;
}

#define TO(kind, member) WM_OPTION_TO_##kind(struct values, member)

static const struct wm_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .initial = "flame.html",
     .help = "page to write",
     TO(TEXT, out)},
    {.name = "force", .letter = 'f', .help = "replace FILE if it exists", TO(FLAG, force)},
    {.name = "folded",
     .help = "print folded lines instead, each a chain and its weight: 'make;main;read 12'",
     TO(FLAG, folded)},
    {.name = "icicle", .help = "draw the root at the top", TO(FLAG, icicle)},
    {.name = "title", .argument = "TEXT", .help = "title of the page", TO(TEXT, title)},
    {.name = "before",
     .argument = "TRACE",
     .help = "show changes since this trace as colours: red grew, blue shrank",
     TO(TEXT, before)},
    {.name = "off-cpu",
     .help = "draw the time off the processor, by the call chain that blocked (sched:sched_switch "
	     "with chains)",
     TO(FLAG, off_cpu)},
    {.name = "wakeups",
     .help = "draw the time off the processor, by the call chain of the wakeup (also needs "
	     "sched:sched_waking with chains)",
     TO(FLAG, wakeups)},
    {.name = "sort",
     .letter = 's',
     .argument = "KEY,...",
     .initial = "comm",
     .help = "group chains by these keys: comm, pid, tid, cpu, event, FIELD",
     TO(TEXT, profile.keys)},
    WM_PROFILE_WEIGHT(struct values, profile),
    WM_PROFILE_INLINES(struct values, profile),
    WM_OPTION_HEADING("Which events"),
    WM_ANALYSE_OPTIONS(struct values),
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_flame = {
    .name = "flame",
    .summary = "draw call chains as an HTML page: flame graphs and icicles",
    .synopsis = "[TRACE...|FOLDED] [-o FILE] [--before TRACE] [-e GLOB [--filter EXPR]]...",
    .details =
	"TRACE: a trace folder or file from waymark, LTTng, another CTF tracer, perf, trace-cmd\n"
	"or ftrace; -: standard input; default: the newest waymark-* trace in this folder.\n"
	"FOLDED: a text file of folded chains. The page is one self-contained file: a click\n"
	"zooms, / searches, Escape goes back. Exit status 5: events are missing; a message\n"
	"gives the reason.",
    .options = options,
    .values_bytes = sizeof(struct values),
    .max_args = WM_VERB_ANY,
    .run = cmd_flame_run,
    WM_ASKED_RELEASE(struct values, common.asked),
};
