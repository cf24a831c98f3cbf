/* SPDX-License-Identifier: MIT */
/*
 * plugin.c - a library that traces, loaded and unloaded by module.c: it emits the program's events,
 * and one of its own.
 */
#include "torture.h"

WAYMARK_EVENT(plugin, own, WAYMARK_ARGS(uint64_t, n), WAYMARK_FIELDS((u64, n, n)));

__attribute__((visibility("default"))) void plugin_work(struct torture_tally *t, uint32_t who)
{
	trace_event(plugin, own, t->slot[who].begun);
	torture_any(t, who);
	torture_any(t, who);
}
