/* SPDX-License-Identifier: MIT */
/* probe_source.h - the source lines at which a program can be probed. */
#ifndef WM_KERNEL_PROBE_SOURCE_H
#define WM_KERNEL_PROBE_SOURCE_H

#include "base/diag.h"
#include "elf/elf_vars.h"
#include "kernel/event_space.h"

/*
 * What a place refers to: lines `first` to `last` of each source file; 0: all. The strings are
 * valid during the call.
 */
struct wm_probe_source {
	const char *program; /* path of the program or library */
	const struct wm_elf_source *source;
	uint32_t first, last;
};

/*
 * Calls fn for the source files of a place: "PROGRAM:FUNCTION", "PROGRAM:FILE", "PROGRAM:FILE:LINE"
 * or "PROGRAM:FILE:LINE-LINE". Returns the number of calls, what fn returned if negative, or an
 * error with a message: -EINVAL, -ENOENT (no such program, function or file), -ENODATA (no debug
 * information) or an error from reading the program.
 */
int wm_probe_source_each(const struct wm_event_space *space, const char *place,
			 int (*fn)(const struct wm_probe_source *source, void *data), void *data,
			 struct wm_diag *diag);

#endif
