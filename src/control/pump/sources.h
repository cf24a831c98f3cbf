/* SPDX-License-Identifier: MIT */
/* sources.h - the table of the pump's sources (collect/source.h). */
#ifndef WM_CONTROL_PUMP_SOURCES_H
#define WM_CONTROL_PUMP_SOURCES_H

#include "collect/source.h"

enum wm_source_place { WM_SOURCE_KERNEL, WM_SOURCE_SAMPLES, WM_SOURCE_PROC, WM_SOURCES_NR };

#endif
