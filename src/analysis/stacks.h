/* SPDX-License-Identifier: MIT */
/*
 * stacks.h - call chains as numbers. A frame is an address in a module, or a
 * function inlined there; a stack is a list of frames, innermost first. Both
 * are kept once: equal chains of one process cost
 * a look-up, no matter how often they come.
 *
 * Names are found when somebody asks for them: a frame's symbol, and what
 * has none is said with the reason (wm_stacks_notes()).
 */
#ifndef WM_ANALYSIS_STACKS_H
#define WM_ANALYSIS_STACKS_H

#include "analysis/result.h"
#include "symbol/address_spaces.h"
#include "symbol/lines.h"
#include "symbol/symbols.h"
#include "trace/name_table.h"

#define WM_FRAME_NONE UINT32_MAX
#define WM_STACK_NONE 0u /* the empty one */

struct wm_stacks;

/*
 * With `inlines`, functions that were inlined are frames of their own. Stacks
 * that will be joined have one `seed`. What it is given stays the caller's.
 * NULL: out of memory.
 */
struct wm_stacks *wm_stacks_create(struct wm_names *names, struct wm_spaces *spaces,
				   struct wm_symbols *symbols, struct wm_lines *lines, bool inlines,
				   uint64_t seed);
void wm_stacks_destroy(struct wm_stacks *s);

/* Functions will be asked for: their modules' symbols may be read while chains are added. */
void wm_stacks_expect_names(struct wm_stacks *s);

/*
 * The stack of a chain of addresses, innermost first, with perf's markers
 * among them; `mode` is that of the first ones. WM_STACK_NONE: nothing in it;
 * UINT32_MAX: out of memory.
 */
uint32_t wm_stacks_chain(struct wm_stacks *s, int32_t pid, enum wm_event_mode mode,
			 const uint64_t *addresses, uint32_t nr);

/*
 * Adds the stacks of a part of the same traces that lies behind, whose modules are
 * those of the list here: *ret, malloc'ed, has for each of its stacks the one here.
 * Neither has inlined frames. 0 or -ENOMEM.
 */
int wm_stacks_join(struct wm_stacks *s, const struct wm_stacks *later,
		   struct wm_module *const *modules, uint32_t **ret);

/* perf's markers say whose the addresses behind them are. False: there is no such marker. */
bool wm_stacks_mode(uint64_t marker, enum wm_event_mode *ret);

/* Frames of a stack, innermost first, valid until the next chain is added. */
const uint32_t *wm_stacks_frames(const struct wm_stacks *s, uint32_t stack, uint32_t *ret_nr);

/* Where a frame lies; its module is NULL where nothing known was mapped. Until the next chain. */
const struct wm_place *wm_stacks_place(const struct wm_stacks *s, uint32_t frame);

/* The id of the object's name; a number that is the same for the same function. */
uint32_t wm_stacks_dso(struct wm_stacks *s, uint32_t frame);
uint32_t wm_stacks_symbol(struct wm_stacks *s, uint32_t frame);

/* The id of "file.c:12", or of "libfoo.so[1f20]" where no line is known. */
uint32_t wm_stacks_line(struct wm_stacks *s, uint32_t frame);

/* The frame's function; "" when there is no name. Valid as long as the stacks are. */
const char *wm_stacks_name(struct wm_stacks *s, uint32_t frame);

/* "[.] main", or without `level` "main"; an address where there is no name. */
const char *wm_stacks_symbol_text(struct wm_stacks *s, uint32_t symbol, bool level,
				  struct wm_result *r);

/* 'k' of the kernel, '.' of programs, as perf has it. */
char wm_stacks_level(const struct wm_stacks *s, uint32_t symbol);

/* Adds notes on what could not be named, and why. */
void wm_stacks_notes(struct wm_stacks *s, struct wm_result *r);

#endif
