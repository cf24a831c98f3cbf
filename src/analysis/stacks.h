/* SPDX-License-Identifier: MIT */
/*
 * stacks.h - call chains as numbers. A frame is an address in a module, or a
 * function inlined there; a stack is a list of frames, innermost first. Both
 * are stored once: a repeated chain of a process costs one look-up.
 *
 * Names are found on first use; wm_stacks_notes() reports frames without a
 * symbol, with the reason.
 */
#ifndef WM_ANALYSIS_STACKS_H
#define WM_ANALYSIS_STACKS_H

#include "analysis/result.h"
#include "symbol/address_spaces.h"
#include "symbol/lines.h"
#include "symbol/symbols.h"
#include "trace/name_table.h"

#define WM_FRAME_NONE  UINT32_MAX
#define WM_SYMBOL_NONE UINT32_MAX /* its text is empty */
#define WM_STACK_NONE  0u         /* the empty stack */

struct wm_stacks;

/*
 * With `inlines`, inlined functions are separate frames. Stacks that will be joined need the same
 * `seed`. The arguments are not owned. NULL: out of memory.
 */
struct wm_stacks *wm_stacks_create(struct wm_names *names, struct wm_spaces *spaces,
				   struct wm_symbols *symbols, struct wm_lines *lines, bool inlines,
				   uint64_t seed);
void wm_stacks_destroy(struct wm_stacks *s);

/*
 * Announces that function names will be needed, so that their modules' symbols are read in the
 * background.
 */
void wm_stacks_expect_names(struct wm_stacks *s);

/*
 * Returns the stack of a chain of addresses, innermost first, with perf's
 * markers; `mode` is that of the addresses before the first marker.
 * WM_STACK_NONE: the chain is empty; UINT32_MAX: out of memory.
 */
uint32_t wm_stacks_chain(struct wm_stacks *s, int32_t pid, enum wm_event_mode mode,
			 const uint64_t *addresses, uint32_t nr);

/*
 * Adds the stacks of a later part of the same traces. `modules` maps its
 * modules to those here; *ret, malloc'ed, maps its stacks to those here.
 * Neither may have inlined frames. 0 or -ENOMEM.
 */
int wm_stacks_join(struct wm_stacks *s, const struct wm_stacks *later,
		   struct wm_module *const *modules, uint32_t **ret);

/*
 * Gets the mode of the addresses that follow one of perf's markers. Returns false for other values.
 */
bool wm_stacks_mode(uint64_t marker, enum wm_event_mode *ret);

/* What walking a program's stack found. */
enum wm_stacks_user {
	WM_STACKS_NO_USER, /* the stack is not a chain, or has no user part */
	WM_STACKS_CALLERS,
	WM_STACKS_BROKEN, /* no caller: the frame-pointer walk ended at once, or met no code */
};
enum wm_stacks_user wm_stacks_user(const struct wm_stacks *s, uint32_t stack);

/* Returns the frames of a stack, innermost first, valid until the next chain is added. */
const uint32_t *wm_stacks_frames(const struct wm_stacks *s, uint32_t stack, uint32_t *ret_nr);

/*
 * Returns the place of a frame; its module is NULL if there was no known
 * mapping. Valid until the next chain is added.
 */
const struct wm_place *wm_stacks_place(const struct wm_stacks *s, uint32_t frame);

/* Return the id of the object's name and a number that identifies the function. */
uint32_t wm_stacks_dso(struct wm_stacks *s, uint32_t frame);
uint32_t wm_stacks_symbol(struct wm_stacks *s, uint32_t frame);

/* Returns the id of "file.c:12", or of "libfoo.so[1f20]" if the line is unknown. */
uint32_t wm_stacks_line(struct wm_stacks *s, uint32_t frame);

/* Returns the frame's function, or "". Valid as long as the stacks. */
const char *wm_stacks_name(struct wm_stacks *s, uint32_t frame);

/* Returns "[.] main", or "main" without `level`; an address if the function has no name. */
const char *wm_stacks_symbol_text(struct wm_stacks *s, uint32_t symbol, bool level,
				  struct wm_result *r);

/* Returns perf's letter: 'k' for the kernel, '.' for programs. */
char wm_stacks_level(const struct wm_stacks *s, uint32_t symbol);

/* Adds notes about addresses without a name and the reasons. */
void wm_stacks_notes(struct wm_stacks *s, struct wm_result *r);

#endif
