/* SPDX-License-Identifier: MIT */
/* analyse.c - see analyse.h. */
#include "cmd/analyse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/pass.h"
#include "base/file.h"
#include "cmd/event_options.h"
#include "cmd/exit.h"
#include "cmd/progress.h"
#include "cmd/say.h"
#include "cmd/symbol_options.h"
#include "view/result_view.h"

#define PROGRESS_PARTS 1000u

/* --- options ------------------------------------------------------------------------ */

int wm_analyse_on_percent(const struct wm_option *o, const char *argument, void *values,
			  struct wm_diag *diag)
{
	char *end;
	double limit = strtod(argument, &end);

	if (end == argument || *end || !(limit >= 0 && limit <= 100))
		return wm_diag_set(diag, -EINVAL, NULL, -1, "'%s' is not a percentage", argument);
	*(double *)((char *)values + o->offset) = limit;
	return 0;
}

/* --- running ------------------------------------------------------------------------- */

static int analyse_failed(const struct wm_analysing *a, int err, const struct wm_diag *diag)
{
	if (diag->sentence[0])
		wm_say("%s: %s", a->verb, diag->sentence);
	else
		wm_say("%s: %s", a->verb, wm_diag_errno(err));
	return err == -ENOENT ? WM_EXIT_NO_MATCH : err == -EINVAL ? WM_EXIT_USAGE : WM_EXIT_FAILED;
}

static void analyse_tick(void *progress, double done)
{
	wm_progress_tick(progress, (uint64_t)(done * PROGRESS_PARTS));
}

static int analyse_walk(struct wm_analysing *a, const struct wm_analysis *analysis,
			const void *values)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_progress progress;
	struct wm_pass_run run = {.analysis = analysis, .values = values};
	int err = wm_pass_init(a->pass, a->input);

	if (err)
		return analyse_failed(a, err, &diag);
	err = analysis->create(a->pass, values, &a->own, &diag);
	if (err)
		return analyse_failed(a, err, &diag);
	run.own = a->own;
	wm_progress_begin(&progress, a->verb, a->v->progress ? 0 : PROGRESS_PARTS);
	a->input->progress = a->v->progress ? a->v->progress : analyse_tick;
	a->input->progress_data = a->v->progress ? a->v->progress_data : &progress;
	err = wm_pass_walk(a->pass, &run, 1);
	wm_progress_end(&progress);
	wm_result_init(&a->result, analysis->name);
	if (!err)
		err = wm_pass_head(a->pass, analysis, &a->result);
	if (!err)
		err = analysis->finish(a->own, &a->result);
	return err ? analyse_failed(a, err, &diag) : WM_EXIT_DONE;
}

int wm_analyse_run(struct wm_analysing *a, const char *verb, struct wm_analyse_values *v,
		   const struct wm_analysis *analysis, const void *values, int nr_args, char **args)
{
	int status;

	*a = (struct wm_analysing){.v = v, .verb = verb};
	a->pass = calloc(1, sizeof(*a->pass));
	a->input = calloc(1, sizeof(*a->input));
	if (!a->pass || !a->input) {
		wm_say("out of memory");
		return WM_EXIT_FAILED;
	}
	status = wm_asked_find(&v->asked, verb, nr_args, args);
	if (!status)
		status = wm_input_set_open(&a->in, v->asked.inputs, v->asked.nr_inputs);
	if (!status)
		status = wm_input_set_window(&a->in, verb, v->asked.begin, v->asked.end,
					     &a->input->begin_ns, &a->input->end_ns);
	if (!status)
		status = wm_asked_bind(&v->asked.select, a->in.traces, a->in.nr);
	if (status)
		return status;
	a->input->traces = a->in.traces;
	a->input->nr_traces = a->in.nr;
	a->input->wants = v->asked.select.want_list;
	a->input->passes = wm_select_asks(&v->asked.select) ? wm_select_passes : NULL;
	a->input->data = &v->asked.select;
	a->input->nr_threads = (uint32_t)v->threads;
	a->input->symfs = v->symfs;
	a->input->builds = a->builds = wm_asked_builds();
	return analyse_walk(a, analysis, values);
}

int wm_analyse_finish(struct wm_analysing *a, int status)
{
	if (!status && !a->pass->nr_events) {
		wm_say("%s: no event matches", a->verb);
		status = WM_EXIT_NO_MATCH;
	}
	if (a->result.untold) {
		wm_say("%s: %s", a->verb, a->result.untold);
		status = status ? status : WM_EXIT_INCOMPLETE;
	}
	return wm_input_set_report_missing(&a->in, status, false);
}

void wm_analyse_close(struct wm_analysing *a, const struct wm_analysis *analysis)
{
	wm_result_done(&a->result);
	if (a->own)
		analysis->destroy(a->own);
	if (a->pass && a->pass->in)
		wm_pass_done(a->pass);
	free(a->pass);
	free(a->builds);
	free(a->input);
	wm_select_unbind(&a->v->asked.select);
	wm_input_set_close(&a->in);
	*a = (struct wm_analysing){0};
}

static int analyse_print(const char *verb, const struct wm_analyse_values *v,
			 const struct wm_result *result)
{
	const struct wm_result_view view = {.columns =
						isatty(STDOUT_FILENO) ? wm_say_columns(stdout) : 0,
					    .max_rows = (uint64_t)v->rows};
	struct wm_text t;
	int err;

	if (v->json) {
		wm_view_result_json(stdout, verb, result);
		return fflush(stdout) ? -errno : 0;
	}
	wm_text_init(&t);
	wm_view_result_text(&t, result, &view);
	err = t.failed ? -ENOMEM : wm_file_write(STDOUT_FILENO, t.data ? t.data : "", t.bytes);
	wm_text_done(&t);
	return err;
}

int wm_analyse_show(const char *verb, const struct wm_analyse_values *v,
		    const struct wm_result *result)
{
	int err = analyse_print(verb, v, result);

	if (!err || err == -EPIPE)
		return WM_EXIT_DONE;
	wm_say("%s: cannot print: %s", verb, wm_diag_errno(err));
	return wm_exit_of(err);
}

int wm_analyse_print(const char *verb, struct wm_analyse_values *v,
		     const struct wm_analysis *analysis, const void *values, int nr_args,
		     char **args)
{
	struct wm_analysing a;
	int status = wm_analyse_run(&a, verb, v, analysis, values, nr_args, args);

	if (!status)
		status = wm_analyse_finish(&a, wm_analyse_show(verb, v, &a.result));
	wm_analyse_close(&a, analysis);
	return status;
}
