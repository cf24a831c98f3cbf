/* SPDX-License-Identifier: MIT */
/*
 * pmu.h - the event sources in /sys/bus/event_source/devices: their type numbers, the events they
 * name, and their formats, which map terms such as "event=0x3c,umask=1" to the bits of an attr. The
 * folder is a parameter, so tests need no special hardware.
 */
#ifndef WM_KERNEL_NAMES_PMU_H
#define WM_KERNEL_NAMES_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "kernel/event_def.h"

#define WM_PMU_FOLDER     "/sys/bus/event_source/devices"
#define WM_PMU_MAX        1024u
#define WM_PMU_EVENTS_MAX 16384u /* limit for one PMU's events */

struct wm_pmu_event {
	const char *name, *terms; /* "tsc", "event=0x00" */
	const char *scale, *unit; /* NULL if the kernel does not state them */
};

struct wm_pmu {
	const char *name;
	uint32_t type;
	struct wm_pmu_event *events; /* sorted by name */
	size_t nr_events;
};

struct wm_pmus {
	struct wm_arena arena;
	const char *folder;
	struct wm_pmu *pmus; /* sorted by name */
	size_t nr;
};

/*
 * Reads all PMUs. Entries that cannot be read are left out; if the folder does not exist, the list
 * is empty. Returns 0 or -ENOMEM.
 */
int wm_pmus_read(const char *folder, struct wm_pmus *ret);
void wm_pmus_done(struct wm_pmus *p);

const struct wm_pmu *wm_pmu_named(const struct wm_pmus *p, const char *name); /* or NULL */

/*
 * Sets type, config, config1 and config2 from terms such as "event=0x3c,umask=1": names of the
 * PMU's format files, or config, config1, config2, or the name of one of its events. A term without
 * a value is 1. On error, returns -EINVAL with a message that lists the valid terms.
 */
int wm_pmu_terms(const struct wm_pmus *p, const struct wm_pmu *pmu, const char *terms,
		 struct wm_event_def *def, struct wm_diag *diag);

#endif
