/* SPDX-License-Identifier: MIT */
/* repair.h - makes damaged traces of waymark's own whole for other readers. */
#ifndef WM_READ_REPAIR_H
#define WM_READ_REPAIR_H

#include "base/diag.h"
#include "trace/reader.h"

/*
 * Cuts partial tails of stream files back to the last whole packet, takes bad
 * places between packets out, ends packets before the first record that cannot
 * be read, and writes index files anew where they do not agree with the
 * packets. Calls `fn` for each thing done. Whatever reader.h can read stays; a
 * second run does nothing. -EBUSY when the trace is still being written.
 */
int wm_own_repair(const char *dir, void (*fn)(const struct wm_fault *, void *), void *data,
		  struct wm_diag *diag);

#endif
