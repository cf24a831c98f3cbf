/* SPDX-License-Identifier: MIT */
/*
 * event_file.h - the program or library that a place is in: found as a shell
 * or the loader finds it, in a container when one is meant, or all files that
 * a process has code of. Private to event_place.c.
 */
#ifndef WM_KERNEL_NAMES_EVENT_FILE_H
#define WM_KERNEL_NAMES_EVENT_FILE_H

#include "elf/elf_file.h"
#include "elf/elf_vars.h"
#include "kernel/probes/event_place.h"

/* A program that was named, opened. */
struct wm_event_file {
	char *path; /* without links; as the kernel is to find it: /proc/PID/root/... */
	struct wm_elf *elf;
	struct wm_elf_vars *vars; /* opened when first asked for: wm_event_file_vars() */
	bool no_vars;
};

/* Its debug information; NULL: there is none. */
struct wm_elf_vars *wm_event_file_vars(struct wm_event_file *f);

/*
 * "BIN:REST": the longest way to read it wins whose BIN is there, so that
 * neither a colon in a path nor one in the rest is in the way. Without any,
 * BIN ends at the first colon. `nr`: parts behind BIN, at least. Calls `fn`
 * for the file, or, when BIN is the number of a process, for each file it has
 * code of until `fn` returns other than 0 and -ENOENT (`every`: for all of
 * them). Returns what was added in all, or the first error.
 */
typedef int wm_event_file_fn(const struct wm_event_place *p, struct wm_event_file *file,
			     const char *rest);
int wm_event_file_each(const struct wm_event_place *p, unsigned nr, bool every, const char *form,
		       wm_event_file_fn *fn);

/* A place in it and what people call it. */
struct wm_event_spot {
	const char *symbol;       /* the function; NULL: it has an address, or a line, only */
	const char *line;         /* "work.c:12"; NULL: none was named */
	uint64_t address, offset; /* offset: from the symbol */
	bool returns;             /* the return of the function */
	bool more;                /* another place of the one before */
};

/* Adds the probe there, with what the place's arguments fetch. 0 or as wm_event_name_resolve(). */
int wm_event_spot_add(const struct wm_event_place *p, struct wm_event_file *f,
		      const struct wm_event_spot *spot);

/*
 * Adds "function", "function+8", "glob*" (event_function.c); C++ functions by
 * their names with or without "namespace::". How many, or -errno.
 */
#define WM_EVENT_FUNCTIONS_MAX 2000u /* that one glob may mean */
int wm_event_function_add(const struct wm_event_place *p, struct wm_event_file *f,
			  const char *name);
int wm_event_function_add_returns(const struct wm_event_place *p, struct wm_event_file *f,
				  const char *name);

/* The last part of a path. */
const char *wm_event_file_base(const char *path);

#endif
