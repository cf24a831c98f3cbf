/* SPDX-License-Identifier: MIT */
/*
 * probe_events.h - creates probes as tracefs events (uprobe_events, kprobe_events) that exist as
 * long as this process does. Such probes would outlive their creator, so a small child process, the
 * keeper, waits for this process to end, however it ends, and removes them; the next sweep removes
 * probes that a keeper could not. Probes used by a tracing instance whose recorder has exited are
 * busy: those instances (instance.h) are removed first.
 *
 * Only groups whose name is that of a process of waymark that has exited are removed
 * (probes/probe_owner.h); a probe in use is busy and stays, whatever its name.
 *
 * perf's own probes are not enough: when the traced program forks and the probe is inherited, the
 * kernel reads the program's path through a pointer in the wrong process's memory, and the fork
 * fails.
 */
#ifndef WM_KERNEL_PROBE_EVENTS_H
#define WM_KERNEL_PROBE_EVENTS_H

#include <stdint.h>

#include "base/diag.h"
#include "kernel/event_def.h"
#include "kernel/tracefs.h"

struct wm_dynamic;

/*
 * Removes stale probes and starts the keeper. Borrows the tracefs. Returns 0, or -errno with an
 * error message.
 */
int wm_dynamic_create(const struct wm_tracefs *t, struct wm_dynamic **ret, struct wm_diag *diag);

/* Removes probes whose creator has exited. */
void wm_dynamic_sweep(const struct wm_tracefs *t);

/*
 * For a fork: returns a descriptor. As long as a child keeps it open, the probes exist, even after
 * the parent has exited.
 */
int wm_dynamic_fd(const struct wm_dynamic *d);

/* Removes all probes, whose users must already be closed. Accepts NULL. */
void wm_dynamic_destroy(struct wm_dynamic *d);

/*
 * Creates the event for a probe (families USDT, UPROBE, URETPROBE, KPROBE, KRETPROBE, EPROBE) that
 * fetches def->arguments. Writes the event's system and name in tracefs to the two buffers of
 * WM_TRACEFS_NAME_MAX bytes. Returns -EINVAL with the kernel's complaint and the column.
 */
int wm_dynamic_add(struct wm_dynamic *d, const struct wm_event_def *def, char *ret_system,
		   char *ret_event, struct wm_diag *diag);

/*
 * Creates a synthetic event from a definition "NAME TYPE FIELD; ..." under a unique name, which is
 * written to ret_event (WM_TRACEFS_NAME_MAX bytes). Returns -EOPNOTSUPP if this kernel has no
 * synthetic events.
 */
int wm_dynamic_synthetic(struct wm_dynamic *d, const char *definition, char *ret_event,
			 struct wm_diag *diag);

/*
 * Adds a place to an event that was created earlier and is not in use yet. Returns -EEXIST if the
 * values fetched there have other types, so that the place needs its own event.
 */
int wm_dynamic_append(struct wm_dynamic *d, const struct wm_event_def *def, const char *event,
		      struct wm_diag *diag);

#endif
