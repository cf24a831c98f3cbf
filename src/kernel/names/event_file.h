/* SPDX-License-Identifier: MIT */
/*
 * event_file.h - finds the program or library that contains a place: as a shell or the loader does,
 * in a container's root if one is given; or all files that a process has mapped as code. Private to
 * event_place.c.
 */
#ifndef WM_KERNEL_NAMES_EVENT_FILE_H
#define WM_KERNEL_NAMES_EVENT_FILE_H

#include "elf/elf_file.h"
#include "elf/elf_vars.h"
#include "kernel/probes/event_place.h"

/* An opened program or library. */
struct wm_event_file {
	char *path; /* path with symlinks resolved that the kernel can open: /proc/PID/root/... */
	struct wm_elf *elf;
	struct wm_elf_vars *vars; /* opened by the first call to wm_event_file_vars() */
	bool no_vars;
};

/* Returns the debug information; NULL if there is none. */
struct wm_elf_vars *wm_event_file_vars(struct wm_event_file *f);

/*
 * Splits "BIN:REST" so that BIN is a file that exists, whether or not the path or the rest contains
 * colons. If no file exists, BIN ends at the first colon. `nr` is the minimum number of parts after
 * BIN. Calls `fn` for the file, or, if BIN is a pid, for each file that the process has mapped as
 * code until `fn` returns something other than 0 and -ENOENT (`every`: for all of them). Returns
 * the number of events added, or the first error.
 */
typedef int wm_event_file_fn(const struct wm_event_place *p, struct wm_event_file *file,
			     const char *rest);
int wm_event_file_each(const struct wm_event_place *p, unsigned nr, bool every, const char *form,
		       wm_event_file_fn *fn);

/* A place in the file, and the name that users see. */
struct wm_event_spot {
	const char *symbol;       /* function; NULL if the user gave only an address or a line */
	const char *line;         /* for example "work.c:12"; NULL if the user gave no line */
	uint64_t address, offset; /* `offset` is relative to the symbol */
	bool returns;             /* the place is the function's return */
	bool is_copy;             /* an inlined copy of the function begins there */
	bool more;                /* this is another place for the previous event */
};

/*
 * Appends the probe, with the values that the place's arguments fetch. Returns 0 or an error as
 * wm_event_name_resolve() does.
 */
int wm_event_spot_add(const struct wm_event_place *p, struct wm_event_file *f,
		      const struct wm_event_spot *spot);

/*
 * Appends the probes for "function", "function+8" or "glob*" (event_function.c). C++ functions may
 * be named with or without "namespace::". Returns the number of probes, or -errno.
 */
#define WM_EVENT_FUNCTIONS_MAX 2000u /* limit for the functions that one glob may match */
int wm_event_function_add(const struct wm_event_place *p, struct wm_event_file *f,
			  const char *name);
int wm_event_function_add_returns(const struct wm_event_place *p, struct wm_event_file *f,
				  const char *name);

/* Returns the last part of a path. */
const char *wm_event_file_base(const char *path);

#endif
