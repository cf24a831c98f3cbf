/* SPDX-License-Identifier: MIT */
/*
 * func.c - libwaymark-func.so: records entry to and exit from every function in a program compiled
 * with -finstrument-functions. libc has empty definitions of both hooks, so such a program runs
 * with or without this library.
 *
 * Events carry addresses; the trace has the data to turn them into names. A function left by
 * longjmp or an exception has no exit event. Calls before this library's constructor (in other
 * libraries' constructors) are not recorded.
 *
 * Knows only the public header.
 */
#include <waymark/tracepoint.h>

#define EXPORT __attribute__((visibility("default"), no_instrument_function))

WAYMARK_EVENT(func, entry, WAYMARK_ARGS(void *, function, void *, caller),
	      WAYMARK_FIELDS((ptr, function, function), (ptr, caller, caller)),
	      WAYMARK_LEVEL(DEBUG));
WAYMARK_EVENT(func, exit, WAYMARK_ARGS(void *, function, void *, caller),
	      WAYMARK_FIELDS((ptr, function, function), (ptr, caller, caller)),
	      WAYMARK_LEVEL(DEBUG));

/*
 * Prevents the module's destructor from unregistering it: this library stays loaded until the
 * process ends, and calls made by destructors that run later must be recorded.
 */
__attribute__((destructor, no_instrument_function)) static void func_stay(void)
{
	waymark_module.state = 0;
}

EXPORT void __cyg_profile_func_enter(void *function, void *caller);
EXPORT void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
	trace_event(func, entry, function, caller);
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	trace_event(func, exit, function, caller);
}
