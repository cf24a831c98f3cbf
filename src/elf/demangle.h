/* SPDX-License-Identifier: MIT */
/*
 * demangle.h - C++ and Rust names as in the source, by libiberty. In perf's
 * form: without parameters, and Rust names without the hash. A hostile name
 * costs no more than a bounded text.
 */
#ifndef WM_ELF_DEMANGLE_H
#define WM_ELF_DEMANGLE_H

#include <stdbool.h>

#define WM_DEMANGLE_NAME_MAX   65536u /* bytes of a mangled name */
#define WM_DEMANGLE_RESULT_MAX 65536u /* bytes of a demangled name; longer ones stay mangled */

/* malloc'ed; NULL: not a mangled name, or too long, or out of memory. */
char *wm_demangle(const char *name);

/* Whether the name may be mangled: a quick test, true of few other names. */
bool wm_demangle_may(const char *name);

#endif
