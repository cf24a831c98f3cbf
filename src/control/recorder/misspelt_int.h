/* SPDX-License-Identifier: MIT */
/*
 * misspelt_int.h - recognizes names that the kernel does not have and that are most probably
 * misspelt, so that they are refused before a recording makes an empty trace. Private to this room.
 */
#ifndef WM_CONTROL_RECORDER_MISSPELT_INT_H
#define WM_CONTROL_RECORDER_MISSPELT_INT_H

#include "control/recorder/events.h"
#include "kernel/event_name.h"

/*
 * Whether a name that may also be an event of a program is a misspelt one of the kernel; `diag` has
 * the message of wm_event_name_resolve(). PROVIDER:NAME is, if the kernel has the provider and a
 * near name. A name without a provider is, if it is a few edits away from one of the kernel's and
 * CMD's file has no such event.
 */
bool wm_recorder_is_misspelt(const struct wm_recorder_events *e, const struct wm_event_space *space,
			     const char *glob, const struct wm_diag *diag);

/* Adds to the message what to write for an event of a program. Returns -ENOENT. */
int wm_recorder_refuse_misspelt(const char *glob, struct wm_diag *diag);

#endif
