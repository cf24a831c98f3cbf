/* SPDX-License-Identifier: MIT */
/* second.c - another unit that has the same event, and markers with the same names. */
#include "marks.h"

static ALONE void twice(int i)
{
	trace_mark(bare, "nothing");
	/* clang-format off */
	trace_mark(same_line, "%d", i); trace_mark(same_line, "%d", i + 1);
	/* clang-format on */
	mark_inline(i);
	mark_inline(i + 1);
}

void second_run(int i)
{
	struct thing t = {i, "second"};

	trace_event(matrix, shared, &t, 1);
	twice(i);
}
