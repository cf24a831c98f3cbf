/* SPDX-License-Identifier: MIT */
/* library.c - a shared library with marks (part of the program in static builds). */
#include "marks.h"

static ALONE void mark(int i)
{
	trace_mark(in_library, "i %d", i);
	trace_span(library);
	mark_inline(i);
}

void library_run(int i)
{
	struct thing t = {i, "library"};

	trace_event(matrix, shared, &t, 2);
	mark(i);
}
