/* SPDX-License-Identifier: MIT */
/*
 * lines.h - source lines of addresses in modules, and the functions inlined there. An address is
 * looked up in the debug information once; a module's debug information is opened on first use,
 * once for all modules of the same build.
 *
 * Not thread-safe.
 */
#ifndef WM_SYMBOL_LINES_H
#define WM_SYMBOL_LINES_H

#include "elf/elf_lines.h"
#include "symbol/symbols.h"

#define WM_LINES_OPEN_MAX 256u /* maximum number of open debug files */

struct wm_lines;

/* The frames of an address: frames[0] is the innermost function, all but the last are inlined. */
struct wm_line_frames {
	uint64_t address; /* address in the module's image */
	uint32_t nr;      /* 0: the line is unknown */
	struct wm_elf_frame frames[];
};

/* The resolver is not owned and must outlive the result. NULL: out of memory. */
struct wm_lines *wm_lines_create(struct wm_symbols *symbols);
void wm_lines_destroy(struct wm_lines *l);

/*
 * Returns the frames of a place; NULL: unknown. The result is valid as long as `l`; equal places
 * yield the same pointer. The strings are not safe to print on a terminal.
 */
const struct wm_line_frames *wm_lines_find(struct wm_lines *l, const struct wm_place *place);

#endif
