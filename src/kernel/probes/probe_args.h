/* SPDX-License-Identifier: MIT */
/*
 * probe_args.h - what a probe fetches where it is met: from what people write
 * in parentheses behind its place to the kernel's words for it.
 *
 *   uprobe:BIN:func(n=arg1:s32, path=arg2:string, %r8, +16(%di):u32, count)
 *   uretprobe:BIN:func(ret=$retval:s64)
 *
 *   arg1 ... arg6      what the function was called with, as the machine's
 *                      calling convention passes integers and pointers (i386:
 *                      each word on the stack); of a USDT probe its operands,
 *                      as many as it has
 *   $retval            what it returns
 *   name               a parameter or variable by name, where debug
 *                      information (or BTF, in the kernel) knows it
 *   *                  all parameters that debug information knows
 *   %reg @ADDRESS +OFF(...) $stackN $comm \NUMBER   the kernel's own words
 *
 * Behind it a type: u8..u64, s8..s64, x8..x64, char, string, and what else
 * the kernel has; without one, what is known of it, or a number of 64 bits
 * (of 32 in i386 code).
 * "string" of a pointer means what it points to; "float" and "double" are
 * read as their bits, from memory: the kernel reads no vector registers. It
 * follows pointers in memory as ones of 64 bits, so in i386 code only what a
 * register points to can be had.
 */
#ifndef WM_KERNEL_PROBES_PROBE_ARGS_H
#define WM_KERNEL_PROBES_PROBE_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"

#define WM_PROBE_ARGS_MAX  64u   /* of one probe */
#define WM_PROBE_FETCH_MAX 1024u /* bytes of one in the kernel's words */

/* The list in the kernel's words, "n=%di:s32 path=+0(%si):string". */
struct wm_probe_args {
	struct wm_text kernel;
	/* Names of arguments fetched as integers whose bytes are a float's or a double's. */
	struct wm_text floats;
	/* Sentences about what "all" would have had, but the kernel cannot fetch. */
	struct wm_text left_out;
};

void wm_probe_args_init(struct wm_probe_args *a);
void wm_probe_args_done(struct wm_probe_args *a);

/* A thing that can be fetched. */
struct wm_probe_value {
	char fetch[WM_PROBE_FETCH_MAX]; /* "%di", "+8(%sp)" */
	char type[32];                  /* "s32", "string", "double"; "": not known */
	bool points;                    /* it is an address: a string is what lies there */
	bool is_text;                   /* it is the text itself */
};

/* What names mean at a place. */
struct wm_probe_scope {
	const char *probe; /* its name, for messages */
	bool in_kernel;    /* a kprobe */
	bool returns;      /* when a function returns */
	bool narrow; /* in i386 code: arguments and $stackN are words of 4 bytes on the stack */
	/*
	 * Looks a name up ("count", "arg1" of a USDT probe, "$retval" for its type
	 * alone): 0, -ENOENT (nothing is known of it), or an error with a sentence.
	 * NULL: no names here.
	 */
	int (*named)(void *data, const char *name, struct wm_probe_value *ret,
		     struct wm_diag *diag);
	/* Calls fn with every name "*" stands for; -ENOENT: that is not known. NULL: likewise. */
	int (*each)(void *data, int (*fn)(const char *name, void *), void *user);
	void *data;
};

/*
 * Compiles what stands between the parentheses. 0, -ENOMEM, or -EINVAL,
 * -ENOENT, -EOPNOTSUPP with a sentence and the column in `text` (from 1).
 */
int wm_probe_args_compile(const char *text, const struct wm_probe_scope *scope,
			  struct wm_probe_args *out, struct wm_diag *diag);

/* Puts one more behind those there are. */
void wm_probe_args_add(struct wm_probe_args *out, const char *name,
		       const struct wm_probe_value *value);

/*
 * The kernel's name for a register of this machine as assemblers spell it
 * ("edi", "%r10w"), and which bits of it are meant. False: it has no name for
 * it (vector registers, for example).
 */
bool wm_probe_register(const char *name, size_t bytes, const char **ret_name, unsigned *ret_bytes,
		       unsigned *ret_shift);

/* The kernel's name for a register by its number in DWARF (of i386: `narrow`); NULL: none. */
const char *wm_probe_dwarf_register(unsigned number, bool narrow);

/* The register the calling convention passes an integer in; NULL: none (from 0). */
const char *wm_probe_argument_register(unsigned nr);

#endif
