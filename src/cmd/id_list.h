/* SPDX-License-Identifier: MIT */
/* id_list.h - lists of process and thread ids on the command line: "12,34", repeatable. */
#ifndef WM_CMD_ID_LIST_H
#define WM_CMD_ID_LIST_H

#include <stddef.h>
#include <sys/types.h>

#include "base/option.h"

struct wm_ids {
	pid_t *ids;
	size_t nr;
};

/* For option tables; `type` has a member `member` of the struct above. */
#define WM_IDS_OPTION(type, member, limit, function)                                               \
	.kind = WM_OPTION_CALL, WM_OPTION_MEMBER(type, member, struct wm_ids), .max = (limit),     \
	.call = (function)
#define WM_IDS_PROCESSES(type, member, limit, text)                                                \
	{                                                                                          \
		.name = "pid", .letter = 'p', .argument = "PID,...", .help = (text),               \
		WM_IDS_OPTION(type, member, limit, wm_ids_on_pid)                                  \
	}
#define WM_IDS_THREADS(type, member, limit, text)                                                  \
	{                                                                                          \
		.name = "tid", .letter = 't', .argument = "TID,...", .help = (text),               \
		WM_IDS_OPTION(type, member, limit, wm_ids_on_tid)                                  \
	}

/*
 * Add the ids in `argument`. Return 0, -ENOMEM, or, with a message in `diag`, -EINVAL or -E2BIG
 * (more than o->max in total). The caller frees ids->ids, also after a failure.
 */
int wm_ids_on_pid(const struct wm_option *o, const char *argument, void *values,
		  struct wm_diag *diag);
int wm_ids_on_tid(const struct wm_option *o, const char *argument, void *values,
		  struct wm_diag *diag);

#endif
