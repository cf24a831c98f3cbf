/* SPDX-License-Identifier: MIT */
/*
 * event_file.h - the program or library that a place is in: found as a shell
 * or the loader finds it, in a container when one is meant, or all files that
 * a process has code of. Private to event_place.c.
 */
#ifndef WM_KERNEL_EVENT_FILE_H
#define WM_KERNEL_EVENT_FILE_H

#include "elf/elf_file.h"
#include "kernel/event_place.h"

/* A program that was named, opened. */
struct wm_event_file {
	char *path; /* without links; as the kernel is to find it: /proc/PID/root/... */
	struct wm_elf *elf;
};

/*
 * "BIN:REST": the longest way to read it wins whose BIN is there, so that
 * neither a colon in a path nor one in the rest is in the way. Without any,
 * BIN ends at the first colon. `nr`: parts behind BIN, at least. Calls `fn`
 * for the file, or, when BIN is the number of a process, for each file it has
 * code of until `fn` returns other than 0 and -ENOENT (`every`: for all of
 * them). Returns what was added in all, or the first error.
 */
typedef int wm_event_file_fn(const struct wm_event_place *p, const struct wm_event_file *file,
			     const char *rest);
int wm_event_file_each(const struct wm_event_place *p, unsigned nr, bool every, const char *form,
		       wm_event_file_fn *fn);

/* The last part of a path. */
const char *wm_event_file_base(const char *path);

#endif
