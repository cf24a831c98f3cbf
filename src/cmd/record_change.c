/* SPDX-License-Identifier: MIT */
/*
 * record_change.c - `waymark record --change DIR`: other events for a recording
 * that runs. Its recorder follows and says what came of it; the names of events
 * and their fields are looked up in the processes themselves, where they may
 * be read.
 */
#include <string.h>

#include "base/glob.h"
#include "cmd/exit.h"
#include "cmd/record.h"
#include "cmd/say.h"
#include "control/attach.h"
#include "control/tool.h"

static bool bit(const uint64_t *bits, uint32_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

/* ------------------------------------------------------------------ *
 * Before
 * ------------------------------------------------------------------ */

struct check {
	const struct wm_rules *rules;
	bool refused;
};

static void check_event(const struct wm_attach_site *s, void *data)
{
	struct wm_diag diag = {.offset = -1};
	struct check *check = data;

	if (check->refused ||
	    wm_rules_check(check->rules, s->class, s->desc, s->desc_bytes, &diag) >= 0)
		return;
	check->refused = true;
	wm_say("record: %s", diag.sentence);
}

/* A filter that cannot fit the event it names outright changes nothing. 0 or an exit status. */
static int check_filters(const struct wm_record_plan *plan)
{
	struct check check = {.rules = plan->rules};
	struct wm_diag diag = {.offset = -1};
	const struct wm_rules_options none = {0};
	struct wm_msg_changed now;
	struct wm_rules *empty;
	int err = wm_rules_create(&none, &empty);

	if (err == 0) {
		err = wm_tool_change(plan->dir, empty, &now, &diag);
		wm_rules_destroy(empty);
	}
	if (err < 0) {
		wm_say("%s", diag.sentence[0] ? diag.sentence : strerror(-err));
		return (int)wm_exit_of(err);
	}
	for (uint32_t i = 0; i < WM_CHANGED_PIDS && now.pids[i] && !check.refused; i++)
		(void)wm_attach_list((pid_t)now.pids[i], check_event, &check, NULL);
	return check.refused ? WM_EXIT_USAGE : 0;
}

/* ------------------------------------------------------------------ *
 * Afterwards
 * ------------------------------------------------------------------ */

/* Says which globs no recorded process has an event for. Returns how many have one. */
static uint32_t say_unmatched(const struct wm_record_plan *plan, const struct wm_msg_changed *now)
{
	uint32_t matched = 0;

	for (uint32_t i = 0; i < wm_rules_count(plan->rules); i++) {
		const char *glob = wm_rules_glob(plan->rules, i);
		char near[1024];

		if (bit(now->matched, i)) {
			matched++;
			continue;
		}
		wm_record_nearest(glob, now->pids, WM_CHANGED_PIDS, near, sizeof(near));
		wm_say("no event of the recorded processes matches '%s', kept for those that come "
		       "later%s%s",
		       glob, *near ? "; " : "", near);
	}
	return matched;
}

/* Returns whether an event that was named outright is not recorded for its filter. */
static bool say_unfit(const struct wm_record_plan *plan, const struct wm_msg_changed *now)
{
	bool outright = false;

	for (uint32_t i = 0; i < wm_rules_count(plan->rules); i++) {
		const char *glob = wm_rules_glob(plan->rules, i);

		if (!bit(now->unfit, i))
			continue;
		outright = outright || !wm_glob_is_pattern(glob, strlen(glob));
		wm_say("'%s' names events that lack a field of its filter, or have it as another "
		       "type: these are not recorded; 'waymark list --fields' shows the fields",
		       glob);
	}
	return outright;
}

static void say_state(const struct wm_record_plan *plan, const struct wm_msg_changed *now)
{
	uint32_t follow = now->nr_processes - now->nr_late - now->nr_deaf;
	char events[48];

	(void)snprintf(events, sizeof(events), "%u", now->events_min);
	if (now->events_min != now->events_max)
		(void)snprintf(events, sizeof(events), "%u to %u", now->events_min,
			       now->events_max);
	if (!now->nr_processes)
		wm_say("no process has joined yet; those that do follow the new rules: %s",
		       plan->dir);
	else if (follow)
		wm_say("%s event%s on in %s%u process%s: %s", events,
		       now->events_min == 1 && now->events_max == 1 ? "" : "s",
		       follow > 1 && now->events_min == now->events_max ? "each of " : "", follow,
		       follow > 1 ? "es" : "", plan->dir);
}

static void say_missing(const struct wm_msg_changed *now)
{
	if (now->nr_late)
		wm_say("%u of %u processes did not answer within a second: they are stopped or "
		       "starting, and follow when they run",
		       now->nr_late, now->nr_processes);
	if (now->nr_deaf)
		wm_say("%u of %u processes closed their connection to the recorder: they cannot be "
		       "changed and go on as before; record them anew with -p",
		       now->nr_deaf, now->nr_processes);
}

int wm_record_change(const struct wm_record_plan *plan)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_msg_changed now;
	int err, status = check_filters(plan);
	uint32_t matched;

	if (status)
		return status;
	err = wm_tool_change(plan->dir, plan->rules, &now, &diag);
	if (err < 0) {
		wm_say("%s", diag.sentence[0] ? diag.sentence : strerror(-err));
		return (int)wm_exit_of(err);
	}
	if (!plan->quiet)
		say_state(plan, &now);
	say_missing(&now);
	if (now.nr_processes == now.nr_late + now.nr_deaf)
		return WM_EXIT_DONE;
	matched = say_unmatched(plan, &now);
	if (say_unfit(plan, &now))
		return WM_EXIT_USAGE;
	return matched ? WM_EXIT_DONE : WM_EXIT_NO_MATCH;
}
