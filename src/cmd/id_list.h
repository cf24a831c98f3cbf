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
 * Adds the ids in `argument`; `what` is their noun in messages ("process"). 0, or
 * -EINVAL, -E2BIG (more than `max` in total) with a sentence in diag, or -ENOMEM. The
 * caller frees ids->ids in the end, also after a failure.
 */
int wm_ids_add(struct wm_ids *ids, const char *argument, const char *what, size_t max,
	       struct wm_diag *diag);

#endif
