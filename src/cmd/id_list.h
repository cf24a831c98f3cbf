/* SPDX-License-Identifier: MIT */
/* id_list.h - process and thread ids as people give them: "12,34", again and again. */
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
 * Adds those of `argument`; `what` names them in sentences ("process"). 0, or
 * -EINVAL, -E2BIG (more than `max` in all) with a sentence, or -ENOMEM. free()
 * ids->ids in the end, also after a failure.
 */
int wm_ids_add(struct wm_ids *ids, const char *argument, const char *what, size_t max,
	       struct wm_diag *diag);

#endif
