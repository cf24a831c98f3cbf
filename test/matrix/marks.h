/* SPDX-License-Identifier: MIT */
/*
 * marks.h - what the units of the matrix program share: one event, functions
 * that mark, and how callbacks are counted. Valid C and C++.
 */
#ifndef MATRIX_MARKS_H
#define MATRIX_MARKS_H

#define WAYMARK_PROVIDER matrix
#include <waymark/tracepoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Neither inlined nor cloned: one site for each mark inside. */
#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noinline, noclone))
#endif

struct thing {
	int number;
	const char *name;
};

/* Sites of it: two units of the program, the library, the module. */
WAYMARK_EVENT(matrix, shared, WAYMARK_ARGS(const struct thing *, t, int, where),
	      WAYMARK_FIELDS((i32, number, t->number), (str, name, t->name), (i32, where, where)));

/* An inline function of a header: one site for each place it is inlined at. */
static inline __attribute__((always_inline)) void mark_inline(int i)
{
	trace_mark(in_inline, "number %d of %s", i, "inline");
}

/* plain.c and second.c: every kind of mark in plain functions. */
void plain_run(int i);
double floats(int n);
void second_run(int i);
/* classes.cc, empty in a C program. */
void classes_run(int i);
/* library.c */
__attribute__((visibility("default"))) void library_run(int i);
/* module.c, by dlsym */
typedef void (*module_run_fn)(int i);

/* How often arguments were evaluated. */
extern int evaluated;
static inline int evaluate(int i)
{
	evaluated++;
	return i;
}

#ifdef __cplusplus
}
#endif
#endif
