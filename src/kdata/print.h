/* SPDX-License-Identifier: MIT */
/*
 * print.h - the print form of a kernel event: the `print fmt` of its format
 * file, C as the kernel's macros left it, compiled once to a small program that
 * formats a record as text.
 *
 * Integers follow the rules of C on the machine that recorded, so a negative
 * number is negative. A value that only the kernel has (one of its macros,
 * variables or functions) prints as "?"; in a list of flags the pair is left
 * out. If a form is not an expression at all (arrays on the stack), the event's
 * fields are printed instead, "name=value ...": wm_kprint_is_fields() is true
 * for these events, and the diag of wm_kprint_compile() states the reason.
 *
 * A program points into the format it was compiled from. Immutable; any number
 * of threads may run it. No record can make it fail: values outside the record
 * print as nothing or 0, and no line is much longer than WM_KPRINT_LINE_MAX.
 */
#ifndef WM_KDATA_PRINT_H
#define WM_KDATA_PRINT_H

#include "base/text.h"
#include "kdata/event_format.h"

#define WM_KPRINT_NODES_MAX 65536u /* of one print form */
#define WM_KPRINT_DEPTH_MAX 100u   /* most nested parentheses and operators */
#define WM_KPRINT_LINE_MAX  65536u

struct wm_kprint;
struct wm_kformats;

/*
 * Compiles into the arena. 0 or -ENOMEM. A print form that cannot be compiled
 * is not an error; `diag` (optional; its offset is in the form) states the
 * reason.
 */
int wm_kprint_compile(struct wm_arena *arena, const struct wm_kmachine *m,
		      const struct wm_kformat *format, const struct wm_kprint **ret,
		      struct wm_diag *diag);

/* True when the event's fields are printed, because its print form could not be compiled. */
bool wm_kprint_is_fields(const struct wm_kprint *p);

/* True when the print form shows that field, or elements of it, in hexadecimal. */
bool wm_kprint_shows_hex(const struct wm_kprint *p, const struct wm_kfield *f);

/* Appends the text of a record. `known` (optional) turns addresses into symbols and texts. */
void wm_kprint_run(const struct wm_kprint *p, const struct wm_kformats *known,
		   const unsigned char *record, uint32_t bytes, struct wm_text *out);

#endif
