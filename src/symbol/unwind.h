/* SPDX-License-Identifier: MIT */
/*
 * unwind.h - call chains of programs without frame pointers, from what a
 * sample took with it: the user's registers and a copy of the stack's top
 * (`perf record --call-graph dwarf`, `waymark record -g dwarf`). The programs'
 * own unwind tables (elf/elf_cfi.h) say how to get from one function to its
 * caller; code without a table is left by the frame pointer.
 *
 * x86-64, i386 on it, and aarch64; which it is, the sampled registers tell. For
 * one thread.
 */
#ifndef WM_SYMBOL_UNWIND_H
#define WM_SYMBOL_UNWIND_H

#include "symbol/symbols.h"

#define WM_UNWIND_FRAMES_MAX 127u /* of one sample, as with perf */
#define WM_UNWIND_OPEN_MAX   512u /* files with unwind tables held open */

/* How a chain ends. */
enum wm_unwound {
	WM_UNWOUND_WHOLE,      /* in the first function of the thread */
	WM_UNWOUND_CUT,        /* where the copy of the stack ends */
	WM_UNWOUND_NO_SAMPLE,  /* before it began: no registers or stack were taken */
	WM_UNWOUND_NO_MAPPING, /* at an address where nothing known was mapped */
	WM_UNWOUND_NO_TABLE,   /* in code without an unwind table, nor frame pointer */
	WM_UNWOUND_BROKEN,     /* at a frame that cannot be: what is there is damaged */
	WM_UNWOUND_DEEP,       /* at WM_UNWIND_FRAMES_MAX */
	WM_UNWOUND_NR
};

const char *wm_unwound_text(enum wm_unwound how);

struct wm_user_frame {
	uint64_t ip; /* of a caller: one before the return address, as with perf */
	struct wm_place place;
	bool mapped;  /* place is known */
	bool guessed; /* found by the frame pointer, for want of a table */
};

/* What was taken; registers in the order of the mask's bits, as perf has them. */
struct wm_user_stack {
	int32_t pid;
	uint64_t mask;
	const struct wm_item *registers; /* numbers, one after the other */
	uint32_t nr_registers;
	const unsigned char *stack; /* from the stack pointer on, little-endian */
	uint64_t stack_bytes;
};

struct wm_unwind;

/* Both stay the caller's, and live longer. NULL: out of memory. */
struct wm_unwind *wm_unwind_create(struct wm_spaces *spaces, struct wm_symbols *symbols);
void wm_unwind_destroy(struct wm_unwind *u);

/* What a sample took; false: it has no registers, or no stack. */
bool wm_unwind_stack_of(const struct wm_trace *t, const struct wm_event *e,
			struct wm_user_stack *ret);

/*
 * The chain, innermost first. Their number; how it ends is in *ret_how, and
 * counted.
 */
uint32_t wm_unwind(struct wm_unwind *u, const struct wm_user_stack *s,
		   struct wm_user_frame frames[WM_UNWIND_FRAMES_MAX], enum wm_unwound *ret_how);

uint64_t wm_unwind_count(const struct wm_unwind *u, enum wm_unwound how);

#endif
