/* SPDX-License-Identifier: MIT */
/*
 * demangle.h - names of C++ and Rust as people wrote them, by libiberty. As
 * perf shows them: without parameters, and of Rust without the hash. Hostile
 * names cost no more than a bounded text.
 */
#ifndef WM_ELF_DEMANGLE_H
#define WM_ELF_DEMANGLE_H

#include <stdbool.h>

#define WM_DEMANGLE_NAME_MAX   65536u /* bytes of a mangled name */
#define WM_DEMANGLE_RESULT_MAX 65536u /* bytes of what it means; longer ones stay as they are */

/* malloc'ed; NULL: it is no such name, or too long, or there is no memory. */
char *wm_demangle(const char *name);

/* Whether it may be one at all: quick, and true of few others. */
bool wm_demangle_may(const char *name);

#endif
