/* SPDX-License-Identifier: MIT */
/*
 * events.h - what people ask to be recorded, and with which options: of
 * `waymark record`, and of verbs that record to show it at once. --filter,
 * --context, --every, -F, -c and -g belong to the -e before them; before any -e they
 * belong to all.
 *
 * A verb's values begin with a struct wm_record_asked, so its table names
 * these functions for its options.
 */
#ifndef WM_CMD_RECORD_EVENTS_H
#define WM_CMD_RECORD_EVENTS_H

#include <limits.h>

#include "base/option.h"
#include "cmd/id_list.h"
#include "cmd/record/record.h"

struct wm_record_wanted {
	const char *glob; /* NULL: what was said before any -e */
	const char *filter;
	uint32_t contexts;
	bool exclude; /* of -x */
	struct wm_sampling_how how;
	uint64_t every_ns; /* of counters of /proc; 0: not said */
};

struct wm_record_asked {
	struct wm_record_wanted *wanted; /* [0] is before any -e */
	uint32_t nr_wanted;
	const char *dir, *preload, *snapshot, *change;
	struct wm_ids pids, tids;
	uint64_t buffer_bytes;
	int mode, format;
	bool all, quiet, fail_on_loss;
	struct wm_recorder_events events;
	struct wm_kernel_asks later; /* of --change: what goes to the recorder */
	struct wm_record_more more;
	int *cpus; /* NULL: all */
	size_t nr_cpus;
	char folder[PATH_MAX]; /* of this command's file */
	char *single;          /* the filter of -t and -C; NULL: none */
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

/* What a recorder is given; it points into `r`. 0, or an exit status after words. */
int wm_record_asked_plan(struct wm_record_asked *r, char *const *command,
			 struct wm_recorder_plan *ret);

void wm_record_asked_done(struct wm_record_asked *r);

#endif
