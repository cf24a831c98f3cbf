/* SPDX-License-Identifier: MIT */
/* id_list.h - lists of process and thread ids on the command line: "12,34", repeatable. */
#ifndef WM_CMD_ID_LIST_H
#define WM_CMD_ID_LIST_H

#include <stddef.h>
#include <sys/types.h>

#include "base/diag.h"

struct wm_ids {
	pid_t *ids;
	size_t nr;
};

/*
 * Adds the ids in `argument`; `what` names them in messages ("process"). Returns 0,
 * -ENOMEM, or with a message in `diag` -EINVAL or -E2BIG (more than `max` in total).
 * The caller frees ids->ids, also after a failure.
 */
int wm_ids_add(struct wm_ids *ids, const char *argument, const char *what, size_t max,
	       struct wm_diag *diag);

#endif
