/* SPDX-License-Identifier: MIT */
/*
 * change.c - `waymark record --change DIR`: changes the events of a running recording. The recorder
 * answers with the result; event names and their fields are read from the recorded processes, where
 * permissions allow.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "base/plural.h"
#include "cmd/exit.h"
#include "cmd/record/record.h"
#include "cmd/say.h"
#include "control/attach.h"
#include "control/tool.h"

static bool record_change_bit(const uint64_t *bits, uint32_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

/* ------------------------------------------------------------------ *
 * Checks
 * ------------------------------------------------------------------ */

struct check {
	const struct wm_rules *rules;
	bool refused;
};

static void record_change_check_event(const struct wm_attach_site *s, void *data)
{
	struct wm_diag diag = {.offset = -1};
	struct check *check = data;

	if (check->refused ||
	    wm_rules_check(check->rules, s->class, s->desc, s->desc_bytes, &diag) >= 0)
		return;
	check->refused = true;
	wm_say("record: %s", diag.sentence);
}

/*
 * Rejects a filter that does not fit the event that its -e names without wildcards. Returns 0 or an
 * exit status.
 */
static int check_filters(const struct wm_recorder_plan *plan)
{
	struct check check = {.rules = plan->events->rules};
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
		wm_say("%s", wm_words_of(err, &diag));
		return (int)wm_exit_of(err);
	}
	for (uint32_t i = 0; i < WM_CHANGED_PIDS && now.pids[i] && !check.refused; i++)
		(void)wm_attach_list((pid_t)now.pids[i], record_change_check_event, &check, NULL);
	return check.refused ? WM_EXIT_USAGE : 0;
}

/* ------------------------------------------------------------------ *
 * Results
 * ------------------------------------------------------------------ */

/*
 * Reports each glob that matches no event of a recorded process. Returns the number
 * that matched.
 */
static uint32_t record_change_say_unmatched(const struct wm_recorder_plan *plan,
					    const struct wm_msg_changed *now)
{
	uint32_t matched = 0;

	for (uint32_t i = 0; i < wm_rules_count(plan->events->rules); i++) {
		const char *glob = wm_rules_glob(plan->events->rules, i);
		char near[1024];

		if (record_change_bit(now->matched, i) || plan->events->in_kernel[i]) {
			matched++;
			continue;
		}
		wm_record_nearest(glob, now->pids, WM_CHANGED_PIDS, near, sizeof(near));
		wm_say("no event of the recorded processes matches '%s'; the rule stays for "
		       "processes that join later%s%s",
		       glob, *near ? "; " : "", near);
	}
	return matched;
}

/*
 * Returns whether an event named without wildcards is not recorded because its filter
 * does not fit.
 */
static bool record_change_say_unfit(const struct wm_recorder_plan *plan,
				    const struct wm_msg_changed *now)
{
	bool outright = false;

	for (uint32_t i = 0; i < wm_rules_count(plan->events->rules); i++) {
		const char *glob = wm_rules_glob(plan->events->rules, i);

		if (!record_change_bit(now->unfit, i))
			continue;
		outright = outright || !wm_glob_is_pattern(glob, strlen(glob));
		wm_say("'%s' matches events that lack a field of its filter, or have it with a "
		       "different type; they are not recorded; 'waymark list --fields' shows the "
		       "fields",
		       glob);
	}
	return outright;
}

static void say_state(const struct wm_recorder_plan *plan, const struct wm_msg_changed *now)
{
	uint32_t follow = now->nr_processes - now->nr_late - now->nr_deaf;
	char events[48];

	(void)snprintf(events, sizeof(events), "%u", now->events_min);
	if (now->events_min != now->events_max)
		(void)snprintf(events, sizeof(events), "%u to %u", now->events_min,
			       now->events_max);
	if (!now->nr_processes)
		wm_say("no process has joined yet; the new rules apply to those that join: %s",
		       plan->dir);
	else if (follow)
		wm_say("%s %s on in %s%u %s: %s", events,
		       now->events_min != now->events_max
			   ? "events are"
			   : wm_plural(now->events_max, "event is", "events are"),
		       follow > 1 && now->events_min == now->events_max ? "each of " : "", follow,
		       wm_plural(follow, "process", "processes"), plan->dir);
}

static void record_change_say_missing(const struct wm_msg_changed *now)
{
	if (now->nr_late)
		wm_say(
		    "%u of %u %s did not answer within a second; %s stopped or starting, and will "
		    "apply the change when %s",
		    now->nr_late, now->nr_processes,
		    wm_plural(now->nr_processes, "process", "processes"),
		    wm_plural(now->nr_late, "it is", "they are"),
		    wm_plural(now->nr_late, "it runs", "they run"));
	if (now->nr_deaf)
		wm_say("%u of %u %s closed %s connection to the recorder and cannot be changed; %s "
		       "recorded as before; to change %s, record %s again with -p",
		       now->nr_deaf, now->nr_processes,
		       wm_plural(now->nr_processes, "process", "processes"),
		       wm_plural(now->nr_deaf, "its", "their"),
		       wm_plural(now->nr_deaf, "it is", "they are"),
		       wm_plural(now->nr_deaf, "it", "them"),
		       wm_plural(now->nr_deaf, "it", "them"));
}

