/* SPDX-License-Identifier: MIT */
/*
 * events.h - the events requested on a command line and their options, for `waymark
 * record` and for verbs that record and show the result at once. --filter, --context,
 * --every, -F, -c and -g apply to the preceding -e; before the first -e they apply to
 * all.
 *
 * A verb's values begin with a struct wm_record_asked, so that its option table can
 * use these functions.
 */
#ifndef WM_CMD_RECORD_EVENTS_H
#define WM_CMD_RECORD_EVENTS_H

#include <limits.h>

#include "base/option.h"
#include "cmd/id_list.h"
#include "cmd/record/record.h"

struct wm_record_wanted {
	const char *glob; /* NULL: the options given before any -e */
	const char *filter;
	uint32_t contexts;
	bool exclude; /* from -x */
	struct wm_sampling_how how;
	uint64_t every_ns; /* interval of readings of /proc; 0: not given */
};

struct wm_record_asked {
	struct wm_record_wanted *wanted; /* [0] holds the options before any -e */
	uint32_t nr_wanted;
	const char *dir, *preload, *snapshot, *change;
	struct wm_ids pids, tids;
	uint64_t buffer_bytes;
	int mode, format;
	bool all, quiet, fail_on_loss;
	struct wm_recorder_events events;
	struct wm_kernel_asks later; /* with --change: the request to the recorder */
	struct wm_record_more more;
	int *cpus; /* NULL: all */
	size_t nr_cpus;
	char folder[PATH_MAX]; /* folder of this executable */
	char *single;          /* filter for -t and -C; NULL: none */
};

int wm_record_on_event(const struct wm_option *o, const char *argument, void *values,
		       struct wm_diag *diag);
int wm_record_on_exclude(const struct wm_option *o, const char *argument, void *values,
			 struct wm_diag *diag);
int wm_record_on_filter(const struct wm_option *o, const char *argument, void *values,
			struct wm_diag *diag);
int wm_record_on_context(const struct wm_option *o, const char *argument, void *values,
			 struct wm_diag *diag);
int wm_record_on_trigger(const struct wm_option *o, const char *argument, void *values,
			 struct wm_diag *diag);
int wm_record_on_synthetic(const struct wm_option *o, const char *argument, void *values,
			   struct wm_diag *diag);
int wm_record_on_stacks(const struct wm_option *o, const char *argument, void *values,
			struct wm_diag *diag);
int wm_record_on_pid(const struct wm_option *o, const char *argument, void *values,
		     struct wm_diag *diag);
int wm_record_on_tid(const struct wm_option *o, const char *argument, void *values,
		     struct wm_diag *diag);
int wm_record_on_rate(const struct wm_option *o, const char *argument, void *values,
		      struct wm_diag *diag);
int wm_record_on_every(const struct wm_option *o, const char *argument, void *values,
		       struct wm_diag *diag);
int wm_record_on_chain(const struct wm_option *o, const char *argument, void *values,
		       struct wm_diag *diag);
int wm_record_on_cpus(const struct wm_option *o, const char *argument, void *values,
		      struct wm_diag *diag);

/* Fills the plan of a recorder; it points into `r`. 0, or an exit status after a message. */
int wm_record_asked_plan(struct wm_record_asked *r, char *const *command,
			 struct wm_recorder_plan *ret);

void wm_record_asked_done(struct wm_record_asked *r);

#endif
