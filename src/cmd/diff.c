/* SPDX-License-Identifier: MIT */
/*
 * diff.c - waymark diff: what changed between recordings, by share and by rate. Each
 * recording is profiled separately; analysis/compare.h compares the profiles.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"
#include "analysis/profile.h"
#include "base/diag.h"
#include "base/plural.h"
#include "cmd/analyse.h"
#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/verb.h"

struct values {
	struct wm_analyse_values common;
	struct wm_profile_values profile;
	double percent_limit;
	bool by_rate;
};

/* One recording and its analysis. */
struct recording {
	struct values values; /* a copy of the command line's values, bound to this trace */
	struct wm_analysing a;
	char *path;
	uint32_t side;
	bool opened;
};

struct comparing {
	struct values *v;
	struct recording *list;
	uint32_t nr, nr_sides;
	char **sides; /* copies of the arguments, split at commas */
};

/* --- arguments ------------------------------------------------------------------------------ */

static int add_side(struct comparing *c, char *arg)
{
	char *save = NULL;

	for (char *path = strtok_r(arg, ",", &save); path; path = strtok_r(NULL, ",", &save)) {
		if (c->nr == WM_COMPARE_RECORDINGS_MAX) {
			wm_say("diff: at most %u recordings can be compared at once",
			       WM_COMPARE_RECORDINGS_MAX);
			return WM_EXIT_USAGE;
		}
		c->list[c->nr++] = (struct recording){.path = path, .side = c->nr_sides};
	}
	c->nr_sides++;
	return WM_EXIT_DONE;
}

static int add_sides(struct comparing *c, int nr_args, char **args)
{
	int status = WM_EXIT_DONE;

	c->sides = calloc((size_t)nr_args + 1, sizeof(char *));
	c->list = calloc(WM_COMPARE_RECORDINGS_MAX, sizeof(*c->list));
	if (!c->sides || !c->list) {
		wm_say("out of memory");
		return WM_EXIT_FAILED;
	}
	if (nr_args > (int)WM_COMPARE_SIDES_MAX) {
		wm_say(
		    "diff: at most %u sides can be compared; join recordings of the same side with "
		    "commas",
		    WM_COMPARE_SIDES_MAX);
		return WM_EXIT_USAGE;
	}
	for (int i = 0; i < nr_args && !status; i++) {
		c->sides[i] = strdup(args[i]);
		if (c->sides[i])
			status = add_side(c, c->sides[i]);
		else
			status = WM_EXIT_FAILED;
	}
	return status;
}

/* --- profiles -------------------------------------------------------------------------- */

static int profile(struct comparing *c, struct recording *r)
{
	char *args[] = {r->path, NULL};

	r->values = *c->v;
	memset(&r->values.common.asked.select, 0, sizeof(r->values.common.asked.select));
	if (wm_select_again(&c->v->common.asked.select, &r->values.common.asked.select)) {
		wm_say("out of memory");
		return WM_EXIT_FAILED;
	}
	r->opened = true;
	return wm_analyse_run(&r->a, "diff", &r->values.common, &wm_analysis_profile,
			      &r->values.profile, 1, args);
}

static double seconds_of(const struct recording *r)
{
	const struct wm_pass *p = r->a.pass;

	return p->first_ns < p->last_ns ? ((double)p->last_ns - (double)p->first_ns) / 1e9 : 0;
}

/* Adds notes with the size and losses of each recording. */
static void cmd_diff_put_notes(const struct comparing *c, struct wm_result *r)
{
	for (uint32_t i = 0; i < c->nr; i++) {
		const struct recording *rec = &c->list[i];

		wm_result_note(
		    r, WM_NOTE_FACT, rec->side ? "after" : "before", "%s, %llu %s, %.3f s",
		    rec->path, (unsigned long long)rec->a.pass->nr_events,
		    wm_plural(rec->a.pass->nr_events, "event", "events"), seconds_of(rec));
		for (const struct wm_result_note *n = rec->a.result.notes; n; n = n->next)
			if (n->kind == WM_NOTE_LOSS)
				wm_result_note(r, WM_NOTE_LOSS, n->name, "%s: %s", rec->path,
					       n->text);
	}
}

