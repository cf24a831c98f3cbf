/* SPDX-License-Identifier: MIT */
/*
 * event_table.h - the events that perf_event_open(2) itself defines, the same on every kernel:
 * software events, generalised hardware events and caches, each with its names in perf.
 */
#ifndef WM_KERNEL_EVENT_TABLE_H
#define WM_KERNEL_EVENT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/event_def.h"

struct wm_event_known {
	/* For example "page-faults"; the full name begins with "sw:" or "cpu:" */
	const char *name;
	const char *alias; /* another spelling; NULL: none */
	enum wm_event_family family;
	uint32_t type;
	uint64_t config;
	const char *help;
	/* Happens only in the kernel, so it is never counted when the kernel is excluded. */
	bool in_kernel;
};

/* Returns NULL after the last event. */
const struct wm_event_known *wm_event_known(size_t i);

/*
 * Writes the name of the i-th of all possible cache events, spelled as in perf, such as
 * "L1-dcache-load-misses". Returns false after the last. `name` has WM_EVENT_CACHE_NAME bytes.
 */
#define WM_EVENT_CACHE_NAME 32u
bool wm_event_cache(size_t i, char *name, uint64_t *ret_config);

#endif
