/* SPDX-License-Identifier: MIT */
/*
 * filter.h - the filter language of ARCHITECTURE.md decision 10, in three steps:
 *
 *   text --wm_filter_parse()--> bytecode        in the tool, once
 *   bytecode --wm_filter_link()--> program      next to the events: in the traced
 *                                               process or in a reader
 *   program --wm_filter_run()--> yes or no      per event
 *
 * The bytecode is portable, self-contained and untrusted: wm_filter_link() verifies it (sizes,
 * jumps, stack depth, types) against the fields of one event before it runs. Programs have no
 * loops: their time is bounded by their length plus the length of the strings they read.
 *
 * link and run are guest code: no libc, no allocation, no system call; link takes about 1 KiB of
 * stack, run half of that. Running a program without floats uses general registers only.
 *
 * The language (doc/format/event.md describes it in full):
 *
 *   ||  &&  |  ^  &  == !=  < <= > >=  << >>  + -  * / %  unary ! ~ -  ( )
 *   rows  name[3]  $pid $tid $comm $cpu $time  10 0x1f 017 10ms 1.5 'c' "str*"
 *
 * Precedence is as in C, loosest first. Rules where C leaves a choice or is error-prone:
 * - Integers are 64 bits wide; values that fit i64 are signed: only 8-byte unsigned
 *   fields (u64, hex, pointers) and literals beyond i64 are unsigned. Operators
 *   on a signed and an unsigned value give an unsigned one, as in C, and wrap;
 *   a shift has the type of its left side.
 * - Comparisons are mathematically correct: -1 < (unsigned) 1 is true.
 * - Shifts by 64 bits and more, or by negative counts, shift out all bits.
 * - An integer combined with a float becomes a double; % & | ^ ~ << >> reject floats.
 * - An operation without a value makes the whole filter false, not just its part:
 *   division by zero (integer or float), an index out of range, a payload that
 *   ends before or inside a field that is read. && and || evaluate their right
 *   side only when the left one does not decide the result.
 * - Strings support == and !=, where a literal with * ? or [...] is a pattern
 *   (base/glob.h; a backslash escapes a character). An enumeration may be
 *   compared with a label: color == "RED", color != "DARK*", level <= "WARN".
 * - name[i] of an array, sequence or blob is its element; of a string or char
 *   array a byte, 0 to 255.
 */
#ifndef WM_EVENT_FILTER_H
#define WM_EVENT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define WM_FILTER_BYTES_MAX 8192u
#define WM_FILTER_STACK_MAX 32u
#define WM_FILTER_NEST_MAX  16u /* nesting of && and || in the right operands of && and || */
#define WM_FILTER_TEXT_MAX  4096u

/* Values of contexts, filled only when the program reads them (see `needs`). */
enum wm_filter_context {
	WM_FILTER_PID = 1u << 0,
	WM_FILTER_TID = 1u << 1,
	WM_FILTER_CPU = 1u << 2,
	WM_FILTER_TIME = 1u << 3, /* nanoseconds on the session's clock */
	WM_FILTER_COMM = 1u << 4,
};

struct wm_filter_contexts {
	int64_t pid, tid, cpu, time_ns;
	char comm[16];
};

/* --- tool side ------------------------------------------------------- */

/*
 * Compiles text to bytecode (malloc'ed, the caller frees it). Returns -EINVAL with diag->column at
 * the error; names are not checked here.
 */
int wm_filter_parse(const char *text, unsigned char **ret_code, size_t *ret_bytes,
		    struct wm_diag *diag);

/*
 * Checks that the filter can be applied to the event. Returns 0, or the errno of wm_filter_link(),
 * explained in `diag`: which field is missing, which types are compared; line and column are those
 * of the filter's text.
 */
int wm_filter_check(const unsigned char *code, size_t bytes, const void *desc, size_t desc_bytes,
		    struct wm_diag *diag);

/* --- both sides ------------------------------------------------------ */

struct wm_filter; /* a linked program; its storage belongs to the caller */

/*
 * Links bytecode against a description (see <waymark/abi.h>) into `storage`, aligned to 8 bytes.
 * The program is position independent and needs neither bytecode nor description afterwards.
 * Returns the bytes used, -ENOENT when the event lacks a field that the filter names, -EINVAL for a
 * type error (a string compared with a number) or misaligned storage, -EBADMSG for bytecode that
 * fails verification, -ENOSPC when storage is too small.
 */
int64_t wm_filter_link(const void *code, size_t bytes, const void *desc, size_t desc_bytes,
		       void *storage, size_t storage_bytes);

#define WM_FILTER_STORAGE_MAX 32768u

uint32_t wm_filter_needs(const struct wm_filter *f); /* returns bits of enum wm_filter_context */
bool wm_filter_uses_float(const struct wm_filter *f);

/*
 * Evaluates the filter. `payload` has the layout that the emit macro writes, with or without
 * padding after it. A payload shorter than the event's minimum, or one that ends before or inside a
 * field that the filter reads, yields false. `contexts` holds the values that wm_filter_needs()
 * lists; it may be NULL when that is 0.
 *
 * In a traced program (WM_GUEST) wm_filter_run() is false for programs that use floats: the caller
 * checks wm_filter_uses_float(), saves the vector registers, and calls wm_filter_run_float(), which
 * runs any program. Elsewhere wm_filter_run() runs any program, too.
 */
bool wm_filter_run(const struct wm_filter *f, const unsigned char *payload, size_t bytes,
		   const struct wm_filter_contexts *contexts);
bool wm_filter_run_float(const struct wm_filter *f, const unsigned char *payload, size_t bytes,
			 const struct wm_filter_contexts *contexts);

/*
 * A quick test before a filter runs: a comparison that makes the whole filter false when it fails.
 * Load the value at `offset` in the payload, widen it to 64 bits and subtract `first`: if the
 * difference is above `span` (unsigned), the filter is false. Returns false when the filter does
 * not begin with such a test.
 */
enum wm_filter_quick_kind {
	WM_FILTER_QUICK_NONE,
	WM_FILTER_QUICK_I4,
	WM_FILTER_QUICK_U4,
	WM_FILTER_QUICK_W8,
};
struct wm_filter_quick {
	uint32_t kind; /* enum wm_filter_quick_kind */
	uint32_t offset;
	uint64_t first, span;
};
bool wm_filter_quick(const struct wm_filter *f, struct wm_filter_quick *ret);

#endif
