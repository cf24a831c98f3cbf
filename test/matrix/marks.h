/* SPDX-License-Identifier: MIT */
/*
 * marks.h - shared by the units of the matrix program: one event, the functions that mark, and the
 * counts of callbacks. Valid C and C++.
 */
#ifndef MATRIX_MARKS_H
#define MATRIX_MARKS_H

#define WAYMARK_PROVIDER matrix
#include <waymark/tracepoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Neither inlined nor cloned, so that each mark inside has one site. */
#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noinline, noclone))
#endif

struct thing {
	int number;
	const char *name;
};

/* An event with sites in two units of the program, the library, and the module. */
WAYMARK_EVENT(matrix, shared, WAYMARK_ARGS(const struct thing *, t, int, where),
	      WAYMARK_FIELDS((i32, number, t->number), (str, name, t->name), (i32, where, where)));

/* An inline function in a header: it has one site for each place where it is inlined. */
static inline __attribute__((always_inline)) void mark_inline(int i)
{
	trace_mark(in_inline, "number %d of %s", i, "inline");
}

/* plain.c and second.c: all kinds of marks in plain functions. */
void plain_run(int i);
double floats(int n);
void second_run(int i);
/* classes.cc; empty in a C program. */
void classes_run(int i);
/* library.c */
__attribute__((visibility("default"))) void library_run(int i);
/* in module.c, found by dlsym() */
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
