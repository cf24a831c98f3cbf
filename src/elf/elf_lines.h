/* SPDX-License-Identifier: MIT */
/*
 * elf_lines.h - finds the source file and line of an address, and the functions inlined there, in
 * the DWARF of the file itself or of its debug file in /usr/lib/debug/.build-id. Uses libdw, which
 * maps the file and checks less than elf_file.c, so use it only for files that the user named. Not
 * thread-safe.
 *
 * Opening lists the compile units' addresses; a unit's scopes are listed on the first lookup in it.
 * Every later lookup takes two binary searches.
 */
#ifndef WM_ELF_ELF_LINES_H
#define WM_ELF_ELF_LINES_H

#include <stdint.h>

#include "elf/elf_file.h"

/* Maximum number of functions inlined into each other; further ones are omitted. */
#define WM_ELF_FRAMES_MAX 64u

struct wm_elf_lines;

/* Returns 0, -ENODATA (no debug information) or -ENOMEM. The file stays mapped until close. */
int wm_elf_lines_open(const struct wm_elf *e, struct wm_elf_lines **ret_lines);
void wm_elf_lines_close(struct wm_elf_lines *l); /* accepts NULL */

/*
 * Finds the source file and line of an address. For code that was inlined from functions whose
 * names begin with `skip` (NULL: no skipping), returns the file and line of the call. Returns
 * -ENOENT if they are not known. The file name is valid as long as `l`.
 */
int wm_elf_lines_find(struct wm_elf_lines *l, uint64_t address, const char *skip,
		      const char **ret_file, uint32_t *ret_line);

/*
 * A function that contains an address, and the line in it; strings are valid as
 * long as the wm_elf_lines.
 */
struct wm_elf_frame {
	const char *function; /* demangled; NULL: it has no name */
	const char *file;     /* NULL: not known */
	uint32_t line;        /* 0: not known */
};

/*
 * Finds the functions that contain an address, innermost first; all but the last are inlined.
 * Returns their number (at most WM_ELF_FRAMES_MAX), or -ENOENT when none is known.
 */
int wm_elf_lines_frames(struct wm_elf_lines *l, uint64_t address,
			struct wm_elf_frame frames[WM_ELF_FRAMES_MAX]);

#endif
