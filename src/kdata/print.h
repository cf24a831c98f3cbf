/* SPDX-License-Identifier: MIT */
/*
 * print.h - compiles the print form of a kernel event and formats records with it. The print form
 * is the `print fmt` in the event's format file: C source after expansion of the kernel's macros.
 *
 * Integers follow the rules of C on the machine that recorded, so a negative number is negative. A
 * value that only the kernel has (one of its macros, variables or functions) prints as "?"; a flag
 * with such a value is omitted from a list of flags. If a form is not an expression at all (arrays
 * on the stack), the event's fields are printed instead, "name=value ...", and the diag of
 * wm_kprint_compile() states the reason.
 *
 * A program points into the format it was compiled from. It is immutable; any number of threads may
 * run it. No record can make it fail: values outside the record print as nothing or 0, and no line
 * is much longer than WM_KPRINT_LINE_MAX.
 */
#ifndef WM_KDATA_PRINT_H
#define WM_KDATA_PRINT_H

#include "base/text.h"
#include "kdata/event_format.h"
#include "kdata/kernel_names.h"

#define WM_KPRINT_NODES_MAX 65536u /* maximum number in one print form */
#define WM_KPRINT_DEPTH_MAX 100u   /* maximum nesting of parentheses and operators */
#define WM_KPRINT_LINE_MAX  65536u

struct wm_kprint;
struct wm_kformats;

/*
 * Compiles the print form into the arena. Returns 0 or -ENOMEM. A print form that cannot be
 * compiled is not an error; `diag` (optional; its offset is in the form) states the reason.
 */
int wm_kprint_compile(struct wm_arena *arena, const struct wm_kmachine *m,
		      const struct wm_kformat *format, const struct wm_kprint **ret,
		      struct wm_diag *diag);

/*
 * Sets ret_hex[i] for each field of the format: whether the print form shows it, or elements of it,
 * in hexadecimal. The form is not compiled, which takes much longer. Uses memory of the arena.
 * Returns 0 or -ENOMEM.
 */
int wm_kprint_hex(struct wm_arena *arena, const struct wm_kmachine *m,
		  const struct wm_kformat *format, bool *ret_hex);

/* The same for a field of a compiled form. */
bool wm_kprint_shows_hex(const struct wm_kprint *p, const struct wm_kfield *f);

/* Appends the text of a record. `known` (optional) translates addresses to symbols and strings. */
void wm_kprint_run(const struct wm_kprint *p, const struct wm_kformats *known,
		   const unsigned char *record, uint32_t bytes, struct wm_text *out);

/* The same; `names` (optional) is asked for addresses without a symbol in `known`. */
void wm_kprint_run_named(const struct wm_kprint *p, const struct wm_kformats *known,
			 const struct wm_kernel_names *names, const unsigned char *record,
			 uint32_t bytes, struct wm_text *out);

#endif