static int cmd_diff_compare(struct comparing *c, struct wm_result *result)
{
	struct wm_compare_recording list[WM_COMPARE_RECORDINGS_MAX];
	struct wm_compare what = {.recordings = list,
				  .nr_recordings = c->nr,
				  .nr_sides = c->nr_sides,
				  .percent_limit = c->v->percent_limit,
				  .by_rate = c->v->by_rate};
	int err;

	for (uint32_t i = 0; i < c->nr; i++)
		list[i] = (struct wm_compare_recording){&c->list[i].a.result,
							seconds_of(&c->list[i]), c->list[i].side};
	cmd_diff_put_notes(c, result);
	err = wm_compare(&what, result);
	if (!err)
		return wm_analyse_show("diff", &c->v->common, result);
	wm_say("diff: %s", wm_diag_errno(err));
	return WM_EXIT_FAILED;
}

static int cmd_diff_run(void *values, int nr_args, char **args)
{
	struct values *v = values;
	struct comparing c = {.v = v};
	struct wm_result result;
	int status;

	v->profile.no_children = true;
	v->percent_limit = v->profile.percent_limit;
	v->profile.percent_limit = 0;
	status = add_sides(&c, nr_args, args);
	for (uint32_t i = 0; i < c.nr && !status; i++)
		status = profile(&c, &c.list[i]);
	wm_result_init(&result, "diff");
	if (!status)
		status = cmd_diff_compare(&c, &result);
	for (uint32_t i = 0; i < c.nr; i++)
		if (c.list[i].opened) {
			status = wm_analyse_finish(&c.list[i].a, status);
			wm_analyse_close(&c.list[i].a, &wm_analysis_profile);
			wm_select_done(&c.list[i].values.common.asked.select);
		}
	wm_result_done(&result);
	for (int i = 0; c.sides && i < nr_args; i++)
		free(c.sides[i]);
	free(c.sides);
	free(c.list);
	return status;
}

#define TO(kind, member) WM_OPTION_TO_##kind(struct values, member)

static const struct wm_option options[] = {
    WM_PROFILE_KEYS(struct values, profile,
		    "one row per value of these keys: " WM_PROFILE_KEY_NAMES),
    WM_PROFILE_WEIGHT(struct values, profile),
    {.name = "by-rate",
     .help = "sort and compare by weight per second instead of share",
     TO(FLAG, by_rate)},
    WM_PROFILE_INLINES(struct values, profile),
    WM_PROFILE_LIMIT(struct values, profile, "leave out rows below PERCENT on all sides"),
    WM_ANALYSE_ROWS(struct values),
    {.name = "json", .help = "print one JSON object", TO(FLAG, common.json)},
    WM_OPTION_HEADING("Which events"),
    WM_ANALYSE_OPTIONS(struct values),
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_diff = {
    .name = "diff",
    .summary = "show what changed between recordings",
    .synopsis = "BEFORE[,BEFORE...] AFTER[,AFTER...]... [-s KEY,...] [-e GLOB [--filter EXPR]]...",
    .details =
	"A side is one trace, or several traces of the same program joined with commas. The\n"
	"other sides are compared with the first. Change is the difference of the shares, Rate\n"
	"that of the weights per second, Chance the probability of such a difference if\n"
	"nothing changed. Exit status 5: events are missing; a message gives the reason.",
    .options = options,
    .values_bytes = sizeof(struct values),
    .min_args = 2,
    .max_args = WM_COMPARE_SIDES_MAX,
    .run = cmd_diff_run,
    WM_ASKED_RELEASE(struct values, common.asked),
};
