/* SPDX-License-Identifier: MIT */
/* repair.h - repairs damaged traces of waymark's recorder for other readers. */
#ifndef WM_READ_REPAIR_H
#define WM_READ_REPAIR_H

#include "base/diag.h"
#include "trace/reader.h"

/*
 * Truncates stream files after their last complete packet, removes damaged ranges between packets,
 * ends packets before their first unreadable record, and rewrites index files that do not agree
 * with the packets. Calls `fn` for each repair. Everything that reader.h can read is kept; a second
 * run does nothing. -EBUSY when the trace is still being written.
 */
int wm_own_repair(const char *dir, void (*fn)(const struct wm_fault *, void *), void *data,
		  struct wm_diag *diag);

#endif
