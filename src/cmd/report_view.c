/* SPDX-License-Identifier: MIT */
/*
 * report_view.c - see report_view.h. The traces are read before the screen is set up, so that
 * errors are reported as usual. The profile is kept: calls and instructions are computed when the
 * user opens them. For other keys, the traces are read again, into a second profile, which replaces
 * the first.
 */
#include "cmd/report_view.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/annotate.h"
#include "base/clock.h"
#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/stderr_capture.h"
#include "view/browse.h"

#define CALLS_LIMIT 0.5 /* percent of a row, the default of -g */
#define REDRAW_NS   100000000u

/* The result of reading the traces once. */
struct reading {
	struct wm_analysing a;
	struct wm_analyse_values common;
	struct wm_profile_values profile;
	char *keys; /* keys typed in the view; NULL: those of the command line */
};

struct view {
	struct wm_terminal *t;
	const struct wm_analyse_values *common;
	struct reading *now;
	struct wm_result function; /* the function whose instructions are shown */
	bool any_function;
	uint64_t drawn_ns;
};

bool wm_report_view_fits(const struct wm_analyse_values *common)
{
	struct wm_diag diag = {0};
	int err;

	if (common->json || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return false;
	err = wm_terminal_usable(&diag);
	if (err)
		wm_say("report: %s; printing text instead", diag.sentence);
	return !err;
}

/* --- readings -------------------------------------------------------------------------- */

static void report_view_drop(struct reading *r)
{
	if (!r)
		return;
	if (r->a.v) /* wm_analyse_run() was called */
		wm_analyse_close(&r->a, &wm_analysis_profile);
	wm_select_done(&r->common.asked.select);
	free(r->keys);
	free(r);
}

/* Ends the process as the signal would have; call after the terminal has been restored. */
static void end_by(int signo)
{
	(void)signal(signo, SIG_DFL);
	(void)raise(signo);
}

static void report_view_tick(void *data, double done)
{
	struct view *v = data;
	uint64_t now = wm_clock_monotonic_ns();
	uint32_t key;
	int signo;

	if (now - v->drawn_ns < REDRAW_NS)
		return;
	v->drawn_ns = now;
	wm_browse_progress(v->t, "reading", done);
	key = wm_terminal_key(v->t, 0);
	if (key != WM_KEY_ENDED && key != WM_KEY_INTERRUPT)
		return;
	signo = wm_terminal_signal(v->t);
	wm_terminal_close(v->t);
	end_by(signo ? signo : SIGINT);
	_exit(WM_EXIT_FAILED); /* reached when the signal is ignored */
}

/*
 * Prepares to read the traces with the options of `profile`, and with `keys` unless NULL. NULL: out
 * of memory.
 */
static struct reading *prepare(struct view *v, const struct wm_profile_values *profile,
			       const char *keys)
{
	struct reading *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->common = *v->common;
	r->common.asked.select = (struct wm_select){0};
	r->profile = *profile;
	r->keys = keys ? strdup(keys) : NULL;
	if ((keys && !r->keys) ||
	    wm_select_again(&v->common->asked.select, &r->common.asked.select)) {
		report_view_drop(r);
		return NULL;
	}
	if (keys)
		r->profile.keys = r->keys;
	if (v->t) {
		r->common.progress = report_view_tick;
		r->common.progress_data = v;
	}
	return r;
}

static int report_view_expand(void *own, struct wm_result *r, struct wm_result_row *row)
{
	return wm_profile_expand(own, r, row);
}

static void report_view_look_at(const struct view *v, struct wm_browse_subject *ret)
{
	*ret = (struct wm_browse_subject){
	    .result = &v->now->a.result, .expand = report_view_expand, .own = v->now->a.own};
}

/* --- browser callbacks ------------------------------------------------------------------- */

static int report_view_split(void *data, const char *keys, struct wm_browse_subject *ret,
			     struct wm_diag *diag)
{
	struct view *v = data;
	struct reading *r = prepare(v, &v->now->profile, keys);
	struct wm_hush hush;
	int status, err;

	if (!r)
		return -ENOMEM;
	err = wm_hush_begin(&hush);
	if (err) {
		report_view_drop(r);
		return err;
	}
	status =
	    wm_analyse_run(&r->a, "report", &r->common, &wm_analysis_profile, &r->profile, 0, NULL);
	wm_hush_end(&hush, diag);
	if (status) {
		report_view_drop(r);
		return -EINVAL;
	}
	report_view_drop(v->now);
	v->now = r;
	report_view_look_at(v, ret);
	return 0;
}

/* Strips perf's level: "[.] main" becomes "main". */
static const char *report_view_name_of(const char *symbol)
{
	return symbol[0] == '[' && strlen(symbol) > 4 && symbol[2] == ']' ? symbol + 4 : symbol;
}

static int report_view_annotate(void *data, const struct wm_browse_function *f,
				struct wm_browse_subject *ret, struct wm_diag *diag)
{
	struct view *v = data;
	const struct wm_annotate_what what = {.symbol = report_view_name_of(f->symbol),
					      .object = f->object,
					      .event = f->table->subject};
	struct wm_result r;
	int err;

	wm_result_init(&r, "annotate");
	err = wm_annotate(v->now->a.pass, v->now->a.own, &what, &r);
	if (err || !r.tables) {
		wm_result_done(&r);
		return err ? err
			   : wm_diag_set(diag, -ENOENT, NULL, -1,
					 "no event occurred in the function '%.100s' itself",
					 what.symbol);
	}
	if (v->any_function)
		wm_result_done(&v->function);
	v->function = r;
	v->any_function = true;
	*ret = (struct wm_browse_subject){.result = &v->function, .at_hottest = true};
	return 0;
}

/* --- the verb ------------------------------------------------------------------------------ */

/* Appends the rows' current keys, as for -s; they are the text columns. */
static void report_view_add_keys(struct wm_text *text, const struct wm_result_table *t)
{
	for (uint32_t i = 0; t && i < t->nr_columns; i++)
		if (t->columns[i].kind == WM_CELL_TEXT)
			wm_text_f(text, "%s%s", text->bytes ? "," : "", t->columns[i].name);
}

static int browse(struct view *v, const struct wm_profile_values *profile, const char *keys)
{
	const struct wm_browse_owner owner = {.data = v,
					      .title = "waymark report",
					      .keys = keys,
					      .annotate = report_view_annotate,
					      .split = report_view_split};
	struct wm_browse_subject subject;
	struct wm_diag diag = {0};
	int err = wm_terminal_open(wm_say_color(stdout), &v->t, &diag), signo;

	if (err) {
		wm_say("report: %s", wm_words_of(err, &diag));
		return WM_EXIT_FAILED;
	}
	report_view_look_at(v, &subject);
	subject.least = profile->percent_limit / 100;
	subject.most = v->common->rows < UINT32_MAX ? (uint32_t)v->common->rows : 0;
	err = wm_browse(v->t, &subject, &owner);
	signo = wm_terminal_signal(v->t);
	wm_terminal_close(v->t);
	if (signo)
		end_by(signo);
	if (!err)
		return WM_EXIT_DONE;
	wm_say("report: %s", wm_diag_errno(err));
	return WM_EXIT_FAILED;
}

static int browse_by_keys(struct view *v, const struct wm_profile_values *profile)
{
	struct wm_text keys;
	int status;

	wm_text_init(&keys);
	report_view_add_keys(&keys, v->now->a.result.tables);
	status = browse(v, profile, keys.data);
	wm_text_done(&keys);
	return status;
}

int wm_report_view(struct wm_analyse_values *common, const struct wm_profile_values *profile,
		   int nr_args, char **args)
{
	struct view v = {.common = common};
	struct wm_profile_values lazy = *profile;
	int status = wm_asked_find(&common->asked, "report", nr_args, args);

	if (status)
		return status;
	lazy.lazy = true;
	/* the view applies the limit instead, so that the user can lift it */
	lazy.percent_limit = 0;
	if (!lazy.graph) {
		lazy.graph = WM_GRAPH_CALLER;
		lazy.graph_percent_limit = CALLS_LIMIT;
	}
	v.now = prepare(&v, &lazy, NULL);
	if (!v.now) {
		wm_say("out of memory");
		return WM_EXIT_FAILED;
	}
	status = wm_analyse_run(&v.now->a, "report", &v.now->common, &wm_analysis_profile,
				&v.now->profile, 0, NULL);
	if (!status)
		status = v.now->a.result.tables
			     ? browse_by_keys(&v, profile)
			     : wm_analyse_show("report", &v.now->common, &v.now->a.result);
	if (!status)
		status = wm_analyse_finish(&v.now->a, WM_EXIT_DONE);
	if (v.any_function)
		wm_result_done(&v.function);
	report_view_drop(v.now);
	return status;
}
