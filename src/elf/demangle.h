/* SPDX-License-Identifier: MIT */
/*
 * demangle.h - demangles C++ and Rust names with libiberty, to the form that perf prints: without
 * parameters, and Rust names without the hash. The size of the result is bounded, even for hostile
 * names.
 */
#ifndef WM_ELF_DEMANGLE_H
#define WM_ELF_DEMANGLE_H

#include <stdbool.h>

#define WM_DEMANGLE_NAME_MAX   65536u /* maximum size of a mangled name */
#define WM_DEMANGLE_RESULT_MAX 65536u /* maximum demangled size; longer names stay mangled */

/*
 * Returns a malloc'ed name; NULL when the name is not mangled or too long, or when out of memory.
 */
char *wm_demangle(const char *name);

/* Whether the name may be mangled: a quick test with few false positives. */
bool wm_demangle_may(const char *name);

#endif
