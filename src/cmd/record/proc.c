/* SPDX-License-Identifier: MIT */
/*
 * proc.c - counters of /proc in `waymark record`: how often they are
 * read (--every), and what is said of that at the end.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/number.h"
#include "cmd/record/record.h"
#include "cmd/say.h"
#include "collect/proc_source.h"

int wm_record_proc_every(uint64_t *every_ns, const char *argument, struct wm_diag *diag)
{
	if (*every_ns)
		return wm_diag_set(diag, -EINVAL, NULL, -1, "said twice of the same events");
	if (wm_number_parse_duration(argument, WM_PROC_EVERY_MIN_NS, WM_PROC_EVERY_MAX_NS,
				     every_ns))
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "'%s' is no duration of 1ms to 1h, such as 100ms", argument);
	return 0;
}

void wm_record_proc_say(const struct wm_recorder_plan *plan, const struct wm_source_totals *t)
{
	char late[WM_NUMBER_TEXT];

	if (!plan->events->options[WM_SOURCE_PROC])
		return;
	if (!plan->quiet && t->more[WM_PROC_MORE_TICKS])
		wm_say("/proc was read %" PRIu64 " times, which took %" PRIu64
		       " us each and began %s late at most",
		       t->more[WM_PROC_MORE_TICKS],
		       t->more[WM_PROC_MORE_SPENT_NS] / t->more[WM_PROC_MORE_TICKS] / 1000,
		       wm_number_print_duration(t->more[WM_PROC_MORE_LATE_MAX_NS] / 1000 * 1000,
						late));
	if (t->more[WM_PROC_MORE_MISSED])
		wm_say("%" PRIu64 " readings of /proc were missed, for the machine was busy; "
		       "waymark:lost says when: a longer --every",
		       t->more[WM_PROC_MORE_MISSED]);
	if (t->more[WM_PROC_MORE_DENIED])
		wm_say("%" PRIu64 " readings of processes were refused: run as root, or as their "
		       "user",
		       t->more[WM_PROC_MORE_DENIED]);
	if (t->torn)
		wm_say("%" PRIu64 " texts of /proc were not as they were at first; they are not in "
		       "the trace",
		       t->torn);
}
