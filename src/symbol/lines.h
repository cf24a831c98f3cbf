/* SPDX-License-Identifier: MIT */
/*
 * lines.h - source lines of places in modules, and the functions inlined
 * there. An address is looked up in the debug information once; a module's is
 * opened when first asked for, once for all modules of one build.
 *
 * For one thread.
 */
#ifndef WM_SYMBOL_LINES_H
#define WM_SYMBOL_LINES_H

#include "elf/elf_lines.h"
#include "symbol/symbols.h"

#define WM_LINES_OPEN_MAX 256u /* files with debug information held open */

struct wm_lines;

/* Names of an address: frames[0] is the innermost function, all but the last are inlined. */
struct wm_line_frames {
	uint64_t address; /* in the module's image */
	uint32_t nr;      /* 0: none is known */
	struct wm_elf_frame frames[];
};

/* The resolver stays the caller's, and lives longer. NULL: out of memory. */
struct wm_lines *wm_lines_create(struct wm_symbols *symbols);
void wm_lines_destroy(struct wm_lines *l);

/*
 * What is known of a place; NULL when nothing is. Lives as long as `l`; equal
 * places have the same pointer. Strings are not clean for a terminal.
 */
const struct wm_line_frames *wm_lines_find(struct wm_lines *l, const struct wm_place *place);

/* How many addresses were asked for that have no line, and of how many modules. */
void wm_lines_unknown(const struct wm_lines *l, uint64_t *ret_addresses, uint32_t *ret_modules);

#endif
