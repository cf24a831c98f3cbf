/* SPDX-License-Identifier: MIT */
/*
 * sources.h - the table of the pump's sources (collect/source.h). Each source has one line here;
 * all other code finds it through the table.
 */
#ifndef WM_CONTROL_PUMP_SOURCES_H
#define WM_CONTROL_PUMP_SOURCES_H

#include "collect/source.h"

/* The index of each source in the table, and its struct wm_source_ops. */
#define WM_SOURCES(SOURCE)                                                                         \
	SOURCE(KERNEL, wm_source_kernel)                                                           \
	SOURCE(SAMPLES, wm_source_samples)                                                         \
	SOURCE(PROC, wm_source_proc)

#define WM_SOURCE_PLACE_(place, ops)   WM_SOURCE_##place,
#define WM_SOURCE_DECLARE_(place, ops) extern const struct wm_source_ops ops;

enum wm_source_place { WM_SOURCES(WM_SOURCE_PLACE_) WM_SOURCES_NR };
WM_SOURCES(WM_SOURCE_DECLARE_)

extern const struct wm_source_ops *const wm_sources[WM_SOURCES_NR];

#endif
