/* SPDX-License-Identifier: MIT */
/*
 * probe_args.h - the values that a probe fetches at each hit. Translates the list that users write
 * in parentheses after a place to the kernel's syntax.
 *
 *   uprobe:BIN:func(n=arg1:s32, path=arg2:string, %r8, +16(%di):u32, count)
 *   uretprobe:BIN:func(ret=$retval:s64)
 *
 *   arg1 ... arg6      the function's arguments, where the machine's calling
 *                      convention passes integers and pointers (i386: each
 *                      word on the stack); of a USDT probe its operands, as
 *                      many as it has
 *   $retval            the return value
 *   name               a parameter or variable by name, where debug
 *                      information (or BTF, in the kernel) describes it
 *   *                  all parameters in the debug information
 *   %reg @ADDRESS +OFF(...) $stackN $comm \NUMBER   the kernel's own syntax
 *
 * A type may follow: u8..u64, s8..s64, x8..x64, char, string, and any other
 * type of the kernel; without one, the known type, or a number of 64 bits (of
 * 32 in i386 code).
 *
 * "string" of a pointer means the text it points to; "float" and "double" are
 * fetched as their bits, from memory: the kernel reads no vector registers. The
 * kernel follows pointers in memory as 64-bit ones, so in i386 code only memory
 * that a register points to can be fetched.
 */
#ifndef WM_KERNEL_PROBES_PROBE_ARGS_H
#define WM_KERNEL_PROBES_PROBE_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"

#define WM_PROBE_ARGS_MAX  64u   /* limit for the arguments of one probe */
#define WM_PROBE_FETCH_MAX 1024u /* limit for one argument in the kernel's syntax */

/* The list in the kernel's syntax, such as "n=%di:s32 path=+0(%si):string". */
struct wm_probe_args {
	struct wm_text kernel;
	/*
	 * Arguments that are fetched as unsigned integers but are something else: "NAME" holds the
	 * bytes of a float or double, or is an array of these; "NAME:BITS" holds a signed bit field
	 * in the lowest bits, which the kernel does not extend.
	 */
	struct wm_text recast;
	/* Sentences about arguments that "*" includes, but that the kernel cannot fetch. */
	struct wm_text left_out;
};

void wm_probe_args_init(struct wm_probe_args *a);
void wm_probe_args_done(struct wm_probe_args *a);

/* A value that can be fetched. */
struct wm_probe_value {
	char fetch[WM_PROBE_FETCH_MAX]; /* "%di", "+8(%sp)" */
	/*
	 * In the kernel's syntax, such as "s32", "string" or "b3@5/32", or "float", "double",
	 * "double[4]", or "sb3@5/32" for a signed bit field; "": unknown
	 */
	char type[32];
	/* The value is an address; a string is the text at that address. */
	bool points;
	bool is_text; /* the value is the text itself, not its address */
};

/* How names at a place are looked up. */
struct wm_probe_scope {
	const char *probe; /* name of the probe, for messages */
	bool in_kernel;    /* a kprobe */
	bool returns;      /* the place is the return of a function */
	bool narrow;       /* i386 code: arguments and $stackN are words of 4 bytes on the stack */
	/*
	 * Looks up a name ("count", "arg1" of a USDT probe, "$retval" only for its type). Returns
	 * 0, -ENOENT for an unknown name, or an error with a sentence. NULL: this place has no
	 * names.
	 */
	int (*named)(void *data, const char *name, struct wm_probe_value *ret,
		     struct wm_diag *diag);
	/*
	 * Calls fn with every name that "*" includes. -ENOENT, or a NULL pointer here: the names
	 * are unknown.
	 */
	int (*each)(void *data, int (*fn)(const char *name, void *), void *user);
	void *data;
};

/*
 * Compiles the text between the parentheses. Returns 0, -ENOMEM, or -EINVAL, -ENOENT or -EOPNOTSUPP
 * with a sentence and the column in `text` (from 1).
 */
int wm_probe_args_compile(const char *text, const struct wm_probe_scope *scope,
			  struct wm_probe_args *out, struct wm_diag *diag);

/* Appends one argument. */
void wm_probe_args_add(struct wm_probe_args *out, const char *name,
		       const struct wm_probe_value *value);

/*
 * Finds the kernel's name for a register of this machine given in assembler spelling ("edi",
 * "%r10w"), and the bits of the register that are used. Returns false when the kernel has no name
 * for it, for example for a vector register.
 */
bool wm_probe_register(const char *name, size_t bytes, const char **ret_name, unsigned *ret_bytes,
		       unsigned *ret_shift);

/*
 * The kernel's name for a register given by its number in DWARF (that of i386 when `narrow`); NULL:
 * none.
 */
const char *wm_probe_dwarf_register(unsigned number, bool narrow);

/* The register that passes integer argument `nr`, counted from 0; NULL: none. */
const char *wm_probe_argument_register(unsigned nr);

#endif
