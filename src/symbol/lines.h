/* SPDX-License-Identifier: MIT */
/*
 * lines.h - source lines of places in modules, and the functions inlined there.
 * An address is looked up in the debug information once; the debug information
 * of a module is opened on first use, once for all modules of one build.
 *
 * Not thread-safe.
 */
#ifndef WM_SYMBOL_LINES_H
#define WM_SYMBOL_LINES_H

#include "elf/elf_lines.h"
#include "symbol/symbols.h"

#define WM_LINES_OPEN_MAX 256u /* files with debug information kept open */

struct wm_lines;

/* The frames of an address: frames[0] is the innermost function, all but the last are inlined. */
struct wm_line_frames {
	uint64_t address; /* in the module's image */
	uint32_t nr;      /* 0: unknown */
	struct wm_elf_frame frames[];
};

/* The caller keeps the resolver, which must outlive it. NULL: out of memory. */
struct wm_lines *wm_lines_create(struct wm_symbols *symbols);
void wm_lines_destroy(struct wm_lines *l);

/*
 * Returns the frames of a place; NULL: unknown. Valid as long as `l`; equal
 * places have the same pointer. Strings are not safe for a terminal.
 */
const struct wm_line_frames *wm_lines_find(struct wm_lines *l, const struct wm_place *place);

/* Returns how many addresses had no line, and in how many modules. */
void wm_lines_unknown(const struct wm_lines *l, uint64_t *ret_addresses, uint32_t *ret_modules);

#endif
