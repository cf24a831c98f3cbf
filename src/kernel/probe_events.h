/* SPDX-License-Identifier: MIT */
/*
 * probe_events.h - probes made as events of tracefs (uprobe_events, kprobe_events)
 * for as long as this process lives. They outlive whoever wrote them, so a
 * small process of ours, the keeper, waits for our end, however it comes, and
 * removes them; what a keeper could not remove is swept up by the next one.
 * Probes used by a tracing instance whose recorder is gone are busy: those
 * instances (instance.h) are removed first.
 * Only groups named waymark_PID_START are ever touched, and only when that
 * process is no more; a probe in use is busy and stays, whatever its name.
 *
 * Why not perf's own probes alone: inherited by a fork of the traced program,
 * they read the path of the program through a pointer, in the memory of the
 * wrong process, and the fork fails.
 */
#ifndef WM_KERNEL_PROBE_EVENTS_H
#define WM_KERNEL_PROBE_EVENTS_H

#include <stdint.h>

#include "base/diag.h"
#include "kernel/event_def.h"
#include "kernel/tracefs.h"

struct wm_dynamic;

/* Borrows the tracefs. Sweeps up what others left; starts the keeper. 0 or -errno, sentence. */
int wm_dynamic_create(const struct wm_tracefs *t, struct wm_dynamic **ret, struct wm_diag *diag);

/* Removes probes whose maker is no more. */
void wm_dynamic_sweep(const struct wm_tracefs *t);

/*
 * Over a fork: a child that keeps this descriptor open keeps the probes, too,
 * when its parent is gone.
 */
int wm_dynamic_fd(const struct wm_dynamic *d);

/* Removes all probes; whatever used them must be closed. Accepts NULL. */
void wm_dynamic_destroy(struct wm_dynamic *d);

/*
 * Makes the event of a probe (families USDT, UPROBE, URETPROBE, KPROBE,
 * KRETPROBE, EPROBE), with what def->arguments fetches. Its system and name in tracefs
 * are written to the two buffers of WM_TRACEFS_NAME_MAX bytes. -EINVAL with
 * what the kernel finds wrong, and where.
 */
int wm_dynamic_add(struct wm_dynamic *d, const struct wm_event_def *def, char *ret_system,
		   char *ret_event, struct wm_diag *diag);

/*
 * Makes a synthetic event, "NAME TYPE FIELD; ...", under a name that is ours
 * alone: it is written to ret_event, of WM_TRACEFS_NAME_MAX bytes. -EOPNOTSUPP:
 * this kernel has none.
 */
int wm_dynamic_synthetic(struct wm_dynamic *d, const char *definition, char *ret_event,
			 struct wm_diag *diag);

/*
 * One more place of an event that was made before and is not used yet. -EEXIST
 * when what is fetched there has other types: it needs an event of its own.
 */
int wm_dynamic_append(struct wm_dynamic *d, const struct wm_event_def *def, const char *event,
		      struct wm_diag *diag);

#endif
