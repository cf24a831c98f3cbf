/* SPDX-License-Identifier: MIT */
/*
 * elf_lines.h - source file and line of an address, and the functions that
 * were inlined there, from DWARF in the file itself or in
 * /usr/lib/debug/.build-id. Uses libdw, which maps the file and believes more
 * of it than elf_file.c does: only for when a person asked. Not thread safe.
 *
 * Opening lists the compile units' addresses; a unit's scopes are listed when
 * first asked for. A question after that is two binary searches.
 */
#ifndef WM_ELF_ELF_LINES_H
#define WM_ELF_ELF_LINES_H

#include <stdint.h>

#include "elf/elf_file.h"

#define WM_ELF_FRAMES_MAX 64u /* functions inlined into each other; more are left out */

struct wm_elf_lines;

/* -ENODATA: there is no debug information; -ENOMEM. The file stays mapped until close. */
int wm_elf_lines_open(const struct wm_elf *e, struct wm_elf_lines **ret_lines);
void wm_elf_lines_close(struct wm_elf_lines *l); /* accepts NULL */

/*
 * The place of an address of the file. Code inlined from functions whose names
 * begin with `skip` (NULL: none) is counted as the place that calls them.
 * -ENOENT: not known. The name lives as long as `l`.
 */
int wm_elf_lines_find(struct wm_elf_lines *l, uint64_t address, const char *skip,
		      const char **ret_file, uint32_t *ret_line);

/* A function an address is in, and where in it; strings live as long as the wm_elf_lines. */
struct wm_elf_frame {
	const char *function; /* demangled; NULL: it has no name */
	const char *file;     /* NULL: not known */
	uint32_t line;        /* 0: not known */
};

/*
 * The functions of an address, the innermost first: all but the last are
 * inlined. How many (at most WM_ELF_FRAMES_MAX); -ENOENT: none is known.
 */
int wm_elf_lines_frames(struct wm_elf_lines *l, uint64_t address,
			struct wm_elf_frame frames[WM_ELF_FRAMES_MAX]);

#endif
