/* SPDX-License-Identifier: MIT */
/*
 * startup_tiny.c - a minimal program without marks, with one waymark mark (TINY_OURS), or with
 * LTTng-UST's tracepoints (TINY_PEER).
 */
#ifdef TINY_OURS
#include <waymark/tracepoint.h>
WAYMARK_EVENT(tiny, start, WAYMARK_ARGS(int, a), WAYMARK_FIELDS((i32, a, a)));
#endif
#ifdef TINY_PEER
#include "lttng/provider.h"
#endif

int main(int argc, char **argv)
{
#ifdef TINY_OURS
	trace_event(tiny, start, argc);
#endif
#ifdef TINY_PEER
	lttng_ust_tracepoint(bench, on_2int, argc, argc);
#endif
	return 0;
}
