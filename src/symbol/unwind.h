/* SPDX-License-Identifier: MIT */
/*
 * unwind.h - call chains of programs without frame pointers, from a sample's user registers and
 * copy of the top of the stack (`perf record --call-graph dwarf`, `waymark record -g dwarf`). The
 * programs' own unwind tables (elf/elf_cfi.h) give the caller of each function; code without a
 * table is unwound via the frame pointer.
 *
 * It supports x86-64, i386 programs on it, and aarch64, which it recognizes by the sampled
 * registers. Not thread-safe.
 */
#ifndef WM_SYMBOL_UNWIND_H
#define WM_SYMBOL_UNWIND_H

#include "symbol/symbols.h"

#define WM_UNWIND_FRAMES_MAX 127u /* maximum frames per sample, as in perf */
#define WM_UNWIND_OPEN_MAX   512u /* maximum open files with unwind tables */

/* Where and why a chain ended. */
enum wm_unwound {
	WM_UNWOUND_WHOLE,      /* in the thread's first function */
	WM_UNWOUND_CUT,        /* at the end of the recorded part of the stack */
	WM_UNWOUND_NO_SAMPLE,  /* before it began: the sample has no registers or no stack */
	WM_UNWOUND_NO_MAPPING, /* at an address without a known mapping */
	WM_UNWOUND_NO_TABLE,   /* in code without an unwind table or frame pointer */
	WM_UNWOUND_BROKEN,     /* at an invalid frame: the stack is damaged */
	WM_UNWOUND_DEEP,       /* at WM_UNWIND_FRAMES_MAX */
	WM_UNWOUND_NR
};

const char *wm_unwound_text(enum wm_unwound how);

struct wm_user_frame {
	uint64_t ip; /* for a caller: return address - 1, as in perf */
	struct wm_place place;
	bool mapped;  /* `place` is valid */
	bool guessed; /* found via the frame pointer, for lack of a table */
};

/* The contents of a sample; registers in the order of the mask's bits, as in perf. */
struct wm_user_stack {
	int32_t pid;
	uint64_t mask;
	const struct wm_item *registers; /* one item per register */
	uint32_t nr_registers;
	const unsigned char *stack; /* from the stack pointer up, little-endian */
	uint64_t stack_bytes;
};

struct wm_unwind;

/* The arguments are not owned and must outlive the result. NULL: out of memory. */
struct wm_unwind *wm_unwind_create(struct wm_spaces *spaces, struct wm_symbols *symbols);
void wm_unwind_destroy(struct wm_unwind *u);

/* Gets the registers and stack of a sample; false: it has no registers or no stack. */
bool wm_unwind_stack_of(const struct wm_trace *t, const struct wm_event *e,
			struct wm_user_stack *ret);

/*
 * Computes the call chain, innermost first. Returns the number of frames. *ret_how is set to the
 * reason why it ends, which is also counted.
 */
uint32_t wm_unwind(struct wm_unwind *u, const struct wm_user_stack *s,
		   struct wm_user_frame frames[WM_UNWIND_FRAMES_MAX], enum wm_unwound *ret_how);

uint64_t wm_unwind_count(const struct wm_unwind *u, enum wm_unwound how);

#endif