/* ------------------------------------------------------------------ *
 * Kernel events
 * ------------------------------------------------------------------ */

static void record_change_say_words(const char *lines)
{
	while (*lines) {
		int n = (int)strcspn(lines, "\n");

		wm_say("%.*s", n, lines);
		lines += n + (lines[n] == '\n');
	}
}

/* Returns the name or filter that the recorder rejected. */
static const char *record_change_text_of(const struct wm_kernel_asks *asks,
					 const struct wm_msg_kernel_changed *now)
{
	const char *at = asks->body.data;

	for (uint32_t i = 0; i < asks->nr; i++) {
		const char *name = at + 1, *filter = name + strlen(name) + 1;

		if (i == now->ask)
			return now->in_filter ? filter : name;
		at = filter + strlen(filter) + 1;
	}
	return "";
}

static int record_change_say_refused(const struct wm_recorder_plan *plan,
				     const struct wm_msg_kernel_changed *now)
{
	struct wm_diag diag = {.offset = -1, .column = now->column};

	(void)snprintf(diag.sentence, sizeof(diag.sentence), "%s", now->sentence);
	if (now->column)
		wm_say_caret(record_change_text_of(plan->events->later, now), &diag);
	else
		wm_say("the recorder of '%s' changed nothing: %s", plan->dir, now->sentence);
	return now->err == -EINVAL || now->err == -EOPNOTSUPP || now->err == -E2BIG ? WM_EXIT_USAGE
	       : now->err == -ENOENT ? WM_EXIT_NO_MATCH
				     : (int)wm_exit_of(now->err);
}

/*
 * Marks the rules whose names matched kernel events, even if no program has such events. Returns
 * their number.
 */
static uint32_t note_matched(const struct wm_recorder_plan *plan,
			     const struct wm_msg_kernel_changed *now)
{
	const struct wm_kernel_asks *asks = plan->events->later;
	const char *name, *at = asks->body.data;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < asks->nr; i++, at += strlen(at) + 1) {
		name = at + 1;
		at = name + strlen(name) + 1; /* skips the filter */
		if (!record_change_bit(now->matched, i))
			continue;
		nr++;
		for (uint32_t k = 0; k < wm_rules_count(plan->events->rules); k++)
			if (!strcmp(wm_rules_glob(plan->events->rules, k), name))
				plan->events->in_kernel[k] = true;
	}
	return nr;
}

/*
 * Changes kernel events. Returns 0, or an exit status after a message; *ret_matched is the number
 * of names that matched.
 */
static int record_change_kernel(const struct wm_recorder_plan *plan, uint32_t *ret_matched)
{
	const struct wm_kernel_asks *asks = plan->events->later;
	struct wm_diag diag = {.offset = -1};
	struct wm_msg_kernel_changed now;
	int err = wm_tool_change_kernel(plan->dir, asks, plan->search, &now, &diag);

	*ret_matched = 0;
	if (err < 0) {
		wm_say("%s", wm_words_of(err, &diag));
		return (int)wm_exit_of(err);
	}
	record_change_say_words(now.words);
	if (now.err < 0)
		return record_change_say_refused(plan, &now);
	*ret_matched = note_matched(plan, &now);
	if (!plan->quiet && (*ret_matched || !wm_rules_count(plan->events->rules)))
		wm_say("%u kernel %s on: %s", now.nr_on,
		       wm_plural(now.nr_on, "event is", "events are"), plan->dir);
	return 0;
}

/* ------------------------------------------------------------------ *
 * Program events
 * ------------------------------------------------------------------ */

/*
 * Changes program events and prints messages. Returns the exit status. `matched` is the number of
 * names that matched kernel events.
 */
static int change_programs(const struct wm_recorder_plan *plan, uint32_t matched)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_msg_changed now;
	int err = wm_tool_change(plan->dir, plan->events->rules, &now, &diag);

	if (err < 0) {
		wm_say("%s", wm_words_of(err, &diag));
		return (int)wm_exit_of(err);
	}
	if (!plan->quiet && (now.nr_processes || !matched))
		say_state(plan, &now);
	record_change_say_missing(&now);
	if (now.nr_processes == now.nr_late + now.nr_deaf)
		return WM_EXIT_DONE;
	matched += record_change_say_unmatched(plan, &now);
	if (record_change_say_unfit(plan, &now))
		return WM_EXIT_USAGE;
	return matched ? WM_EXIT_DONE : WM_EXIT_NO_MATCH;
}

int wm_record_change(const struct wm_recorder_plan *plan)
{
	uint32_t matched = 0;
	int status = check_filters(plan);

	if (!status && plan->events->later->nr)
		status = record_change_kernel(plan, &matched);
	if (status)
		return status;
	if (wm_rules_count(plan->events->rules))
		return change_programs(plan, matched);
	if (!matched)
		wm_say("no kernel event of that name is on");
	return matched ? WM_EXIT_DONE : WM_EXIT_NO_MATCH;
}
