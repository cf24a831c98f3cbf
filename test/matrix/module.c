/* SPDX-License-Identifier: MIT */
/*
 * module.c - a module that is loaded and unloaded while the program runs; its constructor and
 * destructor contain marks.
 */
#include "marks.h"

WAYMARK_EVENT(matrix, in_module, WAYMARK_ARGS(int, i), WAYMARK_FIELDS((i32, i, i)));
WAYMARK_MARK_ON_EVENT(matrix, in_module, WAYMARK_ARGS(int, i), module_rider, "i %d", i);

static __attribute__((constructor)) void comes(void)
{
	trace_mark(module_comes, "hello");
}

static __attribute__((destructor)) void goes(void)
{
	trace_mark(module_goes, "good bye");
}

#ifdef __cplusplus
extern "C"
#endif
    __attribute__((visibility("default"))) void
    module_run(int i)
{
	struct thing t = {i, "module"};

	trace_event(matrix, shared, &t, 3);
	trace_event(matrix, in_module, i);
	trace_mark(in_module_mark, "i %d", i);
}
