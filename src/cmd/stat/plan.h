/* SPDX-License-Identifier: MIT */
/*
 * plan.h - the options of `waymark stat` as typed, and the function that turns them into a plan and
 * counts. Names point into argv.
 */
#ifndef WM_CMD_STAT_PLAN_H
#define WM_CMD_STAT_PLAN_H

#include "cmd/event_list.h"
#include "cmd/id_list.h"
#include "cmd/stat/stat.h"

struct wm_stat_asked {
	struct wm_event_list events;
	struct wm_ids pids, tids;
	const char *cpus, *separator, *output, *by, *preload;
	int64_t interval_ms, runs, timeout_ms, delay_ms;
	bool append, all, json, per_thread, per_cpu, no_inherit;
};

/* Reports an error in the options; returns WM_EXIT_USAGE. */
int wm_stat_usage(const char *sentence);

/* Counts until the end while running `command` (NULL: none); returns the exit status. */
int wm_stat_count(const struct wm_stat_asked *v, const struct wm_event_space *space,
		  char **command);

#endif
