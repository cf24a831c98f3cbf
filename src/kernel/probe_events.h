/* SPDX-License-Identifier: MIT */
/*
 * probe_events.h - makes probes as events of tracefs (uprobe_events,
 * kprobe_events) for as long as this process lives. Such probes outlive their
 * writer, so a small child process, the keeper, waits for this process to end
 * in any way and removes them; probes that a keeper could not remove are
 * removed by the next sweep. Probes used by a tracing instance whose recorder
 * has exited are busy: those instances (instance.h) are removed first.
 *
 * Only groups named waymark_PID_START are removed, and only when that process
 * has exited; a probe in use is busy and stays, whatever its name.
 *
 * Why not perf's own probes alone: when the traced program forks and the probe
 * is inherited, the kernel reads the program's path through a pointer in the
 * memory of the wrong process, and the fork fails.
 */
#ifndef WM_KERNEL_PROBE_EVENTS_H
#define WM_KERNEL_PROBE_EVENTS_H

#include <stdint.h>

#include "base/diag.h"
#include "kernel/event_def.h"
#include "kernel/tracefs.h"

struct wm_dynamic;

/*
 * Borrows the tracefs. Sweeps up stale probes and starts the keeper. 0 or
 * -errno with a sentence.
 */
int wm_dynamic_create(const struct wm_tracefs *t, struct wm_dynamic **ret, struct wm_diag *diag);

/* Removes probes whose maker has exited. */
void wm_dynamic_sweep(const struct wm_tracefs *t);

/*
 * For a fork: a child that keeps this descriptor open keeps the probes alive
 * after its parent exits.
 */
int wm_dynamic_fd(const struct wm_dynamic *d);

/* Removes all probes; their users must be closed before. Accepts NULL. */
void wm_dynamic_destroy(struct wm_dynamic *d);

/*
 * Makes the event of a probe (families USDT, UPROBE, URETPROBE, KPROBE,
 * KRETPROBE, EPROBE) that fetches def->arguments. Writes the event's system and
 * name in tracefs to the two buffers of WM_TRACEFS_NAME_MAX bytes. -EINVAL with
 * the kernel's complaint and its place.
 */
int wm_dynamic_add(struct wm_dynamic *d, const struct wm_event_def *def, char *ret_system,
		   char *ret_event, struct wm_diag *diag);

/*
 * Makes a synthetic event, "NAME TYPE FIELD; ...", under a unique name, which
 * is written to ret_event, of WM_TRACEFS_NAME_MAX bytes. -EOPNOTSUPP: this
 * kernel has no synthetic events.
 */
int wm_dynamic_synthetic(struct wm_dynamic *d, const char *definition, char *ret_event,
			 struct wm_diag *diag);

/*
 * Adds a place to an event made before that is not in use yet. -EEXIST when the
 * values fetched there have other types: the place needs its own event.
 */
int wm_dynamic_append(struct wm_dynamic *d, const struct wm_event_def *def, const char *event,
		      struct wm_diag *diag);

#endif
