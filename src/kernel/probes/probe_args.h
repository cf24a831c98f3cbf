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
 *                      word on the stack); for a USDT probe its operands,
 *                      however many it has
 *   $retval            the return value
 *   name               a parameter or variable by name, if debug information
 *                      (or BTF, in the kernel) describes it
 *   *                  all parameters in the debug information
 *   %reg @ADDRESS +OFF(...) $stackN $comm \NUMBER   the kernel's own syntax
 *
 * A type may follow: u8..u64, s8..s64, x8..x64, char, string, or any other type that the kernel
 * has; without one, the known type is used, or else a 64-bit number (32-bit in i386 code).
 *
 * "string" for a pointer means the text it points to; "float" and "double" are fetched as their
 * bits, from memory: the kernel reads no vector registers. The kernel follows pointers in memory as
 * 64-bit ones, so in i386 code only memory that a register points to can be fetched.
 */
#ifndef WM_KERNEL_PROBES_PROBE_ARGS_H
#define WM_KERNEL_PROBES_PROBE_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"

#define WM_PROBE_ARGS_MAX  64u   /* limit for one probe's arguments */
#define WM_PROBE_FETCH_MAX 1024u /* limit for one argument in the kernel's syntax */

/* The list in the kernel's syntax, such as "n=%di:s32 path=+0(%si):string". */
struct wm_probe_args {
	struct wm_text kernel;
	/*
	 * Arguments that are fetched as unsigned integers but are something else: "NAME" holds the
	 * bytes of a float or double, or of an array of them; "NAME:BITS" holds a signed bit field
	 * in the lowest bits, which the kernel does not sign-extend.
	 */
	struct wm_text recast;
	/* Messages about arguments that "*" includes but the kernel cannot fetch. */
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
	const char *probe; /* the probe's name, for messages */
	bool in_kernel;    /* a kprobe */
	bool returns;      /* the place is a function's return */
	bool inlined;      /* the place is an inlined copy of a function */
	bool narrow;       /* i386 code: arguments and $stackN are 4-byte words on the stack */
	/*
	 * Looks up a name ("count", a USDT probe's "arg1", "$retval" only for its type). Returns 0,
	 * -ENOENT for an unknown name, or an error with a message. NULL: this place has no names.
	 */
	int (*named)(void *data, const char *name, struct wm_probe_value *ret,
		     struct wm_diag *diag);
	/*
	 * Calls fn with every name that "*" includes. Returning -ENOENT, or a NULL pointer here,
	 * means that the names are unknown.
	 */
	int (*each)(void *data, int (*fn)(const char *name, void *), void *user);
	void *data;
};

/*
 * Compiles the text between the parentheses. Returns 0, -ENOMEM, or -EINVAL, -ENOENT or -EOPNOTSUPP
 * with an error message and the column in `text` (from 1).
 */
int wm_probe_args_compile(const char *text, const struct wm_probe_scope *scope,
			  struct wm_probe_args *out, struct wm_diag *diag);

/* Appends one argument. */
void wm_probe_args_add(struct wm_probe_args *out, const char *name,
		       const struct wm_probe_value *value);

/*
 * Finds the kernel's name for one of this machine's registers given in assembler spelling ("edi",
 * "%r10w"), and which bits of the register are used. Returns false if the kernel has no name for
 * it, for example for a vector register.
 */
bool wm_probe_register(const char *name, size_t bytes, const char **ret_name, unsigned *ret_bytes,
		       unsigned *ret_shift);

/*
 * The kernel's name for a register given by its DWARF number (i386's if `narrow`); NULL: none.
 */
const char *wm_probe_dwarf_register(unsigned number, bool narrow);

/* The register that passes integer argument `nr`, counted from 0; NULL: none. */
const char *wm_probe_argument_register(unsigned nr);

#endif
